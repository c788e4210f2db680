/**
 * Takes answers to creates of unknown outcome back: what the state and the journals knew before the answer, they know again. Pure: an
 * exported stack in, an exported stack out.
 */
import { isDeepStrictEqual } from "node:util";
import { enumerate } from "../base/index.js";
import { type LeftLive, leftLiveIn, nameInUrn, splitMember } from "../state/index.js";
import type { Settlement } from "../store/index.js";
import { partsOf, SET_PARTS, withParts } from "./pending-settle.js";
import { currentByUrn, type ExportedStack, inOrder, type Resource, stateIn, withResources } from "./stack-export.js";

/** What a state holds of one create: the resources of its URN, or the parts of its set that are about its key. */
type Slice =
  | { readonly resources: readonly Resource[] }
  | { readonly member: Readonly<Record<(typeof SET_PARTS)[number], unknown>>; readonly left: readonly LeftLive[] };

export function sliceOf(stack: ExportedStack, urn: string): Slice {
  const all = stateIn(stack).resources;
  const { of, key } = splitMember(urn);
  const set = key === undefined ? undefined : currentByUrn(all).get(of);
  if (set === undefined || key === undefined) return { resources: all.filter((each) => each.urn === urn) };
  const parts = partsOf(set);
  const member = Object.fromEntries(SET_PARTS.map((part) => [part, parts[part][key]]));
  const left = leftLiveIn(set.outputs ?? {}).filter((each) => each.key === key);
  return JSON.parse(JSON.stringify({ member, left })) as Slice;
}

/** The same stack, in which what it holds of this create is that. */
function withSlice(stack: ExportedStack, urn: string, slice: Slice): ExportedStack {
  const all = stateIn(stack).resources;
  if ("resources" in slice) {
    return withResources(stack, inOrder([...all.filter((each) => each.urn !== urn), ...slice.resources]));
  }
  const { of, key = "" } = splitMember(urn);
  const isMeant = (set: Resource) => set.urn === of && set.delete !== true;
  return withResources(
    stack,
    all.map((each) => (isMeant(each) ? withMember(each, key, slice) : each)),
  );
}

function withMember(set: Resource, key: string, { member, left }: Extract<Slice, { member: unknown }>): Resource {
  const parts = partsOf(set);
  for (const part of SET_PARTS) {
    delete parts[part][key];
    if (member[part] !== undefined) parts[part][key] = member[part];
  }
  const others = leftLiveIn(set.outputs ?? {}).filter((each) => each.key !== key);
  return withParts(set, parts, [...others, ...left]);
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
  const changed = settlements.filter(({ urn, before, after }) => {
    const now = sliceOf(stack, urn);
    return !isSame(now, after) && !isSame(now, before);
  });
  if (changed.length > 0) {
    const names = enumerate(changed.map(({ urn }) => `"${urn}"`));
    faults.push(`the state has changed since what was answered about ${names}: a run has gone on with it`);
  }
  if (faults.length > 0) throw new Error(`nothing was reopened: ${faults.join("; ")}`);
  return {
    settlements,
    stack: settlements.reduce(
      (so, { urn, before }) => (isSame(sliceOf(so, urn), before) ? so : withSlice(so, urn, before as Slice)),
      stack,
    ),
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
