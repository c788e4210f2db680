/** examples/starter as a user copies it, with the package as it is installed. */
import { expect, it } from "vitest";
import { projectEnvironment, useStarter } from "../support/packed.js";
import { runProcess } from "../support/stack.js";

const project = useStarter();

it("its unit tests and its checks pass", async () => {
  for (const script of ["test", "check"]) {
    const { code, output } = await runProcess("npm", ["run", script], project(), projectEnvironment());
    expect(code, output).toBe(0);
  }
});
