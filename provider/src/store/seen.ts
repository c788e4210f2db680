/** Which objects of an account, of whichever stack, runs on this machine have read soon after their create. Beside the inventories. */
import { z } from "zod";
import { type Clock, jsonIn, momentOf } from "../base/index.js";
import { appendHints, type Disk, readHints, replaceHints, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { objectKey } from "../state/index.js";

const seenSchema = z.object({
  /** As {@link objectKey} makes it. */
  seen: z.string(),
  /** ISO 8601. */
  at: z.string(),
});

/** No longer than this anything is taken for just created. */
const MAX_AGE_MS = 86_400_000;
/** Then those that are too old are dropped. */
const MAX_BYTES = 1024 * 1024;

/**
 * Which objects of an account a run on this machine has read soon after their create: that one of these is gone later is believed at
 * once. Only that is noted, so the file is small. Where it is missing, or a line of it is torn (which may take the next one along), an
 * absence is believed later, never too early.
 */
export class Seen {
  #known: Map<string, string> | undefined;

  constructor(
    private readonly path: string,
    private readonly clock: Pick<Clock, "wallMs">,
    private readonly disk: Disk = systemDisk,
  ) {}

  has(kind: Kind["name"], id: string): boolean {
    return this.#objects.has(objectKey(kind, id));
  }

  /** It was read. Never fails. */
  note(kind: Kind["name"], id: string): void {
    const seen = objectKey(kind, id);
    const known = this.#objects;
    if (known.has(seen)) return;
    const at = momentOf(this.clock);
    known.set(seen, at);
    appendHints(this.path, seenLine(seen, at), this.disk);
  }

  get #objects(): Map<string, string> {
    this.#known ??= this.#read();
    return this.#known;
  }

  #read(): Map<string, string> {
    const text = readHints(this.path, this.disk);
    const known = new Map(
      text.split("\n").flatMap((line) => {
        const { data } = seenSchema.safeParse(jsonIn(line));
        return data === undefined ? [] : [[data.seen, data.at] as const];
      }),
    );
    if (text.length > MAX_BYTES) this.#tidy(known);
    return known;
  }

  #tidy(known: Map<string, string>): void {
    const oldest = new Date(this.clock.wallMs() - MAX_AGE_MS).toISOString();
    for (const [seen, at] of known) if (at < oldest) known.delete(seen);
    replaceHints(this.path, [...known].map(([seen, at]) => seenLine(seen, at)).join(""), this.disk);
  }
}

function seenLine(seen: string, at: string): string {
  return `${JSON.stringify({ seen, at })}\n`;
}
