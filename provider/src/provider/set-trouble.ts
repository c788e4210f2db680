/**
 * The one error of a set: all that failed, by reason, and all whose outcome is unknown. Pure.
 */
import { type AdvertisingError, count, cut, OutcomeUnknownError, withCode } from "../base/index.js";
import type { Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { describe, memberOf, waysOut } from "../state/index.js";
import type { Outcome } from "./outcome.js";
import { type Deletions, heldBack } from "./set-delete.js";
import { cutLines, listed, MAX_LISTED, shownKey } from "./set-words.js";
import { memberSubject, type Subject } from "./subject.js";

/** What failed, or waits for somebody: what the error of the whole set says. */
export interface Trouble {
  readonly text: string;
  readonly code: string;
}

/**
 * @param outcomes none in a preview. @param held the keys that the state holds afterwards. @param deletions of this run.
 * @returns nothing where all went well.
 */
export function troubleInWords(
  kind: Kind,
  set: Subject,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  held: ReadonlyMap<string, unknown>,
  deletions: Deletions = heldBack([]),
): Trouble | undefined {
  const refused = members.flatMap(({ key }) => {
    const outcome = outcomes.get(key);
    return outcome?.kind === "not-created" ? [{ key, error: outcome.error }] : [];
  });
  const open = members.flatMap((member) => {
    const { key, action, unresolved } = member;
    const outcome = outcomes.get(key);
    const record = outcome?.kind === "unresolved" ? outcome.record : action.do === "wait" ? unresolved : undefined;
    return record === undefined ? [] : [{ key, record }];
  });
  const { wanted, deleted } = deletions;
  const kept = wanted.flatMap(({ key, id }) => {
    const error = deletions.failed.get(id);
    return error === undefined ? [] : [{ key, error }];
  });
  const failed = [...refused, ...kept];
  const waiting = wanted.length - deleted.size;
  if (failed.length + open.length === 0) return undefined;
  const [first] = failed;
  const [anyOpen] = open;
  const declared = members.filter(({ isDeclared }) => isDeclared);
  const inState = declared.filter(({ key }) => held.has(key)).length;
  const lines = [`${set.label}: ${inState} of ${declared.length} declared events are in the state; this is wrong:`];
  const reasons = byReason(set, failed).map(({ keys, reason }) => `  ${listed(keys)}: ${reason}`);
  lines.push(...cut(reasons, MAX_LISTED, (others) => `  and ${count(others, "more reason")}`));
  if (refused.length > 0) lines.push("The next `pulumi up` sends just what is missing.");
  if (waiting > 0) {
    const events = count(waiting, kind.create.noun);
    lines.push(
      `${kept.length > 0 ? `Not deleted yet: ${events}.` : `Nothing was deleted, since something is wrong: ${events} to delete.`} ` +
        "The next `pulumi up` in which all else goes well deletes them.",
    );
  }
  if (anyOpen !== undefined) {
    lines.push(
      `The outcome of ${open.length} is unknown, so nothing is sent for ${open.length === 1 ? "it" : "them"} until somebody has looked into the account for`,
      ...cutLines(
        open.map(
          ({ key, record }) => `  ${memberOf("events", key)}: ${describe(kind.name, record)}\n    ${record.what}`,
        ),
      ),
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
