/** What people say about creates of unknown outcome, checked against the facts, and what a journal notes of it. Pure. */
import { enumerate, momentOf, shellWord, systemClock } from "../base/index.js";
import { closedLine, type JournalLine, type StackPlace } from "../journal/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn, objectKey } from "../state/index.js";
import type { Create, CreateRef, Facts, Note } from "./pending-facts.js";

/** What a person, or a search, says about a create. */
export interface Answer {
  readonly create: Create;
  /** The platform's; undefined if it was not created. */
  readonly id: string | undefined;
  /** The resource that has this object in the state, if that is another one: the create is dropped. */
  readonly managedAs?: string | undefined;
}

/** As typed; of `created`, `X=ID`. */
export type TypedAnswers = Readonly<
  Record<"created" | "notCreated" | "forget", readonly string[]>
>;

/** What counts: answers, what is dropped without one, and sentences about what needs none. */
export interface ReadAnswers {
  readonly answers: readonly Answer[];
  readonly forgotten: readonly (Create | Note)[];
  readonly known: readonly string[];
}

/** @throws Error with all that is wrong; then none of them counts. */
export function readAnswers(given: TypedAnswers, facts: Facts): ReadAnswers {
  const reader = new AnswerReader(facts);
  for (const text of given.created) reader.created(text);
  for (const text of given.notCreated) reader.notCreated(text);
  for (const text of given.forget) reader.forget(text);
  const { answers, forgotten, known, faults } = reader;
  if (faults.length > 0) throw new Error(`nothing was resolved: ${faults.join("; ")}`);
  return { answers: [...answers.values()], forgotten: [...forgotten.values()], known };
}

const NO_CREATE =
  "is not a pending create (`pending` lists them; --forget drops what this machine remembers)";
const NOT_KNOWN =
  "is neither in this machine's journal nor among the state's unresolved creates";

class AnswerReader {
  readonly answers = new Map<string, Answer>();
  readonly forgotten = new Map<string, Create | Note>();
  readonly known: string[] = [];
  readonly faults: string[] = [];
  readonly #creates: readonly Create[];

  constructor(private readonly facts: Facts) {
    this.#creates = [...facts.open, ...facts.elsewhere];
  }

  created(text: string): void {
    const [, name = text, id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id)) {
      this.faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
      return;
    }
    const isOpen = this.#creates.some((create) => isCalled(create, name));
    if (!isOpen && isHeldAs(name, id, this.facts)) {
      this.known.push(`${name} is ${id} already: the state has it.`);
      return;
    }
    for (const create of this.#called(name, this.#creates, NO_CREATE)) this.#answer(create, id);
  }

  notCreated(text: string): void {
    for (const create of this.#called(text, this.#creates, NO_CREATE))
      this.#answer(create, undefined);
  }

  forget(text: string): void {
    const all = [...this.#creates, ...this.facts.notes.values()];
    for (const each of this.#called<Create | Note>(text, all, NOT_KNOWN)) {
      const { urn, short } = each.ref;
      if (this.answers.has(urn)) this.faults.push(`"${short}" is given two answers`);
      // What the state knows of it comes first.
      else if (!this.forgotten.has(urn)) this.forgotten.set(urn, each);
    }
  }

  #answer(create: Create, id: string | undefined): void {
    const { urn, short } = create.ref;
    if (this.answers.has(urn)) {
      this.faults.push(`"${short}" is given two answers`);
      return;
    }
    const verdict = conflictOf({ create, id }, this.facts, [...this.answers.values()]);
    if (verdict.conflict !== undefined) this.faults.push(verdict.conflict);
    else this.answers.set(urn, { create, id, managedAs: verdict.managedAs });
  }

  /** Those with a name. @param none what is said of a name that none has. */
  #called<T extends Named>(name: string, all: readonly T[], none: string): readonly T[] {
    const found = all.filter((each) => isCalled(each, name));
    // Its own stack's counts before another one's.
    const own = found.filter(({ elsewhere }) => elsewhere === undefined);
    const meant = [own, found].find(({ length }) => length > 0) ?? [];
    const resources = new Set(meant.map(({ ref }) => ref.resourceUrn));
    if (resources.size === 1) return meant;
    if (resources.size > 1) {
      const urns = enumerate(
        meant.map(({ ref }) => ref.urn),
        MAX_LISTED,
      );
      this.faults.push(`"${name}" is the name of several, so give the URN: ${urns}`);
      return [];
    }
    const isKnown = this.facts.outdated.some((note) => isCalled(note, name));
    if (isKnown)
      this.known.push(`${name} is resolved already: the state has what became of it.`);
    else this.faults.push(`"${name}" ${none}`);
    return [];
  }
}

/** Somebody else has answered it, or a run has found it. */
function isHeldAs(name: string, id: string, { inState }: Facts): boolean {
  const holders = [...inState].filter(([object, ref]) => object === objectKey(ref.kind, id));
  return holders.some(([, ref]) => isCalled({ ref }, name));
}

interface Named {
  readonly ref: CreateRef;
  readonly otherRefs?: readonly CreateRef[];
  readonly elsewhere?: StackPlace | undefined;
}

/** What people may call it: by its own names, by former ones, and by those of its set. */
function isCalled({ ref, otherRefs = [] }: Named, name: string): boolean {
  return [ref, ...otherRefs].some(({ urn, short, resourceUrn }) =>
    [urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)].includes(name),
  );
}

/** What an answer means. */
export interface AnswerVerdict {
  /** The resource that has the object in the state. */
  readonly managedAs?: string;
  /** Why it can't be. */
  readonly conflict?: string;
}

/** @param others answers that count. */
export function conflictOf(
  { create, id }: Answer,
  facts: Facts,
  others: readonly Answer[],
): AnswerVerdict {
  if (id === undefined) return {};
  const { ref, otherRefs, formerIds } = create;
  const { short } = ref;
  const twin = others.find((other) => other.id === id && other.create.ref.kind === ref.kind);
  if (twin !== undefined)
    return { conflict: `${id} can't be both "${short}" and "${twin.create.ref.short}"` };
  const isFormer = formerIds.includes(id);
  const entry = facts.notes.get(ref.key)?.record;
  // A later run has taken it over or adopted it, and was interrupted too: the state has just the unknown outcome.
  if (entry?.id === id && entry.state !== "closed" && !isFormer) return {};
  const object = objectKey(ref.kind, id);
  const isOwn = (other: CreateRef) => [ref, ...otherRefs].some(({ key }) => key === other.key);
  const holder = facts.inState.get(object);
  const notIts = `${id} is not the id of "${short}"`;
  if (isFormer || (holder !== undefined && isOwn(holder))) {
    const why =
      "it is an object that this resource has or had before, such as the one to replace";
    return { conflict: `${notIts}: ${why}` };
  }
  if (holder !== undefined) return { managedAs: holder.short };
  const known = facts.inJournal.get(object);
  if (known === undefined || isOwn(known)) return {};
  const cure = `If there is no other object, it was not created: --not-created ${shellWord(short)}`;
  return { conflict: `${notIts}: an earlier run created it as "${known.short}". ${cure}` };
}

/** A change of a journal. */
export interface PlacedLine {
  readonly line: JournalLine;
  /** The stack whose journal it is, if that is another one. */
  readonly elsewhere?: StackPlace | undefined;
}

export function isInState(each: Create | Note): each is Create {
  return "known" in each && each.known === "state";
}

/** What only Pulumi's record has becomes this machine's to ask about. @param time of the record. */
export function recordedLines({ open }: Facts, time: string): PlacedLine[] {
  const recorded = open.filter(({ known }) => known === "record");
  return recorded.map(({ ref, record, alternative: or }) => {
    const line: JournalLine = { ...record, key: ref.key, state: "sent", at: record.at || time };
    return { line: or === undefined ? line : { ...line, body: "" } };
  });
}

export function journalLinesOf(answer: Answer, { notes }: Facts): PlacedLine[] {
  const { create, id, managedAs } = answer;
  const { ref, otherRefs, record, known, elsewhere, alternative: or } = create;
  const { key } = ref;
  const isCreated = id !== undefined && managedAs === undefined;
  if (known === "state") {
    const lines = otherRefs.map((other) => droppedLine(other));
    if (notes.get(key)?.record.state === "sent") lines.push(resolvedLine(answer));
    return lines;
  }
  if (!isCreated) return [droppedLine(ref, elsewhere)];
  const lines: PlacedLine[] = [];
  if (known === "record" || or !== undefined) {
    // Of two that differ, nobody knows which it is: it is taken for what the program has.
    const sent = or === undefined ? record : { mark: record.mark, body: "" };
    lines.push({ line: { ...sent, key, state: "sent", at: momentOf(systemClock) }, elsewhere });
  }
  return [...lines, { line: { key, state: "created", id, answered: true }, elsewhere }];
}

/** What the state has resolved. */
function resolvedLine({ create: { ref, record }, id, managedAs }: Answer): PlacedLine {
  const { key } = ref;
  const at = momentOf(systemClock);
  if (id !== undefined && managedAs === undefined)
    return { line: { key, state: "confirmed", id, at, name: record.name } };
  // What the create was to replace is still live: the next run says so.
  if (record.replaces === undefined) return droppedLine(ref);
  return { line: { key, state: "confirmed", id: record.replaces, at } };
}

export function droppedLine({ key }: CreateRef, elsewhere?: StackPlace): PlacedLine {
  return { line: closedLine(key, momentOf(systemClock)), elsewhere };
}
