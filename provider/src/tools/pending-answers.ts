/** What people, or a search, say of creates of unknown outcome, checked against what is known of them. Pure. */
import { enumerate } from "../base/index.js";
import { LIVE_ID } from "../rules/index.js";
import { MAX_LISTED, nameInUrn, objectKey } from "../state/index.js";
import type { Create, Facts, Note } from "./pending-facts.js";

/** As it is typed. */
export interface Given {
  /** `X=ID` */
  readonly created: readonly string[];
  readonly notCreated: readonly string[];
  readonly forget: readonly string[];
}

export interface Answer {
  readonly create: Create;
  /** The platform's; none if it was not created. */
  readonly id: string | undefined;
}

/** @throws Error with all that is wrong; then none of them counts. */
export function readAnswers(given: Given, facts: Facts): { readonly answers: Answer[]; readonly forgotten: Note[] } {
  const faults: string[] = [];
  const answers = new Map<string, Answer>();
  const forgotten = new Map<string, Note>();
  const [pending, noted] = [byName(facts.open), byName([...(facts.notes?.values() ?? [])])];
  const unresolved = new Set(facts.open.flatMap(({ ref, known }) => (known === "state" ? [ref.key] : [])));
  const made = new Map<string, string>();

  const meant = <T extends Pick<Create, "ref">>(
    text: string,
    names: ReadonlyMap<string, readonly T[]>,
    none: string,
  ) => {
    const found = names.get(text) ?? [];
    const resources = new Set(found.map(({ ref }) => ref.resourceUrn)).size;
    const urns = enumerate(
      found.map(({ ref }) => ref.urn),
      MAX_LISTED,
    );
    if (resources > 1) faults.push(`"${text}" is the name of several, so give the URN: ${urns}`);
    if (resources === 0) faults.push(`"${text}" ${none}`);
    return resources === 1 ? found : [];
  };
  const answer = (create: Create, id: string | undefined) => {
    const { key, kind, short } = create.ref;
    const twin = id === undefined ? undefined : made.get(objectKey(kind, id));
    const why = id === undefined ? undefined : whyNotIts(create, id, facts);
    if (answers.has(key)) faults.push(`"${short}" is given two answers`);
    else if (why !== undefined) faults.push(why);
    else if (twin !== undefined) faults.push(`${id} can't be both "${short}" and "${twin}"`);
    else answers.set(key, { create, id });
    if (id !== undefined) made.set(objectKey(kind, id), short);
  };
  const NONE = "is not a pending create (`pulumi-advertising pending` lists them)";

  for (const text of given.created) {
    const [, name = text, id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id)) faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
    const [create] = meant(name, pending, NONE);
    if (create === undefined) continue;
    if (setNames(create.ref).includes(name))
      faults.push(`"${name}" is a set: add the key of its event, as in ${create.ref.short}=${id}`);
    else if (LIVE_ID.test(id)) answer(create, id);
  }
  for (const text of given.notCreated) for (const create of meant(text, pending, NONE)) answer(create, undefined);
  for (const text of given.forget) {
    for (const note of meant(text, noted, "is nothing that the memory of this machine has")) {
      const { key, short } = note.ref;
      if (unresolved.has(key))
        faults.push(`the state has "${short}" as unresolved: answer with --created or --not-created`);
      else if (answers.has(key)) faults.push(`"${short}" is given two answers`);
      else forgotten.set(key, note);
    }
  }
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return { answers: [...answers.values()], forgotten: [...forgotten.values()] };
}

/** In words, why an object is not what this create made. */
export function whyNotIts({ ref, formerIds }: Create, id: string, { holders, notes }: Facts): string | undefined {
  const noted = notes?.get(ref.key)?.record;
  // A later run has taken it over or adopted it, and was interrupted too: the state has just the unknown outcome.
  if (noted?.id === id && noted.state !== "none" && !formerIds.includes(id)) return undefined;
  const holder = holders.get(objectKey(ref.kind, id));
  if (holder?.key === ref.key || formerIds.includes(id))
    return `${id} is not the id of "${ref.short}": it is an object that this resource has or had before, such as the one to replace`;
  return holder && `${id} is not the id of "${ref.short}": ${holder.says}`;
}

/** By each name that people may give: of itself, and of its set. */
function byName<T extends Pick<Create, "ref">>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const namesOf = ({ ref }: T) => new Set([ref.urn, nameInUrn(ref.urn), ref.short, ...setNames(ref)]);
  const named = all.flatMap((each) => [...namesOf(each)].map((name) => ({ name, each })));
  const groups = Map.groupBy(named, ({ name }) => name);
  return new Map([...groups].map(([name, found]) => [name, found.map(({ each }) => each)]));
}

function setNames({ member, resourceUrn }: Create["ref"]): string[] {
  return member === undefined ? [] : [resourceUrn, nameInUrn(resourceUrn)];
}
