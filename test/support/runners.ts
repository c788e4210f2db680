/** Runners of GitHub Actions and GitLab that run the whole applying job of examples/ci, with stand-ins for the commands of npm and Pulumi. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { newFolder } from "./folder.js";
import { type GitHub, type GitLab, ON_GITLAB, WORKFLOWS } from "./pipelines.js";

/** What happens to one job. */
export interface Fate {
  /** The beginning of the command or action that fails. */
  readonly fails?: string;
  /** Whether the job is cancelled in the middle of the `up`. */
  readonly isKilled?: boolean;
  /** KEEP_KEY; "" if it is not set. */
  readonly key?: string;
  readonly stack?: string;
  /** Whether this is the previous run, started again. */
  readonly isRerun?: boolean;
}

/** Runs one job on a fresh disk. @returns the journal at its end, in which each `up` noted the number of its job. */
export type Runner = (fate?: Fate) => readonly string[];

/** The stand-in for npm, npx and pulumi. */
const COMMAND = `#!/bin/sh
line="$(basename "$0") $*"
case "$line" in "pulumi up"*) mkdir -p "$XDG_CACHE_HOME/pulumi-advertising"; echo "$JOB" >> "$XDG_CACHE_HOME/pulumi-advertising/journal" ;; esac
case "$KILLED $line" in "yes pulumi up"*) kill -9 "$STEP" ;; esac
case "$line" in "$FAILS"*) exit 1 ;; esac
`;

function standIns(): string {
  const folder = newFolder();
  for (const name of ["npm", "npx", "pulumi"]) {
    writeFileSync(join(folder, name), COMMAND);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

type Environment = Readonly<Record<string, string>>;
/** A new disk for each job. */
function diskOf(commands: string, job: number, { fails = "none", isKilled = false, key = "a key" }: Fate) {
  const folder = newFolder();
  const environment = {
    PATH: `${commands}${delimiter}${process.env.PATH}`,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    JOB: String(job),
    FAILS: fails,
    KILLED: isKilled ? "yes" : "no",
    ...(key === "" ? {} : { KEEP_KEY: key }),
  };
  return { folder, environment };
}

const shell = (
  script: string,
  { folder, environment }: ReturnType<typeof diskOf>,
  own: Environment,
): SpawnSyncReturns<string> =>
  spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", `export STEP=$$\n${script}`], {
    cwd: folder,
    env: { ...environment, ...own },
    encoding: "utf8",
  });

function journalIn(cache: string): string[] {
  const file = join(cache, "pulumi-advertising", "journal");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

/** Fills in `${{ … }}`; an unknown value is empty, as a secret that is not set. */
const filledIn = (text: string, values: Environment): string =>
  text.replace(/\$\{\{ ([\w.]+) \}\}/g, (_, name: string) => values[name] ?? "");

/** Whether a step runs. Fails for a condition that it does not know. */
function isMet(condition: string, status: string, values: Environment): boolean {
  const terms = condition.split(" && ");
  const isOfAnyStatus = terms.includes("always()");
  const holds = (term: string) => {
    if (term === "" || term === "always()") return true;
    const [, name = "", operator = "", text = ""] = /^([\w.]+) (==|!=) '(\w*)'$/.exec(term) ?? [];
    if (name === "") throw new Error(`The runner does not know the condition ${term}`);
    return ((values[name] ?? "") === text) === (operator === "==");
  };
  return (isOfAnyStatus || status === "success") && terms.every(holds);
}

/** A failed step skips those after it, except with `always()`. A cache is found by the start of its key, newest first, and never overwritten. */
export function onGitHub({ jobs }: GitHub = WORKFLOWS["github.yml"] as GitHub): Runner {
  const commands = standIns();
  const caches = new Map<string, string>();
  let job = 0;
  let run = 0;
  return (fate = {}) => {
    job += 1;
    if (fate.isRerun !== true) run += 1;
    const disk = diskOf(commands, job, fate);
    const values: Record<string, string> = {
      "github.workspace": disk.folder,
      "github.run_id": String(run),
      "github.run_attempt": String(job),
      "env.STACK": fate.stack ?? "production",
      "secrets.KEEP_KEY": disk.environment.KEEP_KEY ?? "",
    };
    const { env = {}, steps } = jobs.apply as GitHub["jobs"][string];
    const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filledIn(value, values)]));
    const outcomeOf = ({ uses, run: script = "", with: inputs = {} }: (typeof steps)[number]) => {
      if (uses === undefined) {
        const { status, signal } = shell(script, disk, { ...own, STACK: values["env.STACK"] ?? "" });
        if (signal !== null) return "cancelled";
        return status === 0 ? "success" : "failure";
      }
      if (uses.startsWith(disk.environment.FAILS ?? "")) return "failure";
      const [file, key] = [join(disk.folder, inputs.path ?? ""), filledIn(inputs.key ?? "", values)];
      if (uses.startsWith("actions/cache/restore")) {
        const start = filledIn(inputs["restore-keys"] ?? "", values);
        const newest = [...caches].findLast(([name]) => name.startsWith(start));
        if (newest !== undefined) copyFileSync(newest[1], file);
      }
      if (uses.startsWith("actions/cache/save") && existsSync(file) && !caches.has(key)) caches.set(key, file);
      return "success";
    };
    let status = "success";
    for (const step of steps) {
      const outcome = isMet(step.if ?? "", status, values) ? outcomeOf(step) : "skipped";
      if (step.id !== undefined) values[`steps.${step.id}.outcome`] = outcome;
      if (status === "success" && outcome !== "skipped") status = outcome;
    }
    return journalIn(own.XDG_CACHE_HOME ?? disk.environment.XDG_CACHE_HOME);
  };
}

/** `before_script` and `script` share a shell; `after_script` has its own and always runs. A key has one cache, overwritten at the end. */
export function onGitLab({ default: shared, apply }: GitLab = ON_GITLAB): Runner {
  const commands = standIns();
  const caches = new Map<string, string>();
  let job = 0;
  return (fate = {}) => {
    job += 1;
    const disk = diskOf(commands, job, fate);
    const { key, paths } = apply.cache;
    const files = paths.map((path) => join(disk.folder, path));
    for (const [index, file] of files.entries()) {
      const cached = caches.get(`${key} ${index}`);
      if (cached !== undefined) copyFileSync(cached, file);
    }
    const values = Object.entries(apply.variables).map(([name, value]) => [
      name,
      String(value).replace("$CI_PROJECT_DIR", disk.folder),
    ]);
    const own: Record<string, string> = { ...Object.fromEntries(values), STACK: fate.stack ?? "production" };
    const { status, signal } = shell([...shared.before_script, ...apply.script].join("\n"), disk, own);
    const ended = status === 0 ? "success" : "failed";
    shell(apply.after_script.join("\n"), disk, { ...own, CI_JOB_STATUS: signal === null ? ended : "canceled" });
    for (const [index, file] of files.entries()) {
      if (apply.cache.when !== "always" && ended !== "success") continue;
      if (existsSync(file)) caches.set(`${key} ${index}`, file);
      else caches.delete(`${key} ${index}`);
    }
    return journalIn(own.XDG_CACHE_HOME ?? disk.environment.XDG_CACHE_HOME);
  };
}
