/** A constructor call: its arguments against the rules, its options, and the objects it declares (a set's members). */
import type * as pulumi from "@pulumi/pulumi";
import { asRecord, isPlain, type Values } from "../base/index.js";
import {
  CATALOG_TYPE,
  checkArguments,
  displayName,
  type Kind,
  type ResourceName,
  type SetKind,
} from "../kinds/index.js";
import { abilitiesOf } from "../plan/index.js";
import { isContainer, type Problem, problemMessages } from "../rules/index.js";
import type { Settings } from "../settings/index.js";
import { keyOf, keyOfUrn, labelOf, memberOf, nameInUrn } from "../state/index.js";
import { type Finding, findingOf } from "./findings.js";
import { isNotPlain, isOfType, isResource, readIdProblem } from "./ids.js";
import { typesOf } from "./place.js";

/** `formerKey`: as that of the object, of a set's member that has another key in its set now. */
export type DeclaredObject = ReturnType<typeof objectOf> & {
  readonly formerKey?: string | undefined;
};

/** It may adopt an object whose id the program does not know yet. */
export const LATER = Symbol("known later");

export interface Declaration {
  /** What is wrong with it: no lines if nothing is. */
  readonly finding: Finding;
  /** What is accepted and yet likely a mistake. */
  readonly warnings: readonly string[];
  /** `undefined` for a catalog, which the provider never sees: it declares its resources by their own constructors. */
  readonly resource: DeclaredResource | undefined;
}

export interface DeclaredResource {
  readonly key: string;
  readonly kind: Kind;
  /** `get` refers to it: nothing is created, and there is no message about it. */
  readonly isRead: boolean;
  /** Itself, or a set's members; `undefined` for a set whose members the program does not know yet. */
  readonly objects: readonly DeclaredObject[] | undefined;
  /** The names that it had before, as far as its own aliases say them in plain text. */
  readonly aliasNames: readonly string[];
  /** The journal's keys under these aliases. */
  readonly formerKeys: readonly string[];
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  readonly deletes: boolean;
}

export interface Call {
  readonly kind: Kind | SetKind;
  readonly name: string;
  /** With ids in place of resources; `undefined` if an existing resource is read. */
  readonly args: Values | undefined;
  readonly options: pulumi.CustomResourceOptions;
}

export function declare(
  { kind: declared, name, args, options }: Call,
  settings: Settings,
): Declaration {
  const isSet = "member" in declared;
  const kind = isSet ? declared.member : declared;
  const canDelete = abilitiesOf(kind, settings).delete;
  const isRead = args === undefined;
  const { values, problems } = isRead
    ? { values: {}, problems: readIdProblem(options) }
    : checkArguments(declared, args, settings, { isUnknown: isNotPlain });
  const label = labelOf(declared.name, name);
  // A catalog says it with the place in its file.
  const warnings =
    isRead || isOfType(options.parent, CATALOG_TYPE) ? [] : declared.warnings(values);
  const key = keyOf(declared.name, { parentTypes: typesOf(options.parent), name });
  return {
    finding: findingOf(
      label,
      isRead ? problems : [...problems, ...optionProblems(options, canDelete)],
    ),
    warnings: problemMessages(warnings).map((warning) => `${label}: ${warning}`),
    resource: {
      key,
      kind,
      isRead,
      objects: isSet ? membersOf(kind, key, values.events) : [objectOf(kind, key, values)],
      aliasNames: aliasNamesIn(options.aliases),
      formerKeys: formerKeysIn(declared.name, name, options).filter((former) => former !== key),
      deletes: options.retainOnDelete === false && canDelete,
    },
  };
}

function membersOf(kind: Kind, setKey: string, events: unknown) {
  if (!isContainer(events)) return undefined;
  return Object.entries(events).map(([key, given]: [string, unknown]) => {
    // A whole entry that is an Output may be anything.
    const entry = isContainer(given) ? asRecord(given) : { existingId: given };
    const { formerKey } = entry;
    const former = typeof formerKey === "string" ? memberOf(setKey, formerKey) : undefined;
    return { ...objectOf(kind, memberOf(setKey, key), entry), formerKey: former };
  });
}

/** @returns `adopts` the id of a live object. What the program does not know yet has no `platformName`. */
function objectOf(kind: Kind, key: string, values: Values) {
  const { existingId } = values;
  const later: typeof LATER | undefined =
    existingId === undefined || existingId === null ? undefined : LATER;
  const platformName = displayName(kind, values, new Set());
  return { key, platformName, adopts: isPlain(existingId) ? String(existingId) : later };
}

/** Outputs may name anything, and aliases of parents are not followed: what these mean shows in Pulumi's preview. */
function aliasNamesIn(aliases: unknown): string[] {
  if (!Array.isArray(aliases)) return [];
  const names = aliases.map((alias: unknown) =>
    typeof alias === "string" ? nameInUrn(alias) : asRecord(alias).name,
  );
  return names.filter((name) => typeof name === "string");
}

/** Aliases with Outputs, and of parents, are left out. */
function formerKeysIn(
  resource: ResourceName,
  name: string,
  options: pulumi.CustomResourceOptions,
): string[] {
  const { aliases, parent } = options;
  if (!Array.isArray(aliases)) return [];
  return aliases.flatMap((alias: unknown) => {
    if (typeof alias === "string")
      return alias.startsWith("urn:") ? [keyOfUrn(resource, alias)] : [];
    const { name: formerName = name, parent: formerParent = parent, parentUrn } = asRecord(alias);
    if (typeof formerName !== "string" || parentUrn !== undefined) return [];
    if (formerParent !== undefined && !isResource(formerParent)) return [];
    return [keyOf(resource, { parentTypes: typesOf(formerParent), name: formerName })];
  });
}

const CANT_DELETE =
  "can't be false: the platform has no known way to delete, so a removal or a replacement would fail half-way. " +
  "Leave the option out: everything that is removed stays live on the platform";

/** @param mayDelete whether `retainOnDelete` may be off. A catalog's options are checked against the same rules. */
export function optionProblems(
  { import: id, retainOnDelete }: pulumi.CustomResourceOptions,
  mayDelete: boolean,
) {
  const problems: Problem[] = [];
  // Pulumi's dynamic providers can't import: the engine does not say which provider the id belongs to.
  const reason = `is an option that does not work here: set the argument existingId: ${id}`;
  if (id !== undefined) problems.push({ property: "import", reason });
  if (retainOnDelete === false && !mayDelete)
    problems.push({ property: "retainOnDelete", reason: CANT_DELETE });
  return problems;
}
