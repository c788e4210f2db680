/**
 * A machine with a disk in RAM and a cache folder, a process on it that can be killed at each change of its disk, of
 * the platform or of the state, and time that passes at once.
 */
import { systemClock } from "../../../provider/src/base/clock.js";
import type { Disk } from "../../../provider/src/files/private-file.js";
import {
  type RunJournal,
  readJournal,
} from "../../../provider/src/journal/journal-entry.js";
import { FakeClock } from "../clock.js";
import { type Image, imageAfter, MemoryDisk } from "../disk.js";

/** The folder of the journals on each machine. */
export const FOLDER = "/state/pulumi-advertising";

/** The platform's clock, and how far the acting machine's is ahead of it. Each life begins with a new one. */
export const time = { clock: new FakeClock(), aheadMs: 0 };

export function beginTime(): void {
  time.clock = new FakeClock();
  time.aheadMs = 0;
  systemClock.wallMs = () => time.clock.wallMs() + time.aheadMs;
  systemClock.monotonicMs = () => time.clock.monotonicMs();
  systemClock.sleep = (ms) => time.clock.sleep(ms);
}

/** @returns a function that sets the clock back to the present. */
export function keepTime(): () => void {
  const { clock } = time;
  time.clock = new FakeClock(clock.wallMs());
  return () => {
    time.clock = clock;
  };
}

/** The present moment by the platform's clock. */
export const now = () => new Date(time.clock.wallMs()).toISOString();

/** The present moment by the acting machine's clock. */
export const nowHere = () => new Date(systemClock.wallMs()).toISOString();

export class Machine {
  disk = new MemoryDisk();

  /** @param aheadMs how far its clock is ahead of the platform's. */
  constructor(readonly aheadMs = 0) {}

  /** @returns a function that restores the present contents. */
  keep(): () => void {
    const { disk } = this;
    const moment = disk.moment();
    this.disk = new MemoryDisk(
      imageAfter(
        moment,
        moment.unsynced.map(() => 1),
      ),
    );
    return () => {
      this.disk = disk;
    };
  }

  lose(): void {
    this.disk = new MemoryDisk();
  }

  /** Called after a process died: frees its locks. @param fates after a loss of power, the fates of unsynced changes. */
  after(fates: (() => number) | undefined): void {
    const moment = this.disk.moment();
    if (fates !== undefined)
      this.disk = new MemoryDisk(
        withoutLocks(imageAfter(moment, moment.unsynced.map(fates))),
      );
    for (const path of lockPaths(this.disk)) this.disk.rmSync(path);
  }

  /** The journals of runs and answers. @throws Error one is damaged. */
  journals(): RunJournal[] {
    const names = this.disk.statSync(FOLDER) ? this.disk.readdirSync(FOLDER) : [];
    return names
      .filter((name) => name.endsWith(".jsonl"))
      .sort()
      .flatMap((name) => readJournal(`${FOLDER}/${name}`, this.disk) ?? []);
  }
}

function lockPaths(disk: MemoryDisk): string[] {
  return disk.statSync(FOLDER) === undefined
    ? []
    : disk
        .readdirSync(FOLDER)
        .filter((name) => name.includes(".lock"))
        .map((name) => `${FOLDER}/${name}`);
}

function withoutLocks(image: Image): Image {
  return new Map([...image].filter(([path]) => !path.includes(".lock")));
}

export interface Kill {
  /** The number of the moment at which the process dies. */
  readonly at: number;
  /** `engine`: the provider process lives on until what it has sent is answered. */
  readonly how: "process" | "power" | "engine";
}

/** The backend refuses to save. */
export class SaveRefused extends Error {}

export class Killed extends Error {
  readonly code = "ENOENT"; // as of files that are gone: whatever still runs ends at once
}

const LOOKS = /^(read|fstat|stat|lstat|exists|access|close|readdir)/;

export class Process {
  /** Whether the process is dead: nothing is carried out any more. */
  isDead = false;
  /** Whether the engine is gone. */
  isOver = false;
  #moments = 0;
  readonly death: Promise<"killed">;
  #die: () => void = () => undefined;
  readonly disk: Disk;

  constructor(
    readonly machine: Machine,
    readonly kill?: Kill | undefined,
  ) {
    this.death = new Promise((resolve) => {
      this.#die = () => resolve("killed");
    });
    this.disk = guarded(machine.disk, (name) =>
      LOOKS.test(name) ? this.expectAlive() : this.moment(),
    );
  }

  expectAlive(): void {
    if (this.isDead) throw new Killed("killed");
  }

  /** Called before each change and each answer: the process may die there. */
  moment(): void {
    this.expectAlive();
    if (this.isOver || ++this.#moments !== this.kill?.at) return;
    this.isOver = true;
    this.isDead = this.kill.how !== "engine";
    this.#die();
    this.expectAlive();
  }
}

/** The same object; `ask` is called before each of its methods. */
function guarded<T extends object>(target: T, ask: (name: string) => void): T {
  return new Proxy(target, {
    get: (_, name: string) => {
      const value = target[name as keyof T] as unknown;
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        ask(name);
        return value.apply(target, given);
      };
    },
  });
}
