/**
 * A shop whose events are one set and whose runs are killed, and what its users do then.
 */
import { expect } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { pendingCommand } from "./recovery.js";
import { program, type TestStack } from "./stack.js";

/** The set `funnel` with `events` events `e0`, `e1`, … ADOPT has ids that were found in the account, by key, and VALUE their value. */
export const setShopOf = (events: number) =>
  program(`
const adopt = JSON.parse(process.env.ADOPT ?? "{}");
const events = {};
for (let i = 0; i < ${events}; i++) {
  events["e" + i] = { eventName: "E" + i, value: Number(process.env.VALUE ?? 1), existingId: adopt["e" + i] };
}
new advertising.ConversionEventSet("funnel", { advertiserId: 1, events });`);

async function setIn(stack: TestStack) {
  const [set] = await stack.resources();
  const { eventIds = {}, unresolved = {} } = (set?.outputs ?? {}) as {
    eventIds?: Record<string, number>;
    unresolved?: Record<string, unknown>;
  };
  return { eventIds, unresolved };
}

/** Does what users do after a kill, until all is well: unlock, look, adopt what exists. @returns how many were unresolved. */
export async function recoverSet(stack: TestStack, sandbox: Sandbox): Promise<number> {
  await stack.cancel();
  const first = await stack.up();
  if (first.code === 0) return 0;
  expect(first.output).toContain("ADVERTISING_OUTCOME_UNKNOWN");
  const { eventIds, unresolved } = await setIn(stack);
  const managed = new Set(Object.values(eventIds));
  const adopt: Record<string, number> = {};
  for (const key of Object.keys(unresolved)) {
    const found = sandbox.events.filter(({ event_name, id }) => event_name === key.toUpperCase() && !managed.has(id));
    expect(found.length, "at most one object of an unresolved event").toBeLessThanOrEqual(1);
    if (found[0] !== undefined) adopt[key] = found[0].id;
    else await settleAsNotCreated(stack, key); // it was noted, but the run was killed before it was sent
  }
  stack.setEnvironment({ ADOPT: JSON.stringify(adopt) });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  return Object.keys(unresolved).length;
}

async function settleAsNotCreated(stack: TestStack, key: string): Promise<void> {
  const [set] = await stack.resources();
  const { output } = await pendingCommand(stack, "--not-created", `${set?.urn}["${key}"]`);
  expect(output).toContain("Settled as not created");
}

/** Expects that every event exists once and is managed, and that nothing is left to do. */
export async function expectEachOnceInSet(stack: TestStack, sandbox: Sandbox, events: number, round: string) {
  const names = sandbox.events.map(({ event_name }) => event_name);
  expect(new Set(names).size, `${round}: nothing twice`).toBe(names.length);
  const managed = Object.values((await setIn(stack)).eventIds).sort((a, b) => a - b);
  expect(managed, `${round}: nothing unmanaged`).toEqual(sandbox.events.map(({ id }) => id).sort((a, b) => a - b));
  expect(managed).toHaveLength(events);
  stack.setEnvironment({ ADOPT: undefined });
  const posts = sandbox.eventPosts;
  expect((await stack.up()).output).toContain("2 unchanged");
  expect(sandbox.eventPosts).toBe(posts);
}
