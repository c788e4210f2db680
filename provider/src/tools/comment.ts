/**
 * A preview as a comment on a pull request: counts first, then what deserves attention, a table, and the rest folded. In the
 * Markdown of GitHub and GitLab.
 */

import { agree, count, enumerate, excerpt, printable } from "../base/index.js";
import { renamesIn, type ShownAction } from "../decision/index.js";
import { advertiser } from "../kinds/index.js";
import { type Alias, aliasFor, placeInUrn, UNKNOWN } from "../state/index.js";
import { type Change, type Preview, SECRET_TEXT } from "./preview.js";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** Not what stays as it is. */
const WORDS: Readonly<Record<Exclude<ShownAction, "keep">, string>> = {
  create: "create",
  adopt: "adopt",
  refuse: "fail unless somebody changes the object back",
  replace: "replace",
  "perhaps replace": "replace if the advertiser's id changes",
  update: "update in place",
  delete: "leave the state and be deleted",
  "perhaps delete": "leave the state and be deleted unless an existingId that this preview does not show names it",
  "let go": "leave the state and stay live",
  "perhaps leave live":
    "leave the state and stay live, managed by nothing unless an existingId that this preview does not show names it",
  move: "move elsewhere and stay managed",
  "look for": "look for, and create if it is not there",
  wait: "stay unresolved until somebody settles it",
};
const ACTIONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

/** In the tables, where the name of the action is none that people use. */
const TITLES: Partial<Record<ShownAction, string>> = {
  refuse: "fail",
  "let go": "leave live",
  move: "managed elsewhere",
  "look for": "search",
  wait: "unresolved",
};
const titleOf = (action: ShownAction) => TITLES[action] ?? action;

export function commentOf({ changes, hidden, leavesOut, others, diagnostics }: Preview): string {
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
    ...fates(changes, leavesOut),
    summaryTable(changes),
  ].join("\n\n");
  // What comes first takes what it needs; each part says what it had to leave out.
  const parts: Part[] = [
    { title: "Errors", lines: errors.map(item) },
    { title: "Looks like a rename", lines: renameItems(changes) },
    { title: "Replaced advertisers", lines: advertiserItems(changes) },
    { title: "Changes", lines: changeRows(changes), folded: { header: 2 } },
    { title: "Messages", lines: said.map(item), folded: { header: 0 } },
  ];
  return `${parts.reduce((text, part) => `${text}${fitting(part, MAX_CHARACTERS - text.length - 3)}`, head)}\n`;
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

function withAction(changes: readonly Change[], action: ShownAction): Change[] {
  return changes.filter((change) => change.action === action);
}

/** How many objects would leave the state: those that stay live, and those that are deleted. */
function fates(changes: readonly Change[], leavesOut: boolean): string[] {
  const former = changes.flatMap((change) => change.former ?? []);
  const deleted = former.filter(({ isDeleted }) => isDeleted).length;
  const live = former.length - deleted;
  const lines = [
    `Up to ${count(live, "object")} would stay live on the platform, managed by nothing; tags keep firing ${agree(live, "its id", "their ids")}.`,
    `Up to ${count(deleted, "object")} would be deleted on the platform, which can't be undone; tags keep firing ${agree(deleted, "its id", "their ids")}.`,
  ];
  const told = [live, deleted].flatMap((amount, index) => (amount === 0 ? [] : (lines[index] ?? [])));
  const isPerhaps = told.length > 0 && leavesOut;
  return [...told, ...(isPerhaps ? [NOT_SHOWN] : [])];
}

const NOT_SHOWN =
  "If an unchanged resource has one of them, it stays managed; this preview does not show unchanged resources (`pulumi preview --json --show-sames` does).";

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

function renameItems(changes: readonly Change[]): string[] {
  const gone = changes.filter(
    ({ action, former }) => ["let go", "perhaps leave live", "delete", "perhaps delete"].includes(action) && former,
  );
  const fresh = changes.filter(({ action }) => action === "create");
  const suspects = renamesIn(gone, fresh, (value) => value === SECRET_TEXT);
  const renamed = new Set(suspects.map(({ to }) => to));
  const newAdvertisers = new Set(
    fresh.flatMap((each) => (each.kind === advertiser && !renamed.has(each) ? each.urn : [])),
  );
  // An id that does not exist yet is not the advertiser of what was removed.
  const renames = suspects
    .filter(({ to }) => !to.advertiserFrom.some((urn) => newAdvertisers.has(urn)))
    .map((each) => ({ ...each, alias: aliasOf(each.from, each.to) }));
  const groups = Map.groupBy(renames, (each) =>
    each.alias?.catalog === undefined ? each : `${each.alias.catalog.now} ${each.from.former?.isDeleted}`,
  );
  return [...groups.values()].map(renameItem);
}

/** @param renames one, or those of a catalog, which one alias on the catalog serves. */
function renameItem(
  renames: readonly { from: Change; to: Change; isWhole: boolean; alias: Alias | undefined }[],
): string {
  const [first] = renames;
  if (first === undefined) return "";
  const { from, to, alias } = first;
  const more = renames.length === 1 ? "" : ` and ${count(renames.length - 1, "more")}`;
  const say = (one: string, several: string) => agree(renames.length, one, several);
  const same = renames.every(({ isWhole }) => isWhole)
    ? `all ${say("its", "their")} arguments are`
    : `as far as this preview shows, ${say("its", "their")} arguments are`;
  const happens =
    from.former?.isDeleted === true
      ? say("delete that object, and make another one", "delete those objects, and make other ones")
      : say("make a second live object", "make second live objects");
  const option = alias?.option.replace(/^\{ (.*) \}$/, "$1") ?? `existingId: ${from.id}`;
  const advice =
    alias?.catalog === undefined
      ? `It looks like a rename: add ${code(option)} to ${code(to.key)}.`
      : `If you renamed ${code(alias.catalog.before)}, add ${code(option)} to ${code(alias.catalog.now)}. Otherwise set existingId in the ${say("row", "rows")}.`;
  return (
    `- ${code(to.key)}${more} ${say("is", "are")} new, and ${same} those of ${code(from.key)} (${from.id})${more}, which ${say("leaves", "leave")} the state. ` +
    `This would ${happens}. ${advice}`
  );
}

/** None where one of them takes no options. */
function aliasOf(from: Change, to: Change): Alias | undefined {
  if (from.isMember || to.isMember) return undefined;
  return aliasFor({ urn: from.urn, ...placeInUrn(from.urn) }, placeInUrn(to.urn));
}

function advertiserItems(changes: readonly Change[]): string[] {
  return changes
    .filter(({ kind, action, id }) => kind === advertiser && action === "replace" && id !== undefined)
    .map((change) => {
      const { key, id, urn } = change;
      const events = changes.filter(({ action, advertiserFrom }) => {
        return advertiserFrom.includes(urn) && ["replace", "perhaps replace"].includes(action);
      });
      const named = events.map((event) => `${code(event.key)} (${event.id})`);
      const shown = enumerate(named, MAX_NAMED);
      const those = events.length === 0 ? "no event" : `${count(events.length, "event")}: ${shown}`;
      return `- ${code(key)} (${id}) is replaced, which would also replace ${those}. ${fateOf([change, ...events])}`;
    });
}

function fateOf(replaced: readonly Change[]): string {
  const deleted = replaced.filter(({ former }) => former?.isDeleted === true).length;
  if (deleted === 0) return `The old ${agree(replaced.length, "one stays", "ones stay")} live.`;
  if (deleted === replaced.length) return `The old ${agree(deleted, "one is", "ones are")} deleted.`;
  const others = agree(replaced.length - deleted, "the other stays", "the others stay");
  return `Of the ${replaced.length} old ones, ${count(deleted, "is", "are")} deleted, and ${others} live.`;
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
