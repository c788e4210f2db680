/**
 * What people read of a set: what a preview will do to which keys, what an `up` has done, and all that failed. Pure.
 */
import { requestFields } from "../api/request.js";
import { type AdvertisingError, OutcomeUnknownError, withCode } from "../errors.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { Kind } from "../kinds/kind.js";
import { memberOf } from "../state/identity.js";
import { describeSought, soughtIn, waysOut } from "../state/unresolved.js";
import { count, printable } from "../text.js";
import { holdsUnknown } from "./inputs.js";
import type { Outcome } from "./outcome.js";
import type { Action, Member } from "./set-plan.js";
import { memberSubject, type Subject } from "./subject.js";

/** More keys, or lines, are counted. */
const MAX_LISTED = 20;

/** What an `up` would do; nothing where that is nothing. */
export function planInWords(kind: Kind, members: readonly Member[]): string | undefined {
  const { create, afterlife } = kind;
  const of = (action: Action) => members.filter((member) => member.action === action);
  const counts: string[] = [];
  const lines: string[] = [];
  const add = (action: Action, what: string, title: string, shown: (member: Member) => string) => {
    const those = of(action);
    if (those.length === 0) return;
    counts.push(`${those.length} ${what}`);
    lines.push(`  ${title}: ${listed(those.map(shown))}`);
  };
  add("create", "to create", "created", keyOf);
  const anew = count(of("create anew").length, `more live ${create.noun}`);
  add("create anew", "to create anew", `created anew, which makes ${anew}`, keyAndId);
  add(
    "perhaps create anew",
    "perhaps to create anew",
    "created anew where values that are not known yet differ",
    keyAndId,
  );
  add("adopt", "to adopt", "adopted, and nothing is sent", ({ key, id, entry }) => {
    const instead = id === undefined || id === String(entry.existingId) ? "" : ` instead of ${id}`;
    return `${shownKey(key)} (${String(entry.existingId)}${instead})`;
  });
  add("let go", "to let go", "let go", keyAndId);
  add("wait", "to settle", "of unknown outcome, so nothing is sent until somebody settles it", keyOf);
  if (lines.length === 0) return undefined;
  return [
    `events: ${[...counts, `${of("keep").length} unchanged`].join(", ")}`,
    ...lines,
    ...renamesIn(kind, members),
    ...(leavesLive(members) === 0
      ? []
      : [`What the set lets go of, or creates anew, ${afterlife}; deactivate it there by hand.`]),
  ].join("\n");
}

/** A key that is new, with the arguments of one that is let go. */
function renamesIn(kind: Kind, members: readonly Member[]): string[] {
  const gone = members.filter(({ action, id }) => action === "let go" && id !== undefined);
  if (gone.length === 0) return [];
  const byBody = new Map(gone.map((member) => [member.fingerprint, member]));
  const lines = members.flatMap(({ key, action, values }) => {
    if (action !== "create" || holdsUnknown(values)) return [];
    const former = byBody.get(fingerprintOf(requestFields(kind, values)));
    if (former === undefined) return [];
    return [
      `  ${shownKey(key)} has the arguments of ${shownKey(former.key)}, which is let go: if it is a rename, set existingId: ${former.id} there, and nothing is sent`,
    ];
  });
  return cut(lines);
}

/** What an `up` has left on the platform that nothing manages any more; nothing where that is nothing. */
export function leftLiveInWords(
  { create, afterlife }: Kind,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
): string | undefined {
  const lines = members.flatMap(({ key, action, id }) => {
    if (id === undefined) return [];
    if (action === "let go") return [`  ${id}, which was ${shownKey(key)}`];
    const outcome = outcomes.get(key);
    const isNow = outcome?.kind === "created" || outcome?.kind === "adopted" ? outcome.id : undefined;
    return isNow === undefined || isNow === id ? [] : [`  ${id}: ${shownKey(key)} is ${isNow} now`];
  });
  if (lines.length === 0) return undefined;
  const noun = count(lines.length, `live ${create.noun}`);
  return [
    `No longer managed, as a result of this run: ${noun}.`,
    ...cut(lines),
    `Each ${afterlife}; deactivate it there by hand.`,
  ].join("\n");
}

/** How many members an interrupted run had created, and were taken over; nothing where there are none. */
export function takenOverInWords(outcomes: ReadonlyMap<string, Outcome>, { label }: Subject): string | undefined {
  const those = [...outcomes].filter(([, outcome]) => outcome.kind === "created" && outcome.isTakenOver);
  if (those.length === 0) return undefined;
  const keys = those.map(([key, outcome]) => `${shownKey(key)} (${outcome.kind === "created" ? outcome.id : ""})`);
  return `${label}: a run that was interrupted had created ${those.length} of it, which are taken over, and nothing is sent for them: ${listed(keys)}`;
}

/** What failed, or waits for somebody: what the error of the whole set says. */
export interface Trouble {
  readonly text: string;
  readonly code: string;
}

/** @param unresolved all members of unknown outcome. @param held how many members the state holds afterwards. */
export function troubleInWords(
  kind: Kind,
  set: Subject,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  held: number,
): Trouble | undefined {
  const failed = members.flatMap(({ key }) => {
    const outcome = outcomes.get(key);
    return outcome?.kind === "not-created" ? [{ key, error: outcome.error }] : [];
  });
  const open = members.flatMap((member) => {
    const { key, unresolved, values } = member;
    const outcome = outcomes.get(key);
    const mark = outcome?.kind === "unresolved" ? outcome.unresolved : outcome === undefined ? unresolved : undefined;
    return mark === undefined ? [] : [{ key, mark, sought: describeSought(soughtIn(kind, values, mark)) }];
  });
  if (failed.length + open.length === 0) return undefined;
  const [first] = failed;
  const [anyOpen] = open;
  const lines = [
    `${set.label}: ${count(held, kind.create.noun)} of ${members.length} are in the state; this is wrong with the others.`,
  ];
  for (const { keys, reason } of byReason(set, failed).slice(0, MAX_LISTED)) lines.push(`  ${listed(keys)}: ${reason}`);
  const more = byReason(set, failed).length - MAX_LISTED;
  if (more > 0) lines.push(`  and ${count(more, "more reason")}`);
  if (failed.length > 0) lines.push("The next `pulumi up` sends just what is missing.");
  if (anyOpen !== undefined) {
    lines.push(
      `The outcome of ${open.length} is unknown, so nothing is sent for ${open.length === 1 ? "it" : "them"} until somebody has looked into the account for`,
      ...cut(open.map(({ key, sought, mark }) => `  ${memberOf("events", key)}: ${sought}\n    ${mark.what}`)),
      ...waysOut(memberSubject(set, anyOpen.key).urn),
    );
    if (open.length > 1) lines.push("Likewise for the others, with their keys.");
  }
  return {
    text: lines.join("\n"),
    code: anyOpen !== undefined ? OutcomeUnknownError.code : (first?.error.code ?? OutcomeUnknownError.code),
  };
}

/** The same reason is told once, with all whom it is about. */
function byReason(set: Subject, failed: readonly { readonly key: string; readonly error: AdvertisingError }[]) {
  const groups = Map.groupBy(failed, ({ key, error }) => {
    const { label } = memberSubject(set, key);
    return withCode(error.message.replace(label, "").replace(/^[:\s]+/, ""), error.code);
  });
  return [...groups].map(([reason, those]) => ({ reason, keys: those.map(({ key }) => shownKey(key)) }));
}

function leavesLive(members: readonly Member[]): number {
  return members.filter(({ action, id, entry }) => {
    if (id === undefined) return false;
    return action === "let go" || action === "create anew" || (action === "adopt" && String(entry.existingId) !== id);
  }).length;
}

function keyOf({ key }: Member): string {
  return shownKey(key);
}

function keyAndId({ key, id }: Member): string {
  return `${shownKey(key)} (${id ?? "without an id"})`;
}

function shownKey(key: string): string {
  return printable(key);
}

function listed(items: readonly string[]): string {
  const more = items.length - MAX_LISTED;
  return [...items.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

function cut(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LISTED;
  return [...lines.slice(0, MAX_LISTED), ...(more > 0 ? [`  and ${more} more`] : [])];
}
