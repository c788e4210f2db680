/** The pipelines that people copy: examples/starter's workflow of GitHub Actions, and examples/ci/gitlab.yml. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

interface Job {
  readonly if?: string;
  readonly environment?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly run?: string;
    readonly if?: string;
  }[];
}
interface GitHub {
  readonly env: Readonly<Record<string, string>>;
  readonly defaults: { readonly run: { readonly shell: string } };
  readonly jobs: Readonly<Record<"preview" | "apply", Job>>;
}
interface GitLab {
  readonly workflow: { readonly rules: readonly { readonly if: string }[] };
  readonly preview: { readonly script: readonly string[] };
  readonly apply: {
    readonly rules: readonly { readonly if: string }[];
    readonly script: readonly string[];
    readonly after_script: readonly string[];
  };
}

const examples = resolve(import.meta.dirname, "../../examples");
const read = (file: string) => parse(readFileSync(resolve(examples, file), "utf8"));
export const ON_GITHUB = read("starter/.github/workflows/advertising.yml") as GitHub;
export const ON_GITLAB = read("ci/gitlab.yml") as GitLab;

/** The commands of a pipeline in their order, without those that install and test the project. */
export interface Pipeline {
  /** For a pull request. */
  readonly preview: readonly string[];
  /** For the main branch. The first step that fails ends it. */
  readonly apply: readonly string[];
  /** After `apply`, even if that failed. */
  readonly after: readonly string[];
}

/** The conditions of steps that depend on a value, as the shell has it. */
const VALUES: readonly (readonly [condition: string, variable: string])[] = [
  ["inputs.resolve != ''", "RESOLVE"],
  ["env.KEEP_KEY != ''", "KEEP_KEY"],
];

function stepsOf({ steps }: Job, isLate: boolean): string[] {
  const own = steps.filter(
    ({ run = "npm ci" }) => !["npm ci", "npm test", "npm run check"].includes(run),
  );
  return own
    .filter(({ if: condition = "" }) => condition.includes("always()") === isLate)
    .map(({ run = "", if: condition = "" }) => {
      const [, variable] = VALUES.find(([text]) => condition.includes(text)) ?? [];
      return variable === undefined ? run : `if [ -n "$${variable}" ]; then\n${run}\nfi`;
    });
}

const { preview, apply } = ON_GITHUB.jobs;
export const github: Pipeline = {
  preview: stepsOf(preview, false),
  apply: stepsOf(apply, false),
  after: stepsOf(apply, true),
};
export const gitlab: Pipeline = {
  preview: ON_GITLAB.preview.script,
  apply: ON_GITLAB.apply.script,
  after: ON_GITLAB.apply.after_script,
};
