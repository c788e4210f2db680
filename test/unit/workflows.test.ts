/** The examples' pipelines: who gets the credentials, and that what they keep between runs survives any job's end. */
import { describe, expect, it } from "vitest";
import { ON_GITHUB, ON_GITLAB } from "../support/pipelines.js";
import { type Fate, onGitHub, onGitLab } from "../support/runners.js";

it("GitHub: only a job on main, in an environment of its own, has the platform's credentials; a fork gets nothing", () => {
  const { env, defaults, jobs } = ON_GITHUB;
  const hasAny = (values: object) =>
    /ADVERTISING_PASSWORD|KEEP_KEY/.test(Object.values(values).join("\n"));
  expect([env, jobs.preview, jobs.preview.env ?? {}].filter(hasAny)).toEqual([]);
  expect(jobs.apply).toMatchObject({
    if: "github.event_name != 'pull_request' && github.ref == 'refs/heads/main'",
    environment: "production",
  });
  expect(jobs.preview.if).toContain(
    "github.event.pull_request.head.repo.full_name == github.repository",
  );
  expect(defaults.run.shell).toBe("bash"); // this adds `-o pipefail`, which GitHub leaves out if no shell is named
});

it("GitLab: only this project's merge requests, and an apply on the default branch", () => {
  expect(ON_GITLAB.workflow.rules.map((rule) => rule.if)).toEqual([
    '$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID',
    "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH",
  ]);
  expect(ON_GITLAB.apply.rules).toEqual([
    { if: "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH" },
  ]);
});

/** What happens to the second of three jobs, and the journal that the third one has. */
const SECOND: readonly (readonly [string, Fate, readonly string[]])[] = [
  ["applies", {}, ["1", "2", "3"]],
  ["fails at npm ci", { fails: "npm ci" }, ["1", "3"]],
  ["has another key", { key: "another key" }, ["1", "3"]],
  ["has no key", { key: "" }, ["1", "3"]],
  [
    "stops at an unresolved create",
    { fails: "npx pulumi-advertising pending" },
    ["1", "3"],
  ],
  ["fails at its up", { fails: "pulumi up" }, ["1", "2", "3"]],
  ["is cancelled in its up", { isKilled: true }, ["1", "2", "3"]],
  [
    "can't list what is left live",
    { fails: "npx pulumi-advertising leftovers" },
    ["1", "2", "3"],
  ],
];

describe.each([
  ["GitHub", onGitHub],
  ["GitLab", onGitLab],
])("%s", (_name, start) => {
  it.each(SECOND)("nothing kept is lost if a job %s", (_what, fate, journal) => {
    const run = start();
    expect(run()).toEqual(["1"]);
    run(fate);
    expect(run()).toEqual(journal);
  });

  it("a first job that is cancelled in its up keeps its journal; one without a key sends and keeps nothing", () => {
    const run = start();
    expect(run({ key: "" })).toEqual([]);
    run({ isKilled: true });
    expect(run()).toEqual(["2", "3"]);
  });
});

it("GitHub: if the cache can't be read, the job ends, and what is kept stays", () => {
  const run = onGitHub();
  run();
  expect(run({ fails: "actions/cache/restore" })).toEqual([]);
  expect(run()).toEqual(["1", "3"]);
});
