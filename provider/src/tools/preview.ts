/**
 * What `pulumi preview --json` prints, as changes of advertisers and events: those of sets, key by key. The steps become facts, and
 * `decision/` says what becomes of each object, as it does for the `up`. (Measured with engine 3.259.0: a replacement is one step;
 * a secret is the text "[secret]", a value that is not known yet a fixed text; unchanged resources are left out unless `--show-sames`
 * is given.)
 */
import { asRecord, jsonIn, type Values } from "../base/index.js";
import {
  type Abilities,
  type Action,
  abilitiesOf,
  adoptedBy,
  changesInWords,
  type Former,
  formerOf,
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

/** As engine 3.259 writes a secret value. */
export const SECRET_TEXT = "[secret]";

interface State {
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Values;
  readonly outputs?: Values;
  readonly retainOnDelete?: boolean;
  readonly external?: boolean;
}
interface Step {
  readonly op: string;
  readonly urn: string;
  readonly oldState?: State | undefined;
  readonly newState?: State | undefined;
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
  const decided = (steps ?? [])
    .map(ofManaged)
    .flatMap(inParts)
    .flatMap((step) => decidedIn(step, can));
  const held = new Set(decided.flatMap(({ kind, holds }) => (holds === undefined ? [] : objectKey(kind.name, holds))));
  return {
    changes: decided.filter(({ action }) => action !== "keep").map((each) => movedIf(held, each)),
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn }) => ({
      severity,
      message: message.replace(/<\{%\w+%\}>/g, "").trim(),
      about: urn === undefined ? "" : nameInUrn(urn),
    })),
  };
}

/** The same step without what is only read (`.get`), which holds nothing: what it takes the place of is gone, and what takes its place is new. */
function ofManaged(step: Step): Step {
  const [was, is] = [step.oldState, step.newState].map((each) => (each?.external === true ? undefined : each));
  if (was === step.oldState && is === step.newState) return step;
  const op = was == null ? (is == null ? "same" : "create") : "delete";
  // Where the id stays, the engine deletes nothing.
  const retainOnDelete = step.op === "read" || was?.retainOnDelete === true;
  return { ...step, op, oldState: was == null ? was : { ...was, retainOnDelete }, newState: is };
}

/** A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new. */
function inParts(step: Step): Step[] {
  if (step.op !== "replace" || setOfType(step.newState?.type ?? "") === undefined) return [step];
  return [
    { ...step, op: "delete", newState: undefined },
    { ...step, op: "create", oldState: undefined },
  ];
}

/** Whether what leaves the state is deleted where a delete is known: the engine goes by its state, the package by what it was told. */
function deletes({ op, oldState, newState }: Step, isSet: boolean): boolean {
  if (op === "delete") return oldState?.retainOnDelete !== true;
  return newState?.inputs?.[DELETES] === true && (isSet || oldState?.inputs?.[DELETES] === true);
}

interface Decided extends Change {
  /** The object that it has afterwards. */
  readonly holds: string | undefined;
}

/** An object that leaves the state here, and that another resource or member goes on with, is not left. */
function movedIf(held: ReadonlySet<string>, { holds: _, ...change }: Decided): Change {
  const { kind, former, action } = change;
  if (former === undefined || !held.has(objectKey(kind.name, former.id))) return change;
  return { ...change, former: undefined, action: action === "let go" || action === "delete" ? "move" : action };
}

const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete", "same"];

/** What becomes of each object of a resource; none if it is not one of ours. */
function decidedIn(step: Step, abilities: (kind: Kind) => Abilities): Decided[] {
  const { op, urn, oldState, newState } = step;
  const type = (newState ?? oldState)?.type ?? "";
  const [single, set] = [kindOfType(type), setOfType(type)];
  const kind = single ?? set?.member;
  if (kind === undefined || !DECIDED_BY_ENGINE.includes(op)) return [];
  const name = nameInUrn(urn);
  if (set !== undefined && op !== "delete" && newState?.inputs?.events === SECRET_TEXT) {
    const nothing = { id: undefined, adopts: undefined, former: undefined, values: {}, changes: [], holds: undefined };
    return [{ kind, key: name, action: op === "same" ? "keep" : "hidden", ...nothing }];
  }
  // Of a single resource the engine knows whether it is updated, wherever the comment is made; but not of one that `existingId` names.
  const isNamed = oldState?.id !== undefined && adoptedBy(newState?.inputs) === oldState.id;
  const can = { ...abilities(kind), ...(set === undefined && !isNamed && { update: op === "update" }) };
  const news = op === "delete" ? undefined : (newState?.inputs ?? {});
  // Nobody can tell whether a secret has changed.
  const judged = news && withoutSecrets(news);
  const isToDelete = deletes(step, set !== undefined);
  const circumstances = { can, deletes: () => isToDelete };
  /** `olds`, `news`: its arguments as stored, and as declared; none where the program does not declare it any more. */
  const decided = (member: Member, key: string, olds: Values, news: Values | undefined): Decided => {
    const { id } = member;
    const { action: judgedAs, changed } = member;
    const isForced = op === "replace" && judgedAs.do === "keep" && adoptedBy(news) === undefined;
    // What differs only in a secret is not known here; of a single resource the engine knows.
    const isSure = op === "replace" && set === undefined && judgedAs.do === "replace" && !holdsUnknown(news);
    const isRecorded = op === "update" && judgedAs.do === "keep" && changed.length > 0 && adoptedBy(news) !== undefined;
    const acted: Action = isForced || isSure ? { do: "replace", perhaps: false } : judgedAs;
    const action: Action = op === "same" ? { do: "keep" } : isRecorded ? { do: "record" } : acted;
    // A new object has nothing to differ from.
    const differs = news !== undefined && ["replace", "update", "record", "adopt"].includes(action.do);
    return {
      ...{ kind, key, id, action: shownAction(action), values: news ?? olds },
      former: formerOf({ held: id, deletes: can.delete && isToDelete }, action),
      adopts: action.do === "adopt" ? action.id : undefined,
      changes: differs ? changesInWords(changed, olds, news, secretIn(olds, news)) : [],
      holds: action.do === "adopt" ? action.id : ["keep", "update", "record"].includes(action.do) ? id : undefined,
    };
  };
  if (set === undefined) {
    const olds = { ...oldState?.inputs, ...oldState?.outputs };
    return [decided(singleMember(kind, oldState?.id, olds, judged, circumstances), name, olds, news)];
  }
  const [stored, declared] = [readStoredSet(oldState?.outputs ?? {}), readDeclaredSet(news ?? {})];
  return membersOf(kind, stored, readDeclaredSet(judged ?? {}), circumstances).map((member) => {
    const { key, entry, isDeclared } = member;
    const olds = eventIn(stored, stored.events.get(key) ?? {});
    const own = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return decided(member, memberInReports(name, key), olds, own);
  });
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
