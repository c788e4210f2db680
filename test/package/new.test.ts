/** `npm run new`: a project of one's own, from a template of Pulumi's, in one command. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { languagesFolder } from "../../scripts/lib/base.mjs";
import { hostOf, useLanguages } from "../support/languages.js";
import { projectEnvironment, useTemporaryFolder } from "../support/packed.js";
import { runProcess, useSandbox, well } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const temporary = useTemporaryFolder();
useLanguages();

/** Runs the command in the temporary folder. */
async function make(...args: string[]) {
  const environment = {
    ...projectEnvironment(),
    PATH: [process.env.PATH, languagesFolder].join(delimiter),
    INIT_CWD: temporary(),
    PULUMI_HOME: join(temporary(), "home"),
    npm_config_prefer_offline: "true",
  };
  const script = join(repository, "scripts", "new.mjs");
  const { code, output } = await runProcess(
    "node",
    [script, ...args],
    temporary(),
    environment,
  );
  return { code, output, environment };
}

/** Makes a project, and previews and applies it with what the command says, and its settings but for the address. */
async function lifeOf(name: string, language: string, sandbox: Sandbox) {
  const { code, output, environment } = await make(name, language);
  expect(code, output).toBe(0);
  const [, line = ""] = /^ {2}export (PULUMI_BACKEND_URL=.*?) {2}/m.exec(output) ?? [];
  expect(output).toContain(`\n  cd ${name}\n`);
  const folder = join(temporary(), name);
  for (const file of readdirSync(folder).filter((each) => /\.(yaml|json)$/.test(each)))
    expect(readFileSync(join(folder, file), "utf8")).not.toMatch(
      /advertising-template|\{PROJECT\}/,
    );
  const pulumi = (command: string) =>
    runProcess("sh", ["-c", `export ${line}; pulumi ${command}`], folder, environment);
  const preview = await well(pulumi("preview --non-interactive"));
  expect(sandbox.requests).toEqual([]);
  const settings = join(folder, "Pulumi.dev.yaml");
  const written = readFileSync(settings, "utf8");
  expect(written).toMatch(/advertising:password:\n +secure: /);
  writeFileSync(settings, written.replace("http://127.0.0.1:8787", sandbox.url));
  await well(pulumi("up --yes --skip-preview"));
  return preview;
}

it("the README has the same commands, at most five to the first preview", async () => {
  const readme = readFileSync(join(repository, "README.md"), "utf8");
  const [, table = ""] =
    /\| TypeScript \| YAML \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(readme) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .map((row) => [...row.matchAll(/`(.*?)`/g)].map(([, text]) => text));
  const rest = [
    "cd ../shop",
    'export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=sandbox',
    "pulumi preview",
  ];
  expect(rows.map(([typescript]) => typescript)).toEqual(["npm run new ../shop", ...rest]);
  expect(rows.map(([, yaml]) => yaml)).toEqual(["npm run new ../shop yaml", ...rest]);
});

it("TypeScript: previews at once, and applies against the sandbox", async () => {
  const sandbox = await useSandbox();
  expect(await lifeOf("shop", "typescript", sandbox)).toContain("7 to create");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 2, eventPosts: 3 });
});

it("YAML: previews at once, and applies against the sandbox", async (context) => {
  hostOf("yaml", context);
  const sandbox = await useSandbox();
  expect(await lifeOf("yaml-shop", "yaml", sandbox)).toContain("5 to create");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 2, eventPosts: 3 });
});

it("a folder with files in it, a name that Pulumi refuses, and an unknown language: nothing is written", async () => {
  mkdirSync(join(temporary(), "full", "src"), { recursive: true });
  for (const [args, message] of [
    [["full"], /isn't empty/],
    [["a shop"], /may only have letters/],
    [["other", "pascal"], /Usage: npm run new DIR/],
    [[], /Usage: npm run new DIR/],
  ] as const) {
    const { code, output } = await make(...args);
    expect(output).toMatch(message);
    expect(code).not.toBe(0);
  }
  expect(readdirSync(temporary())).not.toContain("other");
});
