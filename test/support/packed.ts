/**
 * The package as users get it: packed, and installed by npm or pnpm into projects outside the repository.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { inheritedEnvironment, type RunResult, runProcess } from "./stack.js";

const repository = resolve(import.meta.dirname, "../..");
export const providerFolder = join(repository, "provider");
/** pnpm's downloads, kept between runs as npm keeps its own. */
const pnpmFolder = join(repository, ".pulumi-local", "pnpm");
const PNPM = "pnpm@12.21.0";

export type Manager = "npm" | "pnpm";
export const MANAGERS: readonly Manager[] = ["npm", "pnpm"];

/** What is read of a package.json. */
export interface Manifest {
  readonly version: string;
  readonly main: string;
  readonly types: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** A temporary folder outside the repository that goes with the test file; there from the first hook on. */
export function useTemporaryFolder(): () => string {
  let folder: string | undefined;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "advertising-package-")));
  });
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => {
    if (folder === undefined) throw new Error("no folder before the first hook");
    return folder;
  };
}

/** Packs the provider as it is built. @returns the tarball's path. */
export function packProvider(into: string): Promise<string> {
  return pack(providerFolder, into);
}

/** The same package with another version number. */
export async function packAsVersion(version: string, tarball: string, into: string): Promise<string> {
  const folder = await extract(tarball, join(into, `as-${version}`));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifestIn(folder), version }, undefined, 2));
  return pack(folder, into);
}

/** @returns the folder of the package's files. */
export async function extract(tarball: string, into: string): Promise<string> {
  mkdirSync(into, { recursive: true });
  await succeed("tar", ["-xzf", tarball, "-C", into], into);
  return join(into, "package");
}

async function pack(folder: string, into: string): Promise<string> {
  const output = await succeed("npm", ["pack", "--silent", "--pack-destination", into], folder);
  return join(into, output.trim().split("\n").at(-1) ?? "");
}

/** A project with the package in it, made by its package manager alone. */
export class InstalledProject {
  readonly folder: string;
  readonly manager: Manager;

  private constructor(folder: string, manager: Manager) {
    this.folder = folder;
    this.manager = manager;
  }

  /** @param parent a folder for it: each gets one of its own there. */
  static async create(manager: Manager, tarball: string, parent: string): Promise<InstalledProject> {
    const project = new InstalledProject(mkdtempSync(join(parent, `${manager}-`)), manager);
    const ours = { ...manifestIn(repository).devDependencies, ...manifestIn(providerFolder).devDependencies };
    const versions = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ours[name]]));
    copyFileSync(tarball, join(project.folder, basename(tarball)));
    project.write(
      "package.json",
      JSON.stringify({
        name: "shop",
        private: true,
        dependencies: { ...versions("@pulumi/pulumi"), "pulumi-advertising": `file:./${basename(tarball)}` },
        devDependencies: versions("typescript", "@types/node"),
      }),
    );
    if (manager === "npm") {
      await succeed("npm", ["install", ...NPM_QUIET], project.folder);
    } else {
      // pnpm asks about each dependency's install script; this one, of Pulumi's, does nothing that is needed.
      project.write("pnpm-workspace.yaml", "allowBuilds:\n  protobufjs: false\n");
      const pnpm = join(await providePnpm(parent), "node_modules", ".bin", "pnpm");
      const store = ["--prefer-offline", "--store-dir", join(pnpmFolder, "store")];
      await succeed(pnpm, ["install", ...store], project.folder, { XDG_CACHE_HOME: join(pnpmFolder, "cache") });
    }
    return project;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** The package's folder, links resolved. */
  get packageFolder(): string {
    return realpathSync(join(this.folder, "node_modules", "pulumi-advertising"));
  }

  /** A command that the project's dependencies brought. */
  command(name: string): string {
    return join(this.folder, "node_modules", ".bin", name);
  }

  run(command: string, ...args: string[]): Promise<RunResult> {
    return runProcess(command, args, this.folder, projectEnvironment());
  }

  /** Runs a script from a file in the project. */
  node(file: string, text: string): Promise<RunResult> {
    this.write(file, text);
    return this.run("node", file);
  }
}

const NPM_QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** pnpm in a folder of its own: it is no dependency of the repository, whose users need none. */
async function providePnpm(parent: string): Promise<string> {
  const folder = join(parent, "pnpm");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "tools", private: true }));
  await succeed("npm", ["install", ...NPM_QUIET, PNPM], folder);
  return folder;
}

/** Without what `npm test` tells about the repository. */
export function projectEnvironment(): Record<string, string> {
  const inherited = Object.entries(inheritedEnvironment());
  return {
    ...Object.fromEntries(
      inherited.filter(([name]) => !/^(npm_(package|lifecycle)_|npm_config_local_prefix)/.test(name)),
    ),
    NO_COLOR: "1",
  };
}

async function succeed(command: string, args: string[], cwd: string, environment = {}): Promise<string> {
  const { code, output } = await runProcess(command, args, cwd, { ...projectEnvironment(), ...environment });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
  return output;
}
