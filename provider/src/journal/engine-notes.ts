/**
 * Facts that the provider processes of one engine share, its preview's among them. An `up`, or a refresh that runs the
 * program, may save before a provider reads Pulumi's record, and that save drops interrupted updates and deletes. The
 * preview before it has read them.
 */
import { join } from "node:path";
import { jsonIn } from "../base/index.js";
import { type Disk, readPrivate, replacePrivate } from "../files/index.js";

export class EngineNotes {
  readonly path;

  /** @param engine names the file, since a refresh doesn't know its stack before it has read the record. */
  constructor(
    engine: string,
    folder: string,
    private readonly disk: Disk,
  ) {
    this.path = join(folder, `${engine}.engine.json`);
  }

  /** @returns undefined if this engine has noted nothing. */
  read() {
    try {
      return jsonIn(readPrivate(this.path, this.disk));
    } catch {
      // It isn't this user's. Then the journal, which lies beside it, can't be used either.
      return undefined;
    }
  }

  /** Never fails. */
  write(notes: object) {
    try {
      replacePrivate(this.path, JSON.stringify(notes), this.disk);
    } catch {
      // Then the journal can't be written either, and says so before anything is created.
    }
  }

  /** At the end of an `up`: a refresh can't tell its end from that of its preview. Never fails. */
  remove() {
    try {
      this.disk.rmSync(this.path, { force: true });
    } catch {
      // Another engine doesn't read it.
    }
  }
}
