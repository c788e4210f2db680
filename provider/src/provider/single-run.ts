/**
 * Decides about a single resource and carries that out, for any front end. The order of the calls is in `run.ts`; `carry-out.ts` does what was
 * decided.
 */
import { withoutUndefined } from "../base/index.js";
import {
  abilitiesOf,
  actionOfCreate,
  adoptedBy,
  formerIfReplaced,
  knownAdoption,
  type Member,
  singleMember,
} from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { exactId, isReadableId } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  isOfKnownAccount,
  LEFT_LIVE,
  PROVIDER,
  recordIn,
  secretArgumentsIn,
  staysLive,
  writeLeftLive,
} from "../state/index.js";
import { expectSameType, expectToSettle, reconcileHeld, settleFormerName, tellGone } from "./before.js";
import { carryOutAll, type Managed } from "./carry-out.js";
import { circumstancesOf, learnHolders, notedBefore, noteHeld, whenRemoved } from "./holding.js";
import { argumentsIn, maskSecretsIn, type Properties, refIn } from "./inputs.js";
import { createdIn, deleteObject, expectNotDeleted, momentToKeep, tellSentAgain } from "./known-operations.js";
import {
  expectSameAccount,
  expectSettled,
  Incomplete,
  idOrError,
  leavingIn,
  leftAfter,
  type Outcome,
  waitingFor,
} from "./outcome.js";
import type { Decided } from "./run.js";
import { markIn } from "./search.js";
import type { Calls, Runtime } from "./services.js";
import { afterReplacement, beforeReplacement, notDeleted, spared, takenOver, tellAll, toBeLookedFor } from "./tell.js";

/**
 * Decides what becomes of a resource in the state, notes that for `create`, and shows it in a preview.
 * @returns the arguments whose change replaces it, for the engine to show. @throws AdvertisingError, Incomplete if nothing may be done.
 */
export const planSingle: Calls<Kind>["plan"] = async (kind, runtime, id, olds, news) => {
  const { run } = runtime;
  const subject = refIn(kind.name, news);
  const { key } = subject;
  expectSameAccount(olds[ACCOUNT], runtime.account, subject.label);
  expectSameType(kind.name, olds, id, subject.label);
  const { wasDeleting, wasSecret } = run.checked(key);
  const circumstances = circumstancesOf(kind, runtime, subject, olds, wasDeleting);
  const secret = new Set([...secretArgumentsIn(news), ...wasSecret]);
  const decideNow = () => {
    const member = singleMember(kind, id, olds, news, circumstances);
    const former = formerIfReplaced(member.id, olds, circumstances);
    const leaves = leavingIn(kind, id, olds, secret);
    run.noteDecided(kind, key, { member, former, leaves });
    return member;
  };
  let member = decideNow();
  const { action, id: held } = member;
  if (held !== undefined) noteHeld(kind, runtime, [{ subject, id: held, former: member.former, values: olds, secret }]);
  if (wasDeleting) {
    // Other holders of an object to delete are asked for once they are known.
    await learnHolders(runtime);
    member = decideNow();
  }
  expectNotDeleted(kind, runtime, subject, [member], createdIn(olds));
  // A refresh asks too, with the former inputs, and changes nothing.
  const isPlanned = run.declared.has(key);
  if (isPlanned) tellSentAgain(kind, runtime, subject, [member]);
  const { former } = member;
  const names = knownAdoption(news);
  const { formerly } = run.briefingOf(key);
  if (names !== undefined) await expectToSettle(kind, runtime, subject, names, news, formerly, names === held);
  await tellGone(kind, runtime, subject, held === undefined ? [] : formerly);
  await settleFormerName(runtime, subject, [id]);
  const words = await reconcileHeld(runtime, subject, id, () => fingerprintOfBody(kind, olds));
  if (action.do === "wait") expectSettled(kind, waitingFor(action), subject.urn);
  const replaces = replacesOf(kind, member, news);
  if (run.isUp !== true && isPlanned) {
    if (action.do === "look for") tellAll(runtime, [toBeLookedFor(subject, action.record)]);
    if (former !== undefined && !run.holders.isAdopted(kind.name, former.id)) {
      run.beginOnce(leaving(key));
      const isPerhaps = action.do === "replace" && action.perhaps;
      tellAll(runtime, [beforeReplacement(kind, subject, former, { adopts: adoptedBy(news), isPerhaps })]);
    }
  }
  // Nothing is reported before a replacement, because its create asks the journal itself.
  if (replaces.length === 0) for (const sentence of words) runtime.say(sentence);
  return { changes: action.do !== "keep", replaces };
};

/** The topic of the message about the object that a resource gives up, which a run shows once, before or afterwards. */
function leaving(key: string): string {
  return `leaving ${key}`;
}

/** The arguments that the engine shows as the cause of a replacement; none if there is no replacement. */
function replacesOf(kind: Kind, { action, changed, id: held }: Member, news: Properties): string[] {
  if (action.do === "look for") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  const adopts = adoptedBy(news);
  return adopts !== undefined && adopts !== held ? [...changed, "existingId"] : [...changed];
}

/** Creates or adopts an object. @throws AdvertisingError, Incomplete if there is none, or that is not known. */
export const createSingle: Calls<Kind>["create"] = async (kind, runtime, inputs) => {
  const { run, account, now } = runtime;
  const values = argumentsIn(inputs);
  const secret = secretIn(runtime, inputs);
  const subject = refIn(kind.name, inputs);
  const recorded = account === "" ? {} : { [ACCOUNT]: account };
  const { member, former, leaves } = decidedFor(kind, runtime, subject.key);
  const leftFor = (by?: string) => writeLeftLive(leftAfter(leaves, by, now()));
  const outcome = await carryOut(kind, runtime, {
    subject,
    action: actionOfCreate(values, member),
    values,
    secret,
    held: member === undefined ? notedBefore(kind, runtime, subject) : member.id,
    olds: {},
    mark: markIn(inputs, runtime),
    unresolved: member?.unresolved,
    formerly: run.briefingOf(subject.key).formerly,
  });
  const id = idOrError(kind, { ...values, ...recorded, ...leftFor(), [PROVIDER]: inputs[PROVIDER] }, outcome);
  if (former !== undefined && former.id !== id) run.holders.release(kind.name, former.id, subject.key);
  if (outcome.kind === "created" && outcome.isTakenOver) tellAll(runtime, [takenOver(subject, id, outcome)]);
  if (former !== undefined && !run.holders.isAdopted(kind.name, former.id) && run.beginOnce(leaving(subject.key))) {
    const mayBeAdopted = run.mayAdoptMore(kind); // more may be known by now than when it was decided
    tellAll(runtime, afterReplacement(kind, subject, { ...former, mayBeAdopted }, id));
  }
  if (outcome.kind === "created") runtime.journal(subject.identity).handOver(outcome.mark);
  const created = outcome.kind === "created" ? momentToKeep(kind, runtime) : undefined;
  const kept = withoutUndefined({ [CREATED]: created });
  const outs = { ...values, ...recorded, ...kept, ...leftFor(id), [kind.idProperty]: exactId(id) };
  const shared = outcome.kind === "created" ? outcome.shared : undefined;
  if (shared === undefined) return { id, outs };
  throw new Incomplete(shared.message, { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } }, shared.code);
};

/**
 * What `diff` decided. If the engine has asked for the delete since (`deleteBeforeReplace`), the object is deleted, or was not and is listed
 * as left live.
 */
function decidedFor(kind: Kind, { run }: Runtime, key: string): Partial<Decided> {
  const decided = run.decided(key);
  if (decided?.former === undefined) return decided ?? {};
  const { member, former, leaves } = decided;
  const isGone = run.isGone(kind, former.id);
  const isDeleted = isGone || (former.isDeleted && !run.holders.wasSpared(kind.name, former.id));
  return {
    member,
    former: isGone ? undefined : { ...former, isDeleted },
    leaves: isDeleted ? { ...leaves, object: undefined } : leaves,
  };
}

/**
 * Updates an object. Without a known update this is called only for a resource that was saved with an error.
 * @returns its next properties.
 */
export const updateSingle: Calls<Kind>["update"] = async (kind, runtime, id, olds, news) => {
  const values = argumentsIn(news);
  const subject = refIn(kind.name, news);
  expectSettled(kind, recordIn(kind, olds, id), subject.urn);
  const { wasDeleting } = runtime.run.checked(subject.key);
  const circumstances = circumstancesOf(kind, runtime, subject, olds, wasDeleting);
  const { action, id: held } = singleMember(kind, id, olds, news, circumstances);
  if (action.do === "update") {
    const secret = secretIn(runtime, news);
    expectSameAccount(olds[ACCOUNT], runtime.account, `${kind.name} ${id}`);
    const outcome = await carryOut(kind, runtime, {
      subject,
      action,
      values,
      secret,
      held,
      olds,
      created: createdIn(olds),
    });
    idOrError(kind, {}, outcome);
  }
  const { [ACCOUNT]: account, [CREATED]: created, [LEFT_LIVE]: left } = olds;
  const recorded = withoutUndefined({ [ACCOUNT]: account, [CREATED]: created, [LEFT_LIVE]: left });
  return { ...values, ...recorded, [kind.idProperty]: exactId(id) };
};

/**
 * Called only if `retainOnDelete` was switched off. Without a known delete that happened where this package can't see it (a transformation),
 * or in an earlier version: an error would then keep a replaced object in the state for ever.
 */
export const deleteSingle: Calls<Kind>["delete"] = async (kind, runtime, id, properties) => {
  if (!isReadableId(id)) return; // unresolved, so that the object to delete is not known
  // Without its name, because the engine does not say whether that is secret.
  const label = `${kind.name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label, "delete");
  const becomes = await whenRemoved(kind, runtime, id, properties);
  if (becomes === "spared") tellAll(runtime, [spared(label)]);
  else if (becomes === "deleted") {
    await deleteObject(kind, runtime, { id, label, created: createdIn(properties) });
  } else {
    const can = abilitiesOf(kind, runtime.reading.settings);
    const sentence = `${staysLive(kind, `${label} left the state and`)}.`;
    tellAll(runtime, [notDeleted(can.delete, isOfKnownAccount(properties), sentence)]);
  }
};

async function carryOut(kind: Kind, runtime: Runtime, object: Omit<Managed, "key">): Promise<Outcome> {
  const key = "";
  return (await carryOutAll(kind, runtime, [{ ...object, key }])).get(key) as Outcome;
}

/** The names of the secret arguments, whose values are masked from now on. */
function secretIn({ secrets }: Runtime, inputs: Properties): ReadonlySet<string> {
  const names = secretArgumentsIn(inputs);
  for (const name of names) maskSecretsIn(inputs[name], secrets);
  return names;
}
