/**
 * The messages about single objects, one function each: data in, words out. What Pulumi's own preview shows is not said again. The messages of a
 * set are in `tell-set.ts`, those about a create of unknown outcome in `state/sentences.ts`. Nothing is decided here.
 */
import { asTyped, enumerate } from "../base/index.js";
import type { Former } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { pendingCommand, type Ref, staysLive, whatHappened } from "../state/index.js";
import type { MemoryRecord } from "../store/index.js";
import type { Messages, Notice } from "./engine.js";

/** A create of an earlier run, by the memory or, if its outcome is unknown, by the state. */
type Noted = Pick<MemoryRecord, "at" | "body"> & Partial<Pick<MemoryRecord, "id" | "state">>;

/** In a preview. @param next what the `up` does with it, as {@link nextOf} says. */
export function beforeTakeOver({ label, resourceUrn: urn }: Ref, { at, id, state }: Noted, next: string): Notice {
  const text = `${whatHappened(label, at, id, state === "handed")} \`pulumi up\` ${next}.`;
  return { sort: "sent by earlier runs", urn, text, brief: `${label} (${id ?? "outcome unknown"})` };
}

/** What an `up` does with a create of an earlier run. @param body what the program would send now; none if it is not known yet. */
export function nextOf({ id, body: sent }: Noted, body: string | undefined, isSearchable: boolean): string {
  if (id === undefined)
    return isSearchable ? "looks for it by its mark" : "does not send it, and saves it as unresolved";
  if (body === undefined || body === sent || sent === "") return "takes it over";
  return `saves ${id} with the arguments it was sent with, which differ from the program's; the \`up\` after that updates or replaces it`;
}

export function takenOver({ label }: Ref, id: string): string {
  return `${label} was created as ${id} by an earlier run; it is taken over, and nothing is sent.`;
}

/** The error with which what was sent with other arguments is saved, for the next run to change. */
export function savedAsSent({ label }: Ref, id: string): string {
  return `${label} was created as ${id} by an earlier run, with arguments that differ from the program's. Nothing was sent now. The state has it as it was created; \`pulumi preview\` shows whether it is updated or replaced.`;
}

/** A resource that the state does not have, and that had an object before. */
export function madeBefore(kind: Kind, ref: Ref, id: string): Notice {
  const { label, resourceUrn: urn } = ref;
  return {
    sort: "with an object before",
    urn,
    text: `${label} was ${id} before: this creates another ${kind.create.noun}, and leaves ${id} as it is. To go on with ${id}, set existingId: ${id}.`,
    brief: `${label} (${id})`,
  };
}

/** The same create is open in another stack of this project. */
export function openElsewhere(
  { label, short }: Ref,
  { at, id, state, stack }: MemoryRecord & { readonly stack: string },
): string {
  return [
    `${whatHappened(label, at, id, state === "handed")} That was in the stack ${stack}. If this is that stack under a new name, answer for it here before it is created:`,
    `  ${pendingCommand("created", [`${short}=${id ?? "<its id>"}`])}`,
    `  ${pendingCommand("not-created", [short])}`,
    `If it is another stack, run \`${asTyped("pulumi up")}\` there first.`,
  ].join("\n");
}

/** What becomes of the object that is replaced: before that, in a preview, and after it. @param then as "the resource …" goes on: `is 43 now`. */
export function replaced(kind: Kind, { resourceUrn: urn, label }: Ref, former: Former, then: string): Notice {
  const { id, isDeleted } = former;
  const fate = isDeleted ? `${id} is deleted on the platform, as retainOnDelete: false says` : staysLive(kind, id);
  const sort = `replaced, and ${isDeleted ? "deleted" : "left live"} on the platform`;
  return { sort, urn, text: `${label} ${then}. ${fate}.`, brief: `${id} (${label} ${then})` };
}

/** Of an object that the program names and changes, without a known update. @param changes as `changesInWords` says them. */
export function notTold({ label, resourceUrn: urn }: Ref, id: string, changes: readonly string[]): Notice {
  const told = enumerate(changes);
  const text = `${label} is ${id}, as existingId says: only the state changes (${told}), and the platform is not told. Change ${id} there by hand, or take the edit back.`;
  return { sort: "changed in the state only", urn, text, brief: `${label} (${id}: ${told})` };
}

/** What this machine has of a resource whose object the state goes on with, in a preview and once in an `up`. */
export function besideHeld(
  kind: Kind,
  { label, short, resourceUrn: urn }: Ref,
  { at, id, state }: MemoryRecord,
  held: string,
): Notice {
  const what = `${whatHappened(label, at, id, state === "handed")} The state has ${held}.`;
  const next =
    id === undefined
      ? "Look in the account for a second one, which nothing manages."
      : `${staysLive(kind, `Nothing manages ${id}: it`)}. To use it instead, set existingId: ${id}.`;
  const text = `${what} ${next} To stop this message:\n  ${pendingCommand("forget", [short])}`;
  return { sort: "also made by earlier runs", urn, text, brief: `${label} (${id ?? "outcome unknown"})` };
}

export function tellWarnings({ say }: Pick<Messages, "say">, label: string, warnings: readonly string[]): void {
  for (const warning of warnings) say(`Platform warning (first seen for ${label}): ${warning}`, warning);
}

export function goneNotice(label: string): Notice {
  const text = `${label} is no longer on the platform, so it leaves the state: as long as the program declares it, \`pulumi up\` creates another one.`;
  return { sort: "no longer on the platform", urn: "", text, brief: label };
}

/** @param until from when on its absence counts, ISO 8601. */
export function tooEarly(label: string, id: string, until: string): string {
  return `${label}: the platform does not find ${id}, but it was just created: until ${until} that proves nothing. Run this again after that.`;
}

/** What becomes of it, the next preview shows. */
export function driftNotice(label: string, properties: readonly string[]): Notice {
  const text = `${label} was changed on the platform (${enumerate(properties)}). To keep that, copy the refreshed values into your program.`;
  return { sort: "changed on the platform", urn: "", text, brief: label };
}

/** @param noun of the objects. */
export function nothingCompared(noun: string): string {
  return (
    `A refresh does not compare any ${noun}: advertising:operations has no read for it, so the state stays as it is. ` +
    "(A refresh uses the configuration of the last `pulumi up`; with --run-program it uses the current one.)"
  );
}

/** For an object that left the state without a delete. */
export function notDeleted(kind: Kind, label: string, id: string, why: string): string {
  return `${label} left the state but was not deleted, because ${why}. ${staysLive(kind, id)}.`;
}
