/**
 * What earlier runs have created, or may have created, and the program declares no longer: a rename, a move, or a removal.
 */
import type { Settings } from "../config/settings.js";
import { type Kind, removalWarning } from "../kinds/kind.js";
import { kindNamed } from "../kinds/registry.js";
import { aboutWhom, aliasFor, labelOf } from "../state/identity.js";
import { whatIsOpen } from "../state/unresolved.js";
import { count } from "../text.js";
import type { History } from "./history.js";
import { isAt, type Place } from "./place.js";

/** A resource that the program declares. */
export interface DeclaredHere {
  readonly kind: Kind;
  readonly name: string;
  readonly parentTypes: string | undefined;
  /** Under which the journal knows it. */
  readonly key: string;
  /** As it was given: perhaps not known yet. */
  readonly platformName: unknown;
  readonly adopts: boolean;
  readonly isRead: boolean;
  /** Where it was before, as its aliases say. */
  readonly formerly: readonly Place[];
}

export interface Undeclared {
  /** Creates of unknown outcome that nobody declares: each must be settled before anything else is done. */
  readonly open: readonly { readonly title: string; readonly lines: readonly string[] }[];
  /** By journal key of a new resource: objects of its kind and name that are no longer declared. */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
}

export function undeclaredIn(history: History, declared: readonly DeclaredHere[], settings: Settings): Undeclared {
  const isDeclared = coverageOf(declared);
  const isNew = ({ key, isRead, adopts }: DeclaredHere) => !isRead && !adopts && !history.live.has(key);
  const heirs = Map.groupBy(declared.filter(isNew), ({ kind, platformName }) => nameKey(kind.name, platformName));
  const heirsOf = (key: string, name: string | undefined) =>
    name === undefined ? [] : (heirs.get(nameKey(aboutWhom(key).kind, name)) ?? []);

  const open = history.open
    .filter(({ key }) => !isDeclared(key))
    .flatMap((entry) => {
      const { label, urn, ...old } = aboutWhom(entry.key);
      const [heir] = heirsOf(entry.key, entry.name);
      // What a killed run has left is told by the provider, unless this run would make another one.
      if (entry.reported === undefined && heir === undefined) return [];
      const trace = settings.traceField === undefined ? undefined : { field: settings.traceField, value: entry.mark };
      const renamed =
        heir === undefined
          ? []
          : [
              `If ${labelOf(heir.kind.name, heir.name)} is its new name or place, add ${aliasFor({ ...old, urn }, heir)} to it.`,
            ];
      return [
        {
          title: `${label} is no longer declared, and ${entry.id === undefined ? "the outcome of its create is unknown" : `a run that was interrupted created it as ${entry.id}`}`,
          lines: whatIsOpen(
            { kind: old.kind, name: entry.name, facts: {}, sentAt: entry.at, trace },
            entry.id,
            urn,
            renamed,
          ),
        },
      ];
    });

  const formerly = new Map<string, string[]>();
  for (const [key, { name }] of history.live) {
    if (isDeclared(key)) continue;
    for (const heir of heirsOf(key, name)) formerly.set(heir.key, [...(formerly.get(heir.key) ?? []), key]);
  }
  return { open, formerly };
}

/** What leaves the state with nobody to take its place, as far as the names tell. */
export function removalWarnings(history: History, declared: readonly DeclaredHere[]): string[] {
  const isDeclared = coverageOf(declared);
  const isNew = ({ key, isRead, adopts }: DeclaredHere) => !isRead && !adopts && !history.live.has(key);
  const heirs = new Set(declared.filter(isNew).map(({ kind, platformName }) => nameKey(kind.name, platformName)));
  const gone = [...history.live].filter(
    ([key, { name }]) => !isDeclared(key) && !(name !== undefined && heirs.has(nameKey(aboutWhom(key).kind, name))),
  );
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

/** Whether a resource that earlier runs knew is declared, under its name or by an alias. */
function coverageOf(declared: readonly DeclaredHere[]): (key: string) => boolean {
  const keys = new Set(declared.map(({ key }) => key));
  const places = declared.flatMap(({ kind, formerly }) => formerly.map((place) => ({ kind: kind.name, place })));
  return (key) => {
    if (keys.has(key)) return true;
    if (places.length === 0) return false;
    const { kind, name, parentTypes } = aboutWhom(key);
    return places.some((each) => each.kind === kind && isAt(each.place, name, parentTypes));
  };
}

function nameKey(kind: string, platformName: unknown): string {
  return typeof platformName === "string" ? `${kind} ${platformName}` : "";
}
