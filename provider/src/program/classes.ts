/**
 * What kind of resource a value is, whichever package, or copy of this one, it comes from.
 */
import * as pulumi from "@pulumi/pulumi";

/** Whether `value` is a resource with this type token, of whichever copy of this package. */
export function isOfType(value: unknown, typeToken: string): boolean {
  return pulumi.Resource.isInstance(value) && typeTokenIn(value) === typeToken;
}

/** The kind of a resource in words: `a ConversionEvent`, `an Instance`. */
export function kindInWords(resource: pulumi.Resource): string {
  const kind = String(typeTokenIn(resource) ?? "resource")
    .split(/[:/]/)
    .at(-1);
  return `${/^[aeiou]/i.test(kind ?? "") ? "an" : "a"} ${kind}`;
}

/** Pulumi notes it on each resource, but not in its types. */
function typeTokenIn(resource: pulumi.Resource): unknown {
  return (resource as { __pulumiType?: unknown }).__pulumiType;
}
