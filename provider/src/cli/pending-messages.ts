/** What `pending` prints: facts in, lines out. Pure. */
import { asTyped, count, plainShellWord } from "../base/index.js";
import {
  describe,
  pendingCommandLine as printed,
  resolveCommands,
  stackOption,
} from "../state/index.js";
import type { Answer } from "./pending-answers.js";
import type { Create, Facts } from "./pending-facts.js";

export function resolvedMessage({ create, id, managedAs, isForgotten }: Answer): string {
  const { short } = create.ref;
  if (isForgotten === true)
    return `Forgotten: ${short} (${whatIsKnown(create)}). The object, if there is one, is not touched.`;
  if (id === undefined) return `Resolved as not created: ${short}`;
  if (managedAs !== undefined)
    return `Resolved: ${short} is ${id}, which is managed as ${managedAs}`;
  return `Resolved as created with id ${id}: ${short}`;
}

/** What a journal had as open, and the state has by another create. */
export function heldMessage({ ref, record, held }: Create): string {
  return (
    `${ref.short}: an earlier run sent it at ${record.at}, and the state has ${held}. ` +
    "If the account has a second one, it's unmanaged."
  );
}

/** Whether somebody has to answer. A stack that is gone has no run that asks. */
export function isAsked(facts: Facts): boolean {
  return facts.open.length > 0 || facts.elsewhere.some((create) => isOfGone(create, facts));
}

/** Whether its stack does not exist any more: it was renamed, perhaps to this one, or removed. */
function isOfGone({ elsewhere }: Create, { place, existing }: Facts): boolean {
  if (elsewhere?.backend !== place.backend) return false;
  return !existing.includes(elsewhere.stack);
}

/** @param clearing the command that drops Pulumi's record. */
export function listing(facts: Facts, clearing: string): string[] {
  const { open, made, elsewhere } = facts;
  const names = namesOf(open);
  const lines: string[] = [];
  if (open.length > 0)
    lines.push(
      `${count(open.length, "create")} may or may not have reached the platform:`,
      ...open.map((create, index) => `  ${names[index]}: ${whatIsKnown(create)}`),
    );
  if (open.some(({ known }) => known === "record"))
    lines.push(
      "A run that is still under way on another machine looks the same: let it end first.",
    );
  if (open.length > 0) lines.push(...resolveCommands(names));
  if (!isAsked(facts)) lines.push("Nothing is pending.");
  if (made.length > 0)
    lines.push(
      "Created by earlier runs, and not in the state yet:",
      ...made.map((create) => `  ${create.ref.short}: ${whatIsKnown(create)}`),
      `The next \`${asTyped("pulumi up")}\` on this machine with the same account takes over ` +
        "what the program still declares as sent.",
    );
  const byStack = Map.groupBy(elsewhere, (create) => JSON.stringify(create.elsewhere));
  for (const creates of byStack.values()) lines.push(...linesOfStack(creates, facts));
  // It keeps that over any number of runs, and this command may ask about it again.
  if (facts.isRecorded)
    lines.push(
      `Once nothing is open and an up has ended, drop Pulumi's record of the interrupted run:\n  ${clearing}`,
    );
  return lines;
}

function whatIsKnown({ ref, record }: Create): string {
  if (record.id !== undefined) return `created as ${record.id}`;
  return `look in the account for ${describe(ref.kind, record)}`;
}

function namesOf(open: readonly Create[]): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  return open.map(({ ref }) => (byShort.get(ref.short)?.length === 1 ? ref.short : ref.urn));
}

/** @param creates of one other stack of the project. */
function linesOfStack(creates: readonly Create[], facts: Facts): string[] {
  const [first] = creates;
  const { stack = "", backend = "" } = first?.elsewhere ?? {};
  const name = stackOption(stack).value;
  const has =
    `The stack ${name} (backend ${backend}) has ` +
    `${count(creates.length, "open create")} of an interrupted run on this machine`;
  const word = plainShellWord(name);
  if (first === undefined || !isOfGone(first, facts))
    return [
      `${has}. To see what becomes of that:`,
      `  npx pulumi-advertising pending --stack ${word}`,
    ];
  return [
    `${has}, but that stack no longer exists:`,
    ...creates.map((create) => `  ${create.ref.urn}: ${whatIsKnown(create)}`),
    "If it was renamed to this stack:",
    `  ${asTyped(`npx pulumi-advertising pending --take-over ${word}`)}`,
    "If it was renamed to another stack, run that with its name as --stack.",
    "If it was removed:",
    `  ${printed(
      "forget",
      creates.map(({ ref }) => ref.urn),
    )}`,
  ];
}
