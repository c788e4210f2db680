/**
 * The messages about a set: its plan in a preview, what an `up` has done, and its one error. Data in, words out: nothing is decided here. Pure.
 */
import {
  type AdvertisingError,
  agree,
  count,
  cut,
  idRanges,
  natural,
  OutcomeUnknownError,
  printable,
  withCode,
} from "../base/index.js";
import { type Member, type ShownAction, shownAction } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import {
  describe,
  howToKeep,
  type LeftLive,
  MAX_LISTED,
  memberOf,
  memberRef,
  type Ref,
  staysLive,
  type Unresolved,
  waysOut,
  whatIsKnown,
} from "../state/index.js";
import { idAfter, type Outcome } from "./outcome.js";

/** The problems after a run of a set, or those that it would have. */
export interface Result {
  readonly failed: readonly { readonly key: string; readonly error: AdvertisingError }[];
  /** Deletes that failed, or were not begun. */
  readonly kept: readonly { readonly key: string; readonly id: string; readonly error: AdvertisingError }[];
  readonly open: readonly { readonly key: string; readonly record: Unresolved; readonly why: string | undefined }[];
  /** What was taken over with other arguments than the program has now. */
  readonly asSent: readonly { readonly key: string; readonly id: string }[];
  /** True without any problem. Only then objects are deleted, as the engine does with single resources. */
  readonly isWell: boolean;
}

/** The lines of a plan in their order: an action, what it is called, and what is said of it. */
const PLAN: readonly (readonly [action: ShownAction, title: string, detail?: string])[] = [
  ["create", "to create"],
  ["update", "to update in place"],
  ["look for", "to look for on the platform"],
  ["replace", "to replace", ", which makes another live object of each"],
  ["perhaps replace", "perhaps to replace", ", if values that are not known yet turn out to differ"],
  ["adopt", "to adopt"],
  ["record", "to change in the state only", ", since the platform has no known way to update"],
  ["let go", "to remove from the state"],
  ["delete", "to delete", ", if everything else goes well"],
  ["wait", "to settle", " first"],
];

/**
 * What an `up` would do; nothing if there is nothing to do.
 * @param left by the state; what is owed is tried again. @param isKept whether another resource goes on with the object with this id.
 */
export function planInWords(
  kind: Kind,
  members: readonly Member[],
  left: readonly LeftLive[],
  isKept: (id: string) => boolean,
): string | undefined {
  const shown = ({ key, id, action }: Member) => {
    const ids = [...new Set([id, action.do === "adopt" ? action.id : undefined])].filter((each) => each !== undefined);
    return `${printable(key)}${ids.length === 0 ? "" : ` (${ids.join(" → ")})`}`;
  };
  const of = (action: ShownAction) => members.filter((member) => shownAction(member.action) === action);
  const owed = left.filter((object) => object.owed === true).map(({ id, key = "" }) => `${printable(key)} (${id})`);
  const parts = [
    ...PLAN.map(([action, title, detail = ""]) => ({ title, detail, those: of(action).map(shown) })),
    { title: "still to delete", detail: "", those: owed },
  ].filter(({ those }) => those.length > 0);
  if (parts.length === 0) return undefined;
  const counts = parts.map(({ title, those }) => `${those.length} ${title}`);
  const live = members.flatMap(({ action, former }) =>
    former === undefined || former.isDeleted || isKept(former.id) || shownAction(action) === "perhaps replace"
      ? []
      : [former.id],
  );
  return [
    `events: ${[...counts, `${of("keep").length} unchanged`].join(", ")}`,
    ...parts.map(({ title, detail, those }) => `  ${title}${detail}: ${listed(those)}`),
    ...(live.length === 0 ? [] : [`${staysLive(kind, `Each former object (${idRanges(live)})`)}.`]),
    ...(of("replace").length === 0 ? [] : [howToKeep("one")]),
  ].join("\n");
}

/** @param isManaged whether another resource has it, or it is deleted. @returns none if the `up` left nothing live and unmanaged. */
export function leftInWords(
  kind: Kind,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  isManaged: (id: string) => boolean,
): string | undefined {
  const inOrder = members.toSorted((a, b) => natural(a.key, b.key));
  const left = inOrder.flatMap(({ key, action, id }) => {
    if (id === undefined || isManaged(id)) return [];
    if (action.do === "let go" || action.do === "delete") return [{ id, line: `  ${id}, which was ${printable(key)}` }];
    const isNow = idAfter(outcomes.get(key));
    return isNow === undefined || isNow === id ? [] : [{ id, line: `  ${id}: ${printable(key)} is ${isNow} now` }];
  });
  if (left.length === 0) return undefined;
  const lines = left.map(({ line }) => line);
  return [
    `No longer managed after this run: ${count(left.length, `live ${kind.create.noun}`)}.`,
    ...cut(
      lines,
      MAX_LISTED,
      (others) => `  and ${others} more: ${idRanges(left.slice(MAX_LISTED).map(({ id }) => id))}`,
    ),
    `${staysLive(kind, "Each")}.`,
  ].join("\n");
}

/** How many members of an interrupted run were taken over; nothing if none was. */
export function takenOverInWords(outcomes: ReadonlyMap<string, Outcome>, { label }: Ref): string | undefined {
  const those = [...outcomes].flatMap(([key, outcome]) =>
    outcome.kind === "created" && outcome.isTakenOver ? [`${printable(key)} (${outcome.id})`] : [],
  );
  if (those.length === 0) return undefined;
  return `${label}: earlier runs had created ${count(those.length, "event")}; now taken over, and nothing is sent: ${listed(those)}`;
}

function listed(items: readonly string[]): string {
  return cut(items.toSorted(natural), MAX_LISTED).join(", ");
}

/** The error of the whole set, if the result is not well. @param held the keys in the state afterwards. */
export function troubleInWords(
  kind: Kind,
  set: Ref,
  members: readonly Member[],
  { failed: refused, kept, open, asSent }: Result,
  held: ReadonlyMap<string, unknown>,
): { readonly text: string; readonly code: string } {
  const failed = [...refused, ...kept];
  const declared = members.filter(({ isDeclared }) => isDeclared);
  const inState = declared.filter(({ key }) => held.has(key)).length;
  const reasons = byReason(set, failed).map(({ keys, reason }) => `  ${listed(keys)}: ${reason}`);
  const lines = [
    `${set.label}: ${inState} of ${count(declared.length, "declared event")} ${agree(declared.length === 1 ? 1 : inState, "is", "are")} in the state.${failed.length > 0 ? " Failed:" : ""}`,
    ...cut(reasons, MAX_LISTED, (others) => `  and ${count(others, "more reason")}`),
    ...(refused.length === 0 ? [] : ["The next `pulumi up` sends only what is missing."]),
    ...(asSent.length === 0
      ? []
      : [
          `An earlier run created these with other arguments than the program has now: ${listed(asSent.map(({ key, id }) => `${printable(key)} (${id})`))}. They are in the state as they were sent: the next preview shows what becomes of them.`,
        ]),
    ...openLines(kind, set, open),
  ];
  const code = open.length > 0 ? OutcomeUnknownError.code : (failed[0]?.error.code ?? OutcomeUnknownError.code);
  return { text: lines.join("\n"), code };
}

function openLines(kind: Kind, set: Ref, open: Result["open"]): string[] {
  if (open.length === 0) return [];
  const [amount, them] = [open.length, agree(open.length, "it", "them")];
  const line = ({ key, record, why }: (typeof open)[number]) =>
    [
      `  ${memberOf("events", key)}: ${describe(kind.name, record)}`,
      ...(why === undefined ? [] : [why]),
      withoutLabel(set, key, whatIsKnown(record)),
    ].join("\n    ");
  const sorted = open.toSorted((a, b) => natural(a.key, b.key));
  return [
    `The outcome of ${count(amount, kind.create.noun)} is unknown, so nothing is sent for ${them} until you settle ${them}. Look in the account for:`,
    ...cut(sorted.map(line), MAX_LISTED, (others) => `  and ${others} more`),
    ...waysOut(sorted.map(({ key }) => memberRef(set, key).short)),
  ];
}

/** A sentence about a member, for use after its key. */
function withoutLabel(set: Ref, key: string, sentence: string): string {
  return sentence.replace(memberRef(set, key).label, "").replace(/^[:\s]+/, "");
}

/** Lists each reason once, with all its members. */
function byReason(set: Ref, failed: readonly { readonly key: string; readonly error: AdvertisingError }[]) {
  const groups = Map.groupBy(failed, ({ key, error }) => withCode(withoutLabel(set, key, error.message), error.code));
  return [...groups].map(([reason, those]) => ({
    reason: reason.replaceAll("\n", "\n    "),
    keys: those.map(({ key }) => printable(key)),
  }));
}
