import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { controls } from "../support/controls.js";
import { violations } from "../support/model/violations.js";
import { mutated } from "../support/mutation.js";

it("the text that each control and violation replaces is in the source exactly once", () => {
  const wrong = [...controls, ...violations].flatMap((each) => {
    const source = readFileSync(
      resolve(import.meta.dirname, "../../provider/src", each.file),
      "utf8",
    );
    try {
      return mutated(source, each) === source ? `${each.file}: ${each.from} stays` : [];
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(wrong).toEqual([]);
});

/** The texts of a test file, without the places of a table's values, which may be anything. */
const textsIn = (source: string) =>
  [...source.matchAll(/"([^"\n]+)"|`([^`]+)`/g)]
    .flatMap(([, plain, template = ""]) => (plain ?? template).split(/%\w|\$\{[^}]*\}/))
    .filter((text) => text.trim() !== "");

it("each control names a test that is there; without one, nobody hears of it before all are tried", () => {
  const missing = controls.filter(({ test, named }) => {
    const path = resolve(import.meta.dirname, "..", `${test}.test.ts`);
    const texts = textsIn(readFileSync(path, "utf8"));
    return !texts.some((text) => text.includes(named) || named.startsWith(text));
  });
  expect(missing).toEqual([]);
});
