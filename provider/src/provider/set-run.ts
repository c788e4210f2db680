/**
 * Carries out what was planned for the members of a set: all at once, within the client's limits, each with an outcome of its
 * own.
 */

import { AdvertisingError, DefectError, NotSentError, OutcomeUnknownError, RefusedError } from "../base/index.js";
import type { Member } from "../decision/index.js";
import { fingerprintOfBody, type SetKind } from "../kinds/index.js";
import { memberMark, memberOf, type StoredSet } from "../state/index.js";
import { adoptExisting } from "./adopt.js";
import { noteLive } from "./announce.js";
import { type Create, createOnce } from "./create.js";
import { describeDefect } from "./failure.js";
import { expectNotUnresolvedElsewhere } from "./interrupted.js";
import type { Outcome } from "./outcome.js";
import type { Progress } from "./progress.js";
import type { Runtime } from "./runtime.js";
import { noteUnsettledMember, updateMember } from "./set-operations.js";
import type { SecretOf } from "./set-secrets.js";
import { isKnown, memberSubject, type Subject } from "./subject.js";

/**
 * Somebody has to look into the account for each unknown outcome: from so many on, where they are more than what was created,
 * the platform is in trouble and nothing more is begun.
 */
const MAX_UNRESOLVED = 16;

/** A set, and what was planned for it. */
export interface Planned {
  readonly subject: Subject;
  readonly stored: StoredSet;
  readonly members: readonly Member[];
  /** The secret arguments of each member. */
  readonly secret: SecretOf;
  /** From which the members' marks follow; none where they can't be searched for. */
  readonly mark: string | undefined;
}

/**
 * @returns the outcome of each member that was to be created or adopted.
 */
export async function carryOut(
  { member: kind }: SetKind,
  runtime: Runtime,
  { subject: set, stored, members, secret, mark }: Planned,
  progress: Progress,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const openBodies = new Map(
    members.flatMap(({ key, unresolved }) => (unresolved ? [[unresolved.fingerprint, key]] : [])),
  );
  const tally = { created: 0, unresolved: 0 };
  /** What an earlier run has left unresolved says nothing of the platform now. */
  const begun = new Set<string>();
  let trouble: string | undefined;

  const note = (key: string, outcome: Outcome) => {
    outcomes.set(key, outcome);
    progress.done();
    if (outcome.kind === "created") tally.created++;
    if (outcome.kind === "unresolved" && begun.has(key)) tally.unresolved++;
    if (tally.unresolved >= MAX_UNRESOLVED && tally.unresolved > tally.created) {
      trouble ??= `the outcomes of ${tally.unresolved} events before it are unknown`;
    }
    if (outcome.kind === "not-created" && !isAboutItself(outcome.error)) {
      trouble ??= `another event of this set met this: ${firstLine(outcome.error)}`;
    }
  };

  const create = async (member: Member) => {
    const { key, action, id, values, entry, unresolved } = member;
    const subject = memberSubject(set, key);
    if (unresolved !== undefined) runtime.learned.of(subject.key).settles = unresolved.mark;
    const wanted: Create = {
      values: action.do === "adopt" ? { ...values, existingId: entry.existingId } : values,
      subject,
      secret: secret(key),
      replaces: id,
      mark: mark === undefined ? undefined : memberMark(mark, key),
    };
    if (action.do === "look for") noteUnsettledMember(runtime, subject.key, member);
    const carriedOut = () => {
      if (action.do === "update") return updateMember(kind, runtime, set, stored, member);
      return action.do === "adopt" ? adoptExisting(kind, runtime, wanted) : send(wanted, key);
    };
    const outcome = await carriedOut().catch(asOutcome);
    if (outcome.kind === "created" || outcome.kind === "adopted") noteLive(kind, runtime, wanted, outcome.id);
    note(key, outcome);
  };

  const send = async (wanted: Create, key: string): Promise<Outcome> => {
    const { subject, values } = wanted;
    const fingerprint = fingerprintOfBody(kind, values);
    expectNotOpen(subject, key, fingerprint);
    if (isKnown(subject)) await expectNotUnresolvedElsewhere(runtime, subject, fingerprint);
    return runtime.track((mayBegin) =>
      createOnce(kind, runtime, wanted, () => {
        mayBegin();
        if (trouble !== undefined) throw new NotSentError(`${subject.label} was not sent, since ${trouble}`);
        begun.add(key);
      }),
    );
  };

  /** @throws OutcomeUnknownError the state holds a create of unknown outcome with this body, under another key. */
  const expectNotOpen = ({ label }: Subject, key: string, fingerprint: string) => {
    const other = openBodies.get(fingerprint);
    if (other === undefined || other === key) return;
    throw new OutcomeUnknownError(
      `${label} is not sent: ${memberOf("events", other)} was sent with the same arguments, and its outcome is unknown. ` +
        "Settle that first.",
      "",
    );
  };

  const due = members.filter(({ action }) => ["create", "replace", "adopt", "update", "look for"].includes(action.do));
  await Promise.all(due.map(create));
  return outcomes;
}

/** What failed before anything was sent. Not raised on purpose, it must not keep the others' outcomes from being told. */
function asOutcome(error: unknown): Outcome {
  const isOurs = error instanceof AdvertisingError;
  return { kind: "not-created", error: isOurs ? error : new DefectError(describeDefect(error)) };
}

/** Whether the failure says nothing about other members. */
function isAboutItself(error: AdvertisingError): boolean {
  return error instanceof RefusedError || error instanceof OutcomeUnknownError;
}

function firstLine({ message }: AdvertisingError): string {
  return message.split("\n", 1)[0] ?? "";
}
