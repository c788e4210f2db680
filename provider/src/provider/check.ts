/** `check`: it takes the memory in an `up`, says what is known about new objects, and returns all problems at once. */
import {
  type AdvertisingError,
  ArgumentsError,
  asRecord,
  own,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import { abilitiesOf, adoptedBy, holdsUnknown, type Member, membersOf, singleMember } from "../decision/index.js";
import { adoptedTwice, fingerprintOfBody, type Kind, type SetKind } from "../kinds/index.js";
import { inWords, validate } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  aboutWhom,
  DELETES,
  IDENTITY,
  MARK,
  memberOf,
  memberRef,
  type Ref,
  readDeclaredSet,
  readStoredSet,
  SECRET_ARGUMENTS,
  secretArgumentsIn,
  stackOf,
  UNKNOWN,
} from "../state/index.js";
import { takeOverFormer } from "../store/index.js";
import { expectAccountOfOpen, takeableOf, whyNotNew } from "./create.js";
import type { CheckRequest, Runtime } from "./runtime.js";
import { markInput } from "./search.js";
import { beforeTakeOver, madeBefore, madeOtherwise, planInWords } from "./tell.js";

/** Fills in a set's defaults. @returns what becomes of a new resource's objects; none if they are not known yet. */
function declaredIn(resource: Kind | SetKind, { reading }: Runtime, values: Record<string, unknown>) {
  if (!("member" in resource)) return [singleMember(resource, undefined, {}, values)];
  if (values.defaults !== UNKNOWN)
    values.defaults = { ...resource.defaultsIn(reading.settings), ...asRecord(values.defaults) };
  const declared = readDeclaredSet(values);
  return declared.events && membersOf(resource.member, readStoredSet({}), declared);
}

export async function check(resource: Kind | SetKind, runtime: Runtime, who: Ref, request: CheckRequest) {
  const { run, reading } = runtime;
  const { briefing, olds, news } = request;
  const { values, problems } = validate(news, resource.rules(reading.settings), {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    arrivedUndefined: "is the output's name right?",
  });
  const kind = "member" in resource ? resource.member : resource;
  const isNew = Object.keys(olds).length === 0;
  // Before anything is awaited, since other resources may need to know it.
  const wasDeleting = own(olds, DELETES) === true && briefing.deletes === true;
  const declared = declaredIn(resource, runtime, values);
  run.noteChecked(who.key, kind, briefing, isNew, { wasSecret: secretArgumentsIn(olds), wasDeleting });
  const refTo = ({ key }: Member) => (resource === kind ? who : memberRef(who, key));
  for (const key of declared?.map((each) => refTo(each).key) ?? [who.key]) run.declared.add(key);
  const members = declared ?? [];
  const twice = members.flatMap((member) => {
    const [ref, id] = [refTo(member), adoptedBy(member.entry)];
    const other = id === undefined || id === UNKNOWN ? undefined : run.claim(kind, id, ref.key);
    const at = ref.member === undefined ? "" : `${memberOf("events", ref.member)}.`;
    return other === undefined ? [] : [`${at}existingId ${adoptedTwice(String(id), aboutWhom(other).label)}`];
  });
  await openMemory(runtime, who, request);
  for (const each of members) tellMadeOtherwise(kind, runtime, refTo(each), adoptedBy(each.entry), each.values);
  // What is in the state has a `diff`, which says the same of what it creates.
  const fresh = isNew && problems.length + twice.length === 0 ? members : [];
  const created = fresh.filter(({ entry }) => adoptedBy(entry) === undefined);
  const stop = tellBefore(kind, runtime, created, refTo, run.held.get(who.key)?.id);
  const failures = [
    ...twice.map((text) => withPage(text, ArgumentsError.code)),
    ...reading.problems.map((problem) => withPage(describeSettingProblem(problem), SettingsError.code)),
    ...inWords(problems).map((text) => withPage(text, ArgumentsError.code)),
    ...(stop === undefined ? [] : [withPage(stop.message, stop.code)]),
  ];
  if (failures.length > 0) run.hasFailed = true;
  else if (resource !== kind && isNew && !run.isUp) {
    const isToCreate = (member: Member) => takeableOf(runtime, refTo(member), undefined) === undefined;
    runtime.tellAt("info", who.resourceUrn, planInWords(kind, members.filter(isToCreate)));
  }
  const inputs = {
    ...values,
    [IDENTITY]: briefing.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: briefing.deletes,
    [MARK]: markInput(runtime, who, olds),
  };
  return { inputs: withoutUndefined(inputs), failures };
}

/** Warns where a resource adopts what a run here has made with other arguments, and no read compares them. */
function tellMadeOtherwise(kind: Kind, runtime: Runtime, who: Ref, id: string | undefined, values: Values): void {
  if (id === undefined || holdsUnknown(values) || abilitiesOf(kind, runtime.reading.settings).read) return;
  const memory = runtime.memory(who.identity);
  const made = memory.of(memory.holderOf(kind.name, id) ?? "");
  const isOther = made?.id === id && made.key !== who.key && ![fingerprintOfBody(kind, values), ""].includes(made.body);
  if (isOther) runtime.warnEach(madeOtherwise(who, id));
}

/** In an `up` the memory is this run's from its first `check` on; what is under the stack's former name moves here. */
async function openMemory(runtime: Runtime, { identity }: Ref, { olds }: CheckRequest): Promise<void> {
  const { run, memoryFolder: folder, placeOf } = runtime;
  const memory = runtime.memory(identity); // without a known backend a preview fails as the `up` does
  if (!run.isUp) return;
  await memory.openOnce();
  const before = own(olds, IDENTITY);
  if (typeof before === "string" && stackOf(before) !== stackOf(identity))
    run.former ??= takeOverFormer(placeOf(before), placeOf(identity), { folder }, (lines) => memory.join(lines)).catch(
      (error: Error) => runtime.say(error.message), // its open creates stop those of this stack, as another stack's
    );
  await run.former;
}

/** Tells of new objects in a preview. @param held what one replaces, if it has no id. @returns why `up` would stop. */
export function tellBefore(
  kind: Kind,
  runtime: Runtime,
  members: readonly Member[],
  refTo: (member: Member) => Ref,
  held?: string,
): AdvertisingError | undefined {
  const stops = members.map((each) => tellOne(kind, runtime, refTo(each), each.values, each.id ?? held));
  runtime.tellCollected();
  return stops.find((each) => each !== undefined);
}

function tellOne(
  kind: Kind,
  runtime: Runtime,
  who: Ref,
  values: Values,
  held: string | undefined,
): AdvertisingError | undefined {
  const { run, reading } = runtime;
  const memory = runtime.memory(who.identity);
  if (!run.isUp && memory.trouble !== undefined) runtime.say(memory.trouble.message);
  if (!run.isUp) expectAccountOfOpen(runtime, memory);
  const body = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
  const noted = takeableOf(runtime, who, held);
  if (noted !== undefined) {
    const isSearchable = abilitiesOf(kind, reading.settings).search(noted.field);
    if (!run.isUp) runtime.warnEach(beforeTakeOver(who, noted, body, isSearchable));
    return undefined;
  }
  const stops = run.isUp ? undefined : whyNotNew(runtime, who, body);
  const id = memory.records.get(who.key)?.id; // of what has left the state too
  const isElsewhere = id !== undefined && (runtime.deleted.has(kind.name, id) || run.isKept(kind, id));
  if (stops === undefined && id !== undefined && !isElsewhere && held !== id)
    runtime.warnEach(madeBefore(kind, who, id));
  return stops;
}
