/**
 * Which process of which machine holds a lock, and whether that one still lives. A process number alone does not say:
 * it is given out again, and means another process in another container.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { withoutUndefined } from "../base/index.js";

export interface ProcessIdentity {
  /** For people. */
  readonly host: string;
  /**
   * Where process numbers and start times mean the same: this host since it was started, and this container. None if
   * that can't be found out: such a holder is judged by its heartbeat alone.
   */
  readonly machine?: string;
  readonly pid: number;
  /** When it was started, as the system counts; another process of the same number has another one. Known on Linux. */
  readonly started?: string;
}

/** `elsewhere`: on another machine or in another container, or nobody can tell. */
export type Fate =
  | { readonly kind: "dead" | "elsewhere" }
  /** `isCertain`: it is the holder, and not another process that was given its number. */
  | { readonly kind: "alive"; readonly isCertain: boolean; readonly isStopped: boolean };

let known: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  known ??= identityOf(process.pid);
  return known;
}

/** @param pid of a process of this machine and container. */
export function identityOf(pid: number): ProcessIdentity {
  return withoutUndefined({ host: hostname(), machine: machineOf(), pid, started: readStatus(pid)?.started });
}

/** @param holder what stands in a lock; whatever a file may hold. */
export function fateOf(holder: unknown): Fate {
  if (!isIdentity(holder) || holder.machine === undefined || holder.machine !== thisProcess().machine) {
    return { kind: "elsewhere" };
  }
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Any other error means that there is a process, of another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return { kind: "dead" };
  }
  const status = readStatus(holder.pid);
  if (status === undefined) return { kind: "alive", isCertain: false, isStopped: false };
  // Nobody has taken note of its end, as in containers: its number stays, and it does nothing more.
  if (status.state === "Z" || status.state === "X") return { kind: "dead" };
  const isCertain = holder.started !== undefined;
  if (isCertain && holder.started !== status.started) return { kind: "dead" };
  return { kind: "alive", isCertain, isStopped: status.state === "T" || status.state === "t" };
}

export function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== "object" || value === null) return false;
  const { host, machine, pid, started } = value as Record<string, unknown>;
  const isTextOrAbsent = (one: unknown) => one === undefined || typeof one === "string";
  return (
    typeof host === "string" && Number.isSafeInteger(pid) && Number(pid) > 0 && [machine, started].every(isTextOrAbsent)
  );
}

/**
 * Linux: the boot distinguishes two machines of one name, the namespace two containers. The namespace of times is there
 * because start times are counted within it. Elsewhere a machine is known by its name.
 */
function machineOf(): string | undefined {
  if (process.platform !== "linux") return hostname();
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return [hostname(), boot, readlinkSync("/proc/self/ns/pid"), timeNamespace()].join(" ");
  } catch {
    return undefined;
  }
}

function timeNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/time");
  } catch {
    return ""; // Linux before 5.6 has none
  }
}

interface ProcessStatus {
  /** The command's name. */
  readonly name: string;
  readonly state: string;
  readonly parent: number;
  /** In ticks since the system was started. */
  readonly started: string;
}

/** What Linux says of a process; none elsewhere, or if another container's /proc is in the place of ours. */
export function readStatus(pid: number): ProcessStatus | undefined {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [nameStart, nameEnd] = [status.indexOf("(") + 1, status.lastIndexOf(")")];
    // After the command's name, which may hold anything: the 3rd field and on (proc_pid_stat(5); the 22nd is the start).
    const fields = status.slice(nameEnd + 2).split(" ");
    const [state, parent, started] = [fields[0], fields[1], fields[19]];
    if (state === undefined || started === undefined) return undefined;
    return { name: status.slice(nameStart, nameEnd), state, parent: Number(parent), started };
  } catch {
    return undefined;
  }
}
