/**
 * Turns a kind of resource into what the engine calls: check, diff, create, read, update, delete. The same for all resources.
 */
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { ArgumentsError, own, printable, SettingsError, UnsupportedError } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { exactId, isPlatformId, isReadableId, READABLE_ID, validate } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  ACCOUNT,
  DELETES,
  explain,
  IDENTITY,
  isOfEarlierVersion,
  LEFT_LIVE,
  MARK,
  PROVIDER,
  readDeclared,
  recordIn,
  SECRET_ARGUMENTS,
  writeLeftLive,
} from "../state/index.js";
import { adoptExisting } from "./adopt.js";
import {
  adoptedTwice,
  announceCreate,
  announceReplaced,
  announceReplacement,
  announceResource,
  noteHolder,
  noteLive,
} from "./announce.js";
import { type Create, createOnce } from "./create.js";
import { deleteLive, deletesReplaced } from "./delete.js";
import { changedProperties } from "./diff.js";
import { checkFailure, guard } from "./engine-call.js";
import { expectSameAccount } from "./expect-account.js";
import { forDisplay, forEngine, Incomplete, idOrError } from "./failure.js";
import {
  argumentsIn,
  hasValue,
  holdsUnknown,
  maskSecretsIn,
  type Properties,
  secretArgumentsOf,
  withoutUndefined,
} from "./inputs.js";
import { noteHeld } from "./interrupted.js";
import { withKeptOwners } from "./kept-owners.js";
import { leavingIn, leftAfter } from "./leaving.js";
import type { Outcome } from "./outcome.js";
import { argumentsOfLive, isReadable, refreshed } from "./read.js";
import type { Runtime } from "./runtime.js";
import { isKnown, subjectOf } from "./subject.js";
import { markIn, newTrace, noteUnsettled } from "./unsettled.js";
import { canUpdate, replacedBy, updateLive } from "./update.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(kind: Kind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const guarded = guard(runtime);

  const stopAtUnresolved = (properties: Properties) => {
    const record = recordIn(kind, properties);
    if (record !== undefined) throw new Incomplete(explain(kind.name, record));
  };

  const createAtMostOnce = async (create: Create): Promise<Outcome> => {
    const outcome = await runtime().track((mayBegin) => createOnce(kind, runtime(), create, mayBegin));
    if (outcome.kind === "created" && outcome.isTakenOver) {
      const { label } = create.subject;
      const sent = outcome.isUpdated === true ? "updated in place" : "nothing is sent";
      runtime().say(
        `${label} was created as ${outcome.id} by a run that was interrupted; it is taken over, and ${sent}.`,
      );
    }
    return outcome;
  };

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const declared = readDeclared(own(given, IDENTITY));
        const news = withKeptOwners(runtime(), declared, given);
        const isNew = Object.keys(olds).length === 0;
        runtime().run.hasChecked = true;
        const { settings, problems: settingProblems } = runtime().reading;
        const secret = secretArgumentsOf(news);
        const reading = { isUnknown: holdsUnknown, secret, arrivedUndefined: "is the output's name right?" };
        const { values, problems } = validate(news, kind.rules(settings), reading);
        const subject = subjectOf(kind.name, declared?.identity);
        const { existingId } = values;
        // What is replaced is checked once more, also where just the engine knows why.
        runtime().learned.of(subject.key).keeps = undefined;
        const wasSecret = secretArgumentsOf(olds);
        if (wasSecret.size > 0) runtime().learned.of(subject.key).wasSecret = wasSecret;
        if (own(olds, DELETES) === true) runtime().learned.of(subject.key).wasDeleting = true;
        if (declared?.deletes === true) runtime().learned.of(subject.key).deletes = true;
        if (hasValue(existingId) && !holdsUnknown(existingId)) runtime().adopting(kind).add(String(existingId));
        let twice: string | undefined;
        if (declared !== undefined && isKnown(subject)) {
          await announceResource(runtime(), declared, subject);
          const { formerly, replaceOnChanges } = declared;
          if (replaceOnChanges !== undefined) runtime().learned.of(subject.key).replacedOn = replaceOnChanges;
          if (isNew) {
            await announceCreate(kind, runtime(), subject, { values, fits: problems.length === 0, formerly });
          }
          if (hasValue(existingId) && !holdsUnknown(existingId)) {
            twice = adoptedTwice(kind, runtime(), subject, String(existingId));
          }
        }
        const failures = [
          ...(twice === undefined ? [] : [checkFailure(twice, ArgumentsError)]),
          ...settingProblems.map((problem) => checkFailure(describeSettingProblem(problem), SettingsError)),
          ...problems.map(({ property, reason }) => checkFailure(`${property} ${reason}`, ArgumentsError)),
        ];
        if (failures.length > 0) runtime().run.hasFailed = true;
        const hidden = {
          [IDENTITY]: declared?.identity ?? news[IDENTITY],
          [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
          [DELETES]: declared?.deletes,
          [ACCOUNT]: accountInInputs(olds, runtime().account, subject.label),
          [MARK]: own(olds, MARK) ?? (isNew && !hasValue(existingId) ? newTrace(kind, runtime()) : undefined),
        };
        return { inputs: withoutUndefined({ ...values, ...hidden }), failures };
      }, forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const subject = subjectOf(kind.name, own(news, IDENTITY));
        expectSameAccount(olds[ACCOUNT], runtime().account, subject.label);
        if (isPlatformId(id)) noteHolder(kind, runtime(), subject, id, olds, secretArgumentsOf(news));
        const left = isKnown(subject)
          ? await noteHeld(runtime(), subject, id, () => fingerprintOfBody(kind, olds))
          : [];
        const existingId = own(news, "existingId");
        const unresolved = recordIn(kind, olds, id, subject.key);
        const learned = runtime().learned.of(subject.key);
        const noteLeaving = () => {
          const secret = new Set([...secretArgumentsOf(news), ...(learned.wasSecret ?? [])]);
          runtime().objects.of(kind, id).isReplaced = true;
          if (!isKnown(subject)) return;
          learned.leaves = leavingIn(kind, id, olds, secret, deletesReplaced(kind, runtime(), subject.key));
        };
        // Naming the object settles it: a replacement that adopts, since only a replacement can change the id.
        if (unresolved !== undefined && hasValue(existingId)) {
          if (isKnown(subject)) {
            learned.settles = unresolved.mark;
            noteLeaving();
          }
          return { changes: true, replaces: ["existingId"], deleteBeforeReplace: false };
        }
        if (unresolved !== undefined && isKnown(subject) && noteUnsettled(kind, runtime(), subject, unresolved)) {
          noteLeaving();
          return { changes: true, replaces: [kind.nameProperty], deleteBeforeReplace: false };
        }
        stopAtUnresolved(olds);
        const changed = changedProperties(kind, id, olds, news);
        const replaces = [...replacedBy(kind, runtime(), subject.key, changed)];
        // A replacement asks for what is left of it: its create says so.
        if (replaces.length === 0) for (const words of left) runtime().say(words);
        else {
          announceReplacement(kind, runtime(), subject, id, existingId);
          noteLeaving();
        }
        if (isKnown(subject) && replaces.length === 0) learned.keeps = id;
        return { changes: changed.length > 0, replaces, deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const values = argumentsIn(inputs);
        const secret = secretArgumentsOf(inputs);
        for (const name of secret) maskSecretsIn(values[name], runtime().secrets);
        const { account } = runtime();
        const subject = subjectOf(kind.name, inputs[IDENTITY], String(values[kind.nameProperty]));
        const recorded = account === "" ? {} : { [ACCOUNT]: account };
        const mark = markIn(inputs, runtime());
        const learned = runtime().learned.of(subject.key);
        const create: Create = { values, subject, secret, replaces: learned.replaces, mark };
        const leftFor = (by?: string) => writeLeftLive(leftAfter(learned.leaves, by, runtime().now()));
        const saved = { ...values, ...recorded, ...leftFor(), [PROVIDER]: inputs[PROVIDER] };
        const outcome = hasValue(values.existingId)
          ? await adoptExisting(kind, runtime(), create)
          : await createAtMostOnce(create);
        const id = idOrError(kind, saved, outcome);
        noteLive(kind, runtime(), create, id);
        announceReplaced(kind, runtime(), subject, id);
        if (outcome.kind === "created" && isKnown(subject)) runtime().journal(subject.identity).handOver(outcome.mark);
        return { id, outs: { ...values, ...recorded, ...leftFor(id), [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        expectSameAccount(properties[ACCOUNT], runtime().account, `${kind.name} ${id}`);
        stopAtUnresolved(properties);
        if (!isReadableId(id)) throw new UnsupportedError(`Expected ${READABLE_ID}; got ${printable(id)}.`);
        const isRefresh = properties[kind.nameProperty] !== undefined;
        if (isReadable(kind, runtime()) && (isRefresh || runtime().reading.settings.password !== undefined)) {
          if (!isRefresh) return { id, props: { ...properties, ...(await argumentsOfLive(kind, runtime(), id)) } };
          const props = await refreshed(kind, runtime(), id, properties);
          return props === undefined ? GONE : { id, props };
        }
        if (isRefresh) runtime().say(nothingCompared(kind.create.noun));
        // The platform can't be read: the state is given back as it is, and for .get() the id is what is known.
        return { id, props: { ...properties, [kind.idProperty]: exactId(id) } };
      }, forDisplay);
    },

    /** Without a known update reached only for a resource that was saved with an error. */
    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        stopAtUnresolved(olds);
        const values = argumentsIn(news);
        const secret = secretArgumentsOf(news);
        const changed = changedProperties(kind, id, olds, news);
        if (changed.length > 0 && canUpdate(kind, runtime())) {
          for (const name of secret) maskSecretsIn(values[name], runtime().secrets);
          expectSameAccount(olds[ACCOUNT], runtime().account, `${kind.name} ${id}`);
          const subject = subjectOf(kind.name, own(news, IDENTITY), id);
          await updateLive(kind, runtime(), { id, label: subject.label }, olds, values, changed);
          noteLive(kind, runtime(), { values, subject, secret }, id);
        }
        const recorded = withoutUndefined({ [ACCOUNT]: olds[ACCOUNT], [LEFT_LIVE]: olds[LEFT_LIVE] });
        return { outs: { ...values, ...recorded, [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => deleteLive(kind, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/**
 * What the inputs hold of the account: nothing for resources that this version created, whose outputs hold it. One of an
 * earlier version takes on the current account once.
 */
function accountInInputs(olds: Properties, current: string, label: string): string | undefined {
  const recorded = own(olds, ACCOUNT);
  expectSameAccount(recorded, current, label);
  if (typeof recorded === "string") return recorded;
  const identity = own(olds, IDENTITY);
  return typeof identity === "string" && isOfEarlierVersion(identity) && current !== "" ? current : undefined;
}

/** By which the engine knows that a resource does not exist any more. */
const GONE: dynamic.ReadResult = { id: "", props: {} };

/** @param noun of the objects. */
const nothingCompared = (noun: string) =>
  `A refresh compares nothing of any ${noun}: the platform has no known way to read one, so the state stays as it is. ` +
  "(The configuration of a refresh is that of the last `pulumi up`, unless it has --run-program.)";
