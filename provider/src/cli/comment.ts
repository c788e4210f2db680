/** Turns a preview into a pull request comment in GitHub's and GitLab's Markdown. */
import {
  count,
  enumerate,
  excerpt,
  isSameValue,
  joined,
  printable,
  type Values,
} from "../base/index.js";
import { type Kind, ownerIn } from "../kinds/index.js";
import {
  changeMessages,
  changesIn,
  holdsUnknown,
  type ShownAction,
  shownAction,
} from "../plan/index.js";
import { NEEDS_NO_PASSWORD } from "../settings/index.js";
import {
  KEPT_BEFORE,
  MAX_LISTED,
  nameInUrn,
  REPLACED_BEFORE,
  renameCure,
  UNKNOWN,
} from "../state/index.js";
import { type Diagnostic, type ObjectChange, readPreview } from "./preview.js";

/** A phrase for each action whose name alone would not be clear. */
const WORDS: Readonly<Partial<Record<ShownAction, string>>> = {
  "perhaps replace": "replace if an unknown value changes",
  retain: "leave the state",
  recover: "search for, and create if not found",
  blocked: "stay unresolved",
};

/** The limit for all lines together. A comment on GitHub may have 65,536 characters, so there is room for the rest. */
const MAX_CHARACTERS = 60_000;

const TITLE = "### Advertisers and conversion events\n\n";

/** @param preview empty if the preview printed nothing. @returns also how many creates look like renames, and how many objects are replaced, perhaps or surely. */
export function commentOf(preview: string) {
  if (preview.trim() === "")
    return {
      text: `${TITLE}**The preview failed, and printed nothing: see its log.**\n`,
      renames: 0,
      replacements: 0,
    };
  const { changes, hidden, deletesNow, mayHaveFailed, ...read } = readPreview(preview);
  // Pipelines preview without a password.
  const diagnostics = read.diagnostics.filter(({ message }) => {
    return !message.includes(NEEDS_NO_PASSWORD);
  });
  const byAction = Map.groupBy(changes, shownAction);
  const counts = Array.from(byAction, ([action, { length }]) => {
    return `${length} to ${WORDS[action] ?? action}`;
  });
  if (hidden.length > 0) counts.push(`${count(hidden.length, "set")} with hidden events`);
  const renames = renamesAmong(changes);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const messages = diagnostics.filter((each) => !errors.includes(each));
  const due = replacedIn(messages, REPLACED_BEFORE);
  if (due > 0) counts.push(`${due} to delete, replaced by an earlier run`);
  const left = replacedIn(messages, KEPT_BEFORE);
  if (left > 0) counts.push(`${left} to leave the state, replaced by an earlier run`);
  const sections = [];
  if (errors.length > 0)
    sections.push(`**The preview failed: ${count(errors.length, "error")}.**`);
  if (counts.length > 0) sections.push(`**${counts.join(", ")}**`);
  if (deletesNow > 0)
    sections.push(
      `**deletionPolicy becomes "delete" for ${count(deletesNow, "resource")}:** after the next run, removing or replacing them deletes live objects.`,
    );
  if (sections.length === 0) {
    let but = messages.length > 0 ? ", but see the messages" : "";
    if (mayHaveFailed) but = ", and may have failed: see the messages";
    sections.push(`**The preview shows no changes to them${but}**`);
  }
  const formerObjects = changes.flatMap((each) => each.leaving ?? []);
  const gone = formerObjects.filter(({ isDeleted }) => isDeleted).length;
  const live = formerObjects.length - gone + left;
  const deleted = gone + due;
  if (live > 0)
    sections.push(
      `Up to ${count(live, "object")} would stay live and unmanaged, and placed tags keep firing.`,
    );
  if (deleted > 0)
    sections.push(`Up to ${count(deleted, "object")} would be deleted on the platform.`);
  if (hidden.length > 0)
    sections.push("Sets with hidden events may leave more objects live, or delete more.");
  const parts = {
    Errors: messageLines(errors),
    Messages: messageLines(messages),
    "Looks like a rename": renames,
    Changes: [
      ...hidden.map((name) => `- ${code(name)}: its events are secret or not known yet`),
      ...[...byAction.values()].flat().map(changeLine),
    ],
  };
  // Earlier parts get space first. Each part says how much it left out.
  let room = MAX_CHARACTERS;
  for (const [title, lines] of Object.entries(parts)) {
    if (lines.length === 0) continue;
    const shown = lines.filter((line) => {
      room -= line.length + 1;
      return room > 0;
    });
    const others = lines.length - shown.length;
    const more = shown.length > 0 ? `… and ${others} more` : `${others}`;
    if (others > 0) shown.push(`- ${more}, which don't fit here`);
    sections.push(
      `<details open><summary>${title} (${lines.length})</summary>\n\n${shown.join("\n")}\n\n</details>`,
    );
  }
  const replaced = changes.filter(({ action }) => action.do === "replace");
  return {
    text: `${TITLE}${sections.join("\n\n")}\n`,
    renames: renames.length,
    replacements: replaced.length + hidden.length,
  };
}

/** How many objects of interrupted replacements an `up` deletes or leaves live: only messages of the preview say so. */
function replacedIn(messages: readonly Diagnostic[], what: string) {
  const due = new RegExp(`(?:\`|(\\d+) more,.*) ${what}[.:] `);
  return messages.reduce((sum, { message }) => {
    const [found, amount = 1] = due.exec(message) ?? [];
    return found ? sum + Number(amount) : sum;
  }, 0);
}

/**
 * Hints about renames: a new object with the advertiser and name of one that leaves the state is likely the same one,
 * and creating it would make a second live object. Unlike a run, this sees the whole state.
 */
function renamesAmong(changes: readonly ObjectChange[]) {
  const nameIn = (kind: Kind, values: Values) =>
    `${kind.name} ${values[kind.nameProperty]}`;
  const gone = changes.filter(({ isDeclared, leaving }) => !isDeclared && leaving);
  const byName = Map.groupBy(gone, ({ kind, olds }) => nameIn(kind, olds));
  return changes.flatMap(({ kind, ref, action, values }) => {
    if (action.do !== "create") return [];
    const owner = ownerIn(kind, values);
    const from = byName.get(nameIn(kind, values))?.find(({ olds }) => {
      // Of a hidden name only the other arguments can tell.
      if (holdsUnknown(values[kind.nameProperty]))
        return changesIn(kind, olds, values).perhaps;
      return holdsUnknown(owner) || isSameValue(owner, ownerIn(kind, olds));
    });
    if (!from) return [];
    const {
      id,
      ref: { key, shownName, resourceUrn: urn },
    } = from;
    let cure = renameCure(ref, { key, id, isInState: true, urn }, code);
    // An object that has taken over the state is replaced.
    if (changesIn(kind, from.olds, values).names.length > 0)
      cure += ", and undo its other changes unless an update is known";
    return [
      `- ${code(ref.shownName)} is new, and seems to be ${code(shownName)} (${id}), which leaves the state. To keep ${id}, ${cure}.`,
    ];
  });
}

function changeLine({ kind, ref, ...object }: ObjectChange) {
  const { key, formerKey, id, action, olds, values, changed } = object;
  const ids = new Set([id, { id, ...action }.id]);
  const changes = changeMessages(changed, olds, values).map(code);
  if (formerKey !== undefined) changes.unshift(code(`key ${formerKey} → ${key}`));
  const { [kind.nameProperty]: shown = "" } = { ...olds, ...values };
  const does = shownAction(object);
  return joined(
    " ",
    `- ${WORDS[does] ?? does}: ${kind.name} ${code(ref.shownName)}`,
    joined(" → ", ...ids),
    shown === "" ? "" : code(`"${shown}"`),
    changes.join(", "),
  );
}

/** A message is shown once, with the names of its resources. */
function messageLines(diagnostics: readonly Diagnostic[]) {
  const byText = Map.groupBy(diagnostics, ({ message }) => message);
  return Array.from(byText, ([text, those]) => {
    const names = new Set(those.flatMap(({ urn }) => (urn ? nameInUrn(urn) : [])));
    const about = enumerate([...names].map(code), MAX_LISTED);
    return `- ${joined(": ", about, text.split("\n").map(code).join("<br>"))}`;
  });
}

/** A text as inline code. Characters that might begin markup or a mention become entities. */
function code(text: string) {
  const known = text.replaceAll(UNKNOWN, "(secret or not known yet)");
  const entity = (character: string) => `&#${character.codePointAt(0)};`;
  const plain = excerpt(printable(known), 2000);
  return `<code>${plain.replace(/[^\p{L}\p{N}\p{M} .,:;=/-]/gu, entity)}</code>`;
}
