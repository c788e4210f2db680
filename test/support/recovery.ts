/**
 * A shop with many events whose runs are interrupted, and what its users do then.
 */
import { resolve } from "node:path";
import { expect } from "vitest";
import type { Sandbox, SandboxObject } from "../../provider/src/sandbox/index.js";
import { program, runProcess, type TestStack } from "./stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

/** One advertiser `a` and `events` events `e0`, `e1`, … ADOPT has ids that were found in the account, by resource. */
export const shopOf = (events: number) =>
  program(`
const adopt = JSON.parse(process.env.ADOPT ?? "{}");
const a = new advertising.Advertiser("a", { advertiserName: "A", existingId: adopt.a });
for (let i = 0; i < ${events}; i++) {
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: a.advertiserId, value: 1, existingId: adopt["e" + i] });
}`);

/** Does what users do after a kill, until all is well: unlock, look, follow the advice. @returns also what the first `up` printed. */
export async function recover(stack: TestStack, sandbox: Sandbox): Promise<{ unresolved: number; first: string }> {
  await stack.cancel();
  let unresolved = 0;
  let first: string | undefined;
  for (let attempt = 1; attempt <= 12; attempt++) {
    const { code, output } = await stack.up("--continue-on-error");
    first ??= output;
    if (code === 0) return { unresolved, first };
    if (attempt === 12) throw new Error(output);
    const adopt: Record<string, number> = {};
    const notCreated: string[] = [];
    for (const { urn, id } of await stack.resources()) {
      if (!id?.startsWith("unresolved-")) continue;
      unresolved++;
      const name = urn.split("::").at(-1) ?? "";
      const found = objectsNamed(sandbox, name);
      expect(found.length, "at most one object of an unresolved resource").toBeLessThanOrEqual(1);
      if (found[0] !== undefined) adopt[name] = found[0].id;
      else notCreated.push(name);
    }
    if (notCreated.length > 0) {
      const settled = await pendingCommand(stack, ...notCreated.map((name) => `--not-created=${name}`));
      for (const name of notCreated)
        expect(settled.output).toMatch(new RegExp(`Settled as not created: .*\\b${name}\\b`));
    }
    stack.setEnvironment({ ADOPT: JSON.stringify(adopt) });
  }
  throw new Error("unreachable");
}

/** Runs the command `pending` for this stack. */
export function pendingCommand(stack: TestStack, ...args: readonly string[]) {
  return runProcess("node", [command, "pending", ...args], stack.programFolder, stack.environment);
}

/** After a kill that left nothing in the state: `pending` knows each existing object from the memory. */
export async function expectListed(stack: TestStack, sandbox: Sandbox, round: string): Promise<void> {
  const { output } = await pendingCommand(stack);
  const names = [...output.matchAll(/look in the account for the \w+ named "(\w+)"/g)].map(([, name]) => name);
  const created = /^Created by earlier runs, and not in the state yet: .*$/m.exec(output)?.[0] ?? "";
  const ranges = [...created.matchAll(/[( ](\d+)(?:–(\d+))?[),]/g)].map(([, from, to = from]) =>
    [from, to].map(Number),
  );
  const isListed = (object: SandboxObject) =>
    names.includes(nameOf(object)) || ranges.some(([from = 0, to = 0]) => from <= object.id && object.id <= to);
  const unknown = [...sandbox.advertisers, ...sandbox.events].filter((object) => !isListed(object));
  expect(unknown.map(nameOf), `${round}: ${output}`).toEqual([]);
}

/** Does what a pipeline does on a runner whose disk is gone: asks for the engine's own record, looks, and settles each create. */
export async function settlePending(stack: TestStack, sandbox: Sandbox): Promise<number> {
  await stack.cancel();
  const listed = await pendingCommand(stack);
  if (listed.code === 0) return 0;
  expect(listed.code, listed.output).toBe(1);
  const names = [...listed.output.matchAll(/^ {2}(\w+): look in the account for/gm)].map(([, name = ""]) => name);
  const answers = names.flatMap((name) => {
    const found = objectsNamed(sandbox, name);
    expect(found.length, "at most one object of a pending create").toBeLessThanOrEqual(1);
    return found[0] === undefined ? ["--not-created", name] : ["--created", `${name}=${found[0].id}`];
  });
  const settled = await pendingCommand(stack, ...answers);
  expect(settled.output).toContain("Nothing is pending");
  expect(settled.code).toBe(0);
  return names.length;
}

const nameOf = (object: SandboxObject) => String(object.advertiser_name ?? object.event_name);

function objectsNamed(sandbox: Sandbox, name: string) {
  return [...sandbox.advertisers, ...sandbox.events].filter((object) => nameOf(object) === name.toUpperCase());
}

/** Expects that every object exists once and is managed, and that nothing is left to do. */
export async function expectEachOnce(stack: TestStack, sandbox: Sandbox, events: number, round: string): Promise<void> {
  const objects = [...sandbox.advertisers, ...sandbox.events];
  const names = objects.map(nameOf);
  expect(new Set(names).size, `${round}: nothing twice`).toBe(names.length);
  const managed = (await stack.resources()).map(({ id }) => id).sort();
  expect(managed).toEqual(objects.map(({ id }) => String(id)).sort());
  expect(managed).toHaveLength(events + 1);
  expect((await stack.up()).output).toContain(`${events + 2} unchanged`);
}
