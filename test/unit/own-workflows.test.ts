/** This repository's own workflows: every command exists, every action is pinned, and no job may do more than it has to. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";

const repository = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(repository, path), "utf8");

type Permissions = Readonly<Record<string, string>>;
interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string | boolean>>;
}
interface Job {
  readonly "runs-on": string;
  readonly environment?: string;
  readonly permissions?: Permissions;
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly needs?: string | readonly string[];
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Permissions;
  readonly jobs: Readonly<Record<string, Job>>;
}

const NAMES = ["ci", "release"] as const;
const textOf = (name: string) => read(`.github/workflows/${name}.yml`);
const workflowOf = (name: string) => parse(textOf(name)) as Workflow;
const stepsOf = (name: string) =>
  Object.values(workflowOf(name).jobs).flatMap(({ steps }) => steps);
const {
  scripts,
  devDependencies = {},
  dependencies = {},
} = JSON.parse(read("package.json"));

/** Commands that the runners bring, or that npm itself has. */
const GIVEN = ["test", "gh", "grep", "mkdir", "npm audit", "npm ci", "npm publish"];

/** The commands of a script that nothing provides. */
function missingIn(script: string): string[] {
  const commands = script.split(/\n| \| /).map((line) => line.trim());
  return commands.filter((command) => {
    const [program = "", first = "", second = ""] = command.split(/\s+/);
    if (/^\w+=/.test(command) || command === "") return false;
    if (GIVEN.includes(program) || GIVEN.includes(`${program} ${first}`)) return false;
    if (program === "npx")
      return { ...dependencies, ...devDependencies }[first] === undefined;
    if (program !== "npm") return true;
    return scripts[first === "run" ? second : first] === undefined;
  });
}

it.each(NAMES)("%s: each command exists", (name) => {
  const runs = stepsOf(name).flatMap(({ run }) => run ?? []);
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.flatMap(missingIn)).toEqual([]);
  expect(missingIn("npm run relase\nnpx pulmi new | grep x")).toHaveLength(2);
  const files = stepsOf(name).flatMap((step) => step.with?.["go-version-file"] ?? []);
  expect(files.filter((file) => !existsSync(join(repository, String(file))))).toEqual([]);
});

it.each(NAMES)(
  "%s: each action is pinned by its digest, with its version beside it",
  (name) => {
    const uses = [...textOf(name).matchAll(/\buses: (.*)$/gm)].map(
      ([, action = ""]) => action,
    );
    expect(uses).toHaveLength(stepsOf(name).filter((step) => step.uses).length);
    const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(uses.filter((action) => !pinned.test(action))).toEqual([]);
    const checkouts = stepsOf(name).filter((step) =>
      step.uses?.startsWith("actions/checkout"),
    );
    for (const checkout of checkouts)
      expect(checkout.with?.["persist-credentials"]).toBe(false);
  },
);

it("no job has a permission that it doesn't need, and none has a secret", () => {
  const granted = NAMES.flatMap((name) => {
    const { permissions, jobs } = workflowOf(name);
    expect(permissions).toEqual({ contents: "read" });
    return Object.entries(jobs).flatMap(([job, { permissions: own }]) =>
      own === undefined ? [] : [[`${name} ${job}`, own]],
    );
  });
  expect(Object.fromEntries(granted)).toEqual({
    "release attest": { "id-token": "write", attestations: "write" },
    "release github": { contents: "write" },
    "release npm": { "id-token": "write" },
    "release pypi": { "id-token": "write" },
  });
  for (const name of NAMES) expect(textOf(name)).not.toContain("secrets.");
});

it("ci: all tests on Linux with each supported Node.js, the quick ones on macOS and Windows", () => {
  const { on, jobs } = workflowOf("ci");
  expect(Object.keys(on)).toEqual(["push", "pull_request"]);
  expect(jobs.test?.strategy?.matrix).toEqual({ node: [22, 24] });
  expect(jobs.test?.steps.at(-1)).toMatchObject({
    run: "npm test",
    env: { OWN_NODE: "true" },
  });
  expect(jobs["other-systems"]?.strategy?.matrix).toEqual({
    system: ["macos-latest", "windows-latest"],
  });
});

it("release: nothing is published before the tests, the audit and the attestations, nor without the environment", () => {
  const { on, jobs } = workflowOf("release");
  expect(on).toEqual({ push: { tags: ["v*"] } });
  const made = jobs.make?.steps.flatMap(({ run }) => run ?? []) ?? [];
  expect(made.slice(-3)).toEqual([
    "npm test",
    "npm audit --omit=dev --workspace provider",
    "npm run release -- --flat",
  ]);
  const publishing = Object.values(jobs).filter(({ permissions }) => permissions);
  expect(publishing.map(({ needs }) => needs)).toEqual([
    ["make", "try"],
    ...["attest", "attest", "attest"],
  ]);
  expect(publishing.filter(({ environment }) => environment !== "release")).toEqual([]);
});

it("release: GitHub gets every file; npm both packages, with provenance; PyPI what is Python's", () => {
  const { attest, github, npm, pypi } = workflowOf("release").jobs;
  const last = (job?: Job) => job?.steps.at(-1);
  expect(last(attest)?.with).toEqual({ "subject-path": "release/*" });
  expect(last(github)?.run).toMatch(/ --generate-notes release\/\*$/);
  const sdk = JSON.parse(read("provider/schema.json")).language.nodejs.packageName;
  const { name } = JSON.parse(read("provider/package.json"));
  expect(npm?.strategy?.matrix).toEqual({ package: [name, sdk] });
  // npm takes `release/x.tgz` for a repository of GitHub's.
  expect(last(npm)?.run).toMatch(/^npm publish \.\/release\/.* --provenance /);
  expect(last(pypi)?.with).toEqual({ "packages-dir": "python" });
});

it("Dependabot and the bug form are valid, and the form asks for `pending` and the code", () => {
  expect(parse(read(".github/dependabot.yml")).version).toBe(2);
  const { body } = parse(read(".github/ISSUE_TEMPLATE/bug.yml"));
  const ids = body.flatMap(({ id }: { id?: string }) => id ?? []);
  expect(ids).toEqual(["code", "happened", "pending", "versions"]);
});
