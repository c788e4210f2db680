/**
 * Takes answers to creates of unknown outcome back: what the state and the journals knew before the answer, they know again. Pure: an
 * exported stack in, an exported stack out.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, enumerate } from "../base/index.js";
import { type LeftLive, leftLiveIn, nameInUrn, splitMember } from "../state/index.js";
import type { Settlement } from "../store/index.js";
import { partsOf, SET_PARTS, withParts } from "./pending-settle.js";
import { currentByUrn, type ExportedStack, inOrder, type Resource, stateIn, withResources } from "./stack-export.js";

/** What a state holds of one create: the resources of its URN, or the parts of its set that are about its key. */
type Slice = { readonly resources: readonly Resource[] } | MemberSlice;

interface MemberSlice {
  readonly member: Readonly<Record<(typeof SET_PARTS)[number], unknown>>;
  readonly left: readonly LeftLive[];
}

export function sliceOf(stack: ExportedStack, urn: string): Slice {
  const all = stateIn(stack).resources;
  const { of, key } = splitMember(urn);
  const set = key === undefined ? undefined : currentByUrn(all).get(of);
  if (set === undefined || key === undefined) return { resources: all.filter((each) => each.urn === urn) };
  const outputs = set.outputs ?? {};
  const member = Object.fromEntries(SET_PARTS.map((part) => [part, asRecord(outputs[part])[key]]));
  const left = leftLiveIn(outputs).filter((each) => each.key === key);
  return JSON.parse(JSON.stringify({ member, left })) as Slice;
}

/** The same stack, in which what it holds of each of these creates is its slice. */
function withSlices(stack: ExportedStack, slices: ReadonlyMap<string, Slice>): ExportedStack {
  const whole = [...slices].flatMap(([urn, slice]) => ("resources" in slice ? [{ urn, ...slice }] : []));
  const parts = [...slices].flatMap(([urn, slice]) => ("member" in slice ? [{ ...splitMember(urn), ...slice }] : []));
  const bySet = Map.groupBy(parts, ({ of }) => of);
  const isWhole = new Set(whole.map(({ urn }) => urn));
  const others = stateIn(stack).resources.filter(({ urn }) => !isWhole.has(urn));
  return withResources(
    stack,
    inOrder([...others, ...whole.flatMap(({ resources }) => resources)]).map((each) => {
      const members = each.delete === true ? undefined : bySet.get(each.urn);
      return members === undefined ? each : withMembers(each, members);
    }),
  );
}

function withMembers(set: Resource, slices: readonly (MemberSlice & { readonly key: string | undefined })[]): Resource {
  const parts = partsOf(set);
  for (const { key = "", member } of slices) {
    for (const part of SET_PARTS) {
      delete parts[part][key];
      if (member[part] !== undefined) parts[part][key] = member[part];
    }
  }
  const keys = new Set(slices.map(({ key }) => key));
  const others = leftLiveIn(set.outputs ?? {}).filter(({ key }) => !keys.has(key));
  return withParts(set, parts, [...others, ...slices.flatMap(({ left }) => left)]);
}

export interface Reopened {
  readonly settlements: readonly Settlement[];
  readonly stack: ExportedStack;
}

/**
 * @param wanted URNs, of sets for all their members, or names. @param known what was answered since the last `up`.
 * @throws Error with all that can't be taken back; then nothing is.
 */
export function reopen(stack: ExportedStack, wanted: readonly string[], known: readonly Settlement[]): Reopened {
  const faults: string[] = [];
  const found = wanted.flatMap((text) => {
    const isMeant = (urn: string) =>
      [urn, nameInUrn(urn)].some((each) => each === text || splitMember(each).of === text);
    const meant = known.filter(({ urn }) => isMeant(urn));
    if (meant.length === 0) {
      faults.push(`no answer about "${text}" is noted on this machine that no \`pulumi up\` has gone through since`);
    }
    if (new Set(meant.map(({ urn }) => splitMember(urn).of)).size > 1)
      faults.push(`"${text}" is the name of several: give the URN`);
    return meant;
  });
  const settlements = [...new Set(found)];
  // What is as it was before the answer needs no more.
  const answered = settlements.filter(({ urn, before }) => !isSame(sliceOf(stack, urn), before));
  const changed = answered.filter(({ urn, after }) => !isSame(sliceOf(stack, urn), after));
  if (changed.length > 0) {
    const names = enumerate(changed.map(({ urn }) => `"${urn}"`));
    faults.push(`the state has changed since what was answered about ${names}: a run has gone on with it`);
  }
  if (faults.length > 0) throw new Error(`nothing was reopened: ${faults.join("; ")}`);
  return {
    settlements,
    stack:
      answered.length === 0
        ? stack
        : withSlices(stack, new Map(answered.map(({ urn, before }) => [urn, before as Slice]))),
  };
}

/** Of a resource, what a run goes on with. */
function isSame(one: unknown, other: unknown): boolean {
  const told = (slice: unknown) =>
    "resources" in (slice as Slice)
      ? (slice as { resources: Resource[] }).resources.map(({ id, delete: isReplaced }) => [id, isReplaced === true])
      : (slice as { member: Record<string, unknown> }).member;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(told(one))), JSON.parse(JSON.stringify(told(other))));
}
