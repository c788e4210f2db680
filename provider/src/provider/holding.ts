/**
 * Who has which live object, as far as this run knows: puts what the state, the journal, the program and the inventory say into the
 * run's `Holders`, and asks it. Whoever adopts, keeps or deletes an object goes through here, and an adoption is carried out here.
 */

import { ArgumentsError, JournalError, type Values } from "../base/index.js";
import { abilitiesOf, type Holder, settles } from "../decision/index.js";
import { fingerprintOfBody, type Kind, nameToTell } from "../kinds/index.js";
import { show } from "../rules/index.js";
import { aboutWhom, type Ref, resourceKeyIn, type Told } from "../state/index.js";
import type { Live, Snapshot } from "../store/index.js";
import { type Differences, differencesIn, readLive, updateLive, withDifferences } from "./optional.js";
import type { Outcome } from "./outcome.js";
import type { Runtime, Services } from "./services.js";
import { adoptedTwice } from "./tell.js";

/** Called by `check`, before anything is awaited: the program names this object. What its resource had before is over. */
export function noteAdopts(kind: Kind, runtime: Runtime, { identity, key }: Ref, id: string): void {
  runtime.run.holders.add(kind.name, id, key, "adopts");
  releaseFormer(kind, runtime, identity, key, id);
}

/**
 * The object that the state may hold of a resource whose `diff` the engine did not ask for, as under `--replace`: the journal notes
 * that a create is to take its place.
 */
export function notedBefore(kind: Kind, { run, inventory }: Runtime, { identity, key }: Ref): string | undefined {
  const id = inventory(identity).asItBegan.get(key)?.id;
  return id === undefined || run.isGone(kind, id) ? undefined : id;
}

/** A resource goes on with this object: it has no other one any more, whatever the inventory of this machine says. */
function releaseFormer(kind: Kind, { run, inventory }: Runtime, identity: string, key: string, id: string): void {
  const before = inventory(identity).asItBegan.get(key);
  if (before !== undefined && before.id !== id) run.holders.release(kind.name, before.id, key);
}

/** As {@link noteAdopts}, of objects that something in the program adopts: what may delete is told all of them, without their names. */
export function noteAdoptedSomewhere(kind: Kind, { run }: Runtime, { adopted = "", adoptsUnknown }: Told): void {
  if (adoptsUnknown === true) run.adoptsLater.add(kind.name);
  if (adopted === "" || !run.beginOnce(`adopted ${adopted}`)) return;
  for (const id of adopted.split(" ")) run.holders.add(kind.name, id, SOMEBODY, "adopts");
}

/** The program's half says of some adoptions only that there are such. */
const SOMEBODY = "";

/** Called once the state was looked at: this resource goes on with an object; in an `up` known to the warnings of later runs too. */
export function noteHolds(
  kind: Kind,
  runtime: Runtime,
  { identity, key }: Ref,
  id: string,
  live: { readonly values: Values; readonly secret: ReadonlySet<string> },
): void {
  const { run } = runtime;
  run.holders.add(kind.name, id, key, "state");
  releaseFormer(kind, runtime, identity, key, id);
  if (run.isUp !== true) return;
  const deletes = isDeleting(runtime, key);
  runtime.inventory(identity).noteHeld(key, id, deletes, () => liveOf(kind, live, id, deletes));
}

/** The engine is handed this object: it belongs to this resource for the rest of the run, and is remembered for the warnings of later runs. */
export function noteLive(
  kind: Kind,
  runtime: Runtime,
  { identity, key }: Ref,
  id: string,
  live: { readonly values: Values; readonly secret: ReadonlySet<string> },
): void {
  runtime.run.holders.add(kind.name, id, key, "state");
  runtime.inventory(identity).note(key, liveOf(kind, live, id, isDeleting(runtime, key)));
}

function isDeleting({ run }: Runtime, key: string): boolean {
  return run.told(resourceKeyIn(key)).deletes === true;
}

function liveOf(
  kind: Kind,
  { values, secret }: { readonly values: Values; readonly secret: ReadonlySet<string> },
  id: string,
  deletes: boolean,
): Live {
  const name = nameToTell(kind, values, secret);
  return {
    id,
    fingerprint: fingerprintOfBody(kind, values),
    ...(name === undefined ? {} : { name }),
    ...(deletes ? { deletes } : {}),
  };
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
  for (const { objects, creates } of identity === undefined
    ? runtime.everyStack()
    : [await ownStack(runtime, identity)]) {
    for (const [key, { id }] of objects) holders.add(aboutWhom(key).kind, id, key, "inventory");
    for (const { key, id } of creates) if (id !== undefined) holders.add(aboutWhom(key).kind, id, key, "journal");
  }
}

async function ownStack(runtime: Runtime, identity: string): Promise<Snapshot> {
  const objects = runtime.inventory(identity).asItBegan;
  try {
    return { objects, creates: await runtime.journal(identity).leftovers() };
  } catch (error) {
    if (!(error instanceof JournalError)) throw error; // it stops the next create, and is told by whatever looks there
    return { objects, creates: [] };
  }
}

/** Who else has an object after this run. What only notes know counts for what the program declares. */
function rivals(kind: Kind, { run }: Pick<Runtime, "run">, id: string, but?: string): Holder[] {
  const isCertain = ({ how }: Holder) => how === "state" || how === "adopts";
  return run.holders.of(kind.name, id, but).filter((holder) => isCertain(holder) || run.declared.has(holder.by));
}

/** What else has the object that this resource adopts, as far as this run knows: one object can't be two resources. */
export function rivalOf(kind: Kind, runtime: Runtime, { key }: Ref, id: string): Ref | undefined {
  const other = rivals(kind, runtime, id, key).find(({ by }) => by !== SOMEBODY);
  return other === undefined ? undefined : aboutWhom(other.by);
}

/** The same, where the engine asked about the resource that adopts before it asked about the one that holds. @throws ArgumentsError */
export function expectNotAdopted(kind: Kind, runtime: Runtime, ref: Ref, id: string): void {
  const other = rivals(kind, runtime, id, ref.key).find(({ by, how }) => by !== SOMEBODY && how === "adopts");
  if (other !== undefined) throw new ArgumentsError(`${aboutWhom(other.by).label}: ${adoptedTwice(id, ref)}`);
}

/** Whether something in the program names this object. */
export function isAdopted(kind: Kind, { run }: Pick<Runtime, "run">, id: string): boolean {
  return run.holders.of(kind.name, id, undefined, ["adopts"]).length > 0;
}

/**
 * Asked where it is decided whether an object is deleted, and right before it is: whether something else goes on with it, as far as the
 * state, the program and the notes of this machine say. A run of some targets looks at nothing else, and a `destroy` at nothing at
 * all, so what only notes know counts there too. One of those notes is of whatever lets go of the object, unless that is known.
 * @param but the journal key of what lets go of it, where that is known: its own adoption spares an object all the same.
 */
export function isHeldElsewhere(kind: Kind, runtime: Pick<Runtime, "run">, id: string, but?: string): boolean {
  const { run } = runtime;
  if (isAdopted(kind, runtime, id) || rivals(kind, runtime, id, but).length > 0) return true;
  const lettingGo = (run.holders.hasLetGo(kind.name, id) ? 0 : 1) + run.sparedOf(kind, id);
  const byStack = Map.groupBy(run.holders.of(kind.name, id, but), ({ by }) => by.split("::", 2)[1]);
  return [...byStack.values()].some((those) => those.length > lettingGo);
}

/** The same when the engine asks for an object to be deleted; what is spared is told. Then whoever asked has let go of it. */
export async function isSpared(kind: Kind, runtime: Runtime, id: string): Promise<boolean> {
  const { run } = runtime;
  await learnHolders(runtime);
  // In a run of some targets, an id that nobody knows may be this one.
  const mayBeAdopted = !run.isWhole && run.adoptsLater.has(kind.name);
  const isHeld = mayBeAdopted || isHeldElsewhere(kind, runtime, id);
  if (isHeld) run.noteSpared(kind, id);
  return isHeld;
}

export interface Adoption {
  readonly subject: Ref;
  readonly id: string;
  /** The checked arguments. */
  readonly values: Values;
  /** Arguments whose values must not be told. */
  readonly secret: ReadonlySet<string>;
  /** The mark of a create of unknown outcome that the state holds, and that this settles. */
  readonly settles: string | undefined;
  /** Journal keys of what the program declares no longer, and what may be this under its former name. */
  readonly formerly: readonly string[];
}

/**
 * Nothing is created. Where an update is known, the object is given the arguments that differ; otherwise it must have them.
 * @throws AdvertisingError it is not there, differs, or could not be looked at. Nothing has changed, but perhaps by an update.
 */
export async function adoptExisting(kind: Kind, services: Services, adoption: Adoption): Promise<Outcome> {
  const { subject, id, values } = adoption;
  const { label } = subject;
  if (abilitiesOf(kind, services.reading.settings).read) {
    const differences = await lookAt(kind, services, adoption);
    if (differences.size > 0) {
      const theirs = withDifferences({ ...values }, differences);
      await updateLive(kind, services, { id, label }, theirs, values, [...differences.keys()]);
    }
  }
  await settle(kind, services, adoption);
  return { kind: "adopted", id };
}

/**
 * Whatever was left open about it is answered by this id. It may have been noted under the resource's former name: then only where
 * it was sent as what is adopted now. Otherwise it stays unresolved.
 */
async function settle(kind: Kind, services: Services, adoption: Adoption): Promise<void> {
  const { subject, id, values, formerly } = adoption;
  const { identity, key, label } = subject;
  try {
    const journal = services.journal(identity);
    const noted = await journal.settle(key, id, adoption.settles);
    for (const former of formerly) {
      const sent = await journal.leftover(former);
      if (sent !== undefined && !settles(kind, values, { ...sent, kind: aboutWhom(former).kind })) continue;
      noted.push(...(await journal.settle(former, id)));
    }
    for (const other of noted.filter((known) => known !== id)) {
      services.say(
        `${label}: an interrupted run had created it as ${other}; that object stays live, and nothing manages it.`,
      );
    }
  } catch (error) {
    services.say(`${label} was taken over as ${id}. ${(error as Error).message}`);
  }
}

/**
 * Holds what the program declares against the live object.
 * @returns the arguments that differ, as the platform has them: all can be changed in place.
 * @throws ArgumentsError the object is not there, or differs where it can't be changed. @throws AdvertisingError nothing is known of it.
 */
async function lookAt(
  kind: Kind,
  services: Services,
  { subject: { label }, id, values, secret }: Adoption,
): Promise<Differences> {
  const { settings } = services.reading;
  const record = await readLive(kind, services, { id, label });
  if (record === undefined) {
    throw new ArgumentsError(`${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform`);
  }
  const differences = differencesIn(kind, settings, values, record);
  const { update } = abilitiesOf(kind, settings);
  const wrong = [...differences].filter(([property]) => !update || property in kind.refersTo);
  if (wrong.length === 0) return differences;
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  throw new ArgumentsError(`${label}: existingId ${id} differs: ${told.join("; ")}`);
}
