/**
 * Messages about single objects and about sets, one function each: data in, text out. They don't repeat what Pulumi's
 * own preview shows, and decide nothing. Pure.
 */
import {
  agree,
  COMMAND,
  count,
  cut,
  enumerate,
  idRanges,
  inStack,
  isSameValue,
  joined,
  natural,
  OutcomeUnknownError,
  pick,
  printable,
  shellWord,
  type Values,
  withCode,
} from "../base/index.js";
import { type Kind, ownerIn, warningsIn } from "../kinds/index.js";
import {
  type Abilities,
  type Fate,
  type OpenCreate,
  type PlannedObject,
  type ShownAction,
  shownAction,
} from "../plan/index.js";
import { type ExportedObject, inNaturalOrder } from "../record/index.js";
import { MAX_PROBLEMS, problemMessages } from "../rules/index.js";
import {
  answerCommands,
  type CreateRecord,
  catalogIn,
  commandName,
  describe,
  howToKeep,
  isOfPlugin,
  type LeftLive,
  MAX_LISTED,
  MAY_HAVE,
  memberRef,
  NOT_DELETED,
  type ObjectRef,
  optionsOf,
  otherFormUrn,
  type ParsedKey,
  parseKey,
  pendingLine,
  REPLACED_BEFORE,
  type ResourceRef,
  refOfKey,
  renameCure,
  resolveCommands,
  resourceKeyIn,
  type StoredSet,
  stackOf,
  staysLive,
  UNKNOWN,
  type Unresolved,
  whatHappened,
} from "../state/index.js";
import type { FailedDelete, Namesake, Outcomes } from "./outcome.js";
import type { Runtime } from "./runtime.js";

/**
 * The object that a notice is about. A refresh gives no URN, so that its notices are shown at the stack: after an
 * alias, a resource keeps its former name there for a while.
 */
interface Shown {
  label: string;
  resourceUrn?: string;
}

/** @param detail follows the object's name in a list. */
function notice(
  sort: string,
  { label, resourceUrn: urn = "" }: Shown,
  text: string,
  detail?: string,
) {
  return {
    sort,
    urn,
    text,
    brief: joined(" ", label, detail && `(${detail})`),
  };
}

/**
 * In a preview: `pulumi up` takes over an earlier run's create, or searches for it. @param isPerhapsOther whether the
 * arguments differ as far as the preview knows them.
 */
export function takeOverNotice(
  ref: ResourceRef,
  entry: Pick<CreateRecord, "at"> & { id?: string },
  isPerhapsOther = false,
) {
  const { id } = entry;
  let next = id === undefined ? "searches the platform for it" : "takes it over";
  if (isPerhapsOther) next += ", and fails if its arguments turn out to differ";
  const text = `${whatHappened(ref.label, entry)} \`pulumi up\` ${next}.`;
  return notice("sent by earlier runs", ref, text, id);
}

/** An object of an earlier run counts as declared, though its arguments can't be compared. */
export function unknownSendingNotice(ref: ResourceRef, id: string) {
  const text = `${ref.label} is ${id}, but nothing shows with which arguments an earlier run sent it: they are secret, or two runs had different ones. Compare it with the program on the platform.`;
  return notice("sent with unknown arguments", ref, text, id);
}

/**
 * About an object that has a create's mark. @param names the arguments that differ. @param isIts whether it's the create's
 * all the same.
 */
export function foundOtherwiseMessage(id: string, names: readonly string[], isIts = false) {
  const text = `A search found object ${id}, which has another ${enumerate(names)} than was sent.`;
  return isIts ? `${text} \`pulumi up\` takes it over as it is.` : text;
}

/** The error of a refresh for an answer. @param names the arguments that differ. */
export function answeredOtherwiseMessage(
  label: string,
  id: string,
  names: readonly string[],
) {
  return `${label}: object ${id} has another ${enumerate(names)} than was sent. Nothing was resolved. Correct the id; if it's the object all the same, set existingId: ${id} in the program.`;
}

/** About an object that a search has found. @param changes from `changeMessages`, from the program's values to its own. */
export function foundDifferentNotice(ref: Shown, changes: readonly string[]) {
  const told = enumerate(changes);
  const text = `${ref.label} isn't on the platform as the program has it: ${told}. To keep that, copy it into your program, or set existingId.`;
  return notice("found with other arguments", ref, text, told);
}

export interface MadeObject {
  ref: ResourceRef;
  id: string;
  /** Nobody knows the arguments that it was sent with. */
  isUnsure?: boolean;
}

/** The error of an `up` that has saved objects as they were sent, with other arguments; the next run changes them. */
export function savedAsSentMessage(all: readonly MadeObject[]) {
  return `${madeOtherwise(all)} The state now has what was created. Run \`pulumi preview\` to see what follows.`;
}

/** The error of a preview for objects that were sent with other arguments. */
export function madeOtherwiseMessage(all: readonly MadeObject[]) {
  return [
    `${madeOtherwise(all)} To use them as they are, undo the change and run \`pulumi up\`.`,
    "To keep the change, run the command below. It saves what was created, and ends with an error.",
    `  ${inStack("pulumi up --skip-preview --continue-on-error")}`,
  ].join("\n");
}

function madeOtherwise(all: readonly MadeObject[]) {
  const those = all.map(({ ref, id, isUnsure }) => {
    return `${ref.shownName} (${id}${isUnsure ? ", perhaps" : ""})`;
  });
  return `These objects have arguments that differ from the program's: ${listed(those)}.`;
}

/** The error for a `formerKey` or an alias in vain: the state has another object under the new name. @param id of the former */
export function formerNameMessage({ label }: Shown, formerName: string, id: string) {
  return `${label} is in the state, and so is its former name "${printable(formerName)}" (${id}). Nothing was sent. To take ${id} over, set existingId: ${id}; otherwise remove the formerKey or alias.`;
}

/** Values that are accepted, and probably mistakes. A catalog shows them itself, with their places. */
export function mistakeNotices(
  ref: ResourceRef,
  values: Values,
  secret: ReadonlySet<string>,
  maxWindowSeconds?: number,
) {
  if (catalogIn(ref.key) !== undefined) return [];
  const plain = pick(values, (name) => !secret.has(name));
  const messages = problemMessages(warningsIn(plain, maxWindowSeconds));
  return cut(messages, MAX_PROBLEMS).map((text) =>
    notice("with likely mistakes", ref, text),
  );
}

export function adoptionNotice(ref: ResourceRef, id: string, abilities: Abilities) {
  const object = id === UNKNOWN ? "an object whose id is not known yet" : id;
  const sends = sentForAdoption(abilities);
  return notice(`adopted; ${sends}`, ref, `adopts ${object}; ${sends}`, object);
}

/**
 * The problem of a preview: a set deletes an object, perhaps before its adopter is declared.
 * @param label of the set or the adopter, which the error is about. @param set the set's label.
 */
export function adoptedTooLateMessage(label: string, id: string, set: string) {
  const who = set === label ? "it" : set;
  let what = `${who} deletes ${id}, perhaps before it is adopted`;
  if (id === UNKNOWN) what = `existingId isn't known yet: it may name what ${who} deletes`;
  return `${label}: ${what}. First adopt it in a run with deletionPolicy: "retain" in ${set}; or, with the classes, declare a plain existingId before any await.`;
}

/** The error of an `up` that comes to an adoption after the delete. */
export function adoptedDeletedMessage({ label }: ResourceRef, id: string) {
  return `${label}: this run deleted ${id} (existingId), or found it already gone. Remove existingId to create another object.`;
}

function sentForAdoption({ read, update }: Abilities) {
  if (!read) return "nothing is sent";
  if (!update) return "`pulumi up` reads it, and fails if it differs";
  return "`pulumi up` reads it, updates it if it differs, and fails if its advertiser does";
}

/** The error of a replacement, for which Pulumi takes the program's arguments again, without any policy. */
export function remediatedMessage({ label }: ResourceRef, names: readonly string[]) {
  return `${label}: a policy changes ${enumerate(names)}, but Pulumi drops such a change when it replaces a resource. Nothing was sent. Make the change in the program.`;
}

/** The error of an `up` or a preview for new objects that open creates block. @param all at least one. */
export function namesakesMessage(all: readonly Namesake[]) {
  const sorted = inNaturalOrder(all, ({ ref }) => ref.shownName);
  const lines = sorted.map(({ ref, open }) => `  ${ref.label}: ${whatIsOpen(open)}`);
  return [
    `${count(all.length, "object isn't", "objects aren't")} created: an earlier run sent a create for the same kind, advertiser and name, as far as they are known. This run creates nothing more.`,
    ...cut(lines, MAX_LISTED),
    ...openAdvice(sorted),
    `Then run \`${inStack("pulumi up")}\`.`,
  ].join("\n");
}

function whatIsOpen(open: OpenCreate) {
  const { key, id } = open;
  const { label, kind } = parseKey(key);
  if (id !== undefined) return `an earlier run created ${label} as ${id}`;
  return `an earlier run sent ${label}, and its outcome is unknown: look in the account for ${describe(kind, open)}`;
}

/**
 * Lines about what to do for each answer. The advice about names is the first object's, and stands for all. The program
 * may still declare the open ones, for example after an `await`, so none is to be forgotten by a printed command.
 */
function openAdvice(all: readonly Namesake[]) {
  const [{ ref, open }] = all as readonly [Namesake];
  // Without an alias, one of the other face may have the same key.
  const others = all.filter((each) => each.open.key !== each.ref.key);
  // A set that was refused can't run first, and has no such key any more.
  const elsewhere = others.filter(({ ref: own, open }) => {
    return resourceKeyIn(open.key) !== resourceKeyIn(own.key);
  });
  const namesOf = (those: readonly Namesake[]) => {
    const names = new Set(those.map((each) => parseKey(each.open.key).shownName));
    return Array.from(names, (name) => `"${printable(name)}"`);
  };
  const first = namesOf(elsewhere);
  const unknown = all.filter((each) => each.open.id === undefined);
  const urns = new Set(elsewhere.map((each) => urnLike(ref, each.open.key)));
  const lines = [];
  if (urns.size > 0)
    lines.push(
      `If the program also declares ${enumerate(first, MAX_LISTED)}, run ${agree(first.length, "that", "those")} first:`,
      `  ${inStack(`pulumi up${optionsOf("target", urns)}`)}`,
    );
  if (unknown.length > 0)
    lines.push(...answerCommands(unknown.map((each) => parseKey(each.open.key))));
  const cure = renameCure(ref, all.length === 1 ? open : { ...open, id: "<its id>" });
  lines.push(`If both are the same object: ${cure}.`);
  if (unknown.length < all.length)
    lines.push(
      `If not, and the program doesn't declare ${enumerate(namesOf(others), MAX_LISTED)}: \`${COMMAND} pending --help\` says how to drop its record.`,
    );
  return lines;
}

/** The resource's URN of a key, in the stack and the front end of another ref. */
function urnLike(other: ResourceRef, key: string) {
  const ref = refOfKey(key, stackOf(other.identity));
  return isOfPlugin(other) ? otherFormUrn(ref) : ref.resourceUrn;
}

/** For a preview in which the advertiser is not known yet. */
export function possibleNamesakeNotice({ ref, open }: Namesake) {
  const text = `${ref.label} may exist already: ${whatIsOpen(open)}. \`pulumi up\` checks that once the advertiser is known.`;
  return notice("that may exist already", ref, text);
}

/** @param refused the first object that was not created. */
export function refusedBeforeMessage({ label }: ResourceRef, refused: string) {
  return `${label} isn't created: ${refused} may exist already, so this run creates nothing new. Follow the error of ${refused}; if you see none, run \`${pendingLine()}\`.`;
}

export const ASKED = 'deletionPolicy: "delete"';

function idsOf(objects: readonly Pick<Fate, "id">[]) {
  return idRanges(objects.map(({ id }) => id));
}

/** Sentences about objects that stay live, with the reasons. @param subject the object or objects. */
function liveSentences(kind: Kind, subject: string, objects: readonly Fate[]) {
  const byReason = Map.groupBy(objects, ({ why = "" }) => why);
  byReason.delete("");
  const reasons = Array.from(byReason, ([why, those]) => {
    return `${idsOf(those)} ${agree(those.length, "isn't", "aren't")} deleted, because ${why}.`;
  });
  return [`${staysLive(kind, subject)}.`, ...reasons].join(" ");
}

/** Why an object isn't deleted: an answer about its create would outlive it. */
export function clearFirst() {
  return `an interrupted create is still in Pulumi's record: for a delete, run \`${pendingLine(" --clear")}\` while the state has the object`;
}

/** In an `up` or a `destroy`: a resource's objects were deleted. @param label the resource's, with its id. */
export function deletedNotice(label: string, deleted: readonly Pick<Fate, "id">[]) {
  const ids = idsOf(deleted);
  const text = `${label}: deleted ${ids} on the platform.`;
  return notice("deleted", { label }, text, label.includes(`(${ids})`) ? undefined : ids);
}

/** The error of a removed resource after another one has failed. */
export function incompleteMessage(label: string) {
  return `${label} isn't deleted and stays in the state: after an error in this run, the program may not have declared it. Once that works, run \`${inStack("pulumi up")}\` again.`;
}

/** The first step for all failed deletes: the errors of the single ones don't repeat it. */
function refreshFirst(failed: readonly FailedDelete[]) {
  if (!failed.some(({ canRefresh }) => canRefresh)) return undefined;
  return `If objects are no longer in the account, first run \`${inStack("pulumi refresh")}\`, and do what it says. Then run this again.`;
}

/** The error of a removed resource that could not be deleted, or not wholly: the engine keeps its state as it was. */
export function keptMessage(failed: readonly FailedDelete[]) {
  const errors = failed.map(({ error }) => error.message);
  return joined(
    "\n",
    refreshFirst(failed),
    ...cut(errors, MAX_LISTED),
    "The state keeps it as it was. Before you declare it again, see what is still live.",
  );
}

/**
 * About the old object of a replaced resource, in a preview and after the `up`.
 * @param then the end of a sentence about the resource: `is 43 now`.
 */
export function replacedNotice(kind: Kind, ref: ResourceRef, leaving: Fate, then: string) {
  const { id, isDeleted } = leaving;
  const old = `The old object ${id}${unlessAdopted(ref)}`;
  let fate = liveSentences(kind, old, [leaving]);
  if (isDeleted) fate = `${old} will be deleted on the platform (${ASKED}).`;
  const sort = `replaced, whose old objects ${isDeleted ? "are deleted" : "stay live"}`;
  return notice(sort, ref, `${ref.label} ${then}. ${fate}`, id);
}

/**
 * About an object with `existingId` whose arguments change, where no update can. @param changes from `changeMessages`.
 */
export function stateOnlyNotice(
  ref: ResourceRef,
  id: string,
  changes: readonly string[],
  { read, update }: Abilities,
) {
  const told = enumerate(changes);
  const why = update ? "no update changes its advertiser" : "no update is known";
  const then = read
    ? "`pulumi up` fails unless the platform has this"
    : "only the state changes";
  const text = `${ref.label} has existingId: ${id}, and ${why}: ${then} (${told}). Make the change on the platform by hand, or undo it.`;
  return notice("whose change isn't sent", ref, text, `${id}: ${told}`);
}

/** In a preview and an `up`: the journal has another create of a resource than the state's object. */
export function secondObjectNotice(
  { label, shownName }: ParsedKey,
  kind: Kind,
  id: string,
  isDoubtful = false,
) {
  const what = `${label}: an earlier run also created ${id}.`;
  const live = staysLive(kind, `Object ${id}`);
  const forget = pendingLine(optionsOf("forget", [shownName]));
  const text = isDoubtful
    ? `${what} Unless it was deleted since: ${live}. To drop this message, run \`${forget}\`.`
    : `${what} ${live}.`;
  return notice("also made by earlier runs", { label }, text, id);
}

/** With `.get`. */
export const READ_NOW = "is only read from now on";
/** Nobody tells a provider whether the program has ended without an error. Other providers have processes of their own. */
export const UNLESS_MOVED =
  "is no longer in the program, unless an error ended it early, it waits for an unknown value, or another provider has it";

/**
 * At the end of a preview or an `up`: an object whose resource the program no longer declares, or (`REPLACED_BEFORE`) the
 * old object of an interrupted replacement, which Pulumi's JSON doesn't show.
 */
export function leavingNotice(
  { kind, ref, name }: Pick<ExportedObject, "kind" | "ref" | "name">,
  leaving: Fate,
  what = "is no longer in the program",
) {
  const { label, shownName } = ref;
  const { id, isDeleted } = leaving;
  // The name may be secret.
  const object = joined(" ", kind.noun, id, name && `("${printable(name)}")`);
  const isSure = what !== UNLESS_MOVED;
  const its = isSure ? "Its" : "If none of these, its";
  let fate = liveSentences(kind, `${its} ${object}`, [leaving]);
  const deletes = `\`pulumi up\` deletes ${object} on the platform (${ASKED}).`;
  if (isDeleted) fate = isSure ? deletes : `If none of these, ${deletes}`;
  const text = `\`${printable(shownName)}\` ${what}. ${fate}`;
  let sort = isDeleted
    ? "deleted on the platform by `pulumi up`"
    : "no longer in the program, which stay live";
  if (what.startsWith(REPLACED_BEFORE)) sort = `each of which ${what}`;
  return notice(sort, { label }, text, id);
}

/** About a resource that leaves the state: what it had left live, which only its state lists. */
export function formerlyLeftNotice(
  { label, shownName }: ObjectRef,
  left: readonly LeftLive[],
) {
  const those = left.map(({ id, name }) => joined(" ", id, name && `("${name}")`));
  const objects = count(left.length, "object");
  const text = `\`${printable(shownName)}\` left ${objects} live before, unless deleted since: ${listed(those)}.`;
  return notice("that left objects live before", { label }, text);
}

/** About a set that leaves the state, which doesn't show its ids. */
export function hiddenIdsNotice({ label, shownName }: ObjectRef) {
  const text = `\`${printable(shownName)}\` is no longer in the program. Its eventIds are secret, so its events stay live, and aren't listed here: before the \`up\`, \`pulumi stack export --show-secrets\` shows them.`;
  return notice("with secret ids", { label }, text);
}

/** Pulumi runs a refresh and an import with the settings of the last `up`. */
export const NO_READ = "the last `pulumi up` had no read in advertising:operations";

/** At the end of a preview or an `up`: the record has not arrived. */
export const LATE_RECORD =
  "Pulumi took too long to print what it has saved: what leaves the state may not be named.";

/** At the end of a preview whose refresh has another process than its program. */
export const FORMER_SETTINGS =
  "Settings have changed since the last `pulumi up`. If the program no longer declares anything of this provider, only a preview without --refresh names what leaves the state.";

/** At the end of a preview or an `up`: open creates that this run has not come to. @param all at least one. */
export function unclaimedMessage(all: readonly OpenCreate[]) {
  const names = all.map(
    ({ key, id = "outcome unknown" }) => `${parseKey(key).shownName} (${id})`,
  );
  return [
    `An earlier run also sent ${count(all.length, "create")}: ${listed(names)}. To see what to do:`,
    `  ${pendingLine()}`,
  ].join("\n");
}

/** The error of a run with targets. @param refs the objects that interrupted updates or deletes are about; at least one. */
export function leftOutMessage(refs: readonly ParsedKey[]) {
  const names = listed(refs.map(({ shownName }) => shownName));
  return `An interrupted run may have sent something for objects that this run leaves out: ${names}. Pulumi would forget this, so nothing was sent. First run \`${inStack("pulumi up")}\` without --target and --exclude.`;
}

export function warnOfPlatform(
  { messages }: Pick<Runtime, "messages">,
  label: string,
  warnings: readonly string[],
) {
  for (const warning of warnings)
    messages.say(`Platform warning (first seen for ${label}): ${warning}`, warning);
}

/**
 * About an object that leaves the state, and that isn't deleted. @param label with the object's id. @param why a clause,
 * perhaps more.
 */
export function notDeletedNotice(label: string, why: string) {
  const text = `${label} ${NOT_DELETED}, because ${why}.`;
  return notice("not deleted", { label }, text);
}

/** Why an object isn't deleted. @param holders the keys of other resources that have it. */
export function alsoBelongsTo(holders: readonly string[]) {
  return `it also belongs to ${enumerate(holders.map((key) => parseKey(key).shownName))}`;
}

/** About an object of the state of which Pulumi's record shows what an earlier run had begun. @param cure of a delete. */
export function interruptedNotice(
  ref: Shown & Partial<ResourceRef>,
  id: string,
  sent: "update" | "delete",
  cure = removalCure(ref),
) {
  let then = "`pulumi up` sends all its arguments.";
  if (sent === "delete") then = `if it isn't in the account, ${cure}`;
  const what = `${MAY_HAVE} ${sent}d`;
  return notice(`that ${what}`, ref, `${ref.label}: ${what} ${id}; ${then}`, id);
}

/** The error of a refresh or a destroy for an object whose create Pulumi's record still lists. @param what about the object. */
export function stillListedMessage(
  label: string,
  what: "is no longer on the platform, but" | "isn't deleted, because",
) {
  return `${label} ${what} Pulumi's record still lists its create. First run \`${pendingLine(" --clear")}\`, then this again.`;
}

/** @param event the label of one that belongs to it. */
export function eventLeftMessage(label: string, event: string) {
  return `${label} isn't deleted yet: ${event} belongs to it, and this run has failed. Run this again.`;
}

export function goneNotice(ref: Shown) {
  const text = `${ref.label} is no longer on the platform, so it leaves the state. If the program still declares it with arguments, and without existingId, \`pulumi up\` creates another one.`;
  return notice("no longer on the platform", ref, text);
}

/** @param until when the object's absence begins to count, ISO 8601. */
export function tooEarlyNotice(target: Shown & { id: string }, until: string) {
  const text = `${target.label}: the platform doesn't find ${target.id}, but it was just created. Run this again after ${until}.`;
  return notice("just created, and not found yet", target, text);
}

/** @param changes from `changeMessages`. */
export function driftNotice(ref: Shown, changes: readonly string[]) {
  const told = enumerate(changes);
  const text = `${ref.label} was changed on the platform: ${told}. To keep that, copy it into your program. Otherwise \`pulumi preview\` shows what follows: the value is set back, or the object is replaced.`;
  return notice("changed on the platform", ref, text, told);
}

/** The name of each action in a plan, in the order of the plan's lines. */
const PLAN: Partial<Record<ShownAction, string>> = {
  create: "to create",
  rename: "to rename",
  update: "to update in place",
  recover: "to look for on the platform",
  replace: "to replace",
  "perhaps replace": "to replace if an unknown value changes",
  adopt: "to adopt",
  "update state only": "to change in the state only",
  retain: "to remove from the state",
  delete: "to delete on the platform",
};

/**
 * The plan of an `up` for a set; undefined without changes. @param set with the operations known for the kind.
 * @param isKept whether another resource has an object from now on.
 */
export function planMessage(
  plan: { kind: Kind; can: Abilities; ref: ResourceRef; stored: Pick<StoredSet, "left"> },
  members: readonly PlannedObject[],
  isKept: (id: string) => boolean,
) {
  const { kind, can, ref, stored } = plan;
  const byAction = Map.groupBy(members, shownAction);
  const counts = [];
  const lines = [];
  for (const [action, title] of Object.entries(PLAN)) {
    const those = byAction.get(action as ShownAction) ?? [];
    if (those.length === 0) continue;
    counts.push(`${those.length} ${title}`);
    const sends = action === "adopt" ? ` (${sentForAdoption(can)})` : "";
    lines.push(`  ${title}${sends}: ${listed(those.map(shownMember))}`);
  }
  if (counts.length === 0) return undefined;
  const leaving = members
    .flatMap((member) => member.leaving ?? [])
    .filter(({ id }) => !isKept(id));
  const gone = leaving.filter(({ isDeleted }) => isDeleted);
  const live = leaving.filter(({ isDeleted }) => !isDeleted);
  counts.push(`${byAction.get("same")?.length ?? 0} unchanged`);
  lines.push(...renameHints(kind, members, isKept));
  const news = new Set(byAction.get("create")?.map(({ key }) => key));
  const former = stored.left.flatMap(({ key = "", id }) => {
    if (!news.has(key) || isKept(id)) return [];
    return `  ${printable(key)} was ${id} before, which was left live. To keep that, set existingId: ${id}.`;
  });
  lines.push(...cut(former, MAX_LISTED));
  if (live.length > 0)
    lines.push(
      liveSentences(kind, `Each old object (${idsOf(live)})${unlessAdopted(ref)}`, live),
    );
  if (gone.length > 0)
    lines.push(
      `At the end, if all goes well in the set, \`pulumi up\` deletes each old object (${idsOf(gone)}) on the platform (${ASKED}).`,
    );
  if (byAction.has("replace")) lines.push(howToKeep("one"));
  return [`events: ${counts.join(", ")}`, ...lines].join("\n");
}

/** A member's key and id; with the former key if that differs, and with the adopted id. */
function shownMember({ key, formerKey, id, action }: PlannedObject) {
  const keys = joined(" → ", formerKey, key);
  const now = action.do === "adopt" ? action.id : id;
  return now === undefined ? keys : `${keys} (${now})`;
}

/** Hints for new keys whose event has the platform name of one that leaves the set. Nothing is decided by them. */
function renameHints(
  kind: Kind,
  members: readonly PlannedObject[],
  isKept: (id: string) => boolean,
) {
  const removed = members.filter(
    ({ isDeclared, leaving }) =>
      !isDeclared && leaving !== undefined && !isKept(leaving.id),
  );
  const byName = Map.groupBy(removed, ({ olds }) => olds[kind.nameProperty]);
  const hints = members.flatMap(({ key, action, values }) => {
    const name = values[kind.nameProperty];
    const owner = ownerIn(kind, values);
    const those = (byName.get(name) ?? []).filter(({ olds }) => {
      return isSameValue(owner, ownerIn(kind, olds));
    });
    if (action.do !== "create" || those.length === 0 || typeof name !== "string") return [];
    const names = those.map((each) => `${each.key} (${each.id})`);
    const keys = those.map((each) => JSON.stringify(each.key));
    return `  ${printable(key)} has the same advertiser and name on the platform as ${listed(names)}, no longer declared. If it is the same event, set formerKey: ${cut(keys, MAX_LISTED).join(" or ")}.`;
  });
  return cut(hints, MAX_LISTED);
}

/** The plugin doesn't know what other resources are declared, and what they adopt, before it comes to them. */
function unlessAdopted(ref: ResourceRef) {
  return isOfPlugin(ref) ? ", unless another resource adopts it," : "";
}

/** @param left the objects that the `up` has left live and unmanaged. */
export function leftMessage(
  kind: Kind,
  ref: ResourceRef,
  left: readonly (Fate & Pick<LeftLive, "key">)[],
) {
  if (left.length === 0) return undefined;
  const those = left.map(({ id, key }) => `${key} (${id})`);
  return [
    `No longer managed: ${count(left.length, `live ${kind.noun}`)}, ${idsOf(left)}.`,
    `  ${listed(those)}`,
    liveSentences(kind, `Each${unlessAdopted(ref)}`, left),
  ].join("\n");
}

/** Lists the live objects that an `up` has adopted, or taken over from earlier runs; undefined if there are none. */
export function usedMessage(
  { label }: ResourceRef,
  objects: readonly Pick<PlannedObject, "key" | "id">[],
  outcomes: Outcomes,
) {
  const used = objects.flatMap(({ key, id }) => {
    const outcome = outcomes.get(key);
    if (!outcome || !("id" in outcome) || outcome.id === id) return [];
    // A single resource has no key.
    const item = joined(" ", key, key === "" ? outcome.id : `(${outcome.id})`);
    if (outcome.kind === "managed") return { how: "adopted", item };
    return outcome.isTakenOver ? { how: "taken over from an earlier run", item } : [];
  });
  if (used.length === 0) return undefined;
  const parts = Array.from(
    Map.groupBy(used, ({ how }) => how),
    ([how, those]) => `${how}: ${listed(those.map(({ item }) => item))}`,
  );
  return `${label}: ${parts.join("; ")}. No create was sent for ${agree(used.length, "it", "them")}.`;
}

function listed(items: readonly string[]) {
  return cut(items.map(printable).toSorted(natural), MAX_LISTED).join(", ");
}

/** A create of unknown outcome. `why`: the program's `existingId` contradicts it. */
export interface OpenObject {
  ref: ParsedKey;
  record: Unresolved;
  why?: string | undefined;
}

/**
 * How to take an object that doesn't exist out of the state: a clause with its full stop, or commands. No Pulumi command can
 * name a member, since it is not a resource. @param isReplaced whether the resource or member has another object by now.
 */
export function removalCure(
  { member, urn = "<its URN>" }: Partial<ResourceRef>,
  isReplaced = false,
  canRefresh?: unknown,
) {
  if (canRefresh) return `run \`${inStack("pulumi refresh")}\`, then this again.`;
  if (isReplaced) return "run `pulumi up` once without the deletionPolicy.";
  if (member !== undefined)
    return "keep the set, remove its deletionPolicy and this key, and run `pulumi up` once.";
  const commands = [`${COMMAND} pending`, `pulumi state delete ${shellWord(urn)}`];
  const lines = ["run:", ...commands.map(inStack)].join("\n  ");
  return `${lines}\nIf others depend on it, --target-dependents takes them out of the state too, and they stay live.`;
}

/** The error for a set in which something failed. */
export function setFailureMessage(
  set: ResourceRef,
  outcomes: Outcomes,
  failedDeletes: readonly FailedDelete[],
) {
  const failed: (Pick<FailedDelete, "key" | "error"> & { id?: string })[] = [];
  const open = [];
  const asSent = [];
  for (const [key, outcome] of outcomes) {
    const ref = memberRef(set, key);
    if (outcome.kind === "failed") failed.push({ key, error: outcome.error });
    if (outcome.kind === "unresolved") open.push({ ref, ...outcome });
    if (outcome.kind === "created" && outcome.sentAs)
      asSent.push({ ref, id: outcome.id, ...outcome.sentAs });
  }
  failed.push(...failedDeletes);
  // Each reason is shown once, with all its members.
  const byReason = Map.groupBy(failed, ({ key, error }) => {
    const { label } = memberRef(set, key);
    const text = withCode(error.message, error.code);
    if (!text.startsWith(label)) return text;
    return text.slice(label.length).replace(/^(?: \(\d+\))?[:\s]+/, "");
  });
  const reasons = [...byReason].map(([reason, those]) => {
    const text = reason.replaceAll("\n", "\n    ");
    const names = those.map(({ key, id }) => joined(" ", key, id && `(${id})`));
    return `  ${listed(names)}: ${text}`;
  });
  const lines = [
    `${set.label} is incomplete.`,
    refreshFirst(failedDeletes),
    ...cut(reasons, MAX_LISTED),
  ];
  if (failed.length > 0 && open.length === 0)
    lines.push("The next `pulumi up` sends only what is missing or failed.");
  if (asSent.length > 0) lines.push(savedAsSentMessage(asSent));
  if (open.length > 0) lines.push(unresolvedMessage(open));
  const [first] = open.length > 0 ? [] : failed;
  return {
    text: joined("\n", ...lines),
    code: first?.error.code ?? OutcomeUnknownError.code,
  };
}

/** The same, before the last resource of a program of the classes. */
export function undeclaredMessage(open: readonly OpenObject[]) {
  return `${forgottenMessage(open)} If it's declared after an await: resolve this first, or declare it before the first await.`;
}

/** The error of an `up` or a `destroy` that would take unresolved creates out of Pulumi's record. */
export function forgottenMessage(open: readonly OpenObject[]) {
  return `${unresolvedMessage(open, answerCommands)}
Then run this again: Pulumi would forget what is unresolved. If the program has it under another name now, add an alias or its formerKey.`;
}

/** The error of an `up` or a preview while creates are unresolved. @param open at least one. */
export function unresolvedMessage(open: readonly OpenObject[], commands = resolveCommands) {
  const sorted = inNaturalOrder(open, ({ ref }) => ref.shownName);
  const entries = sorted.map(({ ref, record, why }) => {
    const name = `  ${printable(commandName(ref))}: ${describe(ref.kind, record)}`;
    return joined("\n    ", name, why, record.what, record.searched);
  });
  // Pulumi's record has, or had, it as in flight.
  const isInFlight = open.some(({ record }) => record.at === "");
  const first = isInFlight ? " If another run is in progress, let it end first." : "";
  return [
    `The outcome of ${count(open.length, "create")} is unknown. Nothing more is sent for ${agree(open.length, "it", "them")} until that is resolved.${first} Look in the account for:`,
    ...cut(entries, MAX_LISTED),
    ...commands(sorted.map(({ ref }) => ref)),
  ].join("\n");
}
