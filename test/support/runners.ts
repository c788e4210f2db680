/** Runners that run the whole applying job of each pipeline, with stand-ins for the commands of npm and Pulumi. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { newFolder } from "./folder.js";
import { type Job, ON_GITHUB, ON_GITLAB } from "./pipelines.js";

/** The things that go wrong in one job. */
export interface Fate {
  /** The beginning of the command or action that fails. */
  readonly fails?: string;
  /** Whether the job is cancelled in the middle of the `up`. */
  readonly isKilled?: boolean;
  /** KEEP_KEY; "" if it is not set. */
  readonly key?: string;
}

/** Runs one job on a fresh disk. @returns the memory at its end, in which each `up` noted the number of its job. */
export type Runner = (fate?: Fate) => readonly string[];

/** The stand-in for npm, npx and pulumi. */
const COMMAND = `#!/bin/sh
line="$(basename "$0") $*"
case "$line" in "pulumi up"*) mkdir -p "$XDG_CACHE_HOME/pulumi-advertising"; echo "$JOB" >> "$XDG_CACHE_HOME/pulumi-advertising/memory" ;; esac
case "$KILLED $line" in "yes pulumi up"*) kill -9 "$STEP" ;; esac
case "$line" in "$FAILS"*) exit 1 ;; esac
`;

type Environment = Readonly<Record<string, string>>;

/** A new disk for each job, with the stand-ins. */
function newDisk(job: number, { fails = "none", isKilled = false, key = "a key" }: Fate) {
  const folder = newFolder();
  for (const name of ["npm", "npx", "pulumi"]) {
    writeFileSync(join(folder, name), COMMAND);
    chmodSync(join(folder, name), 0o755);
  }
  const environment: Environment = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    STACK: "production",
    JOB: String(job),
    FAILS: fails,
    KILLED: isKilled ? "yes" : "no",
    ...(key === "" ? {} : { KEEP_KEY: key }),
  };
  /** Answers as GitHub names the outcomes of a step. */
  const shell = (script: string, own: Environment): string => {
    const args = [
      "--noprofile",
      "--norc",
      "-eo",
      "pipefail",
      "-c",
      `export STEP=$$\n${script}`,
    ];
    const { status, signal } = spawnSync("bash", args, {
      cwd: folder,
      env: { ...environment, ...own },
    });
    if (signal !== null) return "cancelled";
    return status === 0 ? "success" : "failure";
  };
  const journalIn = (cache: string): string[] => {
    const file = join(cache, "pulumi-advertising", "memory");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  };
  return { folder, shell, journalIn };
}

/** Whether a step runs. Fails for a condition that it does not know. */
function isMet(condition: string, status: string, values: Environment): boolean {
  const terms = condition.split(" && ");
  const holds = (term: string) => {
    if (term === "" || term === "always()") return true;
    const [, name, operator, text] = /^([\w.]+) (==|!=) '(\w*)'$/.exec(term) ?? [];
    if (name === undefined)
      throw new Error(`The runner does not know the condition ${term}`);
    return ((values[name] ?? "") === text) === (operator === "==");
  };
  return (terms.includes("always()") || status === "success") && terms.every(holds);
}

/** A failure skips later steps without `always()`. Caches are found by key prefix, newest first, never overwritten. */
export function onGitHub({ env = {}, steps }: Job = ON_GITHUB.jobs.apply): Runner {
  const caches = new Map<string, string>();
  let job = 0;
  return (fate = {}) => {
    job += 1;
    const disk = newDisk(job, fate);
    const values: Record<string, string> = {
      "github.workspace": disk.folder,
      "github.run_id": "1", // the same run, started again: each attempt keeps its own
      "github.run_attempt": String(job),
      "env.STACK": "production",
      "secrets.KEEP_KEY": fate.key ?? "a key",
    };
    /** Fills in `${{ … }}`; an unknown value is empty, as a secret that is not set. */
    const filledIn = (text = "") =>
      text.replace(/\$\{\{ ([\w.]+) \}\}/g, (_, name: string) => values[name] ?? "");
    const own = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, filledIn(value)]),
    );
    const outcomeOf = ({ uses, run = "", with: inputs = {} }: Job["steps"][number]) => {
      if (uses === undefined) return disk.shell(run, own);
      if (uses.startsWith(fate.fails ?? "none")) return "failure";
      const [file, key] = [join(disk.folder, inputs.path ?? ""), filledIn(inputs.key)];
      if (uses.startsWith("actions/cache/restore")) {
        const newest = [...caches].findLast(([name]) =>
          name.startsWith(filledIn(inputs["restore-keys"])),
        );
        if (newest !== undefined) copyFileSync(newest[1], file);
      }
      if (uses.startsWith("actions/cache/save") && existsSync(file) && !caches.has(key))
        caches.set(key, file);
      return "success";
    };
    let status = "success";
    for (const step of steps) {
      const outcome = isMet(step.if ?? "", status, values) ? outcomeOf(step) : "skipped";
      if (step.id !== undefined) values[`steps.${step.id}.outcome`] = outcome;
      if (status === "success" && outcome !== "skipped") status = outcome;
    }
    return disk.journalIn(own.XDG_CACHE_HOME ?? "");
  };
}

/** `before_script` and `script` share a shell; `after_script` always runs, in another. One cache a key: the last. */
export function onGitLab(): Runner {
  const { default: shared, apply } = ON_GITLAB;
  let cached: string | undefined;
  let job = 0;
  return (fate = {}) => {
    job += 1;
    const disk = newDisk(job, fate);
    const file = join(disk.folder, apply.cache.paths[0]);
    if (cached !== undefined) copyFileSync(cached, file);
    const own = Object.fromEntries(
      Object.entries(apply.variables).map(([name, value]) => [
        name,
        String(value).replace("$CI_PROJECT_DIR", disk.folder),
      ]),
    );
    const outcome = disk.shell([...shared.before_script, ...apply.script].join("\n"), own);
    const status =
      { success: "success", failure: "failed", cancelled: "canceled" }[outcome] ?? "";
    disk.shell(apply.after_script.join("\n"), { ...own, CI_JOB_STATUS: status });
    if (apply.cache.when === "always" || outcome === "success")
      cached = existsSync(file) ? file : undefined;
    return disk.journalIn(own.XDG_CACHE_HOME ?? "");
  };
}
