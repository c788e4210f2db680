/**
 * Which resource of which stack: written by the program's half, read by the provider's. The text stands in the state and
 * in the journal: its form is a contract.
 */

import { type ResourceSchema, typeTokenOf } from "./resource.js";

/** `<organization>/<project>/<stack>[::<types of parents>]::<name>` */
export interface Identity {
  readonly organization: string;
  readonly project: string;
  readonly stack: string;
  /** As in a URN, joined by `$`; none for a resource of the stack itself. */
  readonly parentTypes: string | undefined;
  readonly name: string;
}

export function identityText({ organization, project, stack, parentTypes, name }: Identity): string {
  return [`${organization}/${project}/${stack}`, ...(parentTypes === undefined ? [] : [parentTypes]), name].join("::");
}

/** The part that all resources of a stack share. */
export function stackOf(identity: string): string {
  return identity.split("::", 1)[0] ?? identity;
}

/** The name in the program. */
export function nameOf(identity: string): string {
  // A name may hold "::" itself; types never do.
  const [, second = "", ...rest] = identity.split("::");
  return isTypes(second) && rest.length > 0 ? rest.join("::") : [second, ...rest].join("::");
}

/** The resource's URN, for commands that the user is told. */
export function urnOf(identity: string, typeToken: string): string {
  const [, project = "", stack = ""] = stackOf(identity).split("/");
  const [, second = "", ...rest] = identity.split("::");
  const types = isTypes(second) && rest.length > 0 ? `${second}$${typeToken}` : typeToken;
  return `urn:pulumi:${stack}::${project}::${types}::${nameOf(identity)}`;
}

/** Under which the journal knows a resource: an advertiser and an event may have one name. */
export function journalKeyOf(kind: ResourceSchema["kind"], identity: string): string {
  return `${kind}::${identity}`;
}

/** The resource that a note of the journal is about. */
export function aboutWhom(journalKey: string): { readonly label: string; readonly urn: string } {
  const [kind = "", ...rest] = journalKey.split("::");
  const identity = rest.join("::");
  return {
    label: labelOf(kind, nameOf(identity)),
    urn: urnOf(identity, typeTokenOf(kind as ResourceSchema["kind"])),
  };
}

/** `ConversionEvent "purchase"` */
export function labelOf(kind: string, name: string): string {
  return `${kind} "${name}"`;
}

/** A type token has two colons, or more where several are joined. */
function isTypes(part: string): boolean {
  return /^[^:]+:[^:]*:[^:]+/.test(part);
}
