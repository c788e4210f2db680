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
