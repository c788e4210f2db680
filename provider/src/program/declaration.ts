/**
 * A constructor call: its arguments against the rules, its options, and the objects it declares (a set's members). At the
 * end, values as programs have them: Outputs and promises, and ids as resources, which only this process recognises.
 */
import * as pulumi from "@pulumi/pulumi";
import { asRecord, hasValue, isPlain, listIn, type Values } from "../base/index.js";
import {
  CATALOG_TYPE,
  checkArguments,
  displayName,
  type Kind,
  type SetKind,
  typeTokenOf,
  warningsIn,
} from "../kinds/index.js";
import {
  DescribedInvalidValue,
  isContainer,
  isPlatformId,
  type Problem,
  problemMessages,
  show,
} from "../rules/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import { keyOf, keyOfUrn, kindOf, labelOf, memberOf, UNKNOWN } from "../state/index.js";
import { typesOf } from "./pulumi-internals.js";

export interface DeclaredObject {
  key: string;
  /** The journal's keys that it had before, by its resource's aliases or a `formerKey`. */
  formerKeys: readonly string[];
  /** Its kind and, as far as the program knows it, its name on the platform. */
  kindAndName: string;
  /** The id of the live object that it adopts, if any; `UNKNOWN` if the program does not know it yet. */
  adopts: string | undefined;
}

/** What is wrong with a resource or catalog; no lines if nothing is. */
export interface Finding {
  title: string;
  lines: readonly string[];
}

export interface Declaration extends Finding {
  /** What is accepted and yet likely a mistake. */
  warnings: readonly string[];
  /** None for a catalog, which declares its resources by their own constructors, and for what is only read. */
  resource?: ResourceDeclaration;
}

/** Former keys as far as its own aliases say them in plain text. */
export interface ResourceDeclaration extends Pick<DeclaredObject, "key" | "formerKeys"> {
  kind: Kind;
  /** Itself, or a set's members; the set, while the program does not know its members yet. */
  objects: readonly DeclaredObject[];
  /** Whether the option `retainOnDelete` is off, if a delete is known. */
  deletes: boolean;
}

export interface Call {
  kind: Kind | SetKind;
  name: string;
  /** With ids in place of resources. */
  args: Values;
  options: pulumi.CustomResourceOptions;
}

export function declare(call: Call, settings: Settings): Declaration {
  const { kind: declared, name, args, options } = call;
  const kind = kindOf(declared);
  const canDelete = knownOperations(kind, settings).delete !== undefined;
  const title = labelOf(declared.name, name);
  const key = keyOf(declared.name, { parentTypes: typesOf(options.parent), name });
  const formerKeys = formerKeysOf(call).filter((former) => former !== key);
  const deletes = options.retainOnDelete === false && canDelete;
  const resource = { key, kind, formerKeys, deletes };
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
  { kind, key: set, formerKeys: formerSets }: Omit<ResourceDeclaration, "objects">,
  events: unknown,
): DeclaredObject[] {
  // Any of them may adopt any object.
  if (!isContainer(events))
    return [{ key: set, formerKeys: formerSets, kindAndName: "", adopts: UNKNOWN }];
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
  const kindAndName = `${kind.name} ${displayName(kind, values, new Set()) ?? ""}`;
  let adopts: string | undefined;
  if (hasValue(existingId)) adopts = isPlain(existingId) ? String(existingId) : UNKNOWN;
  return { kindAndName, adopts };
}

/** Aliases with Outputs, and of parents, are left out: what these mean shows in Pulumi's preview. */
function formerKeysOf({ kind, name, options }: Call) {
  return listIn(options.aliases).flatMap((alias) => {
    if (typeof alias === "string") return keyOfUrn(kind.name, alias);
    const { name: formerName = name, parent = options.parent, parentUrn } = asRecord(alias);
    if (typeof formerName !== "string" || parentUrn !== undefined) return [];
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
      reason: `isn't supported. Set the argument existingId: ${id}`,
    });
  if (retainOnDelete === false && !mayDelete)
    problems.push({
      property: "retainOnDelete",
      reason:
        "can't be false: advertising:operations names no delete. Leave it out; removed objects stay live",
    });
  return problems;
}

/** Deeper than any request field: a value that holds itself ends here, and its rule refuses it. */
const MAX_NESTING = 20;

/** Whether `value` is, or holds, an Output or a promise, and so is not known in the program yet. */
export function holdsOutput(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  if (depth === MAX_NESTING) return false;
  return Object.values(value).some((entry) => holdsOutput(entry, depth + 1));
}

/** Whether `value` is a resource with this type token, of whichever copy of this package. */
export function isOfType(value: unknown, typeToken: string): boolean {
  return pulumi.Resource.isInstance(value) && asRecord(value).__pulumiType === typeToken;
}

/**
 * `args`, with the id's Output, which keeps the dependency, for each resource that stands for its id. A resource of
 * another kind becomes words that no rule accepts. Of a resource in an Output, Pulumi itself passes on the id.
 */
export function idsOf(kind: Kind | SetKind, args: Values): Record<string, unknown> {
  const ids: Record<string, unknown> = { ...args };
  for (const name of [...kind.exactIds, "existingId"]) {
    const value = args[name];
    if (!pulumi.Resource.isInstance(value)) continue;
    const expected = kind.references[name];
    const properties = asRecord(value);
    const fits = expected !== undefined && isOfType(value, typeTokenOf(expected.name));
    ids[name] = fits
      ? properties[expected.idProperty]
      : new DescribedInvalidValue(`a resource of type ${properties.__pulumiType}`);
  }
  return ids;
}

/** The id of a resource that is read: Pulumi takes texts only. The provider refuses what is no id of the platform. */
export function readIdOf(id: pulumi.Input<pulumi.ID | number>): pulumi.Output<pulumi.ID> {
  return pulumi.output(id as pulumi.Input<pulumi.ID>).apply((known) => {
    return isPlatformId(String(known)) ? String(known) : show(known);
  });
}
