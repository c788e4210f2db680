/**
 * A preview as a comment on a pull request: counts first, then what deserves attention, a table, and the rest folded. In the
 * Markdown of GitHub and GitLab.
 */
import { agree, count, enumerate, excerpt, printable } from "../base/index.js";
import { changesIn, holdsUnknown } from "../decision/index.js";
import { advertiser } from "../kinds/index.js";
import { UNKNOWN } from "../state/index.js";
import { type Change, type Preview, SECRET_TEXT } from "./preview.js";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** In counts, after "to", and in the table. What stays as it is is not shown. */
const WORDS: Readonly<Record<Exclude<Change["action"], "keep">, readonly [counted: string, listed: string]>> = {
  create: ["create", "create"],
  adopt: ["adopt", "adopt"],
  replace: ["replace", "replace"],
  "perhaps replace": ["replace if a value that is not known yet changes", "perhaps replace"],
  update: ["update in place", "update"],
  delete: ["leave the state and be deleted", "delete"],
  "let go": ["leave the state and stay live", "leave live"],
  move: ["move elsewhere and stay managed", "managed elsewhere"],
  "look for": ["look for, and create if it is not there", "search"],
  wait: ["stay unresolved until somebody settles it", "unresolved"],
};
const ACTIONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

export interface Comment {
  readonly text: string;
  /** How many creates look like renames, and how many objects are replaced, perhaps or surely. */
  readonly renames: number;
  readonly replacements: number;
}

export function commentOf({ changes, others, diagnostics }: Preview): Comment {
  const renames = renamesAmong(changes);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  // A note about no resource, such as a preview without a password, is for those who run it.
  const said = diagnostics.filter(
    ({ severity, about }) => severity !== "error" && (severity !== "info" || about !== ""),
  );
  const counts = countsOf(changes, others);
  const head = [
    "### Advertisers and conversion events",
    ...(errors.length === 0
      ? [counts || "**The preview shows no changes**"]
      : [`**The preview failed: ${count(errors.length, "error")}.**`, counts && `As far as it got: ${counts}`]),
    ...fates(changes),
  ].filter((paragraph) => paragraph !== "");
  // What comes first takes what it needs; each part says what it had to leave out.
  const parts: Part[] = [
    { title: "Errors", lines: errors.map(item) },
    { title: "Looks like a rename", lines: renames.map(renameItem) },
    { title: "Replaced advertisers", lines: advertiserItems(changes) },
    { title: "Changes", lines: changeRows(changes), folded: { header: 2 } },
    { title: "Messages", lines: said.map(item), folded: { header: 0 } },
  ];
  const addTo = (all: string, part: Part) => all + fitting(part, MAX_CHARACTERS - all.length - 3);
  const replacements = changes.filter(isReplacement).length;
  return { text: `${parts.reduce(addTo, head.join("\n\n"))}\n`, renames: renames.length, replacements };
}

function isReplacement({ action }: Change): boolean {
  return action === "replace" || action === "perhaps replace";
}

/** Empty if nothing changes. */
function countsOf(changes: readonly Change[], others: number): string {
  const byAction = Map.groupBy(changes, ({ action }) => action);
  const ours = ACTIONS.flatMap((action) => {
    const amount = byAction.get(action)?.length ?? 0;
    return amount === 0 ? [] : [`${amount} to ${WORDS[action][0]}`];
  });
  const told = [
    ...(ours.length === 0 ? [] : [`**${ours.join(", ")}**`]),
    ...(others === 0 ? [] : [`${count(others, "change")} of other resources`]),
  ];
  return told.join("; and ");
}

/** How many objects would leave the state: those that stay live, and those that are deleted. */
function fates(changes: readonly Change[]): string[] {
  const former = changes.flatMap((change) => change.former ?? []);
  const told = (isDeleted: boolean, fate: string) => {
    const amount = former.filter((each) => each.isDeleted === isDeleted).length;
    const ids = agree(amount, "its id", "their ids");
    return amount === 0 ? "" : `Up to ${count(amount, "object")} would ${fate}; tags keep firing ${ids}.`;
  };
  return [
    told(false, "stay live on the platform, managed by nothing"),
    told(true, "be deleted on the platform unless something else has them, which can't be undone"),
  ];
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
  const fresh = changes.filter(({ action }) => action === "create");
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

function renameItem({ from, to }: Rename): string {
  const happens = from.former?.isDeleted ? "delete that object, and make another one" : "make a second live object";
  return (
    `- ${code(to.key)} is new, and as far as this preview shows, all its arguments are those of ${code(from.key)} (${from.id}), ` +
    `which leaves the state. This would ${happens}. ` +
    `It looks like a rename: to go on with ${from.id}, set ${code(`existingId: ${from.id}`)}.`
  );
}

function advertiserItems(changes: readonly Change[]): string[] {
  const replaced = changes.filter(({ kind, action }) => kind === advertiser && action === "replace");
  return replaced.map(({ key, id, urn }) => {
    const events = changes.filter((each) => each.advertiserFrom.includes(urn) && isReplacement(each));
    const named = events.map((event) => `${code(event.key)} (${event.id})`);
    const those = events.length === 0 ? "no event" : `${count(events.length, "event")}: ${enumerate(named, MAX_NAMED)}`;
    return `- ${code(key)} (${id}) is replaced, which would also replace ${those}.`;
  });
}

const MAX_NAMED = 20;

function changeRows(changes: readonly Change[]): string[] {
  const rows = ACTIONS.flatMap((listed) =>
    changes
      .filter(({ action }) => action === listed)
      .map(({ kind, key, values, id = "", changed }) => {
        const name = values[kind.nameProperty];
        const shown =
          name === SECRET_TEXT ? "(secret)" : typeof name === "string" && name !== UNKNOWN ? code(name) : "";
        return [WORDS[listed][1], kind.name, code(key), shown, id, enumerate(changed)];
      }),
  );
  if (rows.length === 0) return [];
  const header = ["", "kind", "resource", "name", "id", "differs in"];
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

function item({ about, message }: Preview["diagnostics"][number]): string {
  return `- ${about === "" ? "" : `${code(about)}: `}${code(excerpt(message, MAX_MESSAGE))}`;
}

const MAX_MESSAGE = 2000;

interface Part {
  readonly title: string;
  readonly lines: readonly string[];
  /** Not open at first. `header`: so many lines before the first item. */
  readonly folded?: { readonly header: number };
}

/** As many lines as there is room for, and how many are left out; nothing where there are none. */
function fitting({ title, lines, folded }: Part, room: number): string {
  const amount = lines.length - (folded?.header ?? 0);
  const before = folded ? `<details><summary>${title} (${amount})</summary>\n` : `#### ${title}\n`;
  const after = folded ? "\n\n</details>" : "";
  const left = (rest: number) => `\n\n… and ${rest} more, for which there is no room here.`;
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
