/** The shell steps of the pipelines in examples/ci, run for real: examples/starter's project, and a sandbox. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Comment, serveComments } from "../support/comments.js";
import { useStarter } from "../support/packed.js";
import { PIPELINES, selfHosted } from "../support/pipelines.js";
import { newStack, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const starter = resolve(import.meta.dirname, "../../examples/starter");
const project = useStarter();

async function stackOf(sandbox: Sandbox): Promise<TestStack> {
  const stack = await newStack("", { project: "starter", file: "index.ts", sandbox, programFolder: project() });
  for (const name of ["Pulumi.yaml", "index.ts", "tsconfig.json", "catalog.yaml"])
    cpSync(join(starter, name), join(project(), name));
  return stack;
}

/** Runs the scripts one after the other, up to the first that fails. */
async function runAll(scripts: readonly string[], environment: Readonly<Record<string, string>>) {
  let output = "";
  for (const script of scripts) {
    const ended = await runProcess("bash", ["-e", "-o", "pipefail", "-c", script], project(), environment);
    output += ended.output;
    if (ended.code !== 0) return { code: ended.code, output };
  }
  return { code: 0, output };
}

/** As jobs of pull requests have it. */
function withoutPassword({ environment }: TestStack): Record<string, string> {
  const { ADVERTISING_PASSWORD: _, ...rest } = environment;
  return { ...rest, STACK: "dev" };
}

describe.each(Object.entries(PIPELINES))("ci/%s", (file, { preview, apply: steps, after }) => {
  /** One run on a fresh runner: its cache folder is gone, and what the pipeline kept is there. */
  async function apply(stack: TestStack, more: Record<string, string> = {}) {
    const kept = join(project(), ".kept");
    rmSync(kept, { recursive: true, force: true });
    const environment = {
      ...stack.environment,
      STACK: "dev",
      KEEP_KEY: "a key of a test",
      XDG_CACHE_HOME: kept,
      GITHUB_STEP_SUMMARY: join(stack.folder, "summary.md"),
      SETTLE: "",
      ...more,
    };
    const { code, output } = await runAll(steps, environment);
    let rest = "";
    for (const script of after) rest += (await runAll([script], environment)).output;
    return { code, output: output + rest };
  }

  it("applies, keeps the session, stops at an unresolved create, and goes on when it is settled", async () => {
    rmSync(join(project(), "kept.enc"), { force: true });
    const sandbox = await useSandbox();
    const stack = await stackOf(sandbox);

    sandbox.fail({ on: "event", act: true, times: 1, with: { kind: "close-without-answer" } });
    const lost = await apply(stack);
    expect(lost.code).not.toBe(0);
    expect(lost.output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
    expect(readFileSync(join(project(), "kept.enc"), "latin1")).not.toContain("service_cookie");
    const sent = sandbox.creates;

    const stopped = await apply(stack);
    expect(stopped.code).toBe(1);
    expect(sandbox.creates).toBe(sent);
    const [, name = ""] =
      /(shop\/\w+\/\w+)/.exec(stopped.output.slice(stopped.output.indexOf("ConversionEvent"))) ?? [];
    const live = sandbox.events.find(({ event_name, advertiser_id }) =>
      isNamed(name, event_name, advertiser_id, sandbox),
    );

    const settled = await apply(stack, { SETTLE: `--created '${name}=${live?.id}'` });
    expect(settled.code, settled.output).toBe(0);
    expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3, logins: 1 });

    const again = await apply(stack);
    expect(again.code, again.output).toBe(0);
    expect(again.output).toContain("unchanged");
    expect(sandbox).toMatchObject({ creates: 5, logins: 1 });
  });

  it("tells a pull request's preview in one comment, which the next commit rewrites; nothing is sent", async (context) => {
    if (spawnSync("jq", ["--version"]).status !== 0) return context.skip("no command jq, which GitHub's runners have");
    const sandbox = await useSandbox();
    const stack = await stackOf(sandbox);
    const others: Comment[] = [1, 2, 3].map((id) => ({ id, body: `Comment ${id}`, user: { login: "ada" } }));
    const ofAnother = { id: 4, body: "<!-- pulumi-advertising: prod -->", user: { login: "github-actions[bot]" } };
    const comments = [...others, ofAnother, { ...ofAnother, id: 5, body: "<!-- pulumi-advertising prod -->" }];
    const before = structuredClone(comments);
    const { url } = await serveComments("a token", comments);
    const commands = join(stack.folder, "commands");
    mkdirSync(commands);
    symlinkSync(resolve(import.meta.dirname, "../support/gh.mjs"), join(commands, "gh"));
    const environment = {
      ...withoutPassword(stack),
      PATH: `${commands}${delimiter}${stack.environment.PATH}`,
      GITHUB_STEP_SUMMARY: join(stack.folder, "summary.md"),
      GH_TOKEN: "a token",
      GH_TEST_API: url,
      COMMENTS: "repos/acme/shop/issues/7/comments",
      NOTES_TOKEN: "a token",
      CI_API_V4_URL: `${url}/api/v4`,
      CI_PROJECT_ID: "12",
      CI_MERGE_REQUEST_IID: "7",
    };
    const first = await runAll(preview, environment);
    expect(first.code, first.output).toBe(0);
    expect(comments.slice(0, -1)).toEqual(before);
    const [mine] = comments.slice(-1);
    expect(mine?.body).toContain("**5 create**");
    if (file === "github.yml") expect(readFileSync(environment.GITHUB_STEP_SUMMARY, "utf8")).toBe(mine?.body);

    const catalog = join(project(), "catalog.yaml");
    const text = readFileSync(catalog, "utf8");
    writeFileSync(catalog, text.replace(/^ {6}landing: .*\n/m, ""));
    const second = await runAll(preview, environment);
    expect(second.code, second.output).toBe(0);
    expect(comments.slice(0, -1)).toEqual(before);
    expect(mine?.body).toContain("**4 create**");
    expect(comments).toHaveLength(before.length + 1);

    // What is wrong with the program ends the job, and stands in its log.
    writeFileSync(catalog, text.replace("value: 25", "value: many"));
    const wrong = await runAll(preview, environment);
    expect(wrong.code).not.toBe(0);
    expect(wrong.output).toMatch(/catalog\.yaml:\d+:\d+/);
    const { NOTES_TOKEN: _, ...withoutToken } = environment;
    writeFileSync(catalog, text);
    if (file === "gitlab.yml") expect((await runAll(preview, withoutToken)).code).toBe(0);
    expect(mine?.body).toContain("**4 create**");
    expect(sandbox).toMatchObject({ creates: 0, logins: 0 });
  });
});

it("ci/self-hosted.yml previews without the password, applies with one login, and stops at an unresolved create", async () => {
  const { preview, apply, environment } = selfHosted();
  expect(environment).toEqual({ PULUMI_SKIP_CHECKPOINTS: "true" });
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);
  const previewed = await runAll(preview, withoutPassword(stack));
  expect(previewed.code, previewed.output).toBe(0);
  expect(previewed.output).toContain("to create");
  expect(sandbox).toMatchObject({ creates: 0, logins: 0 });

  const up = () => runAll(apply, { ...stack.environment, ...environment, STACK: "dev" });
  const first = await up();
  expect(first.code, first.output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3, logins: 1 });
  const again = await up();
  expect(again.output).toContain("unchanged");
  expect(sandbox).toMatchObject({ creates: 5, logins: 1 });

  const catalog = join(project(), "catalog.yaml");
  writeFileSync(catalog, readFileSync(catalog, "utf8").replace("value: 25", "value: 26"));
  sandbox.fail({ on: "event", act: true, times: 1, with: { kind: "close-without-answer" } });
  expect((await up()).output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  const stopped = await up();
  expect(stopped.code).toBe(1);
  expect(stopped.output).toContain("pending --created");
  expect(sandbox).toMatchObject({ creates: 6, logins: 1 });
});

/** Whether the platform's object is the one of this key in catalog.yaml. */
function isNamed(
  resource: string,
  eventName: unknown,
  advertiserId: unknown,
  { advertisers }: { readonly advertisers: readonly { readonly id: number; readonly advertiser_name?: unknown }[] },
): boolean {
  const [, advertiser = "", event = ""] = resource.split("/");
  const owner = advertisers.find(({ id }) => id === advertiserId)?.advertiser_name;
  return String(owner).toLowerCase().endsWith(advertiser) && String(eventName).toLowerCase().startsWith(event);
}
