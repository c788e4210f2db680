/**
 * What runs of a stack on this machine have created and not let go since: for warnings about renames and removals, which the
 * program's half can't know otherwise. Only a hint: nothing is lost where it is missing, and it is never read as proof.
 */
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { digestOf } from "../files/places.js";
import { readNow } from "../files/private-file.js";

const HEADER = { inventory: "pulumi-advertising", version: 1 } as const;

const liveSchema = z.object({
  /** The platform's id. */
  id: z.string(),
  /** Of the create's body. */
  fingerprint: z.string(),
  /** The name on the platform; absent where it is secret. */
  name: z.string().optional(),
});
/** An object as the last run knew it. */
export type Live = z.infer<typeof liveSchema>;

const fileSchema = z.object({
  inventory: z.literal(HEADER.inventory),
  version: z.literal(HEADER.version),
  resources: z.record(z.string(), liveSchema),
});

export function inventoryPath(journalFolder: string, stack: string): string {
  return join(journalFolder, `${digestOf(stack)}.live.json`);
}

/** @returns by journal key; empty where there is none that can be read. */
export function readInventory(path: string): Map<string, Live> {
  try {
    const parsed = fileSchema.safeParse(JSON.parse(readNow(path) ?? ""));
    return new Map(parsed.success ? Object.entries(parsed.data.resources) : []);
  } catch {
    return new Map();
  }
}

/** One run's use of it. */
export class Inventory {
  readonly #path: string;
  readonly #noted = new Map<string, Live>();
  readonly #checked = new Set<string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** The engine is handed this object. */
  note(key: string, live: Live): void {
    this.#noted.set(key, live);
  }

  /** The program declares this resource. */
  noteDeclared(key: string): void {
    this.#checked.add(key);
  }

  read(): Map<string, Live> {
    return readInventory(this.#path);
  }

  /**
   * For the end of the process. Synchronous; never fails.
   * @param letGo whether the run has let go of all that it did not declare: an `up` of the whole program that went through.
   * @param declares how many resources the program declares at least, as far as it said.
   */
  closeNow({ letGo, declares }: { readonly letGo: boolean; readonly declares: number }): void {
    const known = this.read();
    const isWhole = letGo && declares > 0 && this.#checked.size >= declares;
    const gone = isWhole ? [...known.keys()].filter((key) => !this.#checked.has(key)) : [];
    if (this.#noted.size === 0 && gone.length === 0) return;
    for (const key of gone) known.delete(key);
    for (const [key, live] of this.#noted) known.set(key, live);
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.closing.tmp`;
      const file = openSync(temporary, "w", 0o600);
      writeFileSync(file, JSON.stringify({ ...HEADER, resources: Object.fromEntries(known) }));
      closeSync(file);
      renameSync(temporary, this.#path);
    } catch {
      // Warnings of the next run know less.
    }
  }
}
