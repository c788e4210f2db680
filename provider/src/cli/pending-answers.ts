/**
 * What people and searches say about creates of unknown outcome, checked against the facts, and what a journal notes of
 * it. Pure.
 */
import { enumerate, momentOf, shellWord, systemClock } from "../base/index.js";
import {
  closedLine,
  type JournalLine,
  journalPath,
  type StackPlace,
} from "../journal/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn, objectKey } from "../state/index.js";
import { type Create, type Facts, isUnseen } from "./pending-facts.js";

/** What a person, or a search, says about a create. */
export interface Answer {
  readonly create: Create;
  /** The platform's; undefined if it was not created. */
  readonly id?: string | undefined;
  /** The resource that has this object in the state, if that is another one: the create is dropped. */
  readonly managedAs?: string | undefined;
  /** It is dropped, and nobody knows what became of it. */
  readonly isForgotten?: boolean;
  /** Why this can't be true. */
  readonly conflict?: string | undefined;
}

/** Whether its resource has an object now. */
export function isCreated({ id, managedAs }: Answer): boolean {
  return id !== undefined && managedAs === undefined;
}

/**
 * @param typed names; of `created`, `X=ID`.
 * @returns also sentences about what needs no answer. @throws Error with all that is wrong; then no answer counts.
 */
export function readAnswers(
  typed: Readonly<Record<"created" | "not-created" | "forget", readonly string[]>>,
  facts: Facts,
) {
  const creates = [...facts.open, ...facts.elsewhere];
  const answers = new Map<string, Answer>();
  const known: string[] = [];
  const faults: string[] = [];

  const add = (answer: Answer) => {
    const { urn, short } = answer.create.ref;
    if (answers.has(urn)) faults.push(`"${short}" is given two answers`);
    else if (answer.conflict !== undefined) faults.push(answer.conflict);
    else answers.set(urn, answer);
  };
  const meantBy = (name: string, all: readonly Create[], id?: string) => {
    const found = calledIn(all, name, facts);
    const resources = new Set(found.map(({ ref }) => ref.resourceUrn));
    if (resources.size === 1) return found;
    const urns = found.map(({ ref }) => ref.urn);
    if (resources.size > 1)
      faults.push(
        `"${name}" is the name of several, so give the URN: ${enumerate(urns, MAX_LISTED)}`,
      );
    else if (id === undefined)
      // Somebody else, or this command before it was killed, may have answered.
      known.push(`"${name}" is not a pending create: there is nothing to resolve.`);
    else if (isResolved(name, id, facts))
      known.push(`"${name}" is resolved already: the state has what became of it.`);
    else faults.push(`"${name}" is not a pending create: \`pending\` lists them`);
    return [];
  };

  for (const text of typed.created) {
    const [, name = "", id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id))
      faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
    else
      for (const create of meantBy(name, creates, id))
        add(withVerdict({ create, id }, facts, [...answers.values()]));
  }
  for (const name of typed["not-created"])
    for (const create of meantBy(name, creates)) add({ create });
  // What is open comes before what the journal has of the same.
  const all = new Map([...facts.notes, ...creates].map((each) => [each.ref.urn, each]));
  for (const name of typed.forget)
    for (const create of meantBy(name, [...all.values()]))
      add({ create, isForgotten: true });
  if (faults.length > 0) throw new Error(`nothing was resolved: ${faults.join("; ")}`);
  return { answers: [...answers.values()], known };
}

/** By any name that the create has or had: what the state has may have a former name in the journal. */
function calledIn(all: readonly Create[], name: string, { notes }: Facts): Create[] {
  const noted = notes.filter((note) => isUnseen(note) && isCalled(note.ref, name));
  const marks = new Set(noted.map(({ record }) => record.mark));
  let found = all.filter(({ ref }) => isCalled(ref, name));
  if (found.length === 0)
    found = all.filter(({ record, known }) => known === "state" && marks.has(record.mark));
  // Its own stack's counts before another one's.
  const own = found.filter(({ elsewhere }) => elsewhere === undefined);
  return own.length > 0 ? own : found;
}

/** Also by the name of its set. */
function isCalled({ urn, short, resourceUrn }: Create["ref"], name: string): boolean {
  return [urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)].includes(name);
}

/** Somebody else has answered it, or a run has found it. */
function isResolved(name: string, id: string, facts: Facts): boolean {
  if (facts.outdated.some(({ ref }) => isCalled(ref, name))) return true;
  return [...facts.inState].some(
    ([object, ref]) => object === objectKey(ref.kind, id) && isCalled(ref, name),
  );
}

/** @param others answers that count. */
export function withVerdict(
  answer: Answer,
  facts: Facts,
  others: readonly Answer[],
): Answer {
  const { id } = answer;
  if (id === undefined) return answer;
  const { ref, record, formerIds = [] } = answer.create;
  const { key, kind, short } = ref;
  const twin = others.find(
    ({ id: other, create }) => other === id && create.ref.kind === kind,
  );
  if (twin !== undefined)
    return {
      ...answer,
      conflict: `${id} can't be both "${short}" and "${twin.create.ref.short}"`,
    };
  const not = (why: string): Answer => {
    const cure = `If there is no other object, it was not created: --not-created ${shellWord(short)}`;
    return { ...answer, conflict: `${id} is not the id of "${short}": ${why}. ${cure}` };
  };
  const holder = facts.inState.get(objectKey(kind, id));
  if (formerIds.includes(id) || holder?.key === key)
    return not("it is an object that this resource has or had before");
  if (holder !== undefined) return { ...answer, managedAs: holder.short };
  const makers = facts.notes.filter(({ ref: { kind: of }, record: note }) => {
    // What was only adopted here says nothing about who created it.
    const isMaker = note.state !== "confirmed" || note.body !== "";
    return of === kind && note.id === id && note.state !== "closed" && isMaker;
  });
  const [maker] = makers;
  // A later run may have taken it over or adopted it, and was interrupted too.
  const isOwn = makers.some(
    (each) => each.ref.key === key || each.record.mark === record.mark,
  );
  if (maker === undefined || isOwn) return answer;
  return not(`an earlier run created it as "${maker.ref.short}"`);
}

/** A change of a journal. */
export interface PlacedLine {
  readonly line: JournalLine;
  readonly place: StackPlace;
}

/** The journal that has a create, or will have it. */
export function journalOf(
  { elsewhere, provider }: Create,
  { place }: Pick<Facts, "place">,
): StackPlace {
  return elsewhere ?? { ...place, provider };
}

/** What Pulumi's record has becomes this machine's to ask about: a refresh, and the next `up`, drop that record. */
export function recordedLines(facts: Facts): PlacedLine[] {
  const recorded = facts.open.filter(({ known }) => known === "record");
  return recorded.map((create) => {
    const { ref, record } = create;
    const at = record.at || momentOf(systemClock);
    const line: JournalLine = { ...record, key: ref.key, state: "sent", at };
    return { line, place: journalOf(create, facts) };
  });
}

export function journalLinesOf(answer: Answer, facts: Facts): PlacedLine[] {
  const { notes } = facts;
  const { create, id, isForgotten = false } = answer;
  const { record, known } = create;
  const { key } = create.ref;
  const place = journalOf(create, facts);
  const at = momentOf(systemClock);
  if (isCreated(answer)) {
    // The state has it now. Under `--replace` a run learns only from the journal what it replaces.
    if (known === "state") return [{ line: { key, state: "confirmed", id, at }, place }];
    return [{ line: { key, state: "created", id, answered: true }, place }];
  }
  const isSame = (note: Create) => note.record.mark === record.mark;
  const lines = notes
    .filter((note) => isUnseen(note) && isSame(note) && note.ref.key !== key)
    .map((note): PlacedLine => {
      return { line: closedLine(note.ref.key, at), place: journalOf(note, facts) };
    });
  // Another stack, or another provider, may have something else under this key. Pulumi's record is noted in its place.
  const isHere = (note: Create) =>
    note.ref.key === key && journalPath(journalOf(note, facts)) === journalPath(place);
  const hasOther =
    known !== "record" &&
    notes.some((note) => isHere(note) && note.record.id !== undefined && !isSame(note));
  let line = closedLine(key, at);
  // What the create was to replace is still live: the next run says so.
  if (!isForgotten && record.replaces !== undefined)
    line = { key, state: "confirmed", id: record.replaces, at };
  if (isForgotten || !hasOther) lines.push({ line, place });
  return lines;
}
