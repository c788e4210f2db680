/**
 * A world's disk: a real one with all calls carried out synchronously, also those that return promises. A busy machine's thread pool ends
 * calls in a different order from a quiet one's, and a life must replay exactly. A process can be killed at each change of a file, and
 * changes nothing after that.
 */
import fs from "node:fs";
import type { Disk, OpenFile } from "../../../provider/src/files/disk.js";
import { processNow } from "./wire.js";

/** Kills the calling process before or after the change, if it is to die there. @throws Error if it is dead. */
function changes<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    const asking = processNow();
    asking?.meets("write");
    const result = work(...args);
    asking?.meets("written");
    return result;
  };
}

const writes = (flags: string | number) =>
  typeof flags === "string" ? flags !== "r" : (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0;

function openToRead(path: string, flags: string | number): number {
  if (processNow()?.isDead) throw new Error("killed");
  return fs.openSync(path, flags);
}

export const diskNow: Disk = {
  ...fs,
  openSync: (path, flags, mode) => (writes(flags) ? changes(fs.openSync)(path, flags, mode) : openToRead(path, flags)),
  writeFileSync: changes(fs.writeFileSync),
  fsyncSync: changes(fs.fsyncSync),
  linkSync: changes(fs.linkSync),
  renameSync: changes(fs.renameSync),
  rmSync: changes(fs.rmSync),
  promises: {
    open: async (path, flags, mode) => openFile(diskNow.openSync(path, flags, mode)),
    rename: async (from, to) => diskNow.renameSync(from, to),
    unlink: changes(async (path) => fs.unlinkSync(path)),
    mkdir: async (path, options) => fs.mkdirSync(path, options),
    stat: async (path) => fs.statSync(path),
    lstat: async (path) => fs.lstatSync(path),
    chmod: async (path, mode) => fs.chmodSync(path, mode),
    utimes: async (path, accessed, modified) => fs.utimesSync(path, accessed, modified),
    readdir: async (path) => fs.readdirSync(path),
  },
};

function openFile(fd: number): OpenFile {
  return {
    fd,
    readFile: async () => fs.readFileSync(fd),
    writeFile: async (text) => diskNow.writeFileSync(fd, text),
    appendFile: changes(async (text) => fs.appendFileSync(fd, text)),
    truncate: changes(async (bytes) => fs.ftruncateSync(fd, bytes)),
    datasync: async () => diskNow.fsyncSync(fd),
    stat: async () => fs.fstatSync(fd),
    chmod: async (mode) => fs.fchmodSync(fd, mode),
    close: async () => fs.closeSync(fd),
  };
}
