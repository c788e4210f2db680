/**
 * Whether an adoption settles a create of unknown outcome: only where it is about the very object that the create may have
 * made. Asked by the program's half before anything is registered, and by the provider, which knows the values of Outputs, before
 * it forgets what the journal noted. Pure.
 */
import type { Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";

/** What is known of a create that was sent. */
export interface SentCreate {
  readonly kind: Kind["name"];
  /** On the platform; absent where it is secret. */
  readonly name?: string | undefined;
  /** By argument. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * @param values the arguments of what adopts; those that are no plain values are not known yet, and contradict nothing.
 * @returns whether kind and name agree, and none of the other facts that both sides know contradicts it: the advertiser above all.
 */
export function settles(kind: Kind, values: Values, sent: SentCreate): boolean {
  if (kind.name !== sent.kind) return false;
  const agrees = (property: string, then: unknown) => {
    const now = values[property];
    return !isPlain(now) || !isPlain(then) || String(now) === String(then);
  };
  return (
    agrees(kind.nameProperty, sent.name) &&
    Object.entries(sent.facts ?? {}).every(([property, then]) => agrees(property, then))
  );
}

function isPlain(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
