/** Answers from people and searches about creates of unknown outcome: checks them against the facts. Touches no file. */
import { enumerate, shellWord } from "../base/index.js";
import type { JournalLine } from "../journal/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn } from "../state/index.js";
import type { Create, Facts } from "./pending-facts.js";

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
  const { open, made } = facts;
  const answers = new Map<Create, Answer>();
  const unknown: string[] = [];
  const faults: string[] = [];

  const answer = (name: string, said: Omit<Answer, "create"> = {}) => {
    const possible = said.isForgotten === true ? [...open, ...made] : open;
    const meant = possible.filter(({ ref }) => isCalled(ref, name));
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
    const isWhole = meant.some(({ ref: { urn, short } }) => {
      return [urn, short, nameInUrn(urn)].includes(name);
    });
    // The name of a set stands for its other events.
    let left = meant.filter((create) => !answers.has(create));
    if (isWhole && left.length === 0) faults.push(`"${name}" has two answers`);
    // Several runs may have sent a resource's create. An id is that of one of them.
    if (isWhole && said.id !== undefined) left = left.slice(0, 1);
    for (const create of left) {
      const verdict = verdictOn({ create, ...said }, facts, [...answers.values()]);
      if (typeof verdict === "string") faults.push(verdict);
      else answers.set(create, verdict);
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
  { saved, open, made }: Facts,
  others: readonly Answer[],
): Answer | string {
  const { create, id } = answer;
  if (id === undefined) return answer;
  const { ref, record, formerIds } = create;
  const { key, kind, short } = ref;
  const twin = others.find(
    ({ create: { ref: its }, ...other }) =>
      other.id === id && its.kind === kind && its.key !== key,
  );
  if (twin) return `${id} can't be both "${short}" and "${twin.create.ref.short}"`;
  const not = (why: string) =>
    `${id} is not the id of "${short}": ${why}. ` +
    `If you find no other object, answer --not-created ${shellWord(short)}`;
  const [holder] = saved.holdersOf(kind, id);
  if (formerIds.includes(id) || holder?.ref.key === key)
    return not("an earlier object of this resource has that id");
  if (holder) return { ...answer, managedAs: holder.ref.short };
  const maker = [...open, ...made].find(
    (each) => each.ref.kind === kind && each.record.id === id && each.ref.key !== key,
  );
  if (!maker || maker.record.mark === record.mark) return answer;
  return not(`an earlier run created ${id} for "${maker.ref.short}"`);
}

/** The create's outcome by an answer: its object's id, or an empty text. */
export function answeredId(answer: Answer): string {
  if (!isCreated(answer)) return "";
  return answer.id ?? "";
}

/** The journal's line for an answer about a create that no resource of the state, and no other record, can keep. */
export function lineOfAnswer(answer: Answer): JournalLine {
  const { isDoubtful: _, isInState: __, ...record } = answer.create.record;
  const { key } = answer.create.ref;
  const id = answeredId(answer);
  if (id === "") return { key, mark: record.mark, state: "closed" };
  return { ...record, key, state: "created", id };
}
