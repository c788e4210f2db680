/**
 * What `pulumi preview --json` prints, as a pull request comment in GitHub's and GitLab's Markdown. Of sets it shows
 * the members, as `plan/` says for `up` too. (Measured with engine 3.259.0: a replacement is one step; a secret is
 * the text "[secret]", an unknown value a fixed text; unchanged resources are left out without `--show-sames`.)
 */
import {
  agree,
  asRecord,
  count,
  excerpt,
  jsonIn,
  printable,
  type Values,
} from "../base/index.js";
import {
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  conversionEvent,
  type Kind,
  kindOfType,
  setOfType,
} from "../kinds/index.js";
import {
  type Abilities,
  type Action,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changeMessages,
  changesIn,
  holdsUnknown,
  type PlannedObject,
  plannedObjects,
  type ShownAction,
  shownAction,
} from "../plan/index.js";
import { environmentNameOf, NAMESPACE, operationsSchema } from "../settings/index.js";
import {
  completeArguments,
  DELETES,
  memberInReports,
  nameInUrn,
  objectKey,
  readDeclared,
  readDeclaredSet,
  readStored,
  readStoredSet,
  UNKNOWN,
} from "../state/index.js";
import { type Resource, SECRET_SHOWN } from "./contents.js";

/** As engine 3.259 writes a secret value. */
const SECRET_TEXT = "[secret]";

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly oldState?: Resource | undefined;
  readonly newState?: Resource | undefined;
}
interface Printed {
  /** The stack's settings, by namespace and key; structured ones as JSON. */
  readonly config?: Readonly<Record<string, string>> | null;
  readonly steps?: readonly Step[] | null;
  readonly diagnostics?:
    | readonly { readonly message: string; readonly severity: string; readonly urn?: string }[]
    | null;
}

interface ObjectChange {
  readonly kind: Kind;
  /** `move`: the object leaves here, and another resource in the preview has it. `hidden`: a set of secret events. */
  readonly action: ShownAction | "move" | "hidden";
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** The platform's id that the state holds, and the one that the object gets where the program says which. */
  readonly id: string | undefined;
  readonly adopts: string | undefined;
  /** The object that leaves the state, unless something else in the program goes on with it. */
  readonly former: PlannedObject["former"];
  /** Its arguments: as declared, or as stored if it leaves the state. */
  readonly values: Values;
  readonly changes: readonly string[];
  /** Where a `formerKey` can name it: in its set, or in its advertiser in a catalog's file; and its key there. */
  readonly within: { readonly scope: string; readonly key: string } | undefined;
}

/** An error or a warning of a preview. `about`: the resource's name, if there is one. */
interface Diagnostic {
  readonly severity: string;
  readonly message: string;
  readonly about: string;
}

export interface Preview {
  readonly changes: readonly ObjectChange[];
  readonly diagnostics: readonly Diagnostic[];
}

export function readPreview(text: string): Preview {
  const { config, steps, diagnostics } = asRecord(jsonIn(text)) as Printed;
  if (!Array.isArray(steps ?? diagnostics))
    throw new Error(
      "this is not what `pulumi preview --json` prints: it is not JSON, or has no steps",
    );
  // A preview holds the settings that the stack sets.
  const setting = (key: string) =>
    config?.[`${NAMESPACE}:${key}`] ?? process.env[environmentNameOf(key)];
  // The preview itself reports a setting that is wrong.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const can = (kind: Kind) =>
    abilitiesOf(kind, { operations, markField: setting("markField") });
  const decided = (steps ?? []).flatMap(inParts).flatMap((step) => decidedIn(step, can));
  const held = new Set(decided.flatMap(heldIn));
  return {
    changes: decided
      .filter(({ action }) => action !== "same")
      .map((each) => movedIf(held, each)),
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn = "" }) => {
      return {
        severity,
        message: message.replace(/<\{%\w+%\}>/g, "").trim(),
        about: nameInUrn(urn),
      };
    }),
  };
}

/** A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new. */
function inParts(step: Step): Step[] {
  if (step.op !== "replace" || setOfType(step.newState?.type ?? "") === undefined)
    return [step];
  return [
    { ...step, op: "delete", newState: undefined },
    { ...step, op: "create", oldState: undefined },
  ];
}

function heldIn({ kind, action, id, adopts }: ObjectChange): string[] {
  const isKept = ["same", "rename", "update", "update state only"].includes(action);
  let held = adopts;
  if (isKept) held = id;
  return held === undefined ? [] : [objectKey(kind.name, held)];
}

/** An object that leaves the state here, and that another resource or member goes on with, is not left. */
function movedIf(held: ReadonlySet<string>, change: ObjectChange): ObjectChange {
  const { kind, former, action } = change;
  if (former === undefined || !held.has(objectKey(kind.name, former.id))) return change;
  const moved = { ...change, former: undefined };
  if (action !== "retain" && action !== "delete") return moved;
  return { ...moved, action: "move" };
}

/** Of what is only read (`.get`) the engine has other operations. */
const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete", "same"];

/** What becomes of each object of a resource; none if it is not one of ours. */
function decidedIn(step: Step, abilities: (kind: Kind) => Abilities): ObjectChange[] {
  const { op, urn, oldState, newState } = step;
  const type = (newState ?? oldState)?.type ?? "";
  const set = setOfType(type);
  const kind = kindOfType(type) ?? set?.member;
  if (kind === undefined || !DECIDED_BY_ENGINE.includes(op)) return [];
  const name = nameInUrn(urn);
  const news = op === "delete" ? undefined : (newState?.inputs ?? {});
  if (set !== undefined && news?.events === SECRET_TEXT) return [hiddenChange(kind, name, op)];
  const shown = news && withoutSecrets(news);
  const known = abilities(kind);
  const circumstances: Circumstances = {
    can: { ...known, update: known.update && op !== "replace" },
    deletes: () => deletes(step),
    override: (action, changed) => actionOf(step, action, changed),
  };
  if (set === undefined) {
    const olds = { ...oldState?.inputs, ...oldState?.outputs };
    const stored = readStored(kind, oldState?.id, olds);
    const objects = plannedObjects(kind, stored, readDeclared(kind, shown), circumstances);
    const place = { kind, key: name, within: withinCatalog(kind, urn) };
    return objects.map((object) => changeOf(place, object, news));
  }
  const stored = readStoredSet(oldState?.outputs ?? {});
  const declared = readDeclaredSet(news ?? {});
  return plannedObjects(kind, stored, readDeclaredSet(shown ?? {}), circumstances).map(
    (member) => {
      const { key, entry, isDeclared } = member;
      const place = { kind, key: memberInReports(name, key), within: { scope: urn, key } };
      if (!isDeclared) return changeOf(place, member, undefined);
      const given = asRecord(declared.events?.get(key) ?? entry);
      return changeOf(place, member, completeArguments(declared, given));
    },
  );
}

/** Of a set whose events are secret. */
function hiddenChange(kind: Kind, key: string, op: string): ObjectChange {
  const action = op === "same" ? "same" : "hidden";
  const nothing = { id: undefined, adopts: undefined, former: undefined, within: undefined };
  return { kind, key, action, ...nothing, values: {}, changes: [] };
}

/** @param news as declared; none where the program does not declare it any more. */
function changeOf(
  place: Pick<ObjectChange, "kind" | "key" | "within">,
  object: PlannedObject,
  news: Values | undefined,
): ObjectChange {
  const { id, action, olds, changed, former, formerKey } = object;
  const changes: string[] = [];
  if (formerKey !== undefined) changes.push(`key ${formerKey} → ${object.key}`);
  // A new object has nothing to differ from.
  if (
    news !== undefined &&
    ["replace", "update", "update state only", "adopt"].includes(action.do)
  )
    changes.push(
      ...changeMessages(changed, olds, news, {
        secret: secretTextIn(olds, news),
        hidden: NOT_COMPARED,
      }),
    );
  const change = {
    ...place,
    id,
    former,
    changes,
    action: shownAction(object),
    values: news ?? olds,
  };
  return { ...change, adopts: action.do === "adopt" ? action.id : undefined };
}

function withinCatalog(kind: Kind, urn: string): ObjectChange["within"] {
  if (kind !== conversionEvent || !urn.includes(`${CATALOG_TYPE}$`)) return undefined;
  const end = urn.lastIndexOf(CATALOG_SEPARATOR);
  return { scope: urn.slice(0, end), key: urn.slice(end + CATALOG_SEPARATOR.length) };
}

/**
 * Of a single resource the engine's step says what happens, even of what can't be known here: secrets, settings in the
 * program's environment, `--replace`. Only what the step leaves open is decided.
 */
function actionOf({ op, newState }: Step, action: Action, changed: readonly string[]): Action {
  const { type = "", inputs: news } = newState ?? {};
  if (op === "same") return { do: "same" };
  if (setOfType(type) !== undefined) return action;
  if (["adopt", "recover", "blocked"].includes(action.do)) return action;
  if (op === "replace") {
    const perhaps = action.do === "replace" && action.perhaps && holdsUnknown(news);
    return { do: "replace", perhaps };
  }
  if (op !== "update" || action.do === "update") return action;
  // Only the state takes what a refresh needs.
  if (action.do === "same" && changed.length === 0) return action;
  if (adoptedBy(news) !== undefined) return { do: "update state only" };
  return { do: "update", changed };
}

/** Whether what leaves the state is deleted, if a delete is known: the engine goes by state, the package by inputs. */
function deletes({ op, oldState, newState }: Step): boolean {
  if (op === "delete") return oldState?.retainOnDelete !== true;
  const isSet = setOfType(newState?.type ?? "") !== undefined;
  return (
    newState?.inputs?.[DELETES] === true && (isSet || oldState?.inputs?.[DELETES] === true)
  );
}

function secretTextIn(...all: readonly Values[]): ReadonlySet<string> {
  const isHidden = (value: unknown) => JSON.stringify(value)?.includes(`"${SECRET_TEXT}"`);
  return new Set(
    all.flatMap((each) => Object.keys(each).filter((name) => isHidden(each[name]))),
  );
}

function withoutSecrets(inputs: Values): Values {
  const text = JSON.stringify(inputs);
  return JSON.parse(text.replaceAll(`"${SECRET_TEXT}"`, `"${UNKNOWN}"`));
}

/** Nobody can tell from a preview whether a secret has changed. */
const NOT_COMPARED = "(secret, not compared)";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** In counts, after "to"; the table has the action itself. What stays as it is is not shown. */
const WORDS: Readonly<Record<Exclude<ObjectChange["action"], "same">, string>> = {
  create: "create",
  rename: "go on under another key, and nothing is sent",
  adopt: "adopt",
  "update state only": "change in the state only",
  replace: "replace",
  "perhaps replace": "replace if a value that is not known yet changes",
  update: "update in place",
  delete: "leave the state and be deleted",
  retain: "leave the state and stay live",
  move: "move elsewhere and stay managed",
  recover: "look for, and create if it is not there",
  blocked: "stay unresolved until somebody resolves it",
  hidden: "change in a set whose events are secret",
};
const ACTIONS = Object.keys(WORDS) as (keyof typeof WORDS)[];

export interface PreviewComment {
  readonly text: string;
  /** How many creates look like renames. */
  readonly renames: number;
  /** How many objects are replaced, perhaps or surely. */
  readonly replacements: number;
}

export function commentOf({ changes, diagnostics }: Preview): PreviewComment {
  const renames = renamesAmong(changes);
  const stateOnly = changes.filter(({ action }) => action === "update state only");
  const others = changes.filter(({ action }) => action !== "update state only");
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const messages = diagnostics.filter(({ severity }) => severity !== "error");
  // What comes first takes what it needs; each part says what it had to leave out.
  const parts: readonly Part[] = [
    { title: "Errors", lines: errors.map(item) },
    { title: "Looks like a rename", lines: renames },
    {
      title: "Changes in the state only: nothing is sent",
      lines: changeRows(stateOnly),
      header: TABLE_HEAD,
    },
    { title: "Changes", lines: changeRows(others), header: TABLE_HEAD, isFolded: true },
    { title: "Messages", lines: messages.map(item), isFolded: true },
  ];
  let text = headOf(changes, errors.length).join("\n\n");
  for (const part of parts) text += fitting(part, MAX_CHARACTERS - text.length - 3);
  const replaced = changes.filter(({ action }) =>
    ["replace", "perhaps replace"].includes(action),
  );
  return { text: `${text}\n`, renames: renames.length, replacements: replaced.length };
}

function headOf(changes: readonly ObjectChange[], errors: number): string[] {
  const counts = countsOf(changes);
  const head = ["### Advertisers and conversion events"];
  if (errors > 0) {
    head.push(`**The preview failed: ${count(errors, "error")}.**`);
    if (counts !== "") head.push(`As far as it got: ${counts}`);
  } else head.push(counts || "**The preview shows no changes of these**");
  const live = fate(changes, false, "stay live and unmanaged");
  const deleted =
    "be deleted on the platform unless something else has them, which can't be undone";
  return [...head, ...live, ...fate(changes, true, deleted)];
}

function countsOf(changes: readonly ObjectChange[]): string {
  const counts = ACTIONS.map((action) => {
    const amount = changes.filter((each) => each.action === action).length;
    return { amount, words: `${amount} to ${WORDS[action]}` };
  });
  const some = counts.filter(({ amount }) => amount > 0);
  if (some.length === 0) return "";
  return `**${some.map(({ words }) => words).join(", ")}**`;
}

function fate(changes: readonly ObjectChange[], isDeleted: boolean, words: string): string[] {
  const { length } = changes.filter(({ former }) => former?.isDeleted === isDeleted);
  if (length === 0) return [];
  const ids = agree(length, "its id", "their ids");
  return [`Up to ${count(length, "object")} would ${words}; tags keep firing ${ids}.`];
}

/**
 * A new object whose body is that of one which leaves the state is likely the same one under another name, so that
 * creating it makes a second live object. Unlike a run, this sees the whole state.
 */
function renamesAmong(changes: readonly ObjectChange[]): string[] {
  const nameOf = ({ kind, values }: ObjectChange) =>
    JSON.stringify([kind.name, values[kind.nameProperty]]);
  const gone = changes.filter(
    ({ action, former }) => ["retain", "delete"].includes(action) && former !== undefined,
  );
  const byName = Map.groupBy(gone, nameOf);
  return changes.flatMap((to) => {
    if (to.action !== "create") return [];
    const from = byName.get(nameOf(to))?.find((each) => isSameBody(each, to));
    if (from === undefined) return [];
    return [renameLine(from, to)];
  });
}

function renameLine(from: ObjectChange, to: ObjectChange): string {
  let happens = "make a second live object";
  if (from.former?.isDeleted) happens = "delete that object, and make another one";
  return (
    `- ${code(to.key)} is new, and as far as this preview shows, all its arguments are those of ` +
    `${code(from.key)} (${from.id}), which leaves the state. This would ${happens}. ` +
    `It looks like a rename: to go on with ${from.id}, set ${code(cureForRename(from, to))}.`
  );
}

function cureForRename(from: ObjectChange, to: ObjectChange): string {
  const { within } = from;
  if (within === undefined || within.scope !== to.within?.scope)
    return `existingId: ${from.id}`;
  return `formerKey: ${JSON.stringify(within.key)}`;
}

function isSameBody(one: ObjectChange, other: ObjectChange): boolean {
  const { names } = changesIn(one.kind, one.values, other.values);
  return names.every(
    (name) => holdsUnknown(one.values[name]) || holdsUnknown(other.values[name]),
  );
}

const TABLE_COLUMNS = ["", "kind", "resource", "name", "id", "changes"];
const TABLE_HEAD = [TABLE_COLUMNS, TABLE_COLUMNS.map(() => "---")].map(tableRow);

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function changeRows(changes: readonly ObjectChange[]): string[] {
  const byAction = ACTIONS.flatMap((action) =>
    changes.filter((change) => change.action === action),
  );
  return byAction.map(({ action, kind, key, values, id, adopts, changes: differences }) => {
    const ids = [...new Set([id, adopts])].filter((each) => each !== undefined);
    const name = shownName(values[kind.nameProperty]);
    return tableRow([
      action,
      kind.name,
      code(key),
      name,
      ids.join(" → "),
      differences.map(code).join("<br>"),
    ]);
  });
}

function shownName(name: unknown): string {
  if (name === SECRET_TEXT) return SECRET_SHOWN;
  if (typeof name !== "string" || name === UNKNOWN) return "";
  return code(name);
}

function item({ about, message }: Diagnostic): string {
  const text = code(excerpt(message, MAX_MESSAGE));
  if (about === "") return `- ${text}`;
  return `- ${code(about)}: ${text}`;
}

const MAX_MESSAGE = 2000;

interface Part {
  readonly title: string;
  readonly lines: readonly string[];
  readonly header?: readonly string[];
  readonly isFolded?: boolean;
}

/** As many lines as there is room for, and how many are left out; nothing where there are none. */
function fitting({ title, lines, header = [], isFolded = false }: Part, room: number): string {
  let above = `#### ${title}`;
  let after = "";
  if (isFolded) {
    above = `<details><summary>${title} (${lines.length})</summary>`;
    after = "\n\n</details>";
  }
  const before = [above, "", ...header, ""].join("\n");
  const leftOut = (amount: number) =>
    `\n\n… and ${amount} more, for which there is no room here.`;
  let budget = room - before.length - after.length - leftOut(lines.length).length;
  const shown = lines.filter((line) => {
    budget -= line.length + 1;
    return budget >= 0;
  });
  if (shown.length === 0) return "";
  const rest = lines.length - shown.length;
  if (rest > 0) after = leftOut(rest) + after;
  return `\n\n${before}${shown.join("\n")}${after}`;
}

/** As code, in which nothing is markup and nobody is mentioned; each character that might be becomes an entity. */
function code(text: string): string {
  const entity = (character: string) => `&#${character.codePointAt(0)};`;
  const plain = excerpt(printable(text), MAX_MESSAGE);
  return `<code>${plain.replace(/[^\p{L}\p{N}\p{M} .,:;=/-]/gu, entity)}</code>`;
}
