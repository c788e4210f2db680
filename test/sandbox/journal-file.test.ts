/**
 * A stack's journal as a file: a create that can't be noted is not sent, nothing is written where it may be another's,
 * and what can't be read stops every create. Over the real file system.
 */
import fs from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { replacePrivate, systemDisk } from "../../provider/src/files/index.js";
import type { Journal } from "../../provider/src/journal/index.js";
import { replaceIn } from "../support/builtin.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { aCreate, DEV, stackOn } from "../support/journal.js";
import { foreignLock, takeOver } from "../support/lock.js";

const [A, B, C] = ["Advertiser::a", "Advertiser::b", "Advertiser::ü"] as const;
const stackHere = () => stackOn(systemDisk, DEV, newFolder());

/** A stack whose earlier run has left a file. */
async function started() {
  const stack = stackHere();
  await stack.up((run) => run.recordSending(aCreate(A)));
  return stack;
}

/** Nothing may be sent, and the reason says so. */
async function expectRefused(run: Journal, words: RegExp): Promise<void> {
  await expect(run.recordSending(aCreate(B))).rejects.toThrow(words);
}

describe("M5: what a kill or a lost disk leaves", () => {
  it("an unfinished last line is ignored, wherever it was cut, and taken out by the next run", async () => {
    const { path, up, words, all } = await started();
    await up(async (run) => {
      await run.recordCreated(A, "42");
      run.markReturned(A);
      await run.recordSending(aCreate(C));
    });
    const text = fs.readFileSync(path);
    expect(words()).toEqual(["a reported 42", "ü sent"]);
    for (let length = text.indexOf("\n") + 1; length < text.length; length++) {
      fs.writeFileSync(path, text.subarray(0, length));
      const whole = text.subarray(0, text.lastIndexOf("\n", length - 1) + 1).toString();
      const had = all();
      expect(had.length).toBe(
        new Set([A, C].filter((key) => whole.includes(`"key":"${key}"`))).size,
      );
      await up(() => undefined);
      expect([all(), fs.readFileSync(path, "utf8").endsWith("\n")]).toEqual([had, true]);
    }
  });

  const header = '{"journal":"pulumi-advertising","version":1,"stack":"s","backend":"b"}\n';
  it.each<[string, string, string]>([
    ["an empty file", "", "its first line isn't a journal's"],
    ["a lost beginning", "\0\0\0\n", "its first line isn't a journal's"],
    [
      "a lost line",
      `${header}\0\0\0\n{"key":"${A}","state":"sent"}\n`,
      "line 2 can't be read",
    ],
    [
      "a state that is not known",
      `${header}{"key":"${A}","state":"rumoured"}\n`,
      "line 2 can't be read",
    ],
    [
      "an id that is no text",
      `${header}{"key":"${A}","state":"created","id":5}\n`,
      "line 2 can't be read",
    ],
    ["a line without a key", `${header}{"state":"sent"}\n`, "line 2 can't be read"],
  ])(
    "%s stops every create, is said in a preview, and stays as it is",
    async (_, text, words) => {
      const { path, newRun } = await started();
      fs.writeFileSync(path, text);
      const all = new RegExp(
        `^Nothing was sent\\. The journal ${path}.*${words}.*\\n {2}rm .${path}`,
        "s",
      );
      const run = newRun();
      await run.openOnce();
      await expectRefused(run, all);
      await expect(run.recordCreated(A, "1")).rejects.toThrow(words.slice(0, 20));
      run.recordSeen({ key: A, id: "1" });
      run.closeNow([A]);
      expect(newRun().trouble?.message).toMatch(all);
      expect([fs.readFileSync(path, "utf8"), fs.readdirSync(dirname(path))]).toEqual([
        text,
        [basename(path)],
      ]);
    },
  );

  it("a later version's file is for that version: nothing says to remove it", async () => {
    const { path, newRun } = await started();
    fs.writeFileSync(path, header.replace("1", "2"));
    const run = newRun();
    await expectRefused(
      run,
      /^Nothing was sent.* format \(2\) is too new: update pulumi-advertising/,
    );
    expect(run.trouble?.message).not.toContain("rm ");
    run.closeNow([]);
    expect(fs.readFileSync(path, "utf8")).toBe(header.replace("1", "2"));
  });

  it("a file larger than any journal is not read", async () => {
    const { path, newRun } = await started();
    fs.truncateSync(path, 64 * 1024 * 1024 + 1);
    await expectRefused(newRun(), /it's larger than/);
  });
});

describe("M1: a create that can't be noted is not sent", () => {
  it("a disk takes half a line: with room again the same run goes on, in a new one", async () => {
    const { newRun, words } = await started();
    let isFull = true;
    const { writeFileSync } = fs;
    replaceIn(fs, {
      writeFileSync: (file: number, text: string) => {
        if (!isFull || !text.startsWith('{"key"')) return writeFileSync(file, text);
        writeFileSync(file, text.slice(0, 5));
        throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      },
    });
    const run = newRun();
    await expect(run.recordCreated(A, "42")).rejects.toThrow(
      /^The journal .*ENOSPC.*Make room on the disk of /,
    );
    await expectRefused(run, /^Nothing was sent.*ENOSPC/);
    isFull = false;
    await run.recordSending(aCreate(C));
    run.release();
    expect(words()).toEqual(["a sent", "ü sent"]);
  });

  it("where it can't be written, an `up` without creates passes, and knows what there is", async () => {
    const code = "EROFS";
    const { newRun, path, words } = await started();
    const { openSync } = fs;
    replaceIn(fs, {
      openSync: (target: string, flags: string | number, mode?: number) => {
        if (!String(target).startsWith(path) || typeof flags === "number")
          return openSync(target, flags, mode);
        throw Object.assign(new Error(`${code}: injected, open '${target}'`), {
          code,
          syscall: "open",
        });
      },
    });
    const run = newRun();
    await run.openOnce();
    expect(run.openAtStart).toMatchObject([{ key: A }]);
    run.recordSeen({ key: A, id: "42" });
    await expectRefused(
      run,
      new RegExp(`^Nothing was sent\\. The journal .*${code}.*Make its volume writable`),
    );
    run.closeNow([A]);
    expect(words()).toEqual(["a sent"]);
  });
});

describe("M4: one run at a time", () => {
  it("the second one waits, then sends nothing; one that is let in reads what the first has written", async () => {
    const { newRun, words, said } = await started();
    const first = newRun();
    await first.assertUsable();
    expect(said).toEqual([]);
    const clock = new FakeClock(Date.now());
    const second = newRun(30_000, clock);
    await expectRefused(second, /^Nothing was sent.*held by another run.*Let that run end/);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(30_000);
    expect(said).toEqual([
      expect.stringMatching(
        `in use by process ${process.pid} of .* waits for it, at most 25 s more`,
      ),
    ]);
    second.closeNow([]);

    const third = newRun(30_000);
    const opening = third.openOnce();
    await first.recordCreated(A, "42");
    await sleep(20);
    first.release(); // killed
    await opening;
    expect(third.of(A)).toMatchObject({ state: "created", id: "42" });
    await third.recordSending(aCreate(B));
    await expect(first.recordSending(aCreate(C))).rejects.toThrow(
      /Nothing was sent.*this run has ended/,
    );
    third.release();
    expect(words()).toEqual(["a created 42", "b sent"]);
  });

  const TAKEN = /another run took over the lock .*\. Let that run end\./;

  /** Another machine's run takes over the lock, and writes the file anew. @returns checks that both are left alone. */
  function takeOverJournal(path: string): () => void {
    takeOver(`${path}.lock`);
    const theirs = `{"journal":"pulumi-advertising","version":1}\n{"key":"${C}","state":"sent"}\n`;
    fs.writeFileSync(`${path}.theirs`, theirs, { mode: 0o600 });
    fs.renameSync(`${path}.theirs`, path);
    return () => {
      expect(fs.readFileSync(path, "utf8")).toBe(theirs);
      expect(fs.readFileSync(`${path}.lock`, "utf8")).toBe(foreignLock);
    };
  }

  it("one that has lost it to another machine sends nothing more, and writes in neither file", async () => {
    const { newRun, path } = await started();
    const run = newRun();
    await run.recordCreated(A, "42");
    run.markReturned(A);
    fs.linkSync(path, `${path}.had`);
    const before = fs.readFileSync(path, "utf8");
    const expectLeftAlone = takeOverJournal(path);
    const many = Array.from({ length: 20 }, (_, index) =>
      run.recordSending(aCreate(`Advertiser::${index}`)),
    );
    for (const each of await Promise.allSettled(many))
      expect(each).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringMatching(TAKEN) },
      });
    await expect(run.recordCreated(A, "43")).rejects.toThrow(TAKEN);
    await expect(run.recordNotCarriedOut(B)).rejects.toThrow(TAKEN);
    run.closeNow([]);
    expect(fs.readFileSync(`${path}.had`, "utf8")).toBe(before);
    expectLeftAlone();
  });

  it("one that loses it while it writes a line", async () => {
    const { newRun, path } = await started();
    let expectLeftAlone: (() => void) | undefined;
    const { writeFileSync } = fs;
    replaceIn(fs, {
      writeFileSync: (file: number, text: string) => {
        writeFileSync(file, text);
        if (text.includes(B)) expectLeftAlone ??= takeOverJournal(path);
      },
    });
    const run = newRun();
    await expectRefused(run, TAKEN);
    run.closeNow([]);
    expect(expectLeftAlone).toBeDefined();
    expectLeftAlone?.();
  });

  it("one that loses it before it puts its file anew in its place", async () => {
    const { newRun, path, append } = await started();
    append("unfinished"); // so that it is written anew
    const { fsyncSync } = fs;
    let expectLeftAlone: (() => void) | undefined;
    replaceIn(fs, {
      fsyncSync: (file: number) => {
        fsyncSync(file);
        const isAnew = fs
          .readdirSync(dirname(path))
          .some((name) => /\.jsonl\.[^.]*\.tmp$/.test(name));
        if (isAnew) expectLeftAlone ??= takeOverJournal(path);
      },
    });
    const run = newRun();
    await expectRefused(run, TAKEN);
    run.closeNow([]);
    expect(expectLeftAlone).toBeDefined();
    expectLeftAlone?.();
  });

  it.each<[string, (path: string) => void]>([
    ["removed", (path) => fs.rmSync(path)],
    ["replaced", (path) => replacePrivate(path, "another", systemDisk, () => undefined)],
  ])("one whose file is %s sends nothing more, and makes none", async (_, change) => {
    const { newRun, path } = await started();
    const run = newRun();
    await run.recordCreated(A, "42");
    run.markReturned(A);
    change(path);
    const left = fs.readdirSync(dirname(path));
    await expectRefused(
      run,
      /it was removed while this run was using it, and nothing more is sent/,
    );
    run.closeNow([]);
    expect(fs.readdirSync(dirname(path))).toEqual(
      left.filter((each) => !each.endsWith(".lock")),
    );
    if (left.includes(basename(path)))
      expect(fs.readFileSync(path, "utf8")).toBe("another");
  });
});

describe("what is left of it", () => {
  it("what killed runs left beside it is removed, once nobody can need it", async () => {
    const { path, up } = await started();
    const [old, young] = [`${path}.one.tmp`, `${path}.two.tmp`];
    for (const each of [old, young]) fs.writeFileSync(each, "half");
    fs.utimesSync(old, 0, 0);
    await up(() => undefined);
    expect(fs.readdirSync(dirname(path)).sort()).toEqual(
      [path, young].map((each) => basename(each)),
    );
  });

  it("it does not grow: of 300 creates that were sent several times one line each is left", async () => {
    const { path, up, words } = stackHere();
    const keys = Array.from({ length: 300 }, (_, index) => `Advertiser::${index}`);
    const linesIn = () => fs.readFileSync(path, "utf8").trim().split("\n").length;
    await up(async (run) => {
      for (let times = 0; times < 6; times++)
        await Promise.all(keys.map((key) => run.recordSending(aCreate(key))));
    });
    expect(linesIn()).toBe(1 + 1800);
    await up((run) => run.recordNotCarriedOut(keys[0] ?? ""));
    expect(linesIn()).toBe(1 + 300 + 1);
    expect(words()).toHaveLength(300);
  });
});
