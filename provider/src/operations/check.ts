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
import { adoptedTwice, checkArguments, fingerprintOfBody, type Kind, ownerIn, type SetKind } from "../kinds/index.js";
import { abilitiesOf, adoptedBy, holdsUnknown, type PlannedObject, plannedObjects } from "../plan/index.js";
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
} from "../state/index.js";
import { expectAccountOfOpen, namesakeOf, takeableOf } from "./create.js";
import {
  adoptedOtherwiseNotice,
  adoption,
  formerObjectNotice,
  likelyRenameNotice,
  namesakesMessage,
  planMessage,
  possibleNamesakeNotice,
  takeOverNotice,
} from "./messages.js";
import type { Namesake } from "./outcome.js";
import type { CheckRequest, Runtime } from "./runtime.js";
import { markInput } from "./search.js";

/** Fills in a set's defaults. @returns what becomes of a new resource's objects; undefined if they are not known yet. */
function declaredIn(resource: Kind | SetKind, { reading }: Runtime, values: Record<string, unknown>) {
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = { ...resource.defaultsIn(reading.settings), ...asRecord(values.defaults) };
  const declared = readDeclared(resource, values);
  const objects = declared.events && plannedObjects(kindOf(resource), readStored(resource, undefined, {}), declared);
  return { objects, formerKeys: [...declared.formerKeys] };
}

export async function check(resource: Kind | SetKind, runtime: Runtime, ref: ResourceRef, request: CheckRequest) {
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
  deployment.noteChecked(ref.key, kind, context, isNew, { wasSecret, wasDeleting, deletes, inState });
  const refTo = ({ key }: PlannedObject) => objectRef(resource, ref, key);
  for (const key of declared?.map((each) => refTo(each).key) ?? [ref.key]) deployment.declared.add(key);
  for (const [, former] of formerKeys) deployment.declared.add(memberRef(ref, former).key);
  const members = declared ?? [];
  const twice = members.flatMap((member) => {
    const [ref, id] = [refTo(member), adoptedBy(member.entry)];
    const other = id === undefined || id === UNKNOWN ? undefined : deployment.claim(kind, id, ref.key);
    const at = ref.member === undefined ? "" : `${memberOf("events", ref.member)}.`;
    return other === undefined ? [] : [`${at}existingId ${adoptedTwice(String(id), parseKey(other).label)}`];
  });
  const journal = runtime.journal(ref.identity);
  // In an `up` the journal is this run's from its first `check` on.
  if (deployment.isUp) await journal.openOnce();
  for (const [former, key] of formerKeysIn(resource, ref, context, members, formerKeys)) journal.renamed(former, key);
  for (const each of members) tellMadeOtherwise(kind, runtime, refTo(each), adoptedBy(each.entry), each.values);
  // What is in the state has a `diff`, which says the same of what it creates.
  const fresh = isNew && problems.length + twice.length === 0 ? members : [];
  const created = fresh.filter(({ entry }) => adoptedBy(entry) === undefined);
  const stop = tellBefore(kind, runtime, created, refTo, deployment.held.get(ref.key)?.object.id);
  // A set lists what it adopts in its plan.
  if (resource === kind) tellAdoption(kind, runtime, ref, fresh);
  if (deployment.isWhole) runtime.tellCollected();
  const failures = [
    ...twice.map((text) => withPage(text, ArgumentsError.code)),
    ...reading.problems.map((problem) => withPage(describeSettingProblem(problem), SettingsError.code)),
    ...problemMessages(problems).map((text) => withPage(text, ArgumentsError.code)),
    ...(stop === undefined ? [] : [withPage(stop.message, stop.code)]),
  ];
  if (failures.length > 0) deployment.hasFailed = true;
  else if (resource !== kind && isNew && !deployment.isUp) {
    const isToCreate = (member: PlannedObject) => takeableOf(runtime, refTo(member), undefined) === undefined;
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

/** Warns where a resource adopts what a run here has made with other arguments, and no read compares them. */
function tellMadeOtherwise(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  id: string | undefined,
  values: Values,
): void {
  if (id === undefined || holdsUnknown(values) || abilitiesOf(kind, runtime.reading.settings).read) return;
  const journal = runtime.journal(ref.identity);
  const made = journal.of(journal.holderOf(kind.name, id) ?? "");
  const isOther = made?.id === id && made.key !== ref.key && ![fingerprintOfBody(kind, values), ""].includes(made.body);
  if (isOther) runtime.warnEach(adoptedOtherwiseNotice(ref, id));
}

/** The state's name of what an alias renames. */
function formerRefIn(
  { name }: Kind | SetKind,
  { formerKeys = [] }: ProgramContext,
  olds: Values,
): ResourceRef | undefined {
  const identity = own(olds, IDENTITY);
  const former = typeof identity === "string" ? refOf(name, identity) : undefined;
  return former !== undefined && formerKeys.includes(former.key) ? former : undefined;
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
  const renamed = ofMembers.map(([key, each]) => [memberRef(ref, each).key, memberRef(ref, key).key] as const);
  return [...moved, ...renamed];
}

/** Whether creates may follow: only where an argument differs from the state's. */
function isToSend(values: Values, olds: Values): boolean {
  return Object.keys(values).some((name) => !isDeepStrictEqual(values[name], olds[name]));
}

function tellAdoption(kind: Kind, runtime: Runtime, ref: ResourceRef, members: readonly PlannedObject[]): void {
  for (const { entry } of members) {
    const id = adoptedBy(entry);
    if (id !== undefined) runtime.tellAdopted(adoption(ref, id, abilitiesOf(kind, runtime.reading.settings)));
  }
}

/** Tells of new objects. @param held what one replaces, if it has no id. @returns why the `up` would stop. */
export function tellBefore(
  kind: Kind,
  runtime: Runtime,
  members: readonly PlannedObject[],
  refTo: (member: PlannedObject) => ResourceRef,
  held?: string,
): AdvertisingError | undefined {
  if (members.length === 0) return undefined;
  const { deployment } = runtime;
  const namesakes: Namesake[] = [];
  for (const member of members) {
    const ref = refTo(member);
    const journal = runtime.journal(ref.identity);
    if (!deployment.isUp && journal.trouble !== undefined) return journal.trouble;
    if (!deployment.isUp) expectAccountOfOpen(runtime, journal);
    const namesake = tellNew(kind, runtime, ref, member.values, member.id ?? held);
    if (namesake !== undefined) namesakes.push(namesake);
  }
  runtime.tellCollected();
  const sure = namesakes.filter(({ isPerhaps }) => !isPerhaps);
  if (sure.length > 0) return new OutcomeUnknownError(namesakesMessage(sure), "");
  for (const each of namesakes) runtime.warnEach(possibleNamesakeNotice(each));
  return undefined;
}

/** @returns in a preview, the open create that it may be; an `up` asks right before it sends. */
function tellNew(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
  held: string | undefined,
): Namesake | undefined {
  const { deployment, reading } = runtime;
  const journal = runtime.journal(ref.identity);
  const entry = takeableOf(runtime, ref, held);
  if (entry !== undefined) {
    const body = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
    const isSearchable = abilitiesOf(kind, reading.settings).search(entry.field);
    if (!deployment.isUp) runtime.warnEach(takeOverNotice(ref, entry, body, isSearchable));
    return undefined;
  }
  const namesake = deployment.isUp ? undefined : namesakeOf(kind, runtime, ref, values);
  if (namesake !== undefined) return namesake;
  const id = journal.records.get(ref.key)?.id; // of what has left the state too
  const isElsewhere = id !== undefined && (runtime.deleted.has(kind.name, id) || deployment.isKept(kind, id));
  if (id !== undefined && !isElsewhere && held !== id) runtime.warnEach(formerObjectNotice(kind, ref, id));
  else if (held === undefined) tellLikelyRename(kind, runtime, ref, values);
  return undefined;
}

/** A new resource with the platform name and advertiser of one that the program does not declare may be just that. */
function tellLikelyRename(kind: Kind, runtime: Runtime, ref: ResourceRef, values: Values): void {
  const { deployment } = runtime;
  if (deployment.isUp || ref.member !== undefined) return; // a set compares its own keys
  const former = runtime.journal(ref.identity).confirmedNamed(kind.name, values[kind.nameProperty]);
  const found = former.find(
    ({ key, id = "", facts = {} }) =>
      !deployment.isDeclared(key) &&
      !deployment.isKept(kind, id) &&
      !runtime.deleted.has(kind.name, id) &&
      isSameValue(ownerIn(kind, facts), ownerIn(kind, values)),
  );
  if (found?.id !== undefined) runtime.warnEach(likelyRenameNotice(ref, found.key, found.id));
}
