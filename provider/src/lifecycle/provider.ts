/**
 * Turns a declaration into what the engine calls: check, diff, create, read, update, delete. The same for all resources.
 */
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { UnsupportedError } from "../errors.js";
import { exactId } from "../schema/fields.js";
import { labelOf, nameOf } from "../schema/identity.js";
import { IDENTITY, PROVIDER, SECRET_ARGUMENTS, UNKNOWN } from "../schema/properties.js";
import { explainUnresolved, unresolvedMarkOf } from "../schema/unresolved.js";
import { validate } from "../schema/validate.js";
import { printable } from "../text.js";
import { own } from "../wire/body.js";
import { adoptExisting, type Create, createOnce } from "./create.js";
import type { Declaration } from "./declaration.js";
import { changedProperties } from "./diff.js";
import { forDisplay, forEngine, Unresolved } from "./failure.js";
import { announceLeftover, announceUnclaimed, noteHeld } from "./leftovers.js";
import type { Runtime } from "./runtime.js";

type Properties = Record<string, unknown>;

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(
  declaration: Declaration,
  runtime: () => Runtime,
  configure: (config: dynamic.Config) => void,
) {
  const { schema } = declaration;

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
    if (mark !== undefined) throw new Unresolved(explainUnresolved(schema, properties, mark), mark);
  };

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, news: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const identity = own(news, IDENTITY);
        if (typeof identity === "string") {
          await announceUnclaimed(runtime(), identity);
          if (Object.keys(olds).length === 0)
            await announceLeftover(declaration, runtime(), identity, hasValue(news.existingId));
        }
        runtime().noteProgress("checked");
        const { settings, problems: settingProblems } = runtime().reading;
        const secret = secretArgumentsOf(news);
        const { values, problems } = validate(news, schema.rules(settings), { isUnknown: holdsUnknown, secret });
        const hidden = { [IDENTITY]: news[IDENTITY], [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS] };
        const settingFailures = settingProblems.map(({ source, reason, command }) => ({
          property: "",
          reason: `${source} ${reason}; mend it with: ${command}`,
        }));
        const argumentFailures = problems.map((problem) =>
          isPrintedSafely(news[problem.property]) && !secret.has(problem.property)
            ? problem
            : { property: "", reason: `${problem.property} ${problem.reason}` },
        );
        const failures = [...settingFailures, ...argumentFailures];
        if (failures.length > 0) runtime().noteProgress("failed");
        return { inputs: withoutUndefined({ ...values, ...hidden }), failures };
      }, forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const identity = own(news, IDENTITY);
        const left = typeof identity === "string" ? await noteHeld(schema, runtime(), identity, id, olds) : [];
        // Naming the object settles it: a replacement that adopts, since only a replacement can change the id.
        if (unresolvedMarkOf(olds) !== undefined && hasValue(own(news, "existingId"))) {
          return { changes: true, replaces: ["existingId"], deleteBeforeReplace: false };
        }
        stopAtUnresolved(olds);
        const replaces = changedProperties(schema, id, olds, news);
        // A replacement asks for what is left of it: its create says so.
        if (replaces.length === 0) for (const words of left) runtime().say(words);
        if (replaces.length > 0 && !hasValue(own(news, "existingId"))) runtime().say(REPLACEMENT);
        return { changes: replaces.length > 0, replaces, deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const { [IDENTITY]: identity, [SECRET_ARGUMENTS]: _, [PROVIDER]: reference, ...values } = inputs;
        const secret = secretArgumentsOf(inputs);
        for (const name of secret) {
          for (const text of textsIn(values[name])) runtime().secrets.add(text);
        }
        const create: Create = {
          values,
          properties: { ...values, [PROVIDER]: reference },
          identity: typeof identity === "string" ? identity : undefined,
          label: labelOf(
            schema.kind,
            typeof identity === "string" ? nameOf(identity) : String(values[schema.nameProperty]),
          ),
          nameIsSecret: secret.has(schema.nameProperty),
        };
        const adopt = hasValue(values.existingId);
        const id = await (adopt
          ? adoptExisting(declaration, runtime(), create)
          : runtime().track((mayBegin) => createOnce(declaration, runtime(), create, mayBegin)));
        return { id, outs: { ...values, [schema.idProperty]: exactId(id) } };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(() => {
        stopAtUnresolved(properties);
        if (!/^\d{1,30}$/.test(id)) {
          throw new UnsupportedError(`"${id}" is no id of the platform: an id is a number from 0 up.`);
        }
        // The platform can't be read: the state is given back as it is, and for .get() the id is what is known.
        return { id, props: { ...properties, [schema.idProperty]: exactId(id) } };
      }, forDisplay);
    },

    /** Reached only for a resource that was saved with an error; whatever changes is a replacement. */
    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(() => {
        stopAtUnresolved(olds);
        const { [IDENTITY]: _identity, [SECRET_ARGUMENTS]: _secret, ...values } = news;
        return { outs: { ...values, [schema.idProperty]: exactId(id) } };
      }, forEngine);
    },

    /** Reached only where a user turned `retainOnDelete` off. */
    async delete(id: string): Promise<void> {
      return guarded(() => {
        throw new UnsupportedError(
          `The platform has no known way to delete: ${schema.kind} ${id} stays there, live. Take \`retainOnDelete: false\` out of ` +
            "its options and run `pulumi up`, then remove it again; or forget it with `pulumi state delete` and its URN " +
            "(`pulumi stack --show-urns`). What a replacement has left to be deleted is marked `delete` in the state: take " +
            "that entry out with `pulumi state edit`.",
        );
      }, forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/**
 * Whether the engine may print `value`: it does so, as it is, for each failure that names a property, even where the
 * argument is secret or would send control characters to the terminal (measured with engine 3.259.0).
 */
function isPrintedSafely(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return false;
  return typeof value !== "string" || (value.length <= MAX_PRINTED_CHARACTERS && value === printable(value));
}

const MAX_PRINTED_CHARACTERS = 200;

const REPLACEMENT =
  "A replacement creates another live object with another id. The old one stays on the platform, and tags that were " +
  "placed go on firing the old id.";

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
