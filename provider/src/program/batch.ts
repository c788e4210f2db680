/**
 * Judges what a program declares as a whole: what is wrong between its resources, what earlier runs created and nothing declares
 * any longer, and the briefing of the provider about each resource: declarations and what this machine remembers in, findings
 * and messages out. `program.ts` calls it for each batch, and once more when the program has ended. Pure.
 *
 * A batch is what the program declares in one turn of its event loop: all of the program, except what comes after a wait for a
 * timer, a file or the like.
 */

import { saidOnce } from "../base/index.js";
import { matchesCreate } from "../decision/index.js";
import { adoptedTwice } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import type { Settings } from "../settings/index.js";
import {
  aboutWhom,
  type Briefing,
  type CreateRecord,
  isDeletion,
  leftBehind,
  objectKey,
  resourceKeyIn,
} from "../state/index.js";
import type { Snapshot } from "../store/index.js";
import { type Declaration, type DeclaredObject, LATER } from "./declaration.js";
import { addTo, type Declared, type Standing } from "./declared.js";
import {
  type Finding,
  type LeftOpen,
  moveWarnings,
  noLongerDeclared,
  type Remembered,
  removalFor,
  removalWarnings,
  renamedTooEarly,
  sameArguments,
  stillUsed,
} from "./findings.js";

export interface Judgement {
  /** With any of these, nothing may be registered. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** The briefings of the provider, by the resource's journal key; only the identity is still to be added. */
  readonly briefings: ReadonlyMap<string, Omit<Briefing, "identity">>;
}

/** @param declared all that the program has declared so far, this batch included. */
export function judge(
  batch: readonly Declaration[],
  declared: Declared,
  snapshot: Snapshot,
  isPreview: boolean,
): Judgement {
  const undeclared = undeclaredIn(snapshot, declared);
  const resources = batch.filter(({ key, isRead }) => key !== undefined && !isRead);
  const run = { isUp: !isPreview, resources: declared.resources, program: declared.program };
  const briefings = resources.map((declaration): [string, Omit<Briefing, "identity">] => [
    declaration.key ?? "",
    { run, ...briefingOf(declaration, declared, undeclared) },
  ]);
  // What nothing would send again may just be declared later in the program.
  const wouldBeSent = undeclared.open.filter(({ heir }) => heir !== undefined);
  return {
    findings: [
      ...batch.flatMap((declaration) => wrongIn(declaration, declared)),
      ...noLongerDeclared(wouldBeSent),
      ...[...undeclared.renamedTooEarly].map(renamedTooEarly),
    ],
    warnings: [...warningsOf(batch), ...sameIn(batch, declared)],
    briefings: new Map(briefings),
  };
}

/** Those that several resources share are given once. */
function warningsOf(batch: readonly Declaration[]): string[] {
  const all = batch.flatMap(({ label, warnings }) => warnings.map((text) => ({ label, text })));
  return saidOnce(
    all,
    ({ text }) => text,
    ({ label }) => label,
    ({ label, text }) => text.replace(label, ""),
  );
}

/** The same when the program has ended: what nothing has declared by now is removed. */
export function judgeRemovals(
  declared: Declared,
  snapshot: Snapshot,
  settings: Settings,
): Omit<Judgement, "briefings"> {
  const { open, left, renamedTooEarly: early } = undeclaredIn(snapshot, declared);
  const heirsOf = lookupOfHeirs(snapshot, declared);
  const objectOf = (key: string, id: string) => objectKey(aboutWhom(key).kind, id);
  // One that a run left in two resources goes on with the one that is declared.
  const kept = new Set(
    [...snapshot.objects].flatMap(([key, { id }]) =>
      declared.standingOf(key) === "declared" ? [objectOf(key, id)] : [],
    ),
  );
  const gone = [...snapshot.objects].filter(
    ([key, { id, name }]) =>
      declared.standingOf(key) === "gone" &&
      !kept.has(objectOf(key, id)) &&
      declared.adopterOf(aboutWhom(key).kind, id) === undefined &&
      heirsOf(key, name).length === 0,
  );
  const becomes = (each: Remembered) => removalFor(each, settings, (kind) => declared.othersAdoptLater(kind, ""));
  const moves = [...snapshot.objects].flatMap((each) => {
    const [from, { id }] = each;
    const to = declared.adopterOf(aboutWhom(from).kind, id)?.key;
    const isOther = to !== undefined && resourceKeyIn(to) !== resourceKeyIn(declared.movedTo(from) ?? from);
    return isOther && isDeletion(becomes(each)) ? [{ from, to, id }] : [];
  });
  const isInUse = (each: Remembered) =>
    declared.isUsed(aboutWhom(each[0]).kind, each[1].id) && !isDeletion(becomes(each));
  const unused = gone.filter((each) => !isInUse(each));
  return {
    findings: [...noLongerDeclared(open), ...[...early].map(renamedTooEarly)],
    warnings: [
      ...(left.length === 0 ? [] : [leftBehind(left, NOT_DECLARED)]),
      ...gone.filter(isInUse).map(([key, { id }]) => stillUsed(key, id)),
      ...removalWarnings(unused, becomes),
      ...moveWarnings(moves),
    ],
  };
}

/** What a batch adopts, as far as this machine's notes do not list it yet: ids, by journal key. */
export function adoptionsToNote(batch: readonly Declaration[], { objects: known }: Snapshot): Record<string, string> {
  const those = batch.flatMap(({ objects = [], isRead }) => (isRead ? [] : objects));
  return Object.fromEntries(
    those.flatMap(({ key, adopts }) =>
      typeof adopts === "string" && isPlatformId(adopts) && known.get(key)?.id !== adopts ? [[key, adopts]] : [],
    ),
  );
}

const NOT_DECLARED = "the program no longer declares them";

/** What is wrong with one declaration, in itself and beside those before it. In a user's unit test its constructor throws that. */
export function wrongIn(
  { label, problems, amount = problems.length, objects = [] }: Declaration,
  declared: Declared,
): Finding[] {
  const twice = objects.flatMap((object) => {
    const { kind, adopts, existingIdPath } = object;
    const adopter = typeof adopts === "string" ? declared.adopterOf(kind.name, adopts) : undefined;
    if (adopter === undefined || adopter === object) return [];
    return [`${existingIdPath} ${adoptedTwice(String(adopts), `"${adopter.name}"`)}`];
  });
  const lines = [...problems, ...twice];
  return lines.length === 0 ? [] : [{ title: label, lines, problems: amount + twice.length }];
}

/** A warning for each group of objects with the same arguments that this batch has begun or added to. */
function sameIn(batch: readonly Declaration[], declared: Declared): string[] {
  const groups = new Set(batch.flatMap(({ objects = [] }) => objects.map((object) => declared.sameAs(object))));
  const several = [...groups].filter((group) => group.length > 1);
  return [...Map.groupBy(several, ([first]) => first?.kind.name)].flatMap(([kind, those]) =>
    kind === undefined
      ? []
      : sameArguments(
          kind,
          those.map((group) => group.map(({ name }) => name)),
        ),
  );
}

interface Undeclared {
  /** Creates that nothing declares and nothing settles. */
  readonly open: readonly LeftOpen[];
  /** Creates of interrupted runs that nothing declares, and that nothing else speaks of in this run. */
  readonly left: readonly CreateRecord[];
  /** By journal key: resources with an alias whose creates an interrupted run has left under the former name. */
  readonly renamedTooEarly: ReadonlySet<string>;
  /** By journal key of a resource that is new, or adopts: the journal keys of what nothing declares any longer, and this may be. */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
  /** By journal key of an undeclared create that several declared objects may adopt: how many. */
  readonly shared: ReadonlyMap<string, number>;
  /** By journal key of a set: of its members' creates, the journal keys, and the ids by which something else adopts their objects. */
  readonly adoptedAs: ReadonlyMap<string, readonly (readonly [key: string, id: string])[]>;
  /** By journal key of a resource with an alias: the former ones under which this machine knows something that the state may have. */
  readonly moved: ReadonlyMap<string, readonly string[]>;
}

/** Finds what earlier runs created, or may have created, and the program declares no longer: renames, moves and removals. */
function undeclaredIn(snapshot: Snapshot, declared: Declared): Undeclared {
  const heirsOf = lookupOfHeirs(snapshot, declared);
  const open: LeftOpen[] = [];
  const left: CreateRecord[] = [];
  const early = new Set<string>();
  const formerly = new Map<string, string[]>();
  const adoptedAs = new Map<string, (readonly [string, string])[]>();
  const moved = new Map<string, string[]>();
  const shared = new Map<string, number>();

  /** Whether another message says that its object leaves the state; a set says it of its own members. */
  const isToldOf = ({ key, id }: CreateRecord, standing: Standing) => {
    const known = snapshot.objects.get(key);
    return known !== undefined && (standing === "left its set" || known.id === id);
  };

  const noteMoved = (create: CreateRecord) => {
    const { key, isReported, isHanded } = create;
    if (adoptersOf(create, declared, snapshot).length > 0) return;
    if (isReported === undefined && isHanded === undefined) early.add(resourceKeyIn(key));
    else addTo(moved, resourceKeyIn(declared.movedTo(key) ?? key), resourceKeyIn(key));
  };

  const noteUndeclared = (create: CreateRecord, standing: Standing) => {
    const { key, name, isReported, unclaimed, isHanded } = create;
    const adopters = adoptersOf(create, declared, snapshot);
    if (adopters.length > 0) {
      for (const adopter of adopters) addTo(formerly, adopter.key, key);
      if (adopters.length > 1) shared.set(key, adopters.length);
      const known = adopters.find(({ adopts }) => adopts !== LATER);
      if (known !== undefined) addTo(adoptedAs, resourceKeyIn(key), [key, String(known.adopts)]);
      return;
    }
    const [heir] = heirsOf(key, name);
    if (heir !== undefined && isHanded) {
      // The provider sees whether the state has it under the new name (`pulumi state rename`), and sends nothing if not.
      addTo(formerly, heir.key, key);
      addTo(moved, resourceKeyIn(heir.key), resourceKeyIn(key));
      return;
    }
    // The provider reports what the state of a set has, and from the next run on what an interrupted run has left.
    if (heir !== undefined || (isReported !== undefined && standing === "gone")) open.push({ create, heir: heir?.key });
    else if (isReported === undefined && !unclaimed && !isToldOf(create, standing)) left.push(create);
  };

  for (const create of snapshot.creates) {
    const standing = declared.standingOf(create.key);
    if (standing === "moved") noteMoved(create);
    else if (standing !== "declared") noteUndeclared(create, standing);
  }
  for (const [key, { id, name }] of snapshot.objects) {
    const standing = declared.standingOf(key);
    // A run that failed may have left it under both names.
    const now = standing === "moved" ? declared.movedTo(key) : undefined;
    if (now !== undefined) addTo(moved, resourceKeyIn(now), resourceKeyIn(key));
    if (standing === "declared" || standing === "moved") continue;
    // It goes on there.
    if (declared.adopterOf(aboutWhom(key).kind, id) !== undefined) continue;
    for (const heir of heirsOf(key, name)) addTo(formerly, heir.key, key);
  }
  return { open, left, renamedTooEarly: early, formerly, shared, adoptedAs, moved };
}

/**
 * What adopts the object that a create may have made. What it had before, that create has not made. The provider, which sees the values of
 * Outputs, asks the same again.
 */
function adoptersOf(
  { key, id, name, facts, replaces }: CreateRecord,
  declared: Declared,
  { objects }: Snapshot,
): DeclaredObject[] {
  const { kind } = aboutWhom(key);
  return declared.named(kind, name).filter((each) => {
    if (each.adopts === undefined) return false;
    if (each.adopts === LATER) return matchesCreate(each.kind, undefined, each.facts, { kind, facts, replaces });
    const isNew = objects.get(each.key)?.id !== each.adopts && (id === undefined || id === each.adopts);
    return isNew && matchesCreate(each.kind, each.adopts, each.facts, { kind, facts, replaces });
  });
}

/** Answers what would be created with the kind and name of something that an earlier run knew: it may be that under a new name. */
function lookupOfHeirs({ creates, objects }: Snapshot, declared: Declared) {
  const noted = creates.map(({ key }) => key);
  const known = new Set([...noted, ...[...noted, ...objects.keys()].flatMap((key) => declared.movedTo(key) ?? [])]);
  return (formerKey: string, platformName: string | undefined): DeclaredObject[] =>
    declared
      .named(aboutWhom(formerKey).kind, platformName)
      .filter(({ key, adopts }) => adopts === undefined && !objects.has(key) && !known.has(key));
}

/** In characters. */
const MAX_ADOPTED_FOR_WORDS = 200;

function briefingOf(
  { key = "", setOf, objects = [], tells }: Declaration,
  declared: Declared,
  { formerly, shared, adoptedAs, moved }: Undeclared,
): Omit<Briefing, "identity" | "run"> {
  const kind = setOf ?? objects[0]?.kind;
  const adopted = kind === undefined ? "" : declared.adoptedIds(kind.name);
  // A targeted run asks the provider about nothing else than its targets, and a preview says what stays live before it asks about all. But
  // of a program that adopts thousands, not each of thousands of resources carries all ids for the words alone.
  const isToldOfAll = setOf !== undefined || tells.deletes === true || adopted.length <= MAX_ADOPTED_FOR_WORDS;
  const adoptions = kind && {
    adopted: (isToldOfAll && adopted) || undefined,
    adoptsUnknown: declared.othersAdoptLater(kind.name, key) || undefined,
  };
  const before = { moved: moved.has(key) ? [...new Set(moved.get(key))] : undefined };
  const several = objects
    .flatMap((each) => formerly.get(each.key) ?? [])
    .flatMap((former) => {
      const adopters = shared.get(former);
      return adopters === undefined ? [] : [[former, adopters] as const];
    });
  const shares = { adopters: several.length === 0 ? undefined : Object.fromEntries(several) };
  if (setOf === undefined) return { formerly: formerly.get(key), ...shares, ...before, ...adoptions, ...tells };
  const members = objects.flatMap((member): [string, readonly string[]][] => {
    const former = formerly.get(member.key);
    return former === undefined ? [] : [[member.key, former]];
  });
  return {
    membersFormerly: members.length === 0 ? undefined : Object.fromEntries(members),
    ...shares,
    ...adoptions,
    adoptedAs: adoptedAs.get(key)?.length ? Object.fromEntries(adoptedAs.get(key) ?? []) : undefined,
    ...before,
    ...tells,
  };
}
