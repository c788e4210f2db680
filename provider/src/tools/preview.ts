/**
 * What `pulumi preview --json` prints, as changes of advertisers and events: those of sets, key by key. The steps become facts, and
 * `decision/` says what becomes of each object, as it does for the `up`. (Measured with engine 3.259.0: a replacement is one step;
 * a secret is the text "[secret]", a value that is not known yet a fixed text; unchanged resources are left out.)
 */
import { z } from "zod";
import { asRecord, own, type Values } from "../base/index.js";
import {
  type Abilities,
  abilitiesOf,
  changesIn,
  Holders,
  type Member,
  membersOf,
  singleMember,
} from "../decision/index.js";
import { type Kind, kindOfType, type SetKind, setOfType } from "../kinds/index.js";
import { NAMESPACE, operationsSchema } from "../settings/index.js";
import {
  ACCOUNT,
  DELETES,
  eventIn,
  memberOf,
  nameInUrn,
  readDeclaredSet,
  readStoredSet,
  UNKNOWN,
  UNRESOLVED,
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
    replaceOnChanges: z.array(z.string()).nullish(),
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

/** The word for what becomes of an object: that of the decision, and "perhaps" where it depends on values that are not known yet. */
export type Action = Member["action"]["do"] | "perhaps replace";

export interface Change {
  readonly kind: Kind;
  readonly action: Action;
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** Of the resource. */
  readonly urn: string;
  readonly isMember: boolean;
  /** The platform's id that the state holds. */
  readonly id: string | undefined;
  /** The object that the state lets go of, unless something else in the program goes on with it. */
  readonly former: Member["former"];
  /** Its arguments: as declared, or of what is let go, as stored. */
  readonly values: Values;
  /** The names of arguments that differ. */
  readonly changed: readonly string[];
  /** URNs of resources whose ids its advertiser comes from. */
  readonly advertiserFrom: readonly string[];
}

export interface Preview {
  readonly changes: readonly Change[];
  /** How many resources of other packages change. */
  readonly others: number;
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly about: string }[];
}

/** Settings that decide what becomes of an object, as the environment has them: those of the stack stand in the preview. */
export interface Environment {
  /** As JSON. */
  readonly operations?: string | undefined;
  readonly traceField?: string | undefined;
}

/** What the decision says of one object. */
type Decided = Pick<ReturnType<typeof singleMember>, "action" | "id" | "former">;

/** What is known of the whole preview, when one step of it is looked at. */
interface Context {
  readonly holders: Holders;
  can(kind: Kind): Abilities;
  /** Whether something adopts an object of this kind whose id is not known yet. */
  adoptsUnknown(kind: Kind): boolean;
}

/** @throws Error, in words, where the text is no preview. */
export function readPreview(text: string, environment: Environment = {}): Preview {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("this is not what `pulumi preview --json` prints: it is no JSON");
  }
  const parsed = previewSchema.safeParse(data);
  const isPreview = parsed.success && (parsed.data.steps ?? parsed.data.diagnostics) != null;
  if (!isPreview) throw new Error("this is not what `pulumi preview --json` prints: it has no steps");
  const { diagnostics, config } = parsed.data;
  const steps = parsed.data.steps ?? [];
  const setting = (key: keyof Environment) => config?.[`${NAMESPACE}:${key}`] ?? environment[key];
  // A setting that is wrong is told by the preview itself.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const adopted = steps.flatMap(adoptionsIn);
  const context: Context = {
    holders: holdersIn(steps, adopted),
    can: (kind) => abilitiesOf(kind, { operations, traceField: setting("traceField") }),
    adoptsUnknown: (kind) => adopted.some((each) => each.kind === kind && each.id === UNKNOWN),
  };
  const found = steps.map((step) => ({ step, changes: changesOf(step, context) }));
  return {
    changes: found.flatMap(({ changes }) => changes ?? []),
    others: found.filter(({ step: { op, urn }, changes }) => changes === undefined && isOthers(op, urn)).length,
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn }) => ({
      severity,
      message: message.replace(/<\{%\w+%\}>/g, "").trim(),
      about: urn === undefined ? "" : nameInUrn(urn),
    })),
  };
}

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOthers(op: string, urn: string): boolean {
  return !["same", "read", "refresh"].includes(op) && !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn);
}

interface Adoption {
  readonly kind: Kind;
  /** The id that `existingId` names. */
  readonly id: string;
  /** The URN of what adopts it. */
  readonly by: string;
}

function typeOf({ newState, oldState }: Step): string {
  return (newState ?? oldState)?.type ?? "";
}

/** What a step's resource, or the members of its set, name with `existingId`. */
function adoptionsIn(step: Step): Adoption[] {
  const { urn, newState } = step;
  const adopts = (kind: Kind, by: string, given: unknown): Adoption[] => {
    const id = own(given, "existingId");
    return id === undefined || id === null ? [] : [{ kind, id: String(id), by }];
  };
  const kind = kindOfType(typeOf(step));
  if (kind !== undefined) return adopts(kind, urn, newState?.inputs);
  const set = setOfType(typeOf(step));
  if (set === undefined) return [];
  const { events } = readDeclaredSet(newState?.inputs ?? {});
  return [...(events ?? [])].flatMap(([key, entry]) => adopts(set.member, memberOf(urn, key), entry));
}

/** Who has which object after the run, as far as the preview tells. */
function holdersIn(steps: readonly Step[], adopted: readonly Adoption[]): Holders {
  const holders = new Holders();
  for (const { kind, id, by } of adopted) holders.add(kind.name, id, by, "adopts");
  for (const step of steps) {
    const { op, urn, oldState, newState } = step;
    if (oldState == null || newState == null || op === "replace") continue;
    const kind = kindOfType(typeOf(step));
    if (kind !== undefined && oldState.id !== undefined) holders.add(kind.name, oldState.id, urn, "state");
    const set = setOfType(typeOf(step));
    if (set === undefined) continue;
    const { events } = readDeclaredSet(newState.inputs ?? {});
    for (const [key, id] of readStoredSet(oldState.outputs ?? {}).eventIds) {
      if (events?.has(key) !== false) holders.add(set.member.name, id, memberOf(urn, key), "state");
    }
  }
  return holders;
}

/** None where it is no resource of ours. */
function changesOf(step: Step, context: Context): Change[] | undefined {
  const kind = kindOfType(typeOf(step));
  if (kind !== undefined) return singleChange(kind, step, context);
  const set = setOfType(typeOf(step));
  if (set === undefined) return undefined;
  if (step.op !== "replace") return memberChanges(set, step, context);
  // A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new.
  const gone = memberChanges(set, { ...step, op: "delete", newState: undefined }, context);
  return [...gone, ...memberChanges(set, { ...step, op: "create", oldState: undefined }, context)];
}

const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete", "same"];

function singleChange(kind: Kind, step: Step, { holders, can }: Context): Change[] {
  const { op, urn, oldState, newState } = step;
  if (!DECIDED_BY_ENGINE.includes(op)) return [];
  const stored = oldState == null ? {} : { ...oldState.inputs, ...oldState.outputs };
  const given = op === "delete" ? undefined : (newState?.inputs ?? {});
  // The engine lets go of a resource whatever became of its create.
  const old = given === undefined ? { ...stored, [UNRESOLVED]: undefined } : stored;
  // The engine has compared the values, and tells of two secret ones only that they are: they are others where nothing else is.
  const isHidden = op !== "same" && given !== undefined && changesIn(kind, old, given).names.length === 0;
  const news = isHidden ? withoutSecrets(given, "another secret") : given;
  const circumstances = {
    // An update is a fact where the engine has one, wherever the comment is made.
    can: { ...can(kind), ...(op === "update" ? { update: true } : {}) },
    replaceOnChanges: op === "replace" ? ["*"] : (newState?.replaceOnChanges ?? []),
    // By the option as the state has it, the engine deletes or retains what the state holds.
    deletes: (id: string) =>
      oldState?.retainOnDelete !== true && isOfAccount(oldState) && !isHeldElsewhere(holders, kind, id, urn),
  };
  const member = singleMember(kind, oldState?.id, old, news, circumstances);
  const { action } = member;
  // Asked for by `--replace`: nothing differs, and another object takes the place of this one.
  const isAsked = op === "replace" && action.do === "keep";
  const gone = isAsked ? singleMember(kind, oldState?.id, old, undefined, circumstances) : member;
  return [
    {
      ...changeOf(kind, urn, gone, holders, urn),
      action: isAsked ? "replace" : wordFor(action),
      key: nameInUrn(urn),
      isMember: false,
      values: given ?? old,
      changed: changedIn(kind, action, old, given),
      advertiserFrom: newState?.propertyDependencies?.advertiserId ?? [],
    },
  ];
}

function memberChanges({ member: kind }: SetKind, step: Step, { holders, can, adoptsUnknown }: Context): Change[] {
  const { op, urn, oldState, newState } = step;
  const stored = readStoredSet(oldState?.outputs ?? {});
  const isGone = newState == null || op === "delete";
  const given = isGone ? { events: {} } : (newState.inputs ?? {});
  const isDeleting = isGone ? oldState?.retainOnDelete !== true : given[DELETES] === true && !adoptsUnknown(kind);
  const circumstances = {
    can: can(kind),
    replaceOnChanges: newState?.replaceOnChanges ?? [],
    deletes: (id: string, key: string) =>
      isDeleting && isOfAccount(oldState) && !isHeldElsewhere(holders, kind, id, memberOf(urn, key)),
  };
  const membersWith = (inputs: Values) => membersOf(kind, stored, readDeclaredSet(inputs), circumstances);
  const shown = membersWith(given);
  // The engine has compared the values, and tells of two secret ones only that they are: any of those may be another one now.
  const isHidden = op === "update" && shown.every(({ action }) => action.do === "keep");
  const members = isHidden ? membersWith(withoutSecrets(given, UNKNOWN)) : shown;
  const declared = readDeclaredSet(given);
  const changes = members.map((member): Change => {
    const { key, action, isDeclared, entry } = member;
    const then = eventIn(stored, stored.events.get(key) ?? {});
    const now = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return {
      ...changeOf(kind, urn, member, holders, memberOf(urn, key)),
      key: `${nameInUrn(urn)}/${key}`,
      isMember: true,
      values: now ?? then,
      changed: changedIn(kind, action, then, now),
      advertiserFrom: newState?.propertyDependencies?.advertiserId ?? [],
    };
  });
  return op === "same" ? changes : [...changes, ...stillToDelete()];

  /** What earlier runs were refused to delete: the set tries it again. */
  function stillToDelete(): Change[] {
    const { left } = stored;
    const due = left.filter((each) => each.toDelete === true && each.done === undefined);
    return due.flatMap(({ id, key = "", name, advertiserId }): Change[] => {
      if (!circumstances.can.delete || !circumstances.deletes(id, key)) return [];
      const was = { eventName: name, advertiserId };
      const former = { id, isDeleted: true };
      const place = { kind, urn, key: `${nameInUrn(urn)}/${key}`, isMember: true };
      return [{ ...place, action: "delete", id, former, values: was, changed: [], advertiserFrom: [] }];
    });
  }
}

function changeOf(kind: Kind, urn: string, { action, id, former }: Decided, holders: Holders, by: string) {
  const goesOn = former !== undefined && isHeldElsewhere(holders, kind, former.id, by);
  return { kind, urn, action: wordFor(action), id, former: goesOn ? undefined : former };
}

function wordFor(action: Decided["action"]): Action {
  return action.do === "replace" && action.perhaps ? "perhaps replace" : action.do;
}

/** Of what goes on under other arguments; a new object has nothing to differ from. */
function changedIn(
  kind: Kind,
  { do: done }: Decided["action"],
  old: Values,
  now: Values | undefined,
): readonly string[] {
  return now === undefined || (done !== "replace" && done !== "update") ? [] : changesIn(kind, old, now).names;
}

function isHeldElsewhere(holders: Holders, kind: Kind, id: string, but: string): boolean {
  return holders.of(kind.name, id, but).length > 0;
}

/** An id of another account would be somebody else's object, so that without it nothing is deleted. */
function isOfAccount(oldState: Step["oldState"]): boolean {
  return typeof oldState?.outputs?.[ACCOUNT] === "string";
}

/** The same value with `instead` for each secret. */
function withoutSecrets<T>(value: T, instead: string): T {
  if ((value as unknown) === SECRET_TEXT) return instead as T;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, instead)])) as T;
}
