/**
 * What `pulumi stack export` prints: read, and looked at for resources of ours; and resources put in and taken out, so that `pulumi stack
 * import` accepts the rest and nothing is lost of what they list as left live. Pure.
 */
import { z } from "zod";
import { asTyped, jsonIn, own } from "../base/index.js";
import { kindOfType, setOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  ACCOUNT,
  IDENTITY,
  type LeftLive,
  leftLiveIn,
  objectKey,
  PROVIDER,
  readBriefing,
  type SetParts,
  secretArgumentsIn,
  stackOf,
  tellingOfLeft,
  UNRESOLVED,
  writeLeftLive,
  writeSetParts,
} from "../state/index.js";

const properties = z.record(z.string(), z.unknown()).optional();
const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  /** Replaced: the next run takes it out, after another resource of the same URN, which stands before it. */
  delete: z.boolean().optional(),
  /** Its object is deleted or left live (`deleteBeforeReplace`): the next run puts another resource in its place, or takes it out. */
  pendingReplacement: z.boolean().optional(),
  /** Whether the object stays live when the resource goes: this package's resources say so unless the program sets it otherwise. */
  retainOnDelete: z.boolean().optional(),
  /** Only read (`.get`): something else manages it. */
  external: z.boolean().optional(),
  inputs: properties,
  outputs: properties,
  parent: z.string().optional(),
  /** `<urn>::<id>` */
  provider: z.string().optional(),
  dependencies: z.array(z.string()).nullish(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).nullish(),
  deletedWith: z.string().optional(),
  aliases: z.array(z.string()).nullish(),
});
export type Resource = z.infer<typeof resourceSchema>;
const operationSchema = z.looseObject({ resource: resourceSchema, type: z.string() });
/** As far as it is looked at; the rest is kept as it is. */
const exportSchema = z.looseObject({
  version: z.literal([3, 4]),
  deployment: z.looseObject({
    manifest: z.looseObject({ time: z.string() }).optional(),
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(operationSchema).nullish(),
  }),
});

export type ExportedStack = z.infer<typeof exportSchema>;
export type Deployment = ExportedStack["deployment"];

/**
 * @param text what `pulumi stack export` printed, or what a file backend keeps of each update (`.pulumi/history/…/*.checkpoint.json`).
 * @param what it is, for the error. @throws Error in words, where the text is no exported stack.
 */
export function readExport(text: string, what = "this"): ExportedStack {
  const data = jsonIn(text);
  const not = `${what} is not what \`pulumi stack export\` prints`;
  if (data === undefined) throw new Error(`${not}: it is not JSON`);
  const latest = own(own(data, "checkpoint"), "latest");
  const { data: stack, error } = exportSchema.safeParse(
    latest === undefined ? data : { version: 3, deployment: latest },
  );
  if (stack !== undefined) return stack;
  const path = error.issues[0]?.path.join(".") ?? "";
  throw new Error(path === "" ? not : `${not}: ${path} is missing, or is not of the kind that Pulumi writes`);
}

export interface State {
  readonly resources: readonly Resource[];
  /** When it was written, ISO 8601; empty where it does not say. */
  readonly time: string;
}

export function stateIn({ deployment }: ExportedStack): State {
  return { resources: deployment.resources ?? [], time: deployment.manifest?.time ?? "" };
}

export function withResources(stack: ExportedStack, resources: Resource[]): ExportedStack {
  return { ...stack, deployment: { ...stack.deployment, resources } };
}

/** The same stack with each of its resources as `change` has it. @throws Error where the import would lose something. */
export function withEach(stack: ExportedStack, change: (resource: Resource) => Resource): ExportedStack {
  expectNothingPending(stack.deployment);
  return withResources(stack, stateIn(stack).resources.map(change));
}

/** The URNs of creates in flight of other packages: an import takes these off Pulumi's list too. */
export function othersInFlight({ pending_operations }: Deployment): string[] {
  return (pending_operations ?? []).flatMap(({ type, resource }) =>
    type === "creating" && !isOurs(resource) ? [resource.urn] : [],
  );
}

/**
 * An import takes the pending operations away. What an update or a delete of a single resource was about, the state has.
 * @throws Error if something would be lost.
 */
export function expectNothingPending({ pending_operations }: Deployment): void {
  const isInState = ({ type, resource }: z.infer<typeof operationSchema>) =>
    ["updating", "deleting"].includes(type) && setOfType(resource.type) === undefined;
  if ((pending_operations ?? []).every(isInState)) return;
  throw new Error(
    [
      "Pulumi still lists unfinished operations of an interrupted run, and changing the state would lose them. Nothing was changed. First settle what this lists:",
      `  ${asTyped("npx pulumi-advertising pending")}`,
      "What it no longer lists is settled, or another package's. Once it lists nothing, this clears Pulumi's list:",
      `  ${asTyped("pulumi refresh --clear-pending-creates --yes")}`,
    ].join("\n"),
  );
}

/**
 * The stack in which what an interrupted run was replacing, or a set that it was updating, has the new name that an alias gave it: as the
 * engine would have saved it. Otherwise the set would count as another one, and its events as not created; and nothing would say which object
 * the create replaces.
 */
export function underNewNames(stack: ExportedStack): ExportedStack {
  const { pending_operations: operations } = stack.deployment;
  return (operations ?? []).reduce((renamed, { type, resource: { urn, type: token, aliases } }) => {
    const isReplaced = type === "creating" && kindOfType(token) !== undefined;
    if (!isReplaced && (type !== "updating" || setOfType(token) === undefined)) return renamed;
    const { resources } = stateIn(renamed);
    const current = currentByUrn(resources);
    const former = aliases?.find((alias) => current.has(alias));
    if (current.has(urn) || former === undefined) return renamed;
    const text = JSON.stringify(resources).replaceAll(JSON.stringify(former), () => JSON.stringify(urn));
    return withResources(renamed, JSON.parse(text));
  }, stack);
}

/** Without what is replaced. */
export function currentByUrn(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  return new Map(resources.filter((each) => each.delete !== true).map((each) => [each.urn, each]));
}

export function isOurs({ type }: Resource): boolean {
  return kindOfType(type) !== undefined || setOfType(type) !== undefined;
}

/** `<organization>/<project>/<stack>`, as a resource of ours says; none where there is no such resource. */
export function stackIn(stack: ExportedStack): string | undefined {
  return [...stackNamesIn(stack)][0];
}

/** The names under which resources of ours were registered and, if the stack was renamed after that, its name now. */
export function stackNamesIn({ deployment }: ExportedStack): ReadonlySet<string> {
  const all = [
    ...(deployment.resources ?? []),
    ...(deployment.pending_operations ?? []).map(({ resource }) => resource),
  ];
  const names = all.flatMap(({ urn, inputs }) => {
    const declared = readBriefing(inputs?.[IDENTITY]);
    if (declared === undefined) return [];
    const registered = stackOf(declared.identity);
    return [registered, registered.replace(/[^/]+\/[^/]+$/, () => stackOfUrn(urn) ?? "")];
  });
  return new Set(names);
}

/** `<project>/<stack>`; none if it is not the URN of a resource. */
export function stackOfUrn(urn: string): string | undefined {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(urn) ?? [];
  return stack && `${project}/${stack}`;
}

/** Where the stack's resources were created, as the first one says that does. */
export function accountIn(resources: readonly Resource[]): unknown {
  const recorded = resources.filter(isOurs).map(({ inputs, outputs }) => outputs?.[ACCOUNT] ?? inputs?.[ACCOUNT]);
  return recorded.find((account) => account !== undefined);
}

/** The same resource at this account, if it says one. */
export function atAccount(resource: Resource, account: unknown): Resource {
  const changed = (properties: Resource["inputs"]) =>
    properties?.[ACCOUNT] === undefined ? properties : { ...properties, [ACCOUNT]: account };
  const { inputs, outputs } = resource;
  return { ...resource, inputs: changed(inputs), outputs: changed(outputs) };
}

/** Inputs that are outputs too. */
export function visible({ inputs }: Resource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {}).filter(([name]) => !name.startsWith("__") || name === PROVIDER),
  );
}

/** The set as the provider would have had it saved with these parts. */
export function withParts({ initErrors, ...set }: Resource, parts: SetParts, left: readonly LeftLive[]): Resource {
  const isOpen = Object.keys(parts[UNRESOLVED]).length > 0;
  return {
    ...set,
    ...(isOpen ? { initErrors: initErrors ?? ["Creates of some events have an unknown outcome."] } : {}),
    outputs: writeSetParts(set.outputs ?? {}, parts, left),
  };
}

/**
 * The same resources in an order that Pulumi accepts: each after all that it refers to, and a replaced one after what
 * took its place. What stands right already stays.
 */
export function inOrder(resources: readonly Resource[]): Resource[] {
  const current = currentByUrn(resources);
  const placed = new Set<Resource>();
  const visited = new Set<Resource>();
  const place = (resource: Resource | undefined) => {
    if (resource === undefined || visited.has(resource)) return;
    visited.add(resource);
    if (resource.delete === true) place(current.get(resource.urn));
    for (const urn of referredTo(resource)) place(current.get(urn));
    placed.add(resource);
  };
  for (const resource of resources) place(resource);
  return [...placed];
}

function referredTo({ parent, provider, dependencies, propertyDependencies, deletedWith }: Resource): string[] {
  return [
    parent,
    provider?.slice(0, provider.lastIndexOf("::")),
    ...(dependencies ?? []),
    ...Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
    deletedWith,
  ].filter((urn) => urn !== undefined);
}

/**
 * Without the creates of these URNs, which were not carried out. What one should have replaced is the current one again: the latest, which
 * is the first. But an object that something else has adopted meanwhile stays that one's, and the next run creates the replacement.
 * If nothing is the current one then, because of `deleteBeforeReplace`, and others refer to the URN, or only this resource lists what was
 * left live, it stays in the state until the next run has replaced it, as after a create that the platform refused.
 * @param taken the objects that the current resources have, each as `objectKey` makes it.
 */
export function withoutCreates(
  resources: readonly Resource[],
  dropped: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): Resource[] {
  const isDropped = (each: Resource) => each.delete !== true && dropped.has(each.urn);
  const left = new Set(dropped);
  const restored = resources
    .filter((each) => !isDropped(each))
    .map((resource) => {
      const kind = kindOfType(resource.type);
      const isTaken = kind !== undefined && taken.has(objectKey(kind.name, resource.id ?? ""));
      if (!left.delete(resource.urn) || isTaken) return resource;
      const { delete: _, ...current } = resource;
      return current;
    });
  const current = currentByUrn(restored);
  return withNeeded(
    restored,
    resources.filter((each) => isDropped(each) && !current.has(each.urn)),
  );
}

/** With those of the dropped resources that what stays refers to, or that alone list what was left live. */
function withNeeded(kept: readonly Resource[], dropped: readonly Resource[]): Resource[] {
  const referred = new Set(kept.flatMap(referredTo));
  const isNeeded = ({ urn, outputs = {} }: Resource) => referred.has(urn) || leftLiveIn(outputs).length > 0;
  const needed = dropped.filter(isNeeded);
  if (needed.length === 0) return [...kept];
  return withNeeded(
    [...kept, ...needed.map(toBeReplaced)],
    dropped.filter((each) => !isNeeded(each)),
  );
}

function toBeReplaced({ initErrors: _, outputs = {}, ...resource }: Resource): Resource {
  const { [UNRESOLVED]: __, ...kept } = outputs;
  return { ...resource, outputs: kept, pendingReplacement: true };
}

/**
 * With the creates of interrupted runs in the place of what has their URNs. That is marked, as by the engine, and the next run takes it out of
 * the state; what `deleteBeforeReplace` has already removed leaves the state now. The new ones list what is left live, as after a whole run.
 */
export function withCreates(resources: readonly Resource[], fresh: readonly Resource[], at: string): Resource[] {
  const urns = new Set(fresh.map(({ urn }) => urn));
  const current = currentByUrn(resources);
  const others = resources.flatMap((each): Resource[] => {
    if (!urns.has(each.urn)) return [each];
    return each.pendingReplacement === true ? [] : [{ ...each, delete: true }];
  });
  return [...others, ...fresh.map((each) => ({ ...each, outputs: withLeft(each, current.get(each.urn), at) }))];
}

function withLeft(
  { id: by, inputs: now = {}, outputs = {} }: Resource,
  former: Resource | undefined,
  at: string,
): Resource["outputs"] {
  const { type = "", id, retainOnDelete, inputs = {}, outputs: held = {} } = former ?? {};
  const kind = kindOfType(type);
  const isLeft = retainOnDelete === true && isPlatformId(id) && id !== by;
  const left = [...leftLiveIn(held)];
  if (kind !== undefined && isLeft) {
    const told = tellingOfLeft(kind, held, new Set([...secretArgumentsIn(inputs), ...secretArgumentsIn(now)]));
    left.push({ id, ...told, at, why: "replaced", ...(isPlatformId(by) ? { by } : {}) });
  }
  return { ...outputs, ...writeLeftLive(left) };
}
