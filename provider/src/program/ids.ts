/** Values in programs: Outputs and promises, not known yet, and ids as resources, which only this process recognises. */
import * as pulumi from "@pulumi/pulumi";
import { asRecord, type Values } from "../base/index.js";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import {
  DescribedInvalidValue,
  exactId,
  isPlatformId,
  LIVE_ID,
  show,
} from "../rules/index.js";

/** Deeper than any request field: a value that holds itself ends here, and its rule refuses it. */
const MAX_NESTING = 20;

/** Whether `value` is, or holds, an Output or a promise, and so is not known in the program yet. */
export function holdsOutput(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  if (depth === MAX_NESTING) return false;
  return Object.values(value).some((entry) => holdsOutput(entry, depth + 1));
}

export function isResource(value: unknown): value is pulumi.Resource {
  return pulumi.Resource.isInstance(value);
}

/** Whether `value` is a resource with this type token, of whichever copy of this package. */
export function isOfType(value: unknown, typeToken: string): boolean {
  return isResource(value) && asRecord(value).__pulumiType === typeToken;
}

/**
 * `args`, with the id's Output, which keeps the dependency, for each resource that stands for its id. A resource of
 * another kind becomes words that no rule accepts. Of a resource in an Output, Pulumi itself passes on the id.
 */
export function idsOf(kind: Kind | SetKind, args: Values): Record<string, unknown> {
  const ids: Record<string, unknown> = { ...args };
  for (const name of [...kind.exactIds, "existingId"]) {
    const value = args[name];
    if (!isResource(value)) continue;
    const expected = kind.references[name];
    const properties = asRecord(value);
    const fits = expected !== undefined && isOfType(value, typeTokenOf(expected.name));
    ids[name] = fits
      ? properties[expected.idProperty]
      : new DescribedInvalidValue(`a resource of type ${properties.__pulumiType}`);
  }
  return ids;
}

/** @param output the engine's value: unknown in a preview of an update in place, which still knows the id. */
export function idInPreview(
  { id }: pulumi.CustomResource,
  output: pulumi.Output<number>,
): pulumi.Output<number> {
  return id.apply((digits) => {
    if (!LIVE_ID.test(digits)) return output;
    return pulumi.output(exactId(digits) as number);
  });
}

/** The id of a resource that is read: Pulumi takes texts only. The provider refuses what is no id of the platform. */
export function readIdOf(id: pulumi.Input<pulumi.ID | number>): pulumi.Output<pulumi.ID> {
  return pulumi.output(id as pulumi.Input<pulumi.ID>).apply((known) => {
    return isPlatformId(String(known)) ? String(known) : show(known);
  });
}
