/** `check`: it takes the journal in an `up`, says what is known about new objects, and returns all problems at once. */
import { isDeepStrictEqual } from "node:util";
import {
  type AdvertisingError,
  ArgumentsError,
  asRecord,
  isSameValue,
  OutcomeUnknownError,
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
import { expectAccountOfOpen, isMadeOtherwise, namesakeOf, takeableOf } from "./create.js";
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

/** Fills in a set's defaults. @returns what becomes of a new resource's objects; undefined if they are not known yet. */
function declaredIn(
  resource: Kind | SetKind,
  { reading }: Runtime,
  values: Record<string, unknown>,
) {
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = { ...resource.defaultsIn(reading.settings), ...asRecord(values.defaults) };
  const declared = readDeclared(resource, values);
  const objects =
    declared.events &&
    plannedObjects(kindOf(resource), readStored(resource, undefined, {}), declared);
  return { objects, formerKeys: [...declared.formerKeys] };
}

export async function check(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  request: CheckRequest,
) {
  const { deployment, reading } = runtime;
  const { context, olds, news } = request;
  const { values, problems } = checkArguments(resource, news, reading.settings, {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    arrivedUndefined: "is the output's name right?",
  });
  const kind = kindOf(resource);
  const isNew = Object.keys(olds).length === 0;
  // Before anything is awaited, since other resources may need to know it.
  const deletes = context.deletes === true;
  const wasDeleting = own(olds, DELETES) === true && deletes;
  const { objects: declared, formerKeys } = declaredIn(resource, runtime, values);
  const inState = formerRefIn(resource, context, olds);
  const wasSecret = secretArgumentsIn(olds);
  deployment.noteChecked(ref.key, kind, context, isNew, {
    wasSecret,
    wasDeleting,
    deletes,
    inState,
  });
  const refTo = ({ key }: PlannedObject) => objectRef(resource, ref, key);
  for (const key of declared?.map((each) => refTo(each).key) ?? [ref.key])
    deployment.declared.add(key);
  for (const [, former] of formerKeys) deployment.declared.add(memberRef(ref, former).key);
  const members = declared ?? [];
  const twice = members.flatMap(
    (member) => claimConflict(kind, runtime, refTo(member), member) ?? [],
  );
  const journal = runtime.journal(ref.identity);
  // In an `up` the journal is this run's from its first `check` on.
  if (deployment.isUp) await journal.openOnce();
  for (const [former, key] of formerKeysIn(resource, ref, context, members, formerKeys))
    journal.renamed(former, key);
  for (const each of members) tellMadeOtherwise(kind, runtime, refTo(each), each);
  // What is in the state has a `diff`, which says the same of what it creates.
  const fresh = isNew && problems.length + twice.length === 0 ? members : [];
  const created = fresh.filter(({ entry }) => adoptedBy(entry) === undefined);
  const held = deployment.held.get(ref.key)?.object.id;
  const objects = created.map((each) => ({ ref: refTo(each), values: each.values, held }));
  const stops = tellBefore(kind, runtime, objects);
  // A set lists what it adopts in its plan.
  if (resource === kind) tellAdoption(kind, runtime, ref, fresh);
  if (deployment.isWhole) runtime.tellCollected();
  const failures = [
    ...twice.map((text) => withPage(text, ArgumentsError.code)),
    ...reading.problems.map((problem) =>
      withPage(describeSettingProblem(problem), SettingsError.code),
    ),
    ...problemMessages(problems).map((text) => withPage(text, ArgumentsError.code)),
    ...stops.map(({ message, code }) => withPage(message, code)),
  ];
  if (failures.length > 0) deployment.hasFailed = true;
  else if (resource !== kind && isNew && !deployment.isUp) {
    const isToCreate = (member: PlannedObject) =>
      takeableOf(runtime, refTo(member), undefined) === undefined;
    const plan = planMessage(kind, members.filter(isToCreate), abilitiesOf(kind, reading.settings));
    runtime.tellAt("info", ref.resourceUrn, plan);
  }
  const inputs = {
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [MARK]: markInput(runtime, ref, olds),
    [RUN]: deployment.isUp && isToSend(values, olds) ? runtime.runName : olds[RUN],
  };
  return { inputs: withoutUndefined(inputs), failures };
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

/** What the program says about former keys: a resource's own by its aliases, and those of a set's members. */
function formerKeysIn(
  resource: Kind | SetKind,
  ref: ResourceRef,
  { formerKeys: former = [] }: ProgramContext,
  members: readonly PlannedObject[],
  ofMembers: readonly (readonly [key: string, former: string])[],
): (readonly [former: string, key: string])[] {
  if (!("member" in resource)) return former.map((each) => [each, ref.key]);
  const moved = former.flatMap((set) =>
    members.map(({ key }) => [memberOf(set, key), memberRef(ref, key).key] as const),
  );
  const renamed = ofMembers.map(
    ([key, each]) => [memberRef(ref, each).key, memberRef(ref, key).key] as const,
  );
  return [...moved, ...renamed];
}

/** Whether creates may follow: only where an argument differs from the state's. */
function isToSend(values: Values, olds: Values): boolean {
  return Object.keys(values).some((name) => !isDeepStrictEqual(values[name], olds[name]));
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
interface Stops {
  readonly namesakes: readonly Namesake[];
  readonly open: readonly OpenObject[];
  readonly madeOtherwise: readonly MadeObject[];
}

/**
 * Tells of new objects. @param open creates of unknown outcome in the state, which stop the `up` too.
 * @returns in a preview, why the `up` would end with an error, in the same words.
 */
export function tellBefore(
  kind: Kind,
  runtime: Runtime,
  fresh: readonly NewObject[],
  open: readonly OpenObject[] = [],
): AdvertisingError[] {
  const stops: Partial<Stops>[] = [{ open }];
  for (const object of fresh) {
    const journal = runtime.journal(object.ref.identity);
    if (!runtime.deployment.isUp) {
      if (journal.trouble !== undefined) return [journal.trouble];
      expectAccountOfOpen(runtime, journal);
    }
    stops.push(tellNew(kind, runtime, object));
  }
  runtime.tellCollected();
  const namesakes = stops.flatMap((each) => each.namesakes ?? []);
  const sure = namesakes.filter(({ isPerhaps }) => !isPerhaps);
  if (sure.length === 0)
    for (const each of namesakes) runtime.warnEach(possibleNamesakeNotice(each));
  const madeOtherwise = stops.flatMap((each) => each.madeOtherwise ?? []);
  const unknown = stops.flatMap((each) => each.open ?? []);
  const messages: string[] = [];
  if (madeOtherwise.length > 0) messages.push(madeOtherwiseMessage(madeOtherwise));
  if (sure.length > 0) messages.push(namesakesMessage(sure));
  const [first] = unknown;
  if (first?.ref.member !== undefined) messages.push(unresolvedMembersMessage(kind, unknown));
  else if (first !== undefined)
    messages.push(unresolvedMessage(first.ref, first.record, first.why));
  return messages.map((message) => new OutcomeUnknownError(message, ""));
}

/** An `up` asks right before it sends, and decides the same. */
function tellNew(kind: Kind, runtime: Runtime, object: NewObject): Partial<Stops> {
  const { ref, values, held } = object;
  const { deployment } = runtime;
  const entry = takeableOf(runtime, ref, held);
  if (entry !== undefined) return deployment.isUp ? {} : tellOwn(kind, runtime, object, entry);
  const namesake = deployment.isUp ? undefined : namesakeOf(kind, runtime, ref, values);
  if (namesake !== undefined) return { namesakes: [namesake] };
  const former = runtime.journal(ref.identity).records.get(ref.key)?.id; // of what has left the state too
  if (former !== undefined && former !== held && isLeft(kind, runtime, former))
    runtime.warnEach(formerObjectNotice(kind, ref, former));
  else if (held === undefined) tellLikelyRename(kind, runtime, ref, values);
  return {};
}

/** In a preview: what becomes of a new object's own create of an earlier run. */
function tellOwn(
  kind: Kind,
  runtime: Runtime,
  { ref, values }: NewObject,
  entry: JournalEntry,
): Partial<Stops> {
  const { id, field } = entry;
  const { label } = ref;
  const tell = (how: "search" | "perhaps" | "now") =>
    runtime.warnEach(takeOverNotice(ref, entry, how));
  if (id === undefined) {
    if (!abilitiesOf(kind, runtime.reading.settings).search(field))
      return { open: [{ ref, record: recordOf({ ...entry, what: whatHappened(label, entry) }) }] };
    tell("search");
  } else if (holdsUnknown(values)) tell("perhaps");
  else if (isMadeOtherwise(kind, values, entry)) return { madeOtherwise: [{ ref, id }] };
  else tell("now");
  return {};
}

/** A new resource with the platform name and advertiser of one that the program does not declare may be just that. */
function tellLikelyRename(kind: Kind, runtime: Runtime, ref: ResourceRef, values: Values): void {
  const { deployment } = runtime;
  if (deployment.isUp || ref.member !== undefined) return; // a set compares its own keys
  const former = runtime.journal(ref.identity).confirmedNamed(kind.name, values[kind.nameProperty]);
  const owner = ownerIn(kind, values);
  const found = former.find(({ key, id = "", facts = {} }) => {
    if (deployment.isDeclared(key) || !isLeft(kind, runtime, id)) return false;
    return isSameValue(ownerIn(kind, facts), owner);
  });
  if (found?.id !== undefined) runtime.warnEach(likelyRenameNotice(ref, found.key, found.id));
}

/** Neither deleted nor something else's, as far as this run knows. */
function isLeft(kind: Kind, { deleted, deployment }: Runtime, id: string): boolean {
  return !deleted.has(kind.name, id) && !deployment.isKept(kind, id);
}
