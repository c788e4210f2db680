/**
 * What `check` does for a single resource and for a set: it checks the arguments with the rules, notes for the run the program's briefing and
 * which objects are adopted, looks up and reports what is known about new objects, and returns all problems at once.
 */
import {
  ArgumentsError,
  asRecord,
  own,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import { adoptedBy, holdsUnknown, knownAdoption, membersOf } from "../decision/index.js";
import { adoptedTwice, adviceFor, type Kind, type SetKind } from "../kinds/index.js";
import { inWords, type Problem, validate } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  ACCOUNT,
  type Briefing,
  type CreateRecord,
  DELETES,
  eventIn,
  IDENTITY,
  isOfEarlierVersion,
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
import { lookBefore, tellGone, tellUnclaimed } from "./before.js";
import { learnHolders, noteAdoptedSomewhere, noteAdopts, rivalOf } from "./holding.js";
import { briefingIn, type Properties } from "./inputs.js";
import { expectSameAccount } from "./outcome.js";
import { markInputOfSet, newMarkInput } from "./search.js";
import type { Calls, CheckAnswer, Runtime } from "./services.js";
import { tellBefore } from "./set-plan.js";
import { beforeCreate, type Earlier, tellAll } from "./tell.js";

export const checkSingle: Calls<Kind>["check"] = async (kind, runtime, olds, given) => {
  const check = begin(kind, runtime, olds, given);
  const { subject, briefing, isNew, values, problems } = check;
  const id = knownAdoption(values);
  const twice = await note(kind, runtime, check, id === undefined ? [] : [{ subject, id, values, path: "" }]);
  let mark: string | undefined;
  if (isNew) {
    const { formerly } = briefing;
    const fits = problems.length + twice.length === 0;
    const held = runtime.run.decided(subject.key)?.member.id;
    const before = await lookBefore(kind, runtime, subject, values, { fits, formerly, held });
    // An `up` reports afterwards what it did with it.
    const isToldLater = before.earlier !== undefined && runtime.run.isUp === true;
    if (!isToldLater) tellAll(runtime, beforeCreate(kind, subject, before));
    await tellGone(kind, runtime, subject);
    if (adoptedBy(values) === undefined) mark = newMarkInput(runtime, before.earlier && onlyTakenOver(before.earlier));
  }
  return answer(runtime, check, twice, {
    [ACCOUNT]: accountInInputs(olds, runtime.account, subject.label),
    [MARK]: own(olds, MARK) ?? mark,
  });
};

/**
 * The earlier create, if this run sends nothing for it. After a search it may be sent again: then Pulumi's record alone says that this was later
 * than the state knows, by another mark, so nothing counts as not made too early (R6).
 */
function onlyTakenOver({ record, takeOver, isSearchable }: Earlier): CreateRecord | undefined {
  const isSent = record.id === undefined && isSearchable;
  return takeOver === "as it is" && !isSent ? record : undefined;
}

export const checkSet: Calls<SetKind>["check"] = async (set, runtime, olds, given) => {
  const kind = set.member;
  const check = begin(set, runtime, olds, given);
  const { subject, isNew, values, problems } = check;
  if (values.defaults !== UNKNOWN) {
    values.defaults = { ...set.defaultsIn(runtime.reading.settings), ...asRecord(values.defaults) };
  }
  const declared = readDeclaredSet(values);
  const events = [...(declared.events ?? [])];
  const adopting = events.flatMap(([key, entry]): Adopting[] => {
    const id = knownAdoption(entry);
    if (id === undefined) return [];
    const named = eventIn(declared, asRecord(entry));
    return [{ subject: memberRef(subject, key), id, values: named, path: `${memberOf("events", key)}.` }];
  });
  const keys = events.map(([key]) => memberOf(subject.key, key));
  const twice = await note(kind, runtime, check, adopting, keys);
  if (isNew && problems.length === 0) {
    const nothing = readStoredSet({});
    await tellBefore(kind, runtime, subject, membersOf(kind, nothing, declared), nothing);
  }
  if (isNew) await tellGone(kind, runtime, subject);
  const mark = markInputOfSet(runtime, subject.identity, olds, withoutUndefined(values));
  return answer(runtime, check, twice, { [MARK]: mark });
};

interface Check {
  readonly subject: Ref;
  readonly briefing: Briefing;
  /** No old inputs: the resource is new, or this is the second `check` of a replacement. */
  readonly isNew: boolean;
  readonly olds: Properties;
  readonly news: Properties;
  /** The valid arguments, with defaults. */
  readonly values: Properties;
  readonly problems: readonly Problem[];
}

function begin(resource: Kind | SetKind, { reading }: Runtime, olds: Properties, news: Properties): Check {
  const { briefing, subject } = briefingIn(resource.name, news);
  const { values, problems } = validate(news, resource.rules(reading.settings), {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    advice: adviceFor,
    arrivedUndefined: "is the output's name right?",
  });
  return { subject, briefing, isNew: Object.keys(olds).length === 0, olds, news, values, problems };
}

/** An object that the program names with `existingId`. */
interface Adopting {
  readonly subject: Ref;
  readonly id: string;
  readonly values: Values;
  /** The path before `existingId` in the arguments. */
  readonly path: string;
}

/**
 * Notes what other resources may need to know, before anything is awaited.
 * @param members for a set, the journal keys of its objects.
 * @returns the problems of its adoptions, in words.
 */
async function note(
  kind: Kind,
  runtime: Runtime,
  { subject, briefing, isNew, olds }: Check,
  adopting: readonly Adopting[],
  members: readonly string[] = [],
): Promise<string[]> {
  const checked = {
    briefing,
    wasSecret: secretArgumentsIn(olds),
    wasDeleting: own(olds, DELETES) === true,
    formerIdentity: formerIdentityIn(olds, briefing),
  };
  runtime.run.noteChecked(subject.key, checked, isNew, members);
  noteAdoptedSomewhere(kind, runtime, briefing);
  for (const each of adopting) noteAdopts(kind, runtime, each.subject, each.id, each.values);
  await tellUnclaimed(runtime, subject.identity);
  if (adopting.length > 0) await learnHolders(runtime);
  const before = new Set([olds, ...Object.values(asRecord(olds.events))].flatMap((each) => knownAdoption(each) ?? []));
  return adopting.flatMap((each) => {
    const rival = rivalOf(kind, runtime, each.subject, each.id, before.has(each.id));
    return rival === undefined ? [] : [`${each.path}existingId ${adoptedTwice(each.id, rival.urn)}`];
  });
}

/** If the stack had another name when the state was written. */
function formerIdentityIn(olds: Properties, { identity }: Briefing): string | undefined {
  const before = own(olds, IDENTITY);
  if (typeof before !== "string" || before === identity || stackOf(before) === stackOf(identity)) return undefined;
  return before;
}

/**
 * The engine prints each reason after "resource '<name>' has a problem: ". The property is left empty, because the engine would print its
 * value before the reason, even a secret one.
 * @param twice the problems of its adoptions. @param hidden the inputs beside the arguments.
 */
function answer(
  { run, reading }: Runtime,
  { briefing, news, values, problems }: Check,
  twice: readonly string[],
  hidden: Properties,
): CheckAnswer {
  const failures = [
    ...twice.map((text) => withPage(text, ArgumentsError.code)),
    ...reading.problems.map((problem) => withPage(describeSettingProblem(problem), SettingsError.code)),
    ...inWords(problems).map((text) => withPage(text, ArgumentsError.code)),
  ].map((reason) => ({ property: "", reason }));
  if (failures.length > 0) run.hasFailed = true;
  const inputs = {
    ...values,
    [IDENTITY]: briefing.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: briefing.deletes,
    ...hidden,
  };
  return { inputs: withoutUndefined(inputs), failures };
}

/**
 * The account in the inputs: none for resources that this version created, which have it in their outputs. One of an earlier version gets the
 * current account once.
 */
function accountInInputs(olds: Properties, current: string, label: string): string | undefined {
  const recorded = own(olds, ACCOUNT);
  expectSameAccount(recorded, current, label);
  if (typeof recorded === "string") return recorded;
  const identity = own(olds, IDENTITY);
  return typeof identity === "string" && isOfEarlierVersion(identity) && current !== "" ? current : undefined;
}
