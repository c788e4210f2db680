/** A project that `npm run new` makes of examples/starter, and the shell steps of the pipelines, run for real with it and a sandbox. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, it, vi } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Comment, serveComments } from "../support/comments.js";
import { lifeOf } from "../support/new-project.js";
import { projectEnvironment, useTemporaryFolder } from "../support/packed.js";
import { codeBlocksOf, page } from "../support/pages.js";
import { github, gitlab, type Pipeline } from "../support/pipelines.js";
import {
  newStack,
  runProcess,
  type TestStack,
  UNCHECKED,
  useSandbox,
} from "../support/stack.js";

const starter = resolve(import.meta.dirname, "../../examples/starter");
const temporary = useTemporaryFolder();
const project = () => join(temporary(), "starter");

it("`npm run new`: the project previews at once, and applies against the sandbox", async () => {
  vi.stubEnv("npm_node_execpath", process.execPath);
  const sandbox = await useSandbox();
  const { output, preview } = await lifeOf(temporary(), "starter", "typescript", sandbox);
  expect(output).not.toContain("Your Node.js");
  expect(preview).toContain("7 to create");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 2, eventPosts: 3 });
});

it("examples/starter: `npm ci` works, and its unit tests and its checks pass, also with the event that docs/testing.md adds", async () => {
  const { text } = page("docs/testing.md");
  const [adding = ""] = /^echo '.*signup: .*catalog\.yaml$/m.exec(text) ?? [];
  expect(adding).not.toBe("");
  const checks = ["npm test", "npm run check"];
  // The types, which take longest, don't depend on the catalog.
  const ofCatalog = ["npm test", "npx pulumi-advertising validate catalog.yaml"];
  // The first fails if the lock file lacks a package that npm couldn't find.
  const scripts = ["npm ci --dry-run --prefer-offline", ...checks, adding, ...ofCatalog];
  const { code, output } = await runAll(scripts, projectEnvironment());
  expect(code, output).toBe(0);
});

it("examples/starter: its unit tests see the adopted events of docs/teams.md, which are in a set", async () => {
  const text = page("docs/teams.md").text.replaceAll(/^ {3}/gm, ""); // within its steps
  const blocks = codeBlocksOf({ path: "docs/teams.md", text });
  const last = (language: string) =>
    blocks.findLast((block) => block.language === language)?.code ?? "";
  const write = (name: string, content: string) =>
    writeFileSync(join(project(), name), content);
  write("index.ts", last("ts"));
  write("events.csv", last("csv"));
  const good = await runAll(["npm test"], projectEnvironment());
  expect(good.code, good.output).toBe(0);
  write("events.csv", last("csv").replace("604800", "2592000"));
  const { code, output } = await runAll(["npm test"], projectEnvironment());
  expect(code).not.toBe(0);
  expect(output).toContain("looks back for two weeks at most");
});

async function stackOf(sandbox: Sandbox): Promise<TestStack> {
  rmSync(join(project(), "Pulumi.dev.yaml"), { force: true }); // of the stack before
  const where = { project: "starter", file: "index.ts", programFolder: project() };
  const stack = await newStack("", { ...where, sandbox, environment: UNCHECKED }); // its types were checked above
  for (const name of ["Pulumi.yaml", "index.ts", "tsconfig.json", "catalog.yaml"])
    cpSync(join(starter, name), join(project(), name));
  const file = join(project(), "Pulumi.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/\$\{PROJECT\}/, where.project));
  return stack;
}

/** Runs the scripts one after the other, up to the first that fails. */
async function runAll(
  scripts: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  let output = "";
  for (const script of scripts) {
    const ended = await runProcess(
      "bash",
      ["-e", "-o", "pipefail", "-c", script],
      project(),
      environment,
    );
    output += ended.output;
    if (ended.code !== 0) return { code: ended.code, output };
  }
  return { code: 0, output };
}

/** One run on a fresh runner: of earlier runs, only the file is there that the pipeline kept. */
async function apply(pipeline: Pipeline, stack: TestStack, resolve = "") {
  const written = [".home", "session.json", "resolve.txt", "apply.txt"];
  for (const old of written) rmSync(join(project(), old), { recursive: true, force: true });
  const summary = join(stack.folder, "summary.md");
  rmSync(summary, { force: true });
  const environment = {
    ...stack.environment,
    ...stack.fromFile,
    STACK: "dev",
    KEEP_KEY: "a key of a test",
    XDG_CACHE_HOME: join(project(), ".home"),
    XDG_STATE_HOME: join(project(), ".home"),
    ADVERTISING_COOKIE_FILE: join(project(), "session.json"),
    GITHUB_STEP_SUMMARY: summary,
    RESOLVE: resolve,
  };
  const { code, output } = await runAll(pipeline.apply, environment);
  const { output: rest } = await runAll(pipeline.after, environment);
  return {
    code,
    output: output + rest,
    summary: existsSync(summary) ? readFileSync(summary, "utf8") : "",
  };
}

/** The headings of a summary. */
const partsOf = (summary: string) =>
  [...summary.matchAll(/^### (.*)$/gm)].map(([, title]) => title);

// Both keep the same file in the same way: so one goes on with what the other has kept.
it("apply, stop at an unresolved create, go on when it is resolved, and name what leaves the state", async () => {
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);
  sandbox.fail({
    on: "event",
    act: true,
    times: 1,
    with: { kind: "close-without-answer" },
  });
  const lost = await apply(github, stack);
  expect(lost.code).not.toBe(0);
  expect(partsOf(lost.summary)).toEqual(["Apply"]);
  expect(lost.summary).toMatch(
    /### Apply\n```\n[\s\S]*\[ADVERTISING_OUTCOME_UNKNOWN\][\s\S]*?\n```\n/,
  );
  expect(lost.summary).toContain("Its input takes");
  expect(readFileSync(join(project(), "session.enc"), "latin1")).not.toContain(
    "service_cookie",
  );
  const sent = sandbox.creates;

  const stopped = await apply(github, stack);
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).not.toContain("Updating (dev)");
  expect(partsOf(stopped.summary)).toEqual(["Apply"]);
  const mistyped = await apply(github, stack, "--created 'shop/no one=1'");
  expect(mistyped.code).not.toBe(0);
  expect(mistyped.summary).toMatch(/^### Resolve\n```\n[\s\S]*shop\/no one[\s\S]*\n```\n/);
  expect(sandbox).toMatchObject({ creates: sent, logins: 1 });

  const [, name = ""] =
    /(shop\/\w+\/\w+)/.exec(
      stopped.output.slice(stopped.output.indexOf("Look in the account")),
    ) ?? [];
  const idOf = (key: string) => {
    const [, advertiser = "", event = ""] = key.split("/");
    const owner = sandbox.advertisers.find((each) =>
      `${each.advertiser_name}`.toLowerCase().endsWith(advertiser),
    );
    const isNamed = (text: unknown) => `${text}`.toLowerCase().startsWith(event);
    return sandbox.events.find(
      (each) => each.advertiser_id === owner?.id && isNamed(each.event_name),
    )?.id;
  };
  const resolved = await apply(gitlab, stack, `--created '${name}=${idOf(name)}'`);
  expect(resolved.code, resolved.output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3, logins: 1 });

  const catalog = join(project(), "catalog.yaml");
  const text = readFileSync(catalog, "utf8");
  const gone = idOf("shop/shoes/landing");
  writeFileSync(catalog, text.replace(/^ {6}landing: .*\n/m, ""));
  const removed = await apply(github, stack);
  expect(removed.code, removed.output).toBe(0);
  expect(partsOf(removed.summary)).toEqual(["Apply"]);
  expect(removed.summary).toContain(
    `\`shop/shoes/landing\` is no longer in the program. Its event ${gone} (`,
  );
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3 });
});

it("a pull request's preview in one comment, which the next commit rewrites; nothing is sent", async (context) => {
  if (spawnSync("jq", ["--version"]).status !== 0)
    return context.skip("no command jq, which GitHub's runners have");
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);
  const { ADVERTISING_PASSWORD: _, ...withoutPassword } = stack.environment;
  const before: Comment[] = [
    ...[1, 2, 3].map((id) => ({ id, body: `Comment ${id}`, user: { login: "ada" } })),
    {
      id: 4,
      body: "<!-- pulumi-advertising: prod -->",
      user: { login: "github-actions[bot]" },
    },
  ];
  const commands = join(stack.folder, "commands");
  mkdirSync(commands);
  symlinkSync(resolve(import.meta.dirname, "../support/gh.mjs"), join(commands, "gh"));
  const catalog = join(project(), "catalog.yaml");
  const text = readFileSync(catalog, "utf8");

  for (const pipeline of [github, gitlab]) {
    const comments = structuredClone(before);
    const { url } = await serveComments("a token", comments);
    const ofGitHub = {
      GH_TOKEN: "a token",
      GH_TEST_API: url,
      COMMENTS: "repos/acme/shop/issues/7/comments",
    };
    const ofGitLab = {
      NOTES_TOKEN: "a token",
      CI_API_V4_URL: `${url}/api/v4`,
      CI_PROJECT_ID: "12",
    };
    const environment = {
      ...withoutPassword,
      STACK: "dev",
      PATH: `${commands}${delimiter}${stack.environment.PATH}`,
      GITHUB_STEP_SUMMARY: join(stack.folder, "summary.md"),
      ...ofGitHub,
      ...ofGitLab,
      CI_MERGE_REQUEST_IID: "7",
    };
    const preview = async (content: string) => {
      writeFileSync(catalog, content);
      const ended = await runAll(pipeline.preview, environment);
      expect(comments.slice(0, before.length)).toEqual(before);
      expect(comments).toHaveLength(before.length + 1);
      return { ...ended, comment: comments.at(-1)?.body };
    };
    expect(await preview(text)).toMatchObject({
      code: 0,
      comment: expect.stringContaining("**5 to create**"),
    });
    // What is wrong with the program is in the comment and in the log, and fails the job at its end.
    const wrong = await preview(text.replace("value: 25", "value: many"));
    expect(wrong.code).not.toBe(0);
    expect(wrong.output).toMatch(/catalog\.yaml:\d+:\d+/);
    expect(wrong.comment).toContain("**The preview failed: 1 error.**");
  }
  expect(sandbox).toMatchObject({ creates: 0, logins: 0 });
});
