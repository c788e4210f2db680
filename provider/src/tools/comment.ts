/**
 * A preview as a comment on a pull request: counts first, then what deserves attention, a table, and the rest folded. In the
 * Markdown of GitHub and GitLab.
 */
import { agree, count, excerpt, printable } from "../base/index.js";
import { changesIn, holdsUnknown } from "../decision/index.js";
import { UNKNOWN } from "../state/index.js";
import { SECRET } from "./contents.js";
import { type Change, type Preview, SECRET_TEXT } from "./preview.js";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** In counts, after "to"; the table has the action itself. What stays as it is is not shown. */
const WORDS: Readonly<Record<Exclude<Change["action"], "keep">, string>> = {
  create: "create",
  adopt: "adopt",
  record: "change in the state only",
  replace: "replace",
  "perhaps replace": "replace if a value that is not known yet changes",
  update: "update in place",
  delete: "leave the state and be deleted",
  "let go": "leave the state and stay live",
  move: "move elsewhere and stay managed",
  "look for": "look for, and create if it is not there",
  wait: "stay unresolved until somebody settles it",
  hidden: "change in a set whose events are secret",
};
const ACTIONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

/** @returns also how many creates look like renames, and how many objects are replaced, perhaps or surely. */
export function commentOf({ changes, diagnostics }: Preview) {
  const renames = renamesAmong(changes);
  const [recorded = [], sent = []] = [true, false].map((isOnly) =>
    changes.filter(({ action }) => (action === "record") === isOnly),
  );
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const said = diagnostics.filter(({ severity }) => severity !== "error");
  const counts = countsOf(changes);
  const failed = `**The preview failed: ${count(errors.length, "error")}.**`;
  const head = [
    "### Advertisers and conversion events",
    errors.length === 0 ? counts || "**The preview shows no changes of these**" : failed,
    errors.length > 0 && counts !== "" ? `As far as it got: ${counts}` : "",
    fate(changes, false, "stay live on the platform, managed by nothing"),
    fate(changes, true, "be deleted on the platform unless something else has them, which can't be undone"),
  ].filter((paragraph) => paragraph !== "");
  // What comes first takes what it needs; each part says what it had to leave out.
  const parts: Parameters<typeof fitting>[0][] = [
    { title: "Errors", lines: errors.map(item) },
    { title: "Looks like a rename", lines: renames },
    { title: "Not sent: the platform is not told", lines: changeRows(recorded), header: TABLE },
    { title: "Changes", lines: changeRows(sent), header: TABLE, isFolded: true },
    { title: "Messages", lines: said.map(item), isFolded: true },
  ];
  const text = parts.reduce((all, part) => all + fitting(part, MAX_CHARACTERS - all.length - 3), head.join("\n\n"));
  const replacements = changes.filter(({ action }) => action === "replace" || action === "perhaps replace").length;
  return { text: `${text}\n`, renames: renames.length, replacements };
}

/** Empty if nothing changes. */
function countsOf(changes: readonly Change[]): string {
  const counts = ACTIONS.flatMap((action) => {
    const amount = changes.filter((each) => each.action === action).length;
    return amount === 0 ? [] : `${amount} to ${WORDS[action]}`;
  });
  return counts.length === 0 ? "" : `**${counts.join(", ")}**`;
}

/** How many objects would leave the state. */
function fate(changes: readonly Change[], isDeleted: boolean, words: string): string {
  const amount = changes.filter(({ former }) => former?.isDeleted === isDeleted).length;
  const ids = agree(amount, "its id", "their ids");
  return amount === 0 ? "" : `Up to ${count(amount, "object")} would ${words}; tags keep firing ${ids}.`;
}

/**
 * A new object whose body is that of one which leaves the state is likely the same one under another name, so that creating it makes a second
 * live object. Unlike a run, this sees the whole state.
 */
function renamesAmong(changes: readonly Change[]): string[] {
  const nameOf = ({ kind, values }: Change) => JSON.stringify([kind.name, values[kind.nameProperty]]);
  const gone = changes.filter(({ action, former }) => ["let go", "delete"].includes(action) && former !== undefined);
  const byName = Map.groupBy(gone, nameOf);
  return changes.flatMap((to) => {
    const alike = to.action === "create" ? byName.get(nameOf(to)) : undefined;
    const from = alike?.find((each) => isSameBody(each, to));
    if (from === undefined) return [];
    const happens = from.former?.isDeleted ? "delete that object, and make another one" : "make a second live object";
    return (
      `- ${code(to.key)} is new, and as far as this preview shows, all its arguments are those of ${code(from.key)} (${from.id}), ` +
      `which leaves the state. This would ${happens}. ` +
      `It looks like a rename: to go on with ${from.id}, set ${code(`existingId: ${from.id}`)}.`
    );
  });
}

/** As far as both are known. */
function isSameBody(one: Change, other: Change): boolean {
  const { names } = changesIn(one.kind, one.values, other.values);
  return names.every((name) => holdsUnknown(one.values[name]) || holdsUnknown(other.values[name]));
}

const COLUMNS = ["", "kind", "resource", "name", "id", "changes"];
const TABLE = [COLUMNS, COLUMNS.map(() => "---")].map(rowOf);

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function changeRows(changes: readonly Change[]): string[] {
  return ACTIONS.flatMap((listed) => {
    const alike = changes.filter(({ action }) => action === listed);
    return alike.map(({ kind, key, values, id, adopts, changes: differences }) => {
      const name = values[kind.nameProperty];
      const shown = name === SECRET_TEXT ? SECRET : typeof name === "string" && name !== UNKNOWN ? code(name) : "";
      const ids = [id, adopts === id ? undefined : adopts].filter((each) => each !== undefined).join(" → ");
      return rowOf([listed, kind.name, code(key), shown, ids, differences.map(code).join("<br>")]);
    });
  });
}

function item({ about, message }: Preview["diagnostics"][number]): string {
  return `- ${about === "" ? "" : `${code(about)}: `}${code(excerpt(message, MAX_MESSAGE))}`;
}

const MAX_MESSAGE = 2000;

/** As many lines as there is room for, and how many are left out; nothing where there are none. */
function fitting(
  part: { title: string; lines: readonly string[]; header?: readonly string[]; isFolded?: boolean },
  room: number,
): string {
  const { title, lines, header = [], isFolded = false } = part;
  const above = isFolded ? `<details><summary>${title} (${lines.length})</summary>` : `#### ${title}`;
  const before = [above, "", ...header, ""].join("\n");
  const after = isFolded ? "\n\n</details>" : "";
  const left = (rest: number) => `\n\n… and ${rest} more, for which there is no room here.`;
  let budget = room - before.length - after.length - left(lines.length).length;
  const shown = lines.filter((line) => {
    budget -= line.length + 1;
    return budget >= 0;
  });
  if (shown.length === 0) return "";
  const rest = lines.length - shown.length;
  return `\n\n${before}${shown.join("\n")}${rest === 0 ? "" : left(rest)}${after}`;
}

/** As code, in which nothing is markup and nobody is mentioned; every character that might be is written as an entity. */
function code(text: string): string {
  const plain = excerpt(printable(text), MAX_MESSAGE);
  return `<code>${plain.replace(/[^\p{L}\p{N}\p{M} .,:;=/-]/gu, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}
