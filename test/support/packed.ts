/**
 * The package as users get it: packed, and installed by npm, pnpm or yarn into projects outside the repository.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import {
  inheritedEnvironment,
  inheritedProxies,
  type RunResult,
  runProcess,
} from "./stack.js";

const repository = resolve(import.meta.dirname, "../..");
export const providerFolder = join(repository, "provider");
/** The downloads of pnpm and yarn, kept between runs as npm keeps its own. */
const pnpmFolder = join(repository, ".pulumi-local", "pnpm");
/** The package that npm installs to provide yarn. */
const YARN = "@yarnpkg/cli-dist@4.18.1";
const TOOLS = {
  npm: undefined,
  pnpm: "pnpm@12.21.0",
  yarn: YARN,
  "yarn, Plug'n'Play": YARN,
};

export type Manager = keyof typeof TOOLS;

/** The parts of a package.json that tests read. */
interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** A temporary folder outside the repository, from the first hook to the end of the test file. */
export function useTemporaryFolder(): () => string {
  let folder: string | undefined;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "advertising-package-")));
  });
  afterAll(() => {
    if (folder !== undefined)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => {
    if (folder === undefined) throw new Error("no folder before the first hook");
    return folder;
  };
}

/** Packs the built provider. @returns the tarball's path. */
export async function packProvider(into: string): Promise<string> {
  const args = ["pack", "--silent", "--pack-destination", into];
  const output = await succeed("npm", args, providerFolder);
  return join(into, output.trim().split("\n").at(-1) ?? "");
}

/** The same package with another version number. */
export async function packAsVersion(
  version: string,
  tarball: string,
  into: string,
): Promise<string> {
  const folder = await extract(tarball, join(into, `as-${version}`));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ ...manifestIn(folder), version }, undefined, 2),
  );
  const file = join(into, `pulumi-advertising-${version}.tgz`);
  await succeed("tar", ["-czf", file, "-C", dirname(folder), "package"], into);
  return file;
}

/** @returns the folder of the package's files. */
export async function extract(tarball: string, into: string): Promise<string> {
  mkdirSync(into, { recursive: true });
  await succeed("tar", ["-xzf", tarball, "-C", into], into);
  return join(into, "package");
}

interface WorkspaceOptions {
  /** The library's code. */
  readonly library: string;
  /** Lines for the package manager's own file of settings. */
  readonly settings: string;
  /** npm's project. */
  readonly project: InstalledProject;
  /** What the program needs besides. */
  readonly devDependencies?: Readonly<Record<string, string | undefined>>;
}

/** A project with the package in it, created with its package manager only. */
export class InstalledProject {
  private constructor(readonly folder: string) {}

  /** npm's. @param parent each project gets its own folder in this one. */
  static async create(tarball: string, parent: string): Promise<InstalledProject> {
    const project = new InstalledProject(mkdtempSync(join(parent, "npm-")));
    copyFileSync(tarball, join(project.folder, basename(tarball)));
    project.write(
      "package.json",
      JSON.stringify({
        name: "shop",
        private: true,
        dependencies: {
          ...versions("@pulumi/pulumi"),
          "pulumi-advertising": `file:./${basename(tarball)}`,
        },
        devDependencies: versions("typescript", "@types/node"),
      }),
    );
    await project.#install("npm", undefined);
    return project;
  }

  /**
   * A workspace with a program in `apps/shop` and a library in `libs/tracking`, whose peer dependency the package is.
   * npm's is made of a project that is installed already, and keeps its own dependencies.
   * @returns the program's folder, and the environment of its runs.
   */
  static async workspace(
    manager: Manager,
    tarball: string,
    parent: string,
    { library, settings, project, devDependencies: more = {} }: WorkspaceOptions,
  ) {
    const isNpm = manager === "npm";
    const isYarn = manager.startsWith("yarn");
    const folder = isNpm ? project.folder : mkdtempSync(join(parent, "workspace-"));
    const tool = await provide(manager, parent);
    const workspace = new InstalledProject(folder);
    for (const name of ["apps/shop", "libs/tracking"])
      mkdirSync(join(folder, name), { recursive: true });
    const place = isNpm ? join(folder, basename(tarball)) : tarball;
    const own = { ...versions("@pulumi/pulumi"), "pulumi-advertising": `file:${place}` };
    // To yarn, a tarball that two workspaces name is two packages.
    const devDependencies = isYarn ? {} : own;
    const tracking = isNpm ? "*" : "workspace:*";
    const root = isNpm ? manifestIn(folder) : { name: "mono" };
    for (const [path, manifest] of Object.entries({
      ".": { ...root, workspaces: ["apps/*", "libs/*"] },
      "apps/shop": {
        ...{ name: "shop-app", dependencies: { ...own, tracking }, devDependencies: more },
      },
      "libs/tracking": {
        ...{ name: "tracking", version: "1.0.0", main: "index.js", devDependencies },
        peerDependencies: { "@pulumi/pulumi": "^3.259.0", "pulumi-advertising": "*" },
      },
    }))
      workspace.write(
        join(path, "package.json"),
        JSON.stringify({ private: true, ...manifest }),
      );
    workspace.write("libs/tracking/index.js", library);
    await workspace.#install(manager, tool, settings);
    const programFolder = join(folder, "apps", "shop");
    if (tool === undefined || !manager.includes("Plug'n'Play"))
      return { programFolder, environment: {} };
    // NODE_OPTIONS as `yarn exec pulumi up` sets it.
    const NODE_OPTIONS = await succeed(
      tool,
      ["exec", "node", "--print", "process.env.NODE_OPTIONS"],
      programFolder,
    );
    return { programFolder, environment: { NODE_OPTIONS: NODE_OPTIONS.trim() } };
  }

  async #install(manager: Manager, tool: string | undefined, more = ""): Promise<void> {
    if (tool === undefined) {
      await succeed("npm", ["install", ...NPM_QUIET], this.folder);
      return;
    }
    if (manager.startsWith("yarn")) {
      const linker = manager === "yarn" ? "node-modules" : `pnp\n${more}`;
      this.write("yarn.lock", "");
      this.write(
        ".yarnrc.yml",
        `nodeLinker: ${linker}\nenableTelemetry: false\nenableImmutableInstalls: false\n`,
      );
      await succeed(tool, ["install"], this.folder, {
        YARN_GLOBAL_FOLDER: join(pnpmFolder, "yarn"),
      });
      return;
    }
    // pnpm asks about each dependency's install script. This one, of a dependency of Pulumi's, is not needed.
    this.write("pnpm-workspace.yaml", `${more}allowBuilds:\n  protobufjs: false\n`);
    const store = ["--prefer-offline", "--store-dir", join(pnpmFolder, "store")];
    await succeed(tool, ["install", ...store], this.folder, {
      XDG_CACHE_HOME: join(pnpmFolder, "cache"),
    });
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** The package's folder, with links resolved. */
  get packageFolder(): string {
    return realpathSync(join(this.folder, "node_modules", "pulumi-advertising"));
  }

  /** The path of a command of the project's dependencies. */
  command(name: string): string {
    return join(this.folder, "node_modules", ".bin", name);
  }

  run(command: string, ...args: string[]): Promise<RunResult> {
    return runProcess(command, args, this.folder, projectEnvironment());
  }

  /** Runs a dependency's command as users do, without ever looking for it in a registry. */
  exec(command: string, ...args: string[]): Promise<RunResult> {
    return this.run("npx", "--no", "--", command, ...args);
  }

  /**
   * Starts a command that runs until it is ended, at the latest by the test's end.
   * @param sign resolves the promise once the output matches it.
   */
  start(name: string, args: readonly string[], sign: RegExp): Promise<Started> {
    return new Promise((resolved, reject) => {
      const child = spawn(this.command(name), args, {
        cwd: this.folder,
        env: projectEnvironment(),
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let output = "";
      const ended = new Promise<RunResult>((resolve) =>
        child.once("close", (code) => resolve({ code, output })),
      );
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          const match = sign.exec(output);
          if (match !== null) resolved({ pid: child.pid as number, match, ended });
        });
      }
      child.once("error", reject);
      void ended.then(({ code }) =>
        reject(new Error(`${name} ended with ${code}:\n${output}`)),
      );
    });
  }

  /** Runs a script from a file in the project. */
  node(file: string, text: string): Promise<RunResult> {
    this.write(file, text);
    return this.run("node", file);
  }
}

/** The versions of these packages in the repository. */
export function versions(...names: string[]) {
  const ours = {
    ...manifestIn(repository).dependencies,
    ...manifestIn(providerFolder).devDependencies,
  };
  return Object.fromEntries(names.map((name) => [name, ours[name]]));
}

interface Started {
  readonly pid: number;
  readonly match: RegExpExecArray;
  readonly ended: Promise<RunResult>;
}

const NPM_QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** @returns the path of a package manager; undefined for npm, which is installed already. */
async function provide(manager: Manager, parent: string): Promise<string | undefined> {
  const tool = TOOLS[manager];
  const [name = ""] = manager.split(",");
  return tool === undefined ? undefined : installTool(name, tool, parent);
}

/** Installs a package in a folder of its own, once. @param name the package's command. @returns the command's path. */
export async function installTool(
  name: string,
  tool: string,
  parent: string,
): Promise<string> {
  const folder = join(parent, name);
  const command = join(folder, "node_modules", ".bin", name);
  if (existsSync(command)) return command;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "tools", private: true }),
  );
  await succeed("npm", ["install", ...NPM_QUIET, tool], folder);
  return command;
}

/** The environment without npm's variables about the repository. */
export function projectEnvironment(): Record<string, string> {
  const inherited = Object.entries(inheritedEnvironment());
  return {
    ...Object.fromEntries(
      inherited.filter(
        ([name]) => !/^(npm_(package|lifecycle)_|npm_config_local_prefix)/.test(name),
      ),
    ),
    NO_COLOR: "1",
  };
}

async function succeed(
  command: string,
  args: string[],
  cwd: string,
  environment = {},
): Promise<string> {
  const environmentOfTools = {
    ...projectEnvironment(),
    ...inheritedProxies(),
    ...environment,
  };
  const { code, output } = await runProcess(command, args, cwd, environmentOfTools);
  if (code !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
  return output;
}
