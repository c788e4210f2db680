/**
 * The messages about single objects before and after an action: adoptions, renames, replacements, objects that are left live, and those that
 * were found gone or changed. Data in, notices out. The messages of a set are in `tell-set.ts`, and the description of a create of unknown
 * outcome in `state/sentences.ts`. Nothing is decided here.
 */

import { agree, count, enumerate, idRanges, shellWord } from "../base/index.js";
import type { Abilities, Created, Former, ShownAction, TakeOver, Unproven } from "../decision/index.js";
import { belongsAlready, type Kind } from "../kinds/index.js";
import {
  type Alias,
  aboutWhom,
  type CreateRecord,
  deletedInWords,
  describe,
  forgetCommand,
  forgetCommands,
  isDeletion,
  MAX_LISTED,
  nameInProgram,
  type Ref,
  type Removal,
  removalWarning,
  renamedFrom,
  staysLive,
  toGoOnWith,
  whatHappened,
  whoCreated,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import type { Messages, Severity } from "./engine.js";

type Notice =
  /** About the whole run; shown once for each `topic`. */
  | { readonly say: string; readonly topic?: string }
  | { readonly tell: Severity; readonly urn: string; readonly text: string }
  /** At a resource, of a sort that may come for thousands: the first ones one by one, the others counted. */
  | {
      readonly sort: string;
      readonly urn: string;
      readonly text: string;
      readonly brief: string;
      readonly more: (amount: number) => string;
    };

export function tellAll({ say, tellAt, warnEach }: Messages, notices: readonly Notice[]): void {
  for (const notice of notices) {
    if ("say" in notice) say(notice.say, notice.topic);
    else if ("tell" in notice) tellAt(notice.tell, notice.urn, notice.text);
    else warnEach(notice.sort, notice.urn, notice.text, notice.brief, notice.more);
  }
}

/** A create of it that an interrupted run sent. */
export interface Earlier {
  readonly record: CreateRecord;
  readonly isSearchable: boolean;
  /** What becomes of its object, once the id is known. */
  readonly takeOver: TakeOver;
  /** Whether the `up` may find it gone. */
  readonly mayBeGone: boolean;
}

export interface Before {
  readonly adopts?:
    | {
        readonly id: string;
        readonly can: Pick<Abilities, "read" | "update">;
        /** Arguments that differ in the state and can't be updated. */
        readonly unlike?: readonly string[] | undefined;
      }
    | undefined;
  readonly earlier?: Earlier | undefined;
  /**
   * Its object of an earlier run, and what becomes of that if the state has it, which Pulumi does not show; no `removal` if the state lists
   * it as left live.
   */
  readonly again?: { readonly id: string; readonly removal?: Removal } | undefined;
  /** Resources that are no longer declared and may be this one under another name. */
  readonly former?: readonly {
    readonly key: string;
    readonly live: Live;
    readonly isSame: boolean;
    readonly removal: Removal;
  }[];
}

/** The summary for objects that are only counted. @param one completes "1 more object …", @param many "2 more objects …". */
function objects(one: string, many: string) {
  return (amount: number) => count(amount, `more object ${one}`, `more objects ${many}`);
}

export function beforeCreate(kind: Kind, ref: Ref, before: Before): Notice[] {
  const { resourceUrn: urn } = ref;
  const { adopts, earlier, again, former = [] } = before;
  if (adopts?.unlike !== undefined) return [unlikeNotice(ref, adopts.id, adopts.unlike)];
  if (adopts !== undefined) return [{ tell: "info", urn, text: `adopts ${adopts.id}; ${adoptionInWords(adopts.can)}` }];
  if (earlier !== undefined) return [earlierNotice(kind, ref, earlier)];
  return [
    ...(again === undefined ? [] : [againNotice(kind, ref, again)]),
    ...former.flatMap((each) => (each.isSame ? renameNotices(kind, ref, each) : removalNotice(kind, urn, each))),
  ];
}

const HOW_TO_AGREE = "Copy the refreshed values into your program, or change the object back on the platform";

export function adoptionInWords({ read, update }: Pick<Abilities, "read" | "update">): string {
  if (!read) return "nothing is sent";
  return update ? "it is read, and changed in place if it differs" : "it is read, and refused if it differs";
}

/** An object in the state that the program names with different arguments. */
function unlikeNotice({ label, resourceUrn: urn }: Ref, id: string, unlike: readonly string[]): Notice {
  const text = `${label}: the state has ${id} with another ${enumerate(unlike)}. \`pulumi up\` reads it, and fails if it still differs. ${HOW_TO_AGREE}.`;
  return { tell: "warn", urn, text };
}

function earlierNotice(kind: Kind, ref: Ref, { record, isSearchable, takeOver, mayBeGone }: Earlier): Notice {
  const { label, resourceUrn } = ref;
  const { id, isHanded } = record;
  const hint = isHanded === true ? UNLESS_REPLACED : "";
  if (id !== undefined && takeOver === "refused") {
    const text = [
      `${label} was created as ${id} by ${whoCreated(record)} with other arguments than the program has now: \`pulumi up\` will send nothing for it, and fail.${hint}`,
      ...insteadOfFailing(kind, [{ urn: ref.urn, record }]),
    ].join("\n");
    const more = objects(
      "was created with other arguments than the program has now, and `pulumi up` fails at it",
      "were created with other arguments than the program has now, and `pulumi up` fails at them",
    );
    return { sort: "refused", urn: resourceUrn, text, brief: `${label} (${id})`, more };
  }
  const next = isSearchable ? "look for it by its mark" : "not send it, but save it as unresolved";
  const why = [record.searched, record.refused].filter((sentence) => sentence !== undefined);
  const say =
    id === undefined
      ? `${[whatHappened(label, record), ...why].join(" ")} \`pulumi up\` will ${next}.`
      : `${label} was created as ${id} by ${whoCreated(record)}: \`pulumi up\` will take it over${TAKEN_OVER[takeOver]}${mayBeGone ? ", unless it finds it gone" : ""}.${hint}`;
  return { say, topic: takingOver(label) };
}

const TAKEN_OVER: Readonly<Record<TakeOver, string>> = {
  "as it is": "",
  updated: ", and update it",
  "updated if it differs": ", and update it if it differs",
  "if same owner": " if its advertiserId is the same",
  "if unchanged": " if its arguments are the same",
  refused: "",
};

/** What to do about objects that were created with other arguments than the program has now. */
export function insteadOfFailing(
  kind: Kind,
  sent: readonly { readonly urn: string; readonly record: CreateRecord }[],
): string[] {
  const [only, ...others] = sent;
  const kept = others.length === 0 ? `another one (${only?.record.id} stays live)` : "other ones (these stay live)";
  return [
    ...sent
      .slice(0, MAX_LISTED)
      .map(
        ({ record }) =>
          `To go on with ${record.id}, declare all arguments as they were sent: ${describe(kind.name, record)}.`,
      ),
    `To create ${kept}:`,
    ...forgetCommands(sent.map(({ urn }) => urn)).map((line) => `  ${line}`),
  ];
}

function againNotice(kind: Kind, ref: Ref, { id, removal }: NonNullable<Before["again"]>): Notice {
  const { label, resourceUrn: urn } = ref;
  const created =
    removal !== undefined && isDeletion(removal)
      ? `this creates another object. If the state has ${id}, it is ${deletedInWords(removal === "is perhaps deleted")}.`
      : "this creates a second live object.";
  const rest =
    removal === undefined
      ? ""
      : ` If the state no longer has ${id}, and nobody has deleted it, ${id} ${kind.afterlife}.`;
  return {
    sort: "again",
    urn,
    text: `${label} was ${id} before: ${created}${rest} ${toGoOnWith(ref, id)}`,
    brief: `${label} (${id})`,
    more: objects("was live before and is created again", "were live before and are created again"),
  };
}

type Formerly = NonNullable<Before["former"]>[number];

function removalNotice(kind: Kind, urn: string, { key, live: { id }, removal }: Formerly): Notice {
  return {
    sort: `removal, ${removal}`,
    urn,
    text: removalWarning(kind, aboutWhom(key).label, id, removal),
    brief: id,
    more: objects(`is no longer declared, and ${removal}`, `are no longer declared, and each ${removal}`),
  };
}

/** For a catalog that was perhaps renamed, the advice comes once for all of its rows. */
function renameNotices(
  kind: Kind,
  { key, resourceUrn: urn }: Ref,
  { key: former, live: { id }, removal }: Formerly,
): Notice[] {
  const becomes = {
    "stays live": `leaves ${id} live`,
    "is perhaps left live": `leaves ${id} live`,
    "is deleted": `deletes ${id}`,
    "is perhaps deleted": `perhaps deletes ${id}`,
  };
  const old = aboutWhom(former);
  const [oldName, newName] = [old, aboutWhom(key)].map(nameInProgram);
  const renamed = renamedFrom(old, key);
  const advice = {
    none: ` ${toGoOnWith(aboutWhom(key), id)}`,
    alias: ` If it is a rename, add \`${renamed?.option}\`${old.member === undefined ? "" : " to the set"}. If \`${oldName}\` was removed earlier, set existingId: ${id} to go on with it.`,
    catalog: "",
  }[renamed === undefined ? "none" : renamed.catalog === undefined ? "alias" : "catalog"];
  const notice: Notice = {
    sort: "rename",
    urn,
    text:
      `\`${oldName}\` (${id}) is no longer declared${oldName === newName ? " in its former place" : ""} and \`${newName}\` has the same arguments: this creates ` +
      `a second live ${kind.create.noun} and ${becomes[removal]}.${advice}`,
    brief: `${newName} (${id})`,
    more: (amount) =>
      `${count(amount, `more second live ${kind.create.noun}`)}, because new names have the arguments of old ones. To go on with the old ones, set existingId; \`npx pulumi-advertising report ids\` lists the ids`,
  };
  return renamed?.catalog === undefined ? [notice] : [catalogNotice(renamed.catalog, renamed.option), notice];
}

function catalogNotice({ now, before }: NonNullable<Alias["catalog"]>, option: string): Notice {
  const text = `If you renamed ${before}, add \`${option}\` to ${now}: nothing is created then. Otherwise set existingId in the rows that go on with an object.`;
  return { say: text, topic: text };
}

/**
 * Before a replacement, in previews and if it is not known that this is an `up`, which reports it afterwards.
 * @param isPerhaps a value is not known yet, and may turn out to be the one that the object has.
 */
export function beforeReplacement(
  kind: Kind,
  { resourceUrn: urn, label }: Ref,
  former: Former,
  { adopts, isPerhaps }: { readonly adopts: string | undefined; readonly isPerhaps: boolean },
): Notice {
  const { id, isDeleted, mayBeAdopted = false } = former;
  const certain =
    adopts === undefined ? "The replacement creates another live object" : `${adopts} is adopted in its place`;
  const by = isPerhaps
    ? "It is replaced if values that are not known yet turn out to differ: that creates another live object"
    : certain;
  const brief = `${label} (${id})`;
  const more = (amount: number) => count(amount, isPerhaps ? "more possible replacement" : "more replacement");
  const sort = isPerhaps ? "perhaps replacement" : "replacement";
  if (isDeleted) {
    return {
      sort: `${sort}, deleted`,
      urn,
      text: `${label}: ${by}, and ${id} is ${deletedInWords(mayBeAdopted)}.`,
      brief,
      more: (amount) => `${more(amount)}, deleting on the platform`,
    };
  }
  return {
    sort,
    urn,
    text: `${label}: ${by}${isPerhaps ? ", and" : "."} ${afterlifeOf(kind, former)}`,
    brief,
    more: (amount) => `${more(amount)}, leaving live on the platform`,
  };
}

function afterlifeOf(kind: Kind, { id, isUnread = false, mayBeAdopted = false }: Former): string {
  return isUnread
    ? `${id} was adopted without being read: it may be live on the platform; if nothing else uses it, deactivate it there by hand.`
    : `${staysLive(kind, id, mayBeAdopted)}.`;
}

export function afterReplacement(kind: Kind, { resourceUrn: urn, label }: Ref, old: Former, id: string): Notice[] {
  if (old.id === id) return [];
  if (old.isDeleted) {
    const unless = old.mayBeAdopted === true ? ", unless something adopts it" : "";
    const text = `${label} is ${id} now. ${old.id} is deleted on the platform at the end of this run${unless}.`;
    return [{ tell: "info", urn, text }];
  }
  return [
    {
      sort: "replaced",
      urn,
      text: `${label} is ${id} now. ${afterlifeOf(kind, old)}`,
      brief: `${old.id} (${label} is ${id} now)`,
      more: objects("was replaced, and stays live on the platform", "were replaced, and stay live on the platform"),
    },
  ];
}

/** If Pulumi is asked for a replacement it does not show the state, which then looks like a create that the state has lost. */
const UNLESS_REPLACED = " If you asked Pulumi to replace it, run `pulumi up` once without that, and then ask again.";

export function takenOver(
  { label }: Ref,
  id: string,
  { isUpdated, isHanded }: { readonly isUpdated?: boolean } & Pick<CreateRecord, "isHanded">,
): Notice {
  const sent = isUpdated === true ? "updated in place" : "nothing is sent";
  const hint = isHanded === true ? UNLESS_REPLACED : "";
  return {
    say: `${label} was created as ${id} by ${whoCreated({ isHanded })}; it is taken over, and ${sent}.${hint}`,
    topic: takingOver(label),
  };
}

/** One topic before and after the create, so that a run that was not known to be an `up` reports it only once. */
function takingOver(label: string): string {
  return `taking over ${label}`;
}

/** In a preview, for an unresolved create that an `up` will look for. */
export function toBeLookedFor({ label, resourceUrn: urn }: Ref, { at }: CreateRecord): Notice {
  const text = `${label} was sent at ${at}, and its outcome is unknown: \`pulumi up\` looks for it by its mark.`;
  return { tell: "warn", urn, text };
}

export function platformWarning(label: string, warning: string): Notice {
  return { say: `Platform warning (first seen for ${label}): ${warning}`, topic: warning };
}

/** @param isAdopted whether its `existingId` names it, by the state. */
export function goneNotice(label: string, id: string, isAdopted: boolean): Notice {
  const next = isAdopted
    ? `fails if existingId still names ${id}: remove existingId to create another one, or name another object`
    : "creates another one";
  return {
    sort: isAdopted ? "gone, adopted" : "gone",
    urn: "",
    text: `${label} is no longer on the platform, so it leaves the state. Then \`pulumi up\` ${next}.`,
    brief: label,
    more: objects("is no longer on the platform", "are no longer on the platform"),
  };
}

/** @param until from when on its absence counts, ISO 8601. */
export function justCreatedNotice(label: string, { created, until }: Unproven): Notice {
  return {
    sort: "just created",
    urn: "",
    text: `${label} is not found on the platform, but ${whenCreated(created)}: until ${until} that proves nothing, so it stays in the state.`,
    brief: label,
    more: objects("was just created and is not found yet", "were just created and are not found yet"),
  };
}

/** For an update or a delete that was answered as if its object did not exist. */
export function tooEarly(label: string, id: string, { created, until }: Unproven): string {
  return `${label}: the platform does not find ${id}, but ${whenCreated(created)}: until ${until} that proves nothing. Run this again after that.`;
}

function whenCreated({ at, isOfSet = false, isSent = false }: Created): string {
  if (isSent) return `it was sent at ${at}`;
  return isOfSet ? `its set created the last of its events at ${at}` : `it was created at ${at}`;
}

/** @param isAdopted whether `existingId` names it. @param isRead whether a refresh would notice it too. */
export function goneInUpdate({ label, urn, member }: Ref, id: string, isAdopted: boolean, isRead: boolean): string {
  const without = isAdopted ? " (without existingId)" : "";
  const what = `${label} was not changed: object ${id} is no longer on the platform. To create another one${without}`;
  if (isRead) return `${what}:\n  pulumi refresh\n  pulumi up`;
  if (member !== undefined) return `${what}, remove its key, run \`pulumi up\`, and add the key again.`;
  return `${what}:\n  pulumi state delete ${shellWord(urn)}\n  pulumi up`;
}

/** @param isRead whether a refresh would find out. @param urn of a single resource. */
/** @param read none if there is no known read; `from` if only from then on its answer proves anything. */
export function mayBeDeleted(
  label: string,
  ids: readonly string[],
  read: false | { readonly from: string | undefined },
  urn: string | undefined,
): string {
  const what = `${label}: this machine has sent a delete of ${idRanges(ids)}, which may have been carried out. Nothing was sent in this run.`;
  if (read) return `${what} To find out${read.from === undefined ? "" : `, from ${read.from} on`}:\n  pulumi refresh`;
  const look = `${what} Look in the account. If ${agree(ids.length, "it is", "one is")} there, set existingId to its id. Otherwise`;
  if (urn === undefined) return `${look}, remove its key, run \`pulumi up\`, and add the key again.`;
  return `${look}:\n  pulumi state delete ${shellWord(urn)}\n  pulumi up`;
}

export function sentAgain(label: string, ids: readonly string[]): string {
  return `${label}: this machine has sent an update of ${idRanges(ids)}, which may have been carried out. It is sent again, with the program's values.`;
}

/** @param id of an object that an earlier run created, and that the engine perhaps has not saved. */
export function goneBeforeTakeOver(label: string, id: string): string {
  return `${label} is not taken over: an earlier run created it as ${id}, and ${id} is no longer on the platform. No create was sent. The next \`pulumi up\` creates another one.`;
}

/** @param by what else has the object, or names it. */
export function madeForTwo(label: string, id: string, by: string): string {
  return (
    `${label} was created as ${id}, and ${by} had adopted that id with existingId: one object can't be two resources. ` +
    `Remove or correct existingId there; ${id} stays, because ${label} has it.`
  );
}

/** An interrupted run created an object, and another resource has adopted it since. */
export function takenByAnother({ label, urn }: Ref, id: string, by: string): string {
  return [
    `${label} was created as ${id}, and ${belongsAlready(id, by)}. Nothing is sent for it again.`,
    "If the platform has made no object for it, drop the note of its create:",
    `  ${forgetCommand(urn)}`,
    `Otherwise correct existingId there, or remove that resource: then \`pulumi up\` takes ${id} over for ${label}.`,
  ].join("\n");
}

/** @param action what becomes of it, if the program stays as it is. */
export function driftNotice(label: string, properties: readonly string[], action: ShownAction): Notice {
  const next =
    action === "refuse"
      ? `fails, because existingId names it. ${HOW_TO_AGREE}`
      : action === "replace"
        ? "replaces it, which creates another live object. To keep this one, copy the refreshed values into your program"
        : "sets it back to what the program says";
  return {
    sort: "differs",
    urn: "",
    text: `${label} was changed on the platform (${enumerate(properties)}): the next \`pulumi up\` ${next}.`,
    brief: label,
    more: objects("was changed on the platform", "were changed on the platform"),
  };
}

/** @param noun of the objects. */
export function nothingCompared(noun: string): Notice {
  return {
    say:
      `A refresh does not compare any ${noun}: advertising:operations has no read for it, so the state stays as it is. ` +
      "(A refresh uses the configuration of the last `pulumi up`; with --run-program it uses the current one.)",
  };
}

export function spared(label: string): Notice {
  return {
    say: `Not deleted: ${label}, which another resource has or may adopt, by the program or this machine's notes.`,
  };
}

/** For an object that left the state without a delete. @param canDelete whether a delete is known. */
export function notDeleted(canDelete: boolean, isAccountKnown: boolean, sentence: string): Notice {
  const why = !canDelete
    ? "The platform has no known way to delete"
    : isAccountKnown
      ? "retainOnDelete: false was not given to the resource itself"
      : "The state does not say at which account it was created";
  return { say: `${why}, so ${sentence}` };
}
