/** Renames, moves and removals, as people make them: nothing twice, and nothing left behind without a word. */
import { expect, it } from "vitest";
import { saidTwice } from "../support/printed-commands.js";
import { pendingCommand } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

/** An advertiser `acme`, and these events by name, each with its options. */
const shop = (
  events: Record<string, string>,
  options: Record<string, string> = {},
  more = "",
) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const event = (name, eventName, options) =>
  new advertising.ConversionEvent(name, { eventName, advertiserId: acme, value: 5, deletionPolicy: "delete" }, options);
${Object.entries(events)
  .map(([name, eventName]) => `event("${name}", "${eventName}", ${options[name] ?? "{}"});`)
  .join("\n")}
${more}`);

/** `signup` in a component, which is declared late, perhaps with the alias that moves it there. */
const inComponent = (options = "") => `
class Funnel extends pulumi.ComponentResource {
  constructor(name) {
    super("my:Funnel", name);
    event("signup-web", "Signup", { parent: this, ${options} });
  }
}
setTimeout(() => new Funnel("funnel"), 200);`;
const ALIAS = `aliases: [{ name: "signup", parent: pulumi.rootStackResource }]`;
const INSIDE =
  "urn:pulumi:dev::tiny::my:Funnel$pulumi-nodejs:dynamic/advertising:ConversionEvent::signup-web";

it("an unresolved event and live ones, renamed, moved and removed", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = {
    createdVisibleAfterSeconds: 0,
    event: { delete: "DELETE rest/event/{id}" },
  };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const live = { purchase: "Purchase", other: "Other" };
  const stack = await newStack(shop(live), { sandbox, environment });
  await well(stack.up());
  const idOf = (name: string) =>
    sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const purchase = idOf("Purchase");

  // Of unresolved outcome, and renamed without an alias: nothing new is sent.
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  stack.program(shop({ ...live, signup: "Signup" }));
  const lost = await failed(stack.up());
  expect(saidTwice(lost), lost).toEqual([]);
  const commands = ["--created 'signup=<its id>'", "--not-created 'signup'"].map(
    (each) => `pending ${each}`,
  );
  for (const words of ['named "Signup"', ...commands, "[ADVERTISING_OUTCOME_UNKNOWN]"])
    expect(lost).toContain(words);
  stack.program(shop(live, {}, inComponent()));
  const stopped = await failed(stack.up());
  // The last check of what is declared at once may come before or after this one's.
  const alias = /the alias \{ name: "signup"|under another name now, add an alias/;
  expect(stopped).toMatch(alias);
  for (const words of [...commands, "[ADVERTISING_OUTCOME_UNKNOWN]"])
    expect(stopped).toContain(words);
  expect(sandbox.eventPosts).toBe(3);
  await well(pendingCommand(stack, "--created", `signup=${idOf("Signup")}`));

  // With the alias it is the same one, live ones too.
  const renamed = { "purchase-eu": "Purchase" };
  stack.program(
    shop(
      renamed,
      { "purchase-eu": `{ aliases: [{ name: "purchase" }] }` },
      inComponent(ALIAS),
    ),
  );
  const up = await well(stack.up());
  expect(up).not.toMatch(/stays live|No longer declared/);
  expect((await stack.resources()).find(({ urn }) => urn === INSIDE)?.id).toBe(
    String(idOf("Signup")),
  );
  expect(await stack.ids()).toMatchObject({
    "purchase-eu": String(purchase),
    "signup-web": String(idOf("Signup")),
  });
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 1 });

  // What failed half way has not declared everything: nothing is said to leave, or deleted.
  stack.program(shop({}, {}, `setTimeout(() => { throw new Error("half way"); }, 200);`));
  const { output } = await stack.up();
  expect(output).toContain("half way");
  expect(output).not.toContain("No longer declared");
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 3, deletes: 1 });
});
