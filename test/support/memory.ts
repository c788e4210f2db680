/**
 * Where tests write: in memory, if there's room. On a disk, npm's thousands of files cost the tests of packages a tenth
 * more CPU, and each forced write of a journal is waited for.
 */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from "node:fs";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");
const MEMORY = "/dev/shm";
/** Several times what a run writes there at once. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** The environment that makes tests write there; empty if there's no such place. Removed when this process ends. */
export function inMemory(): Readonly<Record<string, string>> {
  if (!hasRoom()) return {};
  const folder = mkdtempSync(join(MEMORY, "advertising-tests-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const TMPDIR = join(folder, "tmp");
  const programs = join(folder, "programs");
  const WORK_FOLDER = join(programs, ".pulumi-local", "test");
  for (const each of [TMPDIR, WORK_FOLDER]) mkdirSync(each, { recursive: true });
  // So that programs find the workspace's package as if it was installed.
  symlinkSync(join(repository, "node_modules"), join(programs, "node_modules"));
  return { TMPDIR, WORK_FOLDER };
}

/** Linux only, and programs have to be allowed to run from there. */
function hasRoom(): boolean {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const mount = mounts.find((line) => line.includes(` ${MEMORY} tmpfs `)) ?? "noexec";
    const { bavail, bsize } = statfsSync(MEMORY);
    return !mount.includes("noexec") && bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}
