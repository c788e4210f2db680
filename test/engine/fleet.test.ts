/** examples/fleet: real stacks from one data file, in one run, with one login. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, runProcess, UNCHECKED, useSandbox } from "../support/stack.js";

const example = resolve(import.meta.dirname, "../../examples/fleet");

it("a stack that is not there; an apply with one failing stack", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", {
    file: "index.ts",
    project: "fleet",
    sandbox,
    environment: UNCHECKED,
  });
  const { programFolder: folder, environment } = stack;
  const isOwn = (path: string) =>
    !/^(Pulumi\..+\.yaml|node_modules|logs)$/.test(basename(path)); // not of developers' own runs
  cpSync(example, folder, { recursive: true, filter: isOwn });
  const data = join(folder, "fleet.json");
  const declared = JSON.parse(readFileSync(data, "utf8")) as {
    stacks: Record<string, object>;
  };
  const { at, cz } = declared.stacks;
  const whole = JSON.stringify({ ...declared, stacks: { at, cz } });
  writeFileSync(data, whole.replace("Acme Austria", " "));
  // They are there already: what creates them is Pulumi alone.
  const stacks = join(stack.folder, "backend/.pulumi/stacks/fleet");
  for (const name of ["at", "cz"]) {
    writeFileSync(
      join(stacks, `${name}.json`),
      readFileSync(join(stacks, "dev.json"), "utf8").replace("/dev", `/${name}`),
    );
    cpSync(join(folder, "Pulumi.dev.yaml"), join(folder, `Pulumi.${name}.yaml`));
  }
  const fleet = (...args: readonly string[]) =>
    runProcess("node", ["fleet.mts", ...args], folder, {
      ...environment,
      ...stack.fromFile,
      STACK_NAME: "organization/fleet/at",
    });

  const unknown = await fleet("--only", "cz,atlantis");
  expect(unknown).toEqual({
    code: 2,
    output: "fleet.json has no stack atlantis; it has at, cz\n",
  });
  expect(sandbox.requests).toEqual([]);
  const most = await fleet();
  expect(most.output).toMatch(/^cz: done$/m);
  expect(most.output).toMatch(/^at: failed\. .*See logs\/at\.log$/m);
  expect(most.code).toBe(1);
  expect(readFileSync(join(folder, "logs", "at.log"), "utf8")).toContain(
    "[ADVERTISING_ARGUMENTS]",
  );
  expect(sandbox).toMatchObject({ logins: 1, creates: 3 });
});
