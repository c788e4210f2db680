/** What several tests of a file begin with: a stack and its sandbox, set up by real runs once, and as they were then for each test. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../provider/src/sandbox/index.js";
import { type StackOptions, TestStack } from "./stack.js";

export interface Shared {
  readonly stack: TestStack;
  /** Its counts begin at 0 in each test. */
  readonly sandbox: Sandbox;
}

/** @param setUp the runs that all of them begin with. */
export function useSharedStack(
  program: string,
  setUp: (shared: Shared) => Promise<void>,
  { sandbox: sandboxOptions, ...options }: Omit<StackOptions, "sandbox"> & { readonly sandbox?: SandboxOptions } = {},
): () => Shared {
  let shared: Shared;
  let kept: string;
  let environment: Readonly<Record<string, string>>;
  let objects: ReturnType<Sandbox["snapshot"]>;
  const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true });

  beforeAll(async () => {
    // Without sessions: they would end between the tests.
    const sandbox = await startSandbox({ ...sandboxOptions, authMode: "basic" });
    const stack = new TestStack(program, {
      ...options,
      sandbox,
      environment: { ...options.environment, ADVERTISING_AUTH_MODE: "basic" },
    });
    shared = { stack, sandbox };
    await stack.init();
    await setUp(shared);
    environment = { ...stack.environment };
    kept = mkdtempSync(join(dirname(stack.folder), "kept-"));
    copy(stack.folder, kept);
    objects = structuredClone(sandbox.snapshot());
  });

  beforeEach(() => {
    const { stack, sandbox } = shared;
    stack.remove();
    copy(kept, stack.folder);
    const none = Object.fromEntries(Object.keys(stack.environment).map((name) => [name, undefined]));
    stack.setEnvironment({ ...none, ...environment });
    sandbox.reset(structuredClone(objects));
  });

  afterAll(async () => {
    shared.stack.remove();
    rmSync(kept, { recursive: true, force: true });
    await shared.sandbox.close();
  });

  return () => shared;
}
