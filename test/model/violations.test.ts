/**
 * The long version of the model (`npm run model-test`): LONG_LIVES random lives of stacks over all cores, and
 * violations of what is promised, each put back into the product until the model finds it.
 */
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { violations } from "../support/model/violations.js";
import type { Mutation } from "../support/mutation.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const LIVES = Number(process.env.LONG_LIVES ?? 0);
const MOST_LIVES = 3000;
const seed = Number(process.env.SEED ?? 1);

const runProgram = (variables: Readonly<Record<string, string>>) =>
  runProcess(
    "node",
    [
      join(repository, "node_modules/vitest/vitest.mjs"),
      "run",
      "--project",
      "model",
      "test/model/lives.test.ts",
    ],
    repository,
    { ...(process.env as Record<string, string>), NO_COLOR: "1", ...variables },
  );

async function overCores<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const worker = async () => {
    for (const [index, item] of next) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

/** @returns after how many lives the model finds it, and its message; none if it does not. */
async function found({ file, from, to }: Mutation): Promise<string | undefined> {
  const MUTATION = JSON.stringify({ file, from, to });
  const { code, output } = await runProgram({
    MUTATION,
    SEED: String(seed),
    LIVES: String(MOST_LIVES),
  });
  if (code === 0) return undefined;
  const [, at, why = ""] = /SEED=(\d+) LIVES=1: (.*)/.exec(output) ?? [];
  return at === undefined
    ? expect.fail(output)
    : `after ${Number(at) - seed + 1} lives: ${why}`;
}

it.runIf(LIVES > 0)(
  `${LIVES} lives of a stack`,
  { timeout: 60_000 + LIVES * 1000 },
  async () => {
    const each = Math.ceil(LIVES / availableParallelism() / 4);
    const firsts = Array.from(
      { length: Math.ceil(LIVES / each) },
      (_, part) => part * each,
    );
    const failures = await overCores(firsts, async (first) => {
      const lives = Math.min(each, LIVES - first);
      const { code, output } = await runProgram({
        SEED: String(seed + first),
        LIVES: String(lives),
      });
      return code === 0 ? "" : output;
    });
    expect(failures.join("")).toBe("");
  },
);

it.runIf(LIVES > 0)(
  "the model finds each violation",
  { timeout: violations.length * 900_000 },
  async () => {
    const results = await overCores(violations, async (each) => ({
      what: each.what,
      found: await found(each),
    }));
    console.log(results.map(({ what, found: at }) => `${what} | ${at}`).join("\n"));
    expect(results.filter((each) => each.found === undefined)).toEqual([]);
  },
);
