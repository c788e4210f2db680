/**
 * A set of objects as the engine calls it: one resource, which is updated member by member and never replaced.
 */
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { ArgumentsError, own, SettingsError, withCode } from "../base/index.js";
import { isChange, type Member, membersOf } from "../decision/index.js";
import type { SetKind } from "../kinds/index.js";
import { exactId, validate } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  ACCOUNT,
  DELETES,
  eventIn,
  IDENTITY,
  MARK,
  memberOf,
  PROVIDER,
  readDeclared,
  readDeclaredSet,
  readStoredSet,
  SECRET_ARGUMENTS,
  type StoredSet,
  UNKNOWN,
  writeStoredSet,
} from "../state/index.js";
import { announceResource, noteHolder } from "./announce.js";
import { checkFailure, guard } from "./engine-call.js";
import type { Severity } from "./engine-log.js";
import { expectSameAccount } from "./expect-account.js";
import { forDisplay, forEngine, Incomplete } from "./failure.js";
import { argumentsIn, holdsUnknown, type Properties, secretArgumentsOf, withoutUndefined } from "./inputs.js";
import { attemptKeys, noteHeld } from "./interrupted.js";
import { withKeptOwners } from "./kept-owners.js";
import type { Outcome } from "./outcome.js";
import { Progress } from "./progress.js";
import type { Runtime } from "./runtime.js";
import { announceNewMembers, membersAdoptedTwice, tellPlan } from "./set-announce.js";
import { deleteAll, deleteSet, heldBack, stillToDelete, toDelete } from "./set-delete.js";
import { leftBySet } from "./set-left-live.js";
import { traceOfSet } from "./set-marks.js";
import { circumstancesOf, refreshedSet } from "./set-operations.js";
import { setAfter } from "./set-plan.js";
import { carryOut } from "./set-run.js";
import { maskSecretMembers, type SecretOf, secretOfMembers } from "./set-secrets.js";
import { troubleInWords } from "./set-trouble.js";
import { besidesInWords, deletedInWords, leftLiveInWords, planInWords, takenOverInWords } from "./set-words.js";
import { isKnown, memberSubject, type Subject, subjectOf } from "./subject.js";
import { markIn } from "./unsettled.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createSetProvider(set: SetKind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const kind = set.member;
  const guarded = guard(runtime);

  const tell = (severity: Severity, { at }: Subject, text: string | undefined) => {
    if (text !== undefined) runtime().tellAt(severity, at, text);
  };

  /** Without what an adoption elsewhere in the program has settled. */
  const unsettledOf = ({ key: setKey }: Subject, stored: StoredSet): StoredSet => {
    const left = [...stored.unresolved].filter(([key]) => !runtime().settledElsewhere.has(memberOf(setKey, key)));
    return { ...stored, unresolved: new Map(left) };
  };

  /** @param isOfAccount whether the state says that its objects are this account's. */
  const apply = async (
    id: string,
    before: StoredSet,
    inputs: Properties,
    isOfAccount: boolean,
  ): Promise<Properties> => {
    const values = argumentsIn(inputs);
    const paths = secretArgumentsOf(inputs);
    maskSecretMembers(values, paths, runtime().secrets);
    const subject = subjectOf(set.name, inputs[IDENTITY]);
    const declared = readDeclaredSet(values);
    const stored = unsettledOf(subject, before);
    const circumstances = circumstancesOf(kind, runtime(), subject, inputs[DELETES] === true && isOfAccount);
    const members = membersOf(kind, stored, declared, circumstances);
    const due =
      members.filter(({ action }) => !["keep", "let go", "wait"].includes(action.do)).length +
      stillToDelete(stored.left, circumstances).length;
    const progress = new Progress(due, runtime().clock, (text) =>
      runtime().tellAt("info", subject.at, `${subject.label}: ${text}`),
    );
    const secret = secretOfMembers(kind, paths);
    const mark = markIn(inputs, runtime());
    const outcomes = await carryOut(set, runtime(), { subject, stored, members, secret, mark }, progress);
    const wanted = toDelete(members, outcomes, stored.left, circumstances);
    const isWell = troubleInWords(kind, subject, members, outcomes, new Map()) === undefined;
    const deletions = isWell ? await deleteAll(kind, runtime(), subject, wanted, progress) : heldBack(wanted);
    const left = leftBySet(kind, stored, paths, members, outcomes, deletions, runtime().now());
    const after = { ...setAfter(kind, stored, declared, paths, members, outcomes, deletions.deleted), left };
    const outs = writeStoredSet(after, exactId, runtime().account);

    tell("warn", subject, takenOverInWords(outcomes, subject));
    tell("warn", subject, leftLiveInWords(kind, members, outcomes, runtime().adopting(kind), deletions));
    tell("info", subject, deletedInWords(kind, deletions));
    const trouble = troubleInWords(kind, subject, members, outcomes, after.eventIds, deletions);
    if (trouble !== undefined) {
      const isNothing = stored.eventIds.size + after.eventIds.size + after.unresolved.size === 0;
      const saved = { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } };
      handOver(subject, outcomes, true);
      // What has no member is not saved: the next run creates it.
      throw new Incomplete(trouble.text, isNothing ? undefined : saved, trouble.code);
    }
    handOver(subject, outcomes, false);
    return outs;
  };

  /** The engine is handed what was created, perhaps beside an error. */
  const handOver = (subject: Subject, outcomes: ReadonlyMap<string, Outcome>, isBesideError: boolean) => {
    if (!isKnown(subject)) return;
    const journal = runtime().journal(subject.identity);
    for (const outcome of outcomes.values()) {
      if (outcome.kind !== "created") continue;
      if (isBesideError) journal.handOverBesideError(outcome.mark);
      else journal.handOver(outcome.mark);
    }
  };

  /**
   * Tells the run and the journal what the state holds.
   * @returns in words, what the journal says besides of what stays as it is.
   */
  const noteStored = async (subject: Subject, stored: StoredSet, members: readonly Member[], secret: SecretOf) => {
    const besides: string[] = [];
    const wasSecret = secretOfMembers(kind, stored.secret);
    for (const { key, action, id, fingerprint } of members) {
      if (id === undefined) continue;
      const member = memberSubject(subject, key);
      // Another resource may take on what this set lets go of.
      if (action.do !== "let go" && action.do !== "delete" && action.do !== "adopt") {
        const values = eventIn(stored, stored.events.get(key) ?? {});
        noteHolder(kind, runtime(), member, id, values, new Set([...secret(key), ...wasSecret(key)]));
      }
      if (!isKnown(member)) continue;
      const words = await noteHeld(runtime(), member, id, () => fingerprint ?? "");
      // What is created or adopted asks for it, and what is unresolved is told by itself.
      if (action.do === "keep" || action.do === "let go" || action.do === "delete") besides.push(...words);
    }
    return besides;
  };

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const declaration = readDeclared(own(given, IDENTITY));
        const news = withKeptOwners(runtime(), declaration, given);
        const subject = subjectOf(set.name, declaration?.identity);
        runtime().run.hasChecked = true;
        const { settings, problems: settingProblems } = runtime().reading;
        const reading = {
          isUnknown: holdsUnknown,
          secret: secretArgumentsOf(news),
          arrivedUndefined: "is the output's name right?",
        };
        const { values, problems } = validate(news, set.rules(settings), reading);
        if (values.defaults !== UNKNOWN) {
          values.defaults = { ...set.defaultsIn(settings), ...(values.defaults as Properties | undefined) };
        }
        const declared = readDeclaredSet(values);
        const twice: string[] = [];
        if (declaration !== undefined && isKnown(subject)) {
          const keys = [...(declared.events?.keys() ?? [])];
          await announceResource(
            runtime(),
            declaration,
            subject,
            keys.map((key) => memberOf(subject.key, key)),
          );
          const learned = runtime().learned.of(subject.key);
          learned.deletes = declaration.deletes === true;
          learned.adoptsUnknown = declaration.adoptsUnknown === true;
          if (declaration.replaceOnChanges !== undefined) learned.replacedOn = declaration.replaceOnChanges;
          const { adopted = "" } = declaration;
          if (adopted !== "" && runtime().isFirst(`adopted ${adopted}`))
            for (const id of adopted.split(" ")) runtime().adopting(kind).add(id);
          for (const key of declaration.settled ?? []) runtime().settledElsewhere.add(key);
          for (const [key, formerly] of Object.entries(declaration.membersFormerly ?? {})) {
            runtime().learned.of(key).formerly = formerly;
          }
          twice.push(...membersAdoptedTwice(kind, runtime(), subject, declared));
          if (Object.keys(olds).length === 0 && problems.length === 0) {
            const members = membersOf(kind, readStoredSet({}), declared);
            const unsent = await announceNewMembers(kind, runtime(), subject, members, readStoredSet({}));
            tellPlan(runtime(), subject, planInWords(kind, members, unsent, runtime().adopting(kind)));
          }
        }
        const failures = [
          ...twice.map((text) => checkFailure(text, ArgumentsError)),
          ...settingProblems.map((problem) => checkFailure(describeSettingProblem(problem), SettingsError)),
          ...problems.map(({ property, reason }) => checkFailure(`${property} ${reason}`, ArgumentsError)),
        ];
        if (failures.length > 0) runtime().run.hasFailed = true;
        const hidden = {
          [IDENTITY]: declaration?.identity ?? news[IDENTITY],
          [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
          [DELETES]: declaration?.deletes,
          [MARK]: traceOfSet(kind, runtime(), olds, withoutUndefined(values)),
        };
        return { inputs: withoutUndefined({ ...values, ...hidden }), failures };
      }, forDisplay);
    },

    async diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const subject = subjectOf(set.name, own(news, IDENTITY));
        expectSameAccount(olds[ACCOUNT], runtime().account, subject.label);
        const stored = unsettledOf(subject, readStoredSet(olds));
        const declared = readDeclaredSet(news);
        const deletes = news[DELETES] === true && typeof olds[ACCOUNT] === "string";
        const circumstances = circumstancesOf(kind, runtime(), subject, deletes);
        const members = membersOf(kind, stored, declared, circumstances);
        const secret = secretOfMembers(kind, secretArgumentsOf(news));
        // What waits is the set's until somebody settles it, declared or not.
        if (isKnown(subject)) {
          const waiting = await attemptKeys(runtime(), subject, [...stored.unresolved.values()]);
          runtime().inventory(subject.identity).noteDeclared(subject.key, waiting);
        }
        tell("warn", subject, besidesInWords(await noteStored(subject, stored, members, secret)));
        const unsent = isKnown(subject)
          ? await announceNewMembers(kind, runtime(), subject, members, stored)
          : undefined;
        const adopted = runtime().adopting(kind);
        tellPlan(runtime(), subject, planInWords(kind, members, unsent, adopted, circumstances, stored.left));
        // An `up` fails with it.
        const trouble = troubleInWords(kind, subject, members, new Map(), stored.eventIds);
        if (trouble !== undefined && runtime().run.isUp !== true) {
          tell("warn", subject, withCode(trouble.text, trouble.code));
        }
        const changes = isChange(declared, members) || stillToDelete(stored.left, circumstances).length > 0;
        return { changes, replaces: [], deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const id = `set-${runtime().newMark()}`;
        return { id, outs: await apply(id, readStoredSet({}), inputs, false) };
      }, forEngine);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        const isOfAccount = typeof olds[ACCOUNT] === "string";
        return { outs: await apply(id, readStoredSet(olds), news, isOfAccount) };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        expectSameAccount(properties[ACCOUNT], runtime().account, `${set.name} ${id}`);
        const stored = readStoredSet(properties);
        const now = await refreshedSet(kind, runtime(), stored);
        if (now === stored) return { id, props: properties };
        const { earlier: _, ...others } = properties; // written where there are any
        return { id, props: { ...others, ...writeStoredSet(now, exactId, String(properties[ACCOUNT] ?? "")) } };
      }, forDisplay);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => deleteSet(set, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}
