/**
 * What earlier runs have created, or may have created, and the program declares no longer: a rename, a move, or a removal.
 * Names on the platform tell which new resource may be an old one.
 */

import { count, idRanges, printable, shellWord } from "../base/index.js";
import { kindNamed, removalWarning, setRemovalWarning } from "../kinds/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import {
  aboutWhom,
  type CreateRecord,
  forgetCommand,
  type Noted,
  renamedFrom,
  resourceKeyIn,
  whatIsOpen,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import type { Declarations, DeclaredHere } from "./declarations.js";
import type { History } from "./history.js";

/** A create of unknown outcome that nobody declares. */
export interface Open {
  readonly title: string;
  readonly lines: readonly string[];
  /** Whether a new resource would send it again. Otherwise it may just be declared later in the program. */
  readonly isAboutToBeSent: boolean;
}

export interface Undeclared {
  /** Each must be settled before anything else is done. */
  readonly open: readonly Open[];
  /**
   * By journal key of a resource that is new, or adopts: objects and creates of its kind and name that are no longer declared.
   */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
  /** Journal keys of creates of unknown outcome that are no longer declared, whose object something of the same name adopts. */
  readonly settled: ReadonlySet<string>;
}

export function undeclaredIn(history: History, declarations: Declarations): Undeclared {
  const newNamed = lookupOfNew(history, declarations);
  const found: { readonly entry: CreateRecord; readonly heir: DeclaredHere | undefined }[] = [];
  /** By journal key: resources that have an alias, and were interrupted under their former name. */
  const tooEarly = new Set<string>();
  const settled = new Set<string>();
  const formerly = new Map<string, string[]>();
  const noteFormer = (key: string, resources: readonly DeclaredHere[]) => {
    for (const resource of resources) formerly.set(resource.key, [...(formerly.get(resource.key) ?? []), key]);
  };

  for (const entry of history.open) {
    const { key, name, told } = entry;
    const hasLeftItsSet = declarations.hasLeftItsSet(key);
    if (declarations.coversByName(key) && !hasLeftItsSet) continue;
    const adopters = declarations.named(aboutWhom(key).kind, name).filter(({ existingId }) => existingId !== undefined);
    if (declarations.covers(key) && !hasLeftItsSet) {
      if (told === undefined && adopters.length === 0) tooEarly.add(resourceKeyIn(key));
      continue;
    }
    noteFormer(key, adopters);
    if (adopters.length > 0) settled.add(key);
    if (adopters.length > 0) continue; // somebody has found it, and named it under its new name
    const [heir] = newNamed(key, name);
    // What a killed run has left is told by the provider, as what a set has left open is, unless this run would make another one.
    if ((told !== undefined && !hasLeftItsSet) || heir !== undefined) found.push({ entry, heir });
  }
  const byResource = Map.groupBy(found, ({ entry }) => resourceKeyIn(entry.key));
  const open = [
    ...[...byResource].flatMap(([key, those]) =>
      those.length > 1 ? [openSetOf(key, those)] : those.map(({ entry, heir }) => openOf(entry, heir)),
    ),
    ...[...tooEarly].map(renamedTooEarly),
  ];
  for (const [key, { name }] of history.live) {
    if (declarations.covers(key) && !declarations.hasLeftItsSet(key)) continue;
    noteFormer(key, newNamed(key, name));
  }
  return { open, formerly, settled };
}

/** @param heir a new resource of the same kind and name. */
function openOf(entry: CreateRecord, heir: DeclaredHere | undefined): Open {
  const { key, id } = entry;
  const old = aboutWhom(key);
  const outcome =
    id === undefined ? "the outcome of its create is unknown" : `a run that was interrupted created it as ${id}`;
  return {
    isAboutToBeSent: heir !== undefined,
    title: `${old.label} is no longer declared, and ${outcome}`,
    lines: whatIsOpen(old.kind, entry, old.urn, heir === undefined ? [] : [asHeir(old, heir.key)]),
  };
}

/** Several members of a set, told together. */
function openSetOf(
  setKey: string,
  those: readonly { readonly entry: CreateRecord; readonly heir: DeclaredHere | undefined }[],
): Open {
  const { label, urn } = aboutWhom(setKey);
  const shown = those.slice(0, MAX_TOLD).map(({ entry: { key, id, at } }) => {
    const { member = "" } = aboutWhom(key);
    return `  ${printable(member)}: ${id === undefined ? `sent at ${at}, and nobody knows what became of it` : `created as ${id}`}`;
  });
  const more = those.length - shown.length;
  return {
    isAboutToBeSent: those.some(({ heir }) => heir !== undefined),
    title: `${those.length} events of ${label} are no longer declared, and a run that was interrupted has left their creates`,
    lines: [
      ...shown,
      ...(more > 0 ? [`  and ${more} more`] : []),
      "If the set has a new name or place: give it the former one back, run `pulumi up` once, which takes over what is there, and rename it then, with an alias.",
      "Otherwise settle them, one by one or, where none of them is there, together:",
      `  npx pulumi-advertising pending`,
      `  npx pulumi-advertising pending --not-created ${shellWord(urn)}`,
      `What was created is let go of with: ${forgetCommand(urn)}`,
    ],
  };
}

/**
 * An alias renames what the state holds. What a killed run had not saved there would be created again under the new name.
 */
function renamedTooEarly(resourceKey: string): Open {
  const { label } = aboutWhom(resourceKey);
  return {
    isAboutToBeSent: true,
    title: `${label} has a new name or place, and a run that was interrupted has left creates under the former one`,
    lines: [
      "An alias does not bring them along, so they could be created again.",
      `Give it its former name and place back, run \`pulumi up\` once, which takes over what is there, and rename it then.`,
    ],
  };
}

/** What to do where an open create goes on under another name. */
function asHeir(old: Noted, heirKey: string): string {
  const { label } = aboutWhom(heirKey);
  const option = renamedFrom(old, heirKey);
  return option === undefined
    ? `If it has moved to ${label}: settle it, and if it is there, set existingId there.`
    : `If ${label} is its new name or place, add ${option} to it.`;
}

/** What leaves the state with nobody to take its place, as far as the names tell. */
export function removalWarnings(history: History, declarations: Declarations, settings: Settings): string[] {
  const isDeleted = (kind: Noted["kind"], { deletes }: Live) =>
    deletes === true && knownOperations(kindNamed(kind), settings).delete !== undefined;
  const newNamed = lookupOfNew(history, declarations);
  const gone = [...history.live].filter(
    ([key, { id, name }]) =>
      !declarations.covers(key) && !declarations.adopts(aboutWhom(key).kind, id) && newNamed(key, name).length === 0,
  );
  const byResource = [...Map.groupBy(gone, ([key]) => resourceKeyIn(key))];
  const sets = byResource.flatMap(([key, those]) => {
    const [[member] = [""]] = those;
    const { kind } = aboutWhom(member);
    if (those.length === 1 && member === key) return [];
    return [
      setRemovalWarning(
        kindNamed(kind),
        aboutWhom(key).label,
        those.map(([, { id }]) => id),
        those.every(([, live]) => isDeleted(kind, live)),
      ),
    ];
  });
  const singles = byResource.flatMap(([key, those]) => those.filter(([member]) => member === key));
  const lines = singles.slice(0, MAX_TOLD).map(([key, live]) => {
    const { label, kind } = aboutWhom(key);
    return removalWarning(kindNamed(kind), label, live.id, isDeleted(kind, live));
  });
  const more = (deleted: boolean) =>
    singles
      .slice(MAX_TOLD)
      .filter(([key, live]) => isDeleted(aboutWhom(key).kind, live) === deleted)
      .map(([, { id }]) => id);
  const [rest, restDeleted] = [more(false), more(true)];
  return [
    ...sets,
    ...lines,
    ...(rest.length === 0
      ? []
      : [`${count(rest.length, "more object")} leave the state and stay live on the platform: ${idRanges(rest)}.`]),
    ...(restDeleted.length === 0
      ? []
      : [
          `${count(restDeleted.length, "more object")} leave the state and are deleted on the platform: ${idRanges(restDeleted)}.`,
        ]),
  ];
}

/** More are told by their ids alone, or counted. */
const MAX_TOLD = 20;

/** Answers resources of the same kind and platform name as an earlier one that are not known to earlier runs: to be created. */
function lookupOfNew({ live, open }: History, declarations: Declarations) {
  const noted = new Set(open.map(({ key }) => key));
  return (earlier: string, platformName: string | undefined): DeclaredHere[] =>
    declarations
      .named(aboutWhom(earlier).kind, platformName)
      .filter(
        ({ key, isRead, existingId }) => !isRead && existingId === undefined && !live.has(key) && !noted.has(key),
      );
}
