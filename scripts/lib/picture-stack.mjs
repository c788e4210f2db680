import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setUp } from "../setup.mjs";
import { commandFile, localFolder } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { run } from "./run.mjs";

/**
 * Sets up, makes a stack `dev` of a program in a folder of its own, against a sandbox, and takes both away at the end.
 *
 * `files` maps names to contents. `use` gets `succeed(command, ...args)`, which runs a command in that folder and answers its output, and
 * `folder`. A command that fails is a `Problem`.
 */
export async function withPictureStack(files, use) {
  const { node, env } = await setUp();
  const { startSandbox } = await import("pulumi-advertising/sandbox");
  const sandbox = await startSandbox();
  mkdirSync(localFolder, { recursive: true });
  // Inside the repository, so that the program finds the package.
  const folder = mkdtempSync(join(localFolder, "picture-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    mkdirSync(join(folder, "state"));
    const options = {
      cwd: folder,
      capture: true,
      env: {
        ...env,
        TERM: "xterm-256color",
        PULUMI_BACKEND_URL: `${pathToFileURL(join(folder, "state")).href}?metadata=skip`,
        PULUMI_CONFIG_PASSPHRASE: "of a stack that holds nothing secret",
        ADVERTISING_BASE_URL: sandbox.url,
        ADVERTISING_EMAIL: sandbox.email,
        ADVERTISING_PASSWORD: sandbox.password,
      },
    };
    const succeed = async (...command) => {
      const { exitCode, output } = await run(command[0], command.slice(1), options);
      if (exitCode !== 0) throw new Problem(`\`${command.join(" ")}\` failed:\n${output}`);
      return output;
    };
    await succeed("pulumi", "stack", "init", "dev", "--non-interactive");
    return await use({
      folder,
      succeed,
      advertising: (...args) => succeed(node, commandFile, ...args),
    });
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
