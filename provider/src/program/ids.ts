/**
 * Ids in the forms in which programs hold them: numbers, digits as text, and the resource itself. Texts are left to the
 * rules, which both processes know; only the program's half can tell a resource.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import { InWords, isReadableId, type Problem, READABLE_ID, show } from "../rules/index.js";
import { isOfType, kindInWords } from "./classes.js";

/**
 * `args` with the id's Output in place of each resource that stands for its id; it keeps the dependency, so that the engine
 * creates the resource first and replaces what follows it. A resource of another kind becomes words that no rule accepts.
 */
export function idsOf(kind: Kind | SetKind, args: Values): Record<string, unknown> {
  const ids: Record<string, unknown> = { ...args };
  for (const name of [...kind.exactIds, "existingId"]) {
    const value = args[name];
    if (value === undefined) continue;
    const referred = kind.refersTo[name];
    if (pulumi.Output.isInstance(value) || value instanceof Promise) {
      // What an Output holds is known too late for the program's own checks: the provider refuses the words by name.
      if (referred !== undefined) ids[name] = laterIdIn(value, referred);
    } else {
      ids[name] = idIn(value, referred, (words) => new InWords(words));
    }
  }
  return ids;
}

/** By kind and what was given: programs pass one Output to thousands of events, and each `apply` makes promises. */
const laterIds = new WeakMap<Kind, WeakMap<object, unknown>>();

function laterIdIn(given: object, referred: Kind): unknown {
  const known = laterIds.get(referred) ?? new WeakMap<object, unknown>();
  laterIds.set(referred, known);
  if (!known.has(given))
    known.set(
      given,
      pulumi.output(given).apply((later) => idIn(later, referred, String)),
    );
  return known.get(given);
}

function idIn(value: unknown, referred: Kind | undefined, refused: (words: string) => unknown): unknown {
  if (!pulumi.Resource.isInstance(value)) return value;
  const fits = referred !== undefined && isOfType(value, typeTokenOf(referred.name));
  return fits ? (value as unknown as Values)[referred.idProperty] : refused(kindInWords(value));
}

/**
 * The id of a resource that is read: Pulumi takes texts only, and takes an empty one for none. What is no id becomes words,
 * which {@link readIdProblem} refuses in the program, and the provider where they come from an Output.
 */
export function readIdOf(id: pulumi.Input<pulumi.ID | number>): pulumi.Input<pulumi.ID> {
  const isLater = pulumi.Output.isInstance(id) || id instanceof Promise;
  return isLater ? pulumi.output(id as pulumi.Output<pulumi.ID>).apply(idOrWords) : idOrWords(id);
}

function idOrWords(id: unknown): string {
  if (pulumi.Resource.isInstance(id)) return kindInWords(id);
  return isReadableId(String(id)) ? String(id) : show(id);
}

/** What is wrong with the id of a resource that is read; nothing where it is not known in the program yet. */
export function readIdProblem({ id }: pulumi.CustomResourceOptions): Problem[] {
  if (typeof id !== "string" || isReadableId(id)) return [];
  return [{ property: "id", reason: `expected ${READABLE_ID}; got ${id === "" ? show(id) : id}` }];
}
