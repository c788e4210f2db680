/**
 * A constructor call: checks its arguments and options, and finds the objects that it declares (a set's members). The
 * last functions handle values that exist only in this process: Outputs, promises, and resources given as ids.
 */
import * as pulumi from "@pulumi/pulumi";
import { asRecord, hasValue, isPlain, listIn, type Values } from "../base/index.js";
import {
  type AnyKind,
  asksToDelete,
  checkArguments,
  displayName,
  type Kind,
  typeTokenOf,
} from "../kinds/index.js";
import {
  isContainer,
  isPlatformId,
  type Problem,
  problemMessages,
  show,
} from "../rules/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import {
  keyOf,
  keyOfUrn,
  kindOf,
  labelOf,
  memberOf,
  NO_DELETE,
  TIMEOUTS_IGNORED,
  UNKNOWN,
} from "../state/index.js";
import { typesOf } from "./pulumi-internals.js";

export interface DeclaredObject {
  key: string;
  /** The object's former keys in the journal, by the resource's aliases or a `formerKey`. */
  formerKeys: readonly string[];
  /** The object's kind and, as far as the program knows it, its name on the platform. */
  kindAndName: string;
  /** The id in `existingId`, if any; `UNKNOWN` if the program does not know it yet. */
  adopts: string | undefined;
}

/** The problems of a resource or catalog; `lines` is empty if there are none. */
export interface Finding {
  title: string;
  lines: readonly string[];
}

export interface Declaration extends Finding {
  /** A catalog's likely mistakes, with their places. The provider process shows those of other resources. */
  warnings?: readonly string[];
  /** Undefined for a catalog, whose resources have constructors of their own, and for a resource that is only read. */
  resource?: ResourceDeclaration;
}

/** `formerKeys` are only those that the resource's own aliases give as plain text. */
export interface ResourceDeclaration extends Pick<DeclaredObject, "key" | "formerKeys"> {
  kind: Kind;
  /** The object of a single resource, or a set's members; for a set whose members are not known yet, the set. */
  objects: readonly DeclaredObject[];
}

export interface Call {
  kind: AnyKind;
  name: string;
  /** The arguments, with ids in place of resources. */
  args: Values;
  options: pulumi.CustomResourceOptions;
}

export function declare(call: Call, settings: Settings) {
  const { kind: declared, name, args, options } = call;
  const kind = kindOf(declared);
  const canDelete = knownOperations(kind, settings).delete !== undefined;
  const key = keyOf(declared.name, { parentTypes: typesOf(options.parent), name });
  const formerKeys = formerKeysOf(call).filter((former) => former !== key);
  const { values, problems } = checkArguments(declared, args, settings, {
    isUnknown: holdsOutput,
  });
  const ofOptions = optionFindings(options, asksToDelete(values), canDelete);
  const resource = { key, kind, formerKeys };
  const objects =
    kind === declared
      ? [{ ...declaredObject(kind, values), key, formerKeys }]
      : membersOf(resource, values.events);
  return {
    title: labelOf(declared.name, name),
    lines: problemMessages([...problems, ...ofOptions.problems]),
    // Likely mistakes are the provider's to name: it also knows the values of Outputs.
    warnings: problemMessages(ofOptions.warnings),
    resource: { ...resource, objects },
  };
}

function membersOf(
  { kind, key: set, formerKeys: formerSets }: Omit<ResourceDeclaration, "objects">,
  events: unknown,
) {
  // Members that are not known yet may adopt any object.
  if (!isContainer(events))
    return [{ key: set, formerKeys: formerSets, kindAndName: "", adopts: UNKNOWN }];
  return Object.entries(events).map(([member, given]: [string, unknown]) => {
    // An entry that is an Output as a whole may adopt any object.
    const entry = isContainer(given) ? asRecord(given) : { existingId: given };
    const { formerKey } = entry;
    const formerKeys = formerSets.map((former) => memberOf(former, member));
    if (typeof formerKey === "string") formerKeys.push(memberOf(set, formerKey));
    return { ...declaredObject(kind, entry), key: memberOf(set, member), formerKeys };
  });
}

function declaredObject(kind: Kind, values: Values) {
  const { existingId } = values;
  let adopts: string | undefined;
  if (hasValue(existingId)) adopts = isPlain(existingId) ? String(existingId) : UNKNOWN;
  return {
    kindAndName: `${kind.name} ${displayName(kind, values, new Set()) ?? ""}`,
    adopts,
  };
}

/** Aliases with Outputs, and those of parents, are left out: only Pulumi's preview shows their effect. */
function formerKeysOf({ kind, name, options }: Call) {
  return listIn(options.aliases).flatMap((alias) => {
    if (typeof alias === "string") return keyOfUrn(kind.name, alias);
    const { name: formerName = name, parentUrn, ...others } = asRecord(alias);
    // `pulumi.rootStackResource` is undefined.
    const given = Object.hasOwn(others, "parent") ? others.parent : options.parent;
    const parent = parentUrn ?? given;
    if (typeof formerName !== "string" || pulumi.Output.isInstance(parent)) return [];
    return keyOf(kind.name, { parentTypes: typesOf(parent), name: formerName });
  });
}

/**
 * The arguments and options of a resource or catalog by which the engine and the provider delete alike. An option that
 * keeps objects wins over the argument, also if its value is undefined. Without one, the engine takes the parent's.
 * `ignoreChanges` would give the provider the state's argument, and the option follows from the program's: so it keeps.
 */
export function withDeletionPolicy(args: Values, options: pulumi.CustomResourceOptions) {
  const { retainOnDelete: _, ignoreChanges: ignored = [], ...others } = options;
  const ignoreChanges = ignored.filter((path) => !isDeletionPolicy(path));
  const opts: pulumi.CustomResourceOptions = { ...others, ignoreChanges };
  const props = keepsObjects(options) ? { ...args, deletionPolicy: undefined } : args;
  // By default nothing is deleted on the platform: previews then show Pulumi's own [retain].
  if (!asksToDelete(props)) opts.retainOnDelete = true;
  return { props, opts };
}

function keepsObjects({ ignoreChanges = [], ...options }: pulumi.CustomResourceOptions) {
  const isKept =
    Object.hasOwn(options, "retainOnDelete") && options.retainOnDelete !== false;
  return isKept || ignoreChanges.some(isDeletionPolicy);
}

function isDeletionPolicy(path: string) {
  return path.includes("deletionPolicy");
}

/**
 * The problems of a resource's or catalog's options, and the warnings.
 * @param deletes whether the `deletionPolicy` is `delete`. @param canDelete whether a delete is known.
 */
export function optionFindings(
  options: pulumi.CustomResourceOptions,
  deletes: boolean,
  canDelete: boolean,
) {
  const { import: id, retainOnDelete, deletedWith, customTimeouts } = options;
  const problems: Problem[] = [];
  const warnings = [];
  const refuse = (property: string, reason: string) => {
    problems.push({ property, reason });
  };
  // Dynamic providers can't import: the engine gives an id alone, and does not say which of them it is for.
  if (id !== undefined)
    refuse("import", `isn't supported. Set the argument existingId: ${id}`);
  // An untyped program may pass a text.
  const mayDelete = retainOnDelete === false && deletes;
  if (hasValue(retainOnDelete) && retainOnDelete !== true && !mayDelete)
    refuse(
      "retainOnDelete",
      `must be true, or false beside deletionPolicy: "delete"; got ${show(retainOnDelete)}. Remove it, or set deletionPolicy`,
    );
  if (deletedWith !== undefined && canDelete)
    refuse(
      "deletedWith",
      "isn't supported with a delete in advertising:operations. Remove this option",
    );
  let reason = "";
  if (!canDelete) reason = NO_DELETE;
  if (keepsObjects(options))
    reason = '"delete" has no effect beside the option retainOnDelete or ignoreChanges';
  if (deletes && reason !== "") warnings.push({ property: "deletionPolicy", reason });
  if (customTimeouts)
    warnings.push({ property: "customTimeouts", reason: TIMEOUTS_IGNORED });
  return { problems, warnings };
}

/** Deeper than any request field. The search stops here in a value that contains itself; its rule then refuses it. */
const MAX_NESTING = 20;

/** Whether `value` is or contains an Output or a promise, so that the program does not know it yet. */
export function holdsOutput(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  if (depth === MAX_NESTING) return false;
  return Object.values(value).some((entry) => holdsOutput(entry, depth + 1));
}

/** Whether `value` is a resource with this type token, of whichever copy of this package. */
export function isOfType(value: unknown, typeToken: string) {
  return pulumi.Resource.isInstance(value) && asRecord(value).__pulumiType === typeToken;
}

/**
 * `args`, with each resource that was given instead of an id replaced by its id Output, which keeps the dependency. A
 * resource of a wrong type becomes a text that no rule accepts. A resource inside an Output is left to Pulumi, which
 * passes its id to the provider.
 */
export function withIds(of: AnyKind, args: Values) {
  const ids = { ...args };
  const { idArguments, owner, ownerKind } = kindOf(of);
  for (const name of [...idArguments, "existingId"]) {
    const value = args[name];
    if (!pulumi.Resource.isInstance(value)) continue;
    const properties = asRecord(value);
    const fits =
      ownerKind && name === owner && isOfType(value, typeTokenOf(ownerKind.name));
    ids[name] = fits
      ? properties[ownerKind.idProperty]
      : Symbol(`a resource of type ${properties.__pulumiType}`);
  }
  return ids;
}

/**
 * The id of a resource that is only read, as a text, since Pulumi takes no numbers. An invalid one becomes a description:
 * {@link readFindings} refuses it, or the provider if it comes from an Output.
 */
export function readIdOf(id: pulumi.Input<pulumi.ID | number>) {
  const textOf = (known: unknown) =>
    isPlatformId(String(known)) ? String(known) : show(known);
  return holdsOutput(id) ? pulumi.output(id).apply(textOf) : textOf(id);
}

/** @param id of a resource that is only read. @returns its problems. */
export function readFindings(id: pulumi.Input<pulumi.ID>) {
  if (typeof id !== "string" || isPlatformId(id)) return [];
  return [`id expected an integer from 0; got ${id}`];
}
