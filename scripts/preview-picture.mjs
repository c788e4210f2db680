import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot, localFolder } from "./lib/paths.mjs";
import { Problem, runMain } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { screenOf, svgOf } from "./lib/terminal-picture.mjs";
import { setUp } from "./setup.mjs";

const COLUMNS = 100;
const PICTURE = inRoot("docs", "preview.svg");

/**
 * Draws docs/preview.svg: what `pulumi preview` of the README's program really prints in a terminal, against a sandbox. Needs the
 * command `script` of util-linux, since Pulumi draws its table in a terminal only.
 *
 *   node scripts/preview-picture.mjs
 */
await runMain(async () => {
  const { env } = await setUp();
  const { startSandbox } = await import("pulumi-advertising/sandbox");
  const sandbox = await startSandbox();
  mkdirSync(localFolder, { recursive: true });
  // Inside the repository, so that the program finds the package.
  const folder = mkdtempSync(join(localFolder, "picture-"));
  try {
    const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(inRoot("README.md"), "utf8")) ?? [];
    const files = {
      "index.ts": program,
      "package.json": JSON.stringify({ name: "shop", private: true }),
      "Pulumi.yaml": "name: shop\nruntime: nodejs\nmain: index.ts\n",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
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
    const preview = `stty cols ${COLUMNS} rows 50; pulumi preview`;
    const screen = screenOf(await succeed("script", "--quiet", "--return", "--command", preview, "/dev/null"));
    writeFileSync(PICTURE, svgOf("pulumi preview", screen));
    console.log(`Drawn: ${PICTURE}`);
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
