/**
 * Runs `pulumi stack init` once before a project's tests. Each stack of the tests is a copy of what it wrote. The
 * engine's encryption key comes from a server here, like a company's Vault: with a passphrase, every process of Pulumi
 * would derive the key again, which takes 0.4 s.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

export const PASSPHRASE = "a passphrase for tests";
export const PROJECT = "tiny";
export const STACK = "dev";
/**
 * Processes of Pulumi that the tests of a project may start, without those of the random kills: a kill that leaves
 * nothing open needs fewer of them.
 */
const LIMITS: Readonly<Record<string, number>> = { engine: 277, package: 22 };
const RANDOM_KILLS = /(^|\s)record$/;

/** Files the command writes, as texts: the backend's file of the stack, the backend's own, the stack's settings. */
export interface InitialisedStack {
  readonly state: string;
  readonly backend: string;
  readonly settings: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    initialisedStack: InitialisedStack;
    /** The address of the server with the engine's key. */
    keyServer: string;
    /** The folder of a `pulumi` that counts its calls (COUNT_AS), and then runs the real one. */
    counting: string;
  }
}

/** A stack and its folders. */
export interface StackPlaces {
  readonly project: string;
  readonly programFolder: string;
  /** Pulumi's home. */
  readonly home: string;
  /** The folder of the stack's own `file://` backend. */
  readonly backend: string;
  readonly backendUrl: string;
}

/** The file in which the backend keeps the stack's state. */
export const stateFileIn = (backend: string, project: string) =>
  join(backend, ".pulumi", "stacks", project, `${STACK}.json`);
const backendFileIn = (backend: string) => join(backend, ".pulumi", "meta.yaml");
const settingsFileIn = (programFolder: string) =>
  join(programFolder, `Pulumi.${STACK}.yaml`);
const nameIn = (project: string) => `organization/${project}/${STACK}`;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Writes what the command would write, and selects the stack as it does. */
export function copyStack(
  { state, backend: ofBackend, settings }: InitialisedStack,
  places: StackPlaces,
): void {
  const { project, programFolder, backend } = places;
  write(stateFileIn(backend, project), state.replace(nameIn(PROJECT), nameIn(project)));
  write(backendFileIn(backend), ofBackend);
  const settingsFile = settingsFileIn(programFolder);
  const hasSettings =
    existsSync(settingsFile) && readFileSync(settingsFile, "utf8").includes(settings); // from an earlier stack in this folder
  if (!hasSettings) appendFileSync(settingsFile, settings);
  selectStack(places);
}

/** Writes what `pulumi stack select` would write. */
export function selectStack({
  project,
  programFolder,
  home,
  backendUrl,
}: Omit<StackPlaces, "backend">): void {
  const place = createHash("sha1").update(join(programFolder, "Pulumi.yaml")).digest("hex");
  write(
    join(home, "workspaces", `${project}-${place}-workspace.json`),
    JSON.stringify({ stacks: { [backendUrl]: nameIn(project) } }),
  );
}

/** The parts of a Vault that Pulumi uses: encrypting and decrypting with a key, which is not secret here. */
async function startKeyServer() {
  const server = createServer(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as {
      plaintext?: string;
      ciphertext?: string;
    };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ data: { plaintext: ciphertext, ciphertext: plaintext } }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

export default async function initialiseStack(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "stack-init-"));
  const keys = await startKeyServer();
  try {
    const backend = join(folder, "backend");
    mkdirSync(backend);
    writeFileSync(join(folder, "Pulumi.yaml"), `name: ${PROJECT}\nruntime: nodejs\n`);
    const args = [
      "stack",
      "init",
      STACK,
      "--non-interactive",
      "--secrets-provider",
      "hashivault://tests",
    ];
    await promisify(execFile)("pulumi", args, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PULUMI_HOME: join(folder, "home"),
        PULUMI_BACKEND_URL: `file://${backend}?metadata=skip`,
        PULUMI_SKIP_UPDATE_CHECK: "true",
        VAULT_SERVER_URL: keys.url,
      },
    });
    project.provide("keyServer", keys.url);
    project.provide("initialisedStack", {
      state: readFileSync(stateFileIn(backend, PROJECT), "utf8"),
      backend: readFileSync(backendFileIn(backend), "utf8"),
      settings: readFileSync(settingsFileIn(folder), "utf8"),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const counting = mkdtempSync(join(tmpdir(), "counting-"));
  const starts = join(counting, "starts");
  const { stdout: real } = await promisify(execFile)("which", ["pulumi"]);
  // What our commands ask of a state in a file is answered from that file, where the test names it: 0.5 s less each.
  const exported = `console.log(JSON.stringify({ version: 3, deployment: JSON.parse(require("node:fs").readFileSync(process.env.STATE_FILE)).checkpoint.latest ?? {} }))`;
  const script = `#!/bin/sh
if [ -f "$STATE_FILE" ]; then
  case "$*" in
    "stack export"*) exec node -e '${exported}' ;;
    "stack --show-name --fully-qualify-stack-names"*) echo "$STACK_NAME"; exit ;;
  esac
fi
echo "$COUNT_AS" >> "${starts}"
exec "${real.trim()}" "$@"
`;
  writeFileSync(join(counting, "pulumi"), script, { mode: 0o755 });
  project.provide("counting", counting);
  return () => {
    keys.close();
    const all = existsSync(starts) ? readFileSync(starts, "utf8").trim().split("\n") : [];
    const counts = [...Map.groupBy(all, (name) => name)].map(
      ([name, each]) => `${name} ${each.length}`,
    );
    if (all.length > 0)
      console.log(
        `${all.length} processes of Pulumi in ${project.name}: ${counts.sort().join(", ")}`,
      );
    rmSync(counting, { recursive: true, force: true });
    const limit = LIMITS[project.name] ?? 0;
    const counted = all.filter((name) => !RANDOM_KILLS.test(name));
    if (process.env.KILLS === undefined && counted.length > limit)
      throw new Error(
        `at most ${limit}: an engine test is for what the engine adds; the rest is decided in unit, sandbox and model`,
      );
  };
}
