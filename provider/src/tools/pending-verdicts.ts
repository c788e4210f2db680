/**
 * What users say of creates of unknown outcome, held against what is known of them. Pure.
 */
import { nameInUrn, splitMember } from "../state/index.js";
import type { Verdict } from "./pending.js";
import type { PendingCreate } from "./pending-sets.js";
import { type ExportedStack, idsIn } from "./stack-export.js";

/** As it is typed: `URN=ID`, or a URN. */
export interface Given {
  readonly created: readonly string[];
  readonly notCreated: readonly string[];
}

/** All that is wrong with them at once. */
export function readVerdicts(given: Given, pending: readonly PendingCreate[], stack: ExportedStack): Verdict[] {
  const faults: string[] = [];
  const verdicts: Verdict[] = [];
  const held = idsIn(stack);
  const add = (wanted: string, createdAs: string | undefined) => {
    const found = pending.filter(({ urn }) => urn === wanted || nameInUrn(urn) === wanted);
    const [only] = found;
    const ofSet = pending.filter(({ urn }) => isMemberOf(wanted, urn));
    if (only === undefined && createdAs === undefined && ofSet.length > 0) {
      for (const { urn } of ofSet) verdicts.push({ urn, createdAs });
    } else if (only === undefined && ofSet.length > 0) {
      faults.push(`"${wanted}" is a set: give the key of its event behind it, as ${ofSet[0]?.urn}`);
    } else if (only === undefined) faults.push(`"${wanted}" is no pending create`);
    else if (found.length > 1) faults.push(`"${wanted}" is the name of ${found.length} pending creates: give the URN`);
    else if (verdicts.some(({ urn }) => urn === only.urn)) faults.push(`"${wanted}" is settled twice`);
    else {
      const holder = createdAs === undefined ? undefined : held.get(`${only.kind} ${createdAs}`);
      const twin = verdicts.find((verdict) => createdAs !== undefined && verdict.createdAs === createdAs);
      if (createdAs !== undefined && createdAs === only.held?.id)
        faults.push(`${createdAs} is not the id of "${wanted}", but of what the state holds already`);
      else if (createdAs !== undefined && (createdAs === only.record.replaces || holder === only.urn))
        faults.push(`${createdAs} is not the id of "${wanted}", but of what it was to replace`);
      else if (holder !== undefined)
        faults.push(`${createdAs} is not the id of "${wanted}": the state holds it as ${holder}`);
      else if (twin !== undefined && kindOf(pending, twin) === only.kind)
        faults.push(`${createdAs} can't be both "${wanted}" and ${twin.urn}`);
      else verdicts.push({ urn: only.urn, createdAs });
    }
  };
  for (const text of given.created) {
    const [, urn, id] = /^(.+)=(\d{1,30})$/.exec(text) ?? [];
    const known = pending.filter(
      (each) => each.record.id !== undefined && (each.urn === text || isMemberOf(text, each.urn)),
    );
    if (urn === undefined && known.length > 0) for (const each of known) add(each.urn, each.record.id);
    else if (urn === undefined || id === undefined)
      faults.push(`--created takes URN=ID with a number as ID; got "${text}"`);
    else add(urn, id);
  }
  for (const urn of given.notCreated) add(urn, undefined);
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return verdicts;
}

/** Whether it is a member of this set, which is named by its URN or in the program. */
function isMemberOf(set: string, urn: string): boolean {
  const { of, key } = splitMember(urn);
  return key !== undefined && (of === set || nameInUrn(of) === set);
}

function kindOf(pending: readonly PendingCreate[], { urn }: Verdict): string | undefined {
  return pending.find((create) => create.urn === urn)?.kind;
}
