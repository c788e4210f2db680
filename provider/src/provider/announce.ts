/**
 * What people read before and after something is created: adoptions, renames, and what replacements and removals leave live.
 */

import { count, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind, nameToTell, removalWarning } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { aboutWhom, renamedFrom, resourceKeyIn, type Told, UNKNOWN } from "../state/index.js";
import type { Live } from "../store/index.js";
import type { Create } from "./create.js";
import { canDelete, deletesReplaced } from "./delete.js";
import { holdsUnknown } from "./inputs.js";
import { announceLeftover, announceUnclaimed, expectNotUnresolvedElsewhere } from "./interrupted.js";
import type { Runtime } from "./runtime.js";
import { isKnown, type KnownSubject, type Subject } from "./subject.js";

/** What is told of a resource before anything else of it is looked at, and noted for warnings of later runs. @param members journal keys. */
export async function announceResource(
  runtime: Runtime,
  { identity, run }: Told,
  { key }: Subject,
  members: readonly string[] = [],
): Promise<void> {
  if (run !== undefined) {
    runtime.run.isUp = run.isUp;
    runtime.run.declares += run.resources;
  }
  runtime.inventory(identity).noteDeclared(key, members);
  await announceUnclaimed(runtime, identity);
}

/** The values of what is to be created. */
export interface ToCreate {
  readonly values: Values;
  /** Whether they fit the rules: only then more is known of it. */
  readonly fits: boolean;
  /** What is no longer declared, and may be this under another name: by journal key. */
  readonly formerly?: readonly string[] | undefined;
}

/** All that is told of an object that is to be created, or adopted. @throws OutcomeUnknownError its create may be one of unknown outcome. */
export async function announceCreate(
  kind: Kind,
  runtime: Runtime,
  subject: KnownSubject,
  { values, fits, formerly }: ToCreate,
): Promise<void> {
  const { identity, key, label, at } = subject;
  const adopts = values.existingId !== undefined && values.existingId !== UNKNOWN;
  const isLeft = await announceLeftover(kind, runtime, subject, adopts);
  if (adopts) {
    if (formerly !== undefined) runtime.learned.of(key).formerly = formerly;
    runtime.tellAt("info", at, `adopts ${String(values.existingId)}; nothing is sent`);
    return;
  }
  // Taken over, or unresolved: nothing is sent.
  if (!fits || isLeft) return;
  const fingerprint = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
  if (fingerprint !== undefined) await expectNotUnresolvedElsewhere(runtime, subject, fingerprint);
  const inventory = runtime.inventory(identity);
  const before = inventory.asItBegan.get(key);
  const isGone = before !== undefined && runtime.objects.of(kind, before.id).isGone === true;
  if (isGone) inventory.noteGone(key);
  // What runs that ended meanwhile have created is taken over.
  const isNone = isGone || runtime.learned.of(key).replaces !== undefined || inventory.isAhead;
  const same = isNone ? undefined : before;
  if (same !== undefined && same.fingerprint === fingerprint) {
    runtime.warnEach(
      "again",
      at,
      `${label} was created as ${same.id} before, and is not in the state any more: this creates a second ` +
        `live object. ${same.id} ${kind.afterlife}. To go on with ${same.id}, set existingId: ${same.id}.`,
      `${label} (${same.id})`,
      (amount) => `${count(amount, "more object")} that were created before and are created again`,
    );
  }
  if (formerly !== undefined) announceRename(kind, runtime, subject, formerly, fingerprint);
}

/**
 * One object can't be two resources.
 * @param letsGo whether what held the object, by its journal key, takes another one on in this run.
 * @returns what is wrong with adopting `id`, as far as this run knows.
 */
export function adoptedTwice(
  kind: Kind,
  runtime: Runtime,
  { identity, urn }: KnownSubject,
  id: string,
  letsGo: (key: string) => boolean = () => false,
): string | undefined {
  const inventory = runtime.inventory(identity);
  const known = inventory.holdersOf(kind.name, id).find((key) => inventory.declared.has(key) && !letsGo(key));
  const object = runtime.objects.of(kind, id);
  const holder = object.holder ?? (known === undefined ? undefined : aboutWhom(known).urn);
  if (holder !== undefined && holder !== urn)
    return `existingId ${id} is the resource ${holder} already: one object can't be two`;
  object.holder = urn;
  return undefined;
}

/** Of objects that are no longer declared, and may be this one under another name. */
function announceRename(
  kind: Kind,
  runtime: Runtime,
  { identity, key, at }: KnownSubject,
  formerly: readonly string[],
  fingerprint: string | undefined,
): void {
  const known = runtime.inventory(identity).asItBegan;
  for (const former of formerly) {
    const live = known.get(former);
    if (live === undefined) continue;
    const old = aboutWhom(former);
    const isDeleted = live.deletes === true && canDelete(kind, runtime);
    if (live.fingerprint !== fingerprint) {
      runtime.warnEach(
        isDeleted ? "removal, deleted" : "removal",
        at,
        removalWarning(kind, old.label, live.id, isDeleted),
        live.id,
        (amount) =>
          `${count(amount, "more object")} that are no longer declared, and ${isDeleted ? "are deleted" : "stay live"}`,
      );
      continue;
    }
    const [oldName, newName] = [old, aboutWhom(key)].map(({ member, name }) => member ?? name);
    const renamed = renamedFrom(old, key);
    runtime.warnEach(
      "rename",
      at,
      `\`${oldName}\` (${live.id}) is no longer declared and \`${newName}\` has the same arguments: this would ` +
        `create a second live ${kind.create.noun} and ${isDeleted ? `delete ${live.id}` : `leave ${live.id} live`}. ` +
        (renamed === undefined
          ? `To go on with ${live.id}, set existingId: ${live.id}.`
          : `If it is a rename, add \`${renamed}\`${old.member === undefined ? "" : " to the set"}. If \`${oldName}\` was removed before, set existingId: ${live.id} to go on with it.`),
      `${newName} (${live.id})`,
      (amount) =>
        `${count(amount, `more second live ${kind.create.noun}`)} likewise, of new names with the arguments of old ones`,
    );
  }
}

/** Before a replacement: in previews, and where the program did not say that this is an `up`, which tells it afterwards. */
export function announceReplacement(
  kind: Kind,
  runtime: Runtime,
  { key, at, label }: Subject,
  id: string,
  existingId: unknown,
): void {
  // The same object under changed arguments, which somebody has changed by hand.
  if (String(existingId) === id) return;
  runtime.learned.of(key).replaces = id;
  if (runtime.run.isUp === true) return;
  const by =
    existingId === undefined || existingId === null
      ? "The replacement creates another live object"
      : `${String(existingId)} is adopted in its place`;
  if (deletesReplaced(kind, runtime, key)) {
    runtime.warnEach(
      "replacement, deleted",
      at,
      `${label}: ${by}, and ${id} is deleted on the platform then, as retainOnDelete: false says.`,
      `${label} (${id})`,
      (amount) => `${count(amount, "more replacement")}, each of which deletes the object with this id on the platform`,
    );
    return;
  }
  runtime.warnEach(
    "replacement",
    at,
    `${label}: ${by}. ${id} ${kind.afterlife}; deactivate it there by hand.`,
    `${label} (${id})`,
    (amount) =>
      `${count(amount, "more replacement")}, each of which leaves the object with this id live on the platform`,
  );
}

/** After a replacement, with both ids. */
export function announceReplaced(kind: Kind, runtime: Runtime, { key, at, label }: Subject, id: string): void {
  const learned = runtime.learned.of(key);
  const old = learned.replaces;
  if (old === id || !isPlatformId(old)) return;
  learned.replaces = undefined;
  if (deletesReplaced(kind, runtime, key)) {
    runtime.tellAt("info", at, `${label} is ${id} now. ${old} is deleted on the platform at the end of this run.`);
    return;
  }
  runtime.warnEach(
    "replaced",
    at,
    `${label} is ${id} now. ${old} ${kind.afterlife}; deactivate it there by hand.`,
    `${old} (${label} is ${id} now)`,
    (amount) => `${count(amount, "more object")} that were replaced, and stay live on the platform`,
  );
}

/** The state holds this object: known to this run, and in an `up` to the warnings of later ones. */
export function noteHolder(
  kind: Kind,
  runtime: Runtime,
  { identity, key, urn }: Subject,
  id: string,
  properties: Values,
  secret: ReadonlySet<string>,
): void {
  runtime.objects.of(kind, id).holder = urn;
  if (identity === undefined || runtime.run.isUp !== true) return;
  const deletes = runtime.learned.of(resourceKeyIn(key)).deletes === true;
  runtime.inventory(identity).noteHeld(key, id, deletes, () => liveOf(kind, properties, secret, id, deletes));
}

/** Remembers what the engine is handed, for warnings of later runs. */
export function noteLive(
  kind: Kind,
  runtime: Runtime,
  { subject, values, secret }: Pick<Create, "subject" | "values" | "secret">,
  id: string,
): void {
  if (!isKnown(subject)) return;
  const deletes = runtime.learned.of(resourceKeyIn(subject.key)).deletes === true;
  runtime.inventory(subject.identity).note(subject.key, liveOf(kind, values, secret, id, deletes));
}

function liveOf(kind: Kind, values: Values, secret: ReadonlySet<string>, id: string, deletes: boolean): Live {
  const name = nameToTell(kind, values, secret);
  return {
    id,
    fingerprint: fingerprintOfBody(kind, values),
    ...(name === undefined ? {} : { name }),
    ...(deletes ? { deletes } : {}),
  };
}
