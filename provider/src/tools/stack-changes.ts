/**
 * Resources of an exported stack are put in and taken out, so that `pulumi stack import` accepts the rest and nothing is lost of what they
 * list as left live. Pure.
 */
import { kindOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { leftLiveIn, objectKey, secretArgumentsIn, tellingOfLeft, UNRESOLVED, writeLeftLive } from "../state/index.js";
import { currentByUrn, objectsIn, type Resource } from "./stack-export.js";

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
 */
export function withoutCreates(resources: readonly Resource[], dropped: ReadonlySet<string>): Resource[] {
  const isDropped = (each: Resource) => each.delete !== true && dropped.has(each.urn);
  const left = new Set(dropped);
  const others = resources.filter((each) => !isDropped(each));
  const held = objectsIn(others.filter((each) => each.delete !== true));
  const taken = new Set(held.map(({ kind, id = "" }) => objectKey(kind.name, id)));
  const restored = others.map((resource) => {
    const kind = kindOfType(resource.type);
    const isTaken = kind !== undefined && taken.has(objectKey(kind.name, resource.id ?? ""));
    if (!left.delete(resource.urn) || isTaken) return resource;
    const { delete: _, ...current } = resource;
    return current;
  });
  const current = currentByUrn(restored);
  const referred = new Set(resources.flatMap(referredTo));
  const isNeeded = ({ urn, outputs = {} }: Resource) => referred.has(urn) || leftLiveIn(outputs).length > 0;
  const needed = resources.filter((each) => isDropped(each) && !current.has(each.urn) && isNeeded(each));
  return [...restored, ...needed.map(toBeReplaced)];
}

function toBeReplaced({ initErrors: _, outputs = {}, ...resource }: Resource): Resource {
  const { [UNRESOLVED]: __, ...kept } = outputs;
  return { ...resource, outputs: kept, pendingReplacement: true };
}

/**
 * With the creates of killed runs in the place of what has their URNs. That is marked, as by the engine, and the next run takes it out of
 * the state; what `deleteBeforeReplace` has let go of leaves the state now. The new ones list what is left live, as after a whole run.
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
