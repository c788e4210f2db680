/**
 * Real Pulumi runs of tiny programs: a project in its own folder, with its own backend, home and cache.
 */
import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expect, inject, onTestFinished } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { keepCompiled } from "./keep-compiled.js";
import {
  copyStack,
  PASSPHRASE,
  PROJECT,
  STACK,
  selectStack,
  stateFileIn,
} from "./stack-init.js";

const repository = resolve(import.meta.dirname, "../..");
const command = join(repository, "provider/dist/cli/command.js");
/** Inside the repository, so that programs find the workspace's package as if it was installed. */
const { WORK_FOLDER: workFolder = join(repository, ".pulumi-local", "test") } = process.env;

/** The lines of Pulumi.yaml that tell the engine where the plugin is. It is started only if a program uses it. */
const pluginAt = (path: string) =>
  `plugins: { providers: [{ name: advertising, path: ${path} }] }\n`;

/** The type tokens of both providers, and no component's. */
const OURS = /^pulumi-nodejs:dynamic\/advertising:|^advertising:index:(?!Catalog$)/;

export { countConnections, resetCounts, useSandbox } from "./installation.js";

export interface RunResult {
  readonly code: number | null;
  /** What Pulumi printed, standard output and error together. */
  readonly output: string;
}

export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
  readonly initErrors?: string[];
  readonly retainOnDelete?: boolean;
  readonly external?: boolean;
  readonly sourcePosition?: string;
}

/** The parts of a stack's state that tests read. */
interface Deployment {
  readonly resources?: readonly StateResource[];
  readonly pending_operations?: readonly {
    readonly type: string;
    readonly resource: StateResource;
  }[];
}

export interface StackOptions {
  /** The program's file, whose name decides how it is loaded. @default "index.js" (CommonJS) */
  readonly file?: string;
  readonly sandbox?: Sandbox;
  readonly environment?: Record<string, string>;
  /** Lines of Pulumi.dev.yaml's `config`, e.g. `{ "advertising:authMode": "basic" }`; objects are structured config. */
  readonly config?: Record<string, string | object>;
  readonly project?: string;
  /** A cache folder, with the cookie file, to share with other stacks. */
  readonly cache?: string;
  /** A folder of journals to share with other stacks. */
  readonly state?: string;
  /** The folder of another stack's backend, to act as that stack on another machine. */
  readonly backend?: string;
  /** An existing project with its dependencies installed. @default a new one in the repository */
  readonly programFolder?: string;
  /** Pulumi.yaml after its name and before its plugins. @default a program in `file` */
  readonly runtime?: string;
  /** The plugin's folder; empty to find it on PATH. @default the one in this repository */
  readonly plugin?: string;
}

/** A stack for one test only. */
export class TestStack {
  readonly folder: string;
  readonly cache: string;
  /** The folder of the journals. */
  readonly state: string;
  /** The project's folder. */
  programFolder: string;
  readonly #options: StackOptions;
  readonly #environment: Record<string, string>;
  readonly #backend: string;

  constructor(program: string, options: StackOptions) {
    mkdirSync(workFolder, { recursive: true });
    this.folder = mkdtempSync(join(workFolder, "stack-"));
    this.#options = options;
    this.cache = options.cache ?? join(this.folder, "cache");
    this.state = options.state ?? join(this.folder, "state");
    this.programFolder = options.programFolder ?? join(this.folder, "program");
    for (const name of ["home", "backend", "program"]) mkdirSync(join(this.folder, name));
    this.#backend = options.backend ?? join(this.folder, "backend");
    const sandbox: Record<string, string> =
      options.sandbox === undefined
        ? {}
        : {
            ADVERTISING_BASE_URL: options.sandbox.url,
            ADVERTISING_EMAIL: options.sandbox.email,
            ADVERTISING_PASSWORD: options.sandbox.password,
          };
    this.#environment = {
      ...inheritedEnvironment(),
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_BACKEND_URL: this.#backendUrl,
      PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      VAULT_SERVER_URL: inject("keyServer"),
      XDG_CACHE_HOME: this.cache,
      XDG_STATE_HOME: this.state,
      NO_COLOR: "1",
      ...sandbox,
      ...options.environment,
    };
    const project = this.#project;
    const { runtime = `runtime: nodejs\nmain: ${options.file ?? "index.js"}` } = options;
    const { plugin = join(repository, "provider") } = options;
    const plugins = plugin === "" ? "" : pluginAt(plugin);
    this.write("Pulumi.yaml", `name: ${project}\n${runtime}\n${plugins}`);
    if (options.programFolder === undefined) {
      this.write("package.json", JSON.stringify({ name: project, private: true }));
    }
    if (options.file?.endsWith(".ts")) {
      this.write(
        "tsconfig.json",
        JSON.stringify({
          compilerOptions: {
            strict: true,
            target: "es2023",
            module: "nodenext",
            skipLibCheck: true,
          },
        }),
      );
    }
    if (options.config !== undefined) {
      const lines = Object.entries(options.config).map(
        ([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`,
      );
      this.write(`Pulumi.${STACK}.yaml`, `config:\n${lines.join("")}`);
    }
    this.program(program);
  }

  get #project(): string {
    return this.#options.project ?? PROJECT;
  }

  // Without attribute files: these are written in place, so that a kill may leave them empty and the stack unreadable.
  get #backendUrl(): string {
    return `file://${this.#backend}?metadata=skip`;
  }

  /** Whether its state is in files, which are read and written here directly, much faster than with Pulumi. */
  get #isInFiles(): boolean {
    return [this.#backendUrl, undefined].includes(this.#environment.PULUMI_BACKEND_URL);
  }

  get #places() {
    const { programFolder } = this;
    return {
      project: this.#project,
      programFolder,
      home: join(this.folder, "home"),
      backendUrl: this.#backendUrl,
    };
  }

  /** Creates the stack `dev`, and selects it. */
  async init(): Promise<void> {
    if (this.#isInFiles)
      copyStack(inject("initialisedStack"), { ...this.#places, backend: this.#backend });
    else await this.#runWell("stack", "init", STACK);
  }

  /** Selects the stack `dev`, which exists. */
  async select(): Promise<void> {
    if (this.#isInFiles) selectStack(this.#places);
    else await this.#runWell("stack", "select", STACK);
  }

  /** `pulumi cancel`: removes the lock of an interrupted run. */
  async cancel(): Promise<void> {
    if (this.#isInFiles)
      rmSync(join(this.#backend, ".pulumi", "locks"), { recursive: true, force: true });
    else await this.#runWell("cancel", "--yes");
  }

  async #runWell(...args: string[]): Promise<RunResult> {
    const result = await this.run(args);
    if (result.code !== 0) throw new Error(`pulumi ${args.join(" ")}: ${result.output}`);
    return result;
  }

  /** Replaces the program. */
  program(text: string): void {
    this.write(this.#options.file ?? "index.js", text);
  }

  /** From now on the project file names the backend. */
  backendInProject(): void {
    const project = readFileSync(join(this.programFolder, "Pulumi.yaml"), "utf8");
    this.write("Pulumi.yaml", `${project}backend: { url: "${this.#backendUrl}" }\n`);
    this.setEnvironment({ PULUMI_BACKEND_URL: undefined });
    this.logInElsewhere();
  }

  /** Logs in to a new backend, as `pulumi login` does. */
  logInElsewhere(): void {
    const current = `file://${mkdtempSync(join(this.folder, "backend-"))}`;
    const login = { current, accessTokens: { [current]: "" }, accounts: { [current]: {} } };
    writeFileSync(join(this.folder, "home", "credentials.json"), JSON.stringify(login));
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.programFolder, name), text);
  }

  setEnvironment(values: Record<string, string | undefined>): void {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete this.#environment[name];
      else this.#environment[name] = value;
    }
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  /** Runs a Pulumi command to its end. @param input for its standard input. */
  run(args: readonly string[], input = ""): Promise<RunResult> {
    return runProcess(
      "pulumi",
      [...args, "--non-interactive"],
      this.programFolder,
      this.#environment,
      input,
    );
  }

  up = (...args: string[]) => this.run(["up", "--yes", "--skip-preview", ...args]);
  /** Prints the preview first: one process of Pulumi instead of two. */
  previewAndUp = (...args: string[]) => this.run(["up", "--yes", ...args]);
  preview = (...args: string[]) => this.run(["preview", ...args]);
  refresh = (...args: string[]) =>
    this.run(["refresh", "--yes", "--skip-preview", ...args]);
  destroy = (...args: string[]) =>
    this.run(["destroy", "--yes", "--skip-preview", ...args]);

  /** The machine's disk is lost: its journals, session, and Pulumi's home. */
  async loseDisk(): Promise<void> {
    for (const folder of [this.cache, this.state, join(this.folder, "home")])
      rmSync(folder, { recursive: true, force: true });
    await this.select();
  }

  /** The same stack on another machine, with its own home, cache and journals. */
  async onAnotherMachine(): Promise<TestStack> {
    const { cache: _own, state: _state, ...options } = this.#options;
    const { PULUMI_BACKEND_URL = "" } = this.#environment;
    const backend = this.#backend;
    const other = new TestStack("", {
      ...options,
      backend,
      environment: { ...options.environment, PULUMI_BACKEND_URL },
    });
    onTestFinished(() => other.remove());
    cpSync(this.programFolder, other.programFolder, { recursive: true });
    await other.select();
    return other;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The state of the stack `dev`, as the engine left it. */
  async deployment(): Promise<Deployment> {
    return JSON.parse(await this.exported()).deployment;
  }

  /** The output of `pulumi stack export`. */
  async exported(): Promise<string> {
    if (!this.#isInFiles) return (await this.#runWell("stack", "export")).output;
    const { checkpoint } = JSON.parse(
      readFileSync(stateFileIn(this.#backend, this.#project), "utf8"),
    );
    return JSON.stringify(
      { version: 3, deployment: checkpoint.latest ?? {} },
      undefined,
      2,
    );
  }

  /** This package's resources in the state, by URN. */
  async resources(): Promise<StateResource[]> {
    const { resources = [] } = await this.deployment();
    return resources
      .filter(({ type }) => OURS.test(type))
      .sort((a, b) => (a.urn < b.urn ? -1 : 1));
  }

  /** Each resource's id by name, or a set's ids by key; `?` for a create of unknown outcome. */
  async ids(): Promise<Record<string, unknown>> {
    const all = await this.resources();
    const idOf = ({ id, outputs }: StateResource) =>
      outputs?.eventIds ?? id?.replace(/^unresolved-.*/, "?");
    return Object.fromEntries(all.map((each) => [each.urn.split("::").at(-1), idOf(each)]));
  }

  /**
   * Variables that make this package's commands read the state and the stack's name from the backend's file, instead of
   * running Pulumi. A refresh always runs Pulumi.
   */
  get fromFile(): Readonly<Record<string, string>> {
    const folder = dirname(stateFileIn(this.#backend, this.#project));
    const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const STACK_NAME = `organization/${this.#project}/${basename(file, ".json")}`;
    return { STATE_FILE: join(folder, file), STACK_NAME };
  }

  /** Runs a command of this package for this stack. */
  command(...args: readonly string[]): Promise<RunResult> {
    const COUNT_AS = `${args[0]} of ${this.#environment.COUNT_AS}`;
    const environment = { ...this.#environment, ...this.fromFile, COUNT_AS };
    return runProcess("node", [command, ...args], this.programFolder, environment);
  }

  /** What `report comment` makes of a preview's JSON. */
  async commentOn(preview: string): Promise<string> {
    const args = [command, "report", "comment"];
    const { programFolder, environment } = this;
    return (await runProcess("node", args, programFolder, environment, preview)).output;
  }

  /** Changes the state, as a person does by importing an edited export. */
  editState(edit: (text: string) => string): void {
    const path = stateFileIn(this.#backend, this.#project);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
  }

  /** The program's outputs. */
  async outputs(): Promise<Record<string, unknown>> {
    const { resources = [] } = await this.deployment();
    return resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
  }
}

/** Expects that a run succeeds. @returns its output. */
export async function well(run: Promise<RunResult>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).toBe(0);
  return output;
}

/** Expects that a run fails without a stack trace. @returns its output. */
export async function failed(run: Promise<RunResult>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).not.toBe(0);
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  return output;
}

/** A new stack `dev` with its own program. Its folder is removed after the test. */
export async function newStack(
  program: string,
  options: StackOptions = {},
): Promise<TestStack> {
  const stack = new TestStack(program, options);
  onTestFinished(() => stack.remove());
  await stack.init();
  return stack;
}

const PROXY_VARIABLE = /^(HTTPS?|NO|ALL)_PROXY$/i;

/** This process's environment without what would affect a run: the user's settings, keys and proxies, and vitest's. */
export function inheritedEnvironment(): Record<string, string> {
  const isOthers = (name: string) =>
    /^(ADVERTISING_|PULUMI_|VAULT_|VITEST)/.test(name) || PROXY_VARIABLE.test(name);
  const { PATH, ...others } = inherited((name) => !isOthers(name));
  const COUNT_AS = basename(expect.getState().testPath ?? "", ".test.ts");
  return {
    ...others,
    PATH: `${inject("counting")}:${PATH}`,
    COUNT_AS,
    NODE_OPTIONS: keepCompiled,
  };
}

/** The user's proxies, for package managers, which may have no other way out. */
export function inheritedProxies(): Record<string, string> {
  return inherited((name) => PROXY_VARIABLE.test(name));
}

function inherited(isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => isWanted(name)),
  ) as Record<string, string>;
}

export function runProcess(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
  input = "",
): Promise<RunResult> {
  return new Promise((resolved, reject) => {
    const child = spawn(command, args, { cwd, env: environment });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => resolved({ code, output }));
    child.stdin.on("error", () => undefined); // it may end without reading anything
    child.stdin.end(input);
  });
}

/** Turns off type checks, for programs that are checked elsewhere, such as the examples (`npm run check`). */
export const UNCHECKED = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

/** A CommonJS program: the package as `advertising`, Pulumi as `pulumi`. */
export function program(body: string): string {
  return `const pulumi = require("@pulumi/pulumi");\nconst advertising = require("pulumi-advertising");\n${body}\n`;
}

/** One advertiser `a` with `count` events `e0`, `e1`, … */
export function eventsProgram(count: number, value = 1): string {
  return program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
for (let i = 0; i < ${count}; i++) {
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: a.advertiserId, value: ${value} });
}`);
}
