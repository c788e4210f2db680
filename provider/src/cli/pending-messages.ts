/** What `pending` prints: facts in, lines out. Pure. */
import {
  agree,
  asTyped,
  count,
  cut,
  enumerate,
  idRanges,
  plainShellWord,
} from "../base/index.js";
import {
  describe,
  MAX_LISTED,
  pendingCommandLine as printed,
  resolveCommands,
  stackOption,
} from "../state/index.js";
import type { Answer } from "./pending-answers.js";
import type { Create, Facts, Note } from "./pending-facts.js";

export const UNDER_WAY =
  "A run of this stack is under way on this machine. Let it end, then run this again: " +
  "it may resolve what is listed here.";

export function resolvedMessage({ create: { ref }, id, managedAs }: Answer): string {
  if (id === undefined) return `Resolved as not created: ${ref.short}`;
  if (managedAs !== undefined)
    return `Resolved: ${ref.short} is ${id}, which is managed as ${managedAs}`;
  return `Resolved as created with id ${id}: ${ref.short}`;
}

export function forgottenMessage({ ref, record: { id, at } }: Create | Note): string {
  let what = `sent at ${at || "an unknown time"}`;
  if (id !== undefined) what = `created as ${id}`;
  return `Forgotten: ${ref.short}, ${what}. The object, if there is one, is not touched.`;
}

/** What a journal had as open, and the state has by another create. */
export function heldMessage({ ref, record, held }: Note): string {
  return (
    `${ref.short}: an earlier run sent it at ${record.at}, and the state has ${held}. ` +
    "If the account has a second one, it's unmanaged."
  );
}

/** Whether somebody has to answer: what a stack that is gone has open was perhaps this one's, renamed. */
export function isAsked({ open, elsewhere }: Facts): boolean {
  return open.length > 0 || elsewhere.some((create) => create.isPerhapsOurs === true);
}

const WAS_UPDATE =
  'If that run had an update in advertising:operations, nothing was created for what says "which it replaces": ' +
  "the object was updated. Resolve these with --not-created; look in the account for all others.";

/** @param clearing the command that drops Pulumi's record, if it has one. */
export function listing(facts: Facts, clearing: string | undefined): string[] {
  const { open, made } = facts;
  const lines = openCreateLines(facts);
  const recorded = open.filter((create) => create.known === "record");
  if (recorded.some(({ record }) => record.replaces !== undefined)) lines.push(WAS_UPDATE);
  if (recorded.length > 0)
    lines.push(
      "A run that is still under way on another machine looks the same: let it end first.",
    );
  if (open.length > 0) lines.push(...resolveCommands(namesOf(open)));
  if (made.length > 0) lines.push(madeMessage(made));
  lines.push(...elsewhereLines(facts));
  // It keeps it over any number of runs, and says nothing of when the interrupted one was.
  if (clearing !== undefined)
    lines.push(
      "Pulumi keeps its record of the interrupted run, and this command may ask about it again. " +
        `Once nothing is open and \`pulumi up\` has ended, drop it:\n  ${clearing}`,
    );
  return lines;
}

function openCreateLines(facts: Facts): string[] {
  const { open } = facts;
  if (open.length > 0) {
    const names = namesOf(open);
    return [
      `${count(open.length, "create")} may or may not have reached the platform:`,
      ...open.map((create, index) => `  ${names[index]}: ${whereToLook(create)}`),
    ];
  }
  if (isAsked(facts)) return ["Nothing of this stack is pending."];
  return ["Nothing is pending."];
}

function whereToLook({ ref, record, alternative: or }: Create): string {
  const look = `look in the account for ${describe(ref.kind, record)}`;
  if (or === undefined) return look;
  return `${look}, or for ${describe(ref.kind, or)}`;
}

function namesOf(open: readonly Create[]): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  return open.map(({ ref }) => (byShort.get(ref.short)?.length === 1 ? ref.short : ref.urn));
}

/** Every id is said: an interrupted run may leave thousands, which a range tells. */
function madeMessage(made: readonly Note[]): string {
  const told = made.map(({ ref, record }) => `${ref.short} (${record.id})`);
  const rest = idRanges(made.slice(MAX_LISTED).flatMap(({ record }) => record.id ?? []));
  const names = enumerate(cut(told, MAX_LISTED, (others) => `${others} more (${rest})`));
  const them = agree(made.length, "it", "them");
  return (
    `Created by earlier runs, and not in the state yet: ${names}. ` +
    `The next \`${asTyped("pulumi up")}\` on this machine with the same account takes ` +
    `${them} over, if the program still declares ${them} as sent.`
  );
}

/** What other stacks of the project have open, by stack and backend. */
function elsewhereLines({ elsewhere }: Facts): string[] {
  const placeOf = ({ elsewhere: there }: Create) =>
    JSON.stringify([there?.stack, there?.backend]);
  return [...Map.groupBy(elsewhere, placeOf).values()].flatMap(linesOfStack);
}

function linesOfStack(creates: readonly Create[]): string[] {
  const [first] = creates;
  const { stack = "", backend = "" } = first?.elsewhere ?? {};
  const name = stackOption(stack).value;
  const has =
    `The stack ${name} (backend ${backend || "unknown"}) has ` +
    `${count(creates.length, "open create")} of an interrupted run on this machine`;
  const its = `npx pulumi-advertising pending --stack ${plainShellWord(name)}`;
  if (first?.isOfGone !== true) return [`${has}. To see what becomes of that:\n  ${its}`];
  const takeOver = `npx pulumi-advertising pending --take-over ${plainShellWord(name)}`;
  const urns = creates.map(({ ref }) => ref.urn);
  return [
    `${has}, but that stack no longer exists:`,
    ...cut(creates.map(elsewhereLine), MAX_LISTED, (more) => `  and ${more} more`),
    "If it was renamed to this stack:",
    `  ${asTyped(takeOver)}`,
    "If it was renamed to another stack, run that command there instead, with its --stack.",
    "If it was removed:",
    `  ${printed("forget", urns)}`,
  ];
}

function elsewhereLine(create: Create): string {
  const { ref, record } = create;
  if (record.id !== undefined) return `  ${ref.urn}: created as ${record.id}`;
  return `  ${ref.urn}: ${whereToLook(create)}`;
}
