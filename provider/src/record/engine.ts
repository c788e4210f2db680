/**
 * Finds the process of Pulumi's engine among this process's ancestors. Pulumi has to be run in the folder in which the
 * engine works: with an inline program of the Automation API, no other folder leads to the stack.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** The operating system's answers, as a type, so that tests can replace them. */
export interface System {
  platform: NodeJS.Platform;
  /** The process from which the search begins: this process's parent. */
  parent: number;
  readlink(path: string): string;
  readFile(path: string): string;
  exec(file: string, args: readonly string[]): string;
}

const EXEC_TIMEOUT_MS = 2000;

export const thisSystem: System = {
  platform: process.platform,
  parent: process.ppid,
  readlink: readlinkSync,
  readFile: (path) => readFileSync(path, "utf8"),
  exec: (file, args) =>
    execFileSync(file, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: EXEC_TIMEOUT_MS,
    }),
};

/**
 * The nearest engine; undefined if there is none, or the system doesn't tell.
 * @returns `executable`: its path, on some systems only its name; the `folder` in which it works, after its own `--cwd`; its
 * `args`, without its name; and an `id` that tells it from all engines before and after it on this machine.
 */
export function engineOf(system = thisSystem) {
  if (system.platform === "win32") return undefined;
  const read = system.platform === "linux" ? readByProc : readByPs;
  try {
    let pid = system.parent;
    while (pid > 0) {
      const ancestor = read(system, pid);
      if (isEngine(ancestor.executable)) return ancestor.engine();
      pid = ancestor.parent;
    }
  } catch {
    // A process has ended, or this user may not see it, or the system lacks a command.
  }
}

/** Nix starts Pulumi under the second name. */
function isEngine(executable: string) {
  return ["pulumi", ".pulumi-wrapped"].includes(basename(executable));
}

function readByProc({ readlink, readFile }: System, pid: number) {
  const at = `/proc/${pid}`;
  const stat = readFile(`${at}/stat`);
  // The process's name, in parentheses, may contain both blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Field 22 of proc_pid_stat(5), the third being the first here: when it started, in ticks since the machine did.
  const { 1: parent, 19: started } = fields;
  // While the engine runs, another version may have been installed in its place.
  const executable = readlink(`${at}/exe`).replace(/ \(deleted\)$/, "");
  const engine = () => {
    const [, ...args] = readFile(`${at}/cmdline`).split("\0").slice(0, -1);
    const id = `${pid} ${started}`;
    return { executable, folder: readlink(`${at}/cwd`), args, id };
  };
  return { parent: Number(parent), executable, engine };
}

/** On macOS and other systems without Linux's `/proc`. Arguments with blanks come apart. */
function readByPs({ exec }: System, pid: number) {
  const ask = (...columns: string[]) =>
    exec("ps", [
      "-ww",
      ...columns.flatMap((column) => ["-o", `${column}=`]),
      "-p",
      `${pid}`,
    ]);
  const [, parent, name = ""] = /^\s*(\d+)\s+(.*\S)/.exec(ask("ppid", "comm")) ?? [];
  const engine = () => {
    const files = exec("lsof", ["-a", "-p", `${pid}`, "-d", "cwd,txt", "-Ffn"]);
    const fileOf = (use: string) =>
      new RegExp(`^f${use}\nn(.+)$`, "m").exec(files)?.[1] ?? "";
    const path = fileOf("txt");
    const call = ask("args").trim();
    const args = call.startsWith(name) ? call.slice(name.length) : call.replace(/^\S+/, "");
    return {
      executable: isEngine(path) ? path : name,
      folder: fileOf("cwd"),
      args: args.split(" ").filter((word) => word !== ""),
      id: `${pid} ${ask("lstart").trim()}`,
    };
  };
  return { parent: Number(parent), executable: name, engine };
}
