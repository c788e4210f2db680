/**
 * The journal as a file: a create that can't be noted is not sent, a note outlives every kill, and each stack has its own journal.
 * The provider's lifecycle is the real one. A run that never closes its journal plays an interrupted one.
 */
import { execFileSync, fork } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fsp, { type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "../../provider/src/base/clock.js";
import type { Runtime } from "../../provider/src/provider/services.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { backendIn } from "../../provider/src/store/beside-journal.js";
import { Journal } from "../../provider/src/store/journal.js";
import { HEADER, readJournal } from "../../provider/src/store/notes.js";
import { replaceIn } from "../support/builtin.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { sendNoted, unsent } from "../support/journal.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { seededRandom } from "../support/random.js";
import { failureOf, newRun } from "../support/run.js";
import { useSandbox } from "../support/stack.js";

vi.setConfig({ testTimeout: 60_000 });

const STACK = "organization/shop/dev";
const identity = `${STACK}::a`;
const inputs = (of = identity) => ({ advertiserName: "A", __identity: of, __provider: "x" });

interface Options {
  /** The identity of a resource in the run's stack. */
  readonly of?: string;
  /** Replaces the run's own journal. */
  readonly journal?: Journal;
  readonly settings?: Readonly<Record<string, string>>;
}

/** One run of `of`'s stack, with cookie file and journal in `folder`. */
function runOf(sandbox: Sandbox, folder: string, { of = identity, journal, settings = {} }: Options = {}) {
  const adapt = (runtime: Runtime): Runtime =>
    journal === undefined ? runtime : { ...runtime, journal: () => journal };
  const run = newRun(sandbox, folder, { adapt, settings });
  const used = run.runtime.journal(of);
  return { ...run, journal: used, kill: () => used.release() };
}

async function start(made = useSandbox()) {
  const sandbox = await made;
  const folder = newFolder();
  const run = runOf(sandbox, folder);
  return { sandbox, folder, run, path: run.journal.path };
}

function newJournal(
  folder: string,
  more: { stack?: string; clock?: Clock; maxWaitMs?: number; beganMs?: number; backend?: string } = {},
): Journal {
  let marks = 0;
  const journal = new Journal({
    folder,
    stack: more.stack ?? STACK,
    clock: more.clock ?? new FakeClock(Date.now()),
    newMark: () => `${Math.random()}-${marks++}`,
    maxWaitMs: more.maxWaitMs ?? 10_000,
    beganMs: more.beganMs,
    backend: more.backend ?? backendIn({}),
  });
  onTestFinished(() => journal.release());
  return journal;
}

const linesIn = (path: string) => readFileSync(path, "utf8").trim().split("\n").length;
const notesIn = (path: string) => readJournal(readFileSync(path, "utf8"));

/** Changes how files are opened until the test's end. @returns undoes it. */
const replaceOpen = (open: typeof fsp.open): (() => void) => replaceIn(fsp, { open });

/** Makes each write to a journal that `isFull` names fail on a full disk, with the system's own error. @returns undoes it. */
function fillDisk(isFull: (text: string) => boolean): () => void {
  const { open } = fsp;
  let hasRoom = false;
  const undo = replaceOpen(async (path, ...rest) => {
    const handle = await open(path, ...rest);
    if (!/\.jsonl(\..*\.tmp)?$/.test(String(path))) return handle;
    for (const name of ["appendFile", "writeFile"] as const) {
      const write = handle[name].bind(handle);
      Object.assign(handle, {
        [name]: async (text: string) => {
          if (hasRoom || !isFull(text)) return write(text);
          const full = await open("/dev/full", "w");
          await full.writeFile(text).finally(() => full.close());
        },
      } satisfies Partial<FileHandle>);
    }
    return handle;
  });
  return () => {
    hasRoom = true;
    undo();
  };
}

/** Only the first error of a run says why. */
const orSaidBefore = (why: RegExp) => new RegExp(`${why.source}|another error of this run says why`);

describe("J1, J6: a create that can't be noted is not sent", () => {
  it.each([
    ["when the journal is started", '"journal"'],
    ["when it is noted", '"sent"'],
  ])(
    "a full disk %s: the error names the file and says what to do; with free space the same run goes on",
    async (_, words) => {
      const { sandbox, run, path } = await start();
      const makeRoom = fillDisk((text) => text.includes(words));
      const failure = await failureOf(run.advertiser.create(inputs()));
      expect(failure.id).toBeUndefined();
      expect(failure.message).toContain(`Nothing was sent. The journal ${path}`);
      expect(failure.message).toContain("ENOSPC");
      expect(failure.message).toMatch(/Make (room|the folder writable)/);
      const again = await failureOf(run.advertiser.create(inputs()));
      expect(again.id).toBeUndefined();
      expect(again.message).toBe(
        "Not sent: the journal can't be used (another error of this run says why). (docs/messages.md#advertising_journal) [ADVERTISING_JOURNAL]",
      );
      expect(sandbox.creates).toBe(0);
      makeRoom();
      expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
      expect(sandbox.creates).toBe(1);
      expect(notesIn(path)).toMatchObject([{ id: "1" }]);
    },
  );

  it.each(["EACCES", "EROFS", "EDQUOT"])("%s in the journal's folder", async (code) => {
    const { sandbox, run, path } = await start();
    const { open } = fsp;
    replaceOpen(async (target, ...rest) => {
      if (dirname(String(target)) !== dirname(path)) return open(target, ...rest);
      throw Object.assign(new Error(`${code}: injected, open '${String(target)}'`), { code, syscall: "open" });
    });
    const failure = await failureOf(run.advertiser.create(inputs()));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toContain(`Nothing was sent. The journal ${path}`);
    expect(failure.message).toMatch(new RegExp(`${code}.*Make the folder writable`));
    expect(sandbox.creates).toBe(0);
  });

  it.each<[string, (path: string) => void, RegExp]>([
    ["a link", (path) => symlinkSync("/etc/hostname", path), /it is a symbolic link/],
    ["a link that leads nowhere", (path) => symlinkSync("/nowhere", path), /it is a symbolic link/],
    ["a pipe", (path) => execFileSync("mkfifo", [path]), /it is (a pipe or a device|no regular file)/],
    ["a folder", (path) => mkdirSync(path), /it is (a folder|no regular file)/],
  ])("%s in the journal's place, which is left as it is", async (_, make, words) => {
    const { sandbox, run, path } = await start();
    mkdirSync(dirname(path), { mode: 0o700 });
    make(path);
    const failure = await failureOf(run.advertiser.create(inputs()));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toContain(`Nothing was sent. The journal ${path}`);
    expect(failure.message).toMatch(words);
    expect(sandbox.creates).toBe(0);
    run.closeNow();
    expect(readdirSync(dirname(path))).toEqual([path.slice(dirname(path).length + 1)]);
  });

  it.each<[string, (folder: string) => void]>([
    ["a file", (folder) => writeFileSync(folder, "precious")],
    ["a link that leads nowhere", (folder) => symlinkSync("/nowhere/at/all", folder)],
    ["a pipe", (folder) => execFileSync("mkfifo", [folder])],
  ])("%s in the place of its folder", async (_, make) => {
    const { sandbox, run, path } = await start();
    make(dirname(path));
    const failure = await failureOf(run.advertiser.create(inputs()));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toContain(`Nothing was sent. The journal ${path}`);
    expect(failure.message).toMatch(/EEXIST|ENOTDIR|ENOENT/);
    expect(sandbox.creates).toBe(0);
  });
});

describe("J2: a create that succeeded is reported, whatever happens to its note", () => {
  it("a full disk when the id is noted: a message with the id, and the next run does not send it again", async () => {
    const { sandbox, folder, run, path } = await start();
    const makeRoom = fillDisk((text) => text.includes('"created"'));
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    expect(run.said).toEqual([expect.stringContaining('Advertiser "a" was created as 1.')]);
    expect(run.said[0]).toContain(path);
    expect(run.said[0]).toContain("ENOSPC");
    expect(run.said[0]).not.toContain("Nothing was sent");
    await run.kill();
    makeRoom();
    expect(notesIn(path)).toHaveLength(1);
    expect((await failureOf(runOf(sandbox, folder).advertiser.create(inputs()))).id).toMatch(/^unresolved-/);
    expect(sandbox.creates).toBe(1);
  });
});

describe("J4: one run at a time", () => {
  it("another run of the stack is waited for within limits; then there is an error, and nothing is sent", async () => {
    const { sandbox, folder } = await start();
    const notes = join(folder, "notes");
    const first = newJournal(notes);
    await (await sendNoted(first, "Advertiser::x")).ended({ kind: "not-created" });
    const clock = new FakeClock(Date.now());
    const second = runOf(sandbox, folder, { journal: newJournal(notes, { clock }) });
    const failure = await failureOf(second.advertiser.create(inputs()));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toMatch(
      /Nothing was sent\. The journal .*another run of this stack is using it.*Let that run end/,
    );
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(10_000);
    expect(clock.monotonicMs()).toBeLessThan(11_000);
    expect(sandbox.creates).toBe(0);

    // A run of another stack does not wait.
    const other = runOf(sandbox, folder, { journal: newJournal(notes, { stack: "organization/shop/prod" }) });
    expect(await other.advertiser.create(inputs("organization/shop/prod::a"))).toMatchObject({ id: "1" });
    expect(sandbox.creates).toBe(1);

    // The first run ends in time for a third one, which reads its notes.
    const { mark } = await sendNoted(first, `Advertiser::${identity}`);
    const patient = new FakeClock(Date.now());
    patient.beforeWaking = (now) => (now > 5000 ? first.release() : undefined);
    const third = runOf(sandbox, folder, { journal: newJournal(notes, { clock: patient }) });
    expect((await failureOf(third.advertiser.create(inputs()))).id).toBe(`unresolved-${mark}`);
    expect(patient.monotonicMs()).toBeGreaterThan(5000);
    expect(sandbox.creates).toBe(1);
  });

  it("a lock that a dead process left is taken over at once", async () => {
    const { sandbox, folder } = await start();
    const clock = new FakeClock(Date.now());
    const journal = newJournal(join(folder, "notes"), { clock });
    mkdirSync(dirname(journal.path), { mode: 0o700 });
    writeFileSync(`${journal.path}.lock`, lockText(deadPid()), { mode: 0o600 });
    const run = runOf(sandbox, folder, { journal });
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    expect(clock.monotonicMs()).toBeLessThan(1000);
    expect(sandbox.creates).toBe(1);
    journal.closeNow(new Set());
    expect(readdirSync(dirname(journal.path))).toEqual([basename(journal.path).replace("jsonl", "ended")]);
  });
});

describe("J4: a run whose process is paused", () => {
  /** A process that notes a create for each message. */
  function startHolder(folder: string) {
    const task = JSON.stringify({ folder, stack: STACK, log: join(folder, "log"), round: 0 });
    const child = fork(resolve(import.meta.dirname, "journal-process.mjs"), [task], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const create = async () => {
      const answer = new Promise((done) => child.once("message", done));
      child.send("create");
      expect(await answer).toEqual({});
    };
    return { child, create };
  }

  it("keeps its journal on this machine, however long: another run sends nothing, and the first one goes on", async () => {
    const { sandbox, folder } = await start();
    const notes = newFolder();
    const { child, create } = startHolder(notes);
    await create();
    child.kill("SIGSTOP");
    const clock = new FakeClock(Date.now());
    const journal = newJournal(notes, { clock, maxWaitMs: 2 * 60_000 });
    const failure = await failureOf(runOf(sandbox, folder, { journal }).advertiser.create(inputs()));
    expect(failure.message).toMatch(
      new RegExp(`Nothing was sent\\. .*another run of this stack is using it \\(process ${child.pid}\\b`),
    );
    if (process.platform === "linux") expect(failure.message).toContain("which is stopped");
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(2 * 60_000);
    expect(sandbox.creates).toBe(0);
    child.kill("SIGCONT");
    for (let more = 0; more < 5; more++) await create();
    const created = readFileSync(join(notes, "log"), "utf8").matchAll(/^created (.*)$/gm);
    expect(notesIn(journal.path).map(({ mark }) => mark)).toEqual(Array.from(created, ([, mark]) => mark));
    expect(notesIn(journal.path).length).toBeGreaterThan(1);
    child.disconnect();
    await new Promise((done) => child.once("exit", done));
    expect(existsSync(`${journal.path}.lock`)).toBe(false);
  });

  const TAKEN = orSaidBefore(
    /Another run of this stack took over the journal .*; nothing more is sent\. Let that run end/,
  );

  /** Another machine's run takes over `path`, rewrites the journal and creates. @returns checks that its file is left alone. */
  function takeOverJournal(path: string): () => void {
    takeOver(`${path}.lock`);
    const sent = { note: "sent", mark: "theirs", key: "Advertiser::x", fingerprint: "f", at: "2026-01-01T00:00:00Z" };
    const theirs = `${JSON.stringify(HEADER)}\n${JSON.stringify(sent)}\n`;
    writeFileSync(`${path}.theirs`, theirs, { mode: 0o600 });
    renameSync(`${path}.theirs`, path);
    return () => {
      expect(readFileSync(path, "utf8")).toBe(theirs);
      expect(readFileSync(`${path}.lock`, "utf8")).toBe(foreignLock);
    };
  }

  /** The same, as soon as the first file that `isMeant` selects was written. @returns the check, which fails if that never happened. */
  function takeOverAfterWriting(path: string, isMeant: (file: string) => boolean): () => void {
    const { open } = fsp;
    let expectLeftAlone: (() => void) | undefined;
    replaceOpen(async (target, ...rest) => {
      const handle = await open(target, ...rest);
      const datasync = handle.datasync.bind(handle);
      if (isMeant(String(target))) {
        handle.datasync = async () => {
          await datasync();
          expectLeftAlone ??= takeOverJournal(path);
        };
      }
      return handle;
    });
    return () => {
      expect(expectLeftAlone).toBeDefined();
      expectLeftAlone?.();
    };
  }

  /** Every create fails without an id, so nothing was created. */
  async function expectAllRefused(run: ReturnType<typeof runOf>, words: RegExp) {
    const names = Array.from({ length: 20 }, (_, index) => `${STACK}::more${index}`);
    for (const failure of await Promise.all(names.map((name) => failureOf(run.advertiser.create(inputs(name)))))) {
      expect(failure.id).toBeUndefined();
      expect(failure.message).toMatch(words);
    }
  }

  it("and loses its journal to another machine's run sends nothing more, says so, and leaves the journal alone", async () => {
    const { sandbox, run, path } = await start();
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    const expectLeftAlone = takeOverJournal(path);
    await expectAllRefused(run, TAKEN);
    expect(sandbox.creates).toBe(1);
    expectLeftAlone();
    run.closeNow();
    expectLeftAlone();
  });

  it("and lost it: no note succeeds, and its former file is not written any more", async () => {
    const journal = newJournal(newFolder());
    const first = await sendNoted(journal, "Advertiser::x");
    const begun = await journal.begin(unsent("Advertiser::y"));
    const had = `${journal.path}.had`;
    linkSync(journal.path, had);
    const before = readFileSync(had, "utf8");
    const expectLeftAlone = takeOverJournal(journal.path);
    await expect(sendNoted(journal, "Advertiser::z")).rejects.toThrow(TAKEN);
    await expect(begun.kind === "send" && begun.sending("2026-01-01T00:00:00Z")).rejects.toThrow(TAKEN);
    await expect(first.ended({ kind: "created", id: "1" })).rejects.toThrow(TAKEN);
    // This one was noted before and is sent again, as after a rate limit.
    await expect(first.sending("2026-01-01T00:00:00Z")).rejects.toThrow(TAKEN);
    expect(readFileSync(had, "utf8")).toBe(before);
    journal.closeNow(new Set());
    expectLeftAlone();
  });

  it("and loses it while it writes a note: the note does not count", async () => {
    const journal = newJournal(newFolder());
    const expectLeftAlone = takeOverAfterWriting(journal.path, (target) => target === journal.path);
    await expect(sendNoted(journal, "Advertiser::x")).rejects.toThrow(TAKEN);
    expectLeftAlone();
  });

  it("and loses it while creates are noted: none of them is sent", async () => {
    const { sandbox, run, path } = await start();
    const expectLeftAlone = takeOverAfterWriting(path, (target) => target === path);
    await expectAllRefused(run, TAKEN);
    expect(sandbox.creates).toBe(0);
    run.closeNow();
    expectLeftAlone();
  });

  it("and loses it while it starts its journal: the other run's is not overwritten", async () => {
    const { sandbox, run, path } = await start();
    const expectLeftAlone = takeOverAfterWriting(path, (target) => /\.jsonl\.[^.]*\.tmp$/.test(target));
    expect((await failureOf(run.advertiser.create(inputs()))).message).toMatch(TAKEN);
    expect(sandbox.creates).toBe(0);
    run.closeNow();
    expectLeftAlone();
  });

  it("and loses it while it waits to send a create again: that is not sent either", async () => {
    const { sandbox, run, path } = await start();
    let expectLeftAlone: (() => void) | undefined;
    sandbox.fail({
      on: "create",
      with: {
        kind: "answer",
        status: 429,
        headers: { "retry-after": "1" },
        get body() {
          expectLeftAlone ??= takeOverJournal(path);
          return {};
        },
      },
    });
    const failure = await failureOf(run.advertiser.create(inputs()));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toMatch(TAKEN);
    expect(sandbox.creates).toBe(1);
    expect(sandbox.advertisers).toEqual([]);
    expectLeftAlone?.();
    expect(expectLeftAlone).toBeDefined();
  });

  it("and whose journal was removed sends nothing more", async () => {
    const { sandbox, run, path } = await start();
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    rmSync(path);
    await expectAllRefused(run, orSaidBefore(/it was removed while this run was using it; nothing more is sent/));
    expect(sandbox.creates).toBe(1);
  });
});

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`killed at any moment: the file can be read, and has every note that was on the disk (SEED=${seed})`, async () => {
  console.log(`journal: SEED=${seed}`);
  const random = seededRandom(seed);
  const folder = newFolder();
  const journals = join(folder, "notes");
  const log = join(folder, "log");
  const { path } = newJournal(journals);
  const ROUNDS = 20;
  let interrupted = 0;
  writeFileSync(log, "");
  for (let round = 0; round < ROUNDS; round++) {
    const task = JSON.stringify({ folder: journals, stack: STACK, log, round, atOnce: 1 + Math.floor(random() * 8) });
    const child = fork(resolve(import.meta.dirname, "journal-process.mjs"), [task], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await new Promise((done) => child.once("message", done));
    // The kill comes while it starts, or once it has noted so many.
    const noted = linesIn(log) + (random() < 0.4 ? 0 : Math.floor(random() * 20));
    while (linesIn(log) < noted) await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => setTimeout(done, random() * 10));
    const ended = new Promise((done) => child.once("exit", (_, signal) => done(signal)));
    child.kill("SIGKILL");
    expect(await ended).toBe("SIGKILL");

    const what = `SEED=${seed}, round ${round}`;
    const records = existsSync(path) ? readJournal(readFileSync(path, "utf8")) : [];
    const remembered = new Map(records.map((record) => [record.mark, record]));
    const steps = new Map<string, string>();
    for (const line of readFileSync(log, "utf8").trim().split("\n")) {
      const [step = "", mark] = line.split(" ");
      if (mark !== undefined) steps.set(mark, step);
    }
    for (const [mark, step] of steps) {
      if (step === "settled") expect(remembered.has(mark), `${what}: ${step} ${mark}`).toBe(false);
      if (step === "sent" || step === "created") expect(remembered.has(mark), `${what}: ${step} ${mark}`).toBe(true);
      if (step === "created") expect(remembered.get(mark)?.id, `${what}: ${mark}`).toMatch(/^\d+$/);
      if (step === "sent" || step === "settling") interrupted++;
    }
    if (existsSync(path)) expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  // Kills that interrupted nothing would prove little.
  expect(interrupted).toBeGreaterThan(0);
  expect(readFileSync(log, "utf8").split("\n").length).toBeGreaterThan(ROUNDS);
  const next = newJournal(journals);
  await (await sendNoted(next, "Advertiser::x")).ended({ kind: "not-created" });
  await next.release();
  // Only the journal is there, and perhaps temporary files of kills during a write.
  expect(readdirSync(journals).filter((name) => !name.endsWith(".tmp"))).toEqual([path.slice(journals.length + 1)]);
});

it("the file does not grow: 5,000 creates of an interrupted run are rewritten as 5,000 notes, which go once the state has them", async () => {
  const folder = newFolder();
  const CREATES = 5000;
  const keyOf = (index: number) => `ConversionEvent::${STACK}::e${index}`;
  const killed = newJournal(folder);
  await Promise.all(
    Array.from({ length: CREATES }, async (_, index) => {
      // Each was sent once before, and not carried out.
      await (await sendNoted(killed, keyOf(index))).ended({ kind: "not-created" });
      await (await sendNoted(killed, keyOf(index))).ended({ kind: "created", id: String(index) });
    }),
  );
  await killed.release();
  expect(linesIn(killed.path)).toBe(1 + 4 * CREATES);

  const next = newJournal(folder);
  const seventh = unsent(keyOf(7));
  const taken = await next.begin(seventh);
  expect(taken).toMatchObject({ kind: "taken over", record: { id: "7" } });
  if (taken.kind === "taken over") next.handOver(taken.record.mark);
  expect(linesIn(next.path)).toBe(1 + 2 * CREATES);
  for (let index = 3; index < CREATES; index++) await next.reconcile(keyOf(index), String(index), () => "f");
  await sendNoted(next, keyOf(CREATES)); // after all that is written by now
  await next.release();

  const third = newJournal(folder);
  // The seventh was passed to the engine but not seen in the state: it stays until a run ends.
  expect(await third.begin(seventh)).toMatchObject({ kind: "taken over", record: { id: "7" } });
  expect(linesIn(third.path)).toBe(1 + 2 * 4 + 1);
  expect(notesIn(third.path).map(({ key }) => key)).toEqual([0, 1, 2, 7, CREATES].map(keyOf));
});

it("equal resources of two stacks, below two parents, or of two kinds are different: each run takes over its own", async () => {
  const { sandbox, folder } = await start();
  const advertisers = [identity, `${STACK}::my:mod:One::a`, `${STACK}::my:mod:Two::a`];
  const other = "organization/shop/prod::a";
  const event = { eventName: "A", advertiserId: 1, value: 1, __identity: identity, __provider: "x" };
  const inTurn = async () => {
    const dev = runOf(sandbox, folder);
    const prod = runOf(sandbox, folder, { of: other });
    const ids: string[] = [];
    for (const one of advertisers) ids.push((await dev.advertiser.create(inputs(one))).id);
    ids.push((await dev.event.create({ ...event })).id);
    ids.push((await prod.advertiser.create(inputs(other))).id);
    await dev.kill();
    await prod.kill();
    return { ids, said: [...dev.said, ...prod.said] };
  };
  const first = await inTurn();
  expect(first).toEqual({ ids: ["1", "2", "3", "4", "5"], said: [] });
  expect(sandbox.creates).toBe(5);
  const second = await inTurn();
  expect(second.ids).toEqual(first.ids);
  expect(second.said.filter((message) => /is taken over, and nothing is sent/.test(message))).toHaveLength(5);
  expect(sandbox.creates).toBe(5);
  const journals = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  expect(journals).toHaveLength(2);
});

describe("J5: a run that began before another one of the stack ended", () => {
  const OVERTAKEN = orSaidBefore(
    /Nothing was sent.*another run of this stack has ended since this one began.*Run this again/,
  );

  it.each([
    ["while the other one was running", true],
    ["before the other one", false],
  ])("sends nothing if it began %s, because its engine may not know what that one created", async (_, isLater) => {
    const { sandbox, folder, run } = await start();
    const early = runOf(sandbox, folder);
    await early.advertiser.check({}, inputs());
    const first = isLater ? run : runOf(sandbox, folder);
    expect(await first.advertiser.create(inputs())).toMatchObject({ id: "1" });
    await sleep(5); // so that the clock's milliseconds differ
    first.closeNow();
    for (const arguments_ of [inputs(), { ...inputs(), advertiserName: "B" }, inputs(`${STACK}::b`)]) {
      const failure = await failureOf(early.advertiser.create(arguments_));
      expect(failure.id).toBeUndefined();
      expect(failure.message).toMatch(OVERTAKEN);
    }
    expect(sandbox.creates).toBe(1);
    early.closeNow();

    // A new run began after that. What the first engine saved may be lost by now, but the journal has it.
    await sleep(5);
    const again = runOf(sandbox, folder);
    expect(await again.advertiser.create(inputs())).toMatchObject({ id: "1" });
    expect(again.said.join("\n")).toContain("it is taken over, and nothing is sent");
    expect(await again.advertiser.create(inputs(`${STACK}::b`))).toMatchObject({ id: "2" });
    expect(sandbox.creates).toBe(2);
  });

  it("sends nothing if only its engine began before that, or if it waited for the other run", async () => {
    const { sandbox, folder, run } = await start();
    const beganMs = Date.now();
    await sleep(5);
    await run.advertiser.create(inputs());
    const waiting = runOf(sandbox, folder);
    const failure = failureOf(waiting.advertiser.create(inputs(`${STACK}::b`)));
    await sleep(50);
    run.closeNow();
    expect((await failure).message).toMatch(OVERTAKEN);
    const journal = newJournal(dirname(run.journal.path), { beganMs });
    const late = runOf(sandbox, folder, { journal });
    expect((await failureOf(late.advertiser.create(inputs()))).message).toMatch(OVERTAKEN);
    expect(sandbox.creates).toBe(1);
  });

  it("is not stopped by a run that created nothing, nor by an end in the future from a wrong clock", async () => {
    const { sandbox, folder, run } = await start();
    const idle = runOf(sandbox, folder);
    await idle.advertiser.check({}, inputs());
    await sleep(5);
    idle.closeNow();
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    await run.kill();
    const later = JSON.stringify({ ended: "2999-01-01T00:00:00.000Z", backend: "" });
    writeFileSync(run.journal.path.replace("jsonl", "ended"), `${later}\n`);
    expect(await runOf(sandbox, folder).advertiser.create(inputs(`${STACK}::b`))).toMatchObject({ id: "2" });
    expect(sandbox.creates).toBe(2);
  });

  it("goes on if the other run was killed, because its notes are in the journal", async () => {
    const { sandbox, folder, run } = await start();
    expect(await run.advertiser.create(inputs())).toMatchObject({ id: "1" });
    const second = runOf(sandbox, folder);
    await second.advertiser.check({}, inputs());
    await run.kill();
    expect(await second.advertiser.create(inputs())).toMatchObject({ id: "1" });
    expect(sandbox.creates).toBe(1);
  });

  it.each([true, false])(
    "puts back into the journal what its engine's older state lacks, if it is an `up`: %s",
    async (isUp) => {
      const { sandbox, folder, run } = await start();
      const behind = runOf(sandbox, folder);
      await run.advertiser.create(inputs());
      await sleep(5);
      run.closeNow();
      expect(await behind.journal.notSettled()).toEqual([]);
      behind.journal.closeNow(undefined, isUp);
      const left = await runOf(sandbox, folder).journal.notSettled();
      expect(left.map(({ id }) => id)).toEqual(isUp ? ["1"] : []);
    },
  );

  it("puts back what each of several runs created", async () => {
    const folder = newFolder();
    const clock = new FakeClock(Date.now());
    const behind = newJournal(folder, { clock });
    const keys = ["a", "b"].map((name) => `Advertiser::${STACK}::${name}`);
    for (const [index, key] of keys.entries()) {
      await clock.sleep(5);
      const run = newJournal(folder, { clock });
      const { mark, ended } = await sendNoted(run, key);
      await ended({ kind: "created", id: String(index) });
      run.handOver(mark);
      run.closeNow(new Set(keys));
    }
    await clock.sleep(5);
    await expect(sendNoted(behind, "Advertiser::x")).rejects.toThrow(OVERTAKEN);
    behind.closeNow(undefined, true);
    const left = await newJournal(folder, { clock }).notSettled();
    expect(left.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
  });

  it("updates and deletes nothing either", async () => {
    const { sandbox, folder, run } = await start(operatedSandbox());
    const behind = runOf(sandbox, folder, { settings: operatedSettings() });
    const event = { eventName: "E", advertiserId: 1, value: 1, __provider: "x", __identity: `${STACK}::e` };
    const { id, outs: olds } = await run.event.create(event);
    await sleep(5);
    run.closeNow();
    const changed = { ...event, value: 2 };
    await behind.event.check(event, event);
    await behind.event.diff(id, { ...olds }, changed);
    expect((await failureOf(behind.event.update(id, { ...olds }, changed))).message).toMatch(OVERTAKEN);
    expect((await failureOf(behind.event.delete("77", { ...olds }) as Promise<never>)).message).toMatch(OVERTAKEN);
    const sent = () => sandbox.requests.filter(({ method }) => method === "PUT" || method === "DELETE").length;
    expect(sent()).toBe(0);
    await sleep(5);
    const again = runOf(sandbox, folder, { settings: operatedSettings() });
    await again.event.check(event, event);
    await again.event.update(id, { ...olds }, changed);
    expect(sent()).toBe(1);
  });

  it("two stacks with the same name in two backends have separate objects", async () => {
    const { sandbox, folder, run } = await start();
    const notes = dirname(run.journal.path);
    const [one, other, late] = ["file:///a", "file:///b", "file:///b"].map((backend) =>
      runOf(sandbox, folder, { journal: newJournal(notes, { backend, clock: systemClock }) }),
    );
    const first = await one?.advertiser.create(inputs());
    await sleep(5);
    one?.journal.closeNow(undefined);
    const second = await other?.advertiser.create(inputs());
    expect([first?.id, second?.id]).toEqual(["1", "2"]);
    await sleep(5);
    other?.journal.closeNow(undefined);
    // In its own backend another run has ended.
    expect((await failureOf(late?.advertiser.create(inputs()) ?? Promise.reject())).message).toMatch(OVERTAKEN);
    expect(sandbox.creates).toBe(2);
  });
});
