/**
 * What `pulumi stack export` prints, and the advertisers and conversion events in it: one shape of an object for
 * `pending` and for every report. What is secret in the state is called secret, and never shown. Pure.
 */
import { asRecord, jsonIn, listIn, natural, own, type Values } from "../base/index.js";
import {
  advertiser,
  conversionEvent,
  type Kind,
  type KindName,
  kindOfType,
  setOfType,
} from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  completeArguments,
  IDENTITY,
  keyOfUrn,
  memberOf,
  nameInUrn,
  type ResourceRef,
  readProgramContext,
  readStoredSet,
  refAt,
  type StoredSet,
  stackOf,
  type Unresolved,
  unresolvedIn,
} from "../state/index.js";

export interface Resource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  /** Replaced: the next run takes it out of the state. */
  readonly delete?: boolean;
  /** Its object is deleted or left live (`deleteBeforeReplace`): the next run replaces the resource or takes it out. */
  readonly pendingReplacement?: boolean;
  /** Whether the object stays live when the resource goes; true of this package's unless the program says otherwise. */
  readonly retainOnDelete?: boolean | undefined;
  /** Only read (`.get`): something else manages it. */
  readonly external?: boolean;
  readonly inputs?: Values;
  readonly outputs?: Values;
}

export interface ExportedStack {
  /** When it was written, ISO 8601; empty where it does not say. */
  readonly time: string;
  readonly resources: readonly Resource[];
  /** What an interrupted run was doing, the latest first (measured with engine 3.259.0). */
  readonly pending: readonly { readonly resource: Resource; readonly type: string }[];
}

/**
 * @param text from `pulumi stack export`, or a file backend's `.pulumi/history/…/*.checkpoint.json` of an update.
 * @param what it is, for the error. @throws Error in words, where the text is no exported stack.
 */
export function readExport(text: string, what = "this"): ExportedStack {
  const data = jsonIn(text);
  const deployment = own(own(data, "checkpoint"), "latest") ?? own(data, "deployment");
  const { resources, pending_operations, manifest } = asRecord(deployment);
  const pending = listIn<ExportedStack["pending"][number]>(pending_operations);
  const all = [...listIn(resources), ...pending.map((each) => own(each, "resource"))];
  const areResources = all.every((each) => typeof own(each, "urn") === "string");
  if (asRecord(deployment) !== deployment || !areResources)
    throw new Error(`${what} is not what \`pulumi stack export\` prints`);
  return { time: String(own(manifest, "time") ?? ""), resources: listIn(resources), pending };
}

/** `<organization>/<project>/<stack>` as our resources have it: after a rename, the former name until the next run. */
export function stackNamesIn({ resources, pending }: ExportedStack): string[] {
  const all = [...resources, ...pending.map(({ resource }) => resource)];
  const identities = all.flatMap(
    ({ inputs }) => readProgramContext(inputs?.[IDENTITY])?.identity ?? [],
  );
  return [...new Set(identities.map(stackOf))];
}

/** One object of the platform that a state is about: a single resource, or a member of a set. */
export interface ExportedObject {
  readonly kind: Kind;
  /** In reports: the resource's name; of a set's member, `<set>/<key>`. The URN where others of its kind share it. */
  readonly key: string;
  readonly ref: Omit<ResourceRef, "identity">;
  readonly resource: Resource;
  /** Of a member: its set, as it is stored, and its key there. */
  readonly in?: { readonly set: StoredSet; readonly key: string };
  /** The platform's, in digits; none where no create is known to have arrived. */
  readonly id: string | undefined;
  readonly record: Unresolved | undefined;
}

/** The objects that these resources manage, in natural order. What is only read (`.get`) is another's, or nobody's. */
export function objectsIn(resources: readonly Resource[]): ExportedObject[] {
  const found = resources.filter(({ external }) => external !== true).flatMap(storedIn);
  const byName = Map.groupBy(found, ({ kind, key }) => `${kind.name} ${key}`);
  const objects = [...byName.values()].flatMap((alike) => {
    const urns = new Set(alike.map(({ ref }) => ref.urn));
    if (urns.size === 1) return alike;
    return alike.map((each) => ({ ...each, key: each.ref.urn }));
  });
  return inNaturalOrder(objects, ({ key }) => key);
}

/** Of what is secret as a whole nothing is known. */
function storedIn(resource: Resource): ExportedObject[] {
  const { urn, type, id, outputs = {} } = resource;
  const kind = kindOfType(type);
  if (kind !== undefined) {
    const ref = refAt(keyOfUrn(kind.name, urn), urn);
    return [
      {
        kind,
        key: ref.short,
        ref,
        resource,
        id: platformId(id),
        record: unresolvedIn(outputs),
      },
    ];
  }
  const setKind = setOfType(type);
  if (setKind === undefined) return [];
  const plain = Object.entries(outputs).filter(([, value]) => !isSecret(value));
  const set = readStoredSet(Object.fromEntries(plain));
  const keys = new Set([
    ...set.events.keys(),
    ...set.eventIds.keys(),
    ...set.unresolved.keys(),
  ]);
  return [...keys].map((key) => {
    const ref = refAt(memberOf(keyOfUrn(setKind.name, urn), key), urn);
    const object = { kind: setKind.member, key: ref.short, ref, resource, in: { set, key } };
    return {
      ...object,
      id: platformId(set.eventIds.get(key)),
      record: set.unresolved.get(key),
    };
  });
}

function platformId(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}

/** The key with which Pulumi marks secret values in an exported stack: Pulumi's own contract. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, SECRET_SIGNATURE);
}

export function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(`"${SECRET_SIGNATURE}":`);
}

/** Whether another resource has its place, or will (`deleteBeforeReplace`): the state holds it until the next run. */
export function isReplaced({ resource }: ExportedObject): boolean {
  return resource.delete === true || resource.pendingReplacement === true;
}

/** What reports list of a stack. */
export interface Contents {
  readonly advertisers: readonly ExportedObject[];
  readonly events: readonly ExportedObject[];
  /** By id, for reports that say whose an event is. */
  readonly advertiserKeys: ReadonlyMap<string, string>;
}

export function contentsOf(resources: readonly Resource[]): Contents {
  const objects = objectsIn(resources.filter((each) => each.delete !== true)).map((each) => {
    // What awaits its replacement (`deleteBeforeReplace`) has no id until then.
    return isReplaced(each) ? { ...each, id: undefined } : each;
  });
  const objectsOf: Readonly<Record<KindName, ExportedObject[]>> = {
    Advertiser: objects.filter(({ kind }) => kind === advertiser),
    ConversionEvent: objects.filter(({ kind }) => kind === conversionEvent),
  };
  const { Advertiser: advertisers, ConversionEvent: events } = objectsOf;
  const advertiserKeys = new Map(
    advertisers.map(({ resource: { id = "" }, key }) => [id, key]),
  );
  return { advertisers, events, advertiserKeys };
}

export function warnOfSecretSets(resources: readonly Resource[]): void {
  const sets = resources.filter(({ type }) => setOfType(type) !== undefined);
  const hidden = sets.filter(({ outputs }) => isSecret(outputs?.eventIds));
  for (const set of new Set(hidden.map(({ urn }) => nameInUrn(urn)))) {
    const text = `the ids of the set ${set} are secret in the state, so its events can't be shown`;
    console.error(`Warning: ${text}`);
  }
}

export function inNaturalOrder<T>(items: Iterable<T>, textOf: (item: T) => string): T[] {
  const texts = new Map([...items].map((item) => [item, textOf(item)]));
  const inOrder = [...texts].sort(
    ([, a], [, b]) => natural(a, b) || Number(a > b) - Number(a < b),
  );
  return inOrder.map(([item]) => item);
}

export const SECRET_SHOWN = "(secret)";

export function valuesOf(object: ExportedObject): Values {
  const { kind, resource, in: place } = object;
  const { outputs = {} } = resource;
  let all: Values = outputs;
  let isHidden = false;
  if (place !== undefined) {
    const entry = place.set.events.get(place.key) ?? {};
    all = completeArguments(place.set, entry);
    isHidden = [outputs.events, outputs.defaults, entry].some(isSecret);
  }
  const values: Record<string, unknown> = {};
  for (const name of kind.outputs) {
    const value = own(all, name);
    if (isHidden && name !== kind.owner) values[name] = SECRET_SHOWN;
    else if (holdsSecret(value)) values[name] = SECRET_SHOWN;
    else if (value !== undefined && value !== null) values[name] = value;
  }
  return values;
}

export function nameOf(object: ExportedObject): string {
  return shown(valuesOf(object)[object.kind.nameProperty]);
}

export function shown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
