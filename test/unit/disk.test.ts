/**
 * Scripted lives of a stack's journal are stopped after each of their changes to the disk: the process is killed, or the
 * machine loses power, and then each unsynced part may be lost, kept or torn. From each such disk the next run must
 * know all that was sent before, and every id whose note was confirmed, and nothing that never was.
 *
 * CRASHES: how many combinations are tried at one moment; DISK_SEED: which ones, if there are more.
 */
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../provider/src/base/index.js";
import {
  appendLines,
  Journal,
  journalPath,
  readJournal,
  takeOverOpen,
} from "../../provider/src/journal/index.js";
import {
  type Fate,
  type Image,
  imageAfter,
  MemoryDisk,
  type Moment,
} from "../support/disk.js";
import { ANY_ACCOUNT, aCreate, DEV, entryLine, FOLDER, PROD } from "../support/journal.js";
import { seededRandom } from "../support/random.js";

const AT_ONCE = Number(process.env.CRASHES ?? 10);
const seed = Number(process.env.DISK_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** Each wait is long enough to take over another machine's lock. */
class HastyClock implements Clock {
  #ms = 0;
  wallMs = () => systemClock.wallMs() + ++this.#ms;
  monotonicMs = () => this.#ms;
  sleep = async (ms: number) => {
    this.#ms += Math.max(ms, 20_000);
  };
  alarm = systemClock.alarm;
}

/** By key: what the journal may say of it, such as `made 42`. */
type Facts = ReadonlyMap<string, readonly string[]>;

const NAMES = ["a", "b", "c", "d", "e", "f"];
const keyOf = (name: string) => `Advertiser::${name}`;

/** The runs of one stack, and the moments at which each may end. */
class Life {
  readonly disk = new MemoryDisk(new Map([["/home", { mode: 0o755 }]]));
  readonly clock = new HastyClock();
  readonly moments: {
    readonly what: string;
    readonly moment: Moment;
    readonly facts: Facts;
  }[] = [];
  /** In the order in which they were written: what is so from then on. */
  readonly #lines: { readonly key: string; readonly says: string }[] = [];
  /** So many of them are certainly on the disk. */
  #confirmed = 0;
  #ids = 40;

  constructor() {
    this.disk.onChange = (what) =>
      this.moments.push({ what, moment: this.disk.moment(), facts: this.#facts() });
  }

  #facts(): Facts {
    const known = new Map(NAMES.map((name) => [keyOf(name), ["none"]]));
    for (const [index, { key, says }] of this.#lines.entries())
      known.set(key, index < this.#confirmed ? [says] : [...(known.get(key) ?? []), says]);
    return known;
  }

  /** @param write resolves once that is on the disk, with all that was written before. */
  async says(
    says: Readonly<Record<string, string>>,
    write: () => Promise<void> | void,
  ): Promise<void> {
    const count = this.#lines.push(
      ...Object.entries(says).map(([name, says]) => ({ key: keyOf(name), says })),
    );
    await write();
    this.#confirmed = Math.max(this.#confirmed, count);
  }

  /** What nobody waits for. */
  async mutters(name: string, says: string, write: (key: string) => void): Promise<void> {
    this.#lines.push({ key: keyOf(name), says });
    write(keyOf(name));
    await turn();
  }

  async run(place = DEV): Promise<Journal> {
    const run = runOn(this.disk, this.clock, place);
    await run.assertUsable();
    return run;
  }

  send = (run: Journal, name: string, replaces?: string) =>
    this.says({ [name]: "sent" }, () => run.recordSending(aCreate(keyOf(name), replaces)));

  async make(run: Journal, name: string, replaces?: string): Promise<string> {
    const id = String(++this.#ids);
    await this.send(run, name, replaces);
    await this.says({ [name]: `created ${id}` }, () => run.recordCreated(keyOf(name), id));
    return id;
  }

  /** The end of a run that the engine was given these objects of. */
  async end(run: Journal, given: Record<string, string>): Promise<void> {
    for (const name of Object.keys(given)) run.markReturned(keyOf(name));
    const handed = Object.entries(given).map(([name, id]) => [name, `reported ${id}`]);
    await this.says(Object.fromEntries(handed), () => run.closeNow([]));
  }
}

function runOn(disk: MemoryDisk, clock: Clock, place = DEV): Journal {
  return new Journal({
    ...place,
    ...ANY_ACCOUNT,
    folder: FOLDER,
    clock,
    maxWaitMs: 120_000,
    disk,
  });
}

/** Every kind of line, several kills, a file that is written anew, and a person's answer. */
async function longLife(): Promise<Life> {
  const life = new Life();
  const run1 = await life.run();
  const a = await life.make(run1, "a");
  await Promise.all(["b", "c", "d", "e"].map((name) => life.send(run1, name)));
  await life.says({ c: "none" }, () => run1.recordNotCarriedOut(keyOf("c"))); // refused
  // Killed: nothing is closed, and the lock stays. Another one is killed in the middle of a line.
  const half = life.disk.openSync(journalPath(DEV, FOLDER), "a");
  life.disk.writeFileSync(half, '{"key":"Advertiser::f","state":"se');

  const run2 = await life.run();
  await life.mutters("a", `confirmed ${a}`, (key) => run2.recordSeen({ key, id: a }));
  await life.says({ d: "created 7" }, () => run2.recordCreated(keyOf("d"), "7")); // a search has found it
  await life.says({ d: "none" }, () => run2.recordNotCarriedOut(keyOf("d")));
  const a2 = await life.make(run2, "a", a);
  const f = await life.make(run2, "f");
  await life.end(run2, { a: a2, f });

  const here = { folder: FOLDER, disk: life.disk, clock: life.clock };
  const answer = { key: keyOf("e"), state: "created", id: "77" } as const;
  await life.says({ e: "created 77" }, () => appendLines(DEV, [answer], here));

  const run3 = await life.run();
  await life.mutters("f", `confirmed ${f}`, (key) => run3.recordSeen({ key, id: f }));
  await life.says({ f: "confirmed 5" }, () => run3.recordAdopted(keyOf("f"), "5"));
  await life.send(run3, "c", "3");
  await life.says({ c: "confirmed 3" }, () => run3.recordNotCarriedOut(keyOf("c")));
  const d = await life.make(run3, "d");
  await life.end(run3, { d, e: "77" });
  return life;
}

/** A stack that was killed, and has another name since. */
async function renamedLife(): Promise<Life> {
  const life = new Life();
  const killed = await life.run();
  await life.make(killed, "a");
  await life.send(killed, "b");
  await takeOverOpen(DEV, PROD, { folder: FOLDER, disk: life.disk, clock: life.clock });
  const run = await life.run(PROD);
  await life.make(run, "c");
  await life.says({ b: "none" }, () => run.recordNotCarriedOut(keyOf("b")));
  return life;
}

/** Tries every crash of a life. @param check throws if a rule is broken. */
async function everyCrash(
  life: Life,
  check: (image: Image, facts: Facts) => Promise<void>,
) {
  const counts = { moments: life.moments.length, crashes: 0, disks: 0 };
  const random = seededRandom(seed);
  const checked = new Set<string>();
  for (const { what, moment, facts } of life.moments) {
    for (const fates of fatesOf(moment, random)) {
      counts.crashes++;
      const image = imageAfter(moment, fates);
      const files = [...image].map(([path, { text, mode }]) => [
        path,
        mode,
        text?.toString() ?? "a folder",
      ]);
      const digest = JSON.stringify([files, [...facts]]);
      if (checked.has(digest)) continue;
      checked.add(digest);
      counts.disks++;
      try {
        await check(afterRestart(image), facts);
        if (fates.every((fate) => fate === 1)) await check(image, facts);
      } catch (error) {
        throw new Error(
          `after ${what} (DISK_SEED=${seed}), with ${fates}\n${files.join("\n")}`,
          {
            cause: error,
          },
        );
      }
    }
  }
  return counts;
}

/** All combinations if they are few; else all lost, all kept, each one alone lost, kept or torn, and random ones. */
function fatesOf({ unsynced }: Moment, random: () => number): Fate[][] {
  const choices = unsynced.map((each): Fate[] =>
    each.kind === "data" && each.bytes !== "cut" ? [0, 1, 0.5] : [0, 1],
  );
  if (choices.reduce((product, each) => product * each.length, 1) <= AT_ONCE)
    return choices.reduce<Fate[][]>(
      (all, each) => all.flatMap((some) => each.map((fate) => [...some, fate])),
      [[]],
    );
  const alone = choices.flatMap((fates, at) =>
    [0, 1].flatMap((rest) =>
      fates.map((fate) => choices.map((_, index) => (index === at ? fate : rest))),
    ),
  );
  const byChance = Array.from({ length: AT_ONCE }, () =>
    choices.map((each) =>
      each.length === 3 && random() < 0.3
        ? random()
        : (each[Math.floor(random() * 2)] ?? 0),
    ),
  );
  // With few crashes per moment, the random ones include some of each kind.
  return [
    ...[0, 1].map((fate) => choices.map(() => fate)),
    ...byChance,
    ...(AT_ONCE < 64 ? [] : alone),
  ];
}

/** After a restart of the machine: no lock belongs to a living process. */
const afterRestart = (image: Image): Image =>
  new Map(
    [...image].map(([path, { text, mode }]) => [
      path,
      text === undefined || !/\.lock(\.[^.]*\.tmp)?$/.test(path)
        ? { mode, ...(text && { text }) }
        : {
            mode,
            text: Buffer.from(
              text.toString().replace('"machine":"', '"machine":"before, '),
            ),
          },
    ]),
  );

/** What readers and the next run know from the disk that a crash left. */
async function checkNextRun(image: Image, facts: Facts, place: typeof DEV): Promise<void> {
  const disk = new MemoryDisk(image);
  const clock = new HastyClock();
  if (place !== DEV) await takeOverOpen(DEV, place, { folder: FOLDER, disk, clock });
  const read = readJournal(journalPath(place, FOLDER), disk).records;
  const run = runOn(disk, clock, place);
  await run.assertUsable();
  for (const [key, allowed] of facts) {
    const says = entryLine(run.of(key));
    must(allowed.includes(says), `${key} is ${allowed.join(" or ")}, and not ${says}`);
    const had = read.get(key);
    must(
      entryLine(had?.state === "closed" ? undefined : had) === says,
      `readers see another ${key}`,
    );
  }
  for (const key of read.keys()) must(facts.has(key), `${key} is invented`);
  await run.recordSending(aCreate(keyOf("next")));
  must(
    entryLine(runOn(disk, clock, place).of(keyOf("next"))) === "sent",
    "it is not written any more",
  );
  run.release();
}

/** Quicker than `expect`, for thousands of disks. */
function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

beforeAll(() => {
  const kill = process.kill.bind(process);
  // One process plays many here: a lock that is left behind counts as a dead process's.
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (signal !== 0) return kill(pid, signal);
    throw Object.assign(new Error("no such process"), { code: "ESRCH" });
  });
});
afterAll(() => void vi.restoreAllMocks());

it.each([
  ["a long life", longLife, DEV],
  ["a renamed stack", renamedLife, PROD],
])(
  "M1, M2: whatever the power failure takes of %s: what was confirmed is known, and nothing else",
  { timeout: 600_000 },
  async (what, live, place) => {
    const counts = await everyCrash(await live(), (image, facts) =>
      checkNextRun(image, facts, place),
    );
    console.log(`${what}: ${JSON.stringify(counts)}, DISK_SEED=${seed}`);
    expect(counts.crashes).toBeGreaterThan(100);
  },
);

it("a run that was killed once it had given the file its name: the next one's records have a name all the same", async () => {
  const life = new Life();
  life.disk.onChange = (what) => {
    if (what.endsWith(`to ${journalPath(DEV, FOLDER)}`)) throw new Error("killed");
  };
  await expect(life.run()).rejects.toThrow("killed");
  life.disk.onChange = () => undefined;
  await (await life.run()).recordSending(aCreate(keyOf("a")));
  const left = new MemoryDisk(imageAfter(life.disk.moment(), []));
  expect(entryLine(runOn(left, new HastyClock()).of(keyOf("a")))).toBe("sent");
});
