/**
 * Reads the output of `pulumi stack export` into one kind of record for each advertiser and conversion event, which
 * `pending` and every report use. Secret values are called secret, and never shown. Pure.
 */
import { asRecord, jsonIn, listIn, natural, own, type Values } from "../base/index.js";
import { type Kind, resourceOfType, type SetKind } from "../kinds/index.js";
import { plannedObjects } from "../plan/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  IDENTITY,
  keyOfUrn,
  kindOf,
  memberOf,
  type ResourceRef,
  readDeclared,
  readProgramContext,
  readStored,
  refAt,
  stackOf,
  type Unresolved,
} from "../state/index.js";

export interface Resource {
  urn: string;
  type: string;
  id?: string;
  /** Replaced: the next run takes it out of the state. */
  delete?: boolean;
  /** Its object is deleted or left live (`deleteBeforeReplace`): the next run replaces the resource or takes it out. */
  pendingReplacement?: boolean;
  /** Whether the object stays live when the resource goes; true of this package's unless the program says otherwise. */
  retainOnDelete?: boolean | undefined;
  /** `<URN>::<id>` of its provider resource. */
  provider?: string;
  /** Only read (`.get`): something else manages it. */
  external?: boolean;
  inputs?: Values;
  outputs?: Values;
}

export interface ExportedStack {
  /** When it was written, ISO 8601; empty where it does not say. */
  time: string;
  resources: readonly Resource[];
  /** The operations that an interrupted run had begun, the latest first (measured with engine 3.259.0). */
  pending: readonly { resource: Resource; type: string }[];
}

/**
 * @param text from `pulumi stack export`, or a file backend's `.pulumi/history/…/*.checkpoint.json` of an update.
 * @param what it is, for the error. @throws Error in words, where the text is no exported stack.
 */
export function readExport(text: string, what = "this"): ExportedStack {
  const data = jsonIn(text);
  const found = own(own(data, "checkpoint"), "latest") ?? own(data, "deployment");
  const deployment = asRecord(found);
  const { resources, pending_operations, manifest } = deployment;
  if (deployment !== found)
    throw new Error(`${what} is not what \`pulumi stack export\` prints`);
  // Pulumi writes it with the machine's own offset; every other moment is in UTC, and they are compared as texts.
  const time = new Date(shown(own(manifest, "time")));
  return {
    time: Number.isNaN(time.getTime()) ? "" : time.toISOString(),
    resources: listIn(resources),
    pending: listIn(pending_operations),
  };
}

/** `<organization>/<project>/<stack>` as our resources have it: after a rename, the former name until the next run. */
export function stackNamesIn({ resources, pending }: ExportedStack): string[] {
  const all = [...resources, ...pending.map(({ resource }) => resource)];
  const names = all.flatMap(({ inputs }) => {
    const context = readProgramContext(inputs?.[IDENTITY]);
    return context ? stackOf(context.identity) : [];
  });
  return [...new Set(names)];
}

/** One object of the platform that a state is about: a single resource, or a member of a set. */
export interface ExportedObject {
  kind: Kind;
  /** In reports: the resource's name; of a set's member, `<set>/<key>`. The URN where others of its kind share it. */
  key: string;
  ref: Omit<ResourceRef, "identity">;
  resource: Resource;
  /** Its arguments, as far as they are not secret as a whole. */
  values: Values;
  /** On the platform. */
  name: string;
  /** The platform's id, in digits; undefined while no create is known to have succeeded. */
  id: string | undefined;
  record: Unresolved | undefined;
}

/** The objects that these resources manage, in natural order. What is only read (`.get`) is another's, or nobody's. */
export function objectsIn(resources: readonly Resource[]): ExportedObject[] {
  const found = resources.filter(({ external }) => external !== true).flatMap(storedIn);
  const nameOf = ({ kind, key }: ExportedObject) => `${kind.name} ${key}`;
  const objects = [...Map.groupBy(found, nameOf).values()].flatMap((alike) => {
    const urns = new Set(alike.map(({ ref }) => ref.urn));
    if (urns.size === 1) return alike;
    return alike.map((each) => ({ ...each, key: each.ref.urn }));
  });
  return inNaturalOrder(objects, nameOf);
}

function storedIn(resource: Resource): ExportedObject[] {
  const { urn, type, id: resourceId, outputs = {} } = resource;
  const of = resourceOfType(type);
  if (!of) return [];
  const kind = kindOf(of);
  const plain = JSON.stringify(outputs, (_, value) =>
    isSecret(value) ? "(secret)" : value,
  );
  const shownOutputs = JSON.parse(plain);
  const stored = readStored(of, resourceId, shownOutputs);
  // As if the program declared it: then also those events are objects whose ids are secret.
  const objects = plannedObjects(kind, stored, readDeclared(of, shownOutputs));
  return objects.map(({ key, id, olds: values, unresolved: record }) => {
    const ref = refIn(of, urn, key);
    const name = shown(values[kind.nameProperty]);
    const isKnown = isPlatformId(id);
    return {
      kind,
      key: ref.short,
      ref,
      resource,
      values,
      name,
      id: isKnown ? id : undefined,
      record,
    };
  });
}

/** @param urn the resource's. @param key the object's, as in `PlannedObject`. */
export function refIn(of: Kind | SetKind, urn: string, key: string): ExportedObject["ref"] {
  const resourceKey = keyOfUrn(of.name, urn);
  return refAt("member" in of ? memberOf(resourceKey, key) : resourceKey, urn);
}

/** The key with which Pulumi marks secret values in an exported stack: Pulumi's own contract. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

export function isSecret(value: unknown): boolean {
  return own(value, SECRET_SIGNATURE) !== undefined;
}

export function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(`"${SECRET_SIGNATURE}":`);
}

export function inNaturalOrder<T>(items: Iterable<T>, textOf: (item: T) => string): T[] {
  return [...items].sort((one, other) => natural(textOf(one), textOf(other)));
}

export function shown(value: unknown): string {
  return String(value ?? "");
}
