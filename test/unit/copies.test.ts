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
    expect(copy.severalCopies()).toEqual([]);
});

it("two are one problem, which names both folders and the cure", async () => {
  const both = [await copyIn(A), await copyIn(B)];
  for (const copy of both) {
    expect(copy.severalCopies()).toEqual([
      {
        title:
          "The program and its provider load several copies of pulumi-advertising, and only one can know the whole program",
        lines: [expect.stringMatching(/peerDependencies.*npm ls.*pnpm.*yarn.*npm dedupe/s)],
      },
    ]);
    const [{ lines: [line = ""] = [] } = {}] = copy.severalCopies();
    for (const folder of [A, B]) expect(line).toContain(`${folder}\n`);
  }
});
