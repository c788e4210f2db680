import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../provider/src/base/clock.js";
import { fingerprintOf } from "../../provider/src/kinds/kind.js";
import { Journal } from "../../provider/src/store/journal.js";
import { placesOf } from "../../provider/src/store/places.js";
import { programFolder } from "../../provider/src/tools/pulumi.js";
import { struck, upAndKill } from "../support/killing.js";
import { commandsIn, saidTwice } from "../support/printed-commands.js";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

/** The journals in a stack's cache folder. */
function journalsOf(stack: TestStack): string[] {
  return readdirSync(stack.cache, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(stack.cache, name));
}

/** A stack that was killed while its one event's create was under way; `act`: the platform had carried it out. */
async function killedStack(act: boolean) {
  const sandbox = await useSandbox();
  const fault = sandbox.fail({ on: "event", act, with: { kind: "no-answer" } });
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect(await upAndKill(stack, struck(fault), "tree")).toBe(true);
  await stack.cancel();
  return { sandbox, stack };
}

const adopting = (id: number | undefined) => eventsProgram(1).replace("value: 1", `value: 1, existingId: ${id}`);

it("killed before the answer, which was carried out: other stacks go on, a damaged journal stops, changed inputs are not sent, and existingId adopts it", async () => {
  const { sandbox, stack } = await killedStack(true);
  const [journal = ""] = journalsOf(stack);
  const preview = await stack.preview();
  expect(preview.output).toContain("will not send it");
  expect(readFileSync(journal, "utf8")).toMatch(/"note":"sent".*ConversionEvent::.*::e0/);

  // Two equal events of two stacks are two events.
  const other = await newStack(eventsProgram(1), { sandbox, cache: stack.cache, project: "other" });
  expect((await other.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(sandbox.logins).toBe(1);

  // A damaged journal stops the run before anything is sent, and names itself and the way out.
  const original = readFileSync(journal, "utf8");
  const damaged = original.replace('"version":1', '"version":2');
  writeFileSync(journal, damaged);
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  for (const words of [journal, "later version", "existingId"]) expect(stopped.output).toContain(words);
  expect(commandsIn(stopped.output)).toContain(`rm '${journal}'`);
  expect(saidTwice(stopped.output), stopped.output).toEqual([]);
  expect(readFileSync(journal, "utf8")).toBe(damaged);
  writeFileSync(journal, original);
  expect(sandbox.eventPosts).toBe(2);

  stack.program(eventsProgram(1, 99));
  const changed = await stack.up();
  expect(changed.code).not.toBe(0);
  expect(changed.output).toContain("outcome is unknown");
  expect(changed.output).toContain("an interrupted run sent it at");
  expect(sandbox.eventPosts).toBe(2);

  const [event] = sandbox.events;
  stack.program(adopting(event?.id));
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect((await stack.resources()).at(-1)?.id).toBe(String(event?.id));
  expect(journalsOf(stack)).toEqual([]);
});

it("killed before it was carried out: up sends nothing and saves it as unresolved, and it is settled as not created", async () => {
  const { sandbox, stack } = await killedStack(false);
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.output).toContain("an interrupted run sent it at");
  expect(sandbox.eventPosts).toBe(1);

  const urn = (await stack.resources()).at(-1)?.urn ?? "";
  expect(up.output).toContain(`pending --not-created '${urn}'`);
  const settled = await runProcess(
    "node",
    [resolve(import.meta.dirname, "../../provider/dist/tools/command.js"), "pending", "--not-created", urn],
    stack.programFolder,
    stack.environment,
  );
  expect(settled.code, settled.output).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.events).toHaveLength(1);
  expect(sandbox.eventPosts).toBe(2);
  expect((await stack.resources()).at(-1)?.id).toBe(String(sandbox.events[0]?.id));
  expect(journalsOf(stack)).toEqual([]);
});

it("a create that an interrupted run had noted with its id is announced, and taken over without a request", async () => {
  const sandbox = await useSandbox({
    objects: {
      advertisers: [{ id: 1, advertiser_name: "A", active: true }],
      events: [{ id: 77, event_name: "E0", advertiser_id: 1, value: 1 }],
    },
  });
  const stack = await newStack("", { sandbox, environment: { ADVERTISING_COOKIE_FILE: "session.json" } });
  mkdirSync(join(stack.programFolder, "src"));
  stack.write("Pulumi.yaml", "name: tiny\nruntime: nodejs\nmain: src/index.js\n");
  stack.write(
    "src/index.js",
    program(`new advertising.ConversionEvent("e0", { eventName: "E0", advertiserId: 1, value: 1 });`),
  );
  const account = { baseUrl: sandbox.url, email: sandbox.email };
  // As the commands find it.
  const { journalFolder: folder } = placesOf(account, "", "session.json", programFolder({ cwd: stack.programFolder }));
  const stackName = "organization/tiny/dev";
  const { path } = new Journal({ folder, stack: stackName, clock: systemClock, newMark: () => "", maxWaitMs: 0 });
  mkdirSync(folder, { recursive: true });
  const body = {
    event_name: "E0",
    advertiser_id: 1,
    value: 1,
    count_unique: false,
    click_window: 2592000,
    view_window: 2592000,
    attribution: "ALL",
  };
  const note = { mark: "m", key: `ConversionEvent::${stackName}::e0`, fingerprint: fingerprintOf(body) };
  const notes = [
    { journal: "pulumi-advertising", version: 1 },
    { note: "sent", ...note, at: "2026-11-21T09:28:31.735Z" },
    { note: "created", mark: "m", id: "77" },
  ];
  writeFileSync(path, notes.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });

  const preview = await stack.preview();
  expect(preview.output).toContain(
    'ConversionEvent "e0" was created as 77 by an interrupted run: `pulumi up` will take it over',
  );
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.output).toContain("created as 77 by an interrupted run; it is taken over, and nothing is sent");
  expect(sandbox.requests).toEqual([]);
  expect(await stack.resources()).toMatchObject([{ id: "77", outputs: { eventId: 77 } }]);
  expect(existsSync(path)).toBe(false);
});

it("R2: existingId names an id that the platform gives to another create of the run: both are in the state, and runs fail until it is corrected", async () => {
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const q =
    'const q = new advertising.ConversionEvent("q", { eventName: "Q", advertiserId: 1, value: 1, existingId: 2 });';
  const program = (first: string) => `const advertising = require("pulumi-advertising");
${first}
new advertising.ConversionEvent("p", { eventName: "P", advertiserId: 1, value: 1 }${first && ", { dependsOn: q }"});`;
  const stack = await newStack(program(q), { sandbox });
  const heldBy = async () =>
    (await stack.resources()).flatMap(({ id, urn }) => (id === "2" ? [urn.split("::").at(-1)] : [])).sort();
  const first = await stack.up();
  expect(first.code, first.output).not.toBe(0);
  expect(first.output).toMatch(/ConversionEvent "p" was created as 2, and .*::q had adopted that id with existingId/);
  expect(await heldBy()).toEqual(["p", "q"]);
  const second = await stack.up();
  expect(second.code, second.output).not.toBe(0);
  expect(second.output).toContain("both have 2 in the state");
  stack.program(program(""));
  const corrected = await stack.up();
  expect(corrected.code, corrected.output).toBe(0);
  expect(await heldBy()).toEqual(["p"]);
  const last = await stack.up();
  expect(last.output).toMatch(/\d unchanged/);
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
});
