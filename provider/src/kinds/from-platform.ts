/** Compares an object as the platform returns it, in wire names, with our arguments. Never throws. Pure. */
import {
  asRecord,
  hasValue,
  isSameValue,
  mapValues,
  own,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { asAccepted, defaultOf, formsOf, isContainer } from "../rules/index.js";
import type { Kind, RuleSettings } from "./kind.js";

/**
 * Compares the arguments that were given or have a default here, if the platform's record has them too.
 * @returns those that differ, with the platform's values; `undefined` for an argument without one there.
 */
export function differencesIn(
  kind: Kind,
  limits: RuleSettings,
  values: Values,
  record: Values,
) {
  const rules = kind.rules(limits).shape;
  const read = argumentsFrom(kind, limits, record);
  const found: Record<string, unknown> = {};
  for (const [property, field] of Object.entries(kind.wireNames)) {
    const ours = values[property];
    if (!hasValue(ours) || !Object.hasOwn(record, field)) continue;
    const theirs = read[property] ?? defaultOf(rules[property]);
    if (!isSameValue(ours, theirs)) found[property] = read[property];
  }
  const ours = asRecord(values.additionalFields);
  // A field that the record lacks counts as unchanged.
  const theirs = likeOurs(ours, { ...ours, ...record });
  if (!isSameValue(ours, theirs)) found.additionalFields = theirs;
  return found;
}

/** Whether the platform's record has all of these arguments, so that their differences are known. */
export function hasAll({ wireNames }: Kind, values: Values, record: Values) {
  const given = Object.entries(wireNames).flatMap(([property, field]) =>
    hasValue(values[property]) ? field : [],
  );
  const fields = [...given, ...Object.keys(asRecord(values.additionalFields))];
  return fields.every((field) => Object.hasOwn(record, field));
}

/** Every argument in the platform's record, in the form that a program writes. */
export function argumentsFrom(kind: Kind, limits: RuleSettings, record: Values) {
  const rules = kind.rules(limits).shape;
  return withoutUndefined(
    mapValues(kind.wireNames, (field, property) =>
      asAccepted(rules[property], own(record, field)),
    ),
  );
}

function likeOurs(ours: unknown, theirs: unknown): unknown {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return theirs.map((each, at) => likeOurs(ours[at] ?? each, each));
  const isList = Array.isArray(ours) || Array.isArray(theirs);
  if (isContainer(ours) && isContainer(theirs) && !isList)
    return mapValues({ ...ours }, (each, name) =>
      likeOurs(each, own(theirs, name) ?? null),
    );
  return formsOf(theirs).find((each) => typeof each === typeof ours) ?? theirs ?? null;
}
