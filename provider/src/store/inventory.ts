/**
 * What runs of a stack on this machine have created and not given up since: for warnings about renames and removals, which the
 * program's half can't know otherwise. Only a hint: nothing is lost if it is missing, and it is never read as proof.
 *
 * A file that grows by a line for each object, so that it takes no memory; the last line about a resource counts.
 */
import { z } from "zod";
import { jsonIn, jsonLines } from "../base/index.js";
import { appendHints, type Disk, readHints, replaceHints, systemDisk } from "../files/index.js";
import { aboutWhom, objectKey, resourceKeyIn } from "../state/index.js";

const HEADER = { inventory: "pulumi-advertising", version: 1 } as const;
const FIRST_LINE = `${JSON.stringify(HEADER)}\n`;

/** Of this version or a later one. */
const headerSchema = z.object({ inventory: z.literal(HEADER.inventory), version: z.number() });

const lineSchema = z.object({
  key: z.string(),
  /** The platform's id; absent where the resource has left the state. */
  id: z.string().optional(),
  fingerprint: z.string().optional(),
  name: z.string().optional(),
  deletes: z.boolean().optional(),
  protects: z.boolean().optional(),
  /** The resource was to leave the state, and perhaps did not. */
  leaving: z.boolean().optional(),
  /** When a run on this machine created it at the latest, ISO 8601. */
  at: z.string().optional(),
  /** Of a line without a key: how many resources the program of a run has declared. */
  declares: z.number().optional(),
  /** Of a line without a key: the program has come to its end, and nothing in it has failed. */
  ended: z.boolean().optional(),
  /** Of a line without a key: what the program is about to adopt: ids, by the journal keys of what adopts them. */
  adopts: z.record(z.string(), z.string()).optional(),
  /** Of a line without a key: the kinds of which the program may adopt objects whose ids it does not know yet. */
  adoptsLater: z.array(z.string()).optional(),
  /** Of a line without a key: which program it is about; empty after its run. */
  program: z.string().optional(),
});

/** An object as the last run knew it. */
export interface Live {
  readonly id: string;
  readonly fingerprint: string;
  readonly name?: string | undefined;
  /** Whether the object is deleted with its resource. */
  readonly deletes?: boolean | undefined;
  /** Whether Pulumi's option `protect` keeps the resource in the state. */
  readonly protects?: boolean | undefined;
  /** A run was to take the resource out of the state, and perhaps did not. */
  readonly leaving?: boolean | undefined;
  /** When a run on this machine created it at the latest, ISO 8601. */
  readonly at?: string | undefined;
}

/** Those of Pulumi's options that decide what becomes of it when it is removed. */
export type Options = Pick<Live, "deletes" | "protects">;

/** With so many more lines than objects the file is written again from the start. */
const MAX_OLD_LINES = 1000;

/** @returns both by journal key; empty where there is none that can be read. */
export function readInventory(
  path: string,
  disk: Disk,
): { readonly objects: Map<string, Live>; readonly adopts: ReadonlyMap<string, string> } {
  const { live, ofProgram } = read(path, disk);
  return { objects: live, adopts: ofProgram?.adopts ?? new Map() };
}

interface Content {
  readonly live: Map<string, Live>;
  readonly lines: number;
  /** What the last program to note something has noted of itself. */
  readonly ofProgram?: OfProgram;
}

interface OfProgram {
  readonly program: string;
  readonly declares: number;
  readonly adopts: ReadonlyMap<string, string>;
  /** None where it has never said. */
  readonly adoptsLater: readonly string[] | undefined;
  readonly hasEnded: boolean;
}

function read(path: string, disk: Disk): Content {
  const live = new Map<string, Live>();
  let ofProgram: Content["ofProgram"];
  const text = readHints(path, disk);
  if (!text.startsWith(FIRST_LINE)) return { live, lines: 0 };
  const lines = text.split("\n");
  for (const line of lines.slice(1, -1)) {
    const { data } = lineSchema.safeParse(jsonIn(line));
    if (data === undefined) continue; // torn
    const { key, id, fingerprint = "", name, at, declares, program, ended, adopts = {}, adoptsLater } = data;
    const { deletes, protects, leaving } = data;
    if (program !== undefined) {
      const before = ofProgram?.program === program ? ofProgram : undefined;
      ofProgram = {
        program,
        declares: declares ?? before?.declares ?? 0,
        adopts: new Map([...(before?.adopts ?? []), ...Object.entries(adopts)]),
        adoptsLater: adoptsLater ?? before?.adoptsLater,
        hasEnded: ended === true,
      };
    }
    live.delete(key);
    const flags = { ...(deletes && { deletes }), ...(protects && { protects }), ...(leaving && { leaving }) };
    if (id !== undefined) live.set(key, { id, fingerprint, name, ...flags, ...(at && { at }) });
  }
  return { live, lines: lines.length, ...(ofProgram && { ofProgram }) };
}

/** Two inventories as one: of a resource in both, the second one counts. */
export function joinedInventories(...texts: readonly [string, string]): string {
  const lines = texts.filter((text) => text.startsWith(FIRST_LINE)).map((text) => text.slice(FIRST_LINE.length));
  return FIRST_LINE + lines.map((text) => text.replace(/[^\n]+$/, "")).join("");
}

/** Whether what is appended will be read: not where a machine that lost its power has left a beginning, or zeros. */
function isWhole(text: string): boolean {
  const header = jsonIn(text.slice(0, text.indexOf("\n") + 1));
  return text === "" || (text.endsWith("\n") && headerSchema.safeParse(header).success);
}

export class Inventory {
  #isWhole = false;
  #asItBegan: ReadonlyMap<string, Live> | undefined;

  constructor(
    private readonly path: string,
    private readonly disk: Disk = systemDisk,
  ) {}

  /** The engine is handed this object. Never fails. */
  note(key: string, live: Live): void {
    this.#append([{ key, ...live }]);
  }

  /** The state holds this object, perhaps under a new name, or since another machine's run. Never fails. */
  noteHeld(key: string, id: string, { deletes = false, protects = false }: Options, live: () => Live): void {
    const known = this.asItBegan.get(key);
    const isSame = known?.deletes === (deletes || undefined) && known?.protects === (protects || undefined);
    if (known?.id === id && isSame && known.leaving !== true) return;
    this.note(key, live());
  }

  /** The object is not on the platform any more. Never fails. */
  noteGone(key: string): void {
    this.#append([{ key }]);
  }

  /** The program of a run has declared so many resources by now, after a wait. Never fails. */
  noteLater(program: string, declares: number): void {
    this.#append([{ key: "", program, declares }]);
  }

  /**
   * The program of a run is about to adopt these objects, beside what their resources have by now. That is not to have them: it counts as
   * long as the run goes on; after a kill until the next program notes something, and nothing deletes them meanwhile. Never fails.
   * @param adopts ids, by the journal keys of what adopts them. @param adoptsLater the kinds of which it may adopt more,
   *   whose ids it does not know yet.
   */
  noteAdopts(program: string, adopts: Readonly<Record<string, string>>, adoptsLater?: readonly string[]): void {
    if (Object.keys(adopts).length === 0 && adoptsLater === undefined) return;
    this.#append([{ key: "", program, adopts, ...(adoptsLater && { adoptsLater: [...adoptsLater] }) }]);
  }

  /** The program of a run has come to its end, and nothing in it has failed: what it has not declared, it does not. Never fails. */
  noteEnded(program: string): void {
    this.#append([{ key: "", program, ended: true }]);
  }

  /** The run of a program is over, however it has ended: what it was about to adopt and has not adopted, it will not. Never fails. */
  noteOver(program: string): void {
    if ((this.ofProgram(program)?.adopts.size ?? 0) > 0) this.#append([{ key: "", program: "" }]);
  }

  /** What the program of a run has noted of itself by now: what it adopts, after a wait how many resources it declares, and that it has ended. */
  ofProgram(program: string): OfProgram | undefined {
    const { ofProgram } = read(this.path, this.disk);
    return ofProgram?.program === program ? ofProgram : undefined;
  }

  /** What was known as this run began: read once, since a run may ask for thousands. */
  get asItBegan(): ReadonlyMap<string, Live> {
    this.#asItBegan ??= readInventory(this.path, this.disk).objects;
    return this.#asItBegan;
  }

  /**
   * For the end of an `up` of the whole program that failed nowhere here. Nobody says whether the engine has taken all that is not declared
   * out of the state. It has not if one of them is protected, or was to be deleted and the engine did not ask for that: then all are
   * remembered for one more run. Synchronous; never fails.
   * @param declared the journal keys of all that the program declares.
   * @param removed the objects that the engine asked to delete, each as {@link objectKey} makes it.
   */
  closeNow(declared: ReadonlySet<string>, removed: ReadonlySet<string>): void {
    const { live, lines } = read(this.path, this.disk);
    const gone = [...live].filter(([key]) => !declared.has(key));
    // A set deletes by itself what it no longer declares.
    const decisive = gone.filter(
      ([key, { deletes, protects, leaving }]) =>
        (deletes === true || protects === true) && leaving !== true && !declared.has(resourceKeyIn(key)),
    );
    // Under another name, or in another place, the object goes on.
    const kept = decisive.length === 0 ? [] : [...live].filter(([key]) => declared.has(key));
    const goesOn = new Set(kept.map(objectOf));
    // A protected resource stays in the state, also if another one has adopted its object.
    const isOver = decisive.every((each) => {
      const object = objectOf(each);
      return removed.has(object) || (goesOn.has(object) && each[1].protects !== true);
    });
    this.#append(gone.map(([key, each]) => (isOver ? { key } : { key, ...each, leaving: true })));
    if (lines - live.size > MAX_OLD_LINES) this.#rewrite();
  }

  #append(entries: readonly z.infer<typeof lineSchema>[]): void {
    if (entries.length === 0) return;
    if (!this.#isWhole && !isWhole(readHints(this.path, this.disk))) this.#rewrite();
    this.#isWhole = true;
    appendHints(this.path, jsonLines(entries), this.disk, FIRST_LINE);
  }

  #rewrite(): void {
    const entries = [...readInventory(this.path, this.disk).objects].map(([key, live]) => ({ key, ...live }));
    replaceHints(this.path, FIRST_LINE + jsonLines(entries), this.disk);
  }
}

function objectOf([key, { id }]: readonly [key: string, live: Live]): string {
  return objectKey(aboutWhom(key).kind, id);
}
