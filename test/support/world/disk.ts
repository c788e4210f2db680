/**
 * A world's disk: a real one, whose calls are carried out at once, also those that promise it. The thread pool of a busy machine ends
 * them in another order than that of a quiet one, and a life must replay exactly.
 */
import fs from "node:fs";
import type { Disk, OpenFile } from "../../../provider/src/files/disk.js";

export const diskNow: Disk = {
  ...fs,
  promises: {
    open: async (path, flags, mode) => openFile(fs.openSync(path, flags, mode)),
    rename: async (from, to) => fs.renameSync(from, to),
    unlink: async (path) => fs.unlinkSync(path),
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
    writeFile: async (text) => fs.writeFileSync(fd, text),
    appendFile: async (text) => fs.appendFileSync(fd, text),
    truncate: async (bytes) => fs.ftruncateSync(fd, bytes),
    datasync: async () => fs.fdatasyncSync(fd),
    stat: async () => fs.fstatSync(fd),
    chmod: async (mode) => fs.fchmodSync(fd, mode),
    close: async () => fs.closeSync(fd),
  };
}
