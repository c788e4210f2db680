/**
 * A create that was sent: the same record in this machine's memory, in the state (`unresolved`) and in messages. Nothing in it is secret, and none is
 * ever changed in place. Also its mark, which is the same on every machine and in every run. Pure.
 */
import { createHash } from "node:crypto";
import { isPlain, type Values } from "../base/index.js";
import { type Kind, nameToTell } from "../kinds/index.js";

type Facts = Readonly<Record<string, string | number | boolean>>;

export interface CreateRecord {
  /** When it was sent last, ISO 8601; empty if that is not known. */
  readonly at: string;
  readonly mark: string;
  /** The fingerprint of the body that was sent; empty if that is not known. */
  readonly body: string;
  /** The request field that the mark was sent in; absent if it was not sent. */
  readonly field?: string | undefined;
  /** The object's name on the platform; absent if it is secret. */
  readonly name?: string | undefined;
  /** The arguments that distinguish the object from others for people, by their names in the program. */
  readonly facts?: Facts | undefined;
  /** The id of the object that it was to replace. */
  readonly replaces?: string | undefined;
}

/** One whose outcome nobody knows, as the state keeps it. */
export interface Unresolved extends CreateRecord {
  /** What was sent and what came back, scrubbed. */
  readonly what: string;
  /** What the last search for it found, scrubbed; the next one replaces it. */
  readonly searched?: string | undefined;
}

/** The name and the arguments that tell an object of this kind from others, without secret and unknown ones. */
export function tellingIn(kind: Kind, properties: Values, secret: ReadonlySet<string>) {
  const shown = kind.tellingProperties.filter((property) => !secret.has(property) && isPlain(properties[property]));
  const facts = Object.fromEntries(shown.map((property) => [property, properties[property]])) as Facts;
  return { name: nameToTell(kind, properties, secret), facts };
}

/**
 * The mark of a create: each machine that sends it for the same resource, in place of the same object, sends the same one. So a search finds what any of
 * several interrupted runs made.
 * @param of what distinguishes it from all other creates: the backend, the stack, the key, and the id that it replaces.
 * @returns in the form of a UUID.
 */
export function markOf(...of: readonly (string | undefined)[]): string {
  const hash = createHash("sha256").update(JSON.stringify(of)).digest("hex");
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join("-");
}

/** A mark and its field in the form of the inputs, so that the engine's record of an interrupted run has them too. */
export function writeMark({ field, mark }: { readonly field: string; readonly mark: string }): string {
  return `${field} ${mark}`;
}

export function readMark(text: unknown): { readonly field: string; readonly mark: string } | undefined {
  const [, field, mark] = (typeof text === "string" ? /^(\S+) (\S+)$/.exec(text) : undefined) ?? [];
  return field === undefined || mark === undefined ? undefined : { field, mark };
}
