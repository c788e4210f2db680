/** A second copy of the package in a program is found by the note that each copy leaves, whatever its version. */
import { beforeEach, expect, it, vi } from "vitest";

const NAME = Symbol.for("pulumi-advertising");
const A = "/app/node_modules/pulumi-advertising";
const B = "/app/libs/tracking/node_modules/pulumi-advertising";

beforeEach(() => {
  vi.resetModules();
  delete (globalThis as { [NAME]?: object })[NAME];
});

/** Another copy: each has modules of its own. */
const copyIn = async (folder: string) => {
  vi.resetModules();
  const copy = await import("../../provider/src/program/findings.js");
  copy.noteCopy(folder);
  return copy;
};

it("one copy is good, also if it is loaded twice", async () => {
  for (const copy of [await copyIn(A), await copyIn(A)])
    expect(() => copy.expectOneCopy()).not.toThrow();
});

it("of two, the error names both folders and the cure", async () => {
  await copyIn(A);
  const { expectOneCopy } = await copyIn(B);
  const words = [
    A,
    B,
    "peerDependencies",
    "npm ls",
    "pnpm",
    "yarn",
    "npm dedupe",
    "[ADVERTISING_ARGUMENTS]",
  ];
  for (const each of words) expect(() => expectOneCopy()).toThrow(each);
});
