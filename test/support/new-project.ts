/** `npm run new`, as a user runs it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import { expect } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { languagesFolder } from "../../scripts/lib/base.mjs";
import { projectEnvironment } from "./packed.js";
import { runProcess, UNCHECKED, well } from "./stack.js";

const script = resolve(import.meta.dirname, "../../scripts/new.mjs");

/** Runs the command in a folder. */
export async function runNew(parent: string, ...args: readonly string[]) {
  const environment = {
    ...projectEnvironment(),
    PATH: [process.env.PATH, languagesFolder].join(delimiter),
    INIT_CWD: parent,
    PULUMI_HOME: join(parent, "home"),
    npm_config_prefer_offline: "true",
  };
  const ended = await runProcess("node", [script, ...args], parent, environment);
  return { ...ended, environment };
}

/**
 * Makes a project, and previews and applies it with what the command says, and its settings but for the address.
 * @returns what the command printed, and the preview.
 */
export async function lifeOf(
  parent: string,
  name: string,
  language: string,
  sandbox: Sandbox,
) {
  const { code, output, environment } = await runNew(parent, name, language);
  expect(code, output).toBe(0);
  const lines = output.split("Next:\n")[1]?.trimEnd().split("\n") ?? [];
  const preparing = lines.slice(0, -2).join("\n");
  expect(lines.at(-2)).toMatch(/^ {2}pulumi preview +# /);
  expect(lines.at(-1)).toMatch(/^ {2}npx advertising-sandbox --port 8787 +# /);
  const folder = join(parent, name);
  for (const file of readdirSync(folder).filter((each) => /\.(yaml|json)$/.test(each)))
    expect(readFileSync(join(folder, file), "utf8")).not.toMatch(
      /advertising-template|\{PROJECT\}/,
    );
  const project = readFileSync(join(folder, "Pulumi.yaml"), "utf8");
  expect(project).toMatch(new RegExp(`^name: ${basename(name)}$`, "m"));
  // Its types are checked by its own command for that (pipelines.test.ts).
  const paste = (command = "") =>
    runProcess("sh", ["-ec", `${preparing}\n${command}`], parent, {
      ...environment,
      ...UNCHECKED,
    });
  const preview = await well(paste(lines.at(-2)));
  expect(sandbox.requests).toEqual([]);
  const settings = join(folder, "Pulumi.dev.yaml");
  const written = readFileSync(settings, "utf8");
  expect(written).toMatch(/advertising:password:\n +secure: /);
  writeFileSync(settings, written.replace("http://127.0.0.1:8787", sandbox.url));
  await well(paste("pulumi up --yes --skip-preview"));
  return { output, preview };
}
