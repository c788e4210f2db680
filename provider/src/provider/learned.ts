/**
 * What `check` and `diff` learn of a resource, of a member of a set, or of a live object, for what follows in the same run: its
 * create, its update, or what people are told at its end.
 */
import type { Kind } from "../kinds/index.js";
import type { CreateRecord } from "../state/index.js";
import type { Leaving } from "./leaving.js";

export interface Learned {
  /** The id of the object whose place its replacement takes. */
  replaces?: string | undefined;
  /** The id that it has before and after this run, since it is not replaced. */
  keeps?: string | undefined;
  /** What its replacement will leave live. */
  leaves?: Leaving;
  /** Names of the arguments that were secret when the state was written, where there are any. */
  wasSecret?: ReadonlySet<string>;
  /** The mark of the create of unknown outcome that its adoption settles. */
  settles?: string;
  /** A create of unknown outcome that the state holds, and that is to be looked for. */
  unsettled?: CreateRecord | undefined;
  /** Where it adopts an object: its former names, whose creates are settled by that. */
  formerly?: readonly string[];
  /** Whether its object is deleted with it, as the program says: `retainOnDelete` is off. Of a set, its members'. */
  deletes?: boolean;
  /** The same when the state was written: by that the engine deletes what is replaced. */
  wasDeleting?: boolean;
  /** Of a set: whether something beside it adopts events whose ids the program does not know. */
  adoptsUnknown?: boolean;
  /** The arguments whose change replaces the object, by Pulumi's option `replaceOnChanges`. */
  replacedOn?: readonly string[];
}

/** What is learned of a live object, whichever resource has it. */
export interface LearnedOfObject {
  /** The URN of the resource that holds it, or adopts it, in this run. */
  holder?: string;
  /** Whether the state lets go of it, since it is replaced. */
  isReplaced?: boolean;
  /** Whether this run has found that it is not on the platform any more. */
  isGone?: boolean;
}

/** By journal key. */
export class LearnedByKey {
  readonly #byKey = new Map<string, Learned>();

  of(key: string): Learned {
    return recordOf(this.#byKey, key);
  }
}

export class LearnedByObject {
  readonly #byObject = new Map<string, LearnedOfObject>();

  of(kind: Kind, id: string): LearnedOfObject {
    return recordOf(this.#byObject, `${kind.name} ${id}`);
  }
}

function recordOf<T extends object>(records: Map<string, Partial<T>>, key: string): Partial<T> {
  const record = records.get(key) ?? {};
  records.set(key, record);
  return record;
}
