/**
 * What one constructor call says, looked at once: its arguments against the rules, its options, and the objects that it
 * declares. A set is unrolled into its members here, and nowhere else in this room. This remembers nothing and prints nothing:
 * `batch.ts` judges what is declared together.
 */
import type * as pulumi from "@pulumi/pulumi";
import { asRecord, type Values } from "../base/index.js";
import { abilitiesOf, knownAdoption } from "../decision/index.js";
import { adviceFor, CATALOG_TYPE, type Kind, type SetKind } from "../kinds/index.js";
import { inWords, isContainer, isPlatformId, type Problem, validate } from "../rules/index.js";
import type { Settings } from "../settings/index.js";
import { type Briefing, eventIn, labelOf, memberOf, type TellingArguments, tellingIn } from "../state/index.js";
import { isNotPlain, isOfType, type Outputs, readIdProblem } from "./ids.js";
import { formerPlaces, isProtected, journalKeyIn, type Place } from "./place.js";

/** An object of the platform that the program declares: a resource of its own, or a member of a set. */
export interface DeclaredObject {
  readonly kind: Kind;
  readonly key: string;
  /** In the program: `purchase`, or `funnel["purchase"]`. */
  readonly name: string;
  /** The path of its `existingId` among the resource's arguments. */
  readonly existingIdPath: string;
  /** Its name on the platform; `undefined` if the program does not know it yet. */
  readonly platformName: string | undefined;
  /** Further arguments that tell it from others of its name, as far as the program knows them. */
  readonly facts: TellingArguments;
  /** The id of the live object that it adopts, or `LATER` if it may adopt one that the program does not know yet. */
  readonly adopts: string | typeof LATER | undefined;
  /** Equal for equal arguments; `undefined` if nothing is created, or if an argument is wrong. */
  readonly sameAs: string | undefined;
}

export const LATER = Symbol("known later");

/** What may name an object to adopt that the program does not know yet. */
export interface Later {
  /** The journal key of the object, or of a set whose members are not known either. */
  readonly key: string;
  readonly isSet: boolean;
  /** Holds Outputs or promises: the object's arguments, or those of all members. */
  readonly value: unknown;
}

export interface Declaration {
  /** `ConversionEvent "purchase"` */
  readonly label: string;
  /** The resource's journal key; `undefined` for a catalog, which the provider never sees. */
  readonly key: string | undefined;
  /** `get` refers to it: nothing is created, and there is no message about it. */
  readonly isRead: boolean;
  readonly setOf: Kind | undefined;
  /** Itself, or a set's members; `undefined` for a set whose members the program does not know yet. */
  readonly objects: readonly DeclaredObject[] | undefined;
  readonly later?: readonly Later[];
  /** The places at which the resource stood before, as its aliases say. */
  readonly formerly: readonly Place[];
  /** A sentence for each sort of problem. */
  readonly problems: readonly string[];
  /** How many problems the sentences tell. @default one each */
  readonly amount?: number;
  /** What is accepted and yet likely a mistake. */
  readonly warnings: readonly string[];
  /** The part of the message to the provider that does not depend on what else the program declares. */
  readonly tells: Pick<Briefing, "deletes" | "protects" | "replaceOnChanges">;
}

export interface Call {
  readonly kind: Kind | SetKind;
  readonly name: string;
  /** With ids in place of resources; `undefined` if an existing resource is read. */
  readonly args: Values | undefined;
  /** Merged with the options that the class sets by default. */
  readonly options: pulumi.CustomResourceOptions;
}

export interface Context {
  readonly settings: Settings;
  readonly outputs: Outputs;
}

/** Called by each resource's constructor, through `registration.ts`. */
export function declare(call: Call, { settings, outputs }: Context): Declaration {
  const { kind, name, args, options } = call;
  const label = labelOf(kind.name, name);
  const setOf = "member" in kind ? kind.member : undefined;
  const canDelete = abilitiesOf("member" in kind ? kind.member : kind, settings).delete;
  const { values, problems: wrong } =
    args === undefined
      ? { values: {}, problems: readIdProblem(options) }
      : validate(args, kind.rules(settings), { isUnknown: isNotPlain, advice: adviceFor });
  const problems = args === undefined ? wrong : [...wrong, ...optionProblems(options, canDelete)];
  // A catalog says it with the place in its file.
  const warnings = args === undefined || isOfType(options.parent, CATALOG_TYPE) ? [] : kind.warnings(values);
  const textOf = wrong.length > 0 || args === undefined ? undefined : (all: Values) => outputs.textOf(all);
  const key = journalKeyIn(kind, name, options.parent);
  const { replaceOnChanges, retainOnDelete } = options;
  return {
    label,
    key,
    isRead: args === undefined,
    setOf,
    objects:
      "member" in kind
        ? membersOf(kind, { key, name }, values, settings, textOf)
        : [objectOf(kind, { key, name, existingIdPath: "existingId" }, values, values.existingId, textOf)],
    later: "member" in kind ? laterInSet(key, values.events) : laterIn(key, values),
    formerly: formerPlaces(name, options),
    problems: inWords(problems),
    amount: problems.length,
    warnings: inWords(warnings).map((warning) => `${label}: ${warning}`),
    tells: {
      deletes: (retainOnDelete === false && canDelete) || undefined,
      protects: isProtected(options) || undefined,
      replaceOnChanges,
    },
  };
}

/** The members of a set, each with the arguments of a whole event: its own before the set's defaults before the API's. */
function membersOf(
  set: SetKind,
  names: Names,
  values: Values,
  settings: Settings,
  textOf: TextOf,
): DeclaredObject[] | undefined {
  if (!isContainer(values.events)) return undefined;
  const defaults = { ...set.defaultsIn(settings), ...(isContainer(values.defaults) ? values.defaults : {}) };
  const shared = { advertiserId: values.advertiserId, defaults };
  return Object.entries(values.events).map(([key, given]: [string, unknown]) => {
    const isKnown = isContainer(given);
    const entry = isKnown ? asRecord(given) : {};
    const member = {
      key: memberOf(names.key, key),
      name: memberOf(names.name, key),
      existingIdPath: `${memberOf("events", key)}.existingId`,
    };
    // A whole entry that is an Output may be anything.
    const existingId = isKnown ? entry.existingId : given;
    return objectOf(set.member, member, eventIn(shared, entry), existingId, isKnown ? textOf : undefined);
  });
}

function laterInSet(key: string, events: unknown): Later[] {
  if (!isContainer(events)) return isNotPlain(events) ? [{ key, isSet: true, value: events }] : [];
  return Object.entries(events).flatMap(([member, given]: [string, unknown]) => laterIn(memberOf(key, member), given));
}

function laterIn(key: string, given: unknown): Later[] {
  // Only of a whole entry that is an Output all of it has to be known.
  const value = isContainer(given) ? { existingId: asRecord(given).existingId } : given;
  return isNotPlain(value) ? [{ key, isSet: false, value }] : [];
}

/** What it adopts: ids, by journal key. @param value as the program knows it by now. */
export function adoptionsIn({ key, isSet }: Pick<Later, "key" | "isSet">, value: unknown): [string, string][] {
  if (isSet) {
    const members = Object.entries(asRecord(value));
    return members.flatMap(([member, entry]) => adoptionsIn({ key: memberOf(key, member), isSet: false }, entry));
  }
  const id = knownAdoption(value);
  return isPlatformId(id) ? [[key, id]] : [];
}

type Names = Pick<DeclaredObject, "key" | "name">;
type TextOf = ((values: Values) => string) | undefined;

function objectOf(
  kind: Kind,
  names: Names & Pick<DeclaredObject, "existingIdPath">,
  values: Values,
  existingId: unknown,
  textOf: TextOf,
): DeclaredObject {
  const { name: platformName, facts } = tellingIn(kind, values, new Set());
  const isId = typeof existingId === "number" || typeof existingId === "string";
  return {
    kind,
    ...names,
    platformName,
    facts,
    adopts: isId ? String(existingId) : existingId === undefined ? undefined : LATER,
    sameAs: existingId === undefined && textOf !== undefined ? `${kind.name} ${textOf(values)}` : undefined,
  };
}

/** @param mayDelete whether `retainOnDelete` may be off. A catalog's options are checked against the same rules. */
export function optionProblems(options: pulumi.CustomResourceOptions, mayDelete: boolean): Problem[] {
  return [
    // Pulumi's dynamic providers can't import: the engine does not say which provider the id belongs to.
    ...(options.import === undefined
      ? []
      : [
          {
            property: "import",
            reason: `is an option that does not work here: set the argument existingId: ${options.import}`,
          },
        ]),
    ...(options.retainOnDelete === false && !mayDelete
      ? [
          {
            property: "retainOnDelete",
            reason:
              "can't be false: the platform has no known way to delete, so a removal or a replacement would fail half-way. " +
              "Leave the option out: everything that is removed stays live on the platform",
          },
        ]
      : []),
    ...(options.retainOnDelete === false && options.deletedWith !== undefined
      ? [
          {
            property: "deletedWith",
            reason:
              "can't be given with retainOnDelete: false: if both resources are removed, Pulumi does not ask for this one to be deleted, " +
              "and it stays live on the platform. Leave one of the two options out",
          },
        ]
      : []),
  ];
}
