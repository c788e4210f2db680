import * as pulumi from "@pulumi/pulumi";

/** Outputs and promises, or anything that holds one: not known in the program yet. */
export function isNotPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  // Deeper than any request field: a value that holds itself ends here and is refused by its rule.
  return depth < 20 && Object.values(value).some((entry) => isNotPlain(entry, depth + 1));
}
