/**
 * A lock between processes: a file that exists while it is held, with a heartbeat. The memory of creates and the cookie file are changed
 * under one. It keeps these promises, and the tests name them by number.
 *
 * L1. At most one process holds a lock. Otherwise two runs write one memory, and send the same creates.
 * L2. A holder on this machine keeps its lock for as long as its process exists, stopped or not. Otherwise a run that was
 *     suspended goes on beside the one that took its place.
 * L3. A holder on this machine loses its lock at once when its process ends, however it ends, and a reused process number is not
 *     taken for it where the system can tell. Otherwise an interrupted run keeps the stack from being worked on.
 * L4. A holder on another machine or in another container is judged by its heartbeat alone, watched with the waiter's own clock:
 *     clocks differ between machines, and are set.
 * L5. A holder that may have lost its lock finds that out when it asks, and neither touches the new holder's file nor keeps it
 *     alive. So a holder asks before each change.
 * L6. A stale lock is removed by one process at a time, which looks again before it does. Otherwise a lock is removed that somebody
 *     has taken meanwhile.
 * L7. The file is whole or absent, on every file system. What is no lock of this user is left alone, and said.
 *
 * Own code since the libraries for it break L6, and report a lost lock by throwing inside a timer.
 */
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { type Clock, jsonIn, systemClock } from "../base/index.js";
import { type Disk, systemDisk } from "./disk.js";
import { createExclusively, expectOwn, makePrivateFolder, readNow, UntrustedFile } from "./private-file.js";
import { fateOf, isIdentity, thisProcess } from "./process-identity.js";

const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 25;
const STALE_AFTER_MS = 15_000;
/** So often a lock that was free a moment ago is tried again at once. */
const MAX_TRIES = 10;

/** The lock was not free within the time that may be waited. */
export class LockHeld extends Error {
  constructor(
    readonly path: string,
    /** Who holds it, in words, and what to do where it may be nobody. */
    readonly holder: string,
  ) {
    super(`the lock ${path} is held by another run (${holder})`);
  }
}

/** Another process has taken over a lock that was held here. */
export class LockLost extends Error {
  constructor(readonly path: string) {
    super(`another run took over the lock ${path} while this one was stopped or cut off from the disk`);
  }
}

export interface LockOptions {
  readonly clock: Clock;
  /** A string that no other holder has, fit for a file name. */
  readonly unique: string;
  readonly maxWaitMs: number;
  /** How often a holder shows that it lives. @default 2000 */
  readonly heartbeatMs?: number;
  /** After how long without a heartbeat a holder on another machine is taken for dead. @default 15000 */
  readonly staleAfterMs?: number;
  readonly disk?: Disk | undefined;
}

export interface Lock {
  /** Never fails: a file that can't be removed is judged by whether this process lives. */
  release(): void;
  /** Whether nobody has taken it over. Reads the file: some microseconds. @throws the system's error if it can't be found out. */
  isHeld(): boolean;
  /** @throws LockLost where somebody has; as {@link isHeld}. */
  confirm(): void;
}

/** @throws LockHeld; UntrustedFile where something else stands there; system errors where the lock's folder can't be written to. */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const { clock, unique, maxWaitMs, heartbeatMs = 2000, staleAfterMs = STALE_AFTER_MS, disk = systemDisk } = options;
  await makePrivateFolder(dirname(path), disk);
  const attempt = new Attempt(path, unique, disk, clock, staleAfterMs);
  const deadline = clock.monotonicMs() + maxWaitMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 2)) {
    const others = attempt.take();
    if (others === undefined) return held(path, attempt.content, heartbeatMs, disk);
    if (clock.monotonicMs() >= deadline) throw new LockHeld(path, wordsFor(path, others));
    await clock.sleep(pollMs);
  }
}

/** Holds the lock while `work` runs, at once. @returns whether it could: not where somebody who may live holds it. */
export function withLockNow(path: string, work: () => void, disk: Disk = systemDisk): boolean {
  // There is no time to watch anybody's heartbeat.
  const attempt = new Attempt(path, randomUUID(), disk, systemClock, Number.POSITIVE_INFINITY);
  try {
    if (attempt.take() !== undefined) return false;
  } catch {
    return false; // the folder can't be written to, or there is something else than a lock
  }
  try {
    work();
  } finally {
    removeIfStill(path, attempt.content, disk);
  }
  return true;
}

/**
 * Who holds the lock, in words; none where nobody does. For what only looks.
 * @param nowMs the wall clock, by which the heartbeat of a holder on another machine is judged.
 */
export function holderNow(path: string, nowMs: number): string | undefined {
  const content = readNow(path);
  if (content === undefined) return undefined;
  const fate = fateOf(jsonIn(content)).kind;
  const heartbeatMs = systemDisk.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isSilent = Math.abs(nowMs - heartbeatMs) > STALE_AFTER_MS;
  return fate === "dead" || (fate === "elsewhere" && isSilent) ? undefined : wordsFor(path, content);
}

/** Holds the lock while `work` runs, which asks it before it changes anything. */
export async function withLock<T>(path: string, options: LockOptions, work: (lock: Lock) => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, options);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

function held(path: string, content: string, heartbeatMs: number, disk: Disk): Lock {
  const isHeld = () => readNow(path, disk) === content;
  const timer = setInterval(() => {
    try {
      // The heartbeat must not keep another holder's lock alive.
      if (!isHeld()) return clearInterval(timer);
    } catch {
      return; // the next one may go through
    }
    const now = new Date();
    // A failure shows in the next take-over at worst; there is nobody here to tell.
    disk.promises.utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  timer.unref();
  return {
    isHeld,
    confirm() {
      if (!isHeld()) throw new LockLost(path);
    },
    release() {
      clearInterval(timer);
      try {
        removeIfStill(path, content, disk);
      } catch {
        // See the promise.
      }
    },
  };
}

type Sight =
  | { readonly kind: "free"; readonly content?: undefined }
  | { readonly kind: "held" | "stale"; readonly content: string };

class Watch {
  #seen = { sign: "", sinceMs: 0 };

  constructor(
    private readonly clock: Clock,
    private readonly staleAfterMs: number,
    private readonly disk: Disk,
  ) {}

  look(path: string): Sight {
    const content = readLock(path, this.disk);
    if (content === undefined) return { kind: "free" };
    const fate = fateOf(jsonIn(content)).kind;
    if (fate !== "elsewhere") return { kind: fate === "dead" ? "stale" : "held", content };
    // Two machines' clocks may differ, and each may be set: only what is watched here counts.
    const now = this.clock.monotonicMs();
    const heartbeatMs = this.disk.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const sign = `${heartbeatMs} ${content}`;
    if (this.#seen.sign !== sign) this.#seen = { sign, sinceMs: now };
    return { kind: now - this.#seen.sinceMs > this.staleAfterMs ? "stale" : "held", content };
  }
}

/** @throws UntrustedFile where something else than a lock of this user stands there. */
function readLock(path: string, disk: Disk): string | undefined {
  try {
    return readNow(path, disk, expectOwn);
  } catch (error) {
    throw error instanceof UntrustedFile ? new UntrustedFile(`its lock ${path} can't be one: ${error.message}`) : error;
  }
}

function wordsFor(path: string, content: string): string {
  // A process that was killed may have left half of it, on a file system without links.
  const holder = jsonIn(content);
  if (!isIdentity(holder)) return `unknown owner; if no Pulumi run is active, remove ${path}`;
  const fate = fateOf(holder);
  if (fate.kind !== "alive") return `process ${holder.pid} of ${holder.host}`;
  if (fate.isStopped) return `process ${holder.pid}, which is stopped`;
  if (fate.isCertain) return `process ${holder.pid}`;
  return `process ${holder.pid}; if that is not a Pulumi run, remove ${path}`;
}

/** One process's attempt to take a lock, whether it has time to wait or none. */
class Attempt {
  /** What stands in the lock once it is taken. */
  readonly content: string;
  readonly #holder: Watch;
  /** Watches the process that is removing the same stale lock. */
  readonly #taker: Watch;

  constructor(
    private readonly path: string,
    private readonly unique: string,
    private readonly disk: Disk,
    clock: Clock,
    staleAfterMs: number,
  ) {
    this.content = JSON.stringify({ ...thisProcess(), unique });
    this.#holder = new Watch(clock, staleAfterMs, disk);
    this.#taker = new Watch(clock, staleAfterMs, disk);
  }

  /** @returns what stands in the lock that is another's; none where it is taken now. */
  take(): string | undefined {
    for (let tries = 1; ; tries++) {
      if (this.#create(this.path)) return undefined;
      const seen = this.#holder.look(this.path);
      if (seen.kind === "held" || tries === MAX_TRIES || (seen.kind === "stale" && !this.#removeStale()))
        return seen.content ?? "";
    }
  }

  #create(path: string): boolean {
    return createExclusively(path, this.content, this.unique, this.disk);
  }

  /**
   * Removes a stale lock, one process at a time: between finding it stale and removing it another process could have
   * removed it and taken a new one, which must not be removed.
   * @returns whether it is worth trying again at once.
   */
  #removeStale(): boolean {
    const [path, disk] = [this.path, this.disk];
    const guard = `${path}.takeover`;
    if (!this.#create(guard)) {
      const seen = this.#taker.look(guard);
      // Left by a process that was killed in these very lines.
      if (seen.kind === "stale") removeIfStill(guard, seen.content, disk);
      return seen.kind !== "held";
    }
    try {
      const seen = this.#holder.look(path);
      // While this process was stopped, its guard may have been taken for a dead one's, and the lock be another's by now.
      if (seen.kind === "stale" && readNow(guard, disk) === this.content) removeIfStill(path, seen.content, disk);
    } finally {
      removeIfStill(guard, this.content, disk);
    }
    return true;
  }
}

function removeIfStill(path: string, content: string, disk: Disk): void {
  if (readNow(path, disk) === content) disk.rmSync(path, { force: true });
}
