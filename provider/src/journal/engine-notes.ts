/**
 * Facts that the provider processes of one engine share, its preview's among them. An `up` may save before a provider
 * reads Pulumi's record, and that save drops interrupted updates and deletes. The preview before it has read them.
 */
import { asRecord, jsonIn } from "../base/index.js";
import { type Disk, readPrivate, replacePrivate } from "../files/index.js";

export class EngineNotes {
  constructor(
    private readonly path: string,
    /** Tells the engine from all others on this machine. */
    private readonly engine: string,
    private readonly disk: Disk,
  ) {}

  /** @returns undefined if this engine has noted nothing. */
  read(): unknown {
    try {
      const { engine, notes } = asRecord(jsonIn(readPrivate(this.path, this.disk)));
      return engine === this.engine ? notes : undefined;
    } catch {
      // It isn't this user's. Then the journal, which lies beside it, can't be used either.
      return undefined;
    }
  }

  /** Never fails. */
  write(notes: object) {
    const { path, engine, disk } = this;
    try {
      replacePrivate(path, JSON.stringify({ engine, notes }), disk, () => undefined);
    } catch {
      // Then the journal can't be written either, and says so before anything is created.
    }
  }

  /** At the end of an `up`. Never fails. */
  remove() {
    try {
      this.disk.rmSync(this.path, { force: true });
    } catch {
      // Another engine doesn't read it.
    }
  }
}
