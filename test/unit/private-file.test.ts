/** Private files are never opened through a link. */
import fs, { constants, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  appendPrivate,
  type Disk,
  openUnlinked,
  readPrivate,
  systemDisk,
} from "../../provider/src/files/index.js";
import { newFolder } from "../support/folder.js";

/** Like Windows, which has no O_NOFOLLOW. */
const following = Object.assign(Object.create(fs), {
  openSync: (path: string, flags: number, mode?: number) =>
    fs.openSync(path, flags & ~constants.O_NOFOLLOW, mode),
}) as Disk;

describe.each([
  ["the system's disk", systemDisk],
  ["a system without O_NOFOLLOW", following],
])("%s", (_, disk) => {
  it("a link is refused for reading, writing and adding, and what it names stays as it is", () => {
    const folder = newFolder();
    const target = join(folder, "target");
    writeFileSync(target, "as it was", { mode: 0o600 });
    for (const [name, path] of Object.entries({ there: target, dangling: `${target}-2` })) {
      const link = join(folder, name);
      symlinkSync(path, link);
      expect(() => readPrivate(link, disk)).toThrow("links aren't followed");
      expect(() => appendPrivate(link, "more", disk)).toThrow("links aren't followed");
      const flags = constants.O_WRONLY | constants.O_APPEND;
      expect(() => openUnlinked(link, flags, disk)).toThrow("links aren't followed");
    }
    expect(readFileSync(target, "utf8")).toBe("as it was");
    expect(fs.existsSync(`${target}-2`)).toBe(false);
  });

  it("a file is created for its owner alone, and added to", () => {
    const path = join(newFolder(), "log");
    for (const text of ["a", "b"]) appendPrivate(path, text, disk);
    expect(readPrivate(path, disk)).toBe("ab");
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  });
});
