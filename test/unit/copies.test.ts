/** A second copy of the package in a program is found by the note that each copy leaves, whatever its version. */
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it, vi } from "vitest";

const NAME = Symbol.for("pulumi-advertising");
const OTHER = "/app/libs/tracking/node_modules/pulumi-advertising";
const OWN = fileURLToPath(new URL("../../provider", import.meta.url));

beforeEach(() => {
  vi.resetModules();
});

/** Notes these folders, as other copies do, and loads this one: twice, which is one. */
const loadedBeside = async (...folders: string[]) => {
  (globalThis as { [NAME]?: object })[NAME] = new Set(folders);
  await import("../../provider/src/program/program.js");
  vi.resetModules();
  return import("../../provider/src/program/program.js");
};

it("one copy is good, also if it is loaded twice", async () => {
  const { expectOneCopy } = await loadedBeside();
  expect(() => expectOneCopy()).not.toThrow();
});

it("of two, the error names both folders and the cure", async () => {
  const { expectOneCopy } = await loadedBeside(OTHER);
  const words = [
    OTHER,
    OWN,
    "peerDependencies",
    "npm ls",
    "pnpm",
    "yarn",
    "npm dedupe",
    "[ADVERTISING_ARGUMENTS]",
  ];
  for (const each of words) expect(() => expectOneCopy()).toThrow(each);
});
