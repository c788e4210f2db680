/**
 * A scripted life of a stack's journal is stopped after each of its changes to the disk: the process is killed, or the machine loses
 * power. After a loss of power, each part that was not synced may be lost, kept or torn. From each such disk the next run must know what
 * was sent, and send none of it a second time.
 *
 * CRASHES: how many combinations are tried at one moment; DISK_SEED: which ones, if there are more.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Clock, JournalError } from "../../provider/src/base/index.js";
import type { Disk } from "../../provider/src/files/disk.js";
import { readRunEnds } from "../../provider/src/store/beside-journal.js";
import { Inventory } from "../../provider/src/store/inventory.js";
import { type Beginning, Journal } from "../../provider/src/store/journal.js";
import { look, recordsIn, withJournal } from "../../provider/src/store/notes.js";
import { pathsIn } from "../../provider/src/store/places.js";
import { type Fate, type Image, imageAfter, MemoryDisk, type Moment } from "../support/disk.js";
import { seededRandom } from "../support/random.js";

const AT_ONCE = Number(process.env.CRASHES ?? 10);
const seed = Number(process.env.DISK_SEED ?? Math.floor(Math.random() * 2 ** 32));

const STACK = "organization/shop/dev";
const FOLDER = "/home/shop/session.json.journal-0123456789abcdef";
const paths = pathsIn(FOLDER, STACK);
const keyOf = (name: string) => `Advertiser::${STACK}::${name}`;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
/** Later than the end of any life. */
const LATER_MS = 100_000_000;

/** Each wait is long enough to take over another machine's lock. */
class HastyClock implements Clock {
  #ms: number;
  constructor(startMs = 0) {
    this.#ms = startMs;
  }
  wallMs = () => START_MS + ++this.#ms;
  monotonicMs = () => this.#ms;
  sleep = async (ms: number) => {
    this.#ms += Math.max(ms, 20_000);
  };
}

/** What is known elsewhere than on this disk at the moment of a crash. */
interface Facts {
  /** By mark: the resources whose creates reached the platform. Refused ones are left out. */
  readonly sent: ReadonlyMap<string, string>;
  /** By mark: ids that the journal confirmed to have noted, or that a person answered. */
  readonly noted: ReadonlyMap<string, string>;
  /** By resource: what the engine has saved. */
  readonly state: ReadonlyMap<string, string>;
  /** Marks of creates that a person answered made nothing, once the journal confirmed to have noted that. */
  readonly notMade: ReadonlySet<string>;
  /** When the run began that was overtaken, once its journal has ended. */
  readonly overtaken: number | undefined;
}

/** A platform, an engine's state, and the moments of one life. */
class Life {
  readonly disk: MemoryDisk;
  readonly clock = new HastyClock();
  readonly moments: { readonly what: string; readonly moment: Moment; readonly facts: Facts }[] = [];
  readonly sent = new Map<string, string>();
  readonly noted = new Map<string, string>();
  readonly state = new Map<string, string>();
  readonly notMade = new Set<string>();
  overtaken: number | undefined;
  #ids = 0;
  #marks = 0;

  constructor() {
    this.disk = new MemoryDisk(new Map([["/home", { mode: 0o755 }]]));
    this.disk.onChange = (what) => this.happens(what);
  }

  happens(what: string): void {
    const { sent, noted, state, notMade, overtaken } = this;
    const facts = {
      sent: new Map(sent),
      noted: new Map(noted),
      state: new Map(state),
      notMade: new Set(notMade),
      overtaken,
    };
    this.moments.push({ what, moment: this.disk.moment(), facts });
  }

  newMark = () => `m${++this.#marks}`;

  run(more: { beganMs?: number; savedLast?: boolean } = {}): Journal {
    return journalOn(this.disk, this.clock, this.newMark, more);
  }

  saved(name: string, id: string): void {
    this.state.set(keyOf(name), id);
    this.happens(`the engine has saved ${name}`);
  }

  /** A create until it is sent. */
  async send(journal: Journal, name: string) {
    const mark = this.newMark();
    const begun = await journal.begin({ key: keyOf(name), fingerprint: name, mark });
    if (begun.kind !== "send") throw new Error(`${name} was sent before`);
    await begun.sending(new Date(this.clock.wallMs()).toISOString());
    this.sent.set(mark, keyOf(name));
    this.happens(`the platform has ${name}`);
    return { ...begun, mark };
  }

  /** The platform's answer, as the journal notes it. */
  async answer({ mark, ended }: Sent): Promise<string> {
    const id = String(++this.#ids);
    await ended({ kind: "created", id });
    this.noted.set(mark, id);
    return id;
  }

  /** A create from its beginning to what the engine saves. */
  async create(journal: Journal, name: string, inventory?: Inventory): Promise<void> {
    const sent = await this.send(journal, name);
    const id = await this.answer(sent);
    journal.handOver(sent.mark);
    inventory?.note(keyOf(name), { id, fingerprint: name });
    this.saved(name, id);
  }
}

type Sent = Extract<Beginning, { kind: "send" }> & { readonly mark: string };

function journalOn(
  disk: Disk,
  clock: Clock,
  newMark: () => string,
  more: { beganMs?: number; savedLast?: boolean } = {},
) {
  return new Journal({ folder: FOLDER, stack: STACK, clock, newMark, maxWaitMs: 120_000, disk, ...more });
}

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const declared = new Set(NAMES.map(keyOf));

/** Every kind of note, two kills, a take-over, an overtaken run, a person's answers. */
async function longLife(): Promise<Life> {
  const life = new Life();
  const { disk, clock } = life;
  const [run1, inventory] = [life.run(), new Inventory(paths.objects, disk)];
  await run1.notSettled();
  await life.create(run1, "a", inventory);
  // Two creates at once share a write.
  const [b, c] = await Promise.all([life.send(run1, "b"), life.send(run1, "c")]);
  life.sent.delete(c.mark); // refused
  await Promise.all([b.ended({ kind: "unresolved" }), c.ended({ kind: "not-created" })]);
  life.saved("b", `unresolved-${b.mark}`);
  const d = await life.send(run1, "d");
  await life.answer(d);
  const e = await life.send(run1, "e");
  // Killed: nothing is closed, and the lock stays, as a dead process's.

  const began2 = clock.wallMs();
  const run2 = life.run();
  await run2.reconcile(keyOf("a"), life.state.get(keyOf("a")) ?? "", () => "a");
  const taken = await run2.begin({ key: keyOf("d"), fingerprint: "d", mark: life.newMark() });
  if (taken.kind !== "taken over") throw new Error(`d was not taken over: ${taken.kind}`);
  run2.handOver(taken.record.mark);
  life.saved("d", taken.record.id);
  const earlier = await run2.begin({ key: keyOf("e"), fingerprint: "e", mark: life.newMark() });
  if (earlier.kind !== "earlier") throw new Error(`e is not known: ${earlier.kind}`);
  await life.create(run2, "f", inventory);
  const before = new Map([...life.state].filter(([key]) => key !== keyOf("d") && key !== keyOf("f")));
  run2.closeNow(declared, true);
  life.overtaken = began2;
  life.happens("the second run has ended");

  // This run began before the previous one ended, and its older state is saved last.
  const late = life.run({ beganMs: began2 });
  await late.notSettled();
  await expect(late.begin({ key: keyOf("g"), fingerprint: "g", mark: "late" })).rejects.toThrow(JournalError);
  late.closeNow(undefined, true);
  for (const key of [...life.state.keys()]) if (!before.has(key)) life.state.delete(key);
  life.happens("the older state is saved");

  // A person answers that b made nothing, and which object e made.
  const options = { clock, unique: "command", maxWaitMs: 0, disk };
  await withJournal(paths.journal, options, async ({ revise }) => {
    life.state.delete(keyOf("b"));
    life.sent.delete(b.mark);
    revise((record) => (record.mark === b.mark ? undefined : record));
  });
  life.notMade.add(b.mark);
  life.happens("b is settled");
  await withJournal(paths.journal, options, async ({ revise }) => {
    revise((record) => (record.mark === e.mark ? { ...record, id: "77" } : record));
  });
  life.noted.set(e.mark, "77");
  life.happens("e is settled");

  const run3 = life.run();
  await life.create(run3, "b", inventory);
  for (const name of ["d", "e", "f"]) {
    const again = await run3.begin({ key: keyOf(name), fingerprint: name, mark: life.newMark() });
    if (again.kind !== "taken over") throw new Error(`${name} was not taken over: ${again.kind}`);
    run3.handOver(again.record.mark);
    life.saved(name, again.record.id);
  }
  run3.closeNow(declared, true);
  life.happens("the third run has ended");

  // From here on the journal has to remember only what this run sends.
  const run4 = life.run();
  await life.create(run4, "g", inventory);
  const h = await life.send(run4, "h");
  await h.ended({ kind: "unresolved" });
  life.saved("h", `unresolved-${h.mark}`);
  await run4.settle(({ key }) => key === keyOf("h"));
  life.saved("h", "99");
  run4.closeNow(declared, true);
  life.happens("the fourth run has ended");
  return life;
}

/** A life in which the engine saves the state only after the run. */
async function lifeSavedLast(): Promise<Life> {
  const life = new Life();
  const run1 = life.run({ savedLast: true });
  const handed: [string, string][] = [];
  for (const name of ["a", "b", "c"]) {
    const sent = await life.send(run1, name);
    handed.push([name, await life.answer(sent)]);
    run1.handOver(sent.mark);
  }
  run1.closeNow(declared, true);
  for (const [name, id] of handed) life.saved(name, id);
  const run2 = life.run({ savedLast: true });
  for (const [name, id] of handed) await run2.reconcile(keyOf(name), id, () => name);
  run2.closeNow(declared, true);
  life.happens("the second run has ended");
  return life;
}

interface Counts {
  moments: number;
  crashes: number;
  disks: number;
  damaged: number;
}

/** Tries every crash of a life. @param check throws if a rule is broken. */
async function everyCrash(
  life: Life,
  check: (image: Image, facts: Facts) => Promise<"sound" | "damaged">,
): Promise<Counts> {
  const counts = { moments: life.moments.length, crashes: 0, disks: 0, damaged: 0 };
  const random = seededRandom(seed);
  const checked = new Set<string>();
  for (const { what, moment, facts } of life.moments) {
    for (const fates of fatesOf(moment, random)) {
      counts.crashes++;
      const image = imageAfter(moment, fates);
      const digest = digestOf(image, facts);
      if (checked.has(digest)) continue;
      checked.add(digest);
      counts.disks++;
      try {
        if ((await check(afterRestart(image), facts)) === "damaged") counts.damaged++;
        // After a kill nothing is lost.
        if (fates.every((fate) => fate === 1)) await check(image, facts);
      } catch (error) {
        const unsynced = moment.unsynced.map((each, index) =>
          each.kind === "names"
            ? `${fates[index]} of ${each.names.map(([name, node]) => `${name}${node ? "" : " gone"}`)}`
            : `${fates[index]} of ${JSON.stringify(String(each.bytes))}`,
        );
        throw new Error(`after ${what} (DISK_SEED=${seed}), with\n${unsynced.join("\n")}\n${describeImage(image)}`, {
          cause: error,
        });
      }
    }
  }
  return counts;
}

/** All combinations if they are few; otherwise all lost, all kept, each one alone lost, kept or torn, and random ones. */
function fatesOf({ unsynced }: Moment, random: () => number): Fate[][] {
  const choices = unsynced.map((each): Fate[] => (each.kind === "data" && each.bytes !== "cut" ? [0, 1, 0.5] : [0, 1]));
  const amount = choices.reduce((product, each) => product * each.length, 1);
  if (amount <= AT_ONCE) {
    return choices.reduce<Fate[][]>((all, each) => all.flatMap((some) => each.map((fate) => [...some, fate])), [[]]);
  }
  const alone = unsynced.flatMap((_, at) =>
    [0, 1].flatMap((rest) =>
      (choices[at] ?? []).map((fate) => unsynced.map((_, index) => (index === at ? fate : rest))),
    ),
  );
  const byChance = Array.from({ length: AT_ONCE }, () =>
    choices.map((each) => (each.length === 3 && random() < 0.3 ? random() : (each[Math.floor(random() * 2)] ?? 0))),
  );
  const alike = [0, 1].map((fate) => unsynced.map(() => fate));
  // With few crashes per moment, the random ones include some of each kind.
  return [...alike, ...byChance, ...(AT_ONCE < 64 ? [] : alone)];
}

function digestOf(image: Image, { sent, noted, state, notMade, overtaken }: Facts): string {
  const hash = createHash("sha256");
  for (const [path, { text, mode }] of [...image].sort()) hash.update(`${path} ${mode} ${text?.toString("latin1")}\n`);
  return hash.update(JSON.stringify([[...sent], [...noted], [...state], [...notMade], overtaken])).digest("hex");
}

function describeImage(image: Image): string {
  return [...image]
    .map(([path, { text }]) => `${path}: ${text === undefined ? "a folder" : JSON.stringify(text.toString())}`)
    .join("\n");
}

/** After a restart of the machine: no lock belongs to a living process. */
const afterRestart = (image: Image): Image =>
  new Map(
    [...image].map(([path, { text, mode }]) => [
      path,
      text === undefined || !/\.(lock|takeover)$/.test(path)
        ? { mode, ...(text && { text }) }
        : { mode, text: Buffer.from(text.toString().replace('"machine":"', '"machine":"before, ')) },
    ]),
  );

/** Checks what the next run must know from the disk that a crash left, and what it must not do. */
async function checkNextRun(image: Image, facts: Facts): Promise<"sound" | "damaged"> {
  const disk = new MemoryDisk(image);
  const clock = new HastyClock(LATER_MS);
  const { sent, noted, state, notMade, overtaken } = facts;
  const isHeld = (key: string, mark: string) =>
    state.has(key) && (state.get(key) === `unresolved-${mark}` || !String(state.get(key)).startsWith("unresolved-"));
  const mustBeKnown = [...sent].filter(([mark, key]) => !notMade.has(mark) && !isHeld(key, mark));

  const { creates } = look(paths, disk);
  try {
    recordsIn(paths.journal, disk); // read as `pending` reads it
  } catch {
    const beginning = journalOn(disk, clock, () => "x").begin({ key: keyOf("z"), fingerprint: "z", mark: "z" });
    await expect(beginning).rejects.toThrow(JournalError);
    return "damaged";
  }
  for (const [mark] of mustBeKnown) {
    const record = creates.find((each) => each.mark === mark);
    must(record !== undefined, `${mark} is forgotten`);
    must(!noted.has(mark) || record?.id === noted.get(mark), `the id of ${mark} is forgotten`);
  }
  for (const { mark } of creates) must(!notMade.has(mark), `${mark} was settled, and is back`);
  const ends = readRunEnds(paths.runEnd, disk);
  must(
    overtaken === undefined || ends.some(({ ended }) => Date.parse(ended) > overtaken),
    "a run that was overtaken does not notice it",
  );

  const inventory = new Inventory(paths.objects, disk);
  inventory.note(keyOf("probe"), { id: "5", fingerprint: "" });
  must(look(paths, disk).objects.has(keyOf("probe")), "the inventory is not read any more");

  const run = journalOn(disk, clock, () => `n${clock.wallMs()}`);
  const live = new Set(mustBeKnown.map(([, key]) => key));
  for (const name of NAMES) {
    const key = keyOf(name);
    const id = state.get(key);
    if (id !== undefined) await run.reconcile(key, id, () => name);
    else if (live.has(key)) {
      const { kind } = await run.begin({ key, fingerprint: name, mark: `again-${name}` });
      must(kind !== "send", `${name} is sent again`);
    }
  }
  await run.release();
  return "sound";
}

/** Quicker than `expect`, for thousands of disks. */
function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

describe("whatever is lost of what was not synced when the power fails", () => {
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
    ["a long life", longLife],
    ["a life whose state is saved last", lifeSavedLast],
  ])("J1, J2, J5: %s: nothing that was sent is forgotten or sent again", { timeout: 600_000 }, async (what, live) => {
    const counts = await everyCrash(await live(), checkNextRun);
    console.log(`${what}: ${JSON.stringify(counts)}, DISK_SEED=${seed}`);
    expect(counts.crashes).toBeGreaterThan(100);
    expect(counts.damaged).toBe(0);
  });
});
