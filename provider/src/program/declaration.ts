/** A constructor call: its arguments against the rules, its options, and the objects it declares (a set's members). */
import type * as pulumi from "@pulumi/pulumi";
import { asRecord, hasValue, isPlain, listIn, type Values } from "../base/index.js";
import {
  CATALOG_TYPE,
  checkArguments,
  displayName,
  type Kind,
  type SetKind,
  warningsIn,
} from "../kinds/index.js";
import { abilitiesOf } from "../plan/index.js";
import { isContainer, type Problem, problemMessages } from "../rules/index.js";
import type { Settings } from "../settings/index.js";
import { keyOf, keyOfUrn, kindOf, labelOf, memberOf, UNKNOWN } from "../state/index.js";
import type { Finding } from "./findings.js";
import { holdsOutput, isOfType, isResource } from "./ids.js";
import { typesOf } from "./pulumi-internals.js";

export interface DeclaredObject {
  readonly key: string;
  /** The journal's keys that it had before, by its resource's aliases or a `formerKey`. */
  readonly formerKeys: readonly string[];
  /** Its kind and, as far as the program knows it, its name on the platform. */
  readonly named: string;
  /** The id of the live object that it adopts, if any; `UNKNOWN` if the program does not know it yet. */
  readonly adopts: string | undefined;
}

export interface Declaration extends Finding {
  /** What is accepted and yet likely a mistake. */
  readonly warnings: readonly string[];
  /** None for a catalog, which declares its resources by their own constructors, and for what is only read. */
  readonly resource?: ResourceDeclaration;
}

export interface ResourceDeclaration {
  readonly key: string;
  readonly kind: Kind;
  /** Itself, or a set's members; `undefined` for a set whose members the program does not know yet. */
  readonly objects: readonly DeclaredObject[] | undefined;
  /** The journal's keys that it had before, as far as its own aliases say them in plain text. */
  readonly formerKeys: readonly string[];
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  readonly deletes: boolean;
}

export interface Call {
  readonly kind: Kind | SetKind;
  readonly name: string;
  /** With ids in place of resources. */
  readonly args: Values;
  readonly options: pulumi.CustomResourceOptions;
}

export function declare(call: Call, settings: Settings): Declaration {
  const { kind: declared, name, args, options } = call;
  const kind = kindOf(declared);
  const canDelete = abilitiesOf(kind, settings).delete;
  const title = labelOf(declared.name, name);
  const key = keyOf(declared.name, { parentTypes: typesOf(options.parent), name });
  const formerKeys = formerKeysOf(call).filter((former) => former !== key);
  const deletes = options.retainOnDelete === false && canDelete;
  const resource = { key, kind, objects: [], formerKeys, deletes };
  const { values, problems } = checkArguments(declared, args, settings, {
    isUnknown: holdsOutput,
  });
  // A catalog warns with the place in its file.
  const isOfCatalog = isOfType(options.parent, CATALOG_TYPE);
  const objects =
    kind === declared
      ? [{ ...declaredObject(kind, values), key, formerKeys }]
      : membersOf(resource, values.events);
  return {
    title,
    lines: problemMessages([...problems, ...optionProblems(options, canDelete)]),
    warnings: isOfCatalog ? [] : problemMessages(warningsIn(declared, values)),
    resource: { ...resource, objects },
  };
}

function membersOf(
  { kind, key: set, formerKeys: formerSets }: ResourceDeclaration,
  events: unknown,
): DeclaredObject[] | undefined {
  if (!isContainer(events)) return undefined;
  return Object.entries(events).map(([member, given]: [string, unknown]) => {
    // A whole entry that is an Output may be anything.
    const entry = isContainer(given) ? asRecord(given) : { existingId: given };
    const { formerKey } = entry;
    const formerKeys = formerSets.map((former) => memberOf(former, member));
    if (typeof formerKey === "string") formerKeys.push(memberOf(set, formerKey));
    return { ...declaredObject(kind, entry), key: memberOf(set, member), formerKeys };
  });
}

function declaredObject(kind: Kind, values: Values) {
  const { existingId } = values;
  const named = `${kind.name} ${displayName(kind, values, new Set()) ?? ""}`;
  let adopts: string | undefined;
  if (hasValue(existingId)) adopts = isPlain(existingId) ? String(existingId) : UNKNOWN;
  return { named, adopts };
}

/** Aliases with Outputs, and of parents, are left out: what these mean shows in Pulumi's preview. */
function formerKeysOf({ kind, name, options }: Call): string[] {
  return listIn(options.aliases).flatMap((alias) => {
    if (typeof alias === "string")
      return alias.startsWith("urn:") ? keyOfUrn(kind.name, alias) : [];
    const { name: formerName = name, parent = options.parent, parentUrn } = asRecord(alias);
    const isParentKnown = parent === undefined || isResource(parent);
    if (typeof formerName !== "string" || !isParentKnown || parentUrn !== undefined)
      return [];
    return keyOf(kind.name, { parentTypes: typesOf(parent), name: formerName });
  });
}

/** @param mayDelete whether `retainOnDelete` may be off. A catalog's options are checked against the same rules. */
export function optionProblems(
  { import: id, retainOnDelete }: pulumi.CustomResourceOptions,
  mayDelete: boolean,
): Problem[] {
  const problems: Problem[] = [];
  if (id !== undefined)
    problems.push({
      property: "import",
      // Pulumi's dynamic providers can't: the engine does not say which provider the id belongs to.
      reason: `is an option that does not work here: set the argument existingId: ${id}`,
    });
  if (retainOnDelete === false && !mayDelete)
    problems.push({
      property: "retainOnDelete",
      reason:
        "can't be false: the platform has no known delete. Leave the option out; what is removed stays live",
    });
  return problems;
}
