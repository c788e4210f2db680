/**
 * A preview as a comment on a pull request: counts first, then what deserves attention, a table, and the rest folded. In the
 * Markdown of GitHub and GitLab.
 */
import { agree, count, enumerate, excerpt, printable } from "../base/index.js";
import { argumentNames, changesIn, holdsUnknown } from "../decision/index.js";
import { advertiser } from "../kinds/index.js";
import { UNKNOWN } from "../state/index.js";
import { type Change, type Preview, SECRET_TEXT } from "./preview.js";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** Not what stays as it is. */
const WORDS: Readonly<Record<Exclude<Change["action"], "keep">, string>> = {
  create: "create",
  adopt: "adopt",
  replace: "replace",
  "perhaps replace": "replace if the advertiser's id changes",
  update: "update in place",
  delete: "leave the state and be deleted",
  "let go": "leave the state and stay live",
  move: "move elsewhere and stay managed",
  "look for": "look for, and create if it is not there",
  wait: "stay unresolved until somebody settles it",
};
const ACTIONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

/** In the tables, where the name of the action is none that people use. */
const TITLES: Partial<Record<Change["action"], string>> = {
  "let go": "leave live",
  move: "managed elsewhere",
  "look for": "search",
  wait: "unresolved",
};
const titleOf = (action: Change["action"]) => TITLES[action] ?? action;

export interface Comment {
  readonly text: string;
  /** How many creates look like renames, and how many objects are replaced, perhaps or surely. */
  readonly renames: number;
  readonly replacements: number;
}

export function commentOf({ changes, hidden, others, diagnostics }: Preview): Comment {
  const renames = renamesAmong(changes);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  // A note about no resource, such as a preview without a password, is for those who run it.
  const said = diagnostics.filter(
    ({ severity, about }) => severity !== "error" && (severity !== "info" || about !== ""),
  );
  const head = [
    "### Advertisers and conversion events",
    ...(errors.length === 0 ? [] : [`**The preview failed: ${count(errors.length, "error")}.**`]),
    ...countsOf(changes, others, errors.length > 0, hidden.length > 0),
    ...(hidden.length === 0
      ? []
      : [
          `Not counted: the events of ${enumerate(hidden.map(code), MAX_NAMED)}, which are secret. Messages say what becomes of them.`,
        ]),
    ...fates(changes),
    summaryTable(changes),
  ].join("\n\n");
  // What comes first takes what it needs; each part says what it had to leave out.
  const parts: Part[] = [
    { title: "Errors", lines: errors.map(item) },
    { title: "Looks like a rename", lines: renames.map(renameItem) },
    { title: "Replaced advertisers", lines: advertiserItems(changes) },
    { title: "Changes", lines: changeRows(changes), folded: { header: 2 } },
    { title: "Messages", lines: said.map(item), folded: { header: 0 } },
  ];
  const text = `${parts.reduce((all, part) => `${all}${fitting(part, MAX_CHARACTERS - all.length - 3)}`, head)}\n`;
  const replacements = changes.filter(({ action }) => action === "replace" || action === "perhaps replace").length;
  return { text, renames: renames.length, replacements };
}

interface Part {
  readonly title: string;
  readonly lines: readonly string[];
  /** Not open at first. `header`: so many lines before the first item. */
  readonly folded?: { readonly header: number };
}

/** @param isPart the preview failed: what it did not get to may change too. @param mayBeMore what is not shown changes too. */
function countsOf(changes: readonly Change[], others: number, isPart: boolean, mayBeMore: boolean): string[] {
  const parts = ACTIONS.map((action) => ({ action, amount: withAction(changes, action).length }));
  const some = parts.filter(({ amount }) => amount > 0);
  const ours = some.map(({ action, amount }) => `${amount} to ${WORDS[action]}`).join(", ");
  const told = [
    ...(ours === "" && (isPart || mayBeMore) ? [] : [`**${ours || "The preview shows no changes"}**`]),
    ...(others === 0 ? [] : [`${count(others, "change")} of other resources`]),
  ].join("; and ");
  return told === "" ? [] : [`${isPart ? "As far as it got: " : ""}${told}`];
}

function withAction(changes: readonly Change[], action: Change["action"]): Change[] {
  return changes.filter((change) => change.action === action);
}

/** How many objects would leave the state: those that stay live, and those that are deleted. */
function fates(changes: readonly Change[]): string[] {
  const former = changes.flatMap((change) => change.former ?? []);
  const told = (amount: number, fate: string) =>
    amount === 0
      ? []
      : [`Up to ${count(amount, "object")} would ${fate}; tags keep firing ${agree(amount, "its id", "their ids")}.`];
  const deleted = former.filter(({ isDeleted }) => isDeleted).length;
  return [
    ...told(former.length - deleted, "stay live on the platform, managed by nothing"),
    ...told(deleted, "be deleted on the platform, which can't be undone"),
  ];
}

function summaryTable(changes: readonly Change[]): string {
  const present = ACTIONS.filter((action) => withAction(changes, action).length > 0);
  const due = changes.filter(({ action }) => action !== "keep");
  const kinds = [...new Set(due.map(({ kind }) => kind.name))].toSorted();
  if (kinds.length === 0) return "";
  const rows = kinds.map((kind) => [
    kind,
    ...present.map((action) =>
      String(withAction(changes, action).filter((change) => change.kind.name === kind).length),
    ),
  ]);
  return tableLines(["", ...present.map(titleOf)], rows).join("\n");
}

interface Rename {
  readonly from: Change;
  readonly to: Change;
}

/**
 * A new object whose body is that of one which leaves the state is likely the same one under another name, so that creating it makes a second
 * live object. Unlike a run, this sees the whole state. Each new object and each old one is in it at most once.
 */
function renamesAmong(changes: readonly Change[]): Rename[] {
  const nameOf = ({ kind, values }: Change) => JSON.stringify([kind.name, values[kind.nameProperty]]);
  const gone = changes.filter(({ action, former }) => ["let go", "delete"].includes(action) && former !== undefined);
  const byName = Map.groupBy(gone, nameOf);
  const fresh = withAction(changes, "create");
  const taken = new Set<Change>();
  const suspects = fresh.flatMap((to): Rename[] => {
    const from = byName.get(nameOf(to))?.find((each) => !taken.has(each) && isSameBody(each, to));
    if (from === undefined) return [];
    taken.add(from);
    return [{ from, to }];
  });
  const renamed = new Set(suspects.map(({ to }) => to));
  const newAdvertisers = fresh.filter((each) => each.kind === advertiser && !renamed.has(each)).map(({ urn }) => urn);
  // An id that does not exist yet is not the advertiser of what was removed.
  return suspects.filter(({ to }) => !to.advertiserFrom.some((urn) => newAdvertisers.includes(urn)));
}

/** As far as both are known. */
function isSameBody(one: Change, other: Change): boolean {
  const { names } = changesIn(one.kind, one.values, other.values);
  return names.every((name) => holdsUnknown(one.values[name]) || holdsUnknown(other.values[name]));
}

/** Whether its body is known completely. */
function isWhole({ kind, values }: Change): boolean {
  const own = argumentNames(kind).map((name) => values[name]);
  return !holdsUnknown(own) && !JSON.stringify(own).includes(JSON.stringify(SECRET_TEXT));
}

function renameItem({ from, to }: Rename): string {
  const same =
    isWhole(from) && isWhole(to) ? "all its arguments are" : "as far as this preview shows, its arguments are";
  const happens = from.former?.isDeleted ? "delete that object, and make another one" : "make a second live object";
  const option = from.isMember || to.isMember ? "set" : "add an alias or set";
  return (
    `- ${code(to.key)} is new, and ${same} those of ${code(from.key)} (${from.id}), which leaves the state. This would ${happens}. ` +
    `It looks like a rename: to go on with ${from.id}, ${option} ${code(`existingId: ${from.id}`)}.`
  );
}

function advertiserItems(changes: readonly Change[]): string[] {
  return changes
    .filter(({ kind, action, id }) => kind === advertiser && action === "replace" && id !== undefined)
    .map((change) => {
      const { key, id, urn } = change;
      const events = changes.filter(
        ({ action, advertiserFrom }) => advertiserFrom.includes(urn) && ["replace", "perhaps replace"].includes(action),
      );
      const named = events.map((event) => `${code(event.key)} (${event.id})`);
      const those =
        events.length === 0 ? "no event" : `${count(events.length, "event")}: ${enumerate(named, MAX_NAMED)}`;
      const all = [change, ...events];
      const deleted = all.filter(({ former }) => former?.isDeleted === true).length;
      const fate =
        deleted === 0 ? "the old ones stay live" : `${deleted} of the ${all.length} old ones would be deleted`;
      return `- ${code(key)} (${id}) is replaced, which would also replace ${those}; ${fate}.`;
    });
}

const MAX_NAMED = 20;

function changeRows(changes: readonly Change[]): string[] {
  const due = ACTIONS.flatMap((action) => withAction(changes, action));
  if (due.length === 0) return [];
  return tableLines(
    ["", "kind", "resource", "name", "id", "differs in"],
    due.map(({ action, kind, key, values, id = "", changed }) => [
      titleOf(action),
      kind.name,
      code(key),
      nameOf(values[kind.nameProperty]),
      id,
      enumerate(changed),
    ]),
  );
}

function nameOf(value: unknown): string {
  if (value === SECRET_TEXT) return "(secret)";
  return typeof value === "string" && value !== UNKNOWN ? code(value) : "";
}

function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

function item({ about, message }: Preview["diagnostics"][number]): string {
  return `- ${about === "" ? "" : `${code(about)}: `}${code(excerpt(message, MAX_MESSAGE))}`;
}

const MAX_MESSAGE = 2000;

/** As many lines as there is room for, and how many are left out; nothing where there are none. */
function fitting({ title, lines, folded }: Part, room: number): string {
  if (lines.length === 0) return "";
  const before = folded
    ? `<details><summary>${title} (${lines.length - folded.header})</summary>\n`
    : `#### ${title}\n`;
  const after = folded ? "\n\n</details>" : "";
  const left = (amount: number) => `\n\n… and ${amount} more, for which there is no room here.`;
  let budget = room - before.length - after.length - left(lines.length).length;
  const shown = lines.filter((line) => {
    budget -= line.length + 1;
    return budget >= 0;
  });
  if (shown.length === 0) return "";
  const rest = lines.length - shown.length;
  return `\n\n${before}\n${shown.join("\n")}${rest === 0 ? "" : left(rest)}${after}`;
}

/** As code, in which nothing is markup and nobody is mentioned; every character that might be is written as an entity. */
function code(text: string): string {
  const plain = excerpt(printable(text), MAX_MESSAGE);
  return `<code>${plain.replace(/[^\p{L}\p{N}\p{M} .,:;=/-]/gu, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}
