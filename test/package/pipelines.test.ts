/** The shell steps of the pipelines in examples/ci, run for real: examples/starter's project, and a sandbox. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Comment, serveComments } from "../support/comments.js";
import { useStarter } from "../support/packed.js";
import { PIPELINES, type Pipeline, selfHostedEnvironment } from "../support/pipelines.js";
import { newStack, runProcess, type TestStack, UNCHECKED, useSandbox } from "../support/stack.js";

const starter = resolve(import.meta.dirname, "../../examples/starter");
const project = useStarter();

async function stackOf(sandbox: Sandbox): Promise<TestStack> {
  const stack = await newStack("", {
    project: "starter",
    file: "index.ts",
    sandbox,
    programFolder: project(),
    environment: UNCHECKED, // starter.test.ts checks its types
  });
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

const { "github.yml": github, "gitlab.yml": gitlab, "self-hosted.yml": selfHosted } = PIPELINES;

/** One run on a fresh runner: its cache folder is gone, and what the pipeline kept is there. */
async function apply(pipeline: Pipeline, stack: TestStack, settle = "") {
  const kept = join(project(), ".kept");
  const written = ["before.json", "settle.txt", "pending.txt", "apply.txt", "unresolved.txt", "left.txt"];
  for (const old of [kept, ...written.map((file) => join(project(), file))])
    rmSync(old, { recursive: true, force: true });
  const summary = join(stack.folder, "summary.md");
  rmSync(summary, { force: true });
  const environment = {
    ...stack.environment,
    STACK: "dev",
    KEEP_KEY: "a key of a test",
    XDG_CACHE_HOME: kept,
    GITHUB_STEP_SUMMARY: summary,
    SETTLE: settle,
  };
  const { code, output } = await runAll(pipeline.apply, environment);
  const hasApplied = output.includes("Updating (dev)");
  let rest = "";
  for (const script of pipeline.after) {
    // As its condition says.
    if (script.includes("> unresolved.txt") && !(hasApplied && code !== 0)) continue;
    rest += (await runAll([script], environment)).output;
  }
  return { code, output: output + rest, summary: existsSync(summary) ? readFileSync(summary, "utf8") : "" };
}

/** The headings of a summary. */
const partsOf = (summary: string) => [...summary.matchAll(/^### (.*)$/gm)].map(([, title]) => title);

// Both keep the same file in the same way: so one goes on with what the other has kept.
it("ci/github.yml, ci/gitlab.yml: apply, keep the session, stop at an unresolved create, and go on when it is settled", async () => {
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);

  sandbox.fail({ on: "event", act: true, times: 1, with: { kind: "close-without-answer" } });
  const lost = await apply(github, stack);
  expect(lost.code).not.toBe(0);
  expect(lost.output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  expect(partsOf(lost.summary)).toEqual(["Before the apply", "Apply", "After the apply", "Left live"]);
  expect(lost.summary).toMatch(/### Apply\n```\n[\s\S]*\[ADVERTISING_OUTCOME_UNKNOWN\][\s\S]*?\n```\n/);
  expect(lost.summary.split("look in the account for")).toHaveLength(2);
  expect(lost.summary).toContain("Its input takes");
  expect(readFileSync(join(project(), "kept.enc"), "latin1")).not.toContain("service_cookie");
  const sent = sandbox.creates;

  const stopped = await apply(github, stack);
  expect(stopped.code).toBe(1);
  expect(partsOf(stopped.summary)).toEqual(["Before the apply"]);
  expect(stopped.summary.split("look in the account for")).toHaveLength(2);
  expect(stopped.summary).toContain("Its input takes");
  const [, name = ""] = /(shop\/\w+\/\w+)/.exec(stopped.output.slice(stopped.output.indexOf("ConversionEvent"))) ?? [];
  const live = sandbox.events.find(({ event_name, advertiser_id }) =>
    isNamed(name, event_name, advertiser_id, sandbox),
  );
  const mistyped = await apply(github, stack, `--created 'shop/no one=${live?.id}'`);
  expect(mistyped.code).not.toBe(0);
  expect(mistyped.output).toContain("shop/no one");
  expect(mistyped.summary).toMatch(/^### Settle\n```\n[\s\S]*shop\/no one[\s\S]*\n```\n$/);

  expect(sandbox).toMatchObject({ creates: sent, logins: 1 });
  const settled = await apply(gitlab, stack, `--created '${name}=${live?.id}'`);
  expect(settled.code, settled.output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3, logins: 1 });

  // On a fresh disk, and with nothing kept, a removal is named all the same.
  const catalog = join(project(), "catalog.yaml");
  const text = readFileSync(catalog, "utf8");
  const [landing, purchase] = [/^ {6}landing: .*\n/m, /value: 25/];
  const gone = sandbox.events.find((event) =>
    isNamed("shop/shoes/landing", event.event_name, event.advertiser_id, sandbox),
  );
  rmSync(join(project(), "kept.enc"));
  writeFileSync(catalog, text.replace(landing, ""));
  const removed = await apply(github, stack);
  expect(removed.code, removed.output).toBe(0);
  expect(partsOf(removed.summary)).toEqual(["Before the apply", "Apply", "Left live"]);
  for (const told of [removed.summary, removed.output])
    expect(told).toMatch(new RegExp(`ConversionEvent +${gone?.id} .*removed`));
  const changed = sandbox.events.find((event) =>
    isNamed("shop/shoes/purchase", event.event_name, event.advertiser_id, sandbox),
  );
  writeFileSync(catalog, text.replace(landing, "").replace(purchase, "value: 26"));
  const replaced = await apply(gitlab, stack);
  expect(replaced.code, replaced.output).toBe(0);
  expect(replaced.output).toMatch(new RegExp(`ConversionEvent +${changed?.id} .*replaced`));
  expect(replaced.output).not.toMatch(new RegExp(`ConversionEvent +${gone?.id} `));
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 4 });
});

it("ci/github.yml, ci/gitlab.yml: a pull request's preview in one comment, which the next commit rewrites; nothing is sent", async (context) => {
  if (spawnSync("jq", ["--version"]).status !== 0) return context.skip("no command jq, which GitHub's runners have");
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);
  const others: Comment[] = [1, 2, 3].map((id) => ({ id, body: `Comment ${id}`, user: { login: "ada" } }));
  const ofAnother = { id: 4, body: "<!-- pulumi-advertising: prod -->", user: { login: "github-actions[bot]" } };
  const before = [...others, ofAnother, { ...ofAnother, id: 5, body: "<!-- pulumi-advertising prod -->" }];
  const commands = join(stack.folder, "commands");
  mkdirSync(commands);
  symlinkSync(resolve(import.meta.dirname, "../support/gh.mjs"), join(commands, "gh"));
  /** A server of comments of its own for each of the two, and what its job has. */
  async function start() {
    const comments = structuredClone(before);
    const { url } = await serveComments("a token", comments);
    const environment: Record<string, string> = {
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
    const mine = () => {
      expect(comments.slice(0, before.length)).toEqual(before);
      expect(comments).toHaveLength(before.length + 1);
      return comments.at(-1)?.body;
    };
    return { environment, mine };
  }
  const [hub, lab] = [await start(), await start()];
  const first = await runAll(github.preview, hub.environment);
  expect(first.code, first.output).toBe(0);
  expect(hub.mine()).toContain("**5 to create**");
  expect(readFileSync(join(stack.folder, "summary.md"), "utf8")).toBe(hub.mine());
  const firstToo = await runAll(gitlab.preview, lab.environment);
  expect(firstToo.code, firstToo.output).toBe(0);
  expect(lab.mine()).toContain("**5 to create**");

  const catalog = join(project(), "catalog.yaml");
  const text = readFileSync(catalog, "utf8");
  writeFileSync(catalog, text.replace(/^ {6}landing: .*\n/m, ""));
  const second = await runAll(github.preview, hub.environment);
  expect(second.code, second.output).toBe(0);
  expect(hub.mine()).toContain("**4 to create**");
  // The preview itself is the same line in both, so its result is taken here for the steps behind it.
  const [command = "", ...behind] = gitlab.preview;
  expect(github.preview[0]?.split("\n")[0]).toBe(command);
  const secondToo = await runAll(behind, lab.environment);
  expect(secondToo.code, secondToo.output).toBe(0);
  expect(lab.mine()).toContain("**4 to create**");
  const { NOTES_TOKEN: _, ...withoutToken } = lab.environment;
  expect((await runAll(behind, withoutToken)).code).toBe(0);

  // What is wrong with the program is in the comment and in the log, and fails the job at its end.
  writeFileSync(catalog, text.replace("value: 25", "value: many"));
  const wrong = await runAll(github.preview, hub.environment);
  const wrongToo = await runAll(behind, lab.environment);
  for (const { code, output } of [wrong, wrongToo]) {
    expect(code).not.toBe(0);
    expect(output).toMatch(/catalog\.yaml:\d+:\d+/);
    expect(output).not.toContain('"steps"');
  }
  for (const body of [hub.mine(), lab.mine()]) {
    expect(body).toContain("**The preview failed: 1 error.**");
    expect(body).toMatch(/catalog\.yaml:\d+:\d+/);
    expect(body).not.toContain("The preview shows no changes");
  }
  expect(sandbox).toMatchObject({ creates: 0, logins: 0 });
});

it("ci/self-hosted.yml previews without the password, applies with one login, and stops at an unresolved create", async () => {
  const environment = selfHostedEnvironment();
  expect(environment).toEqual({ PULUMI_SKIP_CHECKPOINTS: "true" });
  const sandbox = await useSandbox();
  const stack = await stackOf(sandbox);
  const jobOf = (of: TestStack) => ({
    ...of.environment,
    ...environment,
    STACK: "dev",
    GITHUB_STEP_SUMMARY: join(of.folder, "summary.md"),
  });
  const previewed = await runAll(selfHosted.preview, withoutPassword(stack));
  expect(previewed.code, previewed.output).toBe(0);
  expect(previewed.output).toContain("to create");
  expect(sandbox).toMatchObject({ creates: 0, logins: 0 });

  const up = () => runAll(selfHosted.apply, jobOf(stack));
  const first = await up();
  expect(first.code, first.output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3, logins: 1 });
  const listed = await runAll(selfHosted.after, jobOf(stack));
  expect(listed.output).toContain("Nothing that is live on the platform has left the state");

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
