import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../provider/src/base/clock.js";
import { AppendFile } from "../../provider/src/files/disk.js";
import { fingerprintOf } from "../../provider/src/kinds/kind.js";
import {
  currentKey,
  identityText,
  journalKeyOf,
  parseIdentity,
  stackOf,
  urnOf,
} from "../../provider/src/state/identity.js";
import { Journal } from "../../provider/src/store/journal.js";
import { JournalDamaged, journalOf, readJournal } from "../../provider/src/store/notes.js";
import { newFolder } from "../support/folder.js";
import { sendNoted, unsent } from "../support/journal.js";

/** A journal as version 0.1.0 wrote it: a contract with the past. */
const journal = [
  '{"journal":"pulumi-advertising","version":1}',
  '{"note":"sent","mark":"m1","key":"Advertiser::o/p/s::a","fingerprint":"f1","at":"2026-11-21T09:28:31.735Z"}',
  '{"note":"created","mark":"m1","id":"1"}',
  '{"note":"sent","mark":"m2","key":"ConversionEvent::o/p/s::e","fingerprint":"f2","at":"2026-11-21T09:28:32.735Z"}',
  '{"note":"sent","mark":"m3","key":"ConversionEvent::o/p/s::f","fingerprint":"f3","at":"2026-11-21T09:28:33.735Z"}',
  '{"note":"reported","mark":"m2"}',
  '{"note":"settled","mark":"m3"}',
  "",
].join("\n");

describe("a journal", () => {
  it("gives the creates that are not settled", () => {
    expect(readJournal(journal)).toEqual([
      { mark: "m1", key: "Advertiser::o/p/s::a", fingerprint: "f1", at: "2026-11-21T09:28:31.735Z", id: "1" },
      {
        mark: "m2",
        key: "ConversionEvent::o/p/s::e",
        fingerprint: "f2",
        at: "2026-11-21T09:28:32.735Z",
        isReported: true,
      },
    ]);
  });

  it("reads the same after it is rewritten", () => {
    const remembered = readJournal(journal);
    const anew = journalOf(remembered);
    expect(anew.split("\n")[0]).toBe(journal.split("\n")[0]);
    expect(readJournal(anew)).toEqual(remembered);
  });

  it("J6: ignores an unfinished last line, wherever the kill cut it", () => {
    for (let length = 1; length < journal.length; length++)
      expect(() => readJournal(journal.slice(0, length))).not.toThrow();
  });

  it.each<[string, string]>([
    ["another file", "hello\n"],
    ["a damaged line", journal.replace('"mark":"m2","key"', '"mark:"m2","key"')],
    ["an unknown note", journal.replace('"reported"', '"rumoured"')],
    ["a later version", journal.replace('"version":1', '"version":2')],
    ["lines of zeros, as a lost disk write leaves them", `${journal}\u0000\u0000\u0000\n`],
    ["nothing but zeros", "\u0000\u0000\u0000"],
    ["an empty file, because a new journal gets its name only with its first line", ""],
  ])("J6: is never silently ignored if it is damaged: %s", (_, text) => {
    expect(() => readJournal(text)).toThrow(JournalDamaged);
  });
});

it("a fingerprint does not depend on the order of fields", () => {
  expect(fingerprintOf({ a: 1, b: { c: [1, 2], d: 3 } })).toBe(fingerprintOf({ b: { d: 3, c: [1, 2] }, a: 1 }));
  expect(fingerprintOf({ a: 1 })).not.toBe(fingerprintOf({ a: 2 }));
  expect(fingerprintOf({ a: 1 })).toMatch(/^[0-9a-f]{32}$/);
});

it.each([
  ["p/s::e", "e", "urn:pulumi:s::p::my:index:Type::e"],
  ["p/s@o::a:b:C$::e", "e", "urn:pulumi:s::p::a:b:C$my:index:Type::e"],
  ["p/s::my:C$::e", "e", "urn:pulumi:s::p::my:C$my:index:Type::e"],
  ["p/s::my:C$d:e:F$::e::f", "e::f", "urn:pulumi:s::p::my:C$d:e:F$my:index:Type::e::f"],
  ["p/s::a:b:C::e", "a:b:C::e", "urn:pulumi:s::p::my:index:Type::a:b:C::e"],
  ["p/s::$::a$::e", "a$::e", "urn:pulumi:s::p::my:index:Type::a$::e"],
  ["o/p/s::e", "e", "urn:pulumi:s::p::my:index:Type::e"],
  ["o/p/s::a:b:C::e", "e", "urn:pulumi:s::p::a:b:C$my:index:Type::e"],
  ["o/p/s::a:b:C$d:e:F::e::f", "e::f", "urn:pulumi:s::p::a:b:C$d:e:F$my:index:Type::e::f"],
  ["o/p/s::e::f", "e::f", "urn:pulumi:s::p::my:index:Type::e::f"],
])("the identity %s is named %s", (identity, name, urn) => {
  expect(parseIdentity(identity).name).toBe(name);
  expect(urnOf(identity, "my:index:Type")).toBe(urn);
  expect(parseIdentity(identityText(parseIdentity(identity)))).toEqual(parseIdentity(identity));
});

it("both forms of an identity are one key of the journal", () => {
  const key = "Advertiser::organization/p/s::a:b:C$::e";
  expect(journalKeyOf("Advertiser", "p/s::a:b:C$::e")).toBe(key);
  expect(journalKeyOf("Advertiser", "organization/p/s::a:b:C::e")).toBe(key);
  expect(currentKey("Advertiser::organization/p/s::a:b:C::e")).toBe(key);
  expect(currentKey(key)).toBe(key);
  expect(stackOf("p/s@acme::e")).toBe("acme/p/s");
});

function journalIn(text: string, folder = newFolder(), savedLast = false) {
  const made = new Journal({
    folder,
    stack: "o/p/s",
    clock: systemClock,
    newMark: randomUUID,
    maxWaitMs: 0,
    savedLast,
  });
  if (text !== "") writeFileSync(made.path, text, { mode: 0o600 });
  /** The next run of the same stack. */
  return Object.assign(made, { next: () => journalIn("", folder), marks: () => marksIn(made.path) });
}

function marksIn(path: string) {
  return readJournal(readFileSync(path, "utf8")).map(({ mark }) => mark);
}

describe("J2: a create that is in the state is forgotten, also by a run that creates nothing", () => {
  it.each([
    ["with its id", "Advertiser::o/p/s::a", "1", ["m2"]],
    ["under another id", "Advertiser::o/p/s::a", "7", ["m1", "m2"]],
    ["as unresolved, which settles nothing", "ConversionEvent::o/p/s::e", "unresolved-m2", ["m1", "m2"]],
  ])("%s", async (_, key, id, left) => {
    const run = journalIn(journal);
    await run.reconcile(key, id, () => "another body");
    run.closeNow(new Set());
    expect(run.marks()).toEqual(left);
  });

  it("the file is removed with its last note", async () => {
    const run = journalIn(journal);
    await run.reconcile("Advertiser::o/p/s::a", "1", () => "");
    await run.reconcile("ConversionEvent::o/p/s::e", "8", () => "f2");
    run.closeNow(new Set());
    expect(existsSync(run.path)).toBe(false);
    expect(existsSync(`${run.path}.lock`)).toBe(false);
  });
});

describe("a create whose resource has another id in the state is reported", () => {
  it("and stays in the journal if the platform's answer was noted", async () => {
    const run = journalIn(journal);
    const reported = await run.reconcile("Advertiser::o/p/s::a", "7", () => "f1");
    expect(reported).toMatchObject([{ record: { mark: "m1", id: "1" }, isForgotten: false }]);
    run.closeNow(new Set());
    expect(run.marks()).toContain("m1");
  });

  it.each([
    ["and is forgotten if the bodies are the same, because it most likely made that object", "f2", true],
    ["and stays if they are not", "another", false],
  ])("%s", async (_, fingerprint, isForgotten) => {
    const run = journalIn(journal);
    const reported = await run.reconcile("ConversionEvent::o/p/s::e", "7", () => fingerprint);
    expect(reported).toMatchObject([{ record: { mark: "m2" }, isForgotten }]);
    run.closeNow(new Set());
    expect(run.marks().includes("m2")).toBe(!isForgotten);
  });
});

it("J2: a replacement with the same body (`up --replace`) stays while the state has the object that it was to replace", async () => {
  const run = journalIn("");
  const create = { ...unsent("ConversionEvent::o/p/s::e", "f"), replaces: "7" };
  const begun = await run.begin(create);
  if (begun.kind === "send") await begun.sending("2026-01-01T00:00:00Z");
  run.closeNow(new Set([create.key]));
  const next = run.next();
  const reported = await next.reconcile(create.key, "7", () => "f");
  expect(reported).toMatchObject([{ record: { mark: create.mark, replaces: "7" }, isForgotten: false }]);
  next.closeNow(new Set([create.key]));
  expect(next.marks()).toEqual([create.mark]);
  // The object that took its place may well be this create's.
  const later = run.next();
  expect(await later.reconcile(create.key, "8", () => "f")).toMatchObject([{ isForgotten: true }]);
  later.closeNow(new Set([create.key]));
  expect(existsSync(run.path)).toBe(false);
});

describe("J7: a create that was not yet passed to the engine", () => {
  const create = unsent("ConversionEvent::o/p/s::new");
  const createIn = async (run: Journal) => {
    const begun = await run.begin(create);
    if (begun.kind !== "send") throw new Error(begun.kind);
    await begun.sending("2026-01-01T00:00:00Z");
    await begun.ended({ kind: "created", id: "9" });
    return create.mark;
  };

  it("stays when a run ends cleanly, as of a set that was cut short", async () => {
    const run = journalIn("");
    const mark = await createIn(run);
    run.closeNow(new Set([create.key]));
    expect(await run.next().begin(create)).toMatchObject({ kind: "taken over", record: { id: "9", mark } });
  });

  it("is not sent when the engine asks again, and is forgotten once it was passed on", async () => {
    const run = journalIn("");
    const mark = await createIn(run);
    expect(await run.begin(create)).toMatchObject({ kind: "taken over", record: { id: "9", mark } });
    run.handOver(mark);
    run.closeNow(new Set([create.key]));
    expect(existsSync(run.path)).toBe(false);
  });
});

describe("a create that the program no longer declares", () => {
  const E = "ConversionEvent::o/p/s::e";
  const unclaimed = async (run: Journal) => (await run.notSettled()).filter((entry) => entry.unclaimed);

  it("is marked by a run that ends cleanly, and listed by the next one", async () => {
    const run = journalIn(journal);
    expect(await unclaimed(run)).toEqual([]);
    run.closeNow(new Set([E]));
    const next = run.next();
    expect(await unclaimed(next)).toMatchObject([{ mark: "m1", id: "1" }]);
    const taken = await next.begin(unsent("Advertiser::o/p/s::a", "f1"));
    expect(taken).toMatchObject({ kind: "taken over", record: { id: "1", mark: "m1" } });
    next.handOver("m1");
    next.closeNow(new Set([E]));
    expect(next.marks()).toEqual(["m2"]);
  });

  it("is not marked by a run that did not get that far; a run never marks its own creates", async () => {
    const run = journalIn(journal);
    await run.notSettled();
    run.closeNow(undefined);
    const next = run.next();
    const { mark } = await sendNoted(next, "k");
    next.closeNow(new Set(["k"]));
    expect((await unclaimed(next.next())).map((entry) => entry.mark)).toEqual(["m1", "m2"]);
    expect(next.marks()).toEqual(["m1", "m2", mark]);
  });

  it("is marked by a run that creates too, but not by one that did not read the journal", async () => {
    const idle = journalIn(journal);
    idle.closeNow(new Set());
    const run = idle.next();
    expect(await unclaimed(run)).toEqual([]);
    await (await sendNoted(run, "ConversionEvent::o/p/s::g")).ended({ kind: "not-created" });
    run.closeNow(new Set());
    expect(await unclaimed(run.next())).toMatchObject([{ mark: "m1" }, { mark: "m2" }]);
  });
});

it("J3: an unresolved create is not sent when it is asked for again, in the same run or a later one", async () => {
  const run = journalIn("");
  const attempt = await sendNoted(run, "k");
  await attempt.ended({ kind: "unresolved" });
  const asked = unsent("k");
  const doubt = { kind: "earlier", record: { mark: attempt.mark, isReported: true } };
  expect(await run.begin(asked)).toMatchObject(doubt);
  expect(await run.begin(asked)).toMatchObject(doubt);
  run.closeNow(new Set());
  const next = run.next();
  expect(await next.begin(asked)).toMatchObject(doubt);
  await next.settle(({ key }) => key === "k");
  next.closeNow(new Set());
  expect(existsSync(run.path)).toBe(false);
});

it("J1: a create that is sent again, as after a rate limit, is noted with the moment of the last sending", async () => {
  const run = journalIn("");
  const attempt = await sendNoted(run, "k");
  await attempt.sending("2026-01-01T00:09:00Z");
  expect(readJournal(readFileSync(run.path, "utf8"))).toMatchObject([
    { mark: attempt.mark, at: "2026-01-01T00:09:00Z" },
  ]);
  await attempt.ended({ kind: "created", id: "9" });
  expect(run.marks()).toEqual([attempt.mark]);
});

it("J7: with checkpoints off, a create stays until a run sees it in the state", async () => {
  const run = journalIn("", newFolder(), true);
  const attempt = await sendNoted(run, "Advertiser::o/p/s::a");
  await attempt.ended({ kind: "created", id: "9" });
  run.handOver(attempt.mark);
  run.closeNow(new Set());
  expect(run.marks()).toEqual([attempt.mark]);
  const next = run.next();
  await next.reconcile("Advertiser::o/p/s::a", "9", () => "");
  next.closeNow(new Set());
  expect(existsSync(run.path)).toBe(false);
});

it("J7: with checkpoints off, a create is forgotten once an `up` has said that its object leaves the state; a preview forgets none", async () => {
  const run = journalIn("", newFolder(), true);
  const keys = ["ConversionEvent::o/p/s::a", 'ConversionEventSet::o/p/s::s["x"]'] as const;
  for (const key of keys) {
    const attempt = await sendNoted(run, key);
    await attempt.ended({ kind: "created", id: "9" });
    run.handOver(attempt.mark);
  }
  run.closeNow(new Set(keys));
  const [, ofSet] = run.marks();
  /** Ends a later run that declares the set without its member. */
  const end = async (isUp: boolean, isSaid: boolean, next = run.next()) => {
    await next.notSettled();
    next.closeNow(new Set(["ConversionEventSet::o/p/s::s"]), isUp, () => isSaid);
    return readJournal(readFileSync(run.path, "utf8")).map(({ key, unclaimed }) => [key, unclaimed]);
  };
  expect(await end(false, true)).toEqual([
    [keys[0], undefined],
    [keys[1], true],
  ]);
  // Nothing said that these leave the state: their objects may be known nowhere else.
  expect(await end(true, false)).toEqual(keys.map((key) => [key, true]));
  expect(await end(true, true)).toEqual([[keys[1], true]]);
  expect(run.marks()).toEqual([ofSet]);
});

it("J8: a record that was returned is never changed", async () => {
  const run = journalIn(journal);
  const [first] = await run.notSettled();
  const before = structuredClone(first);
  const begun = await run.begin(unsent("Advertiser::o/p/s::a", "other"));
  if (begun.kind !== "earlier") throw new Error(begun.kind);
  const answered = structuredClone(begun.record);
  await begun.ended({ kind: "created", id: "2" });
  expect(first).toEqual(before);
  expect(begun.record).toEqual(answered);
});

it("settling some creates leaves the others", async () => {
  const run = journalIn(journal);
  expect(await run.settle(({ mark }) => mark === "m2")).toMatchObject([{ mark: "m2" }]);
  run.closeNow(new Set());
  expect(run.marks()).toEqual(["m1"]);
});

it("of one resource's creates those of unknown outcome come first, then the latest with an id", async () => {
  const at = "2026-01-01T00:00:00Z";
  const record = (mark: string, id?: string) => ({ ...unsent("k", "f", mark), at, ...(id && { id }) });
  const run = journalIn(journalOf([record("m1", "1"), record("m2"), record("m3", "3"), record("m4")]));
  expect((await run.notSettledOf("k")).map(({ mark }) => mark)).toEqual(["m2", "m4", "m3", "m1"]);
  expect(await run.begin(unsent("k"))).toMatchObject({ kind: "earlier", record: { mark: "m2" } });
});

it("half a line that a full disk accepted is removed", async () => {
  const folder = newFolder();
  const path = join(folder, "file");
  const handle = await open(path, "a");
  onTestFinished(() => handle.close());
  let full = false;
  const disk = new Proxy(handle, {
    get: (real, name: keyof FileHandle) =>
      name === "appendFile" && full
        ? async (text: string) => {
            await real.appendFile(text.slice(0, 3));
            throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
          }
        : (real[name] as (...args: unknown[]) => unknown).bind(real),
  });
  const file = new AppendFile(disk, 0);
  await file.append("first\n");
  full = true;
  await expect(file.append("second\n")).rejects.toThrow("no space left");
  full = false;
  await file.append("third\n");
  expect(readFileSync(path, "utf8")).toBe("first\nthird\n");
});
