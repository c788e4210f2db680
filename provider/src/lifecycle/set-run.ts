/**
 * Carries out what was planned for the members of a set: all at once, within the client's limits, each with an outcome of its
 * own.
 */
import { requestFields } from "../api/request.js";
import { type AdvertisingError, NotSentError, RefusedError } from "../errors.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { SetKind } from "../kinds/kind.js";
import { factsIn } from "../state/unresolved.js";
import { noteLive } from "./announce.js";
import { adoptExisting, type Create, createOnce } from "./create.js";
import { expectNotUnresolvedElsewhere } from "./leftovers.js";
import type { Outcome } from "./outcome.js";
import type { Progress } from "./progress.js";
import type { Runtime } from "./runtime.js";
import type { Member } from "./set-plan.js";
import { isKnown, memberSubject, type Subject } from "./subject.js";

/**
 * Somebody has to look into the account for each unknown outcome: from so many on, where they are more than what was created,
 * the platform is in trouble and nothing more is begun.
 */
const MAX_UNRESOLVED = 16;

/**
 * @param secret the secret arguments of each member.
 * @returns the outcome of each member that was to be created or adopted.
 */
export async function carryOut(
  { member: kind }: SetKind,
  runtime: Runtime,
  set: Subject,
  members: readonly Member[],
  secret: (key: string) => ReadonlySet<string>,
  progress: Progress,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const tally = { created: 0, unresolved: 0 };
  let trouble: string | undefined;

  const note = (key: string, outcome: Outcome) => {
    outcomes.set(key, outcome);
    progress.done();
    if (outcome.kind === "created") tally.created++;
    if (outcome.kind === "unresolved" && ++tally.unresolved >= MAX_UNRESOLVED && tally.unresolved > tally.created) {
      trouble ??= `the outcomes of ${tally.unresolved} events before it are unknown`;
    }
    if (outcome.kind === "not-created" && !isAboutItself(outcome.error)) {
      trouble ??= `another event of this set met this: ${firstLine(outcome.error)}`;
    }
  };

  const create = async ({ key, action, id, values, entry, unresolved }: Member) => {
    const subject = memberSubject(set, key);
    if (unresolved !== undefined) runtime.settling.set(subject.key, unresolved.mark);
    const wanted: Create = {
      values: action === "adopt" ? { ...values, existingId: entry.existingId } : values,
      subject,
      secret: secret(key),
      replaces: id,
    };
    const outcome = action === "adopt" ? await adoptExisting(runtime, wanted) : await send(wanted);
    if (outcome.kind === "created" || outcome.kind === "adopted") noteLive(kind, runtime, wanted, outcome.id);
    note(key, outcome.kind === "unresolved" ? withSought(outcome, wanted) : outcome);
  };

  const send = async (wanted: Create): Promise<Outcome> => {
    const { subject, values } = wanted;
    try {
      if (isKnown(subject)) {
        await expectNotUnresolvedElsewhere(runtime, subject, fingerprintOf(requestFields(kind, values)));
      }
    } catch (error) {
      return { kind: "not-created", error: error as AdvertisingError };
    }
    return runtime.track((mayBegin) =>
      createOnce(kind, runtime, wanted, () => {
        mayBegin();
        if (trouble !== undefined) throw new NotSentError(`${subject.label} was not sent, since ${trouble}`);
      }),
    );
  };

  /** What to look for, since the entry may be another one by the time that somebody looks. */
  const withSought = (outcome: Outcome & { kind: "unresolved" }, { values, secret: hidden }: Create): Outcome => {
    const name = values[kind.nameProperty];
    return {
      ...outcome,
      unresolved: {
        ...(typeof name === "string" && !hidden.has(kind.nameProperty) ? { name } : {}),
        facts: factsIn(kind, values, hidden),
        ...outcome.unresolved,
      },
    };
  };

  const due = members.filter(({ action }) =>
    ["create", "create anew", "perhaps create anew", "adopt"].includes(action),
  );
  await Promise.all(due.map(create));
  return outcomes;
}

/** Whether the failure says nothing about other members. */
function isAboutItself(error: AdvertisingError): boolean {
  return error instanceof RefusedError || error.code === "ADVERTISING_OUTCOME_UNKNOWN";
}

function firstLine({ message }: AdvertisingError): string {
  return message.split("\n", 1)[0] ?? "";
}
