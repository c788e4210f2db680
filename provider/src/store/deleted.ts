/**
 * The objects that runs on this machine have deleted, or found to be gone, so that no later run takes one of them over. One file for all stacks,
 * since a `destroy` does not say which it is about; any run may append lines to it. Only a hint: nothing fails without it.
 */
import { join } from "node:path";
import { appendHints, type Disk, readHints, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { objectKey } from "../state/index.js";

export class Deleted {
  readonly #path: string;
  #lines: Set<string> | undefined;

  constructor(
    folder: string,
    private readonly account: string,
    private readonly disk: Disk = systemDisk,
  ) {
    this.#path = join(folder, "deleted.lines");
  }

  has(kind: Kind["name"], id: string): boolean {
    this.#lines ??= new Set(readHints(this.#path, this.disk).split("\n"));
    return this.#lines.has(this.#lineOf(kind, id));
  }

  add(kind: Kind["name"], id: string): void {
    if (this.has(kind, id)) return;
    const line = this.#lineOf(kind, id);
    this.#lines?.add(line);
    appendHints(this.#path, `\n${line}\n`, this.disk); // a kill may have left half a line
  }

  #lineOf(kind: Kind["name"], id: string): string {
    return JSON.stringify({ deleted: `${objectKey(kind, id)} ${this.account}` });
  }
}
