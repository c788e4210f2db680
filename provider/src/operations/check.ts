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
import type { JournalEntry } from "../journal/index.js";
import {
  adoptedTwice,
  checkArguments,
  fingerprintOfBody,
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
  type ProgramContext,
  parseKey,
  type ResourceRef,
  RUN,
  readDeclared,
  readStored,
  refOf,
  SECRET_ARGUMENTS,
  secretArgumentsIn,
  UNKNOWN,
  unresolvedMessage,
  whatHappened,
} from "../state/index.js";
import {
  assertAccountOfOpen,
  createToTakeOver,
  namesakeOf,
  wasSentWithOtherArguments,
} from "./create.js";
import {
  adoptedOtherwiseNotice,
  adoption,
  formerObjectNotice,
  likelyRenameNotice,
  type MadeObject,
  madeOtherwiseMessage,
  namesakesMessage,
  type OpenObject,
  planMessage,
  possibleNamesakeNotice,
  takeOverNotice,
  unresolvedMembersMessage,
} from "./messages.js";
import { type Namesake, recordOf } from "./outcome.js";
import type { CheckRequest, Runtime } from "./runtime.js";
import { markInput } from "./search.js";

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
  const { values, problems } = validated(resource, runtime, request.news);
  const declared = declaredIn(resource, ref, request, values);
  noteDeclared(runtime, declared); // before anything is awaited, since other resources may need to know it
  const conflicts = claimConflicts(runtime, declared);
  if (runtime.deployment.isUp) await runtime.journal(ref.identity).openOnce();
  noteFormerKeys(runtime, declared);
  const isGood = problems.length + conflicts.length === 0;
  const failures = [
    ...conflicts.map((text) => withPage(text, ArgumentsError.code)),
    ...settingFailures(runtime),
    ...problemMessages(problems).map((text) => withPage(text, ArgumentsError.code)),
    ...tellNewObjects(runtime, declared, isGood),
  ];
  if (failures.length > 0) runtime.deployment.hasFailed = true;
  else tellSetPlan(runtime, declared);
  return { inputs: inputsOf(runtime, declared, values), failures };
}

/** Arguments with their defaults, and what is wrong with them. */
function validated(resource: Kind | SetKind, { reading }: Runtime, news: Values) {
  const checked = checkArguments(resource, news, reading.settings, {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    arrivedUndefined: "is the output's name right?",
  });
  const { values } = checked;
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = {
      ...resource.defaultsIn(reading.settings),
      ...asRecord(values.defaults),
    };
  return checked;
}

function declaredIn(
  resource: Kind | SetKind,
  ref: ResourceRef,
  request: CheckRequest,
  values: Values,
): Declared {
  const kind = kindOf(resource);
  const isNew = Object.keys(request.olds).length === 0;
  const declared = readDeclared(resource, values);
  const { events, formerKeys } = declared;
  const stored = readStored(resource, undefined, {});
  const objects = events && plannedObjects(kind, stored, declared);
  return { resource, kind, ref, request, isNew, objects, formerKeys };
}

function noteDeclared({ deployment }: Runtime, declared: Declared): void {
  const { resource, kind, ref, request, isNew, objects, formerKeys } = declared;
  const { context, olds } = request;
  const deletes = context.deletes === true;
  deployment.noteContext(kind, context);
  deployment.noteChecked(ref.key, isNew, {
    wasSecret: secretArgumentsIn(olds),
    deletesInStateAndProgram: own(olds, DELETES) === true && deletes,
    deletes,
    inState: formerRefIn(resource, context, olds),
  });
  if (objects === undefined) deployment.declared.add(ref.key);
  for (const { key } of objects ?? [])
    deployment.declared.add(objectRef(resource, ref, key).key);
  for (const former of formerKeys.values()) deployment.declared.add(memberRef(ref, former).key);
}

function claimConflicts(runtime: Runtime, { resource, kind, ref, objects = [] }: Declared) {
  return objects.flatMap((object) => {
    return claimConflict(kind, runtime, objectRef(resource, ref, object.key), object) ?? [];
  });
}

function settingFailures({ reading }: Runtime): string[] {
  return reading.problems.map((problem) => {
    return withPage(describeSettingProblem(problem), SettingsError.code);
  });
}

/** What is in the state has a `diff`, which says the same of what it creates. @returns why the `up` would fail. */
function tellNewObjects(runtime: Runtime, declared: Declared, isGood: boolean): string[] {
  const { resource, kind, ref, objects = [], isNew } = declared;
  const { deployment } = runtime;
  for (const object of objects)
    tellMadeOtherwise(kind, runtime, objectRef(resource, ref, object.key), object);
  const fresh = isNew && isGood ? objects : [];
  const held = deployment.plannedSingles.get(ref.key)?.object.id;
  const created = fresh.filter(({ entry }) => adoptedBy(entry) === undefined);
  const toCreate = created.map(({ key, values }) => {
    return { ref: objectRef(resource, ref, key), values, held };
  });
  const blockers = previewErrors(kind, runtime, toCreate);
  // A set lists what it adopts in its plan.
  if (resource === kind) tellAdoption(kind, runtime, ref, fresh);
  if (deployment.isWhole) runtime.tellCollected();
  return blockers.map(({ message, code }) => withPage(message, code));
}

function tellSetPlan(runtime: Runtime, { resource, kind, ref, objects = [], isNew }: Declared) {
  if (resource === kind || !isNew || runtime.deployment.isUp) return;
  const toCreate = objects.filter(({ key }) => {
    return createToTakeOver(runtime, memberRef(ref, key), undefined) === undefined;
  });
  const plan = planMessage(kind, toCreate, abilitiesOf(kind, runtime.reading.settings));
  runtime.tellAt("info", ref.resourceUrn, plan);
}

function inputsOf(runtime: Runtime, { ref, request }: Declared, values: Values): Values {
  const { context, olds, news } = request;
  // A run without a changed argument sends nothing new.
  const isSending = runtime.deployment.isUp && isChanged(values, olds);
  return withoutUndefined({
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [MARK]: markInput(runtime, ref, olds),
    [RUN]: isSending ? runtime.runName : olds[RUN],
  });
}

function isChanged(values: Values, olds: Values): boolean {
  return Object.keys(values).some((name) => !isDeepStrictEqual(values[name], olds[name]));
}

/** What an object adopts is its own from now on, unless something else has it: then that is returned. */
function claimConflict(
  kind: Kind,
  { deployment }: Runtime,
  { key, member }: ResourceRef,
  { entry }: PlannedObject,
): string | undefined {
  const id = adoptedBy(entry);
  if (id === undefined || id === UNKNOWN) return undefined;
  const other = deployment.claim(kind, id, key);
  if (other === undefined) return undefined;
  const text = `existingId ${adoptedTwice(id, parseKey(other).label)}`;
  return member === undefined ? text : `${memberOf("events", member)}.${text}`;
}

/** Warns where a resource adopts what a run here has made with other arguments, and no read compares them. */
function tellMadeOtherwise(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { entry, values }: PlannedObject,
): void {
  const id = adoptedBy(entry);
  if (id === undefined || holdsUnknown(values)) return;
  if (abilitiesOf(kind, runtime.reading.settings).read) return;
  const journal = runtime.journal(ref.identity);
  const made = journal.of(journal.holderOf(kind.name, id) ?? "");
  if (made?.id !== id || made.key === ref.key || made.body === "") return;
  if (made.body !== fingerprintOfBody(kind, values))
    runtime.warnEach(adoptedOtherwiseNotice(ref, id));
}

/** The state's name of what an alias renames. */
function formerRefIn(
  { name }: Kind | SetKind,
  { formerKeys = [] }: ProgramContext,
  olds: Values,
): ResourceRef | undefined {
  const identity = own(olds, IDENTITY);
  if (typeof identity !== "string") return undefined;
  const former = refOf(name, identity);
  return formerKeys.includes(former.key) ? former : undefined;
}

/** The program says which keys its objects had: a resource's by its aliases, and those of a set's members. */
function noteFormerKeys(runtime: Runtime, declared: Declared): void {
  const { resource, ref, request, objects = [], formerKeys } = declared;
  const journal = runtime.journal(ref.identity);
  for (const former of request.context.formerKeys ?? []) {
    if (!("member" in resource)) journal.moveRecord(former, ref.key);
    else
      for (const { key } of objects)
        journal.moveRecord(memberOf(former, key), memberRef(ref, key).key);
  }
  for (const [key, former] of formerKeys)
    journal.moveRecord(memberRef(ref, former).key, memberRef(ref, key).key);
}

function tellAdoption(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  members: readonly PlannedObject[],
): void {
  for (const { entry } of members) {
    const id = adoptedBy(entry);
    if (id !== undefined)
      runtime.tellAdopted(adoption(ref, id, abilitiesOf(kind, runtime.reading.settings)));
  }
}

/** An object that is to be created. */
interface NewObject {
  readonly ref: ResourceRef;
  readonly values: Values;
  /** What it replaces. */
  readonly held: string | undefined;
}

/** What stops an `up` at new objects. */
interface Blockers {
  readonly namesakes: readonly Namesake[];
  readonly open: readonly OpenObject[];
  readonly madeOtherwise: readonly MadeObject[];
}

/**
 * Tells of new objects. @param open creates of unknown outcome in the state, which stop the `up` too.
 * @returns in a preview, why the `up` would end with an error, in the same words.
 */
export function previewErrors(
  kind: Kind,
  runtime: Runtime,
  fresh: readonly NewObject[],
  open: readonly OpenObject[] = [],
): AdvertisingError[] {
  const blockers: Partial<Blockers>[] = [{ open }];
  for (const object of fresh) {
    const journal = runtime.journal(object.ref.identity);
    if (!runtime.deployment.isUp) {
      if (journal.trouble !== undefined) return [journal.trouble];
      assertAccountOfOpen(runtime, journal);
    }
    blockers.push(blockersOf(kind, runtime, object));
  }
  runtime.tellCollected();
  const namesakes = blockers.flatMap((each) => each.namesakes ?? []);
  const sure = namesakes.filter(({ isPerhaps }) => !isPerhaps);
  if (sure.length === 0)
    for (const each of namesakes) runtime.warnEach(possibleNamesakeNotice(each));
  const madeOtherwise = blockers.flatMap((each) => each.madeOtherwise ?? []);
  const unknown = blockers.flatMap((each) => each.open ?? []);
  const messages: string[] = [];
  if (madeOtherwise.length > 0) messages.push(madeOtherwiseMessage(madeOtherwise));
  if (sure.length > 0) messages.push(namesakesMessage(sure));
  const [first] = unknown;
  if (first?.ref.member !== undefined) messages.push(unresolvedMembersMessage(kind, unknown));
  else if (first !== undefined)
    messages.push(unresolvedMessage(first.ref, first.record, first.why));
  return messages.map((message) => new BlockedCreateError(message));
}

/** An `up` asks right before it sends, and decides the same. */
function blockersOf(kind: Kind, runtime: Runtime, object: NewObject): Partial<Blockers> {
  const { ref, values, held } = object;
  const { deployment } = runtime;
  const entry = createToTakeOver(runtime, ref, held);
  if (entry !== undefined)
    return deployment.isUp ? {} : takeOverBlockers(kind, runtime, object, entry);
  const namesake = deployment.isUp ? undefined : namesakeOf(kind, runtime, ref, values);
  if (namesake !== undefined) return { namesakes: [namesake] };
  const former = runtime.journal(ref.identity).records.get(ref.key)?.id; // of what has left the state too
  if (former !== undefined && former !== held && isFree(kind, runtime, former))
    runtime.warnEach(formerObjectNotice(kind, ref, former));
  else if (held === undefined) tellLikelyRename(kind, runtime, ref, values);
  return {};
}

/** In a preview: what becomes of a new object's own create of an earlier run. */
function takeOverBlockers(
  kind: Kind,
  runtime: Runtime,
  { ref, values }: NewObject,
  entry: JournalEntry,
): Partial<Blockers> {
  const { id, field } = entry;
  const { label } = ref;
  const tell = (how: "search" | "perhaps" | "now") =>
    runtime.warnEach(takeOverNotice(ref, entry, how));
  if (id === undefined) {
    if (!abilitiesOf(kind, runtime.reading.settings).search(field))
      return {
        open: [{ ref, record: recordOf({ ...entry, what: whatHappened(label, entry) }) }],
      };
    tell("search");
  } else if (holdsUnknown(values)) tell("perhaps");
  else if (wasSentWithOtherArguments(kind, values, entry))
    return { madeOtherwise: [{ ref, id }] };
  else tell("now");
  return {};
}

/** A new resource with the platform name and advertiser of one that the program does not declare may be just that. */
function tellLikelyRename(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
): void {
  const { deployment } = runtime;
  if (deployment.isUp || ref.member !== undefined) return; // a set compares its own keys
  const former = runtime
    .journal(ref.identity)
    .confirmedNamed(kind.name, values[kind.nameProperty]);
  const owner = ownerIn(kind, values);
  const found = former.find(({ key, id = "", facts = {} }) => {
    if (deployment.isDeclared(key) || !isFree(kind, runtime, id)) return false;
    return isSameValue(ownerIn(kind, facts), owner);
  });
  if (found?.id !== undefined) runtime.warnEach(likelyRenameNotice(ref, found.key, found.id));
}

/** Neither deleted nor something else's, as far as this run knows. */
function isFree(kind: Kind, { deleted, deployment }: Runtime, id: string): boolean {
  return !deleted.has(kind.name, id) && !deployment.isClaimedOrAdopted(kind, id);
}
