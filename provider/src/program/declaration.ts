/** A constructor call: its arguments against the rules, its options, and the objects it declares (a set's members). */
import type * as pulumi from "@pulumi/pulumi";
import { asRecord, isPlain, listIn, type Values } from "../base/index.js";
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
import { keyOf, keyOfUrn, kindOf, labelOf, memberOf, nameInUrn } from "../state/index.js";
import { type Finding, findingOf } from "./findings.js";
import { holdsOutput, isOfType, isResource, readIdProblem } from "./ids.js";
import { typesOf } from "./pulumi-internals.js";

/** For an adoption: the program does not know the id yet. */
export const KNOWN_LATER = Symbol("known later");

export interface DeclaredObject {
  readonly key: string;
  /** `undefined` if the program does not know it yet. */
  readonly platformName: string | undefined;
  /** The id of the live object that it adopts, if any. */
  readonly adopts: string | typeof KNOWN_LATER | undefined;
  /** For a set's member: the key of the object that had another key in the set before. */
  readonly formerKey?: string | undefined;
}

export interface Declaration {
  /** What is wrong with it: no lines if nothing is. */
  readonly finding: Finding;
  /** What is accepted and yet likely a mistake. */
  readonly warnings: readonly string[];
  /** `undefined` for a catalog, which the provider never sees: it declares its resources by their own constructors. */
  readonly resource: ResourceDeclaration | undefined;
}

export interface ResourceDeclaration {
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

export function declare(call: Call, settings: Settings): Declaration {
  const { kind: declared, name, args, options } = call;
  const kind = kindOf(declared);
  const canDelete = abilitiesOf(kind, settings).delete;
  const label = labelOf(declared.name, name);
  const key = keyOf(declared.name, { parentTypes: typesOf(options.parent), name });
  const { aliasNames, formerKeys } = formerOf(call);
  const resource = {
    key,
    kind,
    isRead: args === undefined,
    objects: [],
    aliasNames,
    formerKeys: formerKeys.filter((former) => former !== key),
    deletes: options.retainOnDelete === false && canDelete,
  };
  if (args === undefined) {
    return { finding: findingOf(label, readIdProblem(options)), warnings: [], resource };
  }
  const checked = checkArguments(declared, args, settings, { isUnknown: holdsOutput });
  const { values } = checked;
  const problems = [...checked.problems, ...optionProblems(options, canDelete)];
  // A catalog warns with the place in its file.
  const isOfCatalog = isOfType(options.parent, CATALOG_TYPE);
  const warnings = isOfCatalog ? [] : problemMessages(warningsIn(declared, values));
  const isSet = kind !== declared;
  const objects = isSet
    ? membersOf(kind, key, values.events)
    : [declaredObject(kind, key, values)];
  return {
    finding: findingOf(label, problems),
    warnings: warnings.map((warning) => `${label}: ${warning}`),
    resource: { ...resource, objects },
  };
}

function membersOf(kind: Kind, setKey: string, events: unknown): DeclaredObject[] | undefined {
  if (!isContainer(events)) return undefined;
  return Object.entries(events).map(([key, given]: [string, unknown]) => {
    // A whole entry that is an Output may be anything.
    const entry = isContainer(given) ? asRecord(given) : { existingId: given };
    const { formerKey } = entry;
    const former = typeof formerKey === "string" ? memberOf(setKey, formerKey) : undefined;
    return { ...declaredObject(kind, memberOf(setKey, key), entry), formerKey: former };
  });
}

function declaredObject(kind: Kind, key: string, values: Values): DeclaredObject {
  const platformName = displayName(kind, values, new Set());
  return { key, platformName, adopts: adoptedIn(values) };
}

function adoptedIn({ existingId }: Values): DeclaredObject["adopts"] {
  if (existingId === undefined || existingId === null) return undefined;
  if (isPlain(existingId)) return String(existingId);
  return KNOWN_LATER;
}

/** Aliases with Outputs, and of parents, are left out: what these mean shows in Pulumi's preview. */
function formerOf({
  kind,
  name,
  options,
}: Call): Pick<ResourceDeclaration, "aliasNames" | "formerKeys"> {
  const aliasNames: string[] = [];
  const formerKeys: string[] = [];
  for (const alias of listIn(options.aliases)) {
    if (typeof alias === "string") {
      if (alias.startsWith("urn:")) {
        aliasNames.push(nameInUrn(alias));
        formerKeys.push(keyOfUrn(kind.name, alias));
      }
      continue;
    }
    const { name: formerName = name, parent = options.parent, parentUrn } = asRecord(alias);
    if (typeof formerName !== "string") continue;
    aliasNames.push(formerName);
    const isParentKnown = parent === undefined || isResource(parent);
    if (!isParentKnown || parentUrn !== undefined) continue;
    formerKeys.push(keyOf(kind.name, { parentTypes: typesOf(parent), name: formerName }));
  }
  return { aliasNames, formerKeys };
}

const CANT_DELETE =
  "can't be false: the platform has no known way to delete, so a removal or a replacement would fail half-way. " +
  "Leave the option out: everything that is removed stays live on the platform";

/** @param mayDelete whether `retainOnDelete` may be off. A catalog's options are checked against the same rules. */
export function optionProblems(
  options: pulumi.CustomResourceOptions,
  mayDelete: boolean,
): Problem[] {
  const { import: id, retainOnDelete } = options;
  const problems: Problem[] = [];
  if (id !== undefined) {
    // Pulumi's dynamic providers can't import: the engine does not say which provider the id belongs to.
    const reason = `is an option that does not work here: set the argument existingId: ${id}`;
    problems.push({ property: "import", reason });
  }
  if (retainOnDelete === false && !mayDelete) {
    problems.push({ property: "retainOnDelete", reason: CANT_DELETE });
  }
  return problems;
}
