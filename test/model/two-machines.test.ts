/**
 * Two commands on two machines change one stack: every order of their steps. Each step is a call of Pulumi's CLI, which is carried out when
 * the test lets it.
 */
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import { changeStack } from "../../provider/src/tools/change-stack.js";
import type { StackChoice } from "../../provider/src/tools/harness.js";
import type { ExportedStack } from "../../provider/src/tools/stack-export.js";
import { newFolder } from "../support/folder.js";

type Machine = "A" | "B";
const MACHINES: readonly Machine[] = ["A", "B"];
type Call = "export" | "tag set" | "tag get" | "import";

/** What the machines share. */
const backend = { answers: [] as Machine[], tag: undefined as string | undefined, hasTags: true };
/** The calls that were carried out. */
let calls: { readonly by: Machine; readonly call: Call }[] = [];
let folder = "";
/** The next call of each machine. */
const waiting = new Map<Machine, () => void>();

/** Carries a machine's call out when its turn comes. */
function inTurn<T>({ stack }: StackChoice, call: Call, work: () => T): Promise<T> {
  const by = stack as Machine;
  return new Promise((resolve) => {
    waiting.set(by, () => {
      calls.push({ by, call });
      resolve(work());
    });
  });
}

vi.mock("../../provider/src/tools/pulumi.js", async (original) => ({
  ...(await original<object>()),
  settingsOf: async ({ stack = "" }: StackChoice) => ({ cookieFile: join(folder, stack, "cookies") }),
  stackName: async () => "organization/shop/dev",
  exportOf: (choice: StackChoice) =>
    inTurn(choice, "export", () => JSON.stringify({ version: 3, deployment: { answers: backend.answers } })),
  setTag: (choice: StackChoice, value: string) =>
    inTurn(choice, "tag set", () => {
      backend.tag = value;
      return backend.hasTags;
    }),
  tagOf: (choice: StackChoice) => inTurn(choice, "tag get", () => (backend.hasTags ? backend.tag : undefined)),
  importInto: async (choice: StackChoice, { deployment }: ExportedStack, check: () => Promise<void>) => {
    await check();
    await inTurn(choice, "import", () => {
      backend.answers = deployment.answers as Machine[];
    });
  },
}));

beforeEach(() => {
  vi.spyOn(systemClock, "sleep").mockResolvedValue();
});

/** Each machine adds its answer to the stack. @param order whose next call is carried out; at last, whatever is left. */
async function play(order: readonly Machine[], hasTags = true) {
  Object.assign(backend, { answers: [], tag: "of-a-killed-command", hasTags });
  calls = [];
  folder = newFolder();
  const done: Machine[] = [];
  const errors: string[] = [];
  const ended = new Set<Machine>();
  for (const machine of MACHINES) {
    void changeStack({ stack: machine }, (exported) => {
      const answers = [...(exported.deployment.answers as Machine[]), machine];
      const stack = { ...exported, deployment: { answers } };
      return { stack, after: () => done.push(machine) };
    })
      .catch(({ message }: Error) => errors.push(message))
      .finally(() => ended.add(machine));
  }
  for (const machine of [...order, ...Array.from({ length: 20 }, () => MACHINES).flat()]) {
    await vi.waitUntil(() => ended.has(machine) || waiting.has(machine), { interval: 0, timeout: 20_000 });
    waiting.get(machine)?.();
    waiting.delete(machine);
  }
  return { done: done.toSorted(), errors, lost: done.filter((machine) => !backend.answers.includes(machine)) };
}

/** All orders in which each of two has so many turns. */
function orders(a: number, b: number): Machine[][] {
  const beginning = (first: Machine, rest: Machine[][]) => rest.map((order) => [first, ...order]);
  if (a === 0 && b === 0) return [[]];
  return [...(a === 0 ? [] : beginning("A", orders(a - 1, b))), ...(b === 0 ? [] : beginning("B", orders(a, b - 1)))];
}

const at = (by: Machine, call: Call, nth = 0) =>
  calls.flatMap((each, place) => (each.by === by && each.call === call ? [place] : []))[nth] ?? Number.NaN;

/** Whether one machine's import takes longer than what the other one does after its claim: its wait and its export. */
const isSlow = (one: Machine, other: Machine) =>
  at(one, "tag get") < at(other, "tag set") && at(other, "export", 1) < at(one, "import");

it("in all 252 orders each answer is kept, or refused, unless an import is slow", async () => {
  for (const order of orders(5, 5)) {
    const { done, errors, lost } = await play(order);
    expect(done.length, order.join("")).toBeGreaterThan(0);
    expect(done.length + errors.length).toBe(2);
    for (const error of errors) expect(error).toContain("another `pulumi-advertising` command is changing this stack");
    expect(lost.length > 0, order.join("")).toBe(isSlow("A", "B") || isSlow("B", "A"));
  }
});

it("without tags, an answer is lost in 40 of 70 orders", async () => {
  let lostIn = 0;
  for (const order of orders(4, 4)) if ((await play(order, false)).lost.length > 0) lostIn++;
  expect(lostIn).toBe(40);
});
