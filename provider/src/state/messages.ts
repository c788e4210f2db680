/** Sentences shared by the program process, the provider process and the command, one function each. Decides nothing. */
import { asTyped, printable, shellWord } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { ParsedKey } from "./names.js";
import type { CreateRecord, Unresolved } from "./stored.js";

/** More are only counted in a run's message: `pending` lists all of them. */
export const MAX_LISTED = 20;

/** What to look for in the account: `the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at …`. */
export function describe(
  kind: Kind["name"],
  { name, facts = {}, field, mark, replaces, at }: CreateRecord,
): string {
  const told = Object.entries(facts).map(
    ([property, value]) => `${property} ${printable(String(value))}`,
  );
  return [
    `the ${kind}${name === undefined ? "" : ` named "${printable(name)}"`}`,
    told.length === 0 ? "" : ` (${told.join(", ")})`,
    at === "" ? "" : `, sent at ${at}`,
    field === undefined ? "" : `, ${field} = ${mark}`,
    replaces === undefined ? "" : `; ${replaces} is another one`,
  ].join("");
}

/** Of what is to be replaced. @param id the platform's, or "one". */
export function howToKeep(id: string): string {
  return `To keep ${id}, undo the change; or set existingId, and make the change on the platform by hand.`;
}

export function pendingCommand(
  option: "created" | "not-created" | "forget",
  names: readonly string[],
): string {
  const given = names.slice(0, MAX_LISTED).map((name) => `--${option} ${shellWord(name)}`);
  return asTyped(`npx pulumi-advertising pending ${given.join(" ")}`);
}

/** The commands that resolve creates of unknown outcome, one for each answer. @param shorts their names in commands. */
export function settlingCommands(shorts: readonly string[]): string[] {
  const they = shorts.length === 1 ? "If it is" : "For those that are";
  const ids = shorts.map((short) => `${short}=<its id>`);
  return [
    `${they} there:`,
    `  ${pendingCommand("created", ids)}`,
    `${they} not there:`,
    `  ${pendingCommand("not-created", shorts)}`,
  ];
}

/** The same, and what to do after that. */
export function resolveCommands(shorts: readonly string[]): string[] {
  const id = shorts.length === 1 ? "<its id>" : "<an id>";
  const more = shorts.length - MAX_LISTED;
  return [
    ...settlingCommands(shorts),
    ...(more > 0 ? [`The same for ${more} more, which \`pending\` lists.`] : []),
    `Then run \`${asTyped("pulumi up")}\`. In the program, existingId: ${id} does the same as --created.`,
  ];
}

/** The message of an unresolved create each time that it stops a run. @param why `existingId` does not resolve it. */
export function unresolvedMessage(
  { kind, short }: Pick<ParsedKey, "kind" | "short">,
  record: Unresolved,
  why?: string,
): string {
  return [
    ...(why === undefined ? [] : [why]),
    `Look in the account for ${describe(kind, record)}. Its outcome is unknown, so it is not sent again.`,
    ...resolveCommands([short]),
    `What happened: ${whatIsKnown(record)}`,
  ].join("\n");
}

export function whatIsKnown({ what, searched }: Unresolved): string {
  return searched === undefined ? what : `${what} ${searched}`;
}

interface Known {
  readonly at: string;
  readonly id?: string | undefined;
  readonly state?: string | undefined;
}

/** What this machine knows of a create of an earlier run, which ended cleanly if it was reported. */
export function whatHappened(label: string, { at, id, state }: Known): string {
  if (id === undefined)
    return `${label}: an earlier run sent it at ${at}, and its outcome is unknown.`;
  return `${label}: ${state === "reported" ? "an earlier run" : "an interrupted run"} created it as ${id}.`;
}

/** What becomes of an object that is no longer managed; without a full stop. @param subject the object or objects. */
export function staysLive(
  { unmanagedNotice }: Pick<Kind, "unmanagedNotice">,
  subject: string,
): string {
  return `${subject} ${unmanagedNotice}; deactivate it there by hand`;
}
