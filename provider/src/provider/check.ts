/**
 * What `check` does for a single resource and for a set alike: it checks the arguments against the rules, notes for the run what the
 * program says of the resource and which objects it adopts, and answers everything that is wrong at once.
 */
import { ArgumentsError, asRecord, own, SettingsError, withCode } from "../base/index.js";
import { holdsUnknown, knownAdoption } from "../decision/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { type Problem, validate } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  ACCOUNT,
  type Briefing,
  DELETES,
  IDENTITY,
  isOfEarlierVersion,
  type Ref,
  SECRET_ARGUMENTS,
} from "../state/index.js";
import { tellUnclaimed } from "./before.js";
import { expectSameAccount } from "./failure.js";
import { learnHolders, noteAdoptedSomewhere, noteAdopts, rivalOf } from "./holding.js";
import { briefingIn, type Properties, secretArgumentsOf, withoutUndefined } from "./inputs.js";
import type { Runtime } from "./services.js";
import { adoptedTwice } from "./tell.js";

export interface Check {
  readonly subject: Ref;
  /** What the program says of it. */
  readonly briefing: Briefing;
  /** No old inputs: the resource is new, or this is the second `check` of a replacement. */
  readonly isNew: boolean;
  /** The inputs of before. */
  readonly olds: Properties;
  /** Those of now, with the ids of owners that keep theirs. */
  readonly news: Properties;
  /** The arguments that fit the rules, with defaults. */
  readonly values: Properties;
  readonly problems: readonly Problem[];
}

export function beginCheck(
  resource: Kind | SetKind,
  { run, reading }: Runtime,
  olds: Properties,
  given: Properties,
): Check {
  const { briefing, subject } = briefingIn(resource.name, given);
  const news = run.withKeptOwners(briefing, given);
  const { values, problems } = validate(news, resource.rules(reading.settings), {
    isUnknown: holdsUnknown,
    secret: secretArgumentsOf(news),
    arrivedUndefined: "is the output's name right?",
  });
  return { subject, briefing, isNew: Object.keys(olds).length === 0, olds, news, values, problems };
}

/** An object that the program names with `existingId`. */
interface Adopting {
  readonly subject: Ref;
  readonly id: string;
  /** Before `existingId`, in words: where that stands in the arguments. */
  readonly path: string;
}

/**
 * Notes what other resources may ask for, before anything is awaited.
 * @param members of a set, the journal keys of its objects.
 * @returns what is wrong with adopting, in words.
 */
export async function noteCheck(
  kind: Kind,
  runtime: Runtime,
  { subject, briefing, isNew, olds }: Check,
  adopting: readonly Adopting[],
  members: readonly string[] = [],
): Promise<string[]> {
  const checked = { briefing, wasSecret: secretArgumentsOf(olds), wasDeleting: own(olds, DELETES) === true };
  runtime.run.noteChecked(subject.key, checked, isNew, members);
  noteAdoptedSomewhere(kind, runtime, briefing);
  for (const each of adopting) noteAdopts(kind, runtime, each.subject, each.id);
  await tellUnclaimed(runtime, subject.identity);
  if (adopting.length > 0) await learnHolders(runtime);
  const before = new Set([olds, ...Object.values(asRecord(olds.events))].flatMap((each) => knownAdoption(each) ?? []));
  return adopting.flatMap((each) => {
    const rival = rivalOf(kind, runtime, each.subject, each.id, before.has(each.id));
    return rival === undefined ? [] : [`${each.path}${adoptedTwice(each.id, rival)}`];
  });
}

/**
 * What `check` answers: all that is wrong, as the engine shows it at the resource. It prints each one after "resource '<name>' has a
 * problem: ". Without the property's name: the engine would print the value in front of the reason, a secret one too.
 * @param twice what is wrong with adopting. @param hidden what the inputs hold beside the arguments.
 */
export function checkResult(
  { run, reading }: Runtime,
  { briefing, news, values, problems }: Check,
  twice: readonly string[],
  hidden: Properties,
): { inputs: Properties; failures: { property: string; reason: string }[] } {
  const failures = [
    ...twice.map((text) => withCode(text, ArgumentsError.code)),
    ...reading.problems.map((problem) => withCode(describeSettingProblem(problem), SettingsError.code)),
    ...problems.map(({ property, reason }) => withCode(`${property} ${reason}`, ArgumentsError.code)),
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
 * What the inputs hold of the account: nothing for resources that this version created, whose outputs hold it. One of an
 * earlier version takes on the current account once.
 */
export function accountInInputs(olds: Properties, current: string, label: string): string | undefined {
  const recorded = own(olds, ACCOUNT);
  expectSameAccount(recorded, current, label);
  if (typeof recorded === "string") return recorded;
  const identity = own(olds, IDENTITY);
  return typeof identity === "string" && isOfEarlierVersion(identity) && current !== "" ? current : undefined;
}
