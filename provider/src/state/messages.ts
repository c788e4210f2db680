/** Messages that the program process, the provider process and the command share. Pure. */
import { agree, inStack, printable, shellWord } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { CreateRecord } from "./stored.js";

/** How many objects a run's message lists at most; `pending` lists all. */
export const MAX_LISTED = 20;

/** Describes an object to look for in the account: `the ConversionEvent named "Signup" (advertiserId 1), sent at …`. */
export function describe(kind: Kind["name"], create: CreateRecord): string {
  const { name, facts = {}, field, mark, replaces, at } = create;
  const details = Object.entries(facts).map(
    ([property, value]) => `${property} ${printable(String(value))}`,
  );
  let text = `the ${kind}`;
  if (name !== undefined) text += ` named "${printable(name)}"`;
  if (details.length > 0) text += ` (${details.join(", ")})`;
  if (at !== "") text += `, sent at ${at}`;
  if (field !== undefined) text += `, ${field} = ${mark}`;
  if (replaces !== undefined) text += ` (not ${replaces}, the object that it replaces)`;
  return text;
}

/** Advice on how to avoid a replacement. @param id of the object, or "one". */
export function howToKeep(id: string): string {
  return `To keep ${id}, undo the change; or set existingId, and make the change on the platform by hand.`;
}

/** Follows "customTimeouts". A dynamic provider isn't given that option, and a create isn't cut short. */
export const TIMEOUTS_IGNORED =
  "is ignored. Each request has the time of advertising:requestTimeoutSeconds, and waits for rate limits at most advertising:maxWaitSeconds";

export function pendingCommandLine(
  option: "created" | "not-created" | "forget",
  names: readonly string[],
): string {
  const options = names
    .slice(0, MAX_LISTED)
    .map((name) => `--${option} ${shellWord(name)}`);
  return inStack(`npx pulumi-advertising pending ${options.join(" ")}`);
}

/** The commands that resolve creates, one for each answer. @param shorts the creates' names in commands. */
export function answerCommands(shorts: readonly string[]): string[] {
  const they = agree(shorts.length, "If it is", "For those that are");
  const ids = shorts.map((short) => `${short}=<its id>`);
  return [
    `${they} in the account:`,
    `  ${pendingCommandLine("created", ids)}`,
    `${they} not in the account:`,
    `  ${pendingCommandLine("not-created", shorts)}`,
  ];
}

/** The same commands, and what to run after them. */
export function resolveCommands(shorts: readonly string[]): string[] {
  const lines = answerCommands(shorts);
  const others = shorts.length - MAX_LISTED;
  if (others > 0) lines.push(`The same for ${others} more, which \`pending\` lists.`);
  lines.push(
    `Then run \`${inStack("pulumi up")}\`. Instead of --created, you can set existingId: <its id> in the program.`,
  );
  return lines;
}

/** A sentence about a create of an earlier run: its id, or when it was sent. */
export function whatHappened(
  label: string,
  { id, at }: Pick<CreateRecord, "at"> & { id?: string | undefined },
): string {
  if (id !== undefined) return `${label}: an earlier run created it as ${id}.`;
  const when = at === "" ? "" : ` at ${at}`;
  return `${label}: an earlier run sent it${when}, and its outcome is unknown.`;
}

/** A clause about objects that are no longer managed, without a full stop. @param subject the object or objects. */
export function staysLive(
  { unmanagedNotice }: Pick<Kind, "unmanagedNotice">,
  subject: string,
): string {
  return `${subject} ${unmanagedNotice}; once nothing uses it, deactivate it by hand`;
}

/** About an object whose delete is due: the comment counts these messages, since Pulumi's JSON leaves the steps out. */
export const REPLACED_BEFORE = "was replaced by an earlier run";
