/**
 * What the provider is told of the objects that a program adopts: it looks at all of them before the first resource is
 * registered, where the installation is known to have a way to read them.
 */
import * as pulumi from "@pulumi/pulumi";
import { knownOperations } from "../config/operations.js";
import type { Settings } from "../config/settings.js";
import type { Adoption } from "../state/declared.js";
import { labelOf } from "../state/identity.js";
import { validate } from "../validation/validate.js";
import type { DeclaredHere } from "./declarations.js";
import { isNotPlain } from "./plain.js";
import type { Turn } from "./turn.js";

/** @returns none where nothing is adopted, or it can't be looked at: a preview sends nothing. */
function adoptionOf(
  { kind, name, key, existingId }: DeclaredHere,
  args: Readonly<Record<string, unknown>>,
  settings: Settings,
): Adoption | undefined {
  const id = typeof existingId === "number" || typeof existingId === "string" ? String(existingId) : undefined;
  if (id === undefined || pulumi.runtime.isDryRun() || knownOperations(kind, settings).read === undefined)
    return undefined;
  const { values } = validate(args, kind.rules(settings), { isUnknown: isNotPlain });
  const plain = Object.entries(values).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return {
    kind: kind.name,
    id,
    key,
    label: labelOf(kind.name, name),
    values: Object.fromEntries(plain) as Adoption["values"],
  };
}

/**
 * Notes what a resource adopts. The first that waits for nothing else goes before all others of its turn, and takes the whole
 * list along: what is wrong with any of them is told before anything is registered.
 */
export function noteAdoption(
  turn: Turn,
  declared: DeclaredHere,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions,
  settings: Settings,
): void {
  const adoption = adoptionOf(declared, args, settings);
  if (adoption === undefined) return;
  turn.adoptions.push(adoption);
  const { parent, dependsOn, provider, deletedWith, replaceWith } = options as Record<string, unknown>;
  const isFree = [parent, dependsOn, provider, deletedWith, replaceWith].every((option) => option === undefined);
  if (!isFree || Object.values(args).some((value) => isNotPlain(value) || typeof value === "object")) return;
  turn.forerunner ??= { declared, registered: Promise.withResolvers(), isHandedOver: false };
}

/** Called by a resource's constructor when Pulumi has got it. */
export function noteHandedOver(resource: pulumi.CustomResource, turn: Turn): void {
  const { forerunner } = turn;
  if (forerunner === undefined || forerunner.isHandedOver) return;
  forerunner.isHandedOver = true;
  resource.urn.apply(() => forerunner.registered.resolve());
}
