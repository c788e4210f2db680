/**
 * The face that Pulumi's dynamic providers see of a single resource: check, diff, create, read, update, delete. It turns each call into facts, asks
 * `decision/` and `carry-out.ts`, and turns what they answer into what the engine understands. The order of the calls is in `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { own, printable, UnsupportedError } from "../base/index.js";
import {
  type Action,
  abilitiesOf,
  type Circumstances,
  formerIfReplaced,
  hasValue,
  holdsUnknown,
  type Member,
  singleMember,
} from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { exactId, isReadableId, READABLE_ID, validate } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  type CreateRecord,
  DELETES,
  explain,
  IDENTITY,
  isUnresolved,
  LEFT_LIVE,
  MARK,
  PROVIDER,
  type Ref,
  recordIn,
  SECRET_ARGUMENTS,
  writeLeftLive,
} from "../state/index.js";
import { lookBefore, reconcileHeld, tellUnclaimed } from "./before.js";
import { carryOutAll, type Managed } from "./carry-out.js";
import {
  accountInInputs,
  checkResult,
  expectSameAccount,
  forDisplay,
  forEngine,
  guard,
  Incomplete,
  idOrError,
  readingOf,
} from "./failure.js";
import {
  expectNotAdopted,
  isAdopted,
  isHeldElsewhere,
  isSpared,
  learnHolders,
  noteAdoptedSomewhere,
  noteAdopts,
  notedBefore,
  noteHolds,
  rivalOf,
} from "./holding.js";
import {
  argumentsIn,
  maskSecretsIn,
  type Properties,
  refIn,
  secretArgumentsOf,
  toldIn,
  withoutUndefined,
} from "./inputs.js";
import { argumentsOfLive, createdIn, deleteObject, momentToKeep, refreshed } from "./optional.js";
import { leavingIn, leftAfter, type Outcome } from "./outcome.js";
import { markIn, newMarkInput } from "./search.js";
import type { Runtime } from "./services.js";
import {
  adoptedTwice,
  afterReplacement,
  beforeCreate,
  beforeReplacement,
  deletedLabel,
  notDeleted,
  nothingCompared,
  spared,
  takenOver,
  tellAll,
  toBeLookedFor,
} from "./tell.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(kind: Kind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const guarded = guard(runtime);

  const stopAt = (record: CreateRecord | undefined) => {
    if (record !== undefined) throw new Incomplete(explain(kind.name, record));
  };

  /** What decides besides the state and the program. @param olds what the state holds. */
  const circumstancesOf = ({ key }: Ref, olds: Properties): Circumstances => {
    const { reading, run } = runtime();
    const isDeleting = run.checked(key).wasDeleting && typeof olds[ACCOUNT] === "string";
    return {
      can: abilitiesOf(kind, reading.settings),
      replaceOnChanges: run.told(key).replaceOnChanges ?? [],
      deletes: (id) => isDeleting && !isHeldElsewhere(kind, runtime(), id, key),
    };
  };

  const carryOut = async (object: Managed): Promise<Outcome> =>
    (await carryOutAll(kind, runtime(), [object])).get("") as Outcome;

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const { run, reading, account } = runtime();
        const { declared, subject } = toldIn(kind.name, given);
        const news = run.withKeptOwners(declared, given);
        const isNew = Object.keys(olds).length === 0;
        run.hasChecked = true;
        const { values, problems } = validate(news, kind.rules(reading.settings), readingOf(news));
        const { existingId } = values;
        const adopts = hasValue(existingId) && !holdsUnknown(existingId) ? String(existingId) : undefined;
        const twice: string[] = [];
        const wasDeleting = own(olds, DELETES) === true;
        run.noteChecked(subject.key, { declared, wasSecret: secretArgumentsOf(olds), wasDeleting }, isNew);
        noteAdoptedSomewhere(kind, runtime(), declared);
        if (adopts !== undefined) noteAdopts(kind, runtime(), subject, adopts);
        await tellUnclaimed(runtime(), subject.identity);
        if (isNew) {
          const { formerly } = declared;
          const before = await lookBefore(kind, runtime(), subject, values, {
            fits: problems.length === 0,
            formerly,
          });
          tellAll(runtime(), beforeCreate(kind, subject, before));
        }
        if (adopts !== undefined) {
          await learnHolders(runtime());
          const rival = rivalOf(kind, runtime(), subject, adopts);
          if (rival !== undefined) twice.push(adoptedTwice(adopts, rival));
        }
        const hidden = {
          [IDENTITY]: declared.identity,
          [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
          [DELETES]: declared.deletes,
          [ACCOUNT]: accountInInputs(olds, account, subject.label),
          [MARK]: own(olds, MARK) ?? (isNew && !hasValue(existingId) ? newMarkInput(kind, runtime()) : undefined),
        };
        return checkResult(runtime(), { ...values, ...hidden }, problems, twice);
      }, forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const { run, account } = runtime();
        const subject = refIn(kind.name, news);
        const { key } = subject;
        expectSameAccount(olds[ACCOUNT], account, subject.label);
        const circumstances = circumstancesOf(subject, olds);
        const secret = new Set([...secretArgumentsOf(news), ...run.checked(key).wasSecret]);
        const decideNow = () => {
          const member = singleMember(kind, id, olds, news, circumstances);
          const former = formerIfReplaced(member.id, circumstances);
          run.noteDecided(key, {
            member,
            former,
            leaves: leavingIn(kind, id, olds, secret, former?.isDeleted === true),
          });
          return member;
        };
        let member = decideNow();
        const { action, id: held } = member;
        if (member.former !== undefined) run.holders.release(kind.name, member.former.id, key);
        else if (held !== undefined) noteHolds(kind, runtime(), subject, held, { values: olds, secret });
        if (run.checked(key).wasDeleting) {
          // Who else has what would be deleted is asked once that is known.
          await learnHolders(runtime());
          member = decideNow();
        }
        const { former } = member;
        const left = await reconcileHeld(runtime(), subject, id, () => fingerprintOfBody(kind, olds));
        if (action.do === "wait") stopAt(action.record);
        if (former === undefined && held !== undefined) expectNotAdopted(kind, runtime(), subject, held);
        const replaces = replacesOf(member, news);
        if (run.isUp !== true) {
          if (action.do === "look for") tellAll(runtime(), [toBeLookedFor(subject, action.record)]);
          const adopts = hasValue(news.existingId) ? String(news.existingId) : undefined;
          if (former !== undefined && !isAdopted(kind, runtime(), former.id)) {
            tellAll(runtime(), [beforeReplacement(kind, subject, former, adopts)]);
          }
        }
        // A replacement asks for what is left of it: its create says so.
        if (replaces.length === 0) for (const words of left) runtime().say(words);
        return { changes: action.do !== "keep", replaces, deleteBeforeReplace: false };
      }, forDisplay);

      /** The arguments that the engine shows as the cause of a replacement; none where there is none. */
      function replacesOf({ action, changed, id: held }: Member, { existingId }: Properties): string[] {
        if (action.do === "look for") return [kind.nameProperty];
        if (action.do !== "replace" && action.do !== "adopt") return [];
        const isOther = hasValue(existingId) && String(existingId) !== held;
        return isOther ? [...changed, "existingId"] : [...changed];
      }
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const { run, account, secrets, now } = runtime();
        const values = argumentsIn(inputs);
        const secret = secretArgumentsOf(inputs);
        for (const name of secret) maskSecretsIn(values[name], secrets);
        const subject = refIn(kind.name, inputs);
        const recorded = account === "" ? {} : { [ACCOUNT]: account };
        const decided = run.decided(subject.key);
        const leftFor = (by?: string) => writeLeftLive(leftAfter(decided?.leaves, by, now()));
        const saved = { ...values, ...recorded, ...leftFor(), [PROVIDER]: inputs[PROVIDER] };
        const planned = decided?.member.action;
        const action = (): Action => {
          if (hasValue(values.existingId)) return { do: "adopt", id: String(values.existingId) };
          if (planned?.do === "look for") return planned;
          return decided === undefined ? { do: "create" } : { do: "replace", perhaps: false };
        };
        const outcome = await carryOut({
          key: "",
          subject,
          action: action(),
          values,
          secret,
          held: decided === undefined ? notedBefore(kind, runtime(), subject) : decided.member.id,
          olds: {},
          mark: markIn(inputs, runtime()),
          unresolved: decided?.member.unresolved,
          formerly: run.told(subject.key).formerly,
        });
        const id = idOrError(kind, saved, outcome);
        const former = decided?.former;
        if (former !== undefined && former.id !== id) run.holders.release(kind.name, former.id, subject.key);
        tellAll(runtime(), [
          ...(outcome.kind === "created" && outcome.isTakenOver
            ? [takenOver(subject, id, outcome.isUpdated === true)]
            : []),
          ...(former === undefined || isAdopted(kind, runtime(), former.id)
            ? []
            : afterReplacement(kind, subject, former, id)),
        ]);
        if (outcome.kind === "created") runtime().journal(subject.identity).handOver(outcome.mark);
        const created = outcome.kind === "created" ? momentToKeep(kind, runtime()) : undefined;
        const kept = withoutUndefined({ [CREATED]: created });
        return { id, outs: { ...values, ...recorded, ...kept, ...leftFor(id), [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        const { settings } = runtime().reading;
        expectSameAccount(properties[ACCOUNT], runtime().account, `${kind.name} ${id}`);
        stopAt(recordIn(kind, properties, id));
        if (!isReadableId(id)) throw new UnsupportedError(`Expected ${READABLE_ID}; got ${printable(id)}.`);
        const isRefresh = properties[kind.nameProperty] !== undefined;
        if (abilitiesOf(kind, settings).read && (isRefresh || settings.password !== undefined)) {
          if (!isRefresh) return { id, props: { ...properties, ...(await argumentsOfLive(kind, runtime(), id)) } };
          const props = await refreshed(kind, runtime(), id, properties, createdIn(properties));
          return props === undefined ? GONE : { id, props };
        }
        if (isRefresh) tellAll(runtime(), [nothingCompared(kind.create.noun)]);
        // The platform can't be read: the state is given back as it is, and for .get() the id is what is known.
        return { id, props: { ...properties, [kind.idProperty]: exactId(id) } };
      }, forDisplay);
    },

    /** Without a known update reached only for a resource that was saved with an error. */
    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        stopAt(recordIn(kind, olds, id));
        const values = argumentsIn(news);
        const subject = refIn(kind.name, news);
        const { action, id: held } = singleMember(kind, id, olds, news, circumstancesOf(subject, olds));
        if (action.do === "update") {
          const secret = secretArgumentsOf(news);
          for (const name of secret) maskSecretsIn(values[name], runtime().secrets);
          expectSameAccount(olds[ACCOUNT], runtime().account, `${kind.name} ${id}`);
          idOrError(
            kind,
            {},
            await carryOut({ key: "", subject, action, values, secret, held, olds, created: createdIn(olds) }),
          );
        }
        const recorded = withoutUndefined({
          [ACCOUNT]: olds[ACCOUNT],
          [CREATED]: olds[CREATED],
          [LEFT_LIVE]: olds[LEFT_LIVE],
        });
        return { outs: { ...values, ...recorded, [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    /**
     * Reached only where `retainOnDelete` was turned off. Where there is no known way to delete, that is where this package can't
     * see it (a transformation), or by an earlier version: to fail would leave what was replaced in the state for ever.
     */
    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(async () => {
        if (!isReadableId(id)) return; // unresolved: nobody knows what there is to delete
        const recorded = properties[ACCOUNT];
        const label = deletedLabel(kind, id, properties, !isUnresolved(properties));
        // An id of another account would be somebody else's object.
        expectSameAccount(recorded, runtime().account, label);
        const can = abilitiesOf(kind, runtime().reading.settings);
        if (await isSpared(kind, runtime(), id)) tellAll(runtime(), [spared(label)]);
        else if (can.delete && typeof recorded === "string") {
          await deleteObject(kind, runtime(), { id, label: `${kind.name} ${id}`, created: createdIn(properties) });
        } else {
          const sentence = `${label} left the state and ${kind.afterlife}; deactivate it there by hand.`;
          tellAll(runtime(), [notDeleted(can.delete, sentence)]);
        }
      }, forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** By which the engine knows that a resource does not exist any more. */
const GONE: dynamic.ReadResult = { id: "", props: {} };
