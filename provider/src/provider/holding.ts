/**
 * Who has which live object, as far as this run knows: puts what the state, the journal, the program and the inventory say into the
 * run's `Holders`, which answers. What adopts, keeps or deletes an object goes through here.
 */

import { ArgumentsError, JournalError, NotSentError, type Values } from "../base/index.js";
import {
  abilitiesOf,
  type Circumstances,
  deletesUnlessHeld,
  type Former,
  type Holder,
  isDeleted,
  knownAdoption,
  SOMEBODY,
} from "../decision/index.js";
import { adoptedTwice, fingerprintOfBody, type Kind, nameToTell } from "../kinds/index.js";
import {
  aboutWhom,
  type Briefing,
  isOfKnownAccount,
  memberOf,
  memberRef,
  objectKey,
  type Ref,
  resourceKeyIn,
  tellingIn,
} from "../state/index.js";
import type { Live, Options, Snapshot } from "../store/index.js";
import type { WithArguments } from "./inputs.js";
import type { Run } from "./run.js";
import type { Runtime, Services } from "./services.js";

/** Called by `check`, before anything is awaited: the program names this object. What its resource had before is over. */
export function noteAdopts(kind: Kind, runtime: Runtime, { identity, key }: Ref, id: string, values: Values): void {
  runtime.run.holders.add(kind.name, id, key, "adopts", knownOf(kind, values));
  releaseFormer(kind, runtime, identity, key, id);
}

/**
 * Under `--replace` the engine may ask for no `diff`. Then only the notes of this machine tell which object the resource has, whose place
 * its create takes.
 */
export function notedBefore(kind: Kind, { run, inventory }: Runtime, { identity, key }: Ref): string | undefined {
  const id = inventory(identity).asItBegan.get(key)?.id;
  return id === undefined || run.isGone(kind, id) ? undefined : id;
}

/** The keys under which this machine may know of a resource or member from before an alias gave it its name. */
export function formerKeys({ run }: Runtime, key: string, member: string | undefined): string[] {
  const { moved = [] } = run.briefingOf(resourceKeyIn(key));
  return moved.map((former) => (member === undefined ? former : memberOf(former, member)));
}

/** A resource goes on with this object: it has no other one any more, whatever the inventory of this machine says. */
function releaseFormer(kind: Kind, { run, inventory }: Runtime, identity: string, key: string, id: string): void {
  const before = inventory(identity).asItBegan.get(key);
  if (before !== undefined && before.id !== id) run.holders.release(kind.name, before.id, key);
}

/** As {@link noteAdopts}, of all that the program adopts: a resource that may delete gets those ids, without who adopts them. */
export function noteAdoptedSomewhere(kind: Kind, { run }: Runtime, { adopted = "", adoptsUnknown }: Briefing): void {
  if (adoptsUnknown === true) run.adoptsLater.add(kind.name);
  if (adopted === "" || !run.beginOnce(`adopted ${kind.name} ${adopted}`)) return;
  for (const id of adopted.split(" ")) run.holders.add(kind.name, id, SOMEBODY, "adopts");
}

/** This resource goes on with an object; in an `up` known to the warnings of later runs too. */
function noteHolds(kind: Kind, runtime: Runtime, { identity, key }: Ref, id: string, live: Arguments): void {
  const { run } = runtime;
  releaseFormer(kind, runtime, identity, key, id);
  if (run.isUp !== true) return;
  const options = optionsOf(runtime, key);
  runtime.inventory(identity).noteHeld(key, id, options, () => liveOf(kind, runtime, live, id, options));
}

/** The marks of the creates that sets keep for this object, and that are settled once a resource has it. */
function settledBy(kind: Kind, run: Run, id: string): string[] {
  return [...run.kept].flatMap(([key, record]) => {
    const isFor = record.adoptedAs === id && aboutWhom(key).kind === kind.name;
    return isFor && run.holders.adoptedFor(kind, record, key)?.isHeld === true ? record.mark : [];
  });
}

/** The little that is kept of each object of a run: enough to know it from others. */
function knownOf(kind: Kind, values: Values): Values {
  const { name, facts } = tellingIn(kind, values, new Set());
  return { ...facts, [kind.nameProperty]: name };
}

type Arguments = Pick<WithArguments, "values" | "secret">;

interface Held extends WithArguments {
  readonly id: string;
  /** The same object, if it leaves the state. */
  readonly former: Former | undefined;
}

/**
 * Called once the state was looked at, before anything is awaited: what a resource goes on with, and what it gives up, for all that
 * else is asked in this run. @throws ArgumentsError something else has what it goes on with, or adopts it.
 */
export function noteHeld(kind: Kind, runtime: Runtime, objects: readonly Held[]): void {
  const { run } = runtime;
  for (const { subject, id, former, ...live } of objects) {
    forgetFormerKeys(kind, runtime, subject, id);
    run.holders.add(kind.name, id, subject.key, "state", knownOf(kind, live.values));
    if (run.isUp === true) for (const mark of settledBy(kind, run, id)) runtime.seen.noteSettled(mark, id);
    if (former !== undefined) run.holders.release(kind.name, id, subject.key);
    else noteHolds(kind, runtime, subject, id, live);
  }
  for (const { subject, id, former } of objects) if (former === undefined) expectOnlyHolder(kind, runtime, subject, id);
}

/** An alias gave it its name in a run that did not go through, so this machine knows the object under both. */
function forgetFormerKeys(kind: Kind, runtime: Runtime, { identity, key, member }: Ref, id: string): void {
  const inventory = runtime.inventory(identity);
  for (const former of formerKeys(runtime, key, member)) {
    if (inventory.asItBegan.get(former)?.id !== id) continue;
    runtime.run.holders.release(kind.name, id, former);
    if (runtime.run.isUp === true) inventory.noteGone(former);
  }
}

/**
 * Called when the engine is handed an object: it belongs to this resource for the rest of the run, and later runs warn of it by what is
 * remembered here.
 * @param createdAt ISO 8601; none where it was not created in this run.
 */
export function noteLive(
  kind: Kind,
  runtime: Runtime,
  { identity, key }: Ref,
  id: string,
  live: Arguments,
  createdAt: string | undefined,
): void {
  const { run } = runtime;
  // What was created in this run is nothing that anybody adopts, and there may be thousands.
  const known = createdAt === undefined ? knownOf(kind, live.values) : undefined;
  run.holders.add(kind.name, id, key, "state", known);
  for (const mark of settledBy(kind, run, id)) run.settled.set(mark, id);
  releaseFormer(kind, runtime, identity, key, id);
  runtime.seen.noteDelete(kind.name, id, false);
  runtime.inventory(identity).note(key, liveOf(kind, runtime, live, id, optionsOf(runtime, key), createdAt));
}

/** When a run on this machine created an object at the latest, whatever has it by now; none where no run here did. */
export function createdHere(
  kind: Kind,
  { rememberedOf }: Pick<Services, "rememberedOf">,
  id: string,
): string | undefined {
  return rememberedOf(kind.name, id).find((each) => each.at !== undefined)?.at;
}

function optionsOf({ run }: Runtime, key: string): Options {
  const { deletes, protects } = run.briefingOf(resourceKeyIn(key));
  return { deletes, protects };
}

/** What is noted of an object, under whichever key: when it was created goes along. */
function liveOf(
  kind: Kind,
  services: Services,
  { values, secret }: Arguments,
  id: string,
  options: Options,
  at = createdHere(kind, services, id),
): Live {
  const name = nameToTell(kind, values, secret);
  return { id, fingerprint: fingerprintOfBody(kind, values), name, ...options, at };
}

/**
 * Reads once a run what the journal and the inventory know, of every stack where nothing has said which one this is. Called before
 * anything of the below is asked.
 */
export async function learnHolders(runtime: Runtime): Promise<void> {
  const { run } = runtime;
  run.holdersLearned ??= learn(runtime);
  await run.holdersLearned;
}

async function learn(runtime: Runtime): Promise<void> {
  const { holders, identity } = runtime.run;
  for (const { objects, creates, adopts = [] } of identity === undefined
    ? runtime.everyStack()
    : [await ownStack(runtime, identity)]) {
    for (const [key, { id }] of objects) holders.add(aboutWhom(key).kind, id, key, "inventory");
    for (const { key, id } of creates) if (id !== undefined) holders.add(aboutWhom(key).kind, id, key, "journal");
    for (const [key, id] of adopts) holders.add(aboutWhom(key).kind, id, key, "is to adopt");
  }
}

async function ownStack(runtime: Runtime, identity: string): Promise<Snapshot> {
  const objects = runtime.inventory(identity).asItBegan;
  try {
    return { objects, creates: await runtime.journal(identity).notSettled() };
  } catch (error) {
    if (!(error instanceof JournalError)) throw error; // it stops the next create, and whatever looks there reports it
    return { objects, creates: [] };
  }
}

/**
 * What else has the object that this resource adopts, as far as this run knows.
 * @param adoptedBefore whether the state's inputs name it already: then a note of this machine about another resource is out of date, or that
 *   one fails.
 */
export function rivalOf(
  kind: Kind,
  { run }: Runtime,
  { key }: Ref,
  id: string,
  adoptedBefore = false,
): Ref | undefined {
  const isNote = ({ how }: Holder) => how === "inventory" || how === "journal";
  const isRival = (holder: Holder) => holder.by !== SOMEBODY && !(adoptedBefore && isNote(holder));
  const other = run.holders.rivalsOf(kind.name, id, key).find(isRival);
  return other === undefined ? undefined : aboutWhom(other.by);
}

/**
 * Asked before a resource takes over what a search has found for it: what else has that object. The engine may not have asked about the
 * other one yet, so what only the notes of this machine know counts as well.
 * @param formerly journal keys of what the resource may have been before.
 * @returns its label.
 */
export async function ownerOf(
  kind: Kind,
  runtime: Runtime,
  { key }: Ref,
  id: string,
  formerly: readonly string[],
): Promise<string | undefined> {
  await learnHolders(runtime);
  const other = oneOf(runtime.run.holders.of(kind.name, id, key).filter(({ by }) => !formerly.includes(by)));
  if (other === undefined) return undefined;
  return other.by === SOMEBODY ? "another resource" : aboutWhom(other.by).label;
}

/** One that is known by its name, if there is one. */
function oneOf(holders: readonly Holder[]): Holder | undefined {
  return holders.find(({ by }) => by !== SOMEBODY) ?? holders[0];
}

/**
 * Notes what a create of this resource has made, without a wait in between: from now on nothing else may adopt it. An `existingId` may have
 * named the id before there was such an object, and its resource may have it by now.
 * @returns that resource, if there is one.
 */
export function noteMade(kind: Kind, { run }: Runtime, { key }: Ref, id: string): Ref | undefined {
  run.holders.add(kind.name, id, key, "state");
  return keeperOf(kind, run, key, id);
}

/** Asked right before an object is adopted: what else has got it since `check` asked. @throws ArgumentsError */
export function expectStillFree(kind: Kind, { run }: Runtime, { key, label }: Ref, id: string): void {
  const other = keeperOf(kind, run, key, id);
  if (other !== undefined) throw new ArgumentsError(`${label}: existingId ${adoptedTwice(id, other.urn)}`);
}

/** Which other resource has the object after this run, by the state and what this run has done. */
export function keeperOf(kind: Kind, run: Run, key: string, id: string): Ref | undefined {
  const [other] = run.holders.of(kind.name, id, key, ["state"]);
  return other === undefined ? undefined : aboutWhom(other.by);
}

/**
 * As {@link rivalOf}, of what a resource has in the state: the engine may have asked about it later than about the other one. Neither is
 * known to be the wrong one.
 * @throws ArgumentsError
 */
function expectOnlyHolder(kind: Kind, { run }: Runtime, ref: Ref, id: string): void {
  const others = run.holders.of(kind.name, id, ref.key, ["state", "adopts"]);
  const other = others.find(({ by }) => by !== SOMEBODY);
  if (other === undefined) return;
  const rival = aboutWhom(other.by);
  throw new ArgumentsError(
    other.how === "state"
      ? `${ref.label} and ${rival.label} both have ${id} in the state: one object can't be two resources. ` +
          `Remove one of them from the program; ${id} stays, because the other one has it.`
      : `${rival.label}: existingId ${adoptedTwice(id, ref.urn)}`,
  );
}

/** @param olds what the state holds. @param isDeleting `retainOnDelete` is off. */
export function circumstancesOf(
  kind: Kind,
  { run, reading, seen }: Runtime,
  subject: Ref,
  olds: Values,
  isDeleting: boolean,
): Circumstances {
  const keyOf = (member: string) => (member === "" ? subject : memberRef(subject, member)).key;
  return {
    can: abilitiesOf(kind, reading.settings),
    replaceOnChanges: run.briefingOf(subject.key).replaceOnChanges ?? [],
    deletes: deletesUnlessHeld(kind, run.holders, isDeleting && isOfKnownAccount(olds), keyOf),
    mayBeAdopted: run.mayAdoptMore(kind),
    unsure: (id, fingerprint) => {
      const names = seen.unsureOf(kind.name, id, fingerprint);
      if (names.length === 0 && run.isUp === true) seen.forgetSaved(kind.name, id);
      return names;
    },
  };
}

/**
 * Asked when the engine wants an object to be deleted: whether it is, whether something else goes on with it (the resource that the
 * engine deletes has given it up), or whether it stays live.
 * @throws NotSentError something may adopt it that this run does not know: the engine keeps it in the state, and asks again.
 * @param properties what the state has of the resource. @param entry what it has of the object, and `member` its key, if that is a set's.
 */
export async function whenRemoved(
  kind: Kind,
  runtime: Runtime,
  id: string,
  properties: Values,
  entry: Values = properties,
  member?: string,
): Promise<"deleted" | "spared" | "left live"> {
  const { run, reading } = runtime;
  await learnHolders(runtime);
  const mayKnowMore = run.mayAdoptMore(kind) && !run.hasProgramEnded;
  if (run.beginOnce("removals") || mayKnowMore) runtime.learnLater();
  // What was adopted is perhaps itself what the program names: a `destroy` may run the program.
  const isPerhapsItself = run.isUp !== true && knownAdoption(entry) === id;
  const isToBeAdopted = run.holders.isToBeAdopted(kind.name, id);
  const isNamed = isToBeAdopted && !isPerhapsItself;
  const mayBeNamed = run.mayAdoptMore(kind);
  if (mayBeNamed && run.hasProgramEnded && !isNamed)
    throw keptInState(
      kind,
      id,
      "an existingId of the program may name it, and depends on a resource that is not a target",
    );
  if (isToBeAdopted && !isNamed && runtime.rememberedOf(kind.name, id).length === 0)
    throw keptInState(kind, id, "an existingId of the program names it, perhaps for another resource");
  run.removed.add(objectKey(kind.name, id));
  if (mayBeNamed || isNamed || run.holders.goesOn(kind.name, id, undefined, member)) {
    run.holders.noteSpared(kind.name, id);
    return "spared";
  }
  const can = abilitiesOf(kind, reading.settings);
  const deletes = () => isOfKnownAccount(properties) && !run.isStaying(kind, id);
  return isDeleted({ can, deletes }, id) ? "deleted" : "left live";
}

function keptInState(kind: Kind, id: string, why: string): NotSentError {
  return new NotSentError(
    `${kind.name} ${id} is not deleted in this run, and the state keeps it: ${why}. Run \`pulumi up\` without --target and --exclude, and then a stopped destroy again.`,
  );
}
