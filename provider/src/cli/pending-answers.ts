/** Answers from people and searches about creates of unknown outcome: checks them against what is known. Touches no file. */
import { enumerate, isSameValue } from "../base/index.js";
import type { JournalLine } from "../journal/index.js";
import { ownerIn } from "../kinds/index.js";
import { accountIn, type ExportedObject, providerIn } from "../record/index.js";
import { LIVE_ID } from "../rules/index.js";
import { mayBeSameAccount } from "../settings/index.js";
import {
  commandName,
  hiddenEventsMessage,
  isOfHiddenEvents,
  MAX_LISTED,
  nameInUrn,
  optionsOf,
  pendingLine,
  resourceKeyIn,
} from "../state/index.js";
import type { Create, StackCreates } from "./stack-creates.js";

/** A person's or a search's answer about a create. */
export interface Answer {
  create: Create;
  /** The object's id; empty if it was not created. */
  id: string;
  /** The create is dropped, and its outcome stays unknown. */
  isForgotten?: boolean;
}

/**
 * @param typed the command's options: names; for `created`, `X=ID`.
 * @returns the answers, and a sentence about each name that needs none.
 * @throws Error with all that is wrong; then no answer counts.
 */
export function readAnswers(
  typed: Readonly<Record<"created" | "not-created" | "forget", readonly string[]>>,
  creates: StackCreates,
) {
  const { open, created, ended } = creates;
  const answers = new Map<Create, Answer>();
  const unknown: string[] = [];
  const faults: string[] = [];

  const answer = (name: string, id = "", isForgotten = false) => {
    // A name is the create's, or that of its set.
    const called = (all: readonly Create[]) =>
      all.filter(({ ref: { urn, shownName, key, resourceUrn: set } }) =>
        [urn, nameInUrn(urn), shownName, key, set, nameInUrn(set)].includes(name),
      );
    let meant = called(isForgotten ? [...open, ...created, ...ended] : open);
    // An answer that agrees with what is known is one too.
    if (meant.length === 0)
      meant = called(created).filter(({ record }) => record.id === id);
    if (meant.length === 0) {
      unknown.push(
        `${name} was resolved before, or never sent, or has another name now. To correct a wrong answer, set existingId.`,
      );
      return;
    }
    // An id is that of one event of a set; another answer may be about all of them.
    const urns = new Set(meant.map(({ ref }) => (id === "" ? ref.resourceUrn : ref.urn)));
    if (urns.size > 1) {
      faults.push(
        `"${name}" is ambiguous; give the URN: ${enumerate([...urns], MAX_LISTED)}`,
      );
      return;
    }
    // The name of a set stands for its other events.
    let left = meant.filter((create) => !answers.has(create));
    if (left.length === 0) faults.push(`"${name}" has two answers`);
    // Several runs may have sent a resource's create, and an id is that of one of them. The last one knew that nothing was
    // open, or it wouldn't have sent its own. A doubtful one may be another state's.
    const likely = left.findLast(({ record }) => !record.isDoubtful || record.id === id);
    if (id !== "") left = [likely ?? left.slice(-1)].flat();
    for (const create of left) {
      const conflict = idConflict({ create, id }, creates, [...answers.values()]);
      if (conflict === undefined) answers.set(create, { create, id, isForgotten });
      else faults.push(conflict);
    }
  };

  for (const text of typed.created) {
    const [, name = "", id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (LIVE_ID.test(id)) answer(name, id);
    else faults.push(`--created takes X=ID, where ID is 1 or more; got "${text}"`);
  }
  for (const name of typed["not-created"]) answer(name);
  for (const name of typed.forget) answer(name, "", true);
  if (faults.length > 0) throw new Error(`nothing was resolved:\n  ${faults.join("\n  ")}`);
  return { answers: [...answers.values()], unknown };
}

/**
 * Why an id can't be the answer about a create: an id that a resource has or had, or that another create made, proves
 * nothing. @param others the answers that were accepted before. @returns undefined if it can.
 */
export function idConflict(
  { create, id }: Answer,
  { saved, open, created }: StackCreates,
  others: readonly Answer[],
) {
  const { ref, formerIds } = create;
  if (id === "") return undefined;
  if (isOfHiddenEvents(ref)) return hiddenEventsMessage(ref);
  const { account, provider } = create.record;
  // An id of another account is another object. A provider's account may have moved.
  const isHere = (itsProvider?: string, its?: string) =>
    itsProvider === provider || mayBeSameAccount(account, its);
  const makers = [...open, ...created].filter(({ record }) => {
    const isOther = record.mark !== create.record.mark;
    return isOther && record.id === id && isHere(record.provider, record.account);
  });
  const answered = others
    .filter((each) => each.id === id)
    .map((each) => each.create)
    .filter(({ record }) => isHere(record.provider, record.account));
  const holders = saved.allWith(ref.kind, id).filter((each) => {
    const { resource } = each;
    return isHere(providerIn(resource), accountIn(resource)) && !isSameObject(create, each);
  });
  const left = saved.leftBy(ref.kind, id).filter(({ ref: { key } }) => {
    return resourceKeyIn(key) === resourceKeyIn(ref.key);
  });
  const owners = [...holders, ...makers, ...answered, ...left];
  if (formerIds.includes(id)) owners.push(create);
  const owner = owners.find((each) => each.ref.kind === ref.kind);
  if (!owner) return undefined;
  let what = `${id} can't be the id of "${ref.shownName}": "${owner.ref.shownName}" has or had it.`;
  if (makers.includes(owner as Create))
    what += ` If that was a wrong answer, first run \`${pendingLine(optionsOf("forget", [owner.ref.urn]))}\`.`;
  return `${what} If it's "${ref.shownName}" all the same, set existingId: ${id} there. If you find no other object, answer${optionsOf("not-created", [commandName(ref)])}`;
}

/**
 * The resource that manages the object of an answer under another name: its kind, advertiser and name are the create's.
 */
export function managerOf({ create, id }: Answer, { saved }: StackCreates) {
  if (id === "") return undefined;
  return saved.holdersOf(create.ref.kind, id).find((each) => isSameObject(create, each));
}

function isSameObject(
  { ref, record }: Create,
  { kind, ref: other, name, values }: ExportedObject,
) {
  const owner = ownerIn(kind, record.args ?? {});
  const isOther = other.kind === ref.kind && other.key !== ref.key;
  return isOther && record.name === name && isSameValue(owner, ownerIn(kind, values));
}

/** A create, with the answer about it if there is one. */
export type Known = Partial<Answer> & Pick<Answer, "create">;

/** The journal's line for a create that no resource of the state, and no other record, can keep, or for its answer. */
export function lineOf({ create, id }: Known): JournalLine {
  const { isDoubtful: _, isInState: __, ...record } = create.record;
  const { key } = create.ref;
  if (id === "") return { key, mark: record.mark, state: "closed" };
  if (id === undefined) return { ...record, key, state: "sent" };
  return { ...record, key, state: "created", id };
}
