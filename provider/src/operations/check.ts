/** `check`: it takes the journal in an `up`, says what is known about new objects, and returns all problems at once. */
import { isDeepStrictEqual } from "node:util";
import {
  type AdvertisingError,
  ArgumentsError,
  asRecord,
  BlockedCreateError,
  isSameValue,
  own,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import {
  adoptedTwice,
  checkArguments,
  type Kind,
  ownerIn,
  type SetKind,
} from "../kinds/index.js";
import {
  abilitiesOf,
  adoptedBy,
  holdsUnknown,
  type PlannedObject,
  plannedObjects,
  shownAction,
} from "../plan/index.js";
import { problemMessages } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  DELETES,
  IDENTITY,
  kindOf,
  MARK,
  memberOf,
  memberRef,
  objectRef,
  parseKey,
  type ResourceRef,
  RUN,
  readDeclared,
  readStored,
  refOf,
  SECRET_ARGUMENTS,
  secretArgumentsIn,
  UNKNOWN,
  whatHappened,
} from "../state/index.js";
import {
  assertAccountOfOpen,
  createToTakeOver,
  markInput,
  namesakeOf,
  wasSentWithOtherArguments,
} from "./create.js";
import {
  adoptionNotice,
  formerObjectNotice,
  type MadeObject,
  madeOtherwiseMessage,
  namesakesMessage,
  type OpenObject,
  planMessage,
  possibleNamesakeNotice,
  takeOverNotice,
  unresolvedMessage,
} from "./messages.js";
import { type Namesake, recordOf } from "./outcome.js";
import type { CheckRequest, Runtime } from "./runtime.js";

/** A resource as the program declares it now. */
interface Declared {
  readonly resource: Kind | SetKind;
  readonly kind: Kind;
  readonly ref: ResourceRef;
  readonly request: CheckRequest;
  /** Whether the engine gave no old inputs: a new resource, or the second `check` of a replacement. */
  readonly isNew: boolean;
  /** Undefined if they are not known yet. */
  readonly objects: readonly PlannedObject[] | undefined;
  /** By key, of a set's members. */
  readonly formerKeys: ReadonlyMap<string, string>;
}

/** Validates the arguments, notes what is declared, and returns everything that is wrong at once. */
export async function check(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  request: CheckRequest,
): Promise<{ inputs: Values; failures: string[] }> {
  const { deployment, reading } = runtime;
  const { context, olds, news } = request;
  const { values, problems } = checkArguments(resource, news, reading.settings, {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    // A plugin's program may be in any language.
    arrivedUndefined: deployment.isUp === undefined ? "" : "is the output's name right?",
  });
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = {
      ...resource.defaultsIn(reading.settings),
      ...asRecord(values.defaults),
    };
  const kind = kindOf(resource);
  const isNew = Object.keys(olds).length === 0;
  const program = readDeclared(resource, values);
  const stored = readStored(resource, undefined, {});
  const objects = program.events && plannedObjects(kind, stored, program);
  const { formerKeys } = program;
  const declared = { resource, kind, ref, request, isNew, objects, formerKeys };
  noteDeclared(runtime, declared); // before anything is awaited, since other resources may need to know it
  const wrong = [...claimConflicts(runtime, declared), ...problemMessages(problems)];
  if (deployment.isUp) await runtime.journal(ref.identity).openOnce();
  noteFormerKeys(runtime, declared);
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError.code)),
    ...reading.problems.map((problem) => {
      return withPage(describeSettingProblem(problem), SettingsError.code);
    }),
  ];
  // What is in the state has a `diff`, which says the same.
  if (isNew && wrong.length === 0) {
    // A set lists what it adopts in its plan.
    const adopts = resource === kind ? adoptedBy(values) : undefined;
    if (adopts !== undefined)
      runtime.informEach(adoptionNotice(ref, adopts, abilitiesOf(kind, reading.settings)));
    const error = tellPlan(resource, runtime, ref, objects ?? []);
    if (error !== undefined) failures.push(withPage(error.message, error.code));
  }
  if (deployment.isWhole) runtime.tellCollected();
  if (failures.length > 0) deployment.hasFailed = true;
  // A run without a changed argument sends nothing new.
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  const inputs = withoutUndefined({
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [MARK]: markInput(runtime, ref, olds),
    [RUN]: deployment.isUp !== false && isChanged ? runtime.runName : olds[RUN],
  });
  return { inputs, failures };
}

function noteDeclared({ deployment }: Runtime, declared: Declared): void {
  const { resource, ref, request, isNew, objects, formerKeys } = declared;
  const { context, olds } = request;
  const deletes = context.deletes === true;
  const identity = own(olds, IDENTITY);
  const former = typeof identity === "string" ? refOf(resource.name, identity) : undefined;
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, {
    wasSecret: secretArgumentsIn(olds),
    deletesInStateAndProgram: own(olds, DELETES) === true && deletes,
    deletes,
    inState: context.formerKeys?.includes(former?.key ?? "") ? former : undefined,
  });
  if (objects === undefined) deployment.declared.add(ref.key);
  for (const { key } of objects ?? [])
    deployment.declared.add(objectRef(resource, ref, key).key);
  for (const key of formerKeys.values()) deployment.declared.add(memberRef(ref, key).key);
}

/** What an object adopts is its own from now on, unless something else has it. */
function claimConflicts({ deployment }: Runtime, declared: Declared): string[] {
  const { resource, kind, ref, objects = [] } = declared;
  return objects.flatMap(({ key, entry }) => {
    const id = adoptedBy(entry);
    if (id === undefined || id === UNKNOWN) return [];
    const other = deployment.claim(kind, id, objectRef(resource, ref, key).key);
    if (other === undefined) return [];
    const path = resource === kind ? "" : `${memberOf("events", key)}.`;
    return `${path}existingId ${adoptedTwice(id, parseKey(other).label)}`;
  });
}

/** The program says which keys its objects had: a resource's by its aliases, and those of a set's members. */
function noteFormerKeys(runtime: Runtime, declared: Declared): void {
  const { resource, kind, ref, request, objects = [], formerKeys } = declared;
  const journal = runtime.journal(ref.identity);
  for (const former of request.context.formerKeys ?? [])
    for (const { key } of objects)
      journal.moveRecord(
        resource === kind ? former : memberOf(former, key),
        objectRef(resource, ref, key).key,
      );
  for (const [key, former] of formerKeys)
    journal.moveRecord(memberRef(ref, former).key, memberRef(ref, key).key);
}

/** In a preview as {@link tellPreview}; an `up` asks the same right before it sends. */
export function tellPlan(
  ...preview: Parameters<typeof tellPreview>
): AdvertisingError | undefined {
  const [, { deployment, tellCollected }] = preview;
  tellCollected();
  return deployment.isUp === false ? tellPreview(...preview) : undefined;
}

/**
 * What an `up` would create, and all that it would do with a set.
 * @returns why the `up` would end with an error, in the same words.
 */
export function tellPreview(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  objects: readonly PlannedObject[],
): AdvertisingError | undefined {
  const { deployment } = runtime;
  const kind = kindOf(resource);
  const can = abilitiesOf(kind, runtime.reading.settings);
  const journal = runtime.journal(ref.identity);
  const namesakes: Namesake[] = [];
  const open: OpenObject[] = [];
  const madeOtherwise: MadeObject[] = [];
  const takenOver = new Set<PlannedObject>();
  for (const object of objects) {
    const { key, action, entry, values, id } = object;
    const own = objectRef(resource, ref, key);
    if (action.do === "blocked") open.push({ ref: own, ...action });
    const isNew = ["create", "replace"].includes(shownAction(object));
    if (!isNew || adoptedBy(entry) !== undefined) continue;
    if (journal.trouble !== undefined) return journal.trouble;
    assertAccountOfOpen(runtime, journal);
    const held = id ?? deployment.plannedSingles.get(ref.key)?.object.id;
    const sent = createToTakeOver(runtime, own, held);
    if (sent === undefined) {
      const namesake = namesakeOf(kind, runtime, own, values);
      if (namesake !== undefined) namesakes.push(namesake);
      else if (held === undefined) tellFormerObject(kind, runtime, own, values);
      continue;
    }
    if (id === undefined) takenOver.add(object);
    const what = whatHappened(own.label, sent);
    if (sent.id === undefined && !can.search(sent.field))
      open.push({ ref: own, record: recordOf({ ...sent, what }) });
    else if (
      sent.id !== undefined &&
      !holdsUnknown(values) &&
      wasSentWithOtherArguments(kind, values, sent)
    )
      madeOtherwise.push({ ref: own, id: sent.id });
    else runtime.warnEach(takeOverNotice(own, sent));
  }
  runtime.tellCollected();
  const sure = namesakes.filter(({ isPerhaps }) => !isPerhaps);
  if (sure.length === 0)
    for (const each of namesakes) runtime.warnEach(possibleNamesakeNotice(each));
  const errors: string[] = [];
  if (madeOtherwise.length > 0) errors.push(madeOtherwiseMessage(madeOtherwise));
  if (sure.length > 0) errors.push(namesakesMessage(sure));
  if (open.length > 0) errors.push(unresolvedMessage(open));
  if (errors.length > 0) return new BlockedCreateError(errors.join("\n"));
  if (resource === kind) return undefined;
  const others = objects.filter((object) => !takenOver.has(object));
  const plan = planMessage(kind, others, can, (id) =>
    deployment.isClaimedOrAdopted(kind, id),
  );
  runtime.tellAt("info", ref.resourceUrn, plan);
  return undefined;
}

/**
 * A new object may be what its resource had in an earlier run, or (of a single resource: a set compares its own keys)
 * what the program declared under another name.
 */
function tellFormerObject(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
): void {
  const { deployment, deleted } = runtime;
  const journal = runtime.journal(ref.identity);
  const owner = ownerIn(kind, values);
  const named = journal.confirmedNamed(kind.name, values[kind.nameProperty]);
  const renamed = named.filter(({ key, facts = {} }) => {
    const isOther = ref.member === undefined && !deployment.isDeclared(key);
    return isOther && isSameValue(ownerIn(kind, facts), owner);
  });
  // The journal's record of this key may be of what has left the state.
  const all = [journal.records.get(ref.key) ?? [], renamed].flat();
  const former = all.find(({ id }) => {
    if (id === undefined || deleted.has(kind.name, id)) return false;
    return !deployment.isClaimedOrAdopted(kind, id);
  });
  if (former !== undefined) runtime.warnEach(formerObjectNotice(ref, former));
}
