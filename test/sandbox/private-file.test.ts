/** Row 53: which folders a private file may be in. */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import envPaths from "env-paths";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  makePrivateFolder,
  readPrivate,
  replacePrivate,
  UntrustedFile,
} from "../../provider/src/files/private-file.js";
import { TestClient } from "../support/client.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";

const modeOf = (path: string) => statSync(path).mode & 0o7777;

function folderOf(mode = 0o700): string {
  const folder = newFolder();
  chmodSync(folder, mode);
  return folder;
}

describe.skipIf(process.platform === "win32")("row 53: the folder of a private file", () => {
  it("is not used if everybody may write, with one message, and the run goes on", async () => {
    const folder = folderOf(0o777);
    const sandbox = await useSandbox();
    const client = new TestClient(sandbox.url, { cookieFile: join(folder, "session.json") });
    for (const name of ["A", "B"]) expect(await client.create(name)).toMatchObject({ kind: "created" });
    expect({ logins: sandbox.logins, creates: sandbox.creates }).toEqual({ logins: 1, creates: 2 });
    expect(client.said).toEqual([
      `The cookie file ${join(folder, "session.json")} is not used: other users can write to its folder (to fix that: ` +
        `chmod go-w '${folder}'). This run keeps its session in memory.`,
    ]);
    expect(existsSync(join(folder, "session.json"))).toBe(false);
    expect(modeOf(folder)).toBe(0o777); // the user's own folder is left as it is
  });

  it("is not used if it became writable after the file was written", async () => {
    const folder = folderOf();
    const file = join(folder, "session.json");
    await replacePrivate(file, "text", "a");
    chmodSync(folder, 0o777);
    await expect(readPrivate(file, 100)).rejects.toThrow(UntrustedFile);
    await expect(replacePrivate(file, "other", "b")).rejects.toThrow(UntrustedFile);
    await expect(makePrivateFolder(folder)).rejects.toThrow(UntrustedFile);
    expect(readFileSync(file, "utf8")).toBe("text");
  });

  it.skipIf(process.getuid?.() !== 0).each([0o777, 0o1777, 0o770, 0o702])(
    "is not used if it is another user's, with mode %o (needs root to make one)",
    async (mode) => {
      const folder = folderOf(mode);
      chownSync(folder, 12_345, 12_345);
      await expect(replacePrivate(join(folder, "session.json"), "text", "a")).rejects.toThrow(UntrustedFile);
      expect(modeOf(folder)).toBe(mode);
    },
  );

  it.skipIf(process.getuid?.() !== 0)("is not used if another group may write (needs root to make one)", async () => {
    const folder = folderOf(0o770);
    chownSync(folder, 0, 12_345);
    await expect(replacePrivate(join(folder, "session.json"), "text", "a")).rejects.toThrow(UntrustedFile);
  });

  it("is used if it is sticky, as /tmp", async () => {
    const file = join(folderOf(0o1777), "session.json");
    await replacePrivate(file, "text", "a");
    expect((await readPrivate(file, 100))?.toString()).toBe("text");
  });

  it.each(["", "below", "below/deeper"])("gets private permissions below the user's cache: '%s'", async (below) => {
    vi.stubEnv("XDG_CACHE_HOME", folderOf());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { cache } = envPaths("pulumi-advertising", { suffix: "" });
    const folder = join(cache, below);
    mkdirSync(folder, { recursive: true });
    for (const made of new Set([cache, folder])) chmodSync(made, 0o777);
    await replacePrivate(join(folder, "session.json"), "text", "a");
    for (const made of new Set([cache, folder])) expect([made, modeOf(made)]).toEqual([made, 0o700]);
  });

  it("keeps its permissions if a link in the cache leads to it", async () => {
    const target = folderOf(0o777);
    vi.stubEnv("XDG_CACHE_HOME", folderOf());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { cache } = envPaths("pulumi-advertising", { suffix: "" });
    symlinkSync(target, cache);
    await expect(replacePrivate(join(cache, "session.json"), "text", "a")).rejects.toThrow(UntrustedFile);
    expect(modeOf(target)).toBe(0o777);
  });
});
