/**
 * What `pulumi preview --json` prints, as a pull request comment in GitHub's and GitLab's Markdown. Of sets it shows
 * the members, as `plan/` says for `up` too. (Measured with engine 3.259.0: a replacement is one step; a secret is
 * the text "[secret]", an unknown value a fixed text; unchanged resources are left out without `--show-sames`.)
 */
import { agree, asRecord, count, excerpt, jsonIn, printable, type Values } from "../base/index.js";
import { CATALOG_SEPARATOR, CATALOG_TYPE, conversionEvent, type Kind, kindOfType, setOfType } from "../kinds/index.js";
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
  DELETES,
  eventIn,
  memberInReports,
  nameInUrn,
  objectKey,
  readDeclared,
  readDeclaredSet,
  readStored,
  readStoredSet,
  UNKNOWN,
} from "../state/index.js";
import { type Resource, SECRET } from "./contents.js";

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

interface ResourceChange {
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

type Preview = ReturnType<typeof readPreview>;

export function readPreview(text: string) {
  const { config, steps, diagnostics } = asRecord(jsonIn(text)) as Printed;
  if (!Array.isArray(steps ?? diagnostics))
    throw new Error("this is not what `pulumi preview --json` prints: it is not JSON, or has no steps");
  // A preview holds the settings that the stack sets.
  const setting = (key: string) => config?.[`${NAMESPACE}:${key}`] ?? process.env[environmentNameOf(key)];
  // The preview itself reports a setting that is wrong.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const can = (kind: Kind) => abilitiesOf(kind, { operations, markField: setting("markField") });
  const decided = (steps ?? []).flatMap(inParts).flatMap((step) => decidedIn(step, can));
  const held = new Set(decided.flatMap(heldIn));
  return {
    changes: decided.filter(({ action }) => action !== "same").map((each) => movedIf(held, each)),
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn }) => ({
      severity,
      message: message.replace(/<\{%\w+%\}>/g, "").trim(),
      about: urn === undefined ? "" : nameInUrn(urn),
    })),
  };
}

/** A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new. */
function inParts(step: Step): Step[] {
  if (step.op !== "replace" || setOfType(step.newState?.type ?? "") === undefined) return [step];
  return [
    { ...step, op: "delete", newState: undefined },
    { ...step, op: "create", oldState: undefined },
  ];
}

function heldIn({ kind, action, id, adopts }: ResourceChange): string[] {
  const held = ["same", "rename", "update", "update state only"].includes(action) ? id : adopts;
  return held === undefined ? [] : [objectKey(kind.name, held)];
}

/** An object that leaves the state here, and that another resource or member goes on with, is not left. */
function movedIf(held: ReadonlySet<string>, change: ResourceChange): ResourceChange {
  const { kind, former, action } = change;
  if (former === undefined || !held.has(objectKey(kind.name, former.id))) return change;
  return { ...change, former: undefined, action: action === "retain" || action === "delete" ? "move" : action };
}

/** Of what is only read (`.get`) the engine has other operations. */
const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete", "same"];

/** What becomes of each object of a resource; none if it is not one of ours. */
function decidedIn(step: Step, abilities: (kind: Kind) => Abilities): ResourceChange[] {
  const { op, urn, oldState, newState } = step;
  const type = (newState ?? oldState)?.type ?? "";
  const [single, set] = [kindOfType(type), setOfType(type)];
  const kind = single ?? set?.member;
  if (kind === undefined || !DECIDED_BY_ENGINE.includes(op)) return [];
  const name = nameInUrn(urn);
  if (set !== undefined && op !== "delete" && newState?.inputs?.events === SECRET_TEXT) {
    const nothing = { id: undefined, adopts: undefined, former: undefined, values: {}, changes: [], within: undefined };
    return [{ kind, key: name, action: op === "same" ? "same" : "hidden", ...nothing }];
  }
  const news = op === "delete" ? undefined : (newState?.inputs ?? {});
  const shown = news && withoutSecrets(news);
  const known = abilities(kind);
  const circumstances: Circumstances = {
    can: { ...known, update: known.update && op !== "replace" },
    deletes: () => deletes(step),
    instead: (action, changed) => actionIn(op, set !== undefined, action, changed, news),
  };
  /** @param news as declared; none where the program does not declare it any more. */
  const changeOf = (key: string, member: PlannedObject, news: Values | undefined): ResourceChange => {
    const { id, action, olds, changed, former, formerKey } = member;
    // A new object has nothing to differ from.
    const differs = news !== undefined && ["replace", "update", "update state only", "adopt"].includes(action.do);
    const differences = differs ? changeMessages(changed, olds, news, secretArgumentsOf(olds, news), NOT_COMPARED) : [];
    return {
      ...{ kind, key, id, action: shownAction(member), values: news ?? olds, former },
      adopts: action.do === "adopt" ? action.id : undefined,
      changes: formerKey === undefined ? differences : [`key ${formerKey} → ${member.key}`, ...differences],
      within: set === undefined ? withinCatalog(kind, urn) : { scope: urn, key: member.key },
    };
  };
  if (single !== undefined) {
    const olds = { ...oldState?.inputs, ...oldState?.outputs };
    const stored = readStored(single, oldState?.id, olds);
    const objects = plannedObjects(single, stored, readDeclared(single, shown), circumstances);
    return objects.map((object) => changeOf(name, object, news));
  }
  const [stored, declared] = [readStoredSet(oldState?.outputs ?? {}), readDeclaredSet(news ?? {})];
  return plannedObjects(kind, stored, readDeclaredSet(shown ?? {}), circumstances).map((member) => {
    const { key, entry, isDeclared } = member;
    const own = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return changeOf(memberInReports(name, key), member, own);
  });
}

function withinCatalog(kind: Kind, urn: string): ResourceChange["within"] {
  if (kind !== conversionEvent || !urn.includes(`${CATALOG_TYPE}$`)) return undefined;
  const end = urn.lastIndexOf(CATALOG_SEPARATOR);
  return { scope: urn.slice(0, end), key: urn.slice(end + CATALOG_SEPARATOR.length) };
}

/**
 * Of a single resource the engine's step says what happens, even of what can't be known here: secrets, settings in the
 * program's environment, `--replace`. Only what the step leaves open is decided. @param news as declared.
 */
function actionIn(
  op: string,
  isSet: boolean,
  action: Action,
  changed: readonly string[],
  news: Values | undefined,
): Action {
  if (op === "same") return { do: "same" };
  if (isSet || ["adopt", "recover", "blocked"].includes(action.do)) return action;
  if (op === "replace")
    return { do: "replace", perhaps: action.do === "replace" && action.perhaps && holdsUnknown(news) };
  // Only the state takes what a refresh needs.
  if (op === "update" && action.do === "same" && changed.length === 0) return action;
  if (op === "update" && action.do !== "update")
    return adoptedBy(news) === undefined ? { do: "update", changed } : { do: "update state only" };
  return action;
}

/** Whether what leaves the state is deleted, if a delete is known: the engine goes by state, the package by inputs. */
function deletes({ op, oldState, newState }: Step): boolean {
  if (op === "delete") return oldState?.retainOnDelete !== true;
  const isSet = setOfType(newState?.type ?? "") !== undefined;
  return newState?.inputs?.[DELETES] === true && (isSet || oldState?.inputs?.[DELETES] === true);
}

function secretArgumentsOf(...all: readonly Values[]): ReadonlySet<string> {
  const isHidden = (value: unknown) => JSON.stringify(value)?.includes(JSON.stringify(SECRET_TEXT)) === true;
  return new Set(all.flatMap((each) => Object.keys(each).filter((name) => isHidden(each[name]))));
}

function withoutSecrets(inputs: Values): Values {
  return JSON.parse(JSON.stringify(inputs).replaceAll(JSON.stringify(SECRET_TEXT), JSON.stringify(UNKNOWN)));
}

/** Nobody can tell from a preview whether a secret has changed. */
const NOT_COMPARED = "(secret, not compared)";

/** GitHub takes 65,536 characters, which leaves room for what a workflow adds. */
export const MAX_CHARACTERS = 60_000;

/** In counts, after "to"; the table has the action itself. What stays as it is is not shown. */
const WORDS: Readonly<Record<Exclude<ResourceChange["action"], "same">, string>> = {
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

/** @returns also how many creates look like renames, and how many objects are replaced, perhaps or surely. */
export function commentOf({ changes, diagnostics }: Preview) {
  const renames = renamesAmong(changes);
  const [recorded = [], sent = []] = [true, false].map((isOnly) =>
    changes.filter(({ action }) => (action === "update state only") === isOnly),
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
    { title: "Not sent: the platform is not told", lines: changeRows(recorded), header: TABLE_HEAD },
    { title: "Changes", lines: changeRows(sent), header: TABLE_HEAD, isFolded: true },
    { title: "Messages", lines: said.map(item), isFolded: true },
  ];
  const text = parts.reduce((all, part) => all + fitting(part, MAX_CHARACTERS - all.length - 3), head.join("\n\n"));
  const replacements = changes.filter(({ action }) => action === "replace" || action === "perhaps replace").length;
  return { text: `${text}\n`, renames: renames.length, replacements };
}

function countsOf(changes: readonly ResourceChange[]): string {
  const counts = ACTIONS.flatMap((action) => {
    const amount = changes.filter((each) => each.action === action).length;
    return amount === 0 ? [] : `${amount} to ${WORDS[action]}`;
  });
  return counts.length === 0 ? "" : `**${counts.join(", ")}**`;
}

function fate(changes: readonly ResourceChange[], isDeleted: boolean, words: string): string {
  const amount = changes.filter(({ former }) => former?.isDeleted === isDeleted).length;
  const ids = agree(amount, "its id", "their ids");
  return amount === 0 ? "" : `Up to ${count(amount, "object")} would ${words}; tags keep firing ${ids}.`;
}

/**
 * A new object whose body is that of one which leaves the state is likely the same one under another name, so that
 * creating it makes a second live object. Unlike a run, this sees the whole state.
 */
function renamesAmong(changes: readonly ResourceChange[]): string[] {
  const nameOf = ({ kind, values }: ResourceChange) => JSON.stringify([kind.name, values[kind.nameProperty]]);
  const gone = changes.filter(({ action, former }) => ["retain", "delete"].includes(action) && former !== undefined);
  const byName = Map.groupBy(gone, nameOf);
  return changes.flatMap((to) => {
    const alike = to.action === "create" ? byName.get(nameOf(to)) : undefined;
    const from = alike?.find((each) => isSameBody(each, to));
    if (from === undefined) return [];
    const happens = from.former?.isDeleted ? "delete that object, and make another one" : "make a second live object";
    return (
      `- ${code(to.key)} is new, and as far as this preview shows, all its arguments are those of ${code(from.key)} (${from.id}), ` +
      `which leaves the state. This would ${happens}. ` +
      `It looks like a rename: to go on with ${from.id}, set ${code(renameAdvice(from, to))}.`
    );
  });
}

function renameAdvice(from: ResourceChange, to: ResourceChange): string {
  const isWithin = from.within !== undefined && from.within.scope === to.within?.scope;
  return isWithin ? `formerKey: ${JSON.stringify(from.within.key)}` : `existingId: ${from.id}`;
}

function isSameBody(one: ResourceChange, other: ResourceChange): boolean {
  const { names } = changesIn(one.kind, one.values, other.values);
  return names.every((name) => holdsUnknown(one.values[name]) || holdsUnknown(other.values[name]));
}

const COMMENT_COLUMNS = ["", "kind", "resource", "name", "id", "changes"];
const TABLE_HEAD = [COMMENT_COLUMNS, COMMENT_COLUMNS.map(() => "---")].map(rowOf);

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function changeRows(changes: readonly ResourceChange[]): string[] {
  return ACTIONS.flatMap((listed) => {
    const alike = changes.filter(({ action }) => action === listed);
    return alike.map(({ kind, key, values, id, adopts, changes: differences }) => {
      const shown = shownName(values[kind.nameProperty]);
      const ids = [id, adopts === id ? undefined : adopts].filter((each) => each !== undefined).join(" → ");
      return rowOf([listed, kind.name, code(key), shown, ids, differences.map(code).join("<br>")]);
    });
  });
}

function shownName(name: unknown): string {
  if (name === SECRET_TEXT) return SECRET;
  return typeof name === "string" && name !== UNKNOWN ? code(name) : "";
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

/** As code, in which nothing is markup and nobody is mentioned; each character that might be becomes an entity. */
function code(text: string): string {
  const plain = excerpt(printable(text), MAX_MESSAGE);
  return `<code>${plain.replace(/[^\p{L}\p{N}\p{M} .,:;=/-]/gu, (character) => `&#${character.codePointAt(0)};`)}</code>`;
}
