/**
 * A lock between processes: a file that exists while it is held, with a heartbeat. The journal of creates and the cookie
 * file are changed under one. It keeps these promises, and the tests name them by number.
 *
 * L1. At most one process holds a lock. Otherwise two runs write one journal, and send the same creates.
 * L2. A holder on this machine keeps its lock for as long as its process exists, stopped or not. Otherwise a run that
 *     was suspended goes on beside the one that took its place.
 * L3. A holder on this machine loses its lock at once when its process ends, however it ends, and a reused process
 *     number is not taken for it where the system can tell. Otherwise an interrupted run blocks its stack.
 * L4. A holder on another machine or in another container is checked by its heartbeat alone, watched with the waiter's
 *     own clock: clocks differ between machines, and are set.
 * L5. A holder that may have lost its lock finds that out when it asks, and neither touches the new holder's file nor
 *     keeps it alive. So a holder asks before each change.
 * L6. A stale lock is moved aside, looked at once more, and put back if it is another one by now. Where a third process
 *     was quicker than that, the holder finds out when it asks (L5), and stops.
 * L7. The file is whole or absent, on every file system. What is no lock of this user is left alone, and said.
 *
 * Own code, as the libraries for it take a stopped holder's lock (L2), and report a lost one by throwing in a timer.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { asRecord, type Clock, jsonIn, systemClock } from "../base/index.js";
import {
  type Disk,
  HAS_MODES,
  hasCode,
  makePrivateFolder,
  readPrivate,
  systemDisk,
  UntrustedFile,
  writeNew,
} from "./private-file.js";

const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 25;
/** So often a holder shows that it lives. */
const HEARTBEAT_MS = 2000;
/** After so long without a heartbeat, a holder on another machine is taken for dead. */
const STALE_AFTER_MS = 15_000;
/** Longer waits are reported. */
const SILENT_WAIT_MS = 5000;

const CURE = "Let that run end";

export class LockHeld extends UntrustedFile {
  constructor(path: string, holder: string) {
    super(
      `the lock ${path} is held by another run (${processIn(holder)})`,
      `${CURE} or, if there is no such run, remove the lock`,
    );
  }
}

function processIn(holder: string) {
  const { pid = "?", host = "an unknown machine" } = asRecord(jsonIn(holder));
  return `process ${pid} of ${host}`;
}

export class LockLost extends UntrustedFile {
  constructor(path: string) {
    const how = "while this one was stopped or cut off from the disk";
    super(`another run took over the lock ${path} ${how}`, CURE);
  }
}

export interface LockOptions {
  /** @default the system's */
  clock?: Clock;
  /** @default 30 seconds: a run that was interrupted may still be ending */
  maxWaitMs?: number;
  /** Called once in a long wait. @param holder such as `process 42 of build-7` @param leftMs how long it waits at most */
  onWait?: ((holder: string, leftMs: number) => void) | undefined;
  disk?: Disk | undefined;
}

export interface Lock {
  /** Never fails: a file that can't be removed is checked by whether this process lives. */
  release(): void;
  /** Reads the file: some microseconds. @throws LockLost if taken over; the system's error if that can't be told. */
  assertHeld(): void;
}

/** @throws LockHeld; UntrustedFile where something else is there; system errors if its folder can't be written to. */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const { clock = systemClock, maxWaitMs = 30_000, disk = systemDisk } = options;
  let { onWait } = options;
  makePrivateFolder(dirname(path), disk);
  const content = JSON.stringify({
    ...processIdentity(process.pid),
    unique: randomUUID(),
  });
  const deadline = clock.monotonicMs() + maxWaitMs;
  let seen = { sign: "", sinceMs: 0 };
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 2)) {
    // A long wait must not cost the disk anything.
    const other = readLock(path, disk);
    if (other === undefined && tryCreate(path, content, disk))
      return holdLock(path, content, disk);
    const fate = fateOf(other);
    // Two machines' clocks may differ, and each may be set: only what is watched here counts.
    const sign = `${disk.statSync(path, { throwIfNoEntry: false })?.mtimeMs} ${other}`;
    const nowMs = clock.monotonicMs();
    if (seen.sign !== sign) seen = { sign, sinceMs: nowMs };
    const isSilent = fate === "elsewhere" && nowMs - seen.sinceMs > STALE_AFTER_MS;
    if (other !== undefined && (fate === "dead" || isSilent)) {
      removeStale(path, other, disk);
      continue;
    }
    // One that was taken just now is looked at again.
    const leftMs = deadline - nowMs;
    if (other !== undefined && leftMs <= 0) throw new LockHeld(path, other);
    if (other !== undefined && leftMs <= maxWaitMs - SILENT_WAIT_MS) {
      onWait?.(processIn(other), leftMs);
      onWait = undefined;
    }
    await clock.sleep(pollMs);
  }
}

/** @param work asks the lock before it changes anything. */
export async function withLock(
  path: string,
  options: LockOptions,
  work: (lock: Lock) => unknown,
): Promise<void> {
  const lock = await acquireLock(path, options);
  try {
    await work(lock);
  } finally {
    lock.release();
  }
}

function holdLock(path: string, content: string, disk: Disk): Lock {
  const isHeld = () => readPrivate(path, disk) === content;
  const timer = setInterval(() => {
    try {
      // The heartbeat must not keep another holder's lock alive.
      if (!isHeld()) return clearInterval(timer);
      const now = new Date();
      disk.utimesSync(path, now, now);
    } catch {
      // The next one may go through. If none does, that shows in a take-over at worst; there is nobody here to tell.
    }
  }, HEARTBEAT_MS);
  timer.unref();
  return {
    assertHeld() {
      if (!isHeld()) throw new LockLost(path);
    },
    release() {
      clearInterval(timer);
      try {
        if (isHeld()) disk.rmSync(path, { force: true });
      } catch {
        // See the promise.
      }
    },
  };
}

/**
 * Creates the lock, whole from the start: written under another name, and linked into place. So a process killed
 * meanwhile leaves no half lock. @returns whether it could: not where something is there. @throws the system's errors
 */
function tryCreate(path: string, content: string, disk: Disk) {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeNew(temporary, content, disk);
    try {
      disk.linkSync(temporary, path);
    } catch (error) {
      // Over NFS the answer may be about our own link, asked for once more (open(2) on O_EXCL).
      if (isTaken(error))
        return disk.statSync(temporary, { throwIfNoEntry: false })?.nlink === 2;
      // A file system without links, or whatever it is: the plain way says.
      writeNew(path, content, disk);
    } finally {
      disk.rmSync(temporary, { force: true });
    }
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

function isTaken(error: unknown) {
  // Windows answers EPERM while a file of that name is being removed.
  return hasCode(error, "EEXIST") || (hasCode(error, "EPERM") && !HAS_MODES);
}

/** See L6. @param stale what was judged. */
function removeStale(path: string, stale: string, disk: Disk) {
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    if (readPrivate(path, disk) !== stale) return;
    disk.renameSync(path, aside);
    if (readPrivate(aside, disk) !== stale) disk.linkSync(aside, path);
  } catch (error) {
    // Another process has removed it, or taken the lock, meanwhile.
    if (!hasCode(error, "ENOENT", "EEXIST")) throw error;
  }
  disk.rmSync(aside, { force: true });
}

/** @throws UntrustedFile where something else than a lock of this user stands there. */
function readLock(path: string, disk: Disk): string | undefined {
  try {
    return readPrivate(path, disk);
  } catch (error) {
    if (!(error instanceof UntrustedFile)) throw error;
    throw new UntrustedFile(`its lock ${path} isn't usable: ${error.message}`, error.cure);
  }
}

/**
 * A process number alone does not say: it is given out again, and means another process in another container.
 * @returns `elsewhere`: on another machine or in another container, or nobody can tell.
 */
function fateOf(holder: string | undefined): "alive" | "dead" | "elsewhere" {
  const { pid, machine, started } = asRecord(jsonIn(holder));
  if (machine === undefined || machine !== machineOf() || !Number.isSafeInteger(pid))
    return "elsewhere";
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Any other error means that there is a process, of another user.
    if (hasCode(error, "ESRCH")) return "dead";
  }
  const status = statusOf(Number(pid));
  if (!status) return "alive";
  // Nobody has taken note of its end, as in containers: its number stays, and it does nothing more.
  if (/[ZX]/.test(status.state)) return "dead";
  const isOther = started !== undefined && started !== status.started;
  return isOther ? "dead" : "alive";
}

export function processIdentity(pid: number) {
  return {
    host: hostname(),
    machine: machineOf(),
    pid,
    started: statusOf(pid)?.started,
  };
}

let machine: string | undefined;

/**
 * Where process numbers and start times mean the same. Linux: the boot tells machines of one name apart, the namespace
 * containers; none if that can't be found out: then the heartbeat alone counts. Elsewhere: the machine's name.
 */
function machineOf(): string | undefined {
  if (process.platform !== "linux") return hostname();
  try {
    const boot = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    machine ??= [hostname(), boot(), readlinkSync("/proc/self/ns/pid")].join(" ");
  } catch {
    // See above.
  }
  return machine;
}

/** What Linux says of a process; none elsewhere, or if another container's /proc is in the place of ours. */
function statusOf(pid: number) {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the command's name, which may hold anything: fields 3 and on (proc_pid_stat(5); 22 is the start, in ticks).
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", started: fields[19] };
  } catch {
    return undefined;
  }
}
