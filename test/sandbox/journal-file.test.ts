/**
 * A run's journal over real files, beside a platform that counts what arrives: a create that can't be noted isn't sent,
 * nothing is written where it may be another's, and what can't be read stops every create.
 */
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { replacePrivate, systemDisk } from "../../provider/src/files/index.js";
import { lockPath } from "../../provider/src/journal/index.js";
import { replaceIn } from "../support/builtin.js";
import { newFolder } from "../support/folder.js";
import { stackOn } from "../support/journal.js";
import { foreignLock, takeOver } from "../support/lock.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { journalsOf } from "../support/run.js";
import {
  EventEngine,
  journalFiles,
  journalLines,
  killed,
  runProgram,
  SetEngine,
  wordsOf,
} from "../support/set-engine.js";

const E = { eventName: "E", advertiserId: 1, value: 1 };
const F = { ...E, eventName: "F" };
const PLACE = { backend: "file:///states", stack: "tiny/dev" };

async function newStack() {
  const sandbox = await operatedSandbox();
  const folder = newFolder();
  const e = new EventEngine(sandbox, folder, "e");
  const { append, pathOf } = stackOn(systemDisk, PLACE, journalsOf(folder));
  return { sandbox, folder, e, f: e.beside(EventEngine, "f"), append, pathOf };
}

const textOf = (path: string) => fs.readFileSync(path, "utf8");

describe("M5: what a kill or a lost disk leaves", () => {
  it("an unfinished last line is ignored, wherever it was cut", async () => {
    const { sandbox, folder, e } = await newStack();
    await e.upAndKill(E);
    const [path = ""] = journalFiles(folder);
    const text = fs.readFileSync(path);
    const afterSent = text.lastIndexOf("\n", text.length - 2) + 1;
    const afterHeader = text.indexOf("\n") + 1;
    for (let length = afterHeader; length <= text.length; length++) {
      fs.writeFileSync(path, text.subarray(0, length));
      const sent = length < afterSent ? [] : ["e sent"];
      expect(journalLines(folder)).toEqual(length === text.length ? ["e created 2"] : sent);
    }
    // Its id is lost.
    fs.writeFileSync(path, text.subarray(0, -1));
    expect(await e.preview(E)).toContain("Look in the account for");
    fs.writeFileSync(path, `${text}{"mark":"m","st`);
    expect(await e.preview(E)).toContain("takes it over");
    expect((await e.up(E)).error).toBeUndefined();
    expect([sandbox.eventPosts, journalFiles(folder)]).toEqual([1, []]);
  });

  const header = '{"journal":"pulumi-advertising","version":1,"stack":"s","run":"r"}\n';
  const damage = "Look in the account for objects .* remove the file:\\n {2}rm ";
  it.each<[string, (path: string) => void, string]>([
    [
      "is damaged",
      (path) => fs.writeFileSync(path, "\0\0\0\n"),
      `its first line isn't a journal's\\. ${damage}`,
    ],
    [
      "has lost a line",
      (path) => fs.writeFileSync(path, `${header}\0\0\0\n{"mark":"m","state":"sent"}\n`),
      `line 2 can't be read\\. ${damage}`,
    ],
    [
      "a later version wrote",
      (path) => fs.writeFileSync(path, header.replace("1", "2")),
      "its format \\(2\\) is too new: update pulumi-advertising\\. Run this again\\. \\(",
    ],
    [
      "is larger than any journal",
      (path) => fs.truncateSync(path, 64 * 1024 * 1024 + 1),
      "it's larger than",
    ],
    [
      "is a link",
      (path) => {
        fs.renameSync(path, `${path}.elsewhere`);
        fs.symlinkSync(`${path}.elsewhere`, path);
      },
      "it isn't a regular file .* Move it away\\.",
    ],
  ])(
    "a file that %s stops every create, is said in a preview, and stays",
    async (_, harm, words) => {
      const { sandbox, folder, e, f, append, pathOf } = await newStack();
      const path = pathOf("earlier");
      append(header, path);
      harm(path);
      const { size } = fs.lstatSync(path);
      const all = new RegExp(
        `^Nothing was sent\\. The journal ${path} can't be used: ${words}`,
        "ms",
      );
      expect(await e.preview(E)).toMatch(all);
      const run = e.newRun();
      for (const error of await runProgram(run, [
        [e, E],
        [f, F],
      ]))
        expect(error).toMatch(all);
      await run.close();
      expect([sandbox.eventPosts, fs.lstatSync(path).size]).toEqual([0, size]);
      expect(journalFiles(folder)).toEqual([path]);
      fs.rmSync(path);
      expect((await e.up(E)).error).toBeUndefined();
      expect(sandbox.eventPosts).toBe(1);
    },
  );
});

describe("M1: a create that can't be noted is not sent", () => {
  it("a disk takes half a line: with room again the same run goes on", async () => {
    const { sandbox, folder, e, f } = await newStack();
    let refused = '"state":"sent"';
    const { writeFileSync } = fs;
    replaceIn(fs, {
      writeFileSync: (file: number, text: string) => {
        if (refused === "" || !text.includes(refused)) return writeFileSync(file, text);
        refused = "";
        writeFileSync(file, text.slice(0, 5));
        throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      },
    });
    const run = e.newRun();
    const [first, second] = await runProgram(run, [
      [e, E],
      [f, F],
    ]);
    expect(first).toMatch(/^Nothing was sent\. .*ENOSPC.*Make room on the disk of /);
    expect([second, sandbox.eventPosts]).toEqual([undefined, 1]);
    expect(journalLines(folder)).toEqual(["f created 2"]);
    await run.close();
    // An id that can't be noted counts in its run all the same.
    refused = '"state":"created"';
    const { error, run: next } = await e.up(E);
    expect(error).toBeUndefined();
    expect(wordsOf(next)).toMatch(/"e" was created as 3\. The journal .*ENOSPC/);
    expect([e.state?.id, sandbox.eventPosts, journalFiles(folder)]).toEqual(["3", 2, []]);
  });

  it("where no file can be made, an `up` without creates passes", async () => {
    const { sandbox, folder, e, f } = await newStack();
    await e.up(E);
    const { openSync } = fs;
    replaceIn(fs, {
      openSync: (path: string, flags: string | number, mode?: number) => {
        if (!String(path).startsWith(journalsOf(folder)) || typeof flags === "number")
          return openSync(path, flags, mode);
        throw Object.assign(new Error(`EROFS: injected, open '${path}'`), {
          code: "EROFS",
        });
      },
    });
    const run = e.newRun({ settings: operatedSettings() });
    const [changed, created] = await runProgram(run, [
      [e, { ...E, value: 2 }],
      [f, F],
    ]);
    await run.close();
    expect(changed).toBeUndefined();
    expect(created).toMatch(/^Nothing was sent\. .*EROFS.*writable for you alone/);
    expect([sandbox.eventPosts, sandbox.events[0]?.value]).toEqual([1, 2]);
  });
});

describe("M4: a file has one run", () => {
  const TAKEN = /another run took over the lock .*\. Let that run end\./;
  const THEIRS = '{"journal":"pulumi-advertising","version":1}\n';

  /** Another machine's run takes over the lock, and writes the file anew. */
  function takeOverJournal(path: string) {
    takeOver(lockPath(path));
    fs.writeFileSync(`${path}.theirs`, THEIRS, { mode: 0o600 });
    fs.renameSync(`${path}.theirs`, path);
  }

  const MANY = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`k${at}`, { eventName: `K${at}`, value: 1 }]),
  );
  it.each<[string, (path: string) => void, RegExp, (own: string) => string[]]>([
    [
      "file was removed",
      (path) => fs.rmSync(path),
      /it was removed while this run was/,
      () => [],
    ],
    [
      "file was replaced",
      (path) => replacePrivate(path, "another", systemDisk),
      /it was removed while this run was/,
      () => ["another"],
    ],
    ["lock was taken over", (path) => takeOver(lockPath(path)), TAKEN, (own) => [own]],
    ["lock and file were taken over", takeOverJournal, TAKEN, () => [THEIRS]],
  ])(
    "a run whose %s sends nothing more, and leaves it alone",
    async (_, change, words, left) => {
      const { sandbox, folder, e, f } = await newStack();
      const run = e.newRun();
      expect(await e.apply(run, E)).toBeUndefined();
      const { path } = run.runtime.journal();
      const own = textOf(path);
      change(path);
      expect(await f.apply(run, F)).toMatch(words);
      const set = e.beside(SetEngine, "s");
      expect(await set.apply(run, { advertiserId: 1, events: MANY })).toMatch(words);
      await run.close();
      expect(sandbox.eventPosts).toBe(1);
      expect(
        journalFiles(folder)
          .filter((each) => each === path)
          .map(textOf),
      ).toEqual(left(own));
      if (words === TAKEN) expect(textOf(lockPath(path))).toBe(foreignLock);
      else expect(fs.existsSync(lockPath(path))).toBe(false);
    },
  );

  it("one that loses it while it writes a line doesn't send that create", async () => {
    const { sandbox, e } = await newStack();
    const run = e.newRun();
    let path = "";
    const { writeFileSync } = fs;
    replaceIn(fs, {
      writeFileSync: (file: number, text: string, options?: object) => {
        writeFileSync(file, text, options);
        if (path !== "" || !text.includes('"state":"sent"')) return;
        ({ path } = run.runtime.journal());
        takeOverJournal(path);
      },
    });
    expect(await e.apply(run, E)).toMatch(TAKEN);
    await run.close();
    expect(sandbox.eventPosts).toBe(0);
    expect([textOf(path), textOf(lockPath(path))]).toEqual([THEIRS, foreignLock]);
  });

  it("one that loses it before its file has its name makes none", async () => {
    const { sandbox, folder, e } = await newStack();
    const { fsyncSync } = fs;
    let lock = "";
    replaceIn(fs, {
      fsyncSync: (file: number) => {
        fsyncSync(file);
        const all = fs.existsSync(journalsOf(folder))
          ? fs.readdirSync(journalsOf(folder))
          : [];
        const [temporary] = all.filter((name) => /\.jsonl\.[^.]*\.tmp$/.test(name));
        if (lock !== "" || temporary === undefined) return;
        lock = lockPath(join(journalsOf(folder), temporary.replace(/\.[^.]*\.tmp$/, "")));
        takeOver(lock);
      },
    });
    expect((await e.up(E)).error).toMatch(TAKEN);
    expect(sandbox.eventPosts).toBe(0);
    expect([fs.readdirSync(dirname(lock)), textOf(lock)]).toEqual([
      [basename(lock)],
      foreignLock,
    ]);
  });

  it("a second run waits for one that is still ending, and takes over what that one has noted", async () => {
    const { sandbox, folder, e } = await newStack();
    const sent = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    sandbox.fail({
      on: "event",
      act: true,
      with: (answer, _request, response) => {
        sent.resolve();
        void answered.promise.then(() =>
          response.writeHead(answer.status, answer.headers).end(answer.body),
        );
        return undefined;
      },
    });
    const ending = killed(e.newRun(), [[e, E]], sent.promise);
    await sent.promise;
    // A preview waits for none.
    expect(await e.preview(E)).toContain("Look in the account for");
    const next = e.up(E);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([sandbox.eventPosts, journalLines(folder)]).toEqual([1, ["e sent"]]);
    answered.resolve();
    await ending;
    expect((await next).error).toBeUndefined();
    expect([e.state?.id, sandbox.eventPosts, journalFiles(folder)]).toEqual(["2", 1, []]);
  });
});
