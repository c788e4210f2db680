/**
 * Each violation of a rule that was once seen is put back into the product, and the model must find it; `npm test` tries a few of them,
 * `npm run model-test` all. With LONG_LIVES, also many random lives of a stack (`test/model/world.test.ts`) over all cores.
 */
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { runProcess } from "../support/stack.js";
import { type Violation, violations } from "../support/violations.js";

const repository = resolve(import.meta.dirname, "../..");
const LIVES = Number(process.env.LONG_LIVES ?? 0);
const MOST_LIVES = 10_000;
const seed = Number(process.env.SEED ?? 1);
const chosen = violations.filter(({ isQuick }) => isQuick || process.env.VIOLATIONS === "all");

const play = (variables: Readonly<Record<string, string>>) =>
  runProcess(
    "node",
    [join(repository, "node_modules/vitest/vitest.mjs"), "run", "--project", "model", "test/model/world.test.ts"],
    repository,
    { ...(process.env as Record<string, string>), NO_COLOR: "1", ...variables },
  );

async function overCores<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const worker = async () => {
    for (const [index, item] of next) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

/** @returns after how many lives the model finds the violation, and its message; none if it does not. */
async function found({ file, from, to }: Violation): Promise<{ lives: number; why: string } | undefined> {
  const MUTATION = JSON.stringify({ file, from, to });
  for (let played = 0; played < MOST_LIVES; ) {
    const left = String(MOST_LIVES - played);
    const { code, output } = await play({ MUTATION, SEED: String(seed + played), LIVES: left });
    if (code === 0) return undefined;
    const [, at, why = ""] = /SEED=(\d+) LIVES=1: (.*)/.exec(output) ?? [];
    if (at === undefined) expect.fail(output);
    played = Number(at) - seed + 1;
    // A life that also fails without the change does not count.
    if ((await play({ SEED: at, LIVES: "1" })).code === 0) return { lives: played, why };
  }
  return undefined;
}

// Left out rather than skipped, so that the last line of `npm test` counts no skipped test.
if (LIVES > 0)
  it(`${LIVES} lives of a stack`, { timeout: 60_000 + LIVES * 1000 }, async () => {
    const beganMs = performance.now();
    const each = Math.ceil(LIVES / availableParallelism() / 4);
    const firsts = Array.from({ length: Math.ceil(LIVES / each) }, (_, part) => part * each);
    const counts: Record<string, number> = {};
    const failures = await overCores(firsts, async (first) => {
      const lives = Math.min(each, LIVES - first);
      const { code, output } = await play({ SEED: String(seed + first), LIVES: String(lives) });
      const figures = JSON.parse(/^figures (.*)$/m.exec(output)?.[1] ?? "{}") as Record<string, number>;
      for (const [name, amount] of Object.entries(figures)) counts[name] = (counts[name] ?? 0) + amount;
      return code === 0 ? "" : output;
    });
    const seconds = (performance.now() - beganMs) / 1000;
    console.log(
      `${LIVES} lives (SEED=${seed} to ${seed + LIVES - 1}), ${(LIVES / seconds).toFixed(1)} a second over ${availableParallelism()} cores:`,
      counts,
    );
    expect(failures.filter((output) => output !== "").join("\n")).toBe("");
  });

it(`the model finds each of ${chosen.length} violations`, { timeout: chosen.length * 900_000 }, async () => {
  const results = await overCores(chosen, async (violation) => ({ ...violation, at: await found(violation) }));
  const lines = results.map(({ rule, what, at }) =>
    [rule, what, at?.lives ?? `not in ${MOST_LIVES}`, at?.why].join(" | "),
  );
  console.log(["rule | put back | found after so many lives | by", ...lines].join("\n"));
  expect(results.filter(({ at }) => at === undefined).map(({ what }) => what)).toEqual([]);
});
