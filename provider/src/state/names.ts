/**
 * Which resource of which stack, and every name that it has: in the state and as an input (`identity`), in this
 * machine's journal (`key`), for Pulumi (`urn`) and for people (`label`). Pure.
 */
import { type Kind, type ResourceName, setNamed, typeTokenOf } from "../kinds/index.js";

export interface Place {
  /** The types of its parents as in a URN, joined by `$`; none for a resource directly in the stack. */
  readonly parentTypes: string | undefined;
  readonly name: string;
}

/** Backends without organizations answer this, so it is left out. */
const DEFAULT_ORGANIZATION = "organization";

/** `<project>/<stack>[@<organization>]::[<types of parents>$::]<name>` */
export function identityText(identity: ReturnType<typeof parseIdentity>): string {
  const { organization, project, stack } = identity;
  const owner = organization === DEFAULT_ORGANIZATION ? "" : `@${organization}`;
  return `${project}/${stack}${owner}::${placeText(identity)}`;
}

/** Types end with a `$`, and a name has colons too: one that would look like types comes after none. */
function placeText({ parentTypes, name }: Place): string {
  if (parentTypes !== undefined) return `${parentTypes}$::${name}`;
  return /\$::/.test(name) ? `$::${name}` : name;
}

function placeIn(text: string): Place {
  const end = text.indexOf("$::");
  const types = end > 0 ? text.slice(0, end) : undefined;
  return { parentTypes: types, name: end < 0 ? text : text.slice(end + "$::".length) };
}

export function parseIdentity(text: string) {
  const [path = ""] = text.split("::", 1);
  const [project = "", rest = ""] = path.split("/");
  const [stack = "", organization = DEFAULT_ORGANIZATION] = rest.split("@");
  return { organization, project, stack, ...placeIn(text.slice(path.length + "::".length)) };
}

/** The part that all resources of a stack share: `<organization>/<project>/<stack>`. */
export function stackOf(identity: string): string {
  const { organization, project, stack } = parseIdentity(identity);
  return `${organization}/${project}/${stack}`;
}

export function nameInUrn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** As an option of a command, such as `--stack dev`: the organization is named only where there are several. */
export function stackOption(stack: string): { readonly option: string; readonly value: string } {
  const [organization = "", , name = ""] = stack.split("/");
  return {
    option: "--stack",
    value: organization === DEFAULT_ORGANIZATION ? name : `${organization}/${name}`,
  };
}

/** The key that a resource has in the journal; its URN is `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export function keyOfUrn(resource: ResourceName, urn: string): string {
  const parents = (urn.split("::", 3)[2] ?? "").split("$").slice(0, -1);
  return keyOf(resource, {
    name: nameInUrn(urn),
    parentTypes: parents.length === 0 ? undefined : parents.join("$"),
  });
}

/** The journal's key of a resource, without the stack but with the type: an advertiser and an event may share a name. */
export function keyOf(resource: ResourceName, place: Place): string {
  return `${resource}::${placeText(place)}`;
}

/** `of["key"]`: one member of a set, by the set's key, URN, or path. */
export function memberOf(of: string, key: string): string {
  return `${of}[${JSON.stringify(key)}]`;
}

/** As reports and printed commands name a member: `<set>/<key>`. */
export function memberInReports(of: string, key: string): string {
  return `${of}/${key}`;
}

/** One object of the platform: objects of two kinds may share an id. */
export function objectKey(kind: Kind["name"], id: string): string {
  return `${kind} ${id}`;
}

/** A resource, or one member of a set. */
export interface ParsedKey extends Place {
  readonly resource: ResourceName;
  /** Of the object. */
  readonly kind: Kind["name"];
  /** In the journal of this machine. */
  readonly key: string;
  readonly member: string | undefined;
  readonly label: string;
  /** For commands in messages: `purchase`, or `funnel/landing`. */
  readonly short: string;
}

/** The same of a known stack. */
export interface ResourceRef extends ParsedKey {
  /** Of the resource. */
  readonly identity: string;
  /** For a member, followed by its key. */
  readonly urn: string;
  /** The resource's URN, at which the engine shows messages. */
  readonly resourceUrn: string;
}

export function refOf(resource: ResourceName, identity: string): ResourceRef {
  const { project, stack, parentTypes, name } = parseIdentity(identity);
  const types = [...(parentTypes === undefined ? [] : [parentTypes]), typeTokenOf(resource)].join(
    "$",
  );
  const urn = `urn:pulumi:${stack}::${project}::${types}::${name}`;
  return { ...named(resource, { parentTypes, name }), identity, urn, resourceUrn: urn };
}

export function memberRef(set: ResourceRef, member: string): ResourceRef {
  return { ...withMember(set, member), urn: memberOf(set.urn, member) };
}

/** The same of a key in the journal of this stack. @param stack `<organization>/<project>/<stack>` */
export function refOfKey(key: string, stack: string): ResourceRef {
  const [organization = "", project = "", name = ""] = stack.split("/");
  const ref = parseKey(key);
  const { parentTypes } = ref;
  const place = { organization, project, stack: name, name: ref.name, parentTypes };
  const resource = refOf(ref.resource, identityText(place));
  return ref.member === undefined ? resource : memberRef(resource, ref.member);
}

/** The same of a resource with this URN, in which there may be no organization. */
export function refAt(key: string, resourceUrn: string): Omit<ResourceRef, "identity"> {
  const ref = parseKey(key);
  const urn = ref.member === undefined ? resourceUrn : memberOf(resourceUrn, ref.member);
  return { ...ref, urn, resourceUrn };
}

export function parseKey(key: string): ParsedKey {
  const { resource, of, member } = partsOf(key);
  const whole = named(resource, placeIn(of.slice(resource.length + "::".length)));
  return member === undefined ? whole : withMember(whole, member);
}

/** The key of the set with this member; for a single resource its own. */
export function resourceKeyIn(key: string): string {
  return partsOf(key).of;
}

function named(resource: ResourceName, place: Place): ParsedKey {
  const kind = setNamed(resource)?.member.name ?? (resource as Kind["name"]);
  const label = labelOf(resource, place.name);
  return {
    ...place,
    resource,
    kind,
    key: keyOf(resource, place),
    member: undefined,
    label,
    short: place.name,
  };
}

function withMember<T extends ParsedKey>(set: T, member: string): T {
  const [key, short] = [memberOf(set.key, member), memberInReports(set.name, member)];
  return { ...set, key, member, label: memberLabel(set.label, member), short };
}

/** The JSON string in brackets at the end has no unescaped quotation mark, so no name of a set looks like a key. */
const MEMBER = /\[("(?:[^"\\]|\\.)*")\]$/s;

function partsOf(key: string) {
  const [resource] = key.split("::", 1) as [ResourceName];
  const [bracketed = "", json] = (setNamed(resource) && MEMBER.exec(key)) ?? [];
  const member = json === undefined ? undefined : (JSON.parse(json) as string);
  return { resource, of: key.slice(0, key.length - bracketed.length), member };
}

/** `events["purchase"] of ConversionEventSet "funnel"` */
export function memberLabel(setLabel: string, key: string): string {
  return `${memberOf("events", key)} of ${setLabel}`;
}

/** `ConversionEvent "purchase"` */
export function labelOf(kind: string, name: string): string {
  return `${kind} "${name}"`;
}
