/**
 * Answers from people and searches about creates of unknown outcome: checks them against the facts, and turns them into
 * lines of the journal. Touches no file.
 */
import { enumerate, isoNow, shellWord, systemClock } from "../base/index.js";
import { closedLine, type JournalLine, journalPath } from "../journal/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn, objectKey } from "../state/index.js";
import { type Create, type Facts, isUnseen } from "./pending-facts.js";

/** A person's or a search's answer about a create. */
export interface Answer {
  create: Create;
  /** The object's id; undefined if it was not created. */
  id?: string | undefined;
  /** Another resource that has this object in the state: then the create is dropped. */
  managedAs?: string | undefined;
  /** The create is dropped, and its outcome stays unknown. */
  isForgotten?: boolean;
}

/** Whether the create's resource has an object now. */
export function isCreated({ id, managedAs }: Answer): boolean {
  return id !== undefined && managedAs === undefined;
}

/**
 * @param typed the command's options: names; for `created`, `X=ID`.
 * @returns the answers, and a sentence about each name that needs none.
 * @throws Error with all that is wrong; then no answer counts.
 */
export function readAnswers(
  typed: Readonly<Record<"created" | "not-created" | "forget", readonly string[]>>,
  facts: Facts,
) {
  const open = [...facts.open, ...facts.elsewhere];
  // An open create takes precedence over a journal's record with the same URN.
  const all = new Map([...facts.notes, ...open].map((each) => [each.ref.urn, each]));
  const answers = new Map<string, Answer>();
  const unknown: string[] = [];
  const faults: string[] = [];

  const answer = (name: string, said: Omit<Answer, "create"> = {}) => {
    const possible = said.isForgotten === true ? [...all.values()] : open;
    const meant = calledIn(possible, name, facts);
    const resources = new Set(meant.map(({ ref }) => ref.resourceUrn));
    if (resources.size > 1) {
      const urns = meant.map(({ ref }) => ref.urn);
      const listed = enumerate(urns, MAX_LISTED);
      faults.push(`"${name}" is ambiguous; give the URN: ${listed}`);
      return;
    }
    if (resources.size === 0)
      unknown.push(
        `${name} is not pending: it was resolved, or never sent. To correct a wrong answer, set existingId or use --forget.`,
      );
    for (const create of meant) {
      const { urn, short } = create.ref;
      const verdict = verdictOn({ create, ...said }, facts, [...answers.values()]);
      if (answers.has(urn)) faults.push(`"${short}" has two answers`);
      else if (typeof verdict === "string") faults.push(verdict);
      else answers.set(urn, verdict);
    }
  };

  for (const text of typed.created) {
    const [, name = "", id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (LIVE_ID.test(id)) answer(name, { id });
    else faults.push(`--created takes X=ID, where ID is 1 or more; got "${text}"`);
  }
  for (const name of typed["not-created"]) answer(name);
  for (const name of typed.forget) answer(name, { isForgotten: true });
  if (faults.length > 0) throw new Error(`nothing was resolved:\n  ${faults.join("\n  ")}`);
  return { answers: [...answers.values()], unknown };
}

/**
 * The creates with this name, or with this former name: the journal may have the former name of a create in the state.
 */
function calledIn(all: readonly Create[], name: string, { notes }: Facts) {
  const noted = notes.filter(
    ({ ref, record }) => record.mark !== "" && isCalled(ref, name),
  );
  const marks = new Set(noted.map(({ record }) => record.mark));
  let found = all.filter(({ ref }) => isCalled(ref, name));
  if (found.length === 0) found = all.filter(({ record }) => marks.has(record.mark));
  // This stack's creates take precedence over another stack's.
  const own = found.filter(({ knownBy }) => knownBy !== "another stack");
  return own.length > 0 ? own : found;
}

/** Whether a name is the create's, or that of its set. */
function isCalled({ urn, short, resourceUrn }: Create["ref"], name: string) {
  return [urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)].includes(name);
}

/**
 * Checks an answer against the facts. @param others the answers that were accepted before.
 * @returns the answer, with `managedAs` if that applies; a sentence if the answer can't be true.
 */
export function verdictOn(
  answer: Answer,
  { inState, notes }: Facts,
  others: readonly Answer[],
): Answer | string {
  const { create, id } = answer;
  if (id === undefined) return answer;
  const { ref, record, formerIds = [] } = create;
  const { key, kind, short } = ref;
  const twin = others.find((other) => other.id === id && other.create.ref.kind === kind);
  if (twin) return `${id} can't be both "${short}" and "${twin.create.ref.short}"`;
  const not = (why: string) =>
    `${id} is not the id of "${short}": ${why}. ` +
    `If you find no other object, answer --not-created ${shellWord(short)}`;
  const holder = inState.get(objectKey(kind, id));
  if (formerIds.includes(id) || holder?.key === key)
    return not("an earlier object of this resource has that id");
  if (holder) return { ...answer, managedAs: holder.short };
  const makers = notes.filter(({ ref: { kind: of }, record: note }) => {
    // A record of an adoption doesn't say who created the object.
    const isMaker = note.state !== "confirmed" || note.body !== "";
    return of === kind && note.id === id && note.state !== "closed" && isMaker;
  });
  const [maker] = makers;
  // A later run may have taken over or adopted the object, and may have been interrupted too.
  const isOwn = makers.some(
    (each) => each.ref.key === key || each.record.mark === record.mark,
  );
  if (!maker || isOwn) return answer;
  return not(`an earlier run created ${id} for "${maker.ref.short}"`);
}

/** A line, and the journal that it is for. */
export interface PlacedLine extends Pick<Create, "journal"> {
  line: JournalLine;
}

/**
 * Copies creates from Pulumi's pending operations into this machine's journal, because a refresh or the next
 * `up` drops those operations. They count as sent now at the latest, so that no search rules them out too early.
 */
export function recordedLines({ open, made }: Facts): PlacedLine[] {
  // Not under a key with a `created` record: the line would overwrite the id.
  const created = made.filter(({ record }) => record.state === "created");
  const kept = new Set(created.map(({ ref }) => ref.key));
  const recorded = open.filter(
    ({ knownBy, ref }) => knownBy === "pulumi" && !kept.has(ref.key),
  );
  return recorded.map(({ ref: { key }, record, journal }) => {
    const at = record.at || isoNow(systemClock);
    const atLatest = record.at === "" || record.atLatest;
    return { line: { ...record, key, state: "sent", at, atLatest }, journal };
  });
}

export function journalLinesOf(answer: Answer, { notes }: Facts): PlacedLine[] {
  const { create, id, isForgotten = false } = answer;
  const { ref, record, knownBy, journal } = create;
  const { key } = ref;
  const at = isoNow(systemClock);
  if (isCreated(answer)) {
    const sent = { ...record, at: record.at || at };
    let line: JournalLine = { ...sent, key, state: "created", id, answered: true };
    // The refresh has put the object into the state. It is noted in the journal too, since `up --replace` learns from
    // the journal alone which object it replaces.
    if (knownBy === "state") line = { key, state: "confirmed", id, at };
    return [{ line, journal }];
  }
  const isSame = (note: Create) => note.record.mark === record.mark;
  const renamed = notes.filter(
    (note) => isUnseen(note) && isSame(note) && note.ref.key !== key,
  );
  const lines: PlacedLine[] = renamed.map((note) => {
    return { line: closedLine(note.ref.key, at), journal: note.journal };
  });
  // In the same journal, another object's record under this key stays, unless it is to be forgotten.
  const noted = notes.find(({ ref }) => ref.key === key) ?? create;
  const isHere = journalPath(noted.journal) === journalPath(journal);
  const hasOther = isHere && noted.record.id !== undefined && !isSame(noted);
  let line = closedLine(key, at);
  // The object that the create was to replace is still live, so the journal keeps it.
  if (!isForgotten && record.replaces !== undefined)
    line = { key, state: "confirmed", id: record.replaces, at };
  if (isForgotten || !hasOther) lines.push({ line, journal });
  return lines;
}
