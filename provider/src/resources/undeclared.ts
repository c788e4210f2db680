/**
 * What earlier runs have created, or may have created, and the program declares no longer: a rename, a move, or a removal.
 */
import type { Settings } from "../config/settings.js";
import { type Kind, removalWarning } from "../kinds/kind.js";
import { kindNamed } from "../kinds/registry.js";
import { aboutWhom, type Noted, renamedFrom, splitMember } from "../state/identity.js";
import { whatIsOpen } from "../state/unresolved.js";
import { count } from "../text.js";
import type { History } from "./history.js";
import { isAt, type Place } from "./place.js";

/** A resource that the program declares, or a member of a set. */
export interface DeclaredHere {
  /** Of the object, or of a set's members. */
  readonly kind: Kind;
  /** Of the resource. */
  readonly name: string;
  readonly parentTypes: string | undefined;
  /** Under which the journal knows it. */
  readonly key: string;
  /** As it was given: perhaps not known yet. */
  readonly platformName: unknown;
  /** As it was given. */
  readonly existingId: unknown;
  readonly isRead: boolean;
  /** Whether it is a set whose members the program knows, and declares beside it. */
  readonly hasKnownMembers: boolean;
  /** Where it was before, as its aliases say. */
  readonly formerly: readonly Place[];
}

export interface Open {
  readonly title: string;
  readonly lines: readonly string[];
  /** Whether a new resource would send it again. Otherwise it may just be declared later in the program. */
  readonly isAboutToBeSent: boolean;
}

export interface Undeclared {
  /** Creates of unknown outcome that nobody declares: each must be settled before anything else is done. */
  readonly open: readonly Open[];
  /**
   * By journal key of a resource that is new, or adopts: objects and creates of its kind and name that are no longer declared.
   */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
}

export function undeclaredIn(history: History, declared: readonly DeclaredHere[], settings: Settings): Undeclared {
  const isDeclared = coverageOf(declared);
  const hasLeftItsSet = departureFrom(declared);
  const isNew = isNewIn(history);
  const named = ({ kind, platformName }: DeclaredHere) => nameKey(kind.name, platformName);
  const heirs = Map.groupBy(declared.filter(isNew), named);
  const adopters = Map.groupBy(
    declared.filter(({ existingId }) => existingId !== undefined),
    named,
  );
  const of = (group: typeof heirs, key: string, name: string | undefined) =>
    name === undefined ? [] : (group.get(nameKey(aboutWhom(key).kind, name)) ?? []);
  const heirsOf = (key: string, name: string | undefined) => of(heirs, key, name);

  const formerly = new Map<string, string[]>();
  const add = (to: DeclaredHere, key: string) => formerly.set(to.key, [...(formerly.get(to.key) ?? []), key]);
  const open = history.open
    .filter(({ key }) => !isDeclared(key))
    .flatMap((entry) => {
      const adopting = of(adopters, entry.key, entry.name);
      for (const adopter of adopting) add(adopter, entry.key);
      if (adopting.length > 0) return []; // somebody has found it, and named it under its new name
      const old = aboutWhom(entry.key);
      const [heir] = heirsOf(entry.key, entry.name);
      // What a killed run has left is told by the provider, unless this run would make another one.
      if (entry.reported === undefined && heir === undefined) return [];
      const trace = settings.traceField === undefined ? undefined : { field: settings.traceField, value: entry.mark };
      return [
        {
          isAboutToBeSent: heir !== undefined,
          title: `${old.label} is no longer declared, and ${entry.id === undefined ? "the outcome of its create is unknown" : `a run that was interrupted created it as ${entry.id}`}`,
          lines: whatIsOpen(
            {
              kind: old.kind,
              name: entry.name,
              facts: entry.facts ?? {},
              sentAt: entry.at,
              trace,
              replaces: entry.replaces,
            },
            entry.id,
            old.urn,
            heir === undefined ? [] : [asHeir(old, heir.key)],
          ),
        },
      ];
    });

  for (const [key, { name }] of history.live) {
    if (isDeclared(key) && !hasLeftItsSet(key)) continue;
    for (const heir of heirsOf(key, name)) if (setKeyIn(heir.key) !== setKeyIn(key)) add(heir, key);
  }
  return { open, formerly };
}

/** What to do where an open create goes on under another name. */
function asHeir(old: Noted, heirKey: string): string {
  const { label } = aboutWhom(heirKey);
  const option = renamedFrom(old, heirKey);
  return option === undefined
    ? `If it has moved to ${label}: settle it, and if it is there, set existingId there.`
    : `If ${label} is its new name or place, add ${option} to it.`;
}

/** Members of sets that are declared, without this member. */
function departureFrom(declared: readonly DeclaredHere[]): (key: string) => boolean {
  const keys = new Set(declared.map(({ key }) => key));
  const sets = new Set(declared.filter(({ hasKnownMembers }) => hasKnownMembers).map(({ key }) => key));
  return (key) => !keys.has(key) && sets.has(setKeyIn(key));
}

/** The journal key of the set that has this member; of a resource that is no set, its own. */
function setKeyIn(key: string): string {
  const { member } = aboutWhom(key);
  return member === undefined ? key : splitMember(key).of;
}

/** What leaves the state with nobody to take its place, as far as the names tell. */
export function removalWarnings(history: History, declared: readonly DeclaredHere[]): string[] {
  const isDeclared = coverageOf(declared);
  const heirs = new Set(
    declared.filter(isNewIn(history)).map(({ kind, platformName }) => nameKey(kind.name, platformName)),
  );
  const adopted = new Set(declared.map(({ kind, existingId }) => `${kind.name} ${String(existingId)}`));
  const gone = [...history.live].filter(([key, { id, name }]) => {
    if (isDeclared(key)) return false;
    const { kind } = aboutWhom(key);
    return !adopted.has(`${kind} ${id}`) && !(name !== undefined && heirs.has(nameKey(kind, name)));
  });
  const lines = gone.slice(0, MAX_REMOVALS).map(([key, { id }]) => {
    const { label, kind } = aboutWhom(key);
    return removalWarning(kindNamed(kind), label, id);
  });
  const more = gone.length - lines.length;
  return more === 0
    ? lines
    : [...lines, `${count(more, "more object")} leave the state and stay live on the platform.`];
}

const MAX_REMOVALS = 20;

/** Declared, and not known to earlier runs: it would be created. */
function isNewIn({ live, open }: History): (declared: DeclaredHere) => boolean {
  const noted = new Set(open.map(({ key }) => key));
  return ({ key, isRead, existingId }) => !isRead && existingId === undefined && !live.has(key) && !noted.has(key);
}

/** Whether a resource that earlier runs knew is declared, under its name or by an alias. */
function coverageOf(declared: readonly DeclaredHere[]): (key: string) => boolean {
  // A set that is declared knows by itself which of its members are no longer.
  const keys = new Set(declared.map(({ key }) => key));
  const places = declared.flatMap(({ key, formerly }) =>
    formerly.map((place) => ({ resource: aboutWhom(key).resource, place })),
  );
  return (key) => {
    if (keys.has(key) || keys.has(setKeyIn(key))) return true;
    if (places.length === 0) return false;
    const { resource, name, parentTypes } = aboutWhom(key);
    return places.some((each) => each.resource === resource && isAt(each.place, name, parentTypes));
  };
}

function nameKey(kind: string, platformName: unknown): string {
  return typeof platformName === "string" ? `${kind} ${platformName}` : "";
}
