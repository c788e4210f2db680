/** Renames, moves and removals, as people make them: nothing twice, and nothing left behind without a word. See day.test.ts as well. */
import { expect, it } from "vitest";
import { pendingCommand } from "../support/recovery.js";
import { type Shared, useSharedStack } from "../support/shared-stack.js";
import { newStack, program, type RunResult, type TestStack, useSandbox } from "../support/stack.js";

const urn = (name: string) => `urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::${name}`;

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

/** In a component, declared late, perhaps with the alias that moves `signup` there. */
const inComponent = (name: string, options = "") =>
  program(`
class Funnel extends pulumi.ComponentResource {
  constructor(name) {
    super("my:Funnel", name);
    new advertising.ConversionEvent("${name}", { eventName: "Signup", advertiserId: acme, value: 5 }, { parent: this, ${options} });
  }
}
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
setTimeout(() => new Funnel("funnel"), 200);`);
const ALIAS = `aliases: [{ name: "signup", parent: pulumi.rootStackResource }]`;

const UNKNOWN = 'Look in the account for the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at 20';

/** `signup` was carried out, and its response was lost. What is sent afterwards is counted. */
const unresolvedSignup = useSharedStack(shop({ signup: "Signup" }), async ({ sandbox, stack }: Shared) => {
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  for (const words of [
    UNKNOWN,
    "--created 'signup=<its id>'",
    "--not-created 'signup'",
    "[ADVERTISING_OUTCOME_UNKNOWN]",
  ])
    expect(output).toContain(words);
  expect(sandbox.eventPosts).toBe(1);
  sandbox.resetCounts();
});

async function expectWell(run: Promise<RunResult>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).toBe(0);
  return output;
}

/** Nothing new is sent, in a preview and in an `up`, and both say how to settle it. */
async function expectStopped(stack: TestStack, ...words: string[]) {
  for (const run of ["preview", "up"] as const) {
    const { code, output } = await stack[run]();
    expect(code, output).not.toBe(0);
    for (const word of [...words, "pending --created 'signup=<its id>'"]) expect(output).toContain(word);
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
  }
}

it("an unresolved event that is renamed without an alias stops what is new, until it is answered", async () => {
  const { sandbox, stack } = unresolvedSignup();
  stack.program(shop({ lead: "Signup" }));
  await expectStopped(stack, "Nothing new is created", "If you renamed or moved it");
  stack.program(inComponent("signup"));
  await expectStopped(stack, "Nothing new is created");
  expect(sandbox.eventPosts).toBe(0);
  expect((await pendingCommand(stack)).code).toBe(1);

  // Back, as the message says: it is unresolved as before, and settled.
  stack.program(shop({ signup: "Signup" }));
  expect((await stack.up()).output).toContain(UNKNOWN);
  const id = sandbox.events[0]?.id;
  await expectWell(pendingCommand(stack, "--created", `signup=${id}`));
  await expectWell(stack.up());
  stack.program(inComponent("signup-web", ALIAS));
  await expectWell(stack.up());
  expect((await stack.resources()).map((each) => each.id)).toContain(String(id));
  expect(sandbox.eventPosts).toBe(0);
});

it("with the alias it is the same resource, which is unresolved; the commands take its name and its URN in a component", async () => {
  const { sandbox, stack } = unresolvedSignup();
  stack.program(inComponent("signup-web", ALIAS));
  for (const run of ["preview", "up"] as const) {
    const { code, output } = await stack[run]();
    expect(code).not.toBe(0);
    expect(output).toContain(UNKNOWN);
  }
  const inside = "urn:pulumi:dev::tiny::my:Funnel$pulumi-nodejs:dynamic/advertising:ConversionEvent::signup-web";
  expect((await stack.resources()).some((each) => each.urn === urn("signup"))).toBe(true);
  await expectWell(pendingCommand(stack, "--not-created", urn("signup")));
  await expectWell(stack.up());
  expect((await stack.resources()).some((each) => each.urn === inside)).toBe(true);
  expect(sandbox.eventPosts).toBe(1);
});

it("after `state rename`, `state delete`, a removal and a destroy it is remembered, and not sent again", async () => {
  const { sandbox, stack } = unresolvedSignup();
  await expectWell(stack.run(["state", "rename", urn("signup"), "lead", "--yes"]));
  stack.program(shop({ lead: "Signup" }));
  expect((await stack.up()).output).toContain(UNKNOWN);
  await expectWell(stack.run(["state", "rename", urn("lead"), "signup", "--yes"]));
  await expectWell(stack.run(["state", "delete", urn("signup"), "--yes"]));
  stack.program(shop({ signup: "Signup" }));
  expect((await stack.up()).output).toContain("its outcome is unknown");

  stack.program(shop({}));
  expect(await expectWell(stack.up())).toMatch(/interrupted run is declared by nothing: signup \(outcome unknown\)/);
  stack.program(shop({ new: "New" }));
  await expectStopped(stack, "Nothing new is created");
  await expectWell(stack.destroy());
  expect(await stack.resources()).toEqual([]);
  const listed = await pendingCommand(stack);
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain(' signup: look in the account for the ConversionEvent named "Signup"');
  expect(sandbox.creates).toBe(0);
  await expectWell(pendingCommand(stack, "--not-created", "signup"));
  await expectWell(stack.up());
  expect(sandbox.creates).toBe(2);
});

it("a live event that is renamed, and one that is removed, are named before; with an alias nothing is sent, and what was renamed is deleted as ever", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = { createdVisibleAfterSeconds: 0, event: { delete: "DELETE rest/event/{id}" } };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const deleted = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "{ retainOnDelete: false }"]));
  const stack = await newStack(shop({ purchase: "Purchase", other: "Other" }, deleted("purchase")), {
    sandbox,
    environment,
  });
  await expectWell(stack.up());
  const idOf = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const [purchase, other] = [idOf("Purchase"), idOf("Other")];
  const leaves = (...told: string[]) => `No longer declared: ${told.join(", ")}.`;
  stack.program(shop({ "purchase-eu": "Purchase" }));
  const preview = await expectWell(stack.preview());
  expect(preview).toContain(leaves(`other (${other})`, `purchase (${purchase})`));
  expect(preview).toContain('"purchase" has the platform name of the new "purchase-eu"');
  const eu = { "purchase-eu": `{ aliases: [{ name: "purchase" }], retainOnDelete: false }` };
  stack.program(shop({ "purchase-eu": "Purchase" }, eu));
  const aliased = await expectWell(stack.up());
  expect(aliased).toContain(leaves(`other (${other})`));
  expect(aliased).not.toContain(`purchase (${purchase})`);
  expect(await expectWell(stack.preview())).not.toContain("No longer declared");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });

  stack.program(shop({}));
  expect(await expectWell(stack.up())).toContain(leaves(`purchase-eu (${purchase})`));
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
  expect(sandbox.events.map(({ id }) => id)).toEqual([other]);
});

it("a replacement is told at its resource before, and afterwards with both ids", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop({ purchase: "Purchase" }), { sandbox });
  await expectWell(stack.up());
  const adopting = (id: number, text: string, name: string) =>
    text.replace(`"${name}", advertiserId`, `"${name}", existingId: ${id}, advertiserId`);
  stack.program(adopting(42, shop({ purchase: "Purchase 2", adopted: "Old" }), "Old"));
  const after = /2 stays live on the platform, and tags that were placed for it keep firing; deactivate it there/;
  const preview = await expectWell(stack.preview());
  expect(preview).toContain(`ConversionEvent "purchase": The replacement creates another live object.`);
  expect(preview).toMatch(after);
  const up = await expectWell(stack.up());
  expect(up).toMatch(new RegExp(`ConversionEvent "purchase" is 3 now. ${after.source}`));
  expect(sandbox.eventPosts).toBe(2);

  // Changed by hand on the platform: the same object with new arguments.
  stack.program(adopting(3, shop({ purchase: "By hand" }), "By hand"));
  expect(await expectWell(stack.up())).not.toContain("3 stays live");
  expect((await stack.resources()).at(-1)).toMatchObject({ id: "3", outputs: { eventName: "By hand" } });

  // What failed half way has not declared everything: nothing is said to leave.
  stack.program(`${shop({})}\nsetTimeout(() => { throw new Error("half way"); }, 200);`);
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("half way");
  expect(output).not.toContain("No longer declared");
  expect(sandbox.eventPosts).toBe(2);
});
