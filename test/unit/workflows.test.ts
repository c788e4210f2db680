/**
 * The pipelines in examples/ci are checked with the schemas of their systems; a mistake is put into each to see that it is found. And what
 * they keep between runs, the journal and the session, is not lost, whatever happens to a job.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ValidationState, validateWorkflow } from "@action-validator/core";
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { ON_GITLAB, PIPELINES, WORKFLOWS } from "../support/pipelines.js";
import { type Fate, onGitHub, onGitLab, type Runner } from "../support/runners.js";
import { runProcess } from "../support/stack.js";

const examples = resolve(import.meta.dirname, "../../examples");
const read = (path: string) => readFileSync(join(examples, path), "utf8");

const ofGitHub = readdirSync(join(examples, "ci"))
  .filter((file) => !file.startsWith("gitlab"))
  .map((file) => `ci/${file}`);

describe.each([...ofGitHub, "../.github/workflows/release.yml"])("%s", (file) => {
  const errorsIn = (text: string) => (validateWorkflow(text) as ValidationState).errors;

  it("is a workflow of GitHub Actions", () => {
    expect(errorsIn(read(file))).toEqual([]);
    expect(errorsIn(read(file).replaceAll("runs-on:", "run-on:"))).not.toEqual([]);
  });
});

it.each(Object.entries(WORKFLOWS))("ci/%s: a step that pipes fails if what it pipes does", (_file, { defaults }) => {
  expect(defaults?.run?.shell).toBe("bash"); // this adds `-o pipefail`, which GitHub leaves out if no shell is named
});

describe.each(Object.entries(WORKFLOWS))("ci/%s", (_file, { env = {}, jobs }) => {
  it("gives the platform's credentials only to jobs on main, in an environment of their own", () => {
    const hasAny = (of: Readonly<Record<string, string>> = {}) =>
      /ADVERTISING_PASSWORD|KEEP_KEY|SESSION_KEY/.test(Object.values(of).join("\n"));
    expect(hasAny(env)).toBe(false);
    const holders = Object.values(jobs).filter((job) => hasAny(job.env));
    expect(holders).not.toEqual([]);
    for (const { environment, if: own, needs = "" } of holders) {
      expect(environment).toBe("production");
      expect(own ?? jobs[needs]?.if).toContain("github.ref == 'refs/heads/main'");
    }
  });

  it("lists what is unresolved and what left the state, also if the apply failed or was cancelled", () => {
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const conditionOf = (name: string) => steps.find((step) => step.name === name)?.if;
    expect(conditionOf("left live")).toBe("always() && steps.before.outcome == 'success'");
    expect(conditionOf("unresolved")).toBe(`${conditionOf("left live")} && steps.apply.outcome != 'success'`);
  });
});

describe.each(Object.entries(PIPELINES))("ci/%s", (file, { apply, after }) => {
  const placeOf = (part: string) => apply.findIndex((script) => script.includes(part));

  it("settles before it applies, and then lists what left the state, even if the apply failed", () => {
    const places = ["pulumi-advertising pending --stack", "pulumi stack export", "pulumi up"].map(placeOf);
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(apply[placeOf("pulumi stack export")]).toMatch(/pulumi stack export --stack "\$STACK" > before\.json$/);
    expect(after.join("\n")).toMatch(/npx pulumi-advertising leftovers --before before\.json --stack "\$STACK"/);
  });

  it("runs `up` with its own preview, so that a problem stops it before anything is sent", () => {
    expect(apply[placeOf("pulumi up")]).toMatch(/pulumi up --yes --stack "\$STACK"( 2>&1 \| tee apply\.txt)?$/);
  });

  it("says at the top that a stack locked by a dead runner has to be unlocked first", () => {
    expect(read(`ci/${file}`)).toMatch(
      /^# .*runner died, the stack stays locked[\s\S]*?first run `pulumi cancel --yes --stack /m,
    );
  });
});

describe("a pull request", () => {
  it.each(Object.entries(WORKFLOWS))(
    "ci/%s: only of this repository, and not on a disk with a session",
    (_file, { on, jobs }) => {
      for (const job of "pull_request" in on ? Object.values(jobs) : []) {
        const condition = job.if ?? "";
        if (/github\.event_name (!= 'pull_request'|== 'push')/.test(condition)) continue;
        expect(condition).toBe(
          "github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository",
        );
        expect(job["runs-on"]).toBe("ubuntu-latest");
      }
    },
  );

  it("ci/gitlab.yml: only of this project", () => {
    const conditions = Object.values(ON_GITLAB)
      .flatMap(({ rules = [] }) => rules)
      .map((rule) => rule.if)
      .filter((condition) => condition.includes("merge_request_event"));
    const ours =
      '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID';
    expect(conditions).toEqual([ours, ours]); // the whole pipeline, and its preview job in case that alone is copied
  });
});

it("examples/starter has the workflow of ci/github.yml", () => {
  expect(read("starter/.github/workflows/advertising.yml")).toBe(read("ci/github.yml"));
});

it("ci/gitlab.yml is a pipeline of GitLab", async () => {
  const folder = newFolder();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
  git("init");
  git("remote", "add", "origin", "https://gitlab.example.com/group/project.git");
  git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
  mkdirSync(join(folder, "home"));
  const list = (text: string) => {
    writeFileSync(join(folder, ".gitlab-ci.yml"), text);
    const command = resolve("node_modules/gitlab-ci-local/dist/index.js");
    return runProcess("node", [command, "--list-all"], folder, {
      ...(process.env as Record<string, string>),
      HOME: join(folder, "home"),
    });
  };
  const { output } = await list(read("ci/gitlab.yml"));
  expect(output).toContain("json schema validated");
  expect(output).toMatch(/^preview +preview/m);
  const wrong = await list(read("ci/gitlab.yml").replace("resource_group:", "resource_grup:"));
  expect(wrong.output).toContain("'resource_grup' property is not expected");
});

const RUNNERS: readonly (readonly [string, () => Runner])[] = [
  ["github.yml", onGitHub],
  ["gitlab.yml", onGitLab],
];

/** What happens to the second of three jobs, and the journal that the third one has. */
const SECOND: readonly (readonly [string, Fate, readonly string[]])[] = [
  ["applies", {}, ["1", "2", "3"]],
  ["is run again", { isRerun: true }, ["1", "2", "3"]],
  ["fails at npm ci", { fails: "npm ci" }, ["1", "3"]],
  ["fails at npm test", { fails: "npm test" }, ["1", "3"]],
  ["fails at npm run check", { fails: "npm run check" }, ["1", "3"]],
  ["has another key", { key: "another key" }, ["1", "3"]],
  ["has no key", { key: "" }, ["1", "3"]],
  ["stops at an unresolved create", { fails: "npx pulumi-advertising pending" }, ["1", "3"]],
  ["fails at its up", { fails: "pulumi up" }, ["1", "2", "3"]],
  ["is cancelled in its up", { isKilled: true }, ["1", "2", "3"]],
  ["can't list what is left live", { fails: "npx pulumi-advertising leftovers" }, ["1", "2", "3"]],
];

for (const [file, start] of RUNNERS) {
  it.each(SECOND)(`ci/${file}: nothing kept is lost if a job %s`, (_what, fate, journal) => {
    const run = start();
    expect(run()).toEqual(["1"]);
    run(fate);
    expect(run()).toEqual(journal);
  });

  it(`ci/${file}: a first job that is cancelled in its up keeps its journal`, () => {
    const run = start();
    expect(run({ fails: "npm ci" })).toEqual([]);
    run({ isKilled: true });
    expect(run()).toEqual(["2", "3"]);
  });

  it(`ci/${file}: without a key nothing is sent or kept`, () => {
    const run = start();
    expect(run({ key: "" })).toEqual([]);
  });
}

it("ci/github.yml: if the cache can't be read, the job ends, and what is kept stays", () => {
  const run = onGitHub();
  run();
  expect(run({ fails: "actions/cache/restore" })).toEqual([]);
  expect(run()).toEqual(["1", "3"]);
});

it("ci/github.yml: a copy for another stack keeps its own journal", () => {
  const run = onGitHub();
  run();
  expect(run({ stack: "production-eu" })).toEqual(["2"]);
  expect(run()).toEqual(["1", "3"]);
});
