/**
 * Which objects of an account a run on this machine has read soon after their create: that one of these is gone later is believed at
 * once. Only that is noted, so the file is small; where it is missing, nothing is believed too early.
 */
import { dirname } from "node:path";
import { z } from "zod";
import type { Clock } from "../base/index.js";
import { type Disk, readNow, replaceNow, systemDisk } from "../files/index.js";

const lineSchema = z.object({
  /** `<kind> <id>` */
  seen: z.string(),
  /** ISO 8601. */
  at: z.string(),
});

/** No longer than this anything is taken for just created. */
const MAX_AGE_MS = 86_400_000;
/** Then those that are too old are dropped. */
const MAX_BYTES = 1024 * 1024;

export class Seen {
  readonly #path: string;
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #disk: Disk;
  #known: Map<string, string> | undefined;

  constructor(path: string, clock: Pick<Clock, "wallMs">, disk: Disk = systemDisk) {
    this.#path = path;
    this.#disk = disk;
    this.#clock = clock;
  }

  has(kind: string, id: string): boolean {
    return this.#objects.has(`${kind} ${id}`);
  }

  /** It was read. Never fails. */
  note(kind: string, id: string): void {
    const seen = `${kind} ${id}`;
    const known = this.#objects;
    if (known.has(seen)) return;
    const at = new Date(this.#clock.wallMs()).toISOString();
    known.set(seen, at);
    try {
      this.#disk.mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const file = this.#disk.openSync(this.#path, "a", 0o600);
      try {
        this.#disk.writeFileSync(file, `${JSON.stringify({ seen, at })}\n`);
      } finally {
        this.#disk.closeSync(file);
      }
    } catch {
      // A later run believes it only some time after the create.
    }
  }

  get #objects(): Map<string, string> {
    if (this.#known !== undefined) return this.#known;
    const known = new Map<string, string>();
    this.#known = known;
    try {
      const text = readNow(this.#path, this.#disk) ?? "";
      for (const line of text.split("\n")) {
        const read = lineSchema.safeParse(parse(line));
        if (read.success) known.set(read.data.seen, read.data.at);
      }
      if (text.length > MAX_BYTES) this.#tidy(known);
    } catch {
      // As if there were none.
    }
    return known;
  }

  #tidy(known: Map<string, string>): void {
    const oldest = new Date(this.#clock.wallMs() - MAX_AGE_MS).toISOString();
    for (const [seen, at] of known) if (at < oldest) known.delete(seen);
    const lines = [...known].map(([seen, at]) => `${JSON.stringify({ seen, at })}\n`);
    replaceNow(this.#path, lines.join(""), this.#disk);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // the schema refuses it
  }
}
