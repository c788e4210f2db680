/** docs/teams.md: from a platform's CSV export to an adopted catalog, as the page says, with 300 live events. */
import { expect, it } from "vitest";
import { codeBlocksOf, page } from "../support/pages.js";
import { newStack, UNCHECKED, useSandbox, well } from "../support/stack.js";

const blocks = codeBlocksOf({
  ...page("docs/teams.md"),
  text: page("docs/teams.md").text.replaceAll(/^ {3}/gm, ""), // within its steps
});
const [exported = "", edited = ""] = blocks
  .filter(({ language }) => language === "csv")
  .map(({ code }) => code);
const program = blocks.find(({ language }) => language === "ts")?.code ?? "";
const lines = (text: string) => text.trimEnd().split("\n");
const [heading = "", ...rows] = lines(edited);

it("the file that the page shows is the export with another heading for the ids, and a key", () => {
  const [, ...before] = lines(exported);
  expect(lines(exported)[0]).toBe(heading.replace("existingId", "ID").replace(",key", ""));
  expect(rows.map((row) => row.replace(/,[^,]*$/, ""))).toEqual(before);
});

it("300 events of three advertisers are adopted: nothing is sent, and the next preview changes nothing", async () => {
  const [first = ""] = rows;
  const all = Array.from({ length: 300 }, (_, at) => {
    const advertiser = 4711 + (at % 3);
    return {
      id: 8001 + at,
      event_name: `Purchase ${at}`,
      advertiser_id: advertiser,
      value: 25,
    };
  });
  const cells = all.map(({ id, event_name, advertiser_id }) =>
    first
      .replace("8001,Purchase,4711", `${id},${event_name},${advertiser_id}`)
      .replace(/purchase$/, `purchase-${id}`),
  );
  const sandbox = await useSandbox({
    objects: {
      advertisers: [4711, 4712, 4713].map((id) => ({ id, advertiser_name: `A${id}` })),
      events: all,
    },
  });
  const stack = await newStack(program, {
    file: "index.ts",
    sandbox,
    environment: UNCHECKED,
  });
  stack.write("events.csv", [heading, ...cells].join("\n"));
  const checked = await stack.command("validate", "events.csv");
  expect(checked).toMatchObject({ code: 0 });
  expect(checked.output).toContain("300 conversion events, 0 errors, 0 warnings");
  const preview = await well(stack.previewAndUp());
  const [, diagnostics = ""] = preview.split("Diagnostics:");
  expect(diagnostics.match(/events: 100 to adopt, 0 unchanged/g)).toHaveLength(3);
  expect(preview).not.toMatch(/\d to create, \d|to create:/);
  expect(sandbox.requests).toEqual([]);
  const { eventIds } = await stack.outputs();
  expect(Object.values(eventIds as object)).toEqual(all.map(({ id }) => id));
  expect(await well(stack.preview())).toContain("5 unchanged");
});
