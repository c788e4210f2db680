/**
 * Takes objects off the list of what was left live: the state says when somebody saw to them. Pure: an exported stack in, an
 * exported stack out.
 */

import { leftLiveIn, leftLiveKind, writeLeftLive } from "../state/index.js";
import { type Leftover, leftoversOf } from "./report-leftovers.js";
import { type ExportedStack, expectNothingPending, idsIn, type Resource, stateIn } from "./stack-export.js";

/**
 * @param wanted ids, or `<kind>:<id>` where an advertiser and an event have the same one. @param at ISO 8601.
 * @returns the stack, and what is on the list no more.
 * @throws Error with all that is wrong with them, or where the import of the state would lose something.
 */
export function markDone(
  stack: ExportedStack,
  wanted: readonly string[],
  at: string,
): { readonly stack: ExportedStack; readonly done: readonly Leftover[] } {
  const { deployment } = stack;
  expectNothingPending(deployment);
  const done = chosenOf(wanted, stack);
  const isDone = (kind: string | undefined, id: string) => done.some((each) => each.kind === kind && each.id === id);
  const resources = (deployment.resources ?? []).map((resource): Resource => {
    const { type, outputs = {} } = resource;
    const [kind, left] = [leftLiveKind(type), leftLiveIn(outputs)];
    if (!left.some(({ id }) => isDone(kind, id))) return resource;
    const marked = left.map((each) => (isDone(kind, each.id) ? { ...each, done: at } : each));
    return { ...resource, outputs: { ...outputs, ...writeLeftLive(marked) } };
  });
  return { stack: { ...stack, deployment: { ...deployment, resources } }, done };
}

function chosenOf(wanted: readonly string[], stack: ExportedStack): Leftover[] {
  const faults: string[] = [];
  const listed = leftoversOf(stateIn(stack), []);
  const held = idsIn(stack);
  const chosen = [...new Set(wanted)].flatMap((text): Leftover[] => {
    const [, kind, id = ""] = /^(?:(\w+):)?(\d{1,30})$/.exec(text) ?? [];
    const found = listed.filter((each) => each.id === id && (kind === undefined || each.kind === kind));
    const [only] = found;
    const holder = [...held].find(
      ([key]) => key.endsWith(` ${id}`) && (kind === undefined || key.startsWith(kind)),
    )?.[1];
    if (id === "") faults.push(`--done takes an id of the list, such as 4711 or ConversionEvent:4711; got "${text}"`);
    else if (only === undefined && holder !== undefined)
      faults.push(`${text} is managed: the state holds it as ${holder}`);
    else if (only === undefined) faults.push(`${text} is not on the list`);
    else if (found.length > 1)
      faults.push(`${text} is ${found.map((each) => `${each.kind}:${id}`).join(" or ")}: say which`);
    else if (only.at === "")
      faults.push(`${text} still stands in the state: the next \`pulumi up\` takes it out; do that first`);
    else return [only];
    return [];
  });
  if (faults.length > 0) throw new Error(`nothing was taken off the list: ${faults.join("; ")}`);
  return chosen;
}
