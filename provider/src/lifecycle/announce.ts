/**
 * What people read before and after something is created: adoptions, renames, and what replacements and removals leave live.
 */

import { requestFields } from "../api/request.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { Live } from "../journal/inventory.js";
import { type Kind, removalWarning, typeTokenOf } from "../kinds/kind.js";
import type { Declared } from "../state/declared.js";
import { aboutWhom, aliasFor, journalKeyOf, labelOf, nameOf, parseIdentity, urnOf } from "../state/identity.js";
import { UNKNOWN } from "../state/properties.js";
import { count } from "../text.js";
import type { Create } from "./create.js";
import { announceLeftover, announceUnclaimed, expectNotUnresolvedElsewhere } from "./leftovers.js";
import type { Runtime } from "./runtime.js";

type Properties = Readonly<Record<string, unknown>>;

/** Whom a message is about. */
export interface Subject {
  readonly identity: string | undefined;
  readonly key: string;
  readonly urn: string;
  readonly label: string;
}

export interface Checked {
  /** The state does not hold it yet, or it is to be replaced. */
  readonly isNew: boolean;
  readonly values: Properties;
  readonly fits: boolean;
}

/** All that is told when a resource is checked. @throws OutcomeUnknownError where its create may be one of unknown outcome. */
export async function announce(
  kind: Kind,
  runtime: Runtime,
  { identity, run, formerly }: Declared,
  { isNew, values, fits }: Checked,
): Promise<void> {
  const key = journalKeyOf(kind.name, identity);
  if (run !== undefined) {
    runtime.run.isUp = run.isUp;
    runtime.run.declares += run.resources;
  }
  runtime.inventory(identity).noteDeclared(key);
  await announceUnclaimed(runtime, identity);
  if (!isNew) return;
  const adopts = values.existingId !== undefined && values.existingId !== UNKNOWN;
  await announceLeftover(kind, runtime, identity, adopts);
  const urn = urnOf(identity, typeTokenOf(kind.name));
  if (adopts) {
    if (formerly !== undefined) runtime.formerly.set(key, formerly);
    runtime.tellAt("info", urn, `adopts ${String(values.existingId)}; nothing is sent`);
    return;
  }
  if (!fits) return;
  const isKnown = !JSON.stringify(values).includes(UNKNOWN);
  const fingerprint = isKnown ? fingerprintOf(requestFields(kind, values)) : undefined;
  if (fingerprint !== undefined) await expectNotUnresolvedElsewhere(kind, runtime, identity, fingerprint);
  const same = runtime.replacing.has(key) ? undefined : runtime.inventory(identity).asItBegan.get(key);
  if (same !== undefined && same.fingerprint === fingerprint) {
    runtime.warnEach(
      "again",
      urn,
      `${labelOf(kind.name, nameOf(identity))} was created as ${same.id} before, and is not in the state any more: this creates a second ` +
        `live object. ${same.id} ${kind.afterlife}. To go on with ${same.id}, set existingId: ${same.id}.`,
      `${nameOf(identity)} (${same.id})`,
      (amount) => `${count(amount, "more object")} that were created before and are created again`,
    );
  }
  if (formerly !== undefined) announceRename(kind, runtime, identity, formerly, fingerprint);
}

/**
 * One object can't be two resources.
 * @returns what is wrong with adopting `id`, as far as this run knows.
 */
export function adoptedTwice(kind: Kind, runtime: Runtime, identity: string, id: string): string | undefined {
  const urn = urnOf(identity, typeTokenOf(kind.name));
  const known = [...runtime.inventory(identity).asItBegan].find(
    ([key, live]) =>
      live.id === id && aboutWhom(key).kind === kind.name && runtime.inventory(identity).declared.has(key),
  );
  const holder =
    runtime.holders.get(`${kind.name} ${id}`) ?? (known === undefined ? undefined : aboutWhom(known[0]).urn);
  if (holder !== undefined && holder !== urn)
    return `existingId ${id} is the resource ${holder} already: one object can't be two`;
  runtime.holders.set(`${kind.name} ${id}`, urn);
  return undefined;
}

/** Of objects that are no longer declared, and may be this one under another name. */
function announceRename(
  kind: Kind,
  runtime: Runtime,
  identity: string,
  formerly: readonly string[],
  fingerprint: string | undefined,
): void {
  const urn = urnOf(identity, typeTokenOf(kind.name));
  const known = runtime.inventory(identity).asItBegan;
  for (const key of formerly) {
    const live = known.get(key);
    if (live === undefined) continue;
    const old = aboutWhom(key);
    if (live.fingerprint !== fingerprint) {
      runtime.tellAt("warn", urn, removalWarning(kind, old.label, live.id));
      continue;
    }
    runtime.tellAt(
      "warn",
      urn,
      `\`${old.name}\` (${live.id}) is no longer declared and \`${nameOf(identity)}\` has the same arguments: this would ` +
        `create a second live ${kind.create.noun} and leave ${live.id} live. If it is a rename, add ` +
        `\`${aliasFor(old, parseIdentity(identity))}\`. If \`${old.name}\` was removed before, set existingId: ${live.id} to go on with it.`,
    );
  }
}

/** Before a replacement: in previews, and where the program did not say that this is an `up`, which tells it afterwards. */
export function announceReplacement(
  kind: Kind,
  runtime: Runtime,
  { key, urn, label }: Omit<Subject, "identity">,
  id: string,
  existingId: unknown,
): void {
  // The same object under changed arguments, which somebody has changed by hand.
  if (String(existingId) === id) return;
  runtime.replacing.set(key, id);
  if (runtime.run.isUp === true) return;
  const by =
    existingId === undefined || existingId === null
      ? "The replacement creates another live object"
      : `${String(existingId)} is adopted in its place`;
  runtime.warnEach(
    "replacement",
    urn,
    `${label}: ${by}. ${id} ${kind.afterlife}; deactivate it there by hand.`,
    `${label} (${id})`,
    (amount) =>
      `${count(amount, "more replacement")}, each of which leaves the object with this id live on the platform`,
  );
}

/** After a replacement, with both ids. */
export function announceReplaced(
  kind: Kind,
  runtime: Runtime,
  { key, urn, label }: Omit<Subject, "identity">,
  id: string,
): void {
  const old = runtime.replacing.get(key);
  if (old === undefined || old === id || !/^\d+$/.test(old)) return;
  runtime.replacing.delete(key);
  runtime.warnEach(
    "replaced",
    urn,
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
  properties: Properties,
  secret: ReadonlySet<string>,
): void {
  runtime.holders.set(`${kind.name} ${id}`, urn);
  if (identity === undefined || runtime.run.isUp !== true) return;
  runtime.inventory(identity).noteHeld(key, id, () => liveOf(kind, properties, secret, id));
}

/** Remembers what the engine is handed, for warnings of later runs. */
export function noteLive(kind: Kind, runtime: Runtime, { identity, values, secret }: Create, id: string): void {
  if (identity === undefined) return;
  runtime.inventory(identity).note(journalKeyOf(kind.name, identity), liveOf(kind, values, secret, id));
}

function liveOf(kind: Kind, values: Properties, secret: ReadonlySet<string>, id: string): Live {
  const name = values[kind.nameProperty];
  return {
    id,
    fingerprint: fingerprintOf(requestFields(kind, values)),
    ...(typeof name === "string" && !secret.has(kind.nameProperty) ? { name } : {}),
  };
}
