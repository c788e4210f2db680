/**
 * What `pulumi preview --json` prints, as changes of advertisers and events: those of sets, key by key, as `decision/` says
 * for the `up` too. (Measured with engine 3.259.0: a replacement is one step; a secret is the text "[secret]", a value that
 * is not known yet a fixed text; unchanged resources are left out unless `--show-sames` is given.)
 */
import { asRecord, jsonIn, type Values } from "../base/index.js";
import {
  type Abilities,
  type Action,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changesInWords,
  type Former,
  holdsUnknown,
  type Member,
  membersOf,
  type ShownAction,
  shownAction,
  singleMember,
} from "../decision/index.js";
import { type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { NAMESPACE, operationsSchema } from "../settings/index.js";
import {
  DELETES,
  eventIn,
  memberInReports,
  nameInUrn,
  objectKey,
  readDeclaredSet,
  readStoredSet,
  UNKNOWN,
} from "../state/index.js";
import type { Resource } from "./contents.js";

/** As engine 3.259 writes a secret value. */
export const SECRET_TEXT = "[secret]";

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

export interface Change {
  readonly kind: Kind;
  /** `move`: the object leaves the state here, and another resource of the preview has it. `hidden`: of a set, all of whose events are secret. */
  readonly action: ShownAction | "move" | "hidden";
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** The platform's id that the state holds, and the one that the object gets where the program says which. */
  readonly id: string | undefined;
  readonly adopts: string | undefined;
  /** The object that leaves the state, unless something else in the program goes on with it. */
  readonly former: Former | undefined;
  /** Its arguments: as declared, or as stored if it leaves the state. */
  readonly values: Values;
  /** Which arguments differ, and how, in words. */
  readonly changes: readonly string[];
}

export interface Preview {
  readonly changes: readonly Change[];
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly about: string }[];
}

/** Settings that decide what becomes of an object, as the environment has them: those of the stack stand in the preview. */
export type Environment = Readonly<Partial<Record<"operations" | "markField", string | undefined>>>;

/** @throws Error, in words, where the text is no preview. */
export function readPreview(text: string, environment: Environment = {}): Preview {
  const { config, steps, diagnostics } = asRecord(jsonIn(text)) as Printed;
  if (!Array.isArray(steps ?? diagnostics))
    throw new Error("this is not what `pulumi preview --json` prints: it is not JSON, or has no steps");
  const setting = (key: keyof Environment) => config?.[`${NAMESPACE}:${key}`] ?? environment[key];
  // The preview itself reports a setting that is wrong.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const can = (kind: Kind) => abilitiesOf(kind, { operations, markField: setting("markField") });
  const decided = (steps ?? []).flatMap(inParts).flatMap((step) => decidedIn(step, can));
  const held = new Set(decided.flatMap(heldIn));
  return {
    changes: decided.filter(({ action }) => action !== "keep").map((each) => movedIf(held, each)),
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

/** The object that it has afterwards. */
function heldIn({ kind, action, id, adopts }: Change): string[] {
  const held = ["keep", "update", "record"].includes(action) ? id : adopts;
  return held === undefined ? [] : [objectKey(kind.name, held)];
}

/** An object that leaves the state here, and that another resource or member goes on with, is not left. */
function movedIf(held: ReadonlySet<string>, change: Change): Change {
  const { kind, former, action } = change;
  if (former === undefined || !held.has(objectKey(kind.name, former.id))) return change;
  return { ...change, former: undefined, action: action === "let go" || action === "delete" ? "move" : action };
}

/** Of what is only read (`.get`) the engine has other operations. */
const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete", "same"];

/** What becomes of each object of a resource; none if it is not one of ours. */
function decidedIn(step: Step, abilities: (kind: Kind) => Abilities): Change[] {
  const { op, urn, oldState, newState } = step;
  const type = (newState ?? oldState)?.type ?? "";
  const [single, set] = [kindOfType(type), setOfType(type)];
  const kind = single ?? set?.member;
  if (kind === undefined || !DECIDED_BY_ENGINE.includes(op)) return [];
  const name = nameInUrn(urn);
  if (set !== undefined && op !== "delete" && newState?.inputs?.events === SECRET_TEXT) {
    const nothing = { id: undefined, adopts: undefined, former: undefined, values: {}, changes: [] };
    return [{ kind, key: name, action: op === "same" ? "keep" : "hidden", ...nothing }];
  }
  const news = op === "delete" ? undefined : (newState?.inputs ?? {});
  // Nobody can tell whether a secret has changed.
  const judged = news && withoutSecrets(news);
  const known = abilities(kind);
  const circumstances: Circumstances = {
    can: { ...known, update: known.update && op !== "replace" },
    deletes: () => deletes(step),
    instead: (action, changed) => actionIn(op, set !== undefined, action, changed, news),
  };
  /** @param news as declared; none where the program does not declare it any more. */
  const changeOf = (key: string, { id, action, olds, changed, former }: Member, news: Values | undefined): Change => {
    // A new object has nothing to differ from.
    const differs = news !== undefined && ["replace", "update", "record", "adopt"].includes(action.do);
    return {
      ...{ kind, key, id, action: shownAction(action), values: news ?? olds, former },
      adopts: action.do === "adopt" ? action.id : undefined,
      changes: differs ? changesInWords(changed, olds, news, secretIn(olds, news)) : [],
    };
  };
  if (set === undefined) {
    const olds = { ...oldState?.inputs, ...oldState?.outputs };
    return [changeOf(name, singleMember(kind, oldState?.id, olds, judged, circumstances), news)];
  }
  const [stored, declared] = [readStoredSet(oldState?.outputs ?? {}), readDeclaredSet(news ?? {})];
  return membersOf(kind, stored, readDeclaredSet(judged ?? {}), circumstances).map((member) => {
    const { key, entry, isDeclared } = member;
    const own = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return changeOf(memberInReports(name, key), member, own);
  });
}

/**
 * Of a single resource the engine's step says what happens, also where that can't be known here: of secrets, settings in
 * the program's environment, `--replace`. Only what the step leaves open is decided. @param news as declared.
 */
function actionIn(
  op: string,
  isSet: boolean,
  action: Action,
  changed: readonly string[],
  news: Values | undefined,
): Action {
  if (op === "same") return { do: "keep" };
  if (isSet || ["adopt", "look for", "wait"].includes(action.do)) return action;
  if (op === "replace")
    return { do: "replace", perhaps: action.do === "replace" && action.perhaps && holdsUnknown(news) };
  if (op === "update" && action.do !== "update")
    return adoptedBy(news) === undefined ? { do: "update", changed } : { do: "record" };
  return action;
}

/** Whether what leaves the state is deleted, where a delete is known: the engine goes by its state, the package by inputs. */
function deletes({ op, oldState, newState }: Step): boolean {
  if (op === "delete") return oldState?.retainOnDelete !== true;
  const isSet = setOfType(newState?.type ?? "") !== undefined;
  return newState?.inputs?.[DELETES] === true && (isSet || oldState?.inputs?.[DELETES] === true);
}

/** The names of arguments of which something is not shown. */
function secretIn(...all: readonly Values[]): ReadonlySet<string> {
  const isHidden = (value: unknown) => JSON.stringify(value)?.includes(JSON.stringify(SECRET_TEXT)) === true;
  return new Set(all.flatMap((each) => Object.keys(each).filter((name) => isHidden(each[name]))));
}

/** The same with the text for unknown values for each secret. */
function withoutSecrets(inputs: Values): Values {
  return JSON.parse(JSON.stringify(inputs).replaceAll(JSON.stringify(SECRET_TEXT), JSON.stringify(UNKNOWN)));
}
