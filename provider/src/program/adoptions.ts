/**
 * What the provider is told of the objects that a program adopts: it looks at all of them before the first resource is
 * registered, where the installation is known to have a way to read them.
 */
import * as pulumi from "@pulumi/pulumi";
import { asRecord, type Values } from "../base/index.js";
import { KINDS, type Kind, type SetKind } from "../kinds/index.js";
import { validate } from "../rules/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import { type Adoption, aboutWhom, eventIn } from "../state/index.js";
import type { DeclaredHere } from "./declarations.js";
import { isNotPlain } from "./plain.js";
import type { Turn } from "./turn.js";

/** A resource as the program declares it. */
export interface Adopter {
  readonly kind: Kind | SetKind;
  readonly declared: DeclaredHere;
  /** Of a set. */
  readonly members: readonly DeclaredHere[];
  readonly args: Values;
  readonly options: pulumi.CustomResourceOptions;
}

/**
 * Notes what a resource adopts. The first that waits for nothing else goes before all others of its turn, and takes the whole
 * list along: what is wrong with any of them is told before anything is registered. A preview sends nothing.
 * @param isSource whether a parent waits for nothing itself.
 */
export function noteAdoptions(
  turn: Turn,
  adopter: Adopter,
  settings: Settings,
  isSource: (parent: pulumi.Resource) => boolean,
): void {
  if (pulumi.runtime.isDryRun() || KINDS.every((kind) => knownOperations(kind, settings).read === undefined)) return;
  const { kind, declared, args, options } = adopter;
  if (knownOperations(declared.kind, settings).read !== undefined) {
    turn.adoptions.push(...("member" in kind ? ofSet(kind, adopter, settings) : ofSingle(kind, adopter, settings)));
  }
  const { parent, dependsOn, provider, deletedWith, replaceWith } = options as Record<string, unknown>;
  const isFree = [dependsOn, provider, deletedWith, replaceWith].every((option) => option === undefined);
  if (!isFree || (parent !== undefined && !isSource(parent as pulumi.Resource))) return;
  if (Object.values(args).some((value) => isNotPlain(value))) return;
  turn.forerunner ??= { declared, registered: Promise.withResolvers(), isHandedOver: false };
}

function ofSingle(kind: Kind, { declared, args }: Adopter, settings: Settings): Adoption[] {
  const id = idOf(declared);
  if (id === undefined) return [];
  const { values } = validate(args, kind.rules(settings), { isUnknown: isNotPlain });
  return [adoptionOf(declared, id, values)];
}

function ofSet(set: SetKind, { members, args }: Adopter, settings: Settings): Adoption[] {
  const adopting = members.filter((member) => idOf(member) !== undefined);
  if (adopting.length === 0) return [];
  const { values } = validate(args, set.rules(settings), { isUnknown: isNotPlain });
  const shared = {
    advertiserId: values.advertiserId,
    defaults: { ...set.defaultsIn(settings), ...asRecord(values.defaults) },
  };
  return adopting.flatMap((member) => {
    const [id, entry] = [idOf(member), asRecord(values.events)[aboutWhom(member.key).member ?? ""]];
    return id === undefined ? [] : [adoptionOf(member, id, eventIn(shared, asRecord(entry)))];
  });
}

function idOf({ existingId }: DeclaredHere): string | undefined {
  return typeof existingId === "number" || typeof existingId === "string" ? String(existingId) : undefined;
}

function adoptionOf({ kind, key }: DeclaredHere, id: string, values: Values): Adoption {
  const plain = Object.entries(values).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return {
    kind: kind.name,
    id,
    key,
    label: aboutWhom(key).label,
    values: Object.fromEntries(plain) as Adoption["values"],
  };
}

/** Called by a resource's constructor when Pulumi has got it. */
export function noteHandedOver(resource: pulumi.CustomResource, turn: Turn): void {
  const { forerunner } = turn;
  if (forerunner === undefined || forerunner.isHandedOver) return;
  forerunner.isHandedOver = true;
  resource.urn.apply(() => forerunner.registered.resolve());
}
