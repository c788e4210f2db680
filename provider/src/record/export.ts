/**
 * Reads the output of `pulumi stack export` into one kind of record for each advertiser and conversion event, which
 * every decision and report uses. Never shows secret values. Pure.
 */
import {
  asRecord,
  jsonIn,
  listIn,
  natural,
  own,
  SIGNATURE_KEY,
  type Values,
} from "../base/index.js";
import { type AnyKind, type Kind, pluginTokenOf, resourceOfType } from "../kinds/index.js";
import { decideObjects } from "../plan/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  keyOfUrn,
  kindOf,
  leftLiveIn,
  memberOf,
  type ObjectRef,
  providerAt,
  readDeclared,
  readStored,
  refAt,
  senderIn,
  stackInUrn,
  stackOf,
  type Unresolved,
} from "../state/index.js";

export interface Resource {
  urn: string;
  type: string;
  id?: string;
  /** It was replaced, and the next run removes it from the state. */
  delete?: boolean;
  /**
   * Its object was deleted or left live (`deleteBeforeReplace`): the next run creates another or drops the resource.
   */
  pendingReplacement?: boolean;
  /** Whether the object stays live when the resource is removed; by default true for this package's resources. */
  retainOnDelete?: boolean;
  /** The URN of a resource with whose delete the engine also removes this one, without a call of the provider. */
  deletedWith?: string;
  /** `<URN>::<id>` of the provider resource. */
  provider?: string;
  /** Pulumi refuses to remove it. */
  protect?: boolean;
  /** It is only read (`.get`). */
  external?: boolean;
  /** The URNs of the resources that its arguments come from. */
  dependencies?: readonly string[];
  /** The resource's former URNs, by the program's aliases. */
  aliases?: readonly string[];
  inputs?: Values;
  outputs?: Values;
}

export interface ExportedStack {
  /** When the state was written, ISO 8601; empty if that is not known. */
  time: string;
  resources: readonly Resource[];
  /** The operations that an interrupted run had begun, the latest first (measured with engine 3.259.0). */
  pending: readonly { resource: Resource; type: string }[];
}

/**
 * @param text from `pulumi stack export`, or a file backend's `.pulumi/history/…/*.checkpoint.json` of an update.
 * @param what names the text in the error. @throws Error if the text is no exported stack.
 */
export function readExport(text: string, what = "this"): ExportedStack {
  const data = jsonIn(text);
  const found = own(own(data, "checkpoint"), "latest") ?? own(data, "deployment");
  // A stack that an earlier version of Pulumi has created, before its first update.
  const isEmpty = own(data, "deployment") === null;
  const deployment = asRecord(found);
  const { resources, pending_operations, manifest } = deployment;
  if (deployment !== found && !isEmpty)
    throw new Error(`${what} is not what \`pulumi stack export\` prints`);
  // Pulumi writes the time with the machine's own offset. All other times are in UTC, and are compared as texts.
  const time = new Date(shown(own(manifest, "time")));
  return {
    time: Number.isNaN(time.getTime()) ? "" : time.toISOString(),
    resources: listIn(resources),
    pending: listIn(pending_operations),
  };
}

/** The resources of the state, and those of pending operations. */
export function allResources({ resources, pending }: ExportedStack) {
  return [...resources, ...pending.map(({ resource }) => resource)];
}

/** The stacks that the state's resources name: by their URNs, since `pulumi stack rename` changes only those. */
export function stackNamesIn(stack: ExportedStack) {
  const names = allResources(stack).flatMap(({ urn, inputs = {} }) => {
    const { identity } = senderIn(inputs);
    if (identity === "") return [];
    const [organization] = stackOf(identity).split("/");
    return `${organization}/${stackInUrn(urn)}`;
  });
  return [...new Set(names)];
}

/** One object of the platform that a state is about: a single resource, or a member of a set. */
export interface ExportedObject {
  kind: Kind;
  /** The name in reports: the resource's, or `<set>/<key>`; the URN if several objects of the kind share the name. */
  key: string;
  ref: ObjectRef;
  resource: Resource;
  /** The arguments; a secret value is {@link SECRET_VALUE}. */
  values: Values;
  /** The name on the platform. */
  name: string;
  /** The platform's id, in digits; undefined while no create is known to have succeeded. */
  id: string | undefined;
  record: Unresolved | undefined;
}

/**
 * The option by which the engine removes a resource without a call of the provider, or may do so: its own, a parent's or a
 * transformation's.
 */
export function keepingOption({ retainOnDelete, deletedWith }: Partial<Resource> = {}) {
  if (retainOnDelete) return "retainOnDelete";
  return deletedWith && "deletedWith";
}

/** The account that a resource's objects belong to; empty if the state doesn't name it. */
export function accountIn({ inputs = {} }: Resource) {
  return senderIn(inputs).account;
}

/** The plugin's provider that has a resource; undefined for the dynamic provider. */
export function providerIn({ type, provider = "" }: Resource) {
  const of = resourceOfType(type);
  if (!of || type !== pluginTokenOf(of.name)) return undefined;
  // The reference has the provider's id after its URN.
  return providerAt(provider.replace(/::[^:]*$/, ""));
}

/** Stands for a secret value in {@link ExportedObject}. */
export const SECRET_VALUE = "(secret)";

/** The objects that these resources manage, in natural order. Resources that are only read (`.get`) are left out. */
export function objectsIn(resources: readonly Resource[]) {
  const found = resources.filter(({ external }) => !external).flatMap(storedIn);
  const nameOf = ({ kind, key }: ExportedObject) => `${kind.name} ${key}`;
  const objects = [...Map.groupBy(found, nameOf).values()].flatMap((alike) => {
    const urns = new Set(alike.map(({ ref }) => ref.urn));
    if (urns.size === 1) return alike;
    return alike.map((each) => ({ ...each, key: each.ref.urn }));
  });
  return inNaturalOrder(objects, nameOf);
}

function storedIn(resource: Resource) {
  const { urn, type, id: resourceId, outputs = {} } = resource;
  const of = resourceOfType(type);
  if (!of) return [];
  const kind = kindOf(of);
  const shownOutputs = maskSecrets(outputs, SECRET_VALUE);
  const stored = readStored(of, resourceId, shownOutputs);
  // Planned as if declared, so that events are listed too whose ids are secret, and so not in `eventIds`.
  const objects = decideObjects(kind, stored, readDeclared(of, shownOutputs));
  return objects.map(({ key, id, olds: values, unresolved: record }) => {
    const ref = refIn(of, urn, key);
    const name = shown(values[kind.nameProperty]);
    return {
      kind,
      key: ref.shownName,
      ref,
      resource,
      values,
      name,
      id: isPlatformId(id) ? id : undefined,
      record,
    };
  });
}

/** The objects that a resource has left live, by its state. */
export function leftIn({ type, urn, outputs = {} }: Resource) {
  const of = resourceOfType(type);
  if (!of) return [];
  return leftLiveIn(outputs).map((left) => ({ ...left, ref: refIn(of, urn, left.key) }));
}

/**
 * @param urn the resource's. @param key the object's, as in `PlannedObject`; undefined for a set itself.
 */
export function refIn(of: AnyKind, urn: string, key: string | undefined) {
  const resourceKey = keyOfUrn(of.name, urn);
  if (!("member" in of) || key === undefined) return refAt(resourceKey, urn);
  return refAt(memberOf(resourceKey, key), urn);
}

export function isSecret(value: unknown) {
  return own(value, SIGNATURE_KEY) !== undefined;
}

/** A copy of plain data, with `mask` for each secret value. */
export function maskSecrets<T>(data: T, mask: string): T {
  const text = JSON.stringify(data, (_, value) => (isSecret(value) ? mask : value));
  return JSON.parse(text);
}

export function holdsSecret(value: unknown) {
  return JSON.stringify(value ?? null).includes(`"${SIGNATURE_KEY}":`);
}

export function inNaturalOrder<T>(items: Iterable<T>, textOf: (item: T) => string) {
  return [...items].sort((one, other) => natural(textOf(one), textOf(other)));
}

export function shown(value: unknown) {
  return String(value ?? "");
}
