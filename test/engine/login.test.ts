/** The command `login` with a real stack's settings, and a run on another machine that carries on with its session. */
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { eventsProgram, newStack, runProcess, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

it("one login with the stack's settings; an up on another machine needs none", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(3), {
    config: { "advertising:baseUrl": sandbox.url, "advertising:email": sandbox.email },
  });
  const login = () =>
    runProcess("node", [command, "login"], stack.programFolder, {
      ...stack.environment,
      ADVERTISING_PASSWORD: "not-used",
    });
  const set = await stack.run(["config", "set", "--secret", "advertising:password", sandbox.password]);
  expect(set.code, set.output).toBe(0);

  const { code, output } = await login();
  expect(output).toContain(
    `Logged in as ${sandbox.email} at ${sandbox.url} (settings of the stack organization/tiny/dev), with advertising:email and advertising:password.`,
  );
  for (const password of [sandbox.password, "not-used"]) expect(output).not.toContain(password);
  expect(code).toBe(0);

  const other = await stack.onAnotherMachine();
  const session = /pulumi-advertising\/session-[0-9a-f]{16}\.json$/m.exec(output)?.[0] ?? "";
  cpSync(join(stack.cache, session), join(other.cache, session));
  const up = await other.up();
  expect(up.output).toContain("5 created");
  expect(up.code).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, creates: 4 });
});
