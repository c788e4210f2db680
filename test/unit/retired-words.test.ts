/** Retired words do not come back in messages and comments, those of tests included. docs.test.ts checks the pages. */
import { describe, expect, it } from "vitest";
import { commentsOf, filesIn, retiredIn, textIn, textsOf } from "../support/retired-words.js";

const sources = filesIn("provider/src/**/*.ts");
const tests = filesIn("test/**/*.ts");

/** Literals that are names in the code, or stored. */
const NAMES = ["let go"];

it("a retired word is found in any case and across line ends, with what to say instead", () => {
  expect(retiredIn("a\nthe Fast\nmode, Besides `let go`")).toEqual([
    'line 2: "Fast mode"; say checkpoints off',
    'line 3: "Besides"; say also; except',
  ]);
  const template = ["`", '{{ a: "anew" }.a} likewise`'].join("$");
  const program = `const told = ${template}; // not\n/** whoever\n * lets\n * go */`;
  expect(retiredIn(textsOf(program))).toEqual(['line 1: "anew"; say again; replaced', 'line 1: "likewise"; say also']);
  expect(retiredIn(commentsOf(program))).toEqual([
    'line 3: "lets go"; say remove; leaves the state',
    'line 2: "whoever"; say anyone who',
  ]);
});

describe("messages", () => {
  it.each(sources)("%s has none", (path) => {
    expect(retiredIn(textsOf(textIn(path), NAMES))).toEqual([]);
  });
});

describe("comments", () => {
  it.each([...sources, ...tests])("%s has none", (path) => {
    expect(retiredIn(commentsOf(textIn(path)))).toEqual([]);
  });
});
