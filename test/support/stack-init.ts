/**
 * Runs `pulumi stack init` once before a project's tests. Each stack of the tests is a copy of what it wrote: the command takes half a
 * second, most of it to derive a key from the passphrase, and there are hundreds of stacks.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";

export const PASSPHRASE = "a passphrase for tests";
export const PROJECT = "tiny";
export const STACK = "dev";

/** What the command writes, as texts: the backend's file of the stack, the backend's own, and the stack's settings. */
export interface InitialisedStack {
  readonly state: string;
  readonly backend: string;
  readonly settings: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    initialisedStack: InitialisedStack;
  }
}

/** A stack and its places. */
export interface StackPlaces {
  readonly project: string;
  readonly programFolder: string;
  /** Pulumi's home. */
  readonly home: string;
  /** The folder of a `file://` backend of its own. */
  readonly backend: string;
  readonly backendUrl: string;
}

/** Where the backend keeps the stack's state. */
export const stateFileIn = (backend: string, project: string) =>
  join(backend, ".pulumi", "stacks", project, `${STACK}.json`);
const backendFileIn = (backend: string) => join(backend, ".pulumi", "meta.yaml");
const settingsFileIn = (programFolder: string) => join(programFolder, `Pulumi.${STACK}.yaml`);
const nameIn = (project: string) => `organization/${project}/${STACK}`;

/** Writes what the command would write, which selects the stack as well. */
export function copyStack(
  { state, backend: ofBackend, settings }: InitialisedStack,
  { project, programFolder, home, backend, backendUrl }: StackPlaces,
): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  write(stateFileIn(backend, project), state.replace(nameIn(PROJECT), nameIn(project)));
  write(backendFileIn(backend), ofBackend);
  const settingsFile = settingsFileIn(programFolder);
  const hasSettings = existsSync(settingsFile) && readFileSync(settingsFile, "utf8").includes(settings); // of an earlier stack there
  if (!hasSettings) appendFileSync(settingsFile, settings);
  const place = createHash("sha1").update(join(programFolder, "Pulumi.yaml")).digest("hex");
  write(
    join(home, "workspaces", `${project}-${place}-workspace.json`),
    JSON.stringify({ stacks: { [backendUrl]: nameIn(project) } }),
  );
}

export default function initialiseStack(project: TestProject): void {
  const folder = mkdtempSync(join(tmpdir(), "stack-init-"));
  try {
    const backend = join(folder, "backend");
    mkdirSync(backend);
    writeFileSync(join(folder, "Pulumi.yaml"), `name: ${PROJECT}\nruntime: nodejs\n`);
    execFileSync("pulumi", ["stack", "init", STACK, "--non-interactive"], {
      cwd: folder,
      stdio: "pipe",
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PULUMI_HOME: join(folder, "home"),
        PULUMI_BACKEND_URL: `file://${backend}?metadata=skip`,
        PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
        PULUMI_SKIP_UPDATE_CHECK: "true",
      },
    });
    project.provide("initialisedStack", {
      state: readFileSync(stateFileIn(backend, PROJECT), "utf8"),
      backend: readFileSync(backendFileIn(backend), "utf8"),
      settings: readFileSync(settingsFileIn(folder), "utf8"),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
