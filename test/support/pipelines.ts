/** The shell steps of the pipelines in examples/ci. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

/** What each pipeline runs, in its own order, without what installs and tests the project. */
export interface Pipeline {
  /** For a pull request. */
  readonly preview: readonly string[];
  /** For the main branch; the first step that fails ends it. */
  readonly apply: readonly string[];
  /** Behind the latter, also where it failed. */
  readonly after: readonly string[];
}

interface Step {
  readonly name?: string;
  readonly run?: string;
}
interface GitHub {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly Step[]; readonly env?: Readonly<Record<string, string>> }>
  >;
}
interface GitLab {
  readonly preview: { readonly script: readonly string[] };
  readonly apply: { readonly script: readonly string[]; readonly after_script: readonly string[] };
}

const read = (file: string) => parse(readFileSync(resolve(import.meta.dirname, "../../examples/ci", file), "utf8"));

function inGitHub(): Pipeline {
  const { jobs } = read("github.yml") as GitHub;
  const named = (job: string, name: string) => jobs[job]?.steps.find((step) => step.name === name)?.run as string;
  const settle = `if [ -n "$SETTLE" ]; then ${named("apply", "settle")}; fi`; // the step's own condition
  return {
    preview: [named("preview", "preview"), named("preview", "comment")],
    apply: [named("apply", "restore"), settle, named("apply", "pending"), named("apply", "apply")],
    after: [named("apply", "keep"), named("apply", "unresolved")],
  };
}

function inGitLab(): Pipeline {
  const { preview, apply } = read("gitlab.yml") as GitLab;
  return { preview: preview.script, apply: apply.script, after: apply.after_script };
}

/** Those that keep session and journal themselves, by their files. */
export const PIPELINES: Readonly<Record<"github.yml" | "gitlab.yml", Pipeline>> = {
  "github.yml": inGitHub(),
  "gitlab.yml": inGitLab(),
};

/** On a runner whose disk stays. @returns also what the job that applies sets for its steps. */
export function selfHosted(): Pipeline & { readonly environment: Readonly<Record<string, string>> } {
  const { jobs } = read("self-hosted.yml") as GitHub;
  const stepsOf = (job: string) => (jobs[job]?.steps ?? []).flatMap(({ run }) => run ?? []).filter(isOfTheProject);
  const settings = Object.entries(jobs.up?.env ?? {}).filter(([, value]) => !value.includes("${{"));
  return { preview: stepsOf("preview"), apply: stepsOf("up"), after: [], environment: Object.fromEntries(settings) };
}

const isOfTheProject = (script: string) => script !== "npm ci";
