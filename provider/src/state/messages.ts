/** Messages that the program process, the provider process and the command share. Pure, but for the names in commands. */
import { agree, COMMAND, inStack, printable, shellWord } from "../base/index.js";
import { CATALOG_SEPARATOR, type Kind, setNamed } from "../kinds/index.js";
import { type Answerable, commandName } from "./command-names.js";
import {
  catalogIn,
  isOfPlugin,
  type ObjectRef,
  type ParsedKey,
  parseKey,
  resourceKeyIn,
} from "./names.js";
import type { CreateRecord } from "./stored.js";

/** How many objects a run's message lists at most; `pending` lists all. */
export const MAX_LISTED = 20;

/** Describes an object to look for in the account: `the ConversionEvent named "Signup" (advertiserId 1), sent at …`. */
export function describe(kind: Kind["name"], create: CreateRecord) {
  const { name, args = {}, field, mark, replaces, at } = create;
  const details = Object.entries(args).map(
    ([property, value]) => `${property} ${printable(String(value))}`,
  );
  let text = `the ${kind}`;
  if (name !== undefined) text += ` named "${printable(name)}"`;
  if (details.length > 0) text += ` (${details.join(", ")})`;
  if (at !== "") text += `, sent at ${at}`;
  if (field !== undefined) text += `, ${field} = ${mark}`;
  if (replaces !== undefined) text += ` (not ${replaces}, the object that it replaces)`;
  return text;
}

/**
 * Advice on how to avoid a replacement. @param id of the object, or "one". @param isPerhaps if nothing may change.
 * @param adopts whether the program has set another `existingId`.
 */
export function howToKeep(id: string, isPerhaps = false, adopts = false) {
  if (adopts) return `To keep ${id}, undo the change.`;
  const undo = isPerhaps ? "" : "undo the change; or ";
  return `To keep ${id}, ${undo}set existingId, and make the change on the platform by hand.`;
}

/** The error for a resource without hidden inputs. @param input one of them. */
export function takenAwayMessage(label: string, input: string) {
  return `${label} lacks inputs of pulumi-advertising's class (${input}). Nothing was sent. A transformation or a policy's remediation must keep all properties that begin with "__".`;
}

/** Follows "deletionPolicy". */
export const NO_DELETE =
  '"delete" has no effect without a delete in advertising:operations';

/** Follows "customTimeouts". A dynamic provider isn't given that option, and a create isn't cut short. */
export const TIMEOUTS_IGNORED =
  "is ignored: advertising:requestTimeoutSeconds and advertising:maxWaitSeconds limit each request";

/** @param options of the command, each after a space. */
export function pendingLine(options = "") {
  return inStack(`${COMMAND} pending${options}`);
}

/** An option of a printed command, for each of the values that are listed. */
export function optionsOf(option: string, values: Iterable<string>) {
  // A value that begins with "-" would count as an option.
  const between = (value: string) => (value.startsWith("-") ? "=" : " ");
  return Array.from(values, (value) => ` --${option}${between(value)}${shellWord(value)}`)
    .slice(0, MAX_LISTED)
    .join("");
}

/** Whether a create is about events of a set that nobody can tell, since they are secret: no id can be the answer. */
export function isOfHiddenEvents({ resource, member = "" }: Partial<ObjectRef>) {
  return setNamed(String(resource)) !== undefined && member === "";
}

/** The error for a set whose interrupted run sent events that Pulumi's record has as secret. @param set as it was then. */
export function hiddenEventsMessage(set: ParsedKey) {
  return [
    `${set.label}: ${HIDDEN_EVENTS}. Nothing was sent.`,
    ...answerCommands([set]),
  ].join("\n");
}

export const HIDDEN_EVENTS = "an interrupted run sent events of this set, which are secret";

/** The commands that resolve creates, one for each answer. */
export function answerCommands(creates: readonly Answerable[]) {
  const namesOf = (those: readonly Answerable[]) => those.map(commandName);
  const sets = namesOf(creates.filter(isOfHiddenEvents));
  const shorts = namesOf(creates.filter((each) => !isOfHiddenEvents(each)));
  const they = agree(shorts.length, "If it is", "For those that are");
  const ids = shorts.map((shownName) => `${shownName}=<its id>`);
  const others = shorts.length - MAX_LISTED;
  const lines = [];
  if (shorts.length > 0)
    lines.push(
      `${they} in the account:`,
      `  ${pendingLine(optionsOf("created", ids))}`,
      `${they} not in the account:`,
      `  ${pendingLine(optionsOf("not-created", shorts))}`,
    );
  if (others > 0) lines.push(`Then, for ${others} more:`, `  ${pendingLine()}`);
  if (sets.length > 0)
    lines.push(
      "Look in the account for the secret events, and set existingId for each that is there. Then run:",
      `  ${pendingLine(optionsOf("not-created", sets))}`,
    );
  return lines;
}

/** The same commands, and what to run after them. */
export function resolveCommands(creates: readonly Answerable[]) {
  return [
    ...answerCommands(creates),
    `Then run \`${inStack("pulumi up")}\`. Instead of --created, you can set existingId: <its id> in the program (not beside protect or ignoreChanges).`,
  ];
}

/** A sentence about a create of an earlier run: its id, or when it was sent. */
export function whatHappened(
  label: string,
  { id, at }: Pick<CreateRecord, "at"> & { id?: string | undefined },
) {
  if (id !== undefined) return `${label}: an earlier run created it as ${id}.`;
  // Pulumi's record says only that it was about to be sent.
  const sent = at === "" ? "may have sent it" : `sent it at ${at}`;
  return `${label}: an earlier run ${sent}, and its outcome is unknown.`;
}

/** A clause about objects that are no longer managed, without a full stop. @param subject the object or objects. */
export function staysLive({ unmanagedNotice }: Kind, subject: string) {
  return `${subject} ${unmanagedNotice}; once nothing uses it, deactivate it by hand`;
}

/**
 * About an object whose delete is due, or that stays live: the comment counts these messages, since Pulumi's JSON leaves
 * the steps out.
 */
export const REPLACED_BEFORE = "was replaced by an earlier run";
export const KEPT_BEFORE = `${REPLACED_BEFORE}, and leaves the state`;
/** Why objects of a kind stay live: the comment looks for it, since Pulumi's JSON doesn't show what was an Output. */
export const MAY_BE_ADOPTED = "another resource may adopt it";
/** Of an update or a delete. The comment looks for it. */
export const MAY_HAVE = "an interrupted run may have";
/** Follows the name and id of an object that is kept. The comment looks for it. */
export const NOT_DELETED = "leaves the state and isn't deleted";

/** A catalog event's key, without its last part. */
function beforeLast(key: string) {
  return key.slice(0, key.lastIndexOf(CATALOG_SEPARATOR));
}

/**
 * How the program can keep an object under a new name, as a clause.
 * @param ref the new name. @param former the name that the object was made under, and its resource's URN if that is
 * known. @param code formats what is typed.
 */
export function renameCure(
  ref: ObjectRef,
  former: Partial<Record<"id" | "urn", string | undefined>> & {
    key: string;
    isInState?: boolean;
  },
  code = (text: string) => text,
) {
  const { key, id = "<its id>", isInState, urn = ref.resourceUrn } = former;
  const adopt = `set ${code(`existingId: ${id}`)}`;
  const { name, member, resource, parentTypes } = parseKey(key);
  // A set can't take a single event's state, nor the other way round.
  if (resource !== ref.resource) return adopt;
  const isMoved = isOfPlugin({ resource, resourceUrn: urn }) !== isOfPlugin(ref);
  // From one face to the other, only a URN tells them apart.
  if (isMoved) return `add the alias ${code(JSON.stringify(urn))}, or ${adopt}`;
  // A plugin learns of an alias only from the state.
  const isOfSame = resourceKeyIn(key) === resourceKeyIn(ref.key);
  if (isOfPlugin(ref) && !isInState && !isOfSame) return adopt;
  if (key === ref.key) return adopt;
  const isOfCatalog = catalogIn(ref.key) !== undefined;
  let formerKey: string | undefined;
  if (isOfSame) formerKey = member;
  // A formerKey stays within its catalog and advertiser.
  else if (
    isOfCatalog &&
    resource === "ConversionEvent" &&
    beforeLast(key) === beforeLast(ref.key)
  )
    formerKey = name.split(CATALOG_SEPARATOR).at(-1);
  if (formerKey !== undefined)
    return `set ${code(`formerKey: ${JSON.stringify(formerKey)}`)}, or ${adopt}`;
  if (isOfCatalog || member !== ref.member) return adopt;
  const named = `name: ${JSON.stringify(name)}`;
  let alias = "an alias with its former name and parent";
  if (parentTypes === undefined)
    alias = `the alias ${code(`{ ${named}, parent: pulumi.rootStackResource }`)}`;
  if (parentTypes === ref.parentTypes) alias = `the alias ${code(`{ ${named} }`)}`;
  // In a YAML program, an alias must be a whole URN.
  if (parentTypes === ref.parentTypes && isOfPlugin(ref))
    alias = `the alias ${code(JSON.stringify(ref.resourceUrn.slice(0, -ref.name.length) + name))}`;
  const ofSet = member === undefined ? "" : " to the set";
  return `add ${alias}${ofSet}, or ${adopt}`;
}
