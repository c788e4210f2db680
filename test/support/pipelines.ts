/** The shell steps of the pipelines in examples/ci. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

/** The commands of a pipeline in their order, without those that install and test the project. */
export interface Pipeline {
  /** For a pull request. */
  readonly preview: readonly string[];
  /** For the main branch. The first step that fails ends it. */
  readonly apply: readonly string[];
  /** After `apply`, even if that failed. */
  readonly after: readonly string[];
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly if?: string;
}
export interface Job {
  readonly "runs-on": string;
  readonly if?: string;
  readonly needs?: string;
  readonly environment?: string;
  readonly steps: readonly Step[];
  readonly env?: Readonly<Record<string, string>>;
}
export interface GitHub {
  readonly on: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly defaults?: { readonly run?: { readonly shell?: string } };
  readonly jobs: Readonly<Record<string, Job>>;
}
interface GitLabJob {
  readonly script: readonly string[];
  readonly rules: readonly { readonly if: string }[];
}
export interface GitLab {
  readonly default: { readonly before_script: readonly string[] };
  readonly preview: GitLabJob;
  readonly apply: GitLabJob & {
    readonly after_script: readonly string[];
    readonly variables: Readonly<Record<string, string | number>>;
    readonly cache: { readonly key: string; readonly paths: readonly string[]; readonly when: string };
  };
}

const folder = resolve(import.meta.dirname, "../../examples/ci");
const read = (file: string) => parse(readFileSync(resolve(folder, file), "utf8"));

/** All workflows of GitHub Actions, by their files. */
export const WORKFLOWS: Readonly<Record<string, GitHub>> = Object.fromEntries(
  readdirSync(folder)
    .filter((file) => !file.startsWith("gitlab"))
    .map((file) => [file, read(file) as GitHub]),
);
export const ON_GITLAB = read("gitlab.yml") as GitLab;

const IN_EACH = ["npm ci", "npm test", "npm run check"];

/** The part of a step's condition with which it also runs after a failed one. */
const IS_LATE = /always\(\)|failure\(\)/;

function stepsOf({ steps }: Job): Pick<Pipeline, "apply" | "after"> {
  const own = steps.filter(({ run = "npm ci" }) => !IN_EACH.includes(run));
  const script = ({ run = "", if: condition = "" }: Step) =>
    condition === "inputs.settle != ''" ? `if [ -n "$SETTLE" ]; then ${run}; fi` : run;
  const isLate = (step: Step) => IS_LATE.test(step.if ?? "");
  return { apply: own.filter((step) => !isLate(step)).map(script), after: own.filter(isLate).map(script) };
}

/** @param apply the name of the job that applies. */
function inGitHub(file: string, apply: string): Pipeline {
  const { jobs } = WORKFLOWS[file] as GitHub;
  const { preview } = jobs;
  return { preview: preview === undefined ? [] : stepsOf(preview).apply, ...stepsOf(jobs[apply] as Job) };
}

/** By their files. */
export const PIPELINES = {
  "github.yml": inGitHub("github.yml", "apply"),
  "self-hosted.yml": inGitHub("self-hosted.yml", "up"),
  "fleet.yml": inGitHub("fleet.yml", "up"),
  "gitlab.yml": {
    preview: ON_GITLAB.preview.script,
    apply: ON_GITLAB.apply.script,
    after: ON_GITLAB.apply.after_script,
  },
} as const satisfies Record<string, Pipeline>;

/** The environment that the applying job on a self-hosted runner, whose disk stays, sets for its steps. */
export function selfHostedEnvironment(): Readonly<Record<string, string>> {
  const settings = Object.entries(WORKFLOWS["self-hosted.yml"]?.jobs.up?.env ?? {});
  return Object.fromEntries(settings.filter(([, value]) => !value.includes("${{")));
}
