/**
 * What users, or a search, say of creates of unknown outcome: checked against what is known of them, and taken back, so that the state and
 * the journals know again what they knew before the answer. Pure: an exported stack in, an exported stack out.
 */

import { isDeepStrictEqual } from "node:util";
import { agree, asRecord, enumerate, own } from "../base/index.js";
import { Holders } from "../decision/index.js";
import { LIVE_ID } from "../rules/index.js";
import {
  aboutWhom,
  type CreateRecord,
  forgetCommand,
  type LeftLive,
  leftLiveIn,
  namesInUrn,
  objectKey,
  readSetParts,
  reopenCommand,
  SET_PARTS,
  splitMember,
  UNRESOLVED,
} from "../state/index.js";
import type { Settlement } from "../store/index.js";
import { objectsIn } from "./contents.js";
import { idOf, namesNow, type PendingCreate, recordsOf } from "./pending-facts.js";
import { MAX_NAMED, meaningIn, membersOfSet, type Named, perhaps, themselves } from "./pending-names.js";
import {
  accountIn,
  atAccount,
  currentByUrn,
  type ExportedStack,
  inOrder,
  type Resource,
  stackOfUrn,
  stateIn,
  withParts,
  withResources,
} from "./stack-export.js";

/** As it is typed: `URN=ID`, or a URN. */
export interface Given {
  readonly created: readonly string[];
  readonly notCreated: readonly string[];
}

/** What was found out about one of them: the platform's id, or that there is none. */
export interface Verdict {
  readonly urn: string;
  readonly createdAs: string | undefined;
  /** Of the create that made it, where a search has found it: several may be known of its resource. */
  readonly mark?: string | undefined;
}

export interface Known {
  readonly pending: readonly PendingCreate[];
  readonly stack: ExportedStack;
  readonly notes: readonly CreateRecord[];
  /** What was answered since the last `up` that went through. */
  readonly answered: readonly Settlement[];
}

/**
 * @param texts as they are typed. @param names `<organization>/<project>/<stack>`, those that the stack had before after that of now.
 * @throws Error if one is a URN of another stack, of which nothing is known here.
 */
export function expectOfStack(texts: readonly string[], names: ReadonlySet<string>): void {
  // A backend may not say the project; no URN says the organization.
  const known = [...names].map((name) => name.split("/").slice(-2).join("/"));
  const [selected] = known;
  for (const text of texts) {
    const stack = stackOfUrn(text);
    if (stack === undefined || selected === undefined || known.some((name) => `/${stack}`.endsWith(`/${name}`)))
      continue;
    const [project = "", name = ""] = stack.split("/");
    const isOfProject = selected.startsWith(`${project}/`) || !selected.includes("/");
    const [its, ours] = isOfProject ? [name, selected.slice(selected.indexOf("/") + 1)] : [stack, selected];
    const add = isOfProject ? `--stack ${name}` : `--cwd with the folder of the project ${project}`;
    throw new Error(`nothing was changed: "${text}" is of the stack ${its}, and ${ours} is selected: add ${add}`);
  }
}

/** Whose id it is instead, in words; none where nobody else is known to have that object. */
function ownerIn(only: PendingCreate, createdAs: string, holders: Holders): string | undefined {
  if (createdAs === only.held?.id) return ": the state already has it, as the object to replace";
  const [inState] = holders.of(only.kind, createdAs, undefined, ["state"]);
  if (inState?.by === only.urn || recordsOf(only).some(({ replaces }) => replaces === createdAs)) {
    return ": it is the id of the object to replace";
  }
  if (inState !== undefined) return `: the state has it as ${inState.by}`;
  // A create without an id is not the one that made what its resource's notes know.
  const [inJournal] = holders.of(only.kind, createdAs, idOf(only.record) && only.urn, ["journal"]);
  if (inJournal?.by === only.urn)
    return ": another create of the same resource made it, as a journal on this machine says; if there is no further object, answer with --not-created";
  return inJournal && `: a journal on this machine has it as ${inJournal.by}`;
}

/** @throws Error with all that is wrong with the answers; then none of them counts. */
export function readVerdicts(given: Given, known: Known): Verdict[] {
  const { verdicts, faults } = checkVerdicts(given, known);
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return verdicts;
}

/** @returns the answers that may be right, and what is wrong with the others. */
export function checkVerdicts(
  given: Given,
  { pending, stack, notes, answered }: Known,
): { verdicts: Verdict[]; faults: string[] } {
  const faults: string[] = [];
  const verdicts = new Map<string, Verdict>();
  /** The URNs of what was answered to have made an object. */
  const made = new Map<string, string>();
  const holders = holdersIn(stack, notes, pending);
  const [named, membersOf, meant] = [themselves(pending), membersOfSet(pending), meaningIn(pending)];
  const withId = meaningIn(pending.filter(({ record }) => record.id !== undefined));
  const answeredAs = meaningIn(answered);
  const settledAs = themselves(notedObjects(stack, notes));
  const whyNone = (wanted: string, [first]: readonly PendingCreate[]) => {
    if (first !== undefined) return `"${wanted}" is a set: append the key of its event, as in ${first.urn}`;
    const [answer] = answeredAs(wanted).all;
    if (answer !== undefined) {
      const { urn } = answer;
      const command = reopenCommand(namesInUrn(urn).includes(wanted) ? urn : splitMember(urn).of);
      return `"${wanted}" was answered already; to give another answer, first take that one back:\n  ${command}`;
    }
    const [settled] = settledAs(wanted);
    return settled === undefined
      ? `"${wanted}" is not a pending create (\`pulumi-advertising pending\` lists them)${perhaps(wanted, pending, faults.length)}`
      : `"${wanted}" is settled: the state has it as ${settled.id}. To drop what the journal of this machine noted of it:\n  ${forgetCommand(settled.urn)}`;
  };
  const whyNoId = (text: string) => {
    if (text.includes("=")) return `--created takes URN=ID with a number from 1 up as ID; got "${text}"`;
    if (meant(text).all.length === 0) return whyNone(text, []);
    return `no journal on this machine has the id of "${text}": give it as ID in URN=ID`;
  };
  const settle = (wanted: string, only: PendingCreate, createdAs: string | undefined) => {
    const object = objectKey(only.kind, createdAs ?? "");
    const owner = createdAs === undefined ? undefined : ownerIn(only, createdAs, holders);
    const twin = createdAs === undefined ? undefined : made.get(object);
    if (verdicts.has(only.urn)) faults.push(`"${wanted}" is given two answers`);
    else if (owner !== undefined) faults.push(`${createdAs} is not the id of "${wanted}"${owner}`);
    else if (twin !== undefined) faults.push(`${createdAs} can't be both "${wanted}" and ${twin}`);
    else {
      verdicts.set(only.urn, { urn: only.urn, createdAs });
      made.set(object, only.urn);
    }
  };
  const add = (wanted: string, createdAs: string | undefined) => {
    const [only, ...more] = named(wanted);
    if (more.length > 0) faults.push(`"${wanted}" is the name of ${more.length + 1} pending creates: give the URN`);
    else if (only !== undefined) settle(wanted, only, createdAs);
    else {
      const ofSet = membersOf(wanted);
      const unknown = ofSet.filter((each) => idsOf(each).length === 0);
      if (createdAs !== undefined || ofSet.length === 0) faults.push(whyNone(wanted, ofSet));
      else if (unknown.length === 0) faults.push(whyEach(wanted, ofSet));
      for (const each of createdAs === undefined ? unknown : []) settle(each.urn, each, undefined);
    }
  };
  for (const text of given.created) {
    const [, urn, id = ""] = /^(.+)=(\d+)$/.exec(text) ?? [];
    if (urn !== undefined && LIVE_ID.test(id)) {
      add(urn, id);
      continue;
    }
    const { all, fault } = urn === undefined ? withId(text) : { all: [], fault: undefined };
    if (fault !== undefined) faults.push(fault);
    else if (all.length === 0) faults.push(whyNoId(text));
    for (const each of fault === undefined ? all : []) add(each.urn, each.record.id);
  }
  for (const urn of given.notCreated) add(urn, undefined);
  return { verdicts: [...verdicts.values()], faults };
}

/** The objects in the state that a journal of this machine has notes of. */
function notedObjects(stack: ExportedStack, notes: readonly CreateRecord[]) {
  const noted = new Set(notes.map(({ key }) => aboutWhom(key).urn));
  return objectsIn(stateIn(stack).resources).filter(({ urn, id }) => id !== undefined && noted.has(urn));
}

/** Of the objects that the creates of a resource made, as far as they are known. */
function idsOf(create: PendingCreate): string[] {
  return recordsOf(create).flatMap((record) => idOf(record) ?? []);
}

function whyEach(set: string, creates: readonly PendingCreate[]): string {
  const known = creates.map((each) => `${splitMember(each.urn).key} (${enumerate(idsOf(each))})`);
  return `"${set}" is a set, and its creates have ids: ${enumerate(known, MAX_NAMED)}; answer for each event with its own URN`;
}

/** What is to be forgotten: the URNs, and the marks of all that is noted of them. */
interface Forgotten {
  readonly urns: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
}

/**
 * @param texts URNs, of sets for all their events, or names. @param answered the URNs that get an answer in the same command.
 * @throws Error if nothing is noted of one, or the state has a create of unknown outcome: that is settled, not forgotten. A set's name does not
 *   forget one either, wherever it is known: only its own does.
 */
export function readForgotten(
  texts: readonly string[],
  answered: ReadonlySet<string>,
  { pending, notes }: Known,
): Forgotten {
  const nameNow = namesNow(pending);
  const noted = notes.map((note) => ({ urn: nameNow(note), mark: note.mark }));
  const all: readonly Named[] = [...noted, ...pending];
  const meant = texts.map(meaningIn(all));
  const faults = meant.flatMap(({ text, all, fault }, index) =>
    all.length > 0
      ? (fault ?? [])
      : `neither Pulumi's record nor a journal on this machine has a note about "${text}"${perhaps(text, all, index)}`,
  );
  const urns = new Set(meant.flatMap(({ all }) => all.map(({ urn }) => urn)));
  const given = new Set(texts);
  const isMeantItself = ({ urn, formerly = [] }: Named) =>
    [urn, ...formerly].flatMap(namesInUrn).some((name) => given.has(name));
  const unsettled = pending.filter(
    (create) =>
      urns.has(create.urn) &&
      !answered.has(create.urn) &&
      idsOf(create).length < recordsOf(create).length &&
      (create.known === "state" || !isMeantItself(create)),
  );
  if (faults.length === 0 && unsettled.length > 0) {
    const names = unsettled.map(({ urn }) => `"${urn}"`);
    const hint = unsettled.every(isMeantItself) ? "" : "; to forget other events of its set, give their own URNs";
    faults.push(
      `the outcome of ${enumerate(names, MAX_NAMED)} is unknown; settle ${agree(names.length, "it", "each")} with --created or --not-created${hint}`,
    );
  }
  if (faults.length > 0) throw new Error(`nothing was forgotten: ${faults.join("; ")}`);
  return { urns, marks: new Set(noted.flatMap(({ urn, mark }) => (urns.has(urn) ? mark : []))) };
}

/** Who has which object by URN: in the state, or as a journal of this machine noted it of an interrupted run. */
function holdersIn(stack: ExportedStack, notes: readonly CreateRecord[], pending: readonly PendingCreate[]): Holders {
  const holders = new Holders();
  for (const { kind, id, urn } of objectsIn(stateIn(stack).resources)) {
    if (id !== undefined) holders.add(kind.name, id, urn, "state");
  }
  const nameNow = namesNow(pending);
  for (const note of notes) {
    if (note.id !== undefined) holders.add(aboutWhom(note.key).kind, note.id, nameNow(note), "journal");
  }
  return holders;
}

/** What the journals know afterwards of the creates that were answered, by mark: nothing, or of what the state can't have, its id. */
export function notesAfter(verdicts: readonly Verdict[], byUrn: ReadonlyMap<string, PendingCreate>) {
  return verdicts.flatMap(({ urn, createdAs, mark }) => {
    const create = byUrn.get(urn);
    const records = create === undefined ? [] : recordsOf(create);
    const made =
      create?.known === "journal" ? (records.find((each) => each.mark === mark) ?? records.at(-1)) : undefined;
    return records.map((each) => [each.mark, each === made ? createdAs : undefined] as const);
  });
}

/** What a state holds of one create: the resources of its URN, or the parts of its set that are about its key. */
type Slice = { readonly resources: readonly Resource[] } | MemberSlice;

interface MemberSlice {
  readonly member: Readonly<Record<(typeof SET_PARTS)[number], unknown>>;
  readonly left: readonly LeftLive[];
}

/** @returns what this state has of the create of a URN. */
export function slicesOf(stack: ExportedStack): (urn: string) => Slice {
  const all = stateIn(stack).resources;
  const [byUrn, current] = [Map.groupBy(all, (each) => each.urn), currentByUrn(all)];
  const leftBy = new Map<Resource, ReadonlyMap<string | undefined, LeftLive[]>>();
  return (urn) => {
    const { of, key } = splitMember(urn);
    const set = key === undefined ? undefined : current.get(of);
    if (set === undefined || key === undefined) return { resources: byUrn.get(urn) ?? [] };
    const outputs = set.outputs ?? {};
    const member = Object.fromEntries(SET_PARTS.map((part) => [part, own(outputs[part], key)]));
    const left = leftBy.get(set) ?? Map.groupBy(leftLiveIn(outputs), (each) => each.key);
    leftBy.set(set, left);
    return JSON.parse(JSON.stringify({ member, left: left.get(key) ?? [] })) as Slice;
  };
}

/** The same stack, in which what it holds of each of these creates is its slice. */
function withSlices(stack: ExportedStack, slices: ReadonlyMap<string, Slice>): ExportedStack {
  const account = accountIn(stateIn(stack).resources);
  // `relocate` may have changed it since.
  const atNow = (each: Resource) => (account === undefined ? each : atAccount(each, account));
  const whole = [...slices].flatMap(([urn, slice]) =>
    "resources" in slice ? [{ urn, resources: slice.resources.map(atNow) }] : [],
  );
  const parts = [...slices].flatMap(([urn, slice]) => ("member" in slice ? [{ ...splitMember(urn), ...slice }] : []));
  const bySet = Map.groupBy(parts, ({ of }) => of);
  const isWhole = new Set(whole.map(({ urn }) => urn));
  const others = stateIn(stack).resources.filter(({ urn }) => !isWhole.has(urn));
  return withResources(
    stack,
    inOrder([...others, ...whole.flatMap(({ resources }) => resources)]).map((each) => {
      const members = each.delete === true ? undefined : bySet.get(each.urn);
      return members === undefined ? each : withMembers(each, members);
    }),
  );
}

function withMembers(set: Resource, slices: readonly (MemberSlice & { readonly key: string | undefined })[]): Resource {
  const parts = readSetParts(set.outputs ?? {});
  for (const { key = "", member } of slices) {
    for (const part of SET_PARTS) {
      delete parts[part][key];
      if (member[part] !== undefined) parts[part][key] = member[part];
    }
  }
  const keys = new Set(slices.map(({ key }) => key));
  const others = leftLiveIn(set.outputs ?? {}).filter(({ key }) => !keys.has(key));
  return withParts(set, parts, [...others, ...slices.flatMap(({ left }) => left)]);
}

export interface Reopened {
  readonly settlements: readonly Settlement[];
  readonly stack: ExportedStack;
}

/**
 * @param wanted URNs, of sets for all their members, or names. @param known what was answered since the last `up`.
 * @throws Error with all that can't be taken back; then nothing is.
 */
export function reopen(stack: ExportedStack, wanted: readonly string[], known: readonly Settlement[]): Reopened {
  const faults: string[] = [];
  const meaning = meaningIn(known);
  const found = wanted.flatMap((text) => {
    const { all, fault } = meaning(text);
    if (all.length === 0) {
      faults.push(
        `no answer about "${text}" can be taken back here: it was given on another machine (take it back there), or a \`pulumi up\` of the whole program has succeeded since${perhaps(text, known, faults.length)}`,
      );
    }
    if (fault !== undefined) faults.push(fault);
    return all;
  });
  const settlements = [...new Set(found)];
  // What is as it was before the answer needs no more.
  const sliceOf = slicesOf(stack);
  const answered = settlements.filter(({ urn, before }) => !isSame(sliceOf(urn), before));
  const changed = answered.filter(({ urn, after }) => !isSame(sliceOf(urn), after));
  if (changed.length > 0) {
    const names = enumerate(changed.map(({ urn }) => `"${urn}"`));
    faults.push(`a run has gone on with the answer about ${names}`);
  }
  if (faults.length > 0) {
    throw new Error(
      `nothing was reopened: ${faults.join("; ")}.\nIf a run has gone on with a wrong answer, look in the account, and set existingId to the id of the right object: nothing is created.`,
    );
  }
  return {
    settlements,
    stack:
      answered.length === 0
        ? stack
        : withSlices(stack, new Map(answered.map(({ urn, before }) => [urn, before as Slice]))),
  };
}

/** Of answers that the state has: the creates that journals forget with them, unless a command was killed before that. */
export function settledIn(stack: ExportedStack, answered: readonly Settlement[]): CreateRecord[] {
  const sliceOf = slicesOf(stack);
  const isInState = ({ urn, before, after }: Settlement) => !isSame(before, after) && isSame(sliceOf(urn), after);
  const records = answered.filter(isInState).flatMap(({ notes }) => [...notes.values()].flat());
  return records.filter((record) => idOf(record) === undefined);
}

/** Whether no run has gone on between them. Arguments do not say: each import encrypts the secret ones again. */
function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(outcomeIn(one as Slice), outcomeIn(other as Slice));
}

/** The objects that a slice has, and by its mark what is unresolved; of a resource, the id has that mark. */
function outcomeIn(slice: Slice): unknown {
  if ("resources" in slice) {
    return slice.resources.map(({ id, ...each }) => [id, each.delete === true, each.pendingReplacement === true]);
  }
  const { eventIds, [UNRESOLVED]: unresolved } = slice.member;
  return { id: eventIds, mark: asRecord(unresolved).mark };
}
