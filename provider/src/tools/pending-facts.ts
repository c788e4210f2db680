/**
 * Which creates have an unknown outcome: what the state has, what only this machine's memory has, and what only Pulumi's record of an
 * interrupted run has; each create once. Pure.
 */
import { membersOf, singleMember } from "../decision/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  identityText,
  leftLiveIn,
  MARK,
  markOf,
  memberOf,
  memberRef,
  objectKey,
  type Ref,
  readDeclaredSet,
  readMark,
  readStoredSet,
  refOf,
  secretArgumentsIn,
  tellingIn,
} from "../state/index.js";
import { isOpen, isPast, type MemoryRecord, type Records, type StackPlace } from "../store/index.js";
import { type ExportedStack, holdsSecret, inNaturalOrder, isSecret, keyOfUrn, objectsIn } from "./contents.js";

export interface Create {
  readonly ref: Pick<Ref, "key" | "kind" | "member" | "short" | "urn" | "resourceUrn">;
  readonly record: CreateRecord;
  /** Who knows of it; `record`: only Pulumi's of an interrupted run. */
  readonly known: "state" | "memory" | "record";
  /** What another run was about to send, with other arguments. */
  readonly or?: CreateRecord | undefined;
  /** Objects that its resource or member has or had: no create made them since. */
  readonly formerIds: readonly string[];
}

/** A line of this machine's memory. */
export interface Note extends Pick<Create, "ref"> {
  readonly record: MemoryRecord;
}

export interface Facts {
  /** In natural order. */
  readonly open: readonly Create[];
  /** What earlier runs created and the state does not have, in natural order. */
  readonly made: readonly Note[];
  /** What this machine still waits for, and the state has by now, with its id: a refresh, or another machine, has settled it. */
  readonly settled: readonly { readonly key: string; readonly id: string; readonly name: string | undefined }[];
  /** All that this machine remembers of the stack, by key; none if it has no memory of it. */
  readonly notes: ReadonlyMap<string, Note> | undefined;
  /** Who has which object, and says so, by `objectKey`. */
  readonly holders: ReadonlyMap<string, { readonly key: string; readonly says: string }>;
}

/** @param memory what this machine remembers; none if it has no memory of the stack. @param place none if nobody says which stack it is. */
export function factsIn(stack: ExportedStack, memory: Records | undefined, place: StackPlace | undefined): Facts {
  const objects = objectsIn(stack.resources);
  const current = objects.filter(({ resource }) => resource.delete !== true);
  const held = new Map(current.map((each) => [each.memoryKey, each]));
  const notes = memory && new Map([...memory].map(([key, record]) => [key, { ref: refOfKey(key, place), record }]));
  const remembered = [...(notes?.values() ?? [])];
  const inState = current.flatMap(({ memoryKey, urn, resource, record }): Found[] => {
    const ref = { ...aboutWhom(memoryKey), urn, resourceUrn: resource.urn };
    return record === undefined ? [] : [{ ref, record, known: "state" }];
  });
  const known = new Set(inState.map(({ ref }) => ref.key));
  const ids = new Set(objects.map(({ kind, id = "" }) => objectKey(kind.name, id)));
  /** As the next run finds out by itself. */
  const isSeen = ({ ref, record: { id, replaces } }: Note) => {
    const now = held.get(ref.key)?.id;
    return (now !== undefined && now !== replaces) || (id !== undefined && ids.has(objectKey(ref.kind, id)));
  };
  const settled = remembered.flatMap(({ ref: { key }, record }) => {
    const id = held.get(key)?.id;
    const isIts = id !== undefined && id !== record.replaces && (record.id ?? id) === id;
    return isIts && isOpen(record) ? [{ key, id, name: record.name }] : [];
  });
  const settledKeys = new Set(settled.map(({ key }) => key));
  const left = remembered.filter((note) => !known.has(note.ref.key) && !isSeen(note));
  // What the state had, or somebody answered, before that run says nothing of it.
  const isAnswered = (key: string) => {
    const [noted, now] = [memory?.get(key), held.get(key)?.id];
    const isOver = noted === undefined || settledKeys.has(key) || isPast(noted, now);
    const { state = "live", at, id } = isOver ? {} : noted;
    if (state === "none") return Date.parse(at ?? "") >= Date.parse(stack.time);
    return known.has(key) || (state !== "live" && (id === undefined || now !== id));
  };
  const recorded = recordedIn(stack);
  const byKey = new Map(recorded.map((each) => [each.ref.key, each]));
  const inMemory = left.flatMap(({ ref, record }): Found[] => {
    const other = byKey.get(ref.key);
    const or = [other?.record, other?.or].flatMap((each) => each ?? []).find(isOtherThan(record));
    return record.state === "sent" ? [{ ref, record, known: "memory", or }] : [];
  });
  const open = [...inState, ...inMemory, ...recorded.filter(({ ref }) => !isAnswered(ref.key))];
  const byName = ({ ref }: Pick<Create, "ref">) => `${ref.short} ${ref.urn}`;
  const withFormer = (each: Found): Create => {
    const object = held.get(each.ref.key);
    const gone = leftLiveIn(object?.resource.outputs ?? {}).filter(({ key }) => key === object?.in?.key);
    const formerIds = [object?.id, each.record.replaces, ...gone.map(({ id }) => id)];
    return { ...each, formerIds: formerIds.filter((id) => id !== undefined) };
  };
  const holders = new Map<string, { key: string; says: string }>();
  for (const { ref, record } of remembered) {
    const says = `the memory of this machine has it as ${ref.urn}`;
    if (record.id !== undefined && record.state !== "none")
      holders.set(objectKey(ref.kind, record.id), { key: ref.key, says });
  }
  for (const { kind, id, memoryKey: key, urn } of objects)
    if (id !== undefined) holders.set(objectKey(kind.name, id), { key, says: `the state has it as ${urn}` });
  const made = left.filter(({ record }) => record.state === "made" || record.state === "handed");
  const sorted = { open: inNaturalOrder(open.map(withFormer), byName), made: inNaturalOrder(made, byName) };
  return { ...sorted, settled, notes, holders };
}

type Found = Omit<Create, "formerIds">;

/** Of what is secret nobody knows. */
function isOtherThan({ body }: CreateRecord) {
  return (other: CreateRecord) => body !== "" && other.body !== "" && other.body !== body;
}

/** @param place as the memory has it; none: the URN then says no stack. */
export function refOfKey(key: string, place: StackPlace | undefined): Ref {
  const [organization = "", project = "", stack = ""] = place?.stack.split("/") ?? [];
  const { resource, member, name, parentTypes } = aboutWhom(key);
  const whole = refOf(resource, identityText({ organization, project, stack, name, parentTypes }));
  return member === undefined ? whole : memberRef(whole, member);
}

/** What Pulumi's record of interrupted runs says was sent, or was about to be; of several such runs the last. */
function recordedIn(stack: ExportedStack): Found[] {
  const current = new Map(stack.resources.flatMap((each) => (each.delete === true ? [] : [[each.urn, each]])));
  const found = stack.pending.toReversed().flatMap(({ type, resource }): Found[] => {
    const { urn, type: token, inputs = {} } = resource;
    const former = current.get(urn);
    const [set, mark] = [setOfType(token), readMark(inputs[MARK])];
    const kind = kindOfType(token) ?? set?.member;
    // A set that the state has was created; and of an update it has what was there before. Of what is secret as a whole nothing is known.
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
      const at = (whole: string) => (set === undefined ? whole : memberOf(whole, member));
      // As the provider derives it.
      const own = mark && { ...mark, ...(set && { mark: markOf(mark.mark, memberOf("events", member), id) }) };
      const ref = { ...aboutWhom(at(keyOfUrn((set ?? kind).name, urn))), urn: at(urn), resourceUrn: urn };
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
