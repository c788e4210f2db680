/**
 * The messages about a set: what will become of which keys in a preview, what an `up` has done, and the single error of a set with all
 * failures, by reason, and all unknown outcomes. Data in, words out: nothing is decided here. Pure.
 */

import {
  type AdvertisingError,
  agree,
  count,
  cut,
  idRanges,
  OutcomeUnknownError,
  printable,
  withCode,
} from "../base/index.js";
import { type Member, renamesIn, type ShownAction, shownAction } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import {
  describe,
  type LeftLive,
  MAX_LISTED,
  memberOf,
  memberRef,
  morePending,
  type Ref,
  staysLive,
  waysOut,
  whatIsKnown,
  whoCreated,
} from "../state/index.js";
import type { Severity } from "./engine.js";
import { type Deletions, heldBack, idAfter, type Outcome, type Result } from "./outcome.js";
import { type Earlier, insteadOfFailing } from "./tell.js";

/**
 * What an `up` would do; nothing if there is nothing to do.
 * @param unsent the keys of members that would be created, but will not, as another message says.
 * @param isManaged whether another resource has or adopts the object with this id.
 * @param still the objects that earlier runs could not delete, and this one is to.
 * @param adoption what is done with an adopted object, in the words of {@link adoptionInWords}.
 */
export function planInWords(
  kind: Kind,
  members: readonly Member[],
  unsent: ReadonlySet<string> = new Set(),
  isManaged: (id: string) => boolean = () => false,
  still: readonly LeftLive[] = [],
  adoption = "nothing is sent",
): string | undefined {
  const of = (action: ShownAction) =>
    members.filter((member) => shownAction(member.action) === action && !unsent.has(member.key));
  const counts: string[] = [];
  const lines: string[] = [];
  const add = (action: ShownAction, what: string, shown: (member: Member) => string, detail = "") => {
    const those = of(action);
    if (those.length === 0) return;
    counts.push(`${those.length} ${what}`);
    lines.push(`  ${what}${detail}: ${listed(those.map(shown))}`);
  };
  add("create", "to create", keyOf);
  add("update", "to update in place", keyAndId);
  add("look for", "to look for on the platform", keyOf);
  const more = count(of("replace").length, `more live ${kind.create.noun}`);
  const old = of("replace").some(({ former }) => former?.isDeleted === true) ? " and deletes the former ones" : "";
  add("replace", "to replace", keyAndId, `, which makes ${more}${old}`);
  const unknown = ", if values that are not known yet turn out to differ";
  add("perhaps replace", "perhaps to replace", keyAndId, unknown);
  const taken = ({ key, id, entry }: Member) => {
    const instead = id === undefined || id === String(entry.existingId) ? "" : ` instead of ${id}`;
    return `${shownKey(key)} (${String(entry.existingId)}${instead})`;
  };
  add("adopt", "to adopt", taken, `; ${adoption}`);
  const differs = ({ key, id, changed }: Member) => `${shownKey(key)} (${id}: ${changed.join(", ")})`;
  const way = ": copy the refreshed values into your program, or change the objects back on the platform";
  add("refuse", "to fail if they still differ", differs, way);
  const goes = (member: Member) => {
    if (member.id === undefined) return `${shownKey(member.key)} (unresolved; what it made is adopted elsewhere)`;
    return isManaged(member.id) ? `${shownKey(member.key)} (${member.id}, adopted elsewhere)` : keyAndId(member);
  };
  add("let go", "to remove from the state", goes);
  add("delete", "to delete", keyAndId, ", if everything else goes well");
  if (still.length > 0) {
    counts.push(`${still.length} still to delete`);
    lines.push(`  still to delete: ${listed(still.map(({ id, key }) => `${shownKey(key ?? "")} (${id})`))}`);
  }
  add("wait", "to settle", keyOf, " first");
  if (unsent.size > 0) {
    counts.push(`${unsent.size} not to be sent`);
    lines.push(`  not to be sent (the other messages say why): ${listed([...unsent].map(shownKey))}`);
  }
  if (lines.length === 0) return undefined;
  const mayBeAdopted = members.some(({ former }) => former?.mayBeAdopted === true);
  return [
    `events: ${[...counts, `${of("keep").filter(({ isDeclared }) => isDeclared).length} unchanged`].join(", ")}`,
    ...lines,
    ...(leavesLive(members, isManaged) === 0
      ? []
      : [
          `${staysLive(kind, `Each former object${existing(members)}${old === "" && of("delete").length + still.length === 0 ? "" : " that is not deleted"}`, mayBeAdopted)}.`,
        ]),
  ].join("\n");
}

/** New keys with the arguments of one that leaves the set; nothing if there are none. */
export function renamesInWords(
  kind: Kind,
  { label }: Ref,
  members: readonly Member[],
  unsettled: ReadonlyMap<string, unknown>,
): string | undefined {
  const gone = members.filter(({ action, id }) => action.do === "let go" && id !== undefined);
  const fresh = members.filter(({ action, key }) => action.do === "create" && !unsettled.has(key));
  const known = (member: Member) => ({ member, kind });
  const renames = renamesIn(
    gone.map((member) => ({ ...known(member), fingerprint: member.fingerprint })),
    fresh.map((member) => ({ ...known(member), values: member.values })),
  );
  const lines = renames.map(
    ({ from, to }) =>
      `  ${shownKey(to.member.key)} has the arguments of ${shownKey(from.member.key)}: existingId: ${from.member.id}`,
  );
  if (lines.length === 0) return undefined;
  return [
    `${label}: ${count(lines.length, "new key has", "new keys have")} the arguments of a key that is no longer declared: this creates a second live ` +
      `${kind.create.noun} for each. If it is a rename, set existingId, and nothing is created:`,
    ...cutLines(lines),
  ].join("\n");
}

const sameOnly = (what: string) => `takes over those whose ${what} the same, and stops at the others`;

/**
 * What an interrupted run left of members that would otherwise be created; nothing if it left none.
 * @returns a warning if an `up` fails at one of them.
 */
export function notSettledInWords(
  kind: Kind,
  set: Ref,
  unsettled: ReadonlyMap<string, Earlier>,
): { readonly text: string; readonly severity: Severity } | undefined {
  const all = [...unsettled];
  if (all.length === 0) return undefined;
  const nextOf = ({ record: { id }, isSearchable, takeOver }: Earlier) =>
    id !== undefined ? takeOver : isSearchable ? "look for" : "save";
  const line = (of: ReturnType<typeof nextOf>, what: string, next: (them: string) => string) => {
    const those = all.filter(([, earlier]) => nextOf(earlier) === of);
    const keys = those.map(([key, { record }]) =>
      record.id === undefined ? shownKey(key) : `${shownKey(key)} (${record.id})`,
    );
    const them = agree(those.length, "it", "them");
    return those.length === 0 ? [] : [`  ${what}: ${listed(keys)}; \`pulumi up\` ${next(them)}`];
  };
  const refused = all.filter(([, earlier]) => nextOf(earlier) === "refused");
  const sent = refused.map(([key, { record }]) => ({ urn: memberRef(set, key).urn, record }));
  const lines = [
    `${set.label}: an interrupted run left ${count(all.length, "event")} behind, and this run sends nothing for ${agree(all.length, "it", "them")}.`,
    ...line("as it is", "created", (them) => `takes ${them} over`),
    ...line("updated", "created with other arguments", (them) => `takes ${them} over, and updates ${them}`),
    ...line("updated if it differs", "created", (them) => `takes ${them} over, and updates what differs`),
    ...line("if same owner", "created", () => sameOnly("advertiserId is")),
    ...line("if unchanged", "created", () => sameOnly("arguments are")),
    ...line("refused", "created with other arguments", (them) => `sends nothing for ${them}, and fails`),
    ...line("save", "sent, outcome unknown", (them) => `saves ${them} as unresolved`),
    ...line("look for", "sent, outcome unknown", (them) => `looks for ${them} by mark`),
    ...(all.some(([, { mayBeGone }]) => mayBeGone) ? ["`pulumi up` does not take over what it finds gone."] : []),
    ...(sent.length > 0 ? insteadOfFailing(kind, sent) : []),
  ];
  return { text: lines.join("\n"), severity: refused.length > 0 ? "warn" : "info" };
}

/** The journal's notes about objects in the state; nothing if there are none. */
export function notesInWords(words: readonly string[]): string | undefined {
  return words.length === 0 ? undefined : cutLines(words).join("\n");
}

/**
 * The objects that an `up` left live and unmanaged; nothing if there are none.
 * @param isManaged whether another resource has or adopts the object with this id.
 * @param deletions the objects that were deleted, or are to be.
 * @param mayBeAdopted whether a resource may still adopt an object whose id is not known yet.
 */
export function leftLiveInWords(
  kind: Kind,
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome>,
  isManaged: (id: string) => boolean = () => false,
  deletions: Deletions = heldBack([]),
  mayBeAdopted = false,
): string | undefined {
  const wantedIds = new Set(deletions.wanted.map(({ id }) => id));
  const left = members.flatMap(({ key, action, id }) => {
    if (id === undefined || isManaged(id) || wantedIds.has(id)) return [];
    if (action.do === "let go") return [{ id, line: `  ${id}, which was ${shownKey(key)}` }];
    const isNow = idAfter(outcomes.get(key));
    return isNow === undefined || isNow === id ? [] : [{ id, line: `  ${id}: ${shownKey(key)} is ${isNow} now` }];
  });
  const lines = left.map(({ line }) => line);
  if (lines.length === 0) return undefined;
  const exists = existing(members);
  const noun = count(lines.length, exists === "" ? `live ${kind.create.noun}` : kind.create.noun);
  return [
    `${mayBeAdopted ? "Perhaps no" : "No"} longer managed after this run: ${noun}.`,
    ...cutLines(lines),
    ...(lines.length > MAX_LISTED ? [`  All of them: ${idRanges(left.map(({ id }) => id))}`] : []),
    `${staysLive(kind, `Each${exists}`, mayBeAdopted)}.`,
  ].join("\n");
}

/** An addition for objects of which some may never have existed. */
function existing(members: readonly Member[]): string {
  return members.some(({ former }) => former?.isUnread === true) ? " that exists" : "";
}

export function deletedInWords({ create }: Kind, { deleted }: Deletions): string | undefined {
  if (deleted.size === 0) return undefined;
  return `Deleted on the platform, as retainOnDelete: false says: ${count(deleted.size, create.noun)}, ${idRanges([...deleted])}.`;
}

/** How many members of an interrupted run were taken over; nothing if none was. */
export function takenOverInWords(outcomes: ReadonlyMap<string, Outcome>, { label }: Ref): string | undefined {
  const those = [...outcomes].flatMap(([key, outcome]) =>
    outcome.kind === "created" && outcome.isTakenOver
      ? [{ ...outcome, shown: `${shownKey(key)} (${outcome.id})` }]
      : [],
  );
  if (those.length === 0) return undefined;
  const updated = those.filter(({ isUpdated }) => isUpdated === true);
  const sent = updated.length === 0 ? "nothing is sent" : `updated in place if they differ (${updated.length})`;
  const keys = listed(those.map(({ shown }) => shown));
  const by = whoCreated({ isHanded: those.some(({ isHanded }) => isHanded === true) || undefined });
  return `${label}: ${by} had created ${count(those.length, "event")}; now taken over, and ${sent}: ${keys}`;
}

function leavesLive(members: readonly Member[], isManaged: (id: string) => boolean): number {
  return members.filter((member) => {
    const { former } = member;
    return (
      former !== undefined &&
      !former.isDeleted &&
      !isManaged(former.id) &&
      shownAction(member.action) !== "perhaps replace"
    );
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
  return cut(items, MAX_LISTED).join(", ");
}

/** The first lines of a list, indented by two spaces, and how many more there are. */
function cutLines(lines: readonly string[]): string[] {
  return cut(lines, MAX_LISTED, (others) => `  and ${others} more`);
}

/**
 * The error of the whole set: what failed, and what waits for a person. Called if the result is not well.
 * @param held the keys in the state afterwards.
 */
export function troubleInWords(
  kind: Kind,
  set: Ref,
  members: readonly Member[],
  { failed: refused, kept, open, waiting }: Result,
  held: ReadonlyMap<string, unknown>,
): { readonly text: string; readonly code: string } {
  const failed = [...refused, ...kept];
  const [first] = failed;
  const declared = members.filter(({ isDeclared }) => isDeclared);
  const inState = declared.filter(({ key }) => held.has(key)).length;
  const lines = [
    `${set.label}: ${inState} of ${count(declared.length, "declared event")} ${agree(declared.length === 1 ? 1 : inState, "is", "are")} in the state.${failed.length > 0 ? " Failed:" : ""}`,
  ];
  const reasons = byReason(set, failed).map(({ keys, reason }) => `  ${listed(keys)}: ${reason}`);
  lines.push(...cut(reasons, MAX_LISTED, (others) => `  and ${count(others, "more reason")}`));
  if (refused.length > 0) lines.push("The next `pulumi up` sends only what is missing.");
  if (waiting > 0) {
    const events = count(waiting, kind.create.noun);
    lines.push(
      `${kept.length > 0 ? `Still to delete: ${events}.` : `Nothing was deleted, because something failed: ${events} to delete.`} ` +
        `The next \`pulumi up\` in which everything else goes well deletes ${agree(waiting, "it", "them")}.`,
    );
  }
  const isKnown = ({ record }: (typeof open)[number]) => record.createdAs !== undefined;
  lines.push(
    ...unsettledLines(
      kind,
      set,
      open.filter((each) => !isKnown(each)),
    ),
    ...unsettledLines(kind, set, open.filter(isKnown)),
  );
  return {
    text: lines.join("\n"),
    code: open.length > 0 ? OutcomeUnknownError.code : (first?.error.code ?? OutcomeUnknownError.code),
  };
}

/** @param open either all of known objects, or none. */
function unsettledLines(kind: Kind, set: Ref, open: Result["open"]): string[] {
  const [first] = open;
  if (first === undefined) return [];
  const { createdAs } = first.record;
  const [amount, them] = [open.length, agree(open.length, "it", "them")];
  const until = `nothing is sent for ${them} until you settle ${them}`;
  const line = ({ key, record }: (typeof open)[number]) =>
    [
      `  ${memberOf("events", key)}: ${describe(kind.name, record)}`,
      ...(record.refused === undefined ? [] : [record.refused]),
      withoutLabel(set, key, whatIsKnown(record)),
    ].join("\n    ");
  return [
    createdAs === undefined
      ? `The outcome of ${count(amount, kind.create.noun)} is unknown, so ${until}. Look in the account for:`
      : `Earlier runs created ${count(amount, kind.create.noun)} with other arguments than you have now, and ${until}:`,
    ...cut(open.map(line), MAX_LISTED, morePending),
    ...waysOut(
      open.map(({ key, record }) => ({ urn: memberRef(set, key).urn, id: record.createdAs })),
      open.some(({ record }) => record.refused !== undefined) ? "not declared" : "declared",
    ),
  ];
}

/** A sentence about a member, for use after its key. */
function withoutLabel(set: Ref, key: string, sentence: string): string {
  return sentence.replace(memberRef(set, key).label, "").replace(/^[:\s]+/, "");
}

/** Lists each reason once, with all its members. */
function byReason(set: Ref, failed: readonly { readonly key: string; readonly error: AdvertisingError }[]) {
  const groups = Map.groupBy(failed, ({ key, error }) => {
    return withCode(withoutLabel(set, key, error.message), error.code);
  });
  return [...groups].map(([reason, those]) => ({ reason, keys: those.map(({ key }) => shownKey(key)) }));
}
