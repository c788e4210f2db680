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
  abilitiesOf,
  actionOfCreate,
  adoptedBy,
  type Circumstances,
  changesIn,
  deletesUnlessHeld,
  Holders,
  type Member,
  matchesCreate,
  membersOf,
  type ShownAction,
  shownAction,
  singleMember,
  stillToDelete,
} from "../decision/index.js";
import { type Kind, kindOfType, type SetKind, setOfType } from "../kinds/index.js";
import { NAMESPACE, operationsSchema } from "../settings/index.js";
import {
  type CreateRecord,
  DELETES,
  eventIn,
  isOfKnownAccount,
  memberOf,
  nameInUrn,
  readDeclaredSet,
  readStoredSet,
  recordIn,
  splitMember,
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
    deletedWith: z.string().optional(),
    external: z.boolean().optional(),
    replaceOnChanges: z.array(z.string()).nullish(),
    propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).nullish(),
  })
  .nullish();
const stepSchema = z.looseObject({ op: z.string(), urn: z.string(), oldState: state, newState: state });
const previewSchema = z.looseObject({
  /** The stack's settings, by namespace and key; structured ones as JSON. */
  config: z.record(z.string(), z.string()).nullish().catch(undefined),
  steps: z.array(stepSchema).nullish(),
  /** How many steps of each sort there are, those that are left out too. */
  changeSummary: z.looseObject({ same: z.number().optional() }).nullish().catch(undefined),
  diagnostics: z
    .array(z.looseObject({ message: z.string(), severity: z.string(), urn: z.string().optional() }))
    .nullish(),
});
type Step = z.infer<typeof stepSchema>;

export interface Change {
  readonly kind: Kind;
  readonly action: ShownAction;
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  readonly urn: string;
  readonly isMember: boolean;
  /** The platform's id that the state holds. */
  readonly id: string | undefined;
  /** The object that leaves the state, unless something else in the program goes on with it. */
  readonly former: Member["former"];
  /** Its arguments: as declared, or as stored if it leaves the state. */
  readonly values: Values;
  readonly changed: readonly string[];
  /** URNs of resources whose ids its advertiser comes from. */
  readonly advertiserFrom: readonly string[];
}

export interface Preview {
  readonly changes: readonly Change[];
  /** Whether it leaves out unchanged resources: one of them may have what another one gives up. */
  readonly leavesOut: boolean;
  /** The names of sets whose events are secret, so that `changes` has none of them. */
  readonly hidden: readonly string[];
  /** How many resources of other packages change. */
  readonly others: number;
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly about: string }[];
}

/** Settings that decide what becomes of an object, as the environment has them: those of the stack stand in the preview. */
export interface Environment {
  /** As JSON. */
  readonly operations?: string | undefined;
  readonly markField?: string | undefined;
}

type Decided = Pick<ReturnType<typeof singleMember>, "action" | "id" | "former">;

interface Context {
  readonly holders: Holders;
  can(kind: Kind): Abilities;
  /** Whether another resource than this one adopts an object of this kind whose id is not known yet. */
  othersAdoptUnknown(kind: Kind, urn: string): boolean;
  /** Whether a resource adopts the object that this create of unknown outcome made. */
  isAdopted(kind: Kind, record: CreateRecord): boolean;
  /** Whether the engine deletes the object of a resource that leaves the state: by the options in the state. */
  isDeletedByEngine(old: z.infer<typeof state>): boolean;
}

/** @throws Error, in words, where the text is no preview. */
export function readPreview(text: string, environment: Environment = {}): Preview {
  const data = jsonIn(text);
  if (data === undefined) throw new Error("this is not what `pulumi preview --json` prints: it is not JSON");
  const parsed = previewSchema.safeParse(data);
  const isPreview = parsed.success && (parsed.data.steps ?? parsed.data.diagnostics) != null;
  if (!isPreview) throw new Error("this is not what `pulumi preview --json` prints: it has no steps");
  const { diagnostics, config, changeSummary } = parsed.data;
  const steps = parsed.data.steps ?? [];
  const setting = (key: keyof Environment) => config?.[`${NAMESPACE}:${key}`] ?? environment[key];
  // The preview itself reports a setting that is wrong.
  const operations = operationsSchema.safeParse(jsonIn(setting("operations"))).data;
  const replaced = new Set(
    steps.flatMap(({ op, oldState }) => (op === "replace" && oldState != null ? objectIn(oldState) : [])),
  );
  const managed = steps.map((step) => ofManaged(step, replaced));
  const places = managed.flatMap(placesIn);
  const leaving = new Set(steps.filter(({ op }) => op === "delete" || op === "replace").map(({ urn }) => urn));
  const context: Context = {
    holders: holdersIn(places),
    can: (kind) => abilitiesOf(kind, { operations, markField: setting("markField") }),
    othersAdoptUnknown: (kind, urn) =>
      places.some((each) => each.kind === kind && each.adopts === UNKNOWN && splitMember(each.urn).of !== urn),
    isAdopted: (kind, record) =>
      places.some((each) => {
        const id = each.adopts === UNKNOWN ? undefined : each.adopts;
        const sent = { ...record, kind: kind.name };
        return each.kind === kind && each.adopts !== undefined && matchesCreate(kind, id, each.values, sent);
      }),
    isDeletedByEngine: (old) => {
      if (old?.retainOnDelete === true || !isOfKnownAccount(old?.outputs)) return false;
      return old?.deletedWith === undefined || !leaving.has(old.deletedWith);
    },
  };
  const found = managed.map((step) => ({ step, changes: changesOf(step, context) }));
  return {
    changes: found.flatMap(({ changes }) => changes ?? []),
    hidden: managed.flatMap((step) => (step.op !== "same" && hasSecretEvents(step) ? nameInUrn(step.urn) : [])),
    leavesOut: (changeSummary?.same ?? 0) > steps.filter(({ op }) => op === "same").length,
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
function ofManaged(step: Step, replaced: ReadonlySet<string>): Step {
  // What an earlier run replaced, and did not get to delete.
  if (step.op === "delete-replaced" && step.oldState != null && !replaced.has(objectIn(step.oldState)))
    return { ...step, op: step.oldState.retainOnDelete === true ? "same" : "delete", newState: undefined };
  const [was, is] = [step.oldState, step.newState].map((each) => (each?.external === true ? undefined : each));
  if (was === step.oldState && is === step.newState) return step;
  if (was == null) return { ...step, op: is == null ? "same" : "create", oldState: was, newState: is };
  return { ...step, op: "delete", oldState: step.op === "read" ? { ...was, retainOnDelete: true } : was, newState: is };
}

/** Identifies the object in the state of a step. @param state of one resource. */
function objectIn({ type, id = "" }: NonNullable<Step["oldState"]>): string {
  return `${type} ${id}`;
}

function isOthers(op: string, urn: string): boolean {
  return !["same", "read", "refresh"].includes(op) && !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn);
}

function typeOf({ newState, oldState }: Step): string {
  return (newState ?? oldState)?.type ?? "";
}

/** Where an object is or is to be: a single resource, or a member of a set. */
interface Place {
  readonly kind: Kind;
  /** Of a member, with its key behind it. */
  readonly urn: string;
  /** The object that the state has there, and goes on with as far as the step shows. */
  readonly held: string | undefined;
  readonly adopts: string | undefined;
  /** Its arguments, as declared, without what is secret. */
  readonly values: Values;
}

function placesIn(step: Step): Place[] {
  const { op, urn, oldState, newState } = step;
  const goesOn = oldState != null && newState != null && op !== "replace";
  const single = kindOfType(typeOf(step));
  const declared = readDeclaredSet(newState?.inputs ?? {});
  const placeOf = (kind: Kind, at: string, id: string | undefined, given: unknown, isDeclared = true): Place => {
    const existingId = adoptedBy(given);
    const adopts = isHidden(given) || isHidden(existingId) ? UNKNOWN : existingId;
    const values = withoutSecrets(kind === single ? asRecord(given) : eventIn(declared, asRecord(given)), UNKNOWN);
    return { kind, urn: at, held: goesOn && isDeclared ? id : undefined, adopts, values };
  };
  if (single !== undefined) return [placeOf(single, urn, oldState?.id, newState?.inputs)];
  const set = setOfType(typeOf(step));
  if (set === undefined) return [];
  const { events } = declared;
  const { eventIds } = readStoredSet(oldState?.outputs ?? {});
  const members = [...new Set([...(events?.keys() ?? []), ...eventIds.keys()])].map((key) => {
    const isDeclared = events?.has(key) !== false;
    return placeOf(set.member, memberOf(urn, key), eventIds.get(key), events?.get(key), isDeclared);
  });
  const all = own(newState?.inputs, "events");
  return isHidden(all) ? [...members, placeOf(set.member, urn, undefined, all)] : members;
}

/** A value that this preview does not show, perhaps a whole object. */
function isHidden(value: unknown): boolean {
  return value === UNKNOWN || value === SECRET_TEXT;
}

/** Whether a step declares a set whose events are all hidden. One that leaves the state shows the ids. */
function hasSecretEvents({ op, newState }: Step): boolean {
  return op !== "delete" && own(newState?.inputs, "events") === SECRET_TEXT;
}

function holdersIn(places: readonly Place[]): Holders {
  const holders = new Holders();
  for (const { kind, urn, held, adopts, values } of places) {
    if (adopts !== undefined) holders.add(kind.name, adopts, urn, "adopts", values);
    if (held !== undefined) holders.add(kind.name, held, urn, "state", values);
  }
  return holders;
}

/** None where it is no resource of ours. */
function changesOf(step: Step, context: Context): Change[] | undefined {
  const kind = kindOfType(typeOf(step));
  if (kind !== undefined) return isSettledElsewhere(kind, step, context) ? [] : singleChange(kind, step, context);
  const set = setOfType(typeOf(step));
  if (set === undefined) return undefined;
  if (step.op === "same" || hasSecretEvents(step)) return [];
  if (step.op !== "replace") return memberChanges(set, step, context);
  // A set is replaced only where somebody asks the engine for it: all of it goes, and all of it is new.
  const gone = memberChanges(set, { ...step, op: "delete", newState: undefined }, context);
  return [...gone, ...memberChanges(set, { ...step, op: "create", oldState: undefined }, context)];
}

/** Whether an unresolved resource leaves the state, and another one adopts what its create made. */
function isSettledElsewhere(kind: Kind, { op, oldState }: Step, { isAdopted }: Context): boolean {
  const stored = { ...oldState?.inputs, ...oldState?.outputs };
  const unresolved = op === "delete" ? recordIn(kind, stored, oldState?.id) : undefined;
  return unresolved !== undefined && isAdopted(kind, unresolved);
}

const DECIDED_BY_ENGINE = ["create", "replace", "update", "delete"];

function singleChange(kind: Kind, step: Step, context: Context): Change[] {
  const { holders, can, othersAdoptUnknown, isDeletedByEngine } = context;
  const { op, urn, oldState, newState } = step;
  if (!DECIDED_BY_ENGINE.includes(op)) return [];
  const stored = oldState == null ? {} : { ...oldState.inputs, ...oldState.outputs };
  const given = op === "delete" ? undefined : (newState?.inputs ?? {});
  // A resource leaves the state whatever became of its create.
  const old = given === undefined ? { ...stored, [UNRESOLVED]: undefined } : stored;
  // The engine has compared the values, but shows each secret as "[secret]". If nothing else has changed, a secret has.
  const isHidden = given !== undefined && changesIn(kind, old, given).names.length === 0;
  const news = isHidden ? withoutSecrets(given, "another secret") : given;
  // What is replaced is deleted only if the package knew the option, as it does not know what a transformation gave.
  const isToGo = op === "delete" || oldState?.inputs?.[DELETES] === true;
  const circumstances: Circumstances = {
    // An update is a fact where the engine has one, wherever the comment is made.
    can: { ...can(kind), ...(op === "update" ? { update: true } : {}) },
    replaceOnChanges: op === "replace" ? ["*"] : (newState?.replaceOnChanges ?? []),
    deletes: deletesUnlessHeld(kind, holders, isToGo && isDeletedByEngine(oldState), () => urn),
    mayBeAdopted: othersAdoptUnknown(kind, urn),
  };
  const member = singleMember(kind, oldState?.id, old, news, circumstances);
  // Asked for by `--replace`: nothing differs, and another object takes the place of this one.
  const isAsked = op === "replace" && member.action.do === "keep";
  const decided = isAsked ? singleMember(kind, oldState?.id, old, undefined, circumstances) : member;
  const change = changeOf(kind, step, decided, holders, { before: old, now: given });
  return [isAsked ? { ...change, action: actionOfCreate(news ?? {}, member).do } : change];
}

function memberChanges({ member: kind }: SetKind, step: Step, context: Context): Change[] {
  const { holders, can, othersAdoptUnknown, isDeletedByEngine } = context;
  const { op, urn, oldState, newState } = step;
  const stored = readStoredSet(oldState?.outputs ?? {});
  const isGone = newState == null || op === "delete";
  const given = isGone ? { events: {} } : (newState.inputs ?? {});
  const isDeleting = isGone
    ? isDeletedByEngine(oldState)
    : given[DELETES] === true && !othersAdoptUnknown(kind, urn) && isOfKnownAccount(oldState?.outputs);
  const circumstances: Circumstances = {
    can: can(kind),
    replaceOnChanges: newState?.replaceOnChanges ?? [],
    deletes: deletesUnlessHeld(kind, holders, isDeleting, (key) => memberOf(urn, key)),
    mayBeAdopted: othersAdoptUnknown(kind, urn),
    // Nothing waits for it, and nothing becomes of it. The preview may leave out what is unchanged: perhaps what has it.
    adopted: (key, record) => {
      const found = holders.adoptedFor(kind, record, memberOf(urn, key), true);
      return found && { ...found, isHeld: false };
    },
  };
  const membersWith = (inputs: Values) => membersOf(kind, stored, readDeclaredSet(inputs), circumstances);
  const shown = membersWith(given);
  // The engine has compared the values, but shows each secret as "[secret]", so each secret may have changed.
  const isHidden = op === "update" && shown.every(({ action }) => action.do === "keep");
  const members = isHidden ? membersWith(withoutSecrets(given, UNKNOWN)) : shown;
  const declared = readDeclaredSet(given);
  const changes = members.map((member): Change => {
    const { key, isDeclared, entry } = member;
    const before = eventIn(stored, stored.events.get(key) ?? {});
    const now = isDeclared ? eventIn(declared, asRecord(declared.events?.get(key) ?? entry)) : undefined;
    return changeOf(kind, step, member, holders, { before, now, memberKey: key });
  });
  // What earlier runs were refused to delete: the set tries it again.
  const again = stillToDelete(stored.leftLive, circumstances).map(({ id, key = "", name, advertiserId }): Change => {
    const decided = { action: { do: "delete" }, id, former: { id, isDeleted: true } } as const;
    const before = { eventName: name, advertiserId };
    return changeOf(kind, step, decided, holders, { before, now: undefined, memberKey: key });
  });
  return [...changes, ...again];
}

/** @param before its arguments as stored. @param now as declared; none where the program does not declare it any more. */
function changeOf(
  kind: Kind,
  { urn, newState }: Step,
  { action, id, former }: Decided,
  holders: Holders,
  {
    before,
    now,
    memberKey,
  }: { readonly before: Values; readonly now: Values | undefined; readonly memberKey?: string },
): Change {
  const isMember = memberKey !== undefined;
  const by = isMember ? memberOf(urn, memberKey) : urn;
  const goesOn = former !== undefined && holders.goesOn(kind.name, former.id, by);
  // A new object has nothing to differ from.
  const shown = goesOn && action.do === "let go" ? "move" : shownAction(action, former);
  const differs = now !== undefined && ["replace", "perhaps replace", "update", "refuse"].includes(shown);
  return {
    kind,
    action: shown,
    key: isMember ? `${nameInUrn(urn)}/${memberKey}` : nameInUrn(urn),
    urn,
    isMember,
    id,
    former: goesOn ? undefined : former,
    values: now ?? before,
    changed: differs ? changesIn(kind, before, now).names : [],
    advertiserFrom: newState?.propertyDependencies?.advertiserId ?? [],
  };
}

/** The same value with `instead` for each secret. */
function withoutSecrets<T>(value: T, instead: string): T {
  if ((value as unknown) === SECRET_TEXT) return instead as T;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, instead)])) as T;
}
