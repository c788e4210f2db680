/**
 * Messages about single objects and about a set, one function each: data in, words out. What Pulumi's own preview shows
 * is not said again. Those about a create of unknown outcome are in `state/messages.ts`. Decides nothing. Pure.
 */
import {
  agree,
  asTyped,
  count,
  cut,
  enumerate,
  idRanges,
  natural,
  OutcomeUnknownError,
  plainShellWord,
  printable,
  type Values,
  withCode,
} from "../base/index.js";
import type { JournalEntry, OpenCreate } from "../journal/index.js";
import { CATALOG_SEPARATOR, CATALOG_TYPE, displayName, type Kind } from "../kinds/index.js";
import {
  type Abilities,
  type PlannedObject,
  type ShownAction,
  shownAction,
} from "../plan/index.js";
import {
  describe,
  howToKeep,
  type LeftLive,
  MAX_LISTED,
  memberOf,
  memberRef,
  type Place,
  parseKey,
  pendingCommandLine,
  type ResourceRef,
  refOfKey,
  resolveCommands,
  resourceKeyIn,
  settlingCommands,
  stackOption,
  staysLive,
  UNKNOWN,
  type Unresolved,
  whatHappened,
  whatIsKnown,
} from "../state/index.js";
import type { Adoption, Notice } from "./notices.js";
import type { FailedDelete, Namesake, Outcomes } from "./outcome.js";
import type { Runtime } from "./runtime.js";

type Shown = Pick<ResourceRef, "label" | "resourceUrn">;

/** @param detail follows the object's name in a list. */
function notice(
  sort: string,
  { label, resourceUrn: urn }: Shown,
  text: string,
  detail?: string,
): Notice {
  return { sort, urn, text, brief: detail === undefined ? label : `${label} (${detail})` };
}

/** What an `up` does with an earlier run's create. */
const TAKES_OVER = {
  search: "looks for it by its mark",
  perhaps: "takes it over if it was sent with the program's arguments",
  now: "takes it over",
};

export function takeOverNotice(
  ref: ResourceRef,
  entry: Pick<JournalEntry, "at"> & Partial<JournalEntry>,
  how: keyof typeof TAKES_OVER,
): Notice {
  const text = `${whatHappened(ref.label, entry)} \`pulumi up\` ${TAKES_OVER[how]}.`;
  return notice("sent by earlier runs", ref, text, entry.id ?? "outcome unknown");
}

export function takenOverMessageOf({ label }: ResourceRef, id: string): string {
  return `${label}: an earlier run created it as ${id}. This run takes it over and sends nothing for it.`;
}

export interface MadeObject {
  readonly ref: ResourceRef;
  readonly id: string;
}

/** The error of an `up` that has saved what was sent with other arguments, for the next run to change. */
export function savedAsSentMessage(all: readonly MadeObject[]): string {
  const it = agree(all.length, "it", "them");
  return `${madeOtherwise(all)} Nothing was sent for ${it}: the state now has what was created. Run \`pulumi preview\` to see what follows.`;
}

/** The same in a preview. @param all at least one; several only of a set. */
export function madeOtherwiseMessage(all: readonly MadeObject[]): string {
  const it = agree(all.length, "it", "them");
  return [
    `${madeOtherwise(all)} To take ${it} over, undo the change and run \`pulumi up\`.`,
    "Or keep the change: this command saves what was created and ends with an error; the next preview then shows updates and replacements:",
    `  ${asTyped("pulumi up --skip-preview --continue-on-error")}`,
  ].join("\n");
}

function madeOtherwise(all: readonly MadeObject[]): string {
  const [first] = all;
  if (first?.ref.member === undefined)
    return `An earlier run created ${first?.ref.label} as ${first?.id}, with arguments that differ from the program's.`;
  const those = all.map(({ ref, id }) => `${printable(ref.member ?? "")} (${id})`);
  return `An earlier run created these events with arguments that differ from the program's: ${listed(those)}.`;
}

/** A resource that the state does not have, and that had an object before. */
export function formerObjectNotice(kind: Kind, ref: ResourceRef, id: string): Notice {
  const text = `${ref.label} was ${id} in an earlier run; this creates another ${kind.create.noun}. To keep ${id}, set existingId: ${id}.`;
  return notice("with an object before", ref, text, id);
}

export function adoptedOtherwiseNotice(ref: ResourceRef, id: string): Notice {
  const text = `${ref.label} adopts ${id}, which was made with other arguments. Nothing is sent, so the platform keeps those. Change ${id} on the platform by hand, or declare its arguments.`;
  return notice("adopted with other arguments", ref, text, id);
}

/** A new resource may be one that earlier runs here have managed under another name. */
export function likelyRenameNotice(ref: ResourceRef, formerKey: string, id: string): Notice {
  const { name } = parseKey(formerKey);
  const cure = isOfCatalog(ref)
    ? `formerKey: ${JSON.stringify(lastPart(name))}`
    : `the alias { name: ${JSON.stringify(name)} }`;
  const text = `${ref.label} is new, and has the platform name of "${name}" (${id}), which earlier runs managed. If it is the same one, add ${cure}, or set existingId: ${id}.`;
  return notice("perhaps renamed", ref, text, id);
}

function isOfCatalog({ parentTypes }: ResourceRef): boolean {
  return parentTypes?.split("$").includes(CATALOG_TYPE) === true;
}

function lastPart(name: string): string {
  return name.split(CATALOG_SEPARATOR).at(-1) ?? name;
}

/** @param abilities which operations are known for its kind. */
export function adoption(
  { label, resourceUrn: urn }: ResourceRef,
  id: string,
  { read, update }: Abilities,
): Adoption {
  const object = id === UNKNOWN ? "an object whose id is not known yet" : id;
  return {
    urn,
    brief: `${label} (${id === UNKNOWN ? "?" : id})`,
    what: `adopts ${object}`,
    sends: sentFor(read, update),
  };
}

function sentFor(read: boolean, update: boolean): string {
  if (!read) return "nothing is sent";
  return update
    ? "it is read, and updated if it differs"
    : "it is read, and nothing is changed";
}

/** What a new object is not created for, in a preview too. All have the same reason. @param all at least one. */
export function namesakesMessage(all: readonly Namesake[]): string {
  const sorted = all.toSorted((a, b) => natural(a.ref.short, b.ref.short));
  const [first] = sorted;
  if (first === undefined) return "";
  const lines = sorted.map(({ ref, open }) => `  ${ref.label}: ${whatIsOpen(open)}`);
  const opens = sorted.map(({ open }) => open);
  return [
    `${count(all.length, "object isn't", "objects aren't")} created: ${agree(all.length, "an earlier run sent a create with its", "earlier runs sent creates with their")} kind, platform name and advertiser. This run creates nothing new.`,
    ...cut(
      lines,
      MAX_LISTED,
      (others) =>
        `  and ${others} more, which \`${asTyped("npx pulumi-advertising pending")}\` lists`,
    ),
    ...namesakeAdvice(first, opens),
  ].join("\n");
}

function whatIsOpen(open: OpenCreate): string {
  const { key, id, elsewhere } = open;
  const { label, kind } = parseKey(key);
  const look = `look in the account for ${describe(kind, open)}`;
  const stack = elsewhere === undefined ? "" : ` of the stack ${elsewhere.stack}`;
  const created = id === undefined ? "sent" : "created";
  const outcome = id === undefined ? `, and its outcome is unknown: ${look}` : ` as ${id}`;
  return `an earlier run${stack} ${created} ${label}${outcome}`;
}

/** @param first stands for all of them in the advice. */
function namesakeAdvice({ ref, open }: Namesake, opens: readonly OpenCreate[]): string[] {
  const known = opens.filter(({ id }) => id !== undefined).map(nameForCommand);
  const unknown = opens.filter(({ id }) => id === undefined).map(nameForCommand);
  const isSame = agree(
    opens.length,
    "If it is the same object",
    "If they are the same objects",
  );
  const isOther = agree(known.length, "If it is another object", "If they are other objects");
  return [
    ...(open.elsewhere === undefined ? [] : renamedStackAdvice(open.elsewhere.stack)),
    `${isSame}: ${renameCure(ref, open)}.`,
    ...(unknown.length === 0 ? [] : settlingCommands(unknown)),
    ...(known.length === 0
      ? []
      : [
          `${isOther}, and the former name is gone for good, drop its record:`,
          `  ${pendingCommandLine("forget", known)}`,
        ]),
  ];
}

function renamedStackAdvice(stack: string): string[] {
  const name = stackOption(stack).value;
  return [
    `If you renamed the stack ${name} to this one:`,
    `  ${asTyped(`npx pulumi-advertising pending --take-over ${plainShellWord(name)}`)}`,
    `If the stack ${name} still exists, resolve the create there:`,
    `  pulumi up --stack ${plainShellWord(name)}`,
  ];
}

function renameCure(ref: ResourceRef, open: OpenCreate): string {
  const { key, id = "<its id>", elsewhere } = open;
  const adopt = `set existingId: ${id}`;
  const former = parseKey(key);
  if (elsewhere !== undefined || former.resource !== ref.resource) return adopt;
  if (resourceKeyIn(key) === resourceKeyIn(ref.key))
    return `set formerKey: ${JSON.stringify(former.member)}, or ${adopt}`;
  if (former.member !== ref.member) return adopt;
  if (isOfCatalog(ref) && ref.member !== undefined) return adopt;
  if (isOfCatalog(ref))
    return `set formerKey: ${JSON.stringify(lastPart(former.name))}, or ${adopt}`;
  const alias = aliasOf(former, ref);
  const ofSet = ref.member === undefined ? "" : " to the set";
  return `add ${alias}${ofSet}, or ${adopt}`;
}

function aliasOf({ name, parentTypes }: Place, ref: ResourceRef): string {
  const named = `name: ${JSON.stringify(name)}`;
  if (parentTypes === ref.parentTypes) return `the alias { ${named} }`;
  if (parentTypes === undefined)
    return `the alias { ${named}, parent: pulumi.rootStackResource }`;
  return "an alias with its former name and parent";
}

/** A name in commands: of another stack's create, its URN. */
function nameForCommand({ key, elsewhere }: OpenCreate): string {
  return elsewhere === undefined ? parseKey(key).short : refOfKey(key, elsewhere.stack).urn;
}

/** In a preview, where the name or the advertiser is not known yet. */
export function possibleNamesakeNotice({ ref, open }: Namesake): Notice {
  const text = `${ref.label} may exist already, and isn't created then: ${whatIsOpen(open)}, perhaps with the same platform name and advertiser. \`${asTyped("npx pulumi-advertising pending")}\` says more.`;
  return notice("perhaps open already", ref, text);
}

/** @param refused the first object that was not created. */
export function refusedBeforeMessage({ label }: ResourceRef, refused: string): string {
  return `${label} isn't created: ${refused} may exist already, so this run creates nothing new. Follow the error of that resource first.`;
}

/** What becomes of a replaced object: in a preview, and after. @param then ends "the resource …": `is 43 now`. */
export function replacedNotice(
  kind: Kind,
  ref: ResourceRef,
  { id, isDeleted }: NonNullable<PlannedObject["former"]>,
  then: string,
): Notice {
  const fate = isDeleted
    ? `${id} will be deleted on the platform (retainOnDelete: false)`
    : staysLive(kind, id);
  const sort = `replaced, and ${isDeleted ? "deleted" : "left live"} on the platform`;
  return notice(sort, ref, `${ref.label} ${then}. ${fate}.`, `${id}; it ${then}`);
}

/** The program names another object than the state has, perhaps somebody else's. @param then as of {@link replacedNotice}. */
export function exchangedNotice(ref: ResourceRef, id: string, then: string): Notice {
  const text = `${ref.label} ${then}, as existingId says. Nothing is created or deleted; ${id} stays live and unmanaged.`;
  return notice("given another object", ref, text, `${id}; it ${then}`);
}

/** Of an object that the program names and changes, without a known update. @param changes from `changeMessages`. */
export function stateOnlyNotice(
  ref: ResourceRef,
  id: string,
  changes: readonly string[],
): Notice {
  const told = enumerate(changes);
  const text = `${ref.label} has existingId: ${id}, and no update is known: only the state changes (${told}). Make the same change to ${id} on the platform by hand, or undo it in the program.`;
  return notice("changed in the state only", ref, text, `${id}: ${told}`);
}

/** What this machine has of a resource whose object the state goes on with, in a preview and once in an `up`. */
export function secondObjectNotice(
  kind: Kind,
  ref: ResourceRef,
  entry: JournalEntry,
  held: string,
): Notice {
  const { id } = entry;
  const next =
    id === undefined
      ? "Look in the account for a second one, which is unmanaged."
      : `${staysLive(kind, id)}. To use it instead, set existingId: ${id}.`;
  const text = `${whatHappened(ref.label, entry)} The state has ${held}. ${next} To stop this message:\n  ${pendingCommandLine("forget", [ref.short])}`;
  return notice("also made by earlier runs", ref, text, id ?? "outcome unknown");
}

export function warnOfPlatform(
  { say }: Pick<Runtime, "say">,
  label: string,
  warnings: readonly string[],
): void {
  for (const warning of warnings)
    say(`Platform warning (first seen for ${label}): ${warning}`, warning);
}

export function goneNotice(ref: Shown): Notice {
  const text = `${ref.label} is no longer on the platform, so it leaves the state: as long as the program declares it, \`pulumi up\` creates another one.`;
  return notice("no longer on the platform", ref, text);
}

/** @param until from when on its absence counts, ISO 8601. */
export function tooEarlyMessage(label: string, id: string, until: string): string {
  return `${label}: the platform doesn't find ${id}, but it was just created. It may still appear until ${until}. Run this again after that.`;
}

export function tooEarlyNotice(ref: Shown, id: string, until: string): Notice {
  return notice("just created, and not found yet", ref, tooEarlyMessage(ref.label, id, until));
}

/** What becomes of it, the next preview shows. @param changes from `changeMessages`, or just the arguments. */
export function driftNotice(ref: Shown, changes: readonly string[]): Notice {
  const text = `${ref.label} was changed on the platform: ${enumerate(changes)}. To keep that, copy the refreshed values into your program.`;
  return {
    ...notice("changed on the platform", ref, text),
    brief: `${ref.label}: ${enumerate(changes)}`,
  };
}

export function stateForRead(): string {
  return "advertising:operations has a read now. Updates without a changed argument send nothing: they only add to the state what a refresh needs.";
}

export function nothingComparedMessage(noun: string): string {
  return (
    `A refresh does not compare any ${noun}: advertising:operations has no read for it, so the state stays as it is. ` +
    "(A refresh uses the configuration of the last `pulumi up`; with --run-program it uses the current one.)"
  );
}

export function notDeletedMessage(kind: Kind, label: string, id: string, why: string): string {
  return `${label} left the state but was not deleted, because ${why}. ${staysLive(kind, id)}.`;
}

/** The lines of a plan in their order: an action, what it is called, and what is said of it. */
const PLAN: readonly (readonly [action: ShownAction, title: string, detail?: string])[] = [
  ["create", "to create"],
  ["rename", "to rename", ", and nothing is sent"],
  ["update", "to update in place"],
  ["recover", "to look for on the platform"],
  ["replace", "to replace", ", which makes another live object of each"],
  [
    "perhaps replace",
    "perhaps to replace",
    ", if values that are not known yet turn out to differ",
  ],
  ["adopt", "to adopt"],
  [
    "update state only",
    "to change in the state only",
    ", since the platform has no known way to update",
  ],
  ["retain", "to remove from the state"],
  ["delete", "to delete on the platform", ", if everything else goes well"],
];

/**
 * What an `up` would do with a set, if anything. @param abilities which operations are known for its kind.
 * @param isKept whether another resource goes on with an object.
 */
export function planMessage(
  kind: Kind,
  members: readonly PlannedObject[],
  { read, update }: Abilities,
  isKept: (id: string) => boolean = () => false,
): string | undefined {
  const shown = ({ key, formerKey, id, action }: PlannedObject) => {
    const ids = [...new Set([id, action.do === "adopt" ? action.id : undefined])].filter(
      (each) => each !== undefined,
    );
    const keys = formerKey === undefined ? [key] : [formerKey, key];
    return `${keys.map(printable).join(" → ")}${ids.length === 0 ? "" : ` (${ids.join(" → ")})`}`;
  };
  const of = (action: ShownAction) =>
    members.filter((member) => shownAction(member) === action);
  const all = PLAN.map(([action, title, detail = ""]) => {
    const sends = action === "adopt" ? `; ${sentFor(read, update)}` : "";
    return { title, detail: `${detail}${sends}`, those: of(action).map(shown) };
  });
  const parts = all.filter(({ those }) => those.length > 0);
  if (parts.length === 0) return undefined;
  const counts = parts.map(({ title, those }) => `${those.length} ${title}`);
  const leaving = members.filter((member) => shownAction(member) !== "perhaps replace");
  const former = leaving.flatMap((each) =>
    each.former === undefined || isKept(each.former.id) ? [] : each.former,
  );
  const idsWhere = (isDeleted: boolean) =>
    former.filter((each) => each.isDeleted === isDeleted).map(({ id }) => id);
  const gone = idsWhere(true);
  const live = idsWhere(false);
  return [
    `events: ${[...counts, `${of("same").length} unchanged`].join(", ")}`,
    ...parts.map(({ title, detail, those }) => `  ${title}${detail}: ${listed(those)}`),
    ...renameHints(kind, members, isKept),
    live.length > 0 && `${staysLive(kind, `Each former object (${idRanges(live)})`)}.`,
    gone.length > 0 &&
      `At the end, \`pulumi up\` deletes ${idRanges(gone)} on the platform (retainOnDelete: false).`,
    of("replace").length > 0 && howToKeep("one"),
  ]
    .filter((line) => line !== false)
    .join("\n");
}

/** A new key whose event has the platform name of one that leaves is likely that one. Nothing is decided by it. */
function renameHints(
  kind: Kind,
  members: readonly PlannedObject[],
  isKept: (id: string) => boolean,
): string[] {
  const nameOf = (values: Values) => displayName(kind, values, new Set()) ?? UNKNOWN;
  const removed = members.filter(
    ({ isDeclared, former }) => !isDeclared && former !== undefined && !isKept(former.id),
  );
  const byName = Map.groupBy(removed, ({ olds }) => nameOf(olds));
  byName.delete(UNKNOWN);
  const hints = members.flatMap(({ key, action, values }) => {
    const namesakes = byName.get(nameOf(values));
    return action.do === "create" && namesakes !== undefined
      ? [renameHint(key, namesakes)]
      : [];
  });
  return cut(hints, MAX_LISTED, (more) => `  and ${more} more have the name of a removed one`);
}

function renameHint(key: string, removed: readonly PlannedObject[]): string {
  const names = removed.map((each) => `${printable(each.key)} (${each.id})`);
  const [only] = removed.length === 1 ? removed : [];
  const cure =
    only === undefined
      ? "To go on with one of them, set formerKey to its key."
      : `To go on with ${only.id}, set formerKey: ${JSON.stringify(only.key)}.`;
  return `  ${printable(key)} has the platform name of the removed ${enumerate(names, MAX_LISTED)}. ${cure}`;
}

/** @param left what the `up` has left live and unmanaged. @param now the ids of the members after it. */
export function leftMessage(
  kind: Kind,
  left: readonly LeftLive[],
  now: ReadonlyMap<string, string>,
): string | undefined {
  if (left.length === 0) return undefined;
  const inOrder = left.toSorted((a, b) => natural(a.key ?? "", b.key ?? ""));
  const lines = inOrder.map(({ id, key = "" }) => {
    const isNow = now.get(key);
    return isNow === undefined
      ? `  ${id}, which was ${printable(key)}`
      : `  ${id}: ${printable(key)} is ${isNow} now`;
  });
  const others = idRanges(inOrder.slice(MAX_LISTED).map(({ id }) => id));
  return [
    `No longer managed after this run: ${count(left.length, `live ${kind.create.noun}`)}.`,
    ...cut(lines, MAX_LISTED, (amount) => `  and ${amount} more: ${others}`),
    `${staysLive(kind, "Each")}.`,
  ].join("\n");
}

/** How many members of an interrupted run were taken over; nothing if none was. */
export function takenOverMessage(
  outcomes: Outcomes,
  { label }: ResourceRef,
): string | undefined {
  const those = [...outcomes].flatMap(([key, outcome]) =>
    outcome.kind === "created" && outcome.isTakenOver
      ? [`${printable(key)} (${outcome.id})`]
      : [],
  );
  if (those.length === 0) return undefined;
  return `${label} takes over ${count(those.length, "event")} of earlier runs, and sends nothing for that: ${listed(those)}`;
}

/** Which members an `up` has adopted; undefined if none was. */
export function adoptedMessage(
  members: readonly PlannedObject[],
  outcomes: Outcomes,
): string | undefined {
  const adopted = members.filter(({ key, id, action }) => {
    return action.do === "adopt" && action.id !== id && outcomes.get(key)?.kind === "managed";
  });
  if (adopted.length === 0) return undefined;
  const those = adopted.map(
    ({ key, action }) => `${printable(key)} (${action.do === "adopt" ? action.id : ""})`,
  );
  return `adopted ${count(adopted.length, "event")}; nothing was created: ${listed(those)}`;
}

function listed(items: readonly string[]): string {
  return cut(items.toSorted(natural), MAX_LISTED).join(", ");
}

/** What was sent, and nobody knows whether it was carried out. `why`: `existingId` does not resolve it. */
export interface OpenObject {
  readonly ref: ResourceRef;
  readonly record: Unresolved;
  readonly why?: string | undefined;
}

/** How an \`up\` of a set ended. */
export interface SetResult {
  readonly outcomes: Outcomes;
  /** Failed deletes. */
  readonly failedDeletes: readonly FailedDelete[];
  /** The keys in the state afterwards. */
  readonly held: ReadonlyMap<string, unknown>;
}

/** The error for a set in which something failed. */
export function setFailureMessage(
  kind: Kind,
  set: ResourceRef,
  members: readonly PlannedObject[],
  { outcomes, failedDeletes, held }: SetResult,
): { readonly text: string; readonly code: string } {
  const refused: Pick<FailedDelete, "key" | "error">[] = [];
  const open: OpenObject[] = [];
  const asSent: MadeObject[] = [];
  for (const [key, outcome] of outcomes) {
    if (outcome.kind === "failed") refused.push({ key, error: outcome.error });
    if (outcome.kind === "unresolved") open.push({ ref: memberRef(set, key), ...outcome });
    if (outcome.kind === "created" && outcome.sentAs !== undefined)
      asSent.push({ ref: memberRef(set, key), id: outcome.id });
  }
  const failed = [...refused, ...failedDeletes];
  const declared = members.filter(({ isDeclared }) => isDeclared);
  const inState = declared.filter(({ key }) => held.has(key)).length;
  const lines = [
    `${set.label}: ${inState} of ${count(declared.length, "declared event")} ${agree(declared.length === 1 ? 1 : inState, "is", "are")} in the state.${failed.length > 0 ? " Failed:" : ""}`,
    ...cut(
      reasonLines(set, failed),
      MAX_LISTED,
      (others) => `  and ${count(others, "more reason")}`,
    ),
    ...(refused.length === 0 ? [] : ["The next `pulumi up` sends only what is missing."]),
    ...(asSent.length === 0 ? [] : [savedAsSentMessage(asSent)]),
    ...(open.length === 0 ? [] : [unresolvedMembersMessage(kind, open)]),
  ];
  const code =
    open.length > 0
      ? OutcomeUnknownError.code
      : (failed[0]?.error.code ?? OutcomeUnknownError.code);
  return { text: lines.join("\n"), code };
}

/** Of a set, in a preview too. @param open at least one. */
export function unresolvedMembersMessage(kind: Kind, open: readonly OpenObject[]): string {
  const amount = open.length;
  const them = agree(amount, "it", "them");
  const line = ({ ref, record, why }: OpenObject) =>
    [
      `  ${memberOf("events", ref.member ?? "")}: ${describe(kind.name, record)}`,
      ...(why === undefined ? [] : [why]),
      withoutLabel(ref, whatIsKnown(record)),
    ].join("\n    ");
  const sorted = open.toSorted((a, b) => natural(a.ref.short, b.ref.short));
  return [
    `The outcome of ${count(amount, kind.create.noun)} is unknown, so nothing is sent for ${them} until you resolve ${them}. Look in the account for:`,
    ...cut(sorted.map(line), MAX_LISTED, (others) => `  and ${others} more`),
    ...resolveCommands(sorted.map(({ ref }) => ref.short)),
  ].join("\n");
}

/** A sentence about a member, for use after its key. */
function withoutLabel({ label }: ResourceRef, sentence: string): string {
  return sentence.startsWith(label)
    ? sentence.slice(label.length).replace(/^[:\s]+/, "")
    : sentence;
}

/** Each reason once, with all its members. */
function reasonLines(
  set: ResourceRef,
  failed: readonly Pick<FailedDelete, "key" | "error">[],
): string[] {
  const groups = Map.groupBy(failed, ({ key, error }) =>
    withCode(withoutLabel(memberRef(set, key), error.message), error.code),
  );
  return [...groups].map(([reason, those]) => {
    const keys = those.map(({ key }) => printable(key));
    return `  ${listed(keys)}: ${reason.replaceAll("\n", "\n    ")}`;
  });
}
