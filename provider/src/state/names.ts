/**
 * The names of a resource or of a set's member: in the state and as an input (`identity`), in this machine's journal
 * (`key`), for Pulumi (`urn`) and for people (`label`). Pure.
 */
import { joined } from "../base/index.js";
import {
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  type KindName,
  memberOf,
  pluginTokenOf,
  type ResourceName,
  setNamed,
  typeTokenOf,
} from "../kinds/index.js";

export { memberOf };

interface Place {
  /** The types of the parents as in a URN, joined by `$`; undefined for a resource directly in the stack. */
  parentTypes: string | undefined;
  name: string;
}

/** The organization that backends without organizations report. Names leave it out. */
export const DEFAULT_ORGANIZATION = "organization";

/**
 * `<project>/<stack>[@<organization>]::[<types of parents>$::]<name>`
 * @param stackPath `<organization>/<project>/<stack>`
 */
export function identityText(stackPath: string, place: Place) {
  const [organization, project, stack] = stackPath.split("/");
  const owner = organization === DEFAULT_ORGANIZATION ? "" : `@${organization}`;
  return `${project}/${stack}${owner}::${placeText(place)}`;
}

const END_OF_TYPES = "$::";

/** A name that contains {@link END_OF_TYPES} gets one before it, so that no part of a name counts as a type. */
function placeText({ parentTypes = "", name }: Place) {
  // A JavaScript program may give no name: Pulumi itself reports that.
  const isPlain = parentTypes === "" && !String(name).includes(END_OF_TYPES);
  if (isPlain) return name;
  return `${parentTypes}${END_OF_TYPES}${name}`;
}

function parsePlace(text: string) {
  const end = text.indexOf(END_OF_TYPES);
  if (end < 0) return { parentTypes: undefined, name: text };
  return {
    parentTypes: text.slice(0, end) || undefined,
    name: text.slice(end + END_OF_TYPES.length),
  };
}

/** The stack in an identity: `<organization>/<project>/<stack>`. */
export function stackOf(identity: string) {
  const [, project, stack, organization = DEFAULT_ORGANIZATION] =
    /^(.*?)\/(.*?)(?:@(.*?))?::/s.exec(identity) ?? [];
  return `${organization}/${project}/${stack}`;
}

/** The plugin's provider if the program declares none. */
export const DEFAULT_PROVIDER = "default";

/**
 * Names a provider resource of the plugin within its stack: by its name, and below a component by its parents too. A
 * default provider has the package's version in its name.
 */
export function providerAt(urn: string) {
  const types = typesIn(urn);
  const name = nameInUrn(urn);
  if (types.includes("$")) return `${types}::${name}`;
  return name.replace(/^default_\d+_\d+_\d+.*/s, DEFAULT_PROVIDER);
}

/** A resource's type after those of its parents, `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export function typesIn(urn: string) {
  return urn.split("::").at(2) ?? "";
}

/** `<project>/<stack>` */
export function stackInUrn(urn: string) {
  const [head = "", project] = urn.split("::", 2);
  return `${project}/${head.slice("urn:pulumi:".length)}`;
}

export function nameInUrn(urn: string) {
  return urn.split("::").slice(3).join("::");
}

/** The value for a command's `--stack`. A default organization is left out. */
export function stackOption(stack: string) {
  const [organization = "", , name = ""] = stack.split("/");
  return organization === DEFAULT_ORGANIZATION ? name : `${organization}/${name}`;
}

/** The key that a resource has in the journal; its URN is `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export function keyOfUrn(resource: ResourceName, urn: string) {
  const parentTypes = typesIn(urn).split("$").slice(0, -1).join("$") || undefined;
  return keyOf(resource, { parentTypes, name: nameInUrn(urn) });
}

/**
 * The journal's key of a resource, without the stack but with the type: an advertiser and an event may share a name.
 */
export function keyOf(resource: ResourceName, place: Place) {
  return `${resource}::${placeText(place)}`;
}

/** Names one object of the platform, with its kind: objects of two kinds may share an id. */
export function objectKey(kind: KindName, id: string) {
  return `${kind} ${id}`;
}

/** The id of an object that {@link objectKey} names; undefined for an empty text. */
export function idOfObject(object: string) {
  return object.split(" ")[1];
}

/** A resource, or one member of a set. */
export interface ParsedKey extends Place {
  resource: ResourceName;
  /** The object's kind. */
  kind: KindName;
  /** The key in the journal. */
  key: string;
  member: string | undefined;
  label: string;
  /** The name in reports and printed commands: `purchase`, or `funnel/landing`. */
  shownName: string;
}

export interface ObjectRef extends ParsedKey {
  /** The resource's URN; for a member, followed by the member's key. */
  urn: string;
  /** The resource's URN, at which the engine shows messages. */
  resourceUrn: string;
}

/** A resource of a known stack, or one member of a set. */
export interface ResourceRef extends ObjectRef {
  /** The resource's identity, for a member too. */
  identity: string;
}

export function refOf(resource: ResourceName, identity: string) {
  const [, project, stack] = stackOf(identity).split("/");
  const place = parsePlace(identity.slice(identity.indexOf("::") + "::".length));
  const types = joined("$", place.parentTypes, typeTokenOf(resource));
  const urn = `urn:pulumi:${stack}::${project}::${types}::${place.name}`;
  return { ...parsed(resource, place), identity, urn, resourceUrn: urn };
}

/** Whether the resource is the plugin's; otherwise it was declared with this package's classes. */
export function isOfPlugin({
  resource,
  resourceUrn,
}: Pick<ResourceRef, "resource" | "resourceUrn">) {
  return !typesIn(resourceUrn).endsWith(typeTokenOf(resource));
}

/** The URN that the resource of this name has in the other front end. */
export function otherFormUrn(ref: ObjectRef) {
  const { resource, resourceUrn } = ref;
  const types = typesIn(resourceUrn);
  const token = isOfPlugin(ref) ? typeTokenOf(resource) : pluginTokenOf(resource);
  const others = [...types.split("$").slice(0, -1), token].join("$");
  return resourceUrn.replace(types, () => others);
}

export function memberRef(set: ResourceRef, member: string) {
  return { ...set, ...parsed(set.resource, set, member), urn: memberOf(set.urn, member) };
}

/** The ref of one of a resource's objects. @param key as in `PlannedObject`. */
export function objectRef(ref: ResourceRef, key: string) {
  return setNamed(ref.resource) === undefined ? ref : memberRef(ref, key);
}

/** @param stackPath `<organization>/<project>/<stack>` */
export function refOfKey(key: string, stackPath: string) {
  const { resource, member, ...place } = parseKey(key);
  const ref = refOf(resource, identityText(stackPath, place));
  if (member === undefined) return ref;
  return memberRef(ref, member);
}

/** The ref of a resource in Pulumi's record; URNs do not name the organization, so the default one stands in it. */
export function refOfUrn(resource: ResourceName, urn: string) {
  const ref = refAt(keyOfUrn(resource, urn), urn);
  const stackPath = `${DEFAULT_ORGANIZATION}/${stackInUrn(urn)}`;
  return { ...ref, identity: identityText(stackPath, ref) };
}

/** @returns a ref without an identity, since a URN does not name the organization. */
export function refAt(key: string, resourceUrn: string) {
  const ref = parseKey(key);
  const urn = ref.member === undefined ? resourceUrn : memberOf(resourceUrn, ref.member);
  return { ...ref, urn, resourceUrn };
}

/** The catalog whose file declares the resource, with its parents; undefined if there is none. */
export function catalogIn(key: string) {
  const { parentTypes, resource, name } = parseKey(key);
  if (!parentTypes?.endsWith(CATALOG_TYPE)) return undefined;
  // An event's name also has its advertiser's key.
  const end = resource === "ConversionEvent" ? -2 : -1;
  const catalog = name.split(CATALOG_SEPARATOR).slice(0, end);
  return [parentTypes, ...catalog].join(CATALOG_SEPARATOR);
}

export function parseKey(key: string) {
  const [resource] = key.split("::", 1) as [ResourceName];
  const resourceKey = resourceKeyIn(key);
  const place = parsePlace(resourceKey.slice(resource.length + "::".length));
  if (resourceKey === key) return parsed(resource, place);
  return parsed(resource, place, JSON.parse(key.slice(resourceKey.length + 1, -1)));
}

/** A JSON string in brackets at a key's end. JSON escapes quotation marks, so a name in front of it can't match. */
const MEMBER = /\["(?:[^"\\]|\\.)*"\]$/s;

/** The key of the resource that an object belongs to: a member's set, or the single resource itself. */
export function resourceKeyIn(key: string) {
  const [resource = ""] = key.split("::", 1);
  if (setNamed(resource) === undefined) return key;
  return key.replace(MEMBER, "");
}

function parsed(resource: ResourceName, place: Place, member?: string) {
  const { name } = place;
  const kind = setNamed(resource)?.member.name ?? (resource as KindName);
  const key = keyOf(resource, place);
  const label = labelOf(resource, name);
  const whole = { ...place, resource, kind, member, key, label, shownName: name };
  if (member === undefined) return whole;
  return {
    ...whole,
    key: memberOf(key, member),
    label: memberLabel(label, member),
    shownName: `${name}/${member}`,
  };
}

/** `events["purchase"] of ConversionEventSet "funnel"` */
export function memberLabel(setLabel: string, key: string) {
  return `${memberOf("events", key)} of ${setLabel}`;
}

/** `ConversionEvent "purchase"` */
export function labelOf(kind: string, name: string) {
  return `${kind} "${name}"`;
}
