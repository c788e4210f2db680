/** examples/fleet: real stacks from one data file, in one run, with one login. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runProcess, TestStack, UNCHECKED, useSandbox } from "../support/stack.js";

const example = resolve(import.meta.dirname, "../../examples/fleet");

it("a wrong stack, a wrong password; an apply with one failing stack; a preview of that one, mended, without a password", async () => {
  const sandbox = await useSandbox();
  const stack = new TestStack("", { file: "index.ts", sandbox, environment: UNCHECKED });
  onTestFinished(() => stack.remove());
  const { programFolder: folder, environment } = stack;
  const isOwn = (path: string) => !/^(Pulumi\..+\.yaml|node_modules|logs)$/.test(basename(path)); // not of developers' own runs
  cpSync(example, folder, { recursive: true, filter: isOwn });
  const data = join(folder, "fleet.json");
  const declared = JSON.parse(readFileSync(data, "utf8")) as { stacks: Record<string, object> };
  const { at, cz } = declared.stacks;
  const whole = JSON.stringify({ ...declared, stacks: { at, cz } });
  writeFileSync(data, whole.replace("Acme Austria", " "));
  const fleet = (args: readonly string[], more: Record<string, string> = {}) =>
    runProcess("node", ["fleet.mts", ...args], folder, { ...environment, ...more });

  const unknown = await fleet(["--only", "cz,atlantis"]);
  expect(unknown).toEqual({ code: 2, output: "fleet.json has no stack atlantis; it has at, cz\n" });
  expect(sandbox.requests).toEqual([]);
  const refused = await fleet([], { ADVERTISING_PASSWORD: "not-this-one" });
  expect(refused.output).toMatch(/\[ADVERTISING_LOGIN\]\nNo stack was begun/);
  expect(refused.code).toBe(2);
  expect(sandbox).toMatchObject({ logins: 1, creates: 0 });

  const most = await fleet([]);
  expect(most.output).toMatch(/^cz: done$/m);
  expect(most.output).toMatch(/^at: failed\. .*See logs\/at\.log$/m);
  expect(most.code).toBe(1);
  expect(readFileSync(join(folder, "logs", "at.log"), "utf8")).toContain("[ADVERTISING_ARGUMENTS]");
  expect(sandbox).toMatchObject({ logins: 2, creates: 3 });
  writeFileSync(data, whole);
  const mended = await fleet(["--preview", "--only", "at"], { ADVERTISING_PASSWORD: "" });
  expect(mended).toEqual({ code: 0, output: "at: done\n" });
  expect(sandbox).toMatchObject({ logins: 2, creates: 3 });
});
