/**
 * What `pulumi preview --json` prints, as changes of advertisers and events: those of sets, key by key. The steps become facts, and
 * `decision/` says what becomes of each object, as it does for the `up`. (Measured with engine 3.259.0: a replacement is one step;
 * a secret is the text "[secret]", a value that is not known yet a fixed text; unchanged resources are left out unless `--show-sames`
 * is given.)
 */
import { z } from "zod";
import { asRecord, jsonIn, own, type Values } from "../base/index.js";
import {
  type Abilities,
  type Action,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changesIn,
  type Former,
  type Member,
  membersOf,
  type ShownAction,
  shownAction,
  singleMember,
} from "../decision/index.js";
import { type Kind, kindOfType, type SetKind, setOfType } from "../kinds/index.js";
import { NAMESPACE, operationsSchema } from "../settings/index.js";
import {
  DELETES,
  eventIn,
  isOfKnownAccount,
  memberInReports,
  memberOf,
  nameInUrn,
  objectKey,
  readDeclaredSet,
  readStoredSet,
  UNKNOWN,
} from "../state/index.js";

/** As engine 3.259 writes a secret value. */
export const SECRET_TEXT = "[secret]";

const values = z.record(z.string(), z.unknown()).optional();
const state = z
  .looseObject({
    type: z.string(),
    id: z.string().optional(),
    inputs: values,
    outputs: values,
    retainOnDelete: z.boolean().optional(),
    deletedWith: z.string().optional(),
    external: z.boolean().optional(),
    propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).nullish(),
  })
  .nullish();
const stepSchema = z.looseObject({ op: z.string(), urn: z.string(), oldState: state, newState: state });
const previewSchema = z.looseObject({
  /** The stack's settings, by namespace and key; structured ones as JSON. */
  config: z.record(z.string(), z.string()).nullish().catch(undefined),
  steps: z.array(stepSchema).nullish(),
  diagnostics: z
    .array(z.looseObject({ message: z.string(), severity: z.string(), urn: z.string().optional() }))
    .nullish(),
});
type Step = z.infer<typeof stepSchema>;

export interface Change {
  readonly kind: Kind;
  /** `move`: the object leaves the state here, and another resource of the preview has it. */
  readonly action: ShownAction | "move";
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  readonly urn: string;
  readonly isMember: boolean;
  /** The platform's id that the state holds. */
  readonly id: string | undefined;
  /** The object that leaves the state, unless something else in the program goes on with it. */
  readonly former: Former | undefined;
  /** Its arguments: as declared, or as stored if it leaves the state. */
  readonly values: Values;
  readonly changed: readonly string[];
  /** URNs of resources whose ids its advertiser comes from. */
  readonly advertiserFrom: readonly string[];
}

export interface Preview {
  readonly changes: readonly Change[];
  /** The names of sets whose events are secret, so that `changes` has none of them. */
  readonly hidden: readonly string[];
  /** How many resources of other packages change. */
  readonly others: number;
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly about: string }[];
}

/** Settings that decide what becomes of an object, as the environment has them: those of the stack stand in the preview. */
export type Environment = Readonly<Partial<Record<"operations" | "markField", string | undefined>>>;

interface Context {
  can(kind: Kind): Abilities;
  /** Whether another resource or member of the preview goes on with an object, or adopts it. */
  goesOn(kind: Kind, id: string, by: string): boolean;
  /** Whether a resource adopts an object of this kind whose id is not known yet. */
  adoptsUnknown(kind: Kind): boolean;
  /** Whether the engine deletes the object of a resource that leaves the state: by the options in the state. */
  isDeletedByEngine(old: Step["oldState"]): boolean;
}

/** @throws Error, in words, where the text is no preview. */
export function readPreview(text: string, environment: Environment = {}): Preview {
  const data = jsonIn(text);
  if (data === undefined) throw new Error("this is not what `pulumi preview --json` prints: it is not JSON");
  const parsed = previewSchema.safeParse(data);
  const isPreview = parsed.success && (parsed.data.steps ?? parsed.data.diagnostics) != null;
  if (!isPreview) throw new Error("this is not what `pulumi preview --json` prints: it has no steps");
  const { diagnostics, config } = parsed.data;
  const steps = parsed.data.steps ?? [];
  const setting = (key: keyof Environment) => config?.[`${NAMESPACE}:${key}`] ?? environment[key];
  // The preview itself reports a setting that is wrong.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const can = (kind: Kind) => abilitiesOf(kind, { operations, markField: setting("markField") });
  const managed = steps.map(ofManaged);
  const context = { ...contextOf(managed), can };
  const found = managed.map((step) => ({ step, changes: changesOf(step, context) }));
  return {
    changes: found.flatMap(({ changes }) => changes ?? []),
    hidden: managed.flatMap((step) => (step.op !== "same" && hasSecretEvents(step) ? nameInUrn(step.urn) : [])),
    others: found.filter(({ step: { op, urn }, changes }) => changes === undefined && isOthers(op, urn)).length,
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn }) => ({
      severity,
      message: message.replace(/<\{%\w+%\}>/g, "").trim(),
      about: urn === undefined ? "" : nameInUrn(urn),
    })),
  };
}

/**
 * The same step without what is only read (`.get`), which holds nothing: what that takes the place of is gone, and what takes its place is
 * new. Where the id stays, the engine deletes nothing.
 */
function ofManaged(step: Step): Step {
  const [was, is] = [step.oldState, step.newState].map((each) => (each?.external === true ? undefined : each));
  if (was === step.oldState && is === step.newState) return step;
  if (was == null) return { ...step, op: is == null ? "same" : "create", oldState: was, newState: is };
  return { ...step, op: "delete", oldState: step.op === "read" ? { ...was, retainOnDelete: true } : was, newState: is };
}

/** Who has, or is to have, which objects. */
function contextOf(steps: readonly Step[]): Omit<Context, "can"> {
  const holders = new Map<string, Set<string>>();
  const unknown = new Set<Kind>();
  const hold = (kind: Kind, id: string, by: string) => {
    const key = objectKey(kind.name, id);
    holders.set(key, (holders.get(key) ?? new Set()).add(by));
  };
  // A secret one is no reason to say that nothing is deleted: the `up` knows it, and it likely names another object.
  const adopt = (kind: Kind, given: unknown, by: string) => {
    const id = given === UNKNOWN ? UNKNOWN : adoptedBy(given);
    if (id === UNKNOWN) unknown.add(kind);
    else if (id !== undefined) hold(kind, id, by);
  };
  for (const { op, urn, oldState, newState } of steps) {
    const type = (newState ?? oldState)?.type ?? "";
    const goesOn = oldState != null && newState != null && op !== "replace";
    const [kind, member] = [kindOfType(type), setOfType(type)?.member];
    if (kind !== undefined) {
      adopt(kind, newState?.inputs, urn);
      if (goesOn && oldState.id !== undefined) hold(kind, oldState.id, urn);
    } else if (member !== undefined) {
      const { events } = readDeclaredSet(newState?.inputs ?? {});
      for (const [key, given] of events ?? []) adopt(member, given, memberOf(urn, key));
      for (const [key, id] of goesOn ? readStoredSet(oldState.outputs ?? {}).eventIds : [])
        if (events?.has(key) !== false) hold(member, id, memberOf(urn, key));
    }
  }
  const leaving = new Set(steps.filter(({ op }) => op === "delete" || op === "replace").map(({ urn }) => urn));
  return {
    goesOn: (kind, id, by) => [...(holders.get(objectKey(kind.name, id)) ?? [])].some((each) => each !== by),
    adoptsUnknown: (kind) => unknown.has(kind),
    isDeletedByEngine: (old) => {
      if (old?.retainOnDelete === true || !isOfKnownAccount(old?.outputs)) return false;
      return old?.deletedWith === undefined || !leaving.has(old.deletedWith);
    },
  };
}

function isOthers(op: string, urn: string): boolean {
  return !["same", "read", "refresh"].includes(op) && !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn);
}

/** Whether a step declares a set whose events are all hidden. One that leaves the state shows the ids. */
function hasSecretEvents({ op, newState }: Step): boolean {
  return op !== "delete" && own(newState?.inputs, "events") === SECRET_TEXT;
}

/** None where it is no resource of ours. */
function changesOf(step: Step, context: Context): Change[] | undefined {
  const type = (step.newState ?? step.oldState)?.type ?? "";
  const kind = kindOfType(type);
  if (kind !== undefined) return singleChange(kind, step, context);
  const set = setOfType(type);
  if (set === undefined) return undefined;
  if (step.op === "same" || hasSecretEvents(step)) return [];
  if (step.op !== "replace") return memberChanges(set, step, context);
  // A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new.
  const gone = memberChanges(set, { ...step, op: "delete", newState: undefined }, context);
  return [...gone, ...memberChanges(set, { ...step, op: "create", oldState: undefined }, context)];
}

/** @param isAsked whether it is to be deleted, unless something else has it. @param byOf the URN of what has an object, with a member's key. */
function circumstancesOf(
  kind: Kind,
  { can, goesOn, adoptsUnknown }: Context,
  isAsked: boolean,
  byOf: (id: string) => string,
): Circumstances {
  return {
    can: can(kind),
    // In doubt it stays live.
    deletes: (id) => isAsked && !adoptsUnknown(kind) && !goesOn(kind, id, byOf(id)),
  };
}

const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete"];

function singleChange(kind: Kind, step: Step, context: Context): Change[] {
  const { op, oldState, newState } = step;
  if (!DECIDED_BY_ENGINE.includes(op)) return [];
  const old = oldState == null ? {} : { ...oldState.inputs, ...oldState.outputs };
  const news = op === "delete" ? undefined : (newState?.inputs ?? {});
  // What is replaced is deleted only if the package knew the option, as it does not know what a transformation gave.
  const isToGo = op === "delete" || oldState?.inputs?.[DELETES] === true;
  const circumstances = circumstancesOf(kind, context, isToGo && context.isDeletedByEngine(oldState), () => step.urn);
  const decided = singleMember(kind, oldState?.id, old, news, {
    ...circumstances,
    // An update, or a replacement, is a fact where the engine has one, wherever the comment is made.
    can: { ...circumstances.can, update: op === "update" },
  });
  const { id } = decided;
  // The engine has compared the values, but shows each secret as "[secret]": if nothing else has changed, a secret has, or `--replace` was given.
  const isUnseen = decided.action.do === "keep" && adoptedBy(news) === undefined;
  if (isUnseen && op === "replace" && id !== undefined) {
    const { former } = singleMember(kind, id, old, undefined, circumstances); // as if it was removed
    return [changeOf(kind, step, context, { action: { do: "replace", perhaps: false }, id, former, old, news })];
  }
  const isSecretUpdate = isUnseen && op === "update" && JSON.stringify(news).includes(JSON.stringify(SECRET_TEXT));
  const action: Action = isSecretUpdate ? { do: "update", changed: [] } : decided.action;
  return [changeOf(kind, step, context, { ...decided, action, old, news })];
}

function memberChanges({ member: kind }: SetKind, step: Step, context: Context): Change[] {
  const { op, oldState, newState } = step;
  const stored = readStoredSet(oldState?.outputs ?? {});
  const isGone = newState == null || op === "delete";
  const given = isGone ? { events: {} } : (newState.inputs ?? {});
  const isAsked = isGone
    ? context.isDeletedByEngine(oldState)
    : given[DELETES] === true && isOfKnownAccount(oldState?.outputs);
  const keys = new Map([...stored.eventIds].map(([key, id]) => [id, key]));
  const byOf = (id: string) => memberOf(step.urn, keys.get(id) ?? "");
  const circumstances = circumstancesOf(kind, context, isAsked, byOf);
  const membersWith = (inputs: Values) => membersOf(kind, stored, readDeclaredSet(inputs), circumstances);
  const shown = membersWith(given);
  // As for a single one: each secret may have changed.
  const isUnseen = op === "update" && shown.every(({ action }) => action.do === "keep");
  const members = isUnseen ? membersWith(withoutSecrets(given)) : shown;
  const declared = readDeclaredSet(given);
  return members.map((member) => {
    const { key, isDeclared, entry } = member;
    const old = eventIn(stored, stored.events.get(key) ?? {});
    const news = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return changeOf(kind, step, context, { ...member, old, news, memberKey: key });
  });
}

interface Decided extends Pick<Member, "action" | "id" | "former"> {
  /** Its arguments as stored, and as declared; none where the program does not declare it any more. */
  readonly old: Values;
  readonly news: Values | undefined;
  readonly memberKey?: string;
}

function changeOf(kind: Kind, { urn, newState }: Step, { goesOn }: Context, decided: Decided): Change {
  const { action, id, former, old, news, memberKey } = decided;
  const isMember = memberKey !== undefined;
  const isKept = former !== undefined && goesOn(kind, former.id, isMember ? memberOf(urn, memberKey) : urn);
  const shown = isKept && action.do === "let go" ? "move" : shownAction(action);
  // A new object has nothing to differ from.
  const differs = news !== undefined && ["replace", "perhaps replace", "update"].includes(shown);
  return {
    kind,
    action: shown,
    key: isMember ? memberInReports(nameInUrn(urn), memberKey) : nameInUrn(urn),
    urn,
    isMember,
    id,
    former: isKept ? undefined : former,
    values: news ?? old,
    changed: differs ? changesIn(kind, old, news).names : [],
    advertiserFrom: newState?.propertyDependencies?.advertiserId ?? [],
  };
}

/** The same value with the text for unknown values for each secret. */
function withoutSecrets<T>(value: T): T {
  if ((value as unknown) === SECRET_TEXT) return UNKNOWN as T;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each)])) as T;
}
