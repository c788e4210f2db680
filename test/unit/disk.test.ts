/**
 * Scripted lives of a stack's journals are stopped after each of their changes to the disk: the process is killed, or the
 * machine loses power, and then each unsynced part may be lost, kept or torn. From each such disk the next run must
 * know all that was sent before, and every id whose note was confirmed, and nothing that never was.
 *
 * CRASHES: how many combinations are tried at one moment; DISK_SEED: which ones, if there are more.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../provider/src/base/index.js";
import {
  type Journal,
  type RunJournal,
  writeAnswers,
} from "../../provider/src/journal/index.js";
import { openCreates } from "../../provider/src/plan/index.js";
import {
  type Fate,
  type Image,
  imageAfter,
  MemoryDisk,
  type Moment,
} from "../support/disk.js";
import {
  aCreate,
  DEV,
  emptyJournals,
  entryLine,
  FOLDER,
  markOf,
  stackOn,
} from "../support/journal.js";
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

/** By key: what the journals together may say of it, such as `created 42`. */
type Facts = ReadonlyMap<string, readonly string[]>;

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
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
  readonly #stack = stackOn(this.disk);
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
  async says(says: Readonly<Record<string, string>>, write: () => unknown): Promise<void> {
    const count = this.#lines.push(
      ...Object.entries(says).map(([name, says]) => ({ key: keyOf(name), says })),
    );
    await write();
    this.#confirmed = Math.max(this.#confirmed, count);
  }

  /** What may be so from then on, and what nobody syncs: the removal of a file. */
  mutters(says: Readonly<Record<string, string>>, write: () => void): void {
    for (const [name, each] of Object.entries(says))
      this.#lines.push({ key: keyOf(name), says: each });
    write();
  }

  async run(): Promise<Journal> {
    const run = this.#stack.newRun({ clock: this.clock, maxWaitMs: 120_000 });
    await run.assertUsable();
    await run.readEarlier(new Set(), () => true);
    return run;
  }

  /**
   * The end of a run that has returned these. @param finished the journals that nobody needs any more.
   * @param gone what no file has afterwards.
   */
  end(run: Journal, returned: string[], gone: string[], finished: RunJournal[] = []) {
    for (const name of returned) run.markReturned(markOf(keyOf(name)));
    const says = Object.fromEntries(gone.map((name) => [name, "none"]));
    this.mutters(says, () => {
      run.closeNow();
      emptyJournals(finished, this.disk);
    });
  }

  get journals() {
    return this.#stack.journals();
  }

  send = (run: Journal, name: string, replaces?: string) =>
    this.says({ [name]: "sent" }, () => run.recordSending(aCreate(keyOf(name), replaces)));

  async make(run: Journal, name: string): Promise<string> {
    const id = String(++this.#ids);
    await this.send(run, name);
    await this.says({ [name]: `created ${id}` }, () =>
      run.recordCreated(markOf(keyOf(name)), id),
    );
    return id;
  }
}

/** Every kind of line, several kills, a person's answers, and ends. */
async function longLife(): Promise<Life> {
  const life = new Life();
  const markOfName = (name: string) => markOf(keyOf(name));
  const run1 = await life.run();
  await life.make(run1, "a");
  await Promise.all(["b", "c", "d", "e"].map((name) => life.send(run1, name)));
  await life.says({ c: "none" }, () => run1.recordNotCarriedOut(markOfName("c"))); // refused
  // Killed: nothing is closed, and the lock stays. Another one is killed in the middle of a line.
  const half = life.disk.openSync(run1.path, "a");
  life.disk.writeFileSync(half, '{"key":"Advertiser::f","state":"se');
  const killed = life.journals;

  const run2 = await life.run();
  // A search has found one, and ruled one out, which is sent again.
  const found = aCreate(keyOf("d"));
  await life.says({ d: "created 7" }, () => run2.recordCreated(found.mark, "7", found));
  await life.send(run2, "g");
  await life.says({ f: "sent" }, () => run2.keep([aCreate(keyOf("f"))]));

  const here = { folder: FOLDER, disk: life.disk, clock: life.clock };
  const lines = [
    { ...aCreate(keyOf("e")), state: "created", id: "77" },
    { key: keyOf("b"), mark: markOfName("b"), state: "closed" },
  ] as const;
  await life.says({ e: "created 77", b: "none" }, () =>
    writeAnswers({ place: DEV, run: "answers" }, lines, here),
  );
  life.end(run2, ["d"], []);

  const run3 = await life.run();
  await life.make(run3, "h");
  life.end(run3, ["h"], ["h", "a"], killed);
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
async function checkNextRun(image: Image, facts: Facts): Promise<void> {
  const disk = new MemoryDisk(image);
  const stack = stackOn(disk, DEV, FOLDER, "next");
  const read = openIn(stack.journals());
  const run = stack.newRun({ clock: new HastyClock(), maxWaitMs: 120_000 });
  const earlier = openIn(await run.readEarlier(new Set(), () => true));
  for (const [key, allowed] of facts) {
    const says = earlier.get(key) ?? "none";
    must(allowed.includes(says), `${key} is ${allowed.join(" or ")}, and not ${says}`);
    must((read.get(key) ?? "none") === says, `readers see another ${key}`);
  }
  for (const key of read.keys()) must(facts.has(key), `${key} is invented`);
  await run.recordSending(aCreate(keyOf("next")));
  must(stack.words().includes("next sent"), "nothing is written any more");
  run.release();
}

/** By key, what is open according to several files, if Pulumi can't be asked. */
function openIn(journals: readonly RunJournal[]) {
  const { open } = openCreates(undefined, journals);
  const stateOf = (id: string | undefined) => (id === undefined ? "sent" : "created");
  return new Map(open.map(({ key, id }) => [key, entryLine({ state: stateOf(id), id })]));
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

it("M1, M2: whatever a power failure takes: what was confirmed is known, and nothing else", {
  timeout: 600_000,
}, async () => {
  const counts = await everyCrash(await longLife(), checkNextRun);
  console.log(`${JSON.stringify(counts)}, DISK_SEED=${seed}`);
  expect(counts.crashes).toBeGreaterThan(100);
});

it("a run that was killed once it had given its file the name: the next one's creates are found all the same", async () => {
  const life = new Life();
  life.disk.onChange = (what) => {
    if (/ to .*\.jsonl$/.test(what)) throw new Error("killed");
  };
  await expect(life.run()).rejects.toThrow("killed");
  life.disk.onChange = () => undefined;
  await (await life.run()).recordSending(aCreate(keyOf("a")));
  const left = new MemoryDisk(imageAfter(life.disk.moment(), []));
  expect(openIn(stackOn(left).journals())).toEqual(new Map([[keyOf("a"), "sent"]]));
});
