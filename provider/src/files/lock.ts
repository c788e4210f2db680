/**
 * A lock between processes: a file that exists while it is held, with a sign of life. A holder that died blocks nobody
 * for long: on the same machine it is found out at once, elsewhere when its sign of life is old.
 *
 * Own code since the libraries for it have an open race when they take over a stale lock, and report a lost lock by
 * throwing inside a timer.
 */
import { constants, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { open, readFile, stat, unlink, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Clock } from "../clock.js";
import { makePrivateFolder, openPrivate, readNow, UntrustedFile } from "./private-file.js";

/** How often a holder shows that it lives, and after how long without it nobody believes that any more. */
const SIGN_OF_LIFE_MS = 2000;
const STALE_AFTER_MS = 15_000;
const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 25;

/** The lock was not free within the time that may be waited. */
export class LockHeld extends Error {
  constructor(readonly path: string) {
    super(`the lock ${path} is held by another run`);
  }
}

export interface LockOptions {
  readonly clock: Clock;
  /** A text that no other holder has. */
  readonly unique: string;
  readonly maxWaitMs: number;
}

/** A lock that is held until {@link Lock.release}. */
export interface Lock {
  release(): Promise<void>;
  /** For a process that ends at once. */
  releaseNow(): void;
  /** Whether nobody has taken it over, as from a process that was stopped for long. */
  isHeld(): boolean;
}

/** @throws LockHeld; UntrustedFile where something else stands there; system errors where the lock's folder can't be written to. */
export async function acquireLock(path: string, { clock, unique, maxWaitMs }: LockOptions): Promise<Lock> {
  await makePrivateFolder(dirname(path));
  const content = JSON.stringify({ host: hostname(), pid: process.pid, unique });
  const deadline = clock.monotonicMs() + maxWaitMs;
  const watch = new Watch(clock);
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * 2)) {
    if (await createExclusively(path, content)) return held(path, content);
    if (await watch.isStale(path)) await removeStale(path, clock, watch);
    else if (clock.monotonicMs() >= deadline) throw new LockHeld(path);
    else await clock.sleep(pollMs);
  }
}

/** Holds the lock while `work` runs, at once. @returns whether it could: not where somebody who may live holds it. */
export function withLockNow(path: string, work: () => void): boolean {
  if (!createNow(path)) {
    // As in removeStale: one process at a time may take over.
    const guard = `${path}.takeover`;
    if (!createNow(guard)) return false;
    try {
      const content = readNow(path);
      if (content !== undefined) {
        if (stateOf(content) !== "dead") return false;
        unlinkSync(path);
      }
    } catch {
      return false; // something else than a lock
    } finally {
      unlinkSync(guard);
    }
    if (!createNow(path)) return false;
  }
  try {
    work();
  } finally {
    unlinkSync(path);
  }
  return true;
}

function createNow(path: string): boolean {
  try {
    writeFileSync(path, JSON.stringify({ host: hostname(), pid: process.pid }), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** Holds the lock while `work` runs. */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function createExclusively(path: string, content: string): Promise<boolean> {
  try {
    const handle = await open(path, "wx", 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Windows answers EPERM while a file of that name is being removed.
    if (code === "EEXIST" || (code === "EPERM" && process.platform === "win32")) return false;
    throw error;
  }
}

function held(path: string, content: string): Lock {
  const timer = setInterval(() => {
    const now = new Date();
    // A failure shows in the next take-over at worst; there is nobody here to tell.
    utimes(path, now, now).catch(() => undefined);
  }, SIGN_OF_LIFE_MS);
  timer.unref();
  return {
    isHeld() {
      try {
        return readFileSync(path, "utf8") === content;
      } catch {
        return false;
      }
    },
    async release() {
      clearInterval(timer);
      if ((await readOr(path)) === content) await unlink(path).catch(ignoreMissing);
    },
    releaseNow() {
      clearInterval(timer);
      try {
        if (readFileSync(path, "utf8") === content) unlinkSync(path);
      } catch (error) {
        ignoreMissing(error);
      }
    },
  };
}

/** One waiter's view of a lock's holder. */
class Watch {
  readonly #clock: Clock;
  #seen = { sign: Number.NaN, sinceMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the holder is surely dead, or has not shown that it lives for long. */
  async isStale(path: string): Promise<boolean> {
    const found = await readLock(path);
    if (found === undefined) return false; // released meanwhile
    const { content, mtimeMs } = found;
    const holder = stateOf(content);
    if (holder === "dead") return true;
    // Either clock may have been changed: a sign of life from the far future is none.
    if (holder === "unknown") return Math.abs(this.#clock.wallMs() - mtimeMs) > STALE_AFTER_MS;
    // A process of that number lives here. Its sign of life is old where the clock was set or the computer slept, so only
    // what is watched counts; where the number belongs to another process by now, none ever comes.
    const now = this.#clock.monotonicMs();
    if (this.#seen.sign !== mtimeMs) this.#seen = { sign: mtimeMs, sinceMs: now };
    return now - this.#seen.sinceMs > STALE_AFTER_MS;
  }
}

/** @throws UntrustedFile where something else than a lock of this user stands there. */
async function readLock(path: string): Promise<{ readonly content: string; readonly mtimeMs: number } | undefined> {
  try {
    const handle = await openPrivate(path, constants.O_RDONLY);
    if (handle === undefined) return undefined;
    try {
      return { content: await handle.readFile("utf8"), mtimeMs: (await handle.stat()).mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof UntrustedFile ? new UntrustedFile(`its lock ${path} can't be one: ${error.message}`) : error;
  }
}

function stateOf(content: string): "alive" | "dead" | "unknown" {
  let holder: { host?: unknown; pid?: unknown };
  try {
    holder = JSON.parse(content) as typeof holder;
  } catch {
    return "unknown"; // being written this moment
  }
  if (holder.host !== hostname() || typeof holder.pid !== "number") return "unknown";
  try {
    process.kill(holder.pid, 0);
    return isZombie(holder.pid) ? "dead" : "alive";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "dead" : "alive";
  }
}

/** In containers nobody may take note of a process's end: its number stays, and it does nothing more (Linux tells). */
function isZombie(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^[ZX]/.test(status.slice(status.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/**
 * Removes a stale lock, one process at a time: between finding it stale and removing it another process could have
 * removed it and taken a new one, which must not be removed.
 */
async function removeStale(path: string, clock: Clock, watch: Watch): Promise<void> {
  const guard = `${path}.takeover`;
  if (!(await createExclusively(guard, ""))) {
    // Left by a process that was killed in these very lines.
    const age = await stat(guard).then(
      ({ mtimeMs }) => Math.abs(clock.wallMs() - mtimeMs),
      () => 0,
    );
    if (age > STALE_AFTER_MS) await unlink(guard).catch(ignoreMissing);
    else await clock.sleep(FIRST_POLL_MS);
    return;
  }
  try {
    if (await watch.isStale(path)) await unlink(path).catch(ignoreMissing);
  } finally {
    await unlink(guard).catch(ignoreMissing);
  }
}

async function readOr(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: unknown) => {
    ignoreMissing(error);
    return undefined;
  });
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
