/**
 * Changes a live object in place, where the installation is known to have a way to.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, type Values } from "../base/index.js";
import { bodyOf, type Kind } from "../kinds/index.js";
import { knownOperations } from "../settings/index.js";
import { hasValue, type Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";

/** Whether the installation is known to have a way to. */
export function canUpdate(kind: Kind, { reading }: Pick<Runtime, "reading">): boolean {
  return knownOperations(kind, reading.settings).update !== undefined;
}

/**
 * Which of the changed arguments only a replacement can change.
 * @param key of the resource, in the journal. @param changed as `changedProperties` has it.
 */
export function replacedBy(kind: Kind, runtime: Runtime, key: string, changed: readonly string[]): readonly string[] {
  if (!canUpdate(kind, runtime)) return changed;
  // Another owner, or another object.
  const isOther = (property: string) => property === "existingId" || property in kind.refersTo;
  const asked = (runtime.learned.of(key).replacedOn ?? []).map((path) => path.split(/[.[]/, 1)[0]);
  const isAsked = (property: string) => asked.includes("*") || asked.includes(property);
  return changed.some((property) => isOther(property) || isAsked(property)) ? changed : [];
}

/** Has the platform change these arguments of an object, and nothing else. @throws AdvertisingError it may be asked again. */
export async function updateLive(
  kind: Kind,
  runtime: Runtime,
  { id, label }: { readonly id: string; readonly label: string },
  olds: Properties,
  news: Properties,
  changed: readonly string[],
): Promise<void> {
  const { update } = knownOperations(kind, runtime.reading.settings);
  if (update === undefined) throw new Error("update without the operation");
  const fields = changedFields(kind, olds, news, changed);
  if (Object.keys(fields).length === 0) return;
  const warnings = await runtime.track(async (mayBegin) => {
    mayBegin();
    return runtime.client().update({ kind, operation: update, id, label }, fields);
  });
  for (const warning of warnings) runtime.say(`The platform, first of ${label}: ${warning}`, warning);
}

/** Sets all fields of an object that was created with others. @returns whether the installation is known to have a way to. */
export async function wasUpdated(
  kind: Kind,
  runtime: Runtime,
  { id, label }: { readonly id: string; readonly label: string },
  fields: Values,
): Promise<boolean> {
  const { update } = knownOperations(kind, runtime.reading.settings);
  if (update === undefined) return false;
  await runtime.client().update({ kind, operation: update, id, label }, fields);
  return true;
}

/** In wire names; `null` for what has no value any more, and no default. */
function changedFields(
  kind: Kind,
  olds: Properties,
  news: Properties,
  changed: readonly string[],
): Record<string, unknown> {
  const given = Object.fromEntries(
    changed.filter((name) => name !== "additionalFields").map((name) => [name, news[name]]),
  );
  const fields = bodyOf(kind, given);
  for (const [property, field] of Object.entries(kind.wireNames)) {
    if (changed.includes(property) && !hasValue(news[property])) fields[field] = null;
  }
  if (!changed.includes("additionalFields")) return fields;
  const [before, after] = [asRecord(olds.additionalFields), asRecord(news.additionalFields)];
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isDeepStrictEqual(before[field], after[field])) fields[field] = after[field] ?? null;
  }
  return fields;
}
