/**
 * What the program's half tells the provider's half about a resource, in the input `__identity`: most often the identity
 * alone. `check` takes the rest out, so the state holds just the identity.
 */

export interface Told {
  readonly identity: string;
  /** On one resource of each part of the program that is looked at together. */
  readonly run?:
    | {
        readonly isUp: boolean;
        /** How many resources the part declares. */
        readonly resources: number;
      }
    | undefined;
  /** Journal keys of objects of the same kind and name that are no longer declared: this may be one of them under a new name. */
  readonly formerly?: readonly string[] | undefined;
  /** Where a delete is known: whether the option `retainOnDelete` is off. */
  readonly deletes?: boolean | undefined;
  /**
   * Of what may delete, a set or a resource with {@link deletes}: the ids of the objects of its kind that anything in the program
   * adopts, as far as it knows them, with blanks between them. One text, since each of a thousand sets takes along those of all.
   */
  readonly adopted?: string | undefined;
  /** Likewise: whether something else adopts objects of its kind whose ids the program does not know. */
  readonly adoptsUnknown?: boolean | undefined;
  /** Of a set: the journal keys of undeclared members of unknown outcome, whose object something else in the program adopts. */
  readonly settled?: readonly string[] | undefined;
  /** The same of a set's members, by their own journal keys. */
  readonly membersFormerly?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Pulumi's option of this name: the engine does not hold it against what a dynamic provider says of a change. */
  readonly replaceOnChanges?: readonly string[] | undefined;
  /** In a preview, by argument: the journal key of the resource whose id it is. */
  readonly owners?: Readonly<Record<string, string>> | undefined;
}

/** @returns nothing where it is no declaration: the resource was made by something else than this package's classes. */
export function readDeclared(value: unknown): Told | undefined {
  if (typeof value === "string") return { identity: value };
  if (typeof value !== "object" || value === null) return undefined;
  return typeof (value as Partial<Told>).identity === "string" ? (value as Told) : undefined;
}

/** As short as it can be, since each resource has one: the identity alone, if nothing else is told. */
export function writeDeclared(told: Told): string | Told {
  const given = Object.entries(told).filter(([, value]) => value !== undefined);
  return given.length === 1 ? told.identity : (Object.fromEntries(given) as unknown as Told);
}
