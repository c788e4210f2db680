/**
 * Turns a kind of resource into what the engine calls: check, diff, create, read, update, delete. The same for all resources.
 */
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { describeSettingProblem } from "../config/settings.js";
import { ArgumentsError, SettingsError, UnsupportedError, withCode } from "../errors.js";
import { type Kind, typeTokenOf } from "../kinds/kind.js";
import { own } from "../record.js";
import { readDeclared } from "../state/declared.js";
import { isOfEarlierVersion, journalKeyOf, labelOf, nameOf, urnOf } from "../state/identity.js";
import { ACCOUNT, IDENTITY, PROVIDER, SECRET_ARGUMENTS, UNKNOWN } from "../state/properties.js";
import { explainUnresolved, markOf, unresolvedMarkOf } from "../state/unresolved.js";
import { printable } from "../text.js";
import { exactId } from "../validation/fields.js";
import { validate } from "../validation/validate.js";
import { expectSameAccount } from "./account.js";
import {
  adoptedTwice,
  announce,
  announceReplaced,
  announceReplacement,
  noteHolder,
  noteLive,
  type Subject,
} from "./announce.js";
import { adoptExisting, type Create, createOnce } from "./create.js";
import { changedProperties } from "./diff.js";
import { forDisplay, forEngine, idOrError, Unresolved } from "./failure.js";
import { noteHeld } from "./leftovers.js";
import type { Runtime } from "./runtime.js";

type Properties = Record<string, unknown>;

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(kind: Kind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  /** Runs what the engine asked for; whatever fails leaves scrubbed and without a stack. */
  const guarded = async <T>(work: () => T | Promise<T>, asError: typeof forEngine): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      runtime().noteProgress("failed");
      throw asError(error, runtime().secrets);
    }
  };

  const stopAtUnresolved = (properties: Properties) => {
    const mark = unresolvedMarkOf(properties);
    if (mark !== undefined) throw new Unresolved(explainUnresolved(kind, properties, mark));
  };

  const subjectOf = (properties: Properties) => subject(kind, own(properties, IDENTITY));

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, news: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const declared = readDeclared(own(news, IDENTITY));
        const isNew = Object.keys(olds).length === 0;
        runtime().noteProgress("checked");
        const { settings, problems: settingProblems } = runtime().reading;
        const secret = secretArgumentsOf(news);
        const reading = { isUnknown: holdsUnknown, secret, arrivedUndefined: "is the output's name right?" };
        const { values, problems } = validate(news, kind.rules(settings), reading);
        if (declared !== undefined) {
          await announce(kind, runtime(), declared, { isNew, values, fits: problems.length === 0 });
        }
        const { existingId } = values;
        const twice =
          declared === undefined || !hasValue(existingId) || holdsUnknown(existingId)
            ? undefined
            : adoptedTwice(kind, runtime(), declared.identity, String(existingId));
        const failures = [
          ...(twice === undefined ? [] : [failure(twice, ArgumentsError)]),
          ...settingProblems.map((problem) => failure(describeSettingProblem(problem), SettingsError)),
          // Without the property's name: the engine would print the value in front of the reason, a secret one too.
          ...problems.map(({ property, reason }) => failure(`${property} ${reason}`, ArgumentsError)),
        ];
        if (failures.length > 0) runtime().noteProgress("failed");
        const hidden = {
          [IDENTITY]: declared?.identity ?? news[IDENTITY],
          [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
          [ACCOUNT]: accountInInputs(olds, runtime().account, subject(kind, declared?.identity).label),
        };
        return { inputs: withoutUndefined({ ...values, ...hidden }), failures };
      }, forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const { identity, key, urn, label } = subjectOf(news);
        expectSameAccount(olds[ACCOUNT], runtime().account, label);
        if (/^\d+$/.test(id))
          noteHolder(kind, runtime(), { identity, key, urn, label }, id, olds, secretArgumentsOf(news));
        const left = identity === undefined ? [] : await noteHeld(kind, runtime(), identity, id, olds);
        const existingId = own(news, "existingId");
        const mark = unresolvedMarkOf(olds);
        // Naming the object settles it: a replacement that adopts, since only a replacement can change the id.
        if (mark !== undefined && hasValue(existingId)) {
          if (identity !== undefined) runtime().settling.set(key, markOf(id));
          return { changes: true, replaces: ["existingId"], deleteBeforeReplace: false };
        }
        stopAtUnresolved(olds);
        const replaces = changedProperties(kind, id, olds, news);
        // A replacement asks for what is left of it: its create says so.
        if (replaces.length === 0) for (const words of left) runtime().say(words);
        else announceReplacement(kind, runtime(), { key, urn, label }, id, existingId);
        return { changes: replaces.length > 0, replaces, deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const {
          [IDENTITY]: identity,
          [SECRET_ARGUMENTS]: _,
          [PROVIDER]: reference,
          [ACCOUNT]: _at,
          ...values
        } = inputs;
        const secret = secretArgumentsOf(inputs);
        for (const name of secret) {
          for (const text of textsIn(values[name])) runtime().secrets.add(text);
        }
        const { account } = runtime();
        const { key, urn, label } = subject(kind, identity, String(values[kind.nameProperty]));
        const recorded = account === "" ? {} : { [ACCOUNT]: account };
        const create: Create = {
          values,
          identity: typeof identity === "string" ? identity : undefined,
          label,
          secret,
          replaces: runtime().replacing.get(key),
        };
        const saved = { ...values, ...recorded, [PROVIDER]: reference };
        const id = hasValue(values.existingId)
          ? await adoptExisting(kind, runtime(), create)
          : idOrError(kind, saved, await runtime().track((mayBegin) => createOnce(kind, runtime(), create, mayBegin)));
        noteLive(kind, runtime(), create, id);
        announceReplaced(kind, runtime(), { key, urn, label }, id);
        return { id, outs: { ...values, ...recorded, [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(() => {
        expectSameAccount(properties[ACCOUNT], runtime().account, `${kind.name} ${id}`);
        stopAtUnresolved(properties);
        if (!/^\d{1,30}$/.test(id)) {
          throw new UnsupportedError(`"${id}" is no id of the platform: an id is a number from 0 up.`);
        }
        if (properties[kind.nameProperty] !== undefined) runtime().say(NOTHING_COMPARED);
        // The platform can't be read: the state is given back as it is, and for .get() the id is what is known.
        return { id, props: { ...properties, [kind.idProperty]: exactId(id) } };
      }, forDisplay);
    },

    /** Reached only for a resource that was saved with an error; whatever changes is a replacement. */
    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(() => {
        stopAtUnresolved(olds);
        const { [IDENTITY]: _identity, [SECRET_ARGUMENTS]: _secret, [ACCOUNT]: _at, ...values } = news;
        const recorded = withoutUndefined({ [ACCOUNT]: olds[ACCOUNT] });
        return { outs: { ...values, ...recorded, [kind.idProperty]: exactId(id) } };
      }, forEngine);
    },

    /**
     * Reached only where `retainOnDelete` was turned off where this package can't see it (a transformation), or by an earlier
     * version. To fail would leave what was replaced in the state for ever.
     */
    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => {
        if (!/^\d+$/.test(id)) return;
        const name = properties[kind.nameProperty];
        const named =
          typeof name === "string" && unresolvedMarkOf(properties) === undefined ? ` named "${printable(name)}"` : "";
        runtime().say(
          `The platform has no known way to delete, so the ${kind.name}${named} with the id ${id} left the state and ${kind.afterlife}; ` +
            "deactivate it there by hand.",
        );
      }, forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** A problem as the engine shows it at the resource: it prints each one after "resource '<name>' has a problem: ". */
function failure(text: string, { code }: { readonly code: string }): dynamic.CheckFailure {
  return { property: "", reason: withCode(text, code) };
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

/** Whom messages about a resource are about. @param otherwise names it where its identity is not known. */
function subject(kind: Kind, identity: unknown, otherwise = "(without a name)"): Subject {
  if (typeof identity !== "string") {
    return { identity: undefined, key: "", urn: "", label: labelOf(kind.name, otherwise) };
  }
  return {
    identity,
    key: journalKeyOf(kind.name, identity),
    urn: urnOf(identity, typeTokenOf(kind.name)),
    label: labelOf(kind.name, nameOf(identity)),
  };
}

const NOTHING_COMPARED =
  "A refresh compares nothing: the platform has no known way to read an object, so the state stays as it is.";

/** Shorter texts are no secrets worth the name, and would be masked within ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

function secretArgumentsOf(inputs: Properties): ReadonlySet<string> {
  const names = inputs[SECRET_ARGUMENTS];
  return new Set(Array.isArray(names) ? (names as string[]) : []);
}

/** Every text that `value` is or holds, long enough to be masked where the platform echoes it. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length < MIN_SECRET_CHARACTERS ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Whether `value` is, or holds, the engine's text for what is not known yet. */
function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function withoutUndefined(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
