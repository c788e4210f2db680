/** examples/starter as a user copies it, with the package as it is installed; and its pipelines' shell steps, run for real. */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { install, packProvider, projectEnvironment, useTemporaryFolder } from "../support/packed.js";
import { newStack, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const examples = resolve(import.meta.dirname, "../../examples");
const temporary = useTemporaryFolder();
let project: string;

beforeAll(async () => {
  project = join(temporary(), "starter");
  // Not what developers' own runs leave there.
  const isOwn = (path: string) => !/^(Pulumi\..+\.yaml|node_modules)$/.test(basename(path));
  cpSync(join(examples, "starter"), project, { recursive: true, filter: isOwn });
  await install(project, await packProvider(temporary()));
});

it("its unit tests and its checks pass", async () => {
  for (const script of ["test", "check"]) {
    const { code, output } = await runProcess("npm", ["run", script], project, projectEnvironment());
    expect(code, output).toBe(0);
  }
});

interface Step {
  readonly name?: string;
  readonly run?: string;
}
interface GitHub {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}
interface GitLab {
  readonly apply: { readonly script: readonly string[]; readonly after_script: readonly string[] };
}

/** What each pipeline does to apply, in its own order. */
const PIPELINES: Record<string, { readonly before: string[]; readonly after: string[] }> = {
  "github.yml": inGitHub(),
  "gitlab.yml": inGitLab(),
};

function inGitHub() {
  const { jobs } = parse(readFileSync(join(examples, "ci", "github.yml"), "utf8")) as GitHub;
  const named = (name: string) => jobs.apply?.steps.find((step) => step.name === name)?.run as string;
  const settle = `if [ -n "$SETTLE" ]; then ${named("settle")}; fi`; // the step's own condition
  return {
    before: [named("restore"), settle, named("pending"), named("apply")],
    after: [named("keep"), named("unresolved")],
  };
}

function inGitLab() {
  const { apply } = parse(readFileSync(join(examples, "ci", "gitlab.yml"), "utf8")) as GitLab;
  return { before: [...apply.script], after: [...apply.after_script] };
}

describe.each(Object.entries(PIPELINES))("ci/%s", (_file, { before, after }) => {
  /** One run on a fresh runner: its cache folder is gone, and what the pipeline kept is there. */
  async function apply(stack: TestStack, more: Record<string, string> = {}) {
    const kept = join(project, ".kept");
    rmSync(kept, { recursive: true, force: true });
    const summary = join(stack.folder, "summary.md");
    const environment = {
      ...stack.environment,
      STACK: "dev",
      KEEP_KEY: "a key of a test",
      XDG_CACHE_HOME: kept,
      GITHUB_STEP_SUMMARY: summary,
      SETTLE: "",
      ...more,
    };
    let output = "";
    const run = async (script: string) => {
      const ended = await runProcess("bash", ["-e", "-c", script], project, environment);
      output += ended.output;
      return ended.code;
    };
    let code: number | null = 0;
    for (const script of before) if (code === 0) code = await run(script);
    for (const script of after) await run(script);
    return { code, output };
  }

  it("applies, keeps the session, stops at an unresolved create, and goes on when it is settled", async () => {
    rmSync(join(project, "kept.enc"), { force: true });
    const sandbox = await useSandbox();
    const stack = await newStack("", { project: "starter", file: "index.ts", sandbox, programFolder: project });
    for (const name of ["Pulumi.yaml", "index.ts", "tsconfig.json"])
      cpSync(join(examples, "starter", name), join(project, name));

    sandbox.fail({ on: "event", act: true, times: 1, with: { kind: "close-without-answer" } });
    const lost = await apply(stack);
    expect(lost.code).not.toBe(0);
    expect(lost.output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
    expect(readFileSync(join(project, "kept.enc"), "latin1")).not.toContain("service_cookie");
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
