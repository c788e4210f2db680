/**
 * Resources whose create was sent and has an unknown outcome: how they stand in the state, and what is said of them.
 */
import { printable } from "../text.js";
import { UNRESOLVED } from "./properties.js";
import type { ResourceSchema } from "./resource.js";

/** What the state keeps of an unresolved create; its field names are a contract. */
export interface UnresolvedMark {
  /** When it was sent, ISO 8601. */
  readonly since: string;
  /** What was sent and what came back, scrubbed. */
  readonly what: string;
  /** The resource's URN, for the commands that the user is told. */
  readonly urn?: string;
  /** The field and the unique mark that it was sent with, where the installation keeps one. */
  readonly trace?: { readonly field: string; readonly value: string };
  /** Whether the name on the platform is secret, and so is not told. */
  readonly nameIsSecret?: boolean;
}

/** The id of a resource that has none of the platform's: never digits only. */
export function unresolvedId(mark: string): string {
  return `unresolved-${mark}`;
}

export function unresolvedMarkOf(
  properties: Readonly<Record<string, unknown>> | undefined,
): UnresolvedMark | undefined {
  const mark = properties?.[UNRESOLVED];
  return typeof mark === "object" && mark !== null ? (mark as UnresolvedMark) : undefined;
}

/** What a user is told of an unresolved create each time that it stops a run: what is known, and the two ways out. */
export function explainUnresolved(
  schema: ResourceSchema,
  properties: Readonly<Record<string, unknown>>,
  mark: UnresolvedMark,
): string {
  const name = properties[schema.nameProperty];
  const tellable = typeof name === "string" && mark.nameIsSecret !== true;
  const named = tellable ? ` named "${printable(name)}"` : "";
  const traced = mark.trace === undefined ? "" : `, or by ${mark.trace.field} = ${mark.trace.value}`;
  const urn = mark.urn ?? "<urn>";
  return [
    `Its outcome is unknown, so it is not sent again. ${mark.what}`,
    `Look into the account for the ${schema.kind}${named}${traced}.`,
    "  If it is there: set existingId to its id and run `pulumi up`: it is taken over, and nothing is sent.",
    `  If it is not: run \`pulumi state delete '${urn}'\`, then \`pulumi up\`: it is created anew. Where it was to replace`,
    `  another, which Pulumi then calls ambiguous: \`npx pulumi-advertising pending --not-created '${urn}'\` instead.`,
  ].join("\n");
}
