/** The command `login` with a real stack's settings. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, runProcess, useSandbox, well } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/cli/command.js");

it("one login with the stack's settings, of which the password is a secret", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", {
    config: { "advertising:baseUrl": sandbox.url, "advertising:email": sandbox.email },
  });
  await well(
    stack.run(["config", "set", "--secret", "advertising:password", sandbox.password]),
  );
  const environment = {
    ...stack.environment,
    ...stack.fromFile,
    ADVERTISING_PASSWORD: "not-used",
  };
  const { code, output } = await runProcess(
    "node",
    [command, "login"],
    stack.programFolder,
    environment,
  );
  expect(output).toContain(
    `Logged in as ${sandbox.email} at ${sandbox.url}, with advertising:email and advertising:password.`,
  );
  for (const password of [sandbox.password, "not-used"])
    expect(output).not.toContain(password);
  expect(code).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, creates: 0 });
});
