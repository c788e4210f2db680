/**
 * A lock between processes: a file that exists while the lock is held, with a heartbeat. The journal and the cookie file
 * are changed only by a holder of their lock. Tests cite these promises by number.
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
 * L6. A stale lock is moved aside and read again; if it was replaced meanwhile, it is put back. If a third process took
 *     the lock in between, the holder finds out when it asks (L5), and stops.
 * L7. The file is whole or absent, on every file system. A file that isn't this user's lock is left in place and
 *     reported.
 *
 * Not a library: libraries steal a stopped holder's lock (L2), and report a lost lock by throwing in a timer.
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
  UnusableFile,
  writeNew,
} from "./private-file.js";

const POLL_MS = 25;
/** The interval of the heartbeat. */
const HEARTBEAT_MS = 2000;
/** A holder on another machine counts as dead after this long without a heartbeat. */
const STALE_AFTER_MS = 15_000;

const CURE = "Let that run end";

export interface LockOptions {
  /** @default the system's */
  clock?: Clock;
  /** @default 30 seconds, because an interrupted run may still be ending */
  maxWaitMs?: number;
  /** Called once, before a wait. @param holder such as `process 42 of build-7` @param leftMs the rest of `maxWaitMs` */
  onWait?: (holder: string, leftMs: number) => void;
  disk?: Disk;
}

export interface Lock {
  /** Never fails: if the file can't be removed, others see that its holder has ended once this process ends. */
  release(): void;
  /** Reads the file (microseconds). @throws UnusableFile if taken over; the system's error if the file can't be read. */
  assertHeld(): void;
}

/**
 * @throws UnusableFile if another process holds the lock, or if the file is no lock of this user; system errors if the
 * folder isn't writable.
 */
export async function acquireLock(path: string, options: LockOptions) {
  const { clock = systemClock, maxWaitMs = 30_000, disk = systemDisk } = options;
  let { onWait } = options;
  makePrivateFolder(dirname(path), disk);
  const content = JSON.stringify({
    ...processIdentity(process.pid),
    unique: randomUUID(),
  });
  const deadline = clock.monotonicMs() + maxWaitMs;
  let seen = { sign: "", sinceMs: 0 };
  for (;;) {
    // While the lock exists, this only reads: polling must not write.
    if (readLock(path, disk) === undefined) tryCreate(path, content, disk);
    // `undefined` if another process has had it in between: then this tries again.
    const other = readLock(path, disk);
    if (other === content) return holdLock(path, content, disk);
    // The time without a change is measured by this process's clock: two machines' clocks may differ.
    const sign = `${disk.statSync(path, { throwIfNoEntry: false })?.mtimeMs} ${other}`;
    const nowMs = clock.monotonicMs();
    if (seen.sign !== sign) seen = { sign, sinceMs: nowMs };
    if (other !== undefined) {
      if (hasEnded(other, nowMs - seen.sinceMs > STALE_AFTER_MS)) {
        removeStale(path, other, disk);
        continue;
      }
      const { pid = "?", host = "an unknown machine" } = asRecord(jsonIn(other));
      const holder = `process ${pid} of ${host}`;
      const leftMs = deadline - nowMs;
      if (leftMs <= 0)
        throw new UnusableFile(
          `the lock ${path} is held by another run (${holder})`,
          `${CURE} or, if there is no such run, remove the lock`,
        );
      onWait?.(holder, leftMs);
      onWait = undefined;
    }
    await clock.sleep(POLL_MS);
  }
}

function holdLock(path: string, content: string, disk: Disk) {
  const isHeld = () => readPrivate(path, disk) === content;
  const timer = setInterval(() => {
    try {
      // The heartbeat must not keep another holder's lock alive.
      if (!isHeld()) return clearInterval(timer);
      const now = new Date();
      disk.utimesSync(path, now, now);
    } catch {
      // The next heartbeat may succeed. If none does, another run takes the lock over at worst, which assertHeld shows.
    }
  }, HEARTBEAT_MS);
  timer.unref();
  return {
    assertHeld() {
      if (isHeld()) return;
      throw new UnusableFile(
        `another run took over the lock ${path} while this one was stopped or cut off from the disk`,
        CURE,
      );
    },
    release() {
      clearInterval(timer);
      try {
        if (isHeld()) disk.rmSync(path, { force: true });
      } catch {
        // See the docstring: the file stays.
      }
    },
  };
}

/**
 * Creates the lock, unless it exists: writes it under another name and links it into place, so that a killed process
 * leaves no half lock. Whether it was created shows its content: over NFS, a link that succeeded may be reported as
 * EEXIST (open(2)). @throws the system's errors
 */
function tryCreate(path: string, content: string, disk: Disk) {
  const temporary = `${path}.${randomUUID()}.tmp`;
  // Windows reports EPERM while a file with that name is being removed.
  const taken = HAS_MODES ? ["EEXIST"] : ["EEXIST", "EPERM"];
  try {
    writeNew(temporary, content, disk);
    disk.linkSync(temporary, path);
  } catch (error) {
    if (hasCode(error, ...taken)) return;
    // Some file systems have no links. If anything else is wrong, this write fails too.
    writeNew(path, content, disk);
  } finally {
    disk.rmSync(temporary, { force: true });
  }
}

/** See L6. @param stale the content of the lock that counts as stale. */
function removeStale(path: string, stale: string, disk: Disk) {
  const aside = `${path}.${randomUUID()}.tmp`;
  try {
    if (readPrivate(path, disk) !== stale) return;
    disk.renameSync(path, aside);
    if (readPrivate(aside, disk) !== stale) disk.linkSync(aside, path);
  } catch (error) {
    // Another process has removed the file, or taken the lock, meanwhile.
    if (!hasCode(error, "ENOENT", "EEXIST")) throw error;
  }
  disk.rmSync(aside, { force: true });
}

/** @returns undefined if there is no lock. @throws UnusableFile if the file is no lock of this user. */
function readLock(path: string, disk: Disk) {
  try {
    return readPrivate(path, disk);
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new UnusableFile(`its lock ${path} isn't usable: ${error.message}`, error.cure);
  }
}

/**
 * Whether a lock's holder has ended. Its pid alone isn't enough: pids are reused, and differ between containers.
 * @param isSilent whether its heartbeat has stopped: all that counts on another machine, in another container, or if
 * that is unknown.
 */
function hasEnded(holder: string, isSilent: boolean) {
  const { pid, machine, started } = asRecord(jsonIn(holder));
  if (machine === undefined || machine !== machineOf()) return isSilent;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Any other error means that there is a process, of another user.
    return hasCode(error, "ESRCH");
  }
  const startedNow = startOf(Number(pid));
  return started !== undefined && startedNow !== undefined && started !== startedNow;
}

export function processIdentity(pid: number) {
  return { host: hostname(), machine: machineOf(), pid, started: startOf(pid) };
}

/**
 * Identifies the scope in which pids and start times can be compared. On Linux: host name, boot id and pid namespace;
 * undefined if they can't be read, and then only the heartbeat counts. On other systems: the host name.
 */
function machineOf() {
  if (process.platform !== "linux") return hostname();
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return [hostname(), boot, readlinkSync("/proc/self/ns/pid")].join(" ");
  } catch {
    return undefined;
  }
}

/**
 * When a process started, in ticks; `ended` for a zombie (common in containers), which its parent hasn't reaped yet.
 * Undefined if it isn't known: on systems other than Linux, and if /proc belongs to another container.
 */
function startOf(pid: number) {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the command's name, which may hold anything: fields 3 and on (proc_pid_stat(5); 22 is the start).
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    if (/[ZX]/.test(fields[0] ?? "")) return "ended";
    return fields[19];
  } catch {
    return undefined;
  }
}
