/**
 * Which creates have an unknown outcome: what the state has, what only this machine's memory has, and what only
 * Pulumi's record of an interrupted run has; each create once. Pure.
 */
import { membersOf, singleMember } from "../decision/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  identityText,
  leftLiveIn,
  MARK,
  memberMark,
  memberOf,
  objectKey,
  readDeclaredSet,
  readMark,
  readStoredSet,
  refAt,
  refOf,
  secretArgumentsIn,
  tellingIn,
} from "../state/index.js";
import type { MemoryRecord, Records, StackPlace } from "../store/index.js";
import { type ExportedStack, holdsSecret, inNaturalOrder, isSecret, keyOfUrn, objectsIn } from "./contents.js";

export interface Create {
  readonly ref: Pick<ReturnType<typeof refAt>, "key" | "kind" | "member" | "short" | "urn" | "resourceUrn">;
  readonly record: CreateRecord;
  /** Who knows of it; `record`: only Pulumi's of an interrupted run. */
  readonly known: "state" | "memory" | "record";
  /** What another run was about to send, with other arguments. */
  readonly or?: CreateRecord | undefined;
  /** Objects that its resource or member has or had: no create made them since. */
  readonly formerIds: readonly string[];
}

/** What a person, or a search, says of a create. */
export interface Answer {
  readonly create: Create;
  /** The platform's; none if it was not created. */
  readonly id: string | undefined;
}

export interface Note extends Pick<Create, "ref"> {
  readonly record: MemoryRecord;
}

export type Facts = ReturnType<typeof factsIn>;

/**
 * @param memory what this machine remembers. @param place none if nobody says which stack it is.
 * @returns in natural order, the open creates, and what earlier runs created and the state does not have (`made`); all
 *   that this machine remembers, by key; and who has which object, by `objectKey`.
 */
export function factsIn(stack: ExportedStack, memory: Records, place: StackPlace | undefined) {
  const objects = objectsIn(stack.resources);
  const current = objects.filter(({ resource }) => resource.delete !== true);
  const held = new Map(current.map((each) => [each.ref.key, each]));
  const notes = new Map(
    [...memory].map(([key, record]): [string, Note] => [key, { ref: refOfKey(key, place), record }]),
  );
  const remembered = [...notes.values()];
  const inState = current.flatMap(({ ref, record }): Found[] =>
    record === undefined ? [] : [{ ref, record, known: "state" }],
  );
  const known = new Set(inState.map(({ ref }) => ref.key));
  const ids = new Set(objects.map(({ kind, id = "" }) => objectKey(kind.name, id)));
  /** As the next run finds out by itself. */
  const isSeen = ({ ref, record: { id, replaces } }: Note) => {
    const now = held.get(ref.key)?.id;
    return (now !== undefined && now !== replaces) || (id !== undefined && ids.has(objectKey(ref.kind, id)));
  };
  const isInDoubt = ({ record: { state } }: Note) => state !== "live" && state !== "none";
  const left = remembered.filter((note) => isInDoubt(note) && !known.has(note.ref.key) && !isSeen(note));
  const byKey = new Map(left.map((note) => [note.ref.key, note]));
  // What the state had, or somebody answered, before that run says nothing of it.
  const isAnswered = (key: string) => {
    const { state, at = "" } = memory.get(key) ?? {};
    if (state === "none") return Date.parse(at) >= Date.parse(stack.time);
    return known.has(key) || byKey.has(key);
  };
  const recorded = new Map(recordedIn(stack).map((each) => [each.ref.key, each]));
  const inMemory = left.flatMap(({ ref, record }): Found[] => {
    const other = recorded.get(ref.key);
    const or = [other?.record, other?.or].flatMap((each) => each ?? []).find(isOtherThan(record));
    return record.state === "sent" ? [{ ref, record, known: "memory", or }] : [];
  });
  const inRecord = [...recorded.values()].filter(({ ref }) => !isAnswered(ref.key));
  const open = [...inState, ...inMemory, ...inRecord].map((each): Create => {
    const object = held.get(each.ref.key);
    const gone = leftLiveIn(object?.resource.outputs ?? {}).filter(({ key }) => key === object?.in?.key);
    const formerIds = [object?.id, each.record.replaces, ...gone.map(({ id }) => id)];
    return { ...each, formerIds: formerIds.filter((id) => id !== undefined) };
  });
  const holders = new Map<string, Create["ref"]>();
  for (const { ref, record } of remembered)
    if (record.id !== undefined && record.state !== "none") holders.set(objectKey(ref.kind, record.id), ref);
  for (const { id, ref } of objects) if (id !== undefined) holders.set(objectKey(ref.kind, id), ref);
  const byName = ({ ref }: Pick<Create, "ref">) => `${ref.short} ${ref.urn}`;
  const made = left.filter(({ record }) => record.state !== "sent");
  return { open: inNaturalOrder(open, byName), made: inNaturalOrder(made, byName), notes, holders };
}

type Found = Omit<Create, "formerIds">;

/** In words, why an object is not what this create made. @param others answers that count. */
export function whyNotIts(
  { ref, formerIds }: Create,
  id: string,
  { holders, notes }: Facts,
  others: readonly Answer[],
) {
  const twin = others.find(({ create, id: its }) => its === id && create.ref.kind === ref.kind);
  if (twin !== undefined) return `${id} can't be both "${ref.short}" and "${twin.create.ref.short}"`;
  const noted = notes.get(ref.key)?.record;
  // A later run has taken it over or adopted it, and was interrupted too: the state has just the unknown outcome.
  if (noted?.id === id && noted.state !== "none" && !formerIds.includes(id)) return undefined;
  const holder = holders.get(objectKey(ref.kind, id));
  if (holder?.key === ref.key || formerIds.includes(id))
    return `${id} is not the id of "${ref.short}": it is an object that this resource has or had before, such as the one to replace`;
  return holder && `${id} is not the id of "${ref.short}": it is that of ${holder.urn}`;
}

/** Of what is secret nobody knows. */
function isOtherThan({ body }: CreateRecord) {
  return (other: CreateRecord) => body !== "" && other.body !== "" && other.body !== body;
}

/** @param place as the memory has it; none: the URN then says no stack. */
function refOfKey(key: string, place: StackPlace | undefined) {
  const [organization = "", project = "", stack = ""] = place?.stack.split("/") ?? [];
  const { resource, name, parentTypes } = aboutWhom(key);
  return refAt(key, refOf(resource, identityText({ organization, project, stack, name, parentTypes })).urn);
}

/** What Pulumi's record of interrupted runs says was sent, or was about to be; of several such runs the last. */
function recordedIn(stack: ExportedStack): Found[] {
  const current = new Map(stack.resources.flatMap((each) => (each.delete === true ? [] : [[each.urn, each]])));
  const found = stack.pending.toReversed().flatMap(({ type, resource }): Found[] => {
    const { urn, type: token, inputs = {} } = resource;
    const former = current.get(urn);
    const [set, mark] = [setOfType(token), readMark(inputs[MARK])];
    const kind = kindOfType(token) ?? set?.member;
    // A set in the state was created; during an update it is as it was before. Of an all-secret set nothing is known.
    const isNew = type === "creating" && (set === undefined || former === undefined);
    const isOpen = isNew || (type === "updating" && set !== undefined);
    if (kind === undefined || !isOpen || isSecret(inputs.events)) return [];
    const olds = former?.outputs ?? {};
    const members =
      set === undefined
        ? [singleMember(kind, former?.id, olds, inputs)]
        : membersOf(kind, readStoredSet(olds), readDeclaredSet(inputs));
    // What would be done now was not done.
    const sent = members.filter(({ isDeclared, action }) => isDeclared && ["create", "replace"].includes(action.do));
    return sent.map(({ key: member, id, values }): Found => {
      const own = mark && { ...mark, ...(set && { mark: memberMark(mark.mark, member, id) }) };
      const key = keyOfUrn((set ?? kind).name, urn);
      const ref = refAt(set === undefined ? key : memberOf(key, member), urn);
      return { ref, record: { ...recordOf(kind, values, id), ...own }, known: "record" };
    });
  });
  return [...Map.groupBy(found, ({ ref }) => ref.key).values()].flatMap((all) => {
    const last = all.at(-1);
    return last === undefined ? [] : [{ ...last, or: all.map(({ record }) => record).find(isOtherThan(last.record)) }];
  });
}

/** Of a create that nobody has noted: as far as its arguments say. @param held the id in the state. */
function recordOf(kind: Kind, values: Readonly<Record<string, unknown>>, held: string | undefined): CreateRecord {
  const hidden = Object.keys(values).filter((name) => holdsSecret(values[name]));
  const secret = new Set([...secretArgumentsIn(values), ...hidden]);
  const body = secret.size > 0 ? "" : fingerprintOfBody(kind, values);
  const replaces = held === undefined ? {} : { replaces: held };
  return { at: "", mark: "", body, ...tellingIn(kind, values, secret), ...replaces };
}
