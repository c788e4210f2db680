/**
 * The sentences that the program's half, the provider's half and the command share: the description of a create of unknown outcome, with
 * the commands that settle it, and the warnings about resources that are no longer declared. `explain` is the whole message of a single
 * resource, which `provider/outcome.ts` makes an error; a set's message is in `provider/tell-set.ts`. What happened (`record.what`) was
 * worded at that time: by the client, `provider/create.ts`, `provider/search.ts`, or `whatHappened` here. Pure.
 */
import {
  agree,
  asTyped,
  count,
  enumerate,
  idRanges,
  isPlain,
  printable,
  shellWord,
  type Values,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { CreateRecord } from "./create-record.js";
import { aboutWhom, isInCatalog, nameInUrn, type Ref, splitMember } from "./identity.js";

/** What a person looks for in the account: `the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at …`. */
export function describe(
  kind: Kind["name"],
  { name, facts = {}, field, mark, replaces, ...record }: Omit<CreateRecord, "key" | "fingerprint">,
): string {
  const named = name === undefined ? "" : ` named "${printable(name)}"`;
  const told = Object.entries(facts)
    .filter(([, value]) => isPlain(value))
    .map(([property, value]) => `${property} ${printable(String(value))}`);
  return [
    `the ${kind}${named}${told.length === 0 ? "" : ` (${told.join(", ")})`}`,
    whenSent(record),
    field === undefined ? "" : `, ${field} = ${mark}`,
    replaces === undefined ? "" : `; it is not ${replaces}, which it was to replace`,
  ].join("");
}

/** Leaves out an earliest moment: with several interrupted runs, one before Pulumi's record may have sent it. */
function whenSent({ at, isEarliest, isLatest }: Pick<CreateRecord, "at" | "isEarliest" | "isLatest">): string {
  if (at === "" || isEarliest === true) return "";
  return isLatest === true ? `, sent at ${at} or before` : `, sent at ${at}`;
}

/** The first sentences of each message about a create of an earlier run. */
export function whatHappened(
  label: string,
  { at, id, isReported, isHanded }: Pick<CreateRecord, "at" | "id" | "isReported" | "isHanded">,
): string {
  if (isReported === true && id === undefined)
    return `${label} was sent at ${at}, and its outcome is unknown until you settle it.`;
  return id === undefined
    ? `${label}: an interrupted run sent it at ${at}, and no response was recorded.`
    : `${label}: ${whoCreated({ isHanded })} created it at ${at} as ${id}.`;
}

export function whoCreated({ isHanded }: Pick<CreateRecord, "isHanded">): string {
  return isHanded === true ? "an earlier run" : "an interrupted run";
}

/** One command for all of these. */
function pendingCommand(option: string, values: readonly string[]): string {
  return asTyped(
    `npx pulumi-advertising pending ${values.map((value) => `--${option} ${shellWord(value)}`).join(" ")}`,
  );
}

/** More creates than these are only counted in a run's message: `pending` lists all of them. */
export const MAX_LISTED = 20;

interface ToSettle {
  readonly urn: string;
  /** Of its object, if it is known. */
  readonly id?: string | undefined;
}

/** Whether the program declares what is to be settled. Only there, `existingId` settles it too. */
export type IsDeclared = "declared" | "perhaps declared" | "not declared";

/** The two commands that settle creates, one for each answer. @param creates with the ids of their objects, or none of them with an id. */
export function waysOut(creates: readonly ToSettle[], isDeclared: IsDeclared = "declared"): string[] {
  const { id } = creates[0] ?? {};
  const isOne = creates.length === 1;
  const they = isOne ? "If it is" : "For those that are";
  const answers = [
    ...commandsFor("created", creates, ({ urn, id = "<its id>" }) => `${urn}=${id}`),
    `${they} not there:`,
    ...commandsFor("not-created", creates, ({ urn }) => urn),
    ...wholeSets(creates).flatMap((set) => [
      `Once what is there is settled, all others of ${nameInUrn(set)} at once:`,
      `  ${notCreatedCommand(set)}`,
    ]),
  ];
  if (id === undefined) {
    const there = isDeclared === "declared" ? "there" : "there and declared";
    const existing = `setting existingId to ${isOne ? "its id" : "their ids"} does the same`;
    const also = isDeclared === "not declared" ? "" : ` (${they} ${there}, ${existing}.)`;
    return [`${they} there:`, ...answers, `Then run \`${asTyped("pulumi up")}\`.${also}`];
  }
  return [
    isOne
      ? `If ${id} is in the account, take it into the state:`
      : "Take those that are in the account into the state:",
    ...answers,
    `Then run \`${asTyped("pulumi preview")}\`: it shows what becomes of ${isOne ? id : "them"}.`,
  ];
}

/** One command for the first ones: a person can't check more at once, and a shell takes no command of any length. */
function commandsFor(option: string, creates: readonly ToSettle[], wordOf: (each: ToSettle) => string): string[] {
  const others = creates.length - MAX_LISTED;
  const command = `  ${pendingCommand(option, creates.slice(0, MAX_LISTED).map(wordOf))}`;
  return others > 0 ? [command, `  and ${others} more in the same way`] : [command];
}

/** Whose events can be answered all at once: a set's own URN says it of each whose id nobody knows. */
function wholeSets(creates: readonly ToSettle[]): string[] {
  if (creates.length <= MAX_LISTED || creates[0]?.id !== undefined) return [];
  const sets = creates.map(({ urn }) => splitMember(urn)).filter(({ key }) => key !== undefined);
  return [...new Set(sets.map(({ of }) => of))].slice(0, MAX_LISTED);
}

function notCreatedCommand(...urns: readonly string[]): string {
  return pendingCommand("not-created", urns);
}

/** The command that removes the notes of resources, or of sets' members, from the journal: by a set's own URN, those of all its events. */
export function forgetCommand(...urns: readonly string[]): string {
  return pendingCommand("forget", urns);
}

/** The same in a run's message, which lists no more than {@link MAX_LISTED}. */
export function forgetCommands(urns: readonly string[]): string[] {
  const others = urns.length - MAX_LISTED;
  return [forgetCommand(...urns.slice(0, MAX_LISTED)), ...(others > 0 ? morePending(others).split("\n") : [])];
}

/**
 * What to do about an object that an earlier run created, if a response does not say whether it exists.
 * @param isStored whether the state has the create, as unresolved.
 */
export function ifCreatedIsNotThere(urn: string, id: string, isStored: boolean): string {
  return `An earlier run created it as ${id}. If it is not there:\n  ${isStored ? notCreatedCommand(urn) : forgetCommand(urn)}`;
}

/**
 * For creates of unknown outcome that this machine's journal has but the state may not: they may have been settled on another machine.
 */
export function settledElsewhere(urns: readonly string[]): string[] {
  return [
    "This is what the journal on this machine says. If it was settled on another machine, and the state no longer has it:",
    ...forgetCommands(urns).map((line) => `  ${line}`),
  ];
}

/** The command that takes back an answer about a create of unknown outcome. */
export function reopenCommand(urn: string): string {
  return pendingCommand("reopen", [urn]);
}

/** The message about a create that is not settled and no longer declared. @param hints between its description and the commands. */
export function whatIsOpen(kind: Kind["name"], record: CreateRecord, urn: string, hints: readonly string[]): string[] {
  const { id } = record;
  if (id !== undefined) {
    return [
      ...hints,
      `To go on with ${id}: give the resource existingId: ${id}. To stop managing it (it stays live):`,
      `  ${forgetCommand(urn)}`,
    ];
  }
  return [`Look in the account for ${describe(kind, record)}.`, ...hints, ...waysOut([{ urn }], "not declared")];
}

/** The end of a list that `pending` prints in full. */
export function morePending(others: number): string {
  return `  and ${others} more, which this lists:\n    ${asTyped("npx pulumi-advertising pending")}`;
}

/** The message about creates that interrupted runs left behind. @param why no resource uses them. */
export function leftBehind(records: readonly CreateRecord[], why: string): string {
  const lines = records.slice(0, MAX_LISTED).flatMap((record) => {
    const { kind, label, urn } = aboutWhom(record.key);
    // An unknown outcome is to be settled, never only forgotten.
    const isOpen = record.id === undefined && record.isReported === true;
    const next = isOpen ? waysOut([{ urn }]).slice(0, -1) : [forgetCommand(urn)];
    // The sentence before says when it was sent.
    const sought = record.id === undefined ? ` It is ${describe(kind, { ...record, at: "", field: undefined })}.` : "";
    return [`  ${whatHappened(label, record)}${sought}`, ...next.map((line) => `    ${line}`)];
  });
  const others = records.length - MAX_LISTED;
  return [
    `Interrupted runs left these creates behind, and ${why}:`,
    ...lines,
    ...(others > 0 ? [morePending(others)] : []),
    "A `pulumi up` of the whole program takes over what it declares. Nothing manages what is still listed after that: " +
      "adopt it with existingId, or run the command below it.",
  ].join("\n");
}

/** The message of an unresolved create each time that it stops a run: what to look for, and the two commands. */
export function explain(kind: Kind["name"], record: CreateRecord): string {
  const { createdAs, urn = "<urn>", refused } = record;
  return [
    ...(refused === undefined ? [] : [refused]),
    createdAs === undefined
      ? `Look in the account for ${describe(kind, record)}. Its outcome is unknown, so it is not sent again.`
      : `An earlier run created ${createdAs}: ${describe(kind, record)}. It is not sent again.`,
    ...waysOut([{ urn, id: createdAs }], refused === undefined ? "declared" : "not declared"),
    `What happened: ${whatIsKnown(record)}`,
  ].join("\n");
}

/**
 * The record, with a sentence that the program names an object that this create did not make. @param id of that object.
 * @param sent what the create was sent with, by argument, as far as that object or the program has something else.
 */
export function unlessAdopted(record: CreateRecord, id: string, sent: Values = {}): CreateRecord {
  const named = Object.entries(sent).map(([property, value]) => `${property} ${printable(JSON.stringify(value))}`);
  const why =
    id === record.replaces
      ? `${id} is the object that it was to replace`
      : `it was sent with ${enumerate(named)}, and ${id} has ${agree(named.length, "another one", "others")} in the program or on the platform`;
  const refused = `existingId: ${id} does not settle this create: ${why}. Nothing is adopted until you settle it.`;
  return { ...record, refused };
}

/** What happened to an unresolved create, and what the last search found. */
export function whatIsKnown({ what, searched }: CreateRecord): string {
  return searched === undefined ? `${what}` : `${what} ${searched}`;
}

/**
 * What becomes of an object that is no longer managed; without a full stop. @param subject the object or objects.
 * @param isPerhaps a resource may adopt it.
 */
export function staysLive({ afterlife }: Pick<Kind, "afterlife">, subject: string, isPerhaps = false): string {
  return `${subject} ${afterlife}; deactivate it there by hand${isPerhaps ? unlessNamed("it") : ""}`;
}

function unlessNamed(them: string): string {
  return `, unless an existingId that is not known yet names ${them}`;
}

/** How the program adopts a live object for a resource. In a catalog, `existingId` is in the file. */
export function toGoOnWith(ref: Ref, id: string): string {
  const inFile =
    ref.kind === "Advertiser"
      ? " in the catalog's YAML file (a CSV file has no place for it: declare the advertiser in a YAML file that names the CSV file as eventsFile)"
      : " in the catalog's file (in a CSV file, the column existingId of its row)";
  return `To go on with ${id}, set existingId: ${id}${isInCatalog(ref) ? inFile : ""}.`;
}

/** What becomes of an object that is no longer declared, if the state has it, which this machine's notes do not say. */
export type Removal = "stays live" | "is perhaps left live" | "is deleted" | "is perhaps deleted";

export function isDeletion(removal: Removal): boolean {
  return removal === "is deleted" || removal === "is perhaps deleted";
}

/** What `retainOnDelete: false` does. @param isPerhaps a resource may adopt the object. @param amount of objects. */
export function deletedInWords(isPerhaps: boolean, amount = 1): string {
  const unless = isPerhaps ? unlessNamed(agree(amount, "it", "one of them")) : "";
  return `deleted on the platform, as retainOnDelete: false says${unless}`;
}

/**
 * Says that a set is no longer declared. As with every removal, the program can't say that it happens: the state may have lost the
 * resource, or protect it, and the run may leave it out.
 */
export function setRemovalWarning(member: Kind, label: string, ids: readonly string[], removal: Removal): string {
  const amount = ids.length;
  const them = `${count(amount, member.create.noun)} (${idRanges(ids)})`;
  const gone = `${label} is no longer declared. If its ${them} ${agree(amount, "leaves", "leave")} the state,`;
  if (!isDeletion(removal))
    return `${gone} ${staysLive(member, agree(amount, "it", "each"), removal === "is perhaps left live")}.`;
  return `${gone} ${agree(amount, "it is", "they are")} ${deletedInWords(removal === "is perhaps deleted", amount)}.`;
}

/** The same of a single object. If another machine has run the stack since, the state may have another one. */
export function removalWarning(kind: Kind, label: string, id: string, removal: Removal): string {
  const gone = `${label} is no longer declared. If ${kind.create.noun} ${id} leaves the state,`;
  if (!isDeletion(removal)) return `${gone} ${staysLive(kind, "it", removal === "is perhaps left live")}.`;
  return `${gone} it is ${deletedInWords(removal === "is perhaps deleted")}.`;
}

/** The same for objects that are not listed one by one. */
export function moreRemoved(ids: readonly string[], removal: Removal): string {
  const amount = ids.length;
  const fate = isDeletion(removal)
    ? `${agree(amount, "it is", "they are")} ${deletedInWords(removal === "is perhaps deleted", amount)}`
    : `${agree(amount, "it stays", "they stay")} live on the platform`;
  const are = count(amount, "more object is", "more objects are");
  const gone = agree(amount, "it leaves", "they leave");
  return `${are} no longer declared. If ${gone} the state, ${fate}: ${idRanges(ids)}.`;
}
