/** The examples' pipelines: who gets the credentials, and that the session, which they may keep, is never in the way. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { github, gitlab, ON_GITHUB, ON_GITLAB } from "../support/pipelines.js";

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

/** Stands for pulumi: an `up` logs in if there is no session. One wrong key in 256 decrypts to something, too. */
const PULUMI = `#!/bin/sh
grep -qs "a secret session" session.json || { echo "a login" >> logins.txt; echo "a secret session" > session.json; }
exit "$CODE"
`;

it.each([
  ["GitHub", github],
  ["GitLab", gitlab],
])(
  "%s: with a key, the session is kept, encrypted; without one, or with another, a run logs in",
  (_name, pipeline) => {
    const folder = newFolder();
    writeFileSync(join(folder, "pulumi"), PULUMI);
    chmodSync(join(folder, "pulumi"), 0o755);
    const run = (key: string, code = 0) => {
      rmSync(join(folder, "session.json"), { force: true });
      rmSync(join(folder, "logins.txt"), { force: true });
      const env = {
        PATH: `${folder}${delimiter}${process.env.PATH}`,
        STACK: "production",
        KEEP_KEY: key,
        CODE: String(code),
        GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
      };
      const bash = (script: string) =>
        spawnSync("bash", ["-e", "-o", "pipefail", "-c", script], { cwd: folder, env })
          .status;
      const failed = pipeline.apply.find((script) => bash(script) !== 0) !== undefined;
      expect(pipeline.after.map(bash)).toEqual(pipeline.after.map(() => 0));
      return { failed, hasLoggedIn: existsSync(join(folder, "logins.txt")) };
    };
    expect(run("")).toEqual({ failed: false, hasLoggedIn: true });
    expect(existsSync(join(folder, "session.enc"))).toBe(false);
    expect(run("a key", 1)).toEqual({ failed: true, hasLoggedIn: true });
    expect(run("a key")).toEqual({ failed: false, hasLoggedIn: false });
    expect(readFileSync(join(folder, "session.enc"), "latin1")).not.toContain("secret");
    expect(run("another key")).toEqual({ failed: false, hasLoggedIn: true });
    expect(run("another key")).toEqual({ failed: false, hasLoggedIn: false });
  },
);
