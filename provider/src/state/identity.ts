/**
 * Which resource of which stack: written by the program's half, read by the provider's. The string is in the state and in the journal, so
 * its form is a contract. Earlier versions wrote `<organization>/<project>/<stack>…`.
 */

import {
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  type Kind,
  type ResourceName,
  type SetKind,
  setNamed,
  typeTokenOf,
} from "../kinds/index.js";

/** `<project>/<stack>[@<organization>][::<types of parents>$]::<name>` */
export interface Identity {
  readonly organization: string;
  readonly project: string;
  readonly stack: string;
  /** As in a URN, joined by `$`; none for a resource directly in the stack. */
  readonly parentTypes: string | undefined;
  readonly name: string;
}

/** Backends without organizations answer this, so it is left out. */
const DEFAULT_ORGANIZATION = "organization";

export function identityText(identity: Identity): string {
  const { organization, project, stack } = identity;
  const owner = organization === DEFAULT_ORGANIZATION ? "" : `@${organization}`;
  return [`${project}/${stack}${owner}`, ...placeIn(identity)].join("::");
}

/** The types end with a `$`, which distinguishes them from a name: names and types may both contain colons. */
function placeIn({ parentTypes, name }: Identity): string[] {
  if (parentTypes !== undefined) return [`${parentTypes}$`, name];
  return /^[^:]*\$::/.test(name) ? ["$", name] : [name];
}

export function parseIdentity(text: string): Identity {
  const [path = ""] = text.split("::", 1);
  const isEarlier = isOfEarlierVersion(text);
  const place = isEarlier ? earlierPlace(path) : currentPlace(path);
  const rest = text.slice(path.length + "::".length);
  const types = /^(.*?)\$::/s.exec(rest)?.[1];
  if (types?.split("$").every((type) => type === "" || isType(type))) {
    return { ...place, parentTypes: types === "" ? undefined : types, name: rest.slice(types.length + "$::".length) };
  }
  const [first = "", ...more] = rest.split("::");
  // Earlier versions did not mark the types: only those of components with a module are recognised.
  const hasTypes = isEarlier && more.length > 0 && /^[^:]+:[^:]*:[^:]+/.test(first);
  return { ...place, parentTypes: hasTypes ? first : undefined, name: hasTypes ? more.join("::") : rest };
}

/** Whether a version wrote it that did not yet record where a resource was created. */
export function isOfEarlierVersion(text: string): boolean {
  return (text.split("::", 1)[0] ?? "").split("/").length === 3;
}

function earlierPlace(path: string) {
  const [organization = "", project = "", stack = ""] = path.split("/");
  return { organization, project, stack };
}

function currentPlace(path: string) {
  const [project = "", rest = ""] = path.split("/");
  const [stack = "", organization = DEFAULT_ORGANIZATION] = rest.split("@");
  return { organization, project, stack };
}

/** The part that all resources of a stack share: `<organization>/<project>/<stack>`. */
export function stackOf(identity: string): string {
  return stackIn(parseIdentity(identity));
}

function stackIn({ organization, project, stack }: Identity): string {
  return `${organization}/${project}/${stack}`;
}

/** The name in the program, from a URN. */
export function nameInUrn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** The name, and the types of the parents, in urn:pulumi:<stack>::<project>::<types>::<name>. */
export function placeInUrn(urn: string): Pick<Identity, "name" | "parentTypes"> {
  const parents = (urn.split("::", 3)[2] ?? "").split("$").slice(0, -1);
  return { name: nameInUrn(urn), parentTypes: parents.length === 0 ? undefined : parents.join("$") };
}

/** The resource's URN, for commands that messages show. */
export function urnOf(identity: string, typeToken: string): string {
  const { project, stack, parentTypes, name } = parseIdentity(identity);
  const types = parentTypes === undefined ? typeToken : `${parentTypes}$${typeToken}`;
  return `urn:pulumi:${stack}::${project}::${types}::${name}`;
}

/** The journal's key of a resource. It has the kind, because an advertiser and an event may have the same name. */
export function journalKeyOf(resource: ResourceName, identity: string): string {
  const parsed = parseIdentity(identity);
  return [resource, stackIn(parsed), ...placeIn(parsed)].join("::");
}

/** The same key in another stack. @param stack `<organization>/<project>/<stack>` */
export function keyInStack(journalKey: string, stack: string): string {
  const [resource, , ...place] = journalKey.split("::");
  return [resource, stack, ...place].join("::");
}

/** `of["key"]`: one member of a set, by the set's journal key, URN, or path. */
export function memberOf(of: string, key: string): string {
  return `${of}[${JSON.stringify(key)}]`;
}

/** The JSON string in brackets at the end has no unescaped quotation mark, so that no name of a set looks like a key. */
const MEMBER = /\[("(?:[^"\\]|\\.)*")\]$/s;

/** Takes {@link memberOf} apart. @returns no key if `text` does not end with one. */
export function splitMember(text: string): { readonly of: string; readonly key: string | undefined } {
  const [bracketed = "", json] = MEMBER.exec(text) ?? [];
  if (json === undefined) return { of: text, key: undefined };
  return { of: text.slice(0, -bracketed.length), key: JSON.parse(json) as string };
}

/** As reports name a member: `<set>/<key>`. */
export function memberInReports(of: string, key: string): string {
  return `${of}/${key}`;
}

/** What people may call a resource or a member: its URN, its name in the program, and its name in reports. */
export function namesInUrn(urn: string): string[] {
  const { of, key } = splitMember(urn);
  return [urn, nameInUrn(urn), ...(key === undefined ? [] : [memberInReports(nameInUrn(of), key)])];
}

/** One object of the platform: objects of two kinds may share an id. Its form is a contract, because `store/inventory.ts` keeps it. */
export function objectKey(kind: Kind["name"], id: string): string {
  return `${kind} ${id}`;
}

/** A key as this version writes it: earlier ones did not mark the types of parents. */
export function currentKey(key: string): string {
  const [kind = ""] = key.split("::", 1);
  const identity = key.slice(kind.length + "::".length);
  return isOfEarlierVersion(identity) && !isOfSet(kind) ? journalKeyOf(kind as ResourceName, identity) : key;
}

/** A resource of a stack, or one member of a set: its identity, taken apart, with every name that it has. */
export interface Ref {
  readonly resource: ResourceName;
  /** Of the object. */
  readonly kind: Kind["name"];
  /** Of the resource, as it is stored. */
  readonly identity: string;
  /** Of the resource, in the program. */
  readonly name: string;
  readonly parentTypes: string | undefined;
  /** The member's key in its set. */
  readonly member: string | undefined;
  readonly key: string;
  /** For commands in messages; for a member, followed by its key. */
  readonly urn: string;
  /** The resource's URN, at which the engine shows messages. */
  readonly resourceUrn: string;
  readonly label: string;
}

export function refOf(resource: ResourceName, identity: string): Ref {
  const { name, parentTypes } = parseIdentity(identity);
  const kind = isOfSet(resource) ? (setNamed(resource) as SetKind).member.name : resource;
  const urn = urnOf(identity, typeTokenOf(resource));
  const key = journalKeyOf(resource, identity);
  return {
    resource,
    kind,
    identity,
    name,
    parentTypes,
    member: undefined,
    key,
    urn,
    resourceUrn: urn,
    label: labelOf(resource, name),
  };
}

export function memberRef(set: Ref, member: string): Ref {
  const { key, urn, label } = set;
  return { ...set, member, key: memberOf(key, member), urn: memberOf(urn, member), label: memberLabel(label, member) };
}

/** The journal key of the set with this member; for a single resource its own. */
export function resourceKeyIn(journalKey: string): string {
  return isOfSet(journalKey.split("::", 1)[0] ?? "") ? splitMember(journalKey).of : journalKey;
}

export function aboutWhom(journalKey: string): Ref {
  const [resource] = journalKey.split("::", 1) as [ResourceName];
  const { of, key } = isOfSet(resource) ? splitMember(journalKey) : { of: journalKey, key: undefined };
  const whole = refOf(resource, of.slice(resource.length + "::".length));
  return key === undefined ? whole : memberRef(whole, key);
}

function isOfSet(resource: string): resource is SetKind["name"] {
  return setNamed(resource) !== undefined;
}

/** As the program writes it: `purchase`, or `funnel["purchase"]`. */
export function nameInProgram({ name, member }: Pick<Ref, "name" | "member">): string {
  return member === undefined ? name : memberOf(name, member);
}

/** How the program says that a resource is an earlier one under a new name or in a new place. */
export interface Alias {
  /** Pulumi's option, as it is written. */
  readonly option: string;
  /** The catalog's present and former label, if the option belongs on the catalog, because a row takes none. Else it belongs on the resource or set. */
  readonly catalog?: { readonly now: string; readonly before: string };
}

/**
 * The option that makes the resource with journal key `key`, or its set, a former one under a new name; none if there is no such option,
 * because a member of a set is not a resource.
 */
export function renamedFrom(old: Ref, key: string): Alias | undefined {
  const current = aboutWhom(key);
  // With its set, under the same key, a member is renamed too.
  if (old.resource !== current.resource || old.member !== current.member) return undefined;
  return aliasFor({ ...old, urn: old.resourceUrn }, current);
}

type Place = Pick<Ref, "name" | "parentTypes">;

/** The option that connects a resource with a former one; in a catalog only if nothing but the catalog's name or place has changed. */
export function aliasFor(old: Place & Pick<Ref, "urn">, now: Place): Alias | undefined {
  if (!isInCatalog(now)) return { option: optionFor(old, now) };
  if (!isInCatalog(old)) return undefined;
  const [before, after] = [old, now].map(catalogOf) as [CatalogPlace, CatalogPlace];
  if (before.row === "" || before.row !== after.row) return undefined;
  const [urn = "", project, types = ""] = old.urn.split("::", 3);
  const catalogUrn = [urn, project, types.split("$").slice(0, -1).join("$"), before.name].join("::");
  const [is, was] = [after, before].map(({ name }) => labelOf("Catalog", name)) as [string, string];
  return { option: optionFor({ ...before, urn: catalogUrn }, after), catalog: { now: is, before: was } };
}

function optionFor(old: Place & Pick<Ref, "urn">, { name, parentTypes }: Place): string {
  if (old.parentTypes === parentTypes) return `{ aliases: [{ name: "${old.name}" }] }`;
  if (old.parentTypes !== undefined) return `{ aliases: ["${old.urn}"] }`;
  const named = old.name === name ? "" : `name: "${old.name}", `;
  return `{ aliases: [{ ${named}parent: pulumi.rootStackResource }] }`;
}

export function isInCatalog({ parentTypes }: Place): boolean {
  return parentTypes?.split("$").at(-1) === CATALOG_TYPE;
}

interface CatalogPlace extends Place {
  /** What follows the catalog's name in its resource's name. */
  readonly row: string;
}

/** The catalog of a resource. One with a separator in its own name is not recognised, because the row could not be separated. */
function catalogOf({ name, parentTypes = "" }: Place): CatalogPlace {
  const [own = "", ...row] = name.split(CATALOG_SEPARATOR);
  const above = parentTypes.split("$").slice(0, -1).join("$");
  return { name: own, row: row.join(CATALOG_SEPARATOR), parentTypes: above === "" ? undefined : above };
}

/** `events["purchase"] of ConversionEventSet "funnel"` */
export function memberLabel(setLabel: string, key: string): string {
  return `${memberOf("events", key)} of ${setLabel}`;
}

/** `ConversionEvent "purchase"` */
export function labelOf(kind: string, name: string): string {
  return `${kind} "${name}"`;
}

/** A type token: two parts, or three. */
function isType(part: string): boolean {
  return /^[^:]+:[^:]*(:[^:]+)?$/.test(part);
}
