/** Renames, moves and removals, as people make them: nothing twice, and nothing left behind without a word. See day.test.ts as well. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Shared, useSharedStack } from "../support/shared-stack.js";
import { newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const pending = (stack: TestStack, ...args: string[]) =>
  runProcess("node", [command, "pending", ...args], stack.programFolder, stack.environment);

const urn = (name: string, kind = "ConversionEvent") =>
  `urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:${kind}::${name}`;

/** An advertiser `acme`, and these events by name, each with what follows its arguments. */
const shop = (events: Record<string, string>, options: Record<string, string> = {}) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
${Object.entries(events)
  .map(
    ([name, eventName]) =>
      `new advertising.ConversionEvent("${name}", { eventName: "${eventName}", advertiserId: acme, value: 5 }, ${options[name] ?? "{}"});`,
  )
  .join("\n")}`);

/** `signup` becomes unresolved; whether it exists on the platform is `act`. What is sent afterwards is counted. */
async function loseSignup({ sandbox, stack }: Shared, act: boolean) {
  sandbox.fail({ on: "event", act, with: { kind: "close-without-answer" } });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain(
    'Look in the account for the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at 20',
  );
  expect(output).toContain(`npx pulumi-advertising pending --created '${urn("signup")}=<its id>'`);
  expect(output).toContain(`npx pulumi-advertising pending --not-created '${urn("signup")}'`);
  expect(output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  expect(output).not.toContain("stopped at a resource");
  expect(sandbox.eventPosts).toBe(1);
  sandbox.resetCounts();
}

/** `signup` exists on the platform, and is unresolved. */
const unresolvedSignup = useSharedStack(shop({ signup: "Signup" }), (shared) => loseSignup(shared, true));

type Run = "preview" | "up";

/** Each kind of change is held by a preview, by an `up`, or by both: they differ in what the engine does after the program. */
async function expectStopped(stack: TestStack, sandbox: Sandbox, runs: readonly Run[], words: readonly string[]) {
  for (const run of runs) {
    const { code, output } = await stack[run]();
    expect(code).not.toBe(0);
    for (const word of words) expect(output).toContain(word);
    expect(output).toContain(`pending --created '${urn("signup")}=<its id>'`);
    expect(output).toContain(`pending --not-created '${urn("signup")}'`);
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
  }
  expect(sandbox.eventPosts).toBe(0);
}

async function expectPending(stack: TestStack): Promise<void> {
  const listed = await pending(stack);
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain('look in the account for the ConversionEvent named "Signup"');
}

const ACME = { advertisers: [{ id: 1, advertiser_name: "Acme", active: true }], events: [] };

it("an unresolved event that is removed, or moved into a component, stops each run until it is settled", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop({ signup: "Signup" }), { sandbox });
  await loseSignup({ sandbox, stack }, false);
  stack.program(shop({}));
  await expectStopped(stack, sandbox, ["up"], ['ConversionEvent "signup" is no longer declared']);
  await expectPending(stack);

  const moved = (alias: string) =>
    program(`
class Funnel extends pulumi.ComponentResource {
  constructor(name) {
    super("shop:index:Funnel", name);
    const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
    new advertising.ConversionEvent("signup", { eventName: "Signup", advertiserId: acme, value: 5 }, { parent: this, ${alias} });
  }
}
new Funnel("funnel");`);
  stack.program(moved(""));
  await expectStopped(
    stack,
    sandbox,
    ["preview"],
    [
      'If ConversionEvent "signup" is its new name or place, add { aliases: [{ parent: pulumi.rootStackResource }] } to it.',
    ],
  );

  const settled = await pending(stack, "--not-created", "signup");
  expect(settled.code, settled.output).toBe(0);
  stack.program(moved("aliases: [{ parent: pulumi.rootStackResource }]"));
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 1, events: [{ event_name: "Signup" }] });
});

it("after `pulumi state rename` a printed command takes the former name, and nothing is said to leave that is still there", async () => {
  const { sandbox, stack } = unresolvedSignup();
  const rename = async (from: string, to: string) => {
    expect((await stack.run(["state", "rename", urn(from), to, "--yes"])).code).toBe(0);
    stack.program(shop({ [to]: "Signup" }));
  };
  await rename("signup", "lead");
  await expectStopped(stack, sandbox, ["up"], ['ConversionEvent "signup" is no longer declared']);
  const forgotten = await pending(stack, "--forget", urn("signup"));
  expect(forgotten.output).toContain(`the outcome of "${urn("lead")}" is unknown`);
  const id = sandbox.events[0]?.id;
  const settled = await pending(stack, "--created", `${urn("signup")}=${id}`);
  expect(settled.output).toContain(`Settled as created with id ${id}: ${urn("lead")}`);
  expect(settled.code).toBe(0);
  expect((await stack.up()).code).toBe(0);

  await rename("lead", "contact");
  for (const run of ["preview", "up"] as const) {
    const { code, output } = await stack[run]();
    expect(code, output).toBe(0);
    expect(output).toContain("3 unchanged");
    expect(output).not.toContain("no longer declared");
  }
  expect(sandbox.eventPosts).toBe(0);
});

it("after destroy, and after state delete, it is remembered; with a lost journal the state still lists it", async () => {
  const { sandbox, stack } = unresolvedSignup();
  expect((await stack.run(["state", "delete", urn("signup"), "--yes"])).code).toBe(0);
  const again = await stack.up();
  expect(again.code).not.toBe(0);
  expect(again.output).toContain("its outcome is unknown until you settle it");
  expect((await stack.destroy()).code).toBe(0);
  expect(await stack.resources()).toEqual([]);
  const listed = await pending(stack);
  expect(listed.code).toBe(1);
  expect(listed.output).toContain(urn("signup"));
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(0);

  stack.setEnvironment({ XDG_CACHE_HOME: `${stack.cache}-of-another-machine` });
  expect((await pending(stack)).code).toBe(1);
});

it("a live event that is renamed, and one that is removed, are warned of before; with the alias nothing is sent; without it the next preview is quiet", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop({ purchase: "Purchase", other: "Other" }), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const id = sandbox.events.find(({ event_name }) => event_name === "Purchase")?.id;

  stack.program(shop({ "purchase-eu": "Purchase" }));
  const warning =
    `\`purchase\` (${id}) is no longer declared and \`purchase-eu\` has the same arguments: this creates a second live event and ` +
    `leaves ${id} live. If it is a rename, add \`{ aliases: [{ name: "purchase" }] }\`.`;
  const preview = await stack.preview();
  expect(preview.code).toBe(0);
  expect(preview.output).toContain(`ConversionEvent (purchase-eu):\n    warning: ${warning}`);
  const removal =
    /ConversionEvent "other" is no longer declared\. If event \d+ leaves the state, it stays live on the platform, and tags/;
  expect(preview.output).toMatch(removal);

  stack.program(shop({ "purchase-eu": "Purchase" }, { "purchase-eu": `{ aliases: [{ name: "purchase" }] }` }));
  const aliased = await stack.up();
  expect(aliased.code, aliased.output).toBe(0);
  expect(aliased.output).toMatch(removal);
  expect(aliased.output).not.toContain("has the same arguments");
  expect(aliased.output).not.toContain("`purchase`");
  expect(sandbox.eventPosts).toBe(2);

  stack.program(shop({ "purchase-eu": "Purchase" }));
  const quiet = await stack.preview();
  expect(quiet.output).not.toContain("no longer declared");
  expect(sandbox.eventPosts).toBe(2);
});

it("a replacement is told at its resource before, and afterwards with both ids; an adoption as such", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop({ purchase: "Purchase" }), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const changed = shop({ purchase: "Purchase 2", adopted: "Old" });
  stack.program(changed.replace('"Old", advertiserId', '"Old", existingId: 42, advertiserId'));
  const after =
    "2 stays live on the platform, and tags that were placed for it keep firing; deactivate it there by hand.";
  const preview = await stack.preview();
  expect(preview.output).toContain(
    `ConversionEvent (purchase):\n    warning: ConversionEvent "purchase": The replacement creates another live object. ${after}`,
  );
  expect(preview.output).toContain("adopts 42; nothing is sent");
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.output).toContain(`warning: ConversionEvent "purchase" is 3 now. ${after}`);
  expect(up.output).not.toContain("creates another live object");
  expect(sandbox.eventPosts).toBe(2);

  // Changed by hand on the platform: the same object with new arguments.
  stack.program(
    shop({ purchase: "By hand" }).replace('"By hand", advertiserId', '"By hand", existingId: 3, advertiserId'),
  );
  const byHand = await stack.up();
  expect(byHand.code, byHand.output).toBe(0);
  expect(byHand.output).not.toContain("3 stays live");
  expect((await stack.resources()).at(-1)).toMatchObject({ id: "3", outputs: { eventName: "By hand" } });
  expect(sandbox.eventPosts).toBe(2);
});

it("an unresolved event that is declared later in the program is not taken for removed; in a component of a two-part type: its URN, the alias that moves it there, and existingId under a new name", async () => {
  const { sandbox, stack } = unresolvedSignup();
  stack.program(
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
setTimeout(() => new advertising.ConversionEvent("signup", { eventName: "Signup", advertiserId: acme, value: 5 }), 200);`),
  );
  const later = await stack.preview();
  expect(later.code).not.toBe(0);
  expect(later.output).not.toContain("no longer declared");

  const inComponent = (name: string, more = "", options = "") =>
    program(`
class Funnel extends pulumi.ComponentResource {
  constructor(name) {
    super("my:Funnel", name);
    new advertising.ConversionEvent("${name}", { eventName: "Signup", advertiserId: acme, value: 5, ${more} }, { parent: this, ${options} });
  }
}
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
setTimeout(() => new Funnel("funnel"), 200);`);
  // Moved with the alias that the message names: the same resource, which is unresolved.
  const moved = inComponent("signup", "", "aliases: [{ parent: pulumi.rootStackResource }]");
  stack.program(moved);
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  expect(preview.output).not.toContain("no longer declared");
  expect(preview.output).toContain("Look in the account");

  // Found in the account, and named under another name: settled by that.
  stack.program(inComponent("signup-web", `existingId: ${sandbox.events[0]?.id}`));
  const adopted = await stack.up();
  expect(adopted.code, adopted.output).toBe(0);
  expect(sandbox.eventPosts).toBe(0);
  expect((await pending(stack)).code).toBe(0);

  // Unresolved within the component: the URN is the engine's own, and the commands take it.
  sandbox.fail({ on: "event", act: false, with: { kind: "close-without-answer" } });
  stack.program(inComponent("other", "", "").replace('eventName: "Signup"', 'eventName: "Other"'));
  expect((await stack.up()).code).not.toBe(0);
  const inside = "urn:pulumi:dev::tiny::my:Funnel$pulumi-nodejs:dynamic/advertising:ConversionEvent::other";
  const listed = await pending(stack);
  expect(listed.output).toContain("1 create may or may not");
  expect(listed.output).toContain(inside);
  expect((await pending(stack, "--not-created", inside)).code).toBe(0);
  expect(sandbox.eventPosts).toBe(1);
});

it("of a program that fails half way, at once or after a wait, nothing is said to be removed; a later run still says what it removes", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop({ purchase: "Purchase" }), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [{ id } = { id: 0 }] = sandbox.events;
  const none = shop({});
  for (const failure of [
    'throw new Error("half way");',
    'void (async () => { await new Promise((done) => setTimeout(done, 200)); throw new Error("half way"); })();',
  ]) {
    stack.program(`${none}\n${failure}`);
    for (const run of ["preview", "up"] as const) {
      const { code, output } = await stack[run]();
      expect(code).not.toBe(0);
      expect(output).toContain("half way");
      expect(output).not.toContain("no longer declared");
    }
  }
  stack.program(none);
  expect((await stack.up()).output).toContain(
    `ConversionEvent "purchase" is no longer declared. If event ${id} leaves the state, it stays live on the platform`,
  );
  expect(await stack.resources()).not.toContainEqual(expect.objectContaining({ id: String(id) }));
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
});

it("an alias in a run that fails for something else: the object is still deleted when it is replaced, and when it is removed", async () => {
  const sandbox = await useSandbox({ operations: true, objects: ACME });
  const operations = JSON.stringify({ createdVisibleAfterSeconds: 0, event: { delete: "DELETE rest/event/{id}" } });
  const lead = (name: string, value: number, alias = "") =>
    `new advertising.ConversionEvent("${name}", { advertiserId: 1, eventName: "E", value: ${value} }, { retainOnDelete: false${alias} });`;
  const other = `new advertising.ConversionEvent("other", { advertiserId: 1, eventName: "O", value: 1 });`;
  const alias = `, aliases: [{ name: "lead" }]`;
  const environment = { ADVERTISING_OPERATIONS: operations };
  const stack = await newStack(program(lead("lead", 1)), { sandbox, environment });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const [first] = sandbox.events;
  stack.program(program(lead("contact", 1, alias) + other));
  sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body: { errors: ["no"] } } });
  expect((await stack.up()).code).not.toBe(0);

  stack.program(program(lead("contact", 2, alias) + other));
  const replaced = await stack.up();
  expect(replaced.code, replaced.output).toBe(0);
  expect(replaced.output).toContain(`${first?.id} is deleted on the platform`);
  expect(replaced.output).not.toMatch(/Not deleted|stays live/);
  expect(sandbox.deletes).toBe(1);

  stack.program(program(other));
  const removed = await stack.up();
  expect(removed.code, removed.output).toBe(0);
  expect(removed.output).not.toMatch(/Not deleted|"lead"/);
  expect(sandbox).toMatchObject({ deletes: 2, eventPosts: 4, events: [{ event_name: "O" }] });
});

it("what an up was to remove, and the engine did not, is named by the run that does remove it", async () => {
  const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify({ event: { delete: "DELETE rest/event/{id}" } }) };
  const event = (name: string, option: string) =>
    `new advertising.ConversionEvent("${name}", { advertiserId: 1, eventName: "${name}", value: 1 }, { ${option} });`;
  const stack = await newStack(
    program(
      `${event("x", "")} ${event("kept", "protect: true")} ${event("deleted", "retainOnDelete: false, protect: true")}`,
    ),
    { sandbox, environment },
  );
  expect((await stack.up()).code).toBe(0);
  const those = (await stack.resources()).filter(({ urn }) => /::(kept|deleted)$/.test(urn));
  stack.program(program(event("x", "")));
  const failed = await stack.up();
  expect(failed.output).toContain("protect");
  expect(failed.code).not.toBe(0);
  for (const { urn } of those) await stack.run(["state", "unprotect", urn, "--yes"]);
  for (const run of ["preview", "up"] as const) {
    const { code, output } = await stack[run]();
    expect(code, output).toBe(0);
    for (const { id } of those)
      expect(output).toMatch(new RegExp(`is no longer declared. If (event|advertiser) ${id} leaves the state, `));
  }
  const { output } = await stack.preview();
  expect(output).not.toContain("no longer declared");
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 1 });
});
