/** A platform in RAM, in place of the client that a run would have: it gives ids, loses answers, and lags behind. */
import {
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
} from "../../../provider/src/base/index.js";
import type { Client } from "../../../provider/src/client/index.js";
import type { Kind } from "../../../provider/src/kinds/index.js";
import { objectKey } from "../../../provider/src/state/index.js";
import type { Values } from "./engine.js";
import { type Machine, now, nowHere, type Process, time } from "./machine.js";

export interface Made {
  readonly kind: Kind["name"];
  readonly id: string;
  fields: Values;
  /** The stack that the object was made for, and the key there; undefined if another client made it. */
  readonly stack: string | undefined;
  readonly key: string | undefined;
  /** What people mean by the object. */
  readonly self?: number | undefined;
  /** When the create was sent. */
  readonly at?: string | undefined;
  /** Before this time the create is still under way. */
  readonly fromMs: number;
  /** `vanished`: the platform answers as if it were deleted, until it comes back. */
  gone?: "deleted" | "vanished" | undefined;
  /** The machine whose run changed the object last. */
  changedOn?: Machine;
  /** The run that changed the object last. */
  changedBy?: object;
}

interface MadeByRun extends Made {
  readonly stack: string;
  readonly key: string;
}

/** A request's fate without an answer. `late`: it is carried out some time after its sender has given up. */
export type Break =
  | "lost"
  | "undone"
  | "late"
  | "refused"
  | "limited"
  | "not sent"
  | "another's id";

export interface Fault {
  readonly on: "create" | "read" | "update" | "search" | "delete";
  readonly after: number;
  readonly with: Break;
}

/** The delay of a late create: after the searches of its run, and before it may be sent again. */
export const LATE_MS = 39_000;
export const MARK_FIELD = "alternative_id";

/** One run, as far as the platform is concerned. */
export interface Sender {
  readonly process: Process;
  readonly faults: readonly Fault[];
  /** The stack, whatever its present name. */
  readonly stack: string;
  /** Returns an object that belongs to another resource. */
  knownOther(kind: Kind["name"], key: string): string | undefined;
  /** Returns the key that a create's label means. */
  keyOf(label: string): string;
  selfOf(key: string): number | undefined;
  /** Called before an object is made. @throws Error if it must not be made. */
  validator(key: string, kind: Kind["name"], fields: Values): void;
  /** Called before an object is deleted. */
  deletes(made: Made): void;
}

export class Platform {
  readonly objects: Made[] = [];
  posts = 0;
  #next = 5001;

  /**
   * @param lagMs how long reads and searches don't find a new object. @param isNumberedByKind whether an advertiser and an
   * event may have the same id.
   */
  constructor(
    private readonly lagMs = 0,
    private readonly isNumberedByKind = false,
  ) {}

  #isFound({ gone, fromMs }: Made): boolean {
    return gone === undefined && fromMs + this.lagMs <= time.clock.wallMs();
  }

  get(kind: Kind["name"], id: string): Made | undefined {
    return this.objects.find((each) => each.kind === kind && each.id === id);
  }

  /** @returns what puts everything back as it is now. */
  keep(): () => void {
    const { posts, objects } = this;
    const next = this.#next;
    const kept = objects.map((made) => ({ made, before: { ...made } }));
    return () => {
      objects.length = kept.length;
      for (const { made, before } of kept)
        Object.assign(
          made,
          { changedOn: undefined, changedBy: undefined, gone: undefined },
          before,
        );
      Object.assign(this, { posts });
      this.#next = next;
    };
  }

  /** The objects that this stack's runs have made. */
  madeFor(stack: string): MadeByRun[] {
    return this.objects.filter((each): each is MadeByRun => each.stack === stack);
  }

  make(kind: Kind["name"], fields: Values, of: Partial<MadeByRun> = {}, delayMs = 0): Made {
    const { stack, key, self, at } = of;
    const alike = this.objects.filter((each) => each.kind === kind);
    const made = {
      kind,
      id: String(this.isNumberedByKind ? 5001 + alike.length : this.#next++),
      fields,
      stack,
      key,
      self,
      at,
      fromMs: time.clock.wallMs() + delayMs,
    };
    this.objects.push(made);
    return made;
  }

  /** The client of one run. */
  client(sender: Sender): Client {
    const { process } = sender;
    const skipped = new Map(sender.faults.map((fault) => [fault, fault.after]));
    const take = (on: Fault["on"]): Break | undefined => {
      for (const [fault, left] of skipped) {
        if (fault.on !== on) continue;
        skipped.set(fault, left - 1);
        if (left === 0) return fault.with;
      }
      return undefined;
    };
    let hasAnswered = false;
    /** Sends one request, and perhaps loses its answer. */
    const sent = async <T>(on: Fault["on"], label: string, work: () => T): Promise<T> => {
      await Promise.resolve();
      const broken = take(on);
      process.moment();
      if (broken === "refused") throw new RefusedError(`${label}: not now.`);
      if (broken === "not sent") throw new NotSentError(`${label}: nobody listens.`);
      const result = broken === "undone" ? undefined : work();
      process.moment();
      if (broken === "lost" || broken === "undone")
        throw new OutcomeUnknownError(`${label}: the connection ended.`);
      hasAnswered = true;
      return result as T;
    };

    const client: Omit<Client, "close"> = {
      platformNow: () => (hasAnswered ? now() : undefined),
      create: async ({ kind: { name: kind }, fields, label, beforeSend, onCreated }) => {
        const key = sender.keyOf(label);
        for (;;) {
          const at = nowHere();
          const broken = take("create");
          await beforeSend(at);
          process.moment();
          if (broken === "not sent") throw new NotSentError(`${label}: nobody listens.`);
          if (broken === "limited") {
            await time.clock.sleep(1000);
            process.expectAlive();
            continue;
          }
          this.posts++;
          if (broken === "refused") throw new RefusedError(`${label} was refused.`);
          if (broken !== "undone") sender.validator(key, kind, fields);
          const delayMs = broken === "late" ? LATE_MS : 0;
          const { stack } = sender;
          const of = { stack, key, at, self: sender.selfOf(key) };
          const made =
            broken === "undone" ? undefined : this.make(kind, fields, of, delayMs);
          process.moment();
          if (made === undefined || broken === "lost" || broken === "late")
            throw new OutcomeUnknownError(
              `${label} was sent at ${at}, and the connection ended.`,
            );
          const id =
            (broken === "another's id" ? sender.knownOther(kind, key) : undefined) ??
            made.id;
          hasAnswered = true;
          await onCreated(id);
          return { id, warnings: [] };
        }
      },
      read: ({ kind, id, label }) =>
        sent("read", label, () => {
          const found = this.get(kind.name, id);
          if (!found || !this.#isFound(found)) return undefined;
          return { ...found.fields, id } as Awaited<ReturnType<Client["read"]>>;
        }),
      update: ({ kind, id, label }, fields) =>
        sent("update", label, () => {
          const found = this.get(kind.name, id);
          if (!found || found.gone) throw new RefusedError(`${label}: there is no ${id}.`);
          found.fields = { ...found.fields, ...fields };
          found.changedOn = process.machine;
          found.changedBy = process;
          return [];
        }),
      search: ({ kind, field, mark, label }) =>
        sent("search", label, () => {
          const found = this.objects.filter(
            (each) =>
              each.kind === kind.name && each.fields[field] === mark && this.#isFound(each),
          );
          return new Map(found.map(({ id, fields }) => [id, { ...fields, id }]));
        }),
      delete: ({ kind, id, label }) =>
        sent("delete", label, () => {
          const found = this.get(kind.name, id);
          if (!found || found.gone) return false;
          sender.deletes(found);
          found.gone = "deleted";
          return true;
        }),
    };
    return client as Client;
  }

  textOf({ kind, id, fields, key }: Made): string {
    return `${objectKey(kind, id)} (${JSON.stringify(fields)}, made for ${key})`;
  }
}
