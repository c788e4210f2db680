/** A file that can't be used: what is in its way, and the cure that works there, before anything is written too. */
import fs, {
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  cacheFolder,
  cureFor,
  expectWritable,
  readPrivate,
  stateFolder,
  systemDisk,
  UnusableFile,
} from "../../provider/src/files/index.js";
import { replaceIn } from "../support/builtin.js";
import { newFolder } from "../support/folder.js";
import { aCreate, DEV, stackOn } from "../support/journal.js";

const uid = process.getuid?.() ?? 0;
const refused = (code: string) =>
  Object.assign(new Error(`${code}: refused`), { code, syscall: "open" });

/** What comes of reading a file, with the cure. */
function troubleOf(path: string): string {
  try {
    readPrivate(path);
  } catch (error) {
    return `${(error as Error).message}. ${cureFor(error, path)}`;
  }
  return expect.fail("it could be read");
}

function newFile(mode = 0o600): string {
  const path = join(newFolder(), "a.json");
  writeFileSync(path, "{}", { mode });
  chmodSync(path, mode);
  return path;
}

/** The folders of all files that no setting places. */
const FOLDERS = [
  { folder: cacheFolder(), variable: "XDG_CACHE_HOME" },
  { folder: stateFolder(), variable: "XDG_STATE_HOME" },
];
const cureOf = (what: string) => `Make ${what} yours, and writable for you alone`;
const yours = (path: string) => cureOf(`${path} and its folder`);

describe("a cure for each reason", () => {
  it.each([
    ["ENOSPC", "/m", "Make room on the disk of /m"],
    ["EDQUOT", "/m", "Make room on the disk of /m"],
    ["EACCES", "/m", yours("/m")],
    ["EPERM", "/m", yours("/m")],
    ["EROFS", "/m", yours("/m")],
    ["EIO", "/m", undefined],
    ["ENOTDIR", "/m", undefined],
  ])("%s of %s", (code, path, cure) => {
    expect(cureFor(refused(code), path)).toBe(cure);
  });

  it.skipIf(process.platform !== "linux").each(FOLDERS)(
    "below $folder: another place too, which need not exist yet",
    ({ folder, variable }) => {
      const path = join(folder, "x");
      for (const code of ["EACCES", "EROFS"])
        expect(cureFor(refused(code), path)).toBe(
          `${yours(path)}; or copy '${folder}', if it exists, into another folder of yours, and set ${variable} to that folder`,
        );
    },
  );
});

describe("modes", () => {
  it("a folder for all", () => {
    const path = newFile();
    chmodSync(dirname(path), 0o777);
    expect(troubleOf(path)).toBe(
      `other users can write to its folder (mode 777). ${cureOf(dirname(path))}`,
    );
  });

  it.skipIf(process.platform !== "linux")(
    "the same of the cache folder: another place",
    () => {
      const home = newFolder();
      vi.stubEnv("XDG_CACHE_HOME", home);
      onTestFinished(() => void vi.unstubAllEnvs());
      const path = join(cacheFolder(), "a.json");
      mkdirSync(dirname(path));
      chmodSync(dirname(path), 0o777);
      expect(troubleOf(path)).toContain(
        `; or copy '${cacheFolder()}', if it exists, into another folder of yours, and set XDG_CACHE_HOME to that folder`,
      );
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "another user's file (needs root to make one)",
    () => {
      const path = newFile();
      chownSync(path, 12_345, 12_345);
      expect(troubleOf(path)).toBe(
        `it belongs to the user 12345, and you are ${uid}. ${yours(path)}`,
      );
      expect(cureFor(new UnusableFile("x", "Mount it"), path)).toBe("Mount it");
    },
  );
});

describe("before anything is written", () => {
  it("a folder that is still missing, and one that is there, leave no trace", () => {
    const folder = newFolder();
    const path = join(folder, "a", "b", "c.json");
    expectWritable(path, systemDisk);
    expect(existsSync(join(folder, "a"))).toBe(false);
    mkdirSync(dirname(path), { recursive: true });
    const before = statSync(dirname(path)).mtimeMs;
    expectWritable(path, systemDisk);
    expect(statSync(dirname(path)).mtimeMs).toBe(before);
  });

  it("on a read-only volume, of which mkdir says ENOENT, the `up` names the reason", async () => {
    const run = stackOn(systemDisk, DEV, join(newFolder(), "missing", "stacks")).newRun();
    const failing = (code: string) => () => {
      throw refused(code);
    };
    replaceIn(fs, { mkdirSync: failing("ENOENT"), accessSync: failing("EROFS") });
    await expect(run.recordSending(aCreate("Advertiser::a"))).rejects.toThrow(
      /EROFS: refused\. Make .* writable for you alone\./,
    );
  });

  it("a preview tells of a folder that the `up` can't write to", async () => {
    const folder = newFolder();
    const asked: unknown[] = [];
    const accessSync = (path: string, mode: number) => {
      asked.push([path, mode]);
      throw refused("EACCES");
    };
    const run = stackOn(systemDisk, DEV, join(folder, "missing", "stacks")).newRun();
    replaceIn(fs, { accessSync });
    expect(run.trouble?.message).toMatch(
      /^Nothing was sent\. The journal .*EACCES: refused\. Make .* writable for you alone/,
    );
    expect(asked).toEqual([[folder, constants.W_OK | constants.X_OK]]);
    expect(existsSync(join(folder, "missing"))).toBe(false);
    await expect(run.recordSending(aCreate("Advertiser::a"))).rejects.toThrow("EACCES");
  });
});
