/** The name of a run: its provider processes must not take each other's creates for an earlier run's. */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { inStack, setCommandTarget } from "../../provider/src/base/index.js";
import { createRuntime } from "../../provider/src/operations/create-runtime.js";
import type { EngineRun } from "../../provider/src/record/index.js";
import { newFolder } from "../support/folder.js";

const ADDRESS = "127.0.0.1:34547";

function runNamed(engineId: string | undefined, engine = ADDRESS): string {
  const pulumi = {
    engineId,
    command: undefined,
    folder: "/shop",
    read: () => Promise.reject(new Error("not read")),
  };
  const log = () => Promise.resolve();
  return createRuntime(() => undefined, {}, log, { engine, pulumi }).runName;
}

const engineIn = (run: string) => run.slice(0, 8);

it("the processes of one engine share the beginning of their runs' names, and no more", () => {
  const names = [runNamed("70 1234"), runNamed("70 1234")];
  expect(new Set(names).size).toBe(2);
  expect(new Set(names.map(engineIn)).size).toBe(1);
});

it.each([
  ["another process", "71 1234", ADDRESS],
  ["a later process of that number", "70 1235", ADDRESS],
  ["another address", "70 1234", "127.0.0.1:34548"],
])("another engine's are different: %s", (_, id, address) => {
  expect(engineIn(runNamed(id, address))).not.toBe(engineIn(runNamed("70 1234")));
});

it("if the engine isn't known, each process counts for itself", () => {
  expect(engineIn(runNamed(undefined))).not.toBe(engineIn(runNamed(undefined)));
});

it("the program names the stack; a refresh before it may know the former name only", () => {
  const pulumi = {
    engineId: undefined,
    command: undefined,
    folder: "/shop",
    read: () => Promise.reject(new Error("not read")),
  };
  const journalAfter = (...begins: [stack: string, isOfProgram: boolean][]) => {
    const runtime = createRuntime(
      () => undefined,
      {},
      () => Promise.resolve(),
      { pulumi },
    );
    for (const [stack, isOfProgram] of begins)
      runtime.begin({ identity: `shop/${stack}::a` }, isOfProgram);
    return basename(runtime.journal().path).split(".")[0];
  };
  const now = journalAfter(["now", true]);
  expect(journalAfter(["then", false], ["now", true], ["then", false])).toBe(now);
  expect(journalAfter(["now", true], ["then", false])).toBe(now);
  expect(journalAfter(["then", false])).not.toBe(now);
});

it.each([
  ["dev", "shop", "pulumi up --stack dev"],
  ["organization/shop/dev", "shop", "pulumi up --stack dev"],
  ["acme/dev", "shop", "pulumi up --stack acme/dev"],
  // A program of the Automation API has its project file elsewhere.
  ["dev", undefined, "pulumi preview --stack organization/shop/dev", true],
  ["dev", "shop", "pulumi preview --stack organization/shop/dev", true],
  ["organization/shop/dev", undefined, "pulumi preview --stack organization/shop/dev"],
  // The project's `main` is outside its folder.
  ["dev", undefined, "pulumi preview --stack dev --cwd <project>"],
  [undefined, "shop", "pulumi up"],
])(
  "printed commands name the stack of the engine's command line from the beginning: %s",
  (stack, name, shown, isInline = false) => {
    const projectIn = (project: string) => {
      const folder = newFolder();
      writeFileSync(join(folder, "Pulumi.yaml"), `name: ${project}\n`);
      return folder;
    };
    const folder = projectIn("shop");
    const printed = shown.replace("<project>", folder);
    vi.spyOn(process, "cwd").mockReturnValue(projectIn(name ?? "other"));
    setCommandTarget(() => ({ options: [], isInline: false }));
    onTestFinished(() => {
      vi.restoreAllMocks();
      setCommandTarget(() => ({ options: [], isInline: false }));
    });
    const pulumi = {
      engineId: undefined,
      command: { command: "refresh", stack, isInline } as EngineRun,
      folder,
      read: () => Promise.reject(new Error("not read")),
    };
    const runtime = createRuntime(
      () => undefined,
      {},
      async () => undefined,
      { pulumi },
    );
    const command = printed.split(" --")[0] ?? "";
    expect(inStack(command)).toBe(printed);
    // In a refresh, the resources of a renamed stack have its former name.
    if (stack !== undefined) runtime.begin({ identity: "shop/former::a" });
    expect(inStack(command)).toBe(printed);
  },
);
