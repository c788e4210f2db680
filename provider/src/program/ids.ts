/**
 * How programs give values: as Outputs and promises, which are not known yet, and ids as numbers, as digits, or as the resource itself. Numbers and
 * digits are left to the rules; only the program's half can recognise a resource.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import { exactId, InWords, isReadableId, LIVE_ID, type Problem, READABLE_ID, show } from "../rules/index.js";

function isLater(value: unknown): value is pulumi.Output<unknown> | Promise<unknown> {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

/** Whether `value` is, or holds, an Output or a promise, and so is not known in the program yet. */
export function isNotPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isLater(value)) return true;
  // This is deeper than any request field: a value that holds itself ends here, and its rule refuses it.
  return depth < 20 && Object.values(value).some((entry) => isNotPlain(entry, depth + 1));
}

/** Whether `value` is a resource with this type token, of whichever copy of this package. */
export function isOfType(value: unknown, typeToken: string): boolean {
  return pulumi.Resource.isInstance(value) && typeTokenIn(value) === typeToken;
}

/** The kind of a resource in words: `a ConversionEvent`, `an Instance`. */
function kindInWords(resource: pulumi.Resource): string {
  const [kind = ""] = String(typeTokenIn(resource)).split(/[:/]/).slice(-1);
  return `${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind}`;
}

/** Pulumi notes it on each resource, but not in its types. */
function typeTokenIn(resource: pulumi.Resource): unknown {
  return (resource as { __pulumiType?: unknown }).__pulumiType;
}

/** What one program's Outputs are known to be. */
export class Outputs {
  /** Those that hold a resource's own id. */
  readonly #own = new WeakSet<object>();
  /** By kind and what was given: programs pass one Output to thousands of events, and each `apply` makes promises. */
  readonly #ids = new WeakMap<Kind, WeakMap<object, unknown>>();

  /** The resource classes tell it of each resource whose id another one may take. */
  noteOwn(id: pulumi.Output<unknown>): void {
    this.#own.add(id);
  }

  /**
   * `args` with the id's Output, which keeps the dependency, in place of each resource that stands for its id. A resource of another kind becomes
   * words that no rule accepts.
   */
  idsOf(kind: Kind | SetKind, args: Values): Record<string, unknown> {
    const ids: Record<string, unknown> = { ...args };
    for (const name of [...kind.exactIds, "existingId"]) {
      const value = args[name];
      if (value === undefined) continue;
      const referred = kind.refersTo[name];
      if (!isLater(value)) ids[name] = idIn(value, referred, (words) => new InWords(words));
      // What an Output holds is known too late for the program's own checks: the provider refuses the words by name.
      else if (referred !== undefined && !this.#own.has(value)) ids[name] = this.#laterIdIn(value, referred);
    }
    return ids;
  }

  #laterIdIn(given: object, referred: Kind): unknown {
    const known = this.#ids.get(referred) ?? new WeakMap<object, unknown>();
    this.#ids.set(referred, known);
    const id = known.get(given) ?? pulumi.output(given).apply((later) => idIn(later, referred, String));
    known.set(given, id);
    return id;
  }
}

function idIn(value: unknown, referred: Kind | undefined, refused: (words: string) => unknown): unknown {
  if (!pulumi.Resource.isInstance(value)) return value;
  const fits = referred !== undefined && isOfType(value, typeTokenOf(referred.name));
  return fits ? (value as unknown as Values)[referred.idProperty] : refused(kindInWords(value));
}

/** @param output what the engine says: unknown in a preview of an update in place, when it knows just the id. */
export function idInPreview({ id }: pulumi.CustomResource, output: pulumi.Output<number>): pulumi.Output<number> {
  return id.apply((digits) => (LIVE_ID.test(digits) ? pulumi.output(exactId(digits) as number) : output));
}

/**
 * The id of a resource that is read: Pulumi takes texts only, and takes an empty one for none. Anything that is no id becomes words, which {@link
 * readIdProblem} refuses, and the provider if they come from an Output.
 */
export function readIdOf(id: pulumi.Input<pulumi.ID | number>): pulumi.Input<pulumi.ID> {
  return isLater(id) ? pulumi.output(id as pulumi.Output<pulumi.ID>).apply(idOrWords) : idOrWords(id);
}

function idOrWords(id: unknown): string {
  if (pulumi.Resource.isInstance(id)) return kindInWords(id);
  return isReadableId(String(id)) ? String(id) : show(id);
}

/** An id that the program does not know yet is left to the provider. */
export function readIdProblem({ id }: pulumi.CustomResourceOptions): Problem[] {
  if (typeof id !== "string" || isReadableId(id)) return [];
  return [{ property: "id", reason: `expected ${READABLE_ID}; got ${id === "" ? show(id) : id}` }];
}
