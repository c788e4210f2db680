/** Shops whose runs are interrupted, and what their users do then. */
import { expect } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { program, type RunResult, type TestStack, well } from "./stack.js";

/** One advertiser `a` and `events` events `e0`, `e1`, … */
export const shopOf = (events: number) =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
for (let i = 0; i < ${events}; i++)
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: a.advertiserId, value: 1 });`);

/** One advertiser `a`, and the same events as a set `s`. */
export const setShopOf = (events: number) =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const events = Object.fromEntries(Array.from({ length: ${events} }, (_, i) => ["e" + i, { eventName: "E" + i, value: 1 }]));
new advertising.ConversionEventSet("s", { advertiserId: a.advertiserId, events });`);

/** One advertiser `a`, and the same events: the first half alone, the others as a set `s`. */
export const bothShopOf = (events: number) =>
  program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const { advertiserId } = a;
const all = Array.from({ length: ${events} }, (_, i) => ["e" + i, { eventName: "E" + i, value: 1 }]);
for (const [name, args] of all.slice(0, ${events} / 2)) new advertising.ConversionEvent(name, { ...args, advertiserId });
new advertising.ConversionEventSet("s", { advertiserId, events: Object.fromEntries(all.slice(${events} / 2)) });`);

/** Runs the command `pending` for this stack. */
export const pendingCommand = (
  stack: TestStack,
  ...args: readonly string[]
): Promise<RunResult> => stack.command("pending", ...args);

/** Answers for the listed creates, as a person who looks in the account. @returns the number of these creates. */
export async function answer(
  stack: TestStack,
  sandbox: Sandbox,
  asked: string,
): Promise<number> {
  const names = new Set(
    [...asked.matchAll(/(?:--created '|^ {2})([\w/]+)(?:=|: look in the account)/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  const answers = [...names].flatMap((name) => {
    const id = idOf(sandbox, name);
    return id === undefined ? ["--not-created", name] : ["--created", `${name}=${id}`];
  });
  expect(await well(pendingCommand(stack, ...answers))).toContain(
    "No create is unresolved",
  );
  return names.size;
}

/** Unlocks, reruns and answers until an `up` succeeds, as users do. @returns the number of unresolved creates. */
export async function recover(stack: TestStack, sandbox: Sandbox): Promise<number> {
  await stack.cancel();
  let unresolved = 0;
  for (;;) {
    const { code, output } = await stack.up("--continue-on-error");
    if (code === 0) return unresolved;
    const asked = await answer(stack, sandbox, output);
    expect(asked, output).toBeGreaterThan(0);
    unresolved += asked;
  }
}

/** The object of a create, as a person finds it in the account. @param name as messages have it */
export function idOf(sandbox: Sandbox, name: string): string | undefined {
  const wanted = name.split("/").at(-1)?.toUpperCase();
  const found = objectsOf(sandbox).filter((object) => nameOf(object) === wanted);
  expect(found.length, "at most one object of a create").toBeLessThanOrEqual(1);
  return found[0] && String(found[0].id);
}

export const objectsOf = (sandbox: Sandbox) => [...sandbox.advertisers, ...sandbox.events];
const nameOf = (object: Sandbox["events"][number]) =>
  String(object.advertiser_name ?? object.event_name);

/** Expects that every object exists once and is managed, and that nothing is left to do. */
export async function expectEachOnce(
  stack: TestStack,
  sandbox: Sandbox,
  events: number,
  how: string,
): Promise<void> {
  const objects = objectsOf(sandbox);
  expect(new Set(objects.map(nameOf)).size, `${how}: nothing twice`).toBe(objects.length);
  const managed = Object.values(await stack.ids()).flatMap((id) =>
    typeof id === "object" ? Object.values(id ?? {}) : id,
  );
  expect(managed.map(String).sort(), `${how}: nothing unmanaged`).toEqual(
    objects.map(({ id }) => String(id)).sort(),
  );
  expect(managed).toHaveLength(events + 1);
  const posts = sandbox.creates;
  expect(await well(stack.up()), how).not.toMatch(/created|updated|takes over/);
  expect(sandbox.creates).toBe(posts);
}
