/**
 * The order that Pulumi accepts the resources of a stack in. Pure.
 */
import { currentByUrn, type Resource } from "./stack-export.js";

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
