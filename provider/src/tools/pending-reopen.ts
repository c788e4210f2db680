/**
 * Takes answers to creates of unknown outcome back: what the state and the journals knew before the answer, they know again. Pure: an
 * exported stack in, an exported stack out.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, enumerate } from "../base/index.js";
import { LEFT_LIVE, leftLiveIn, nameInUrn, splitMember, UNRESOLVED, writeLeftLive } from "../state/index.js";
import type { Settlement } from "../store/index.js";
import { currentByUrn, type ExportedStack, inOrder, type Resource } from "./stack-export.js";

/** What a state holds of one create: the resources of its URN, or the parts of its set that are about its key. */
type Slice =
  | { readonly resources: readonly Resource[] }
  | { readonly member: Readonly<Record<(typeof PARTS)[number], unknown>>; readonly left: readonly object[] };

const PARTS = ["events", "eventIds", "earlier", UNRESOLVED] as const;

export function sliceOf({ deployment }: ExportedStack, urn: string): Slice {
  const all = deployment.resources ?? [];
  const { of, key } = splitMember(urn);
  const set = key === undefined ? undefined : currentByUrn(all).get(of);
  if (set === undefined || key === undefined) return { resources: all.filter((each) => each.urn === urn) };
  const outputs = set.outputs ?? {};
  const member = Object.fromEntries(PARTS.map((part) => [part, asRecord(outputs[part])[key]]));
  const left = leftLiveIn(outputs).filter((each) => each.key === key);
  return JSON.parse(JSON.stringify({ member, left })) as Slice;
}

/** The same stack, in which what it holds of this create is that. */
function withSlice(stack: ExportedStack, urn: string, slice: Slice): ExportedStack {
  const { deployment } = stack;
  const all = deployment.resources ?? [];
  if ("resources" in slice) {
    const resources = inOrder([...all.filter((each) => each.urn !== urn), ...slice.resources]);
    return { ...stack, deployment: { ...deployment, resources } };
  }
  const { of, key = "" } = splitMember(urn);
  const resources = all.map((set) => (set.urn === of && set.delete !== true ? withMember(set, key, slice) : set));
  return { ...stack, deployment: { ...deployment, resources } };
}

function withMember(set: Resource, key: string, { member, left }: Extract<Slice, { member: unknown }>): Resource {
  const { [LEFT_LIVE]: _, ...outputs } = set.outputs ?? {};
  const others = leftLiveIn(set.outputs ?? {}).filter((each) => each.key !== key);
  const parts = PARTS.map((part) => {
    const { [key]: _, ...rest } = asRecord(outputs[part]);
    return [part, member[part] === undefined ? rest : { ...rest, [key]: member[part] }] as const;
  });
  const kept = parts.filter(
    ([part, value]) => part === "events" || part === "eventIds" || Object.keys(value).length > 0,
  );
  const { earlier: _e, [UNRESOLVED]: _u, ...rest } = outputs;
  return {
    ...set,
    initErrors: set.initErrors ?? ["Creates of some events have an unknown outcome."],
    outputs: { ...rest, ...Object.fromEntries(kept), ...writeLeftLive([...others, ...(left as typeof others)]) },
  };
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
    stack: settlements.reduce((so, { urn, before }) => withSlice(so, urn, before as Slice), stack),
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
