/** Retired words do not come back in messages. docs.test.ts checks the pages. */
import { describe, expect, it } from "vitest";
import { filesIn, retiredIn, textIn, textsOf } from "../support/retired-words.js";

const sources = filesIn("provider/src/**/*.ts");

/** Literals that are names in the code, or stored. */
const NAMES = ["let go"];

it("a retired word is found in any case and across line ends, with what to say instead", () => {
  expect(retiredIn("a\nthe Fast\nmode, Besides `let go`")).toEqual([
    'line 2: "Fast mode"; say checkpoints off',
    'line 3: "Besides"; say also; except',
  ]);
  const template = ["`", '{{ a: "anew" }.a} likewise`'].join("$");
  const program = `const told = ${template}; // not`;
  expect(retiredIn(textsOf(program))).toEqual(['line 1: "anew"; say again; replaced', 'line 1: "likewise"; say also']);
});

describe("messages", () => {
  it.each(sources)("%s has none", (path) => {
    expect(retiredIn(textsOf(textIn(path), NAMES))).toEqual([]);
  });
});
