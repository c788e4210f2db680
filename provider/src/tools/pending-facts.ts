/**
 * Which creates have an unknown outcome: what the state has, what only this machine's memory has, and what only Pulumi's record of an
 * interrupted run has; each create once. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { hasValue, membersOf } from "../decision/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  EARLIER,
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
  unresolvedIn,
} from "../state/index.js";
import type { MemoryRecord, Records, StackPlace } from "../store/index.js";
import { holdsSecret, inNaturalOrder, isSecret, keyOfUrn, objectsIn, type StoredObject } from "./contents.js";
import { type ExportedStack, type Resource, stateIn } from "./stack-export.js";

export interface Create {
  readonly ref: Pick<Ref, "key" | "kind" | "member" | "short" | "urn" | "resourceUrn">;
  readonly record: CreateRecord;
  /** Who knows of it; `record`: only Pulumi's of an interrupted run. */
  readonly known: "state" | "memory" | "record";
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
  /** All that this machine remembers of the stack, by key; none if it has no memory of it. */
  readonly notes: ReadonlyMap<string, Note> | undefined;
  /** Who has which object, and says so, by `objectKey`. */
  readonly holders: ReadonlyMap<string, { readonly key: string; readonly says: string }>;
}

/** @param memory what this machine remembers; none if it has no memory of the stack. @param place none if nobody says which stack it is. */
export function factsIn(stack: ExportedStack, memory: Records | undefined, place: StackPlace | undefined): Facts {
  const { resources, time } = stateIn(stack);
  const objects = objectsIn(resources);
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
  const left = remembered.filter((note) => !known.has(note.ref.key) && !isSeen(note));
  const isAnswered = (key: string) => {
    const { state, at, id } = memory?.get(key) ?? {};
    // What ended cleanly here before may have been followed by another machine's create.
    if (state === "none" || state === "handed") return Date.parse(at ?? "") >= Date.parse(time);
    // What the state has by now was made before: Pulumi's record may be of its replacement.
    const isHeld = state === "live" || (id !== undefined && held.get(key)?.id === id);
    return known.has(key) || (state !== undefined && !isHeld);
  };
  const open: Found[] = [
    ...inState,
    ...left.flatMap(({ ref, record }): Found[] => (record.state === "sent" ? [{ ref, record, known: "memory" }] : [])),
    ...recordedIn(stack).filter(({ ref }) => !isAnswered(ref.key)),
  ];
  const byName = ({ ref }: Pick<Create, "ref">) => `${ref.short} ${ref.urn}`;
  const withFormer = (each: Found) => ({ ...each, formerIds: formerIds(held.get(each.ref.key), each.record) });
  const made = left.filter(({ record }) => record.state === "made" || record.state === "handed");
  return {
    open: inNaturalOrder(open.map(withFormer), byName),
    made: inNaturalOrder(made, byName),
    notes,
    holders: holdersIn(remembered, objects),
  };
}

type Found = Omit<Create, "formerIds">;

function holdersIn(notes: readonly Note[], objects: readonly StoredObject[]): Facts["holders"] {
  const holders = new Map<string, { key: string; says: string }>();
  for (const { ref, record } of notes) {
    const says = `the memory of this machine has it as ${ref.urn}`;
    const { id, state } = record;
    if (id !== undefined && state !== "none") holders.set(objectKey(ref.kind, id), { key: ref.key, says });
  }
  for (const { kind, id, memoryKey, urn } of objects) {
    if (id !== undefined) holders.set(objectKey(kind.name, id), { key: memoryKey, says: `the state has it as ${urn}` });
  }
  return holders;
}

/** @param place as the memory has it; none: the URN then says no stack. */
export function refOfKey(key: string, place: StackPlace | undefined): Ref {
  const [organization = "", project = "", stack = ""] = place?.stack.split("/") ?? [];
  const { resource, member, name, parentTypes } = aboutWhom(key);
  const whole = refOf(resource, identityText({ organization, project, stack, name, parentTypes }));
  return member === undefined ? whole : memberRef(whole, member);
}

function formerIds(object: StoredObject | undefined, { replaces }: CreateRecord): string[] {
  const left = leftLiveIn(object?.resource.outputs ?? {}).filter(({ key }) => key === object?.in?.key);
  return [object?.id, replaces, ...left.map(({ id }) => id)].filter((id) => id !== undefined);
}

/** What Pulumi's record of interrupted runs says was sent, or was about to be; of several such runs the last. */
function recordedIn(stack: ExportedStack): Found[] {
  const kept = stateIn(stack).resources.filter((each) => each.delete !== true);
  const current = new Map(kept.map((each) => [each.urn, each]));
  // The engine puts the latest first (measured with 3.259.0).
  const found = (stack.deployment.pending_operations ?? []).toReversed().flatMap(({ type, resource }) => {
    const names = [resource.urn, ...(resource.aliases ?? [])];
    const former = names.map((urn) => current.get(urn)).find((each) => each !== undefined);
    const kind = kindOfType(resource.type);
    if (kind !== undefined) return type === "creating" ? singleIn(kind, resource, former) : [];
    // What the state has was created; and of an update it has what was there before.
    const isOpen = type === "updating" || (type === "creating" && former === undefined);
    return isOpen ? membersIn(resource, former) : [];
  });
  return [...new Map(found.map((each) => [each.ref.key, each])).values()];
}

function singleIn(kind: Kind, { urn, inputs = {} }: Resource, former: Resource | undefined): Found[] {
  // An adoption sends no create.
  if (hasValue(inputs.existingId) || unresolvedIn(former?.outputs ?? {}) !== undefined) return [];
  // Inputs that do not describe the object it has say nothing: it is to be replaced.
  const isDescribed = former !== undefined && former.outputs?.[EARLIER] === undefined;
  if (isDescribed && isDeepStrictEqual(compared(former.inputs), compared(inputs))) return [];
  const record = { ...recordOf(kind, inputs, former?.id), ...readMark(inputs[MARK]) };
  const key = keyOfUrn(kind.name, urn);
  return [{ ref: { ...aboutWhom(key), urn, resourceUrn: urn }, record, known: "record" }];
}

/** The arguments that make the object. Two secret ones never compare as equal: each encryption differs. */
function compared(inputs: Resource["inputs"]): Record<string, unknown> {
  const visible = Object.entries(inputs ?? {}).filter(([name]) => !name.startsWith("__") && name !== "existingId");
  return Object.fromEntries(visible.map(([name, value]) => [name, holdsSecret(value) ? Symbol(name) : value]));
}

function membersIn({ urn, type, inputs = {} }: Resource, former: Resource | undefined): Found[] {
  const set = setOfType(type);
  // Of what is secret as a whole nothing is known.
  if (set === undefined || isSecret(inputs.events)) return [];
  const ofSet = readMark(inputs[MARK]);
  const stored = readStoredSet(former?.outputs ?? {});
  const sent = membersOf(set.member, stored, readDeclaredSet(inputs)).filter(
    ({ action, isDeclared }) => isDeclared && ["create", "replace"].includes(action.do),
  );
  return sent.map(({ key: member, id, values }): Found => {
    const key = memberOf(keyOfUrn(set.name, urn), member);
    // As the provider derives it.
    const mark = ofSet && { field: ofSet.field, mark: markOf(ofSet.mark, memberOf("events", member), id) };
    const record = { ...recordOf(set.member, values, id), ...mark };
    return { ref: { ...aboutWhom(key), urn: memberOf(urn, member), resourceUrn: urn }, record, known: "record" };
  });
}

/** Of a create that nobody has noted: as far as its arguments say. @param held the id in the state. */
function recordOf(kind: Kind, values: Readonly<Record<string, unknown>>, held: string | undefined): CreateRecord {
  const isHidden = (name: string) => holdsSecret(values[name]);
  const secret = new Set([...secretArgumentsIn(values), ...Object.keys(values).filter(isHidden)]);
  const body = holdsSecret(values) || secret.size > 0 ? "" : fingerprintOfBody(kind, values);
  const replaces = held === undefined ? {} : { replaces: held };
  return { at: "", mark: "", body, ...tellingIn(kind, values, secret), ...replaces };
}
