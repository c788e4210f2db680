/**
 * `plugin/`: a provider plugin in front of `operations/`, for programs in any of Pulumi's languages. This file has the
 * calls of Pulumi's provider protocol as methods with plain values. Each calls its operation, and decides nothing.
 * A plugin's check and diff aren't told whether the run is a preview; the first create, update or delete shows an `up`.
 */
import {
  ArgumentsError,
  BlockedCreateError,
  inStack,
  own,
  UnsupportedError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { type AnyKind, providerReference, resourceOfType } from "../kinds/index.js";
import {
  applyResource,
  type Change,
  check,
  createRuntime,
  deleteResource,
  describeError,
  diffResource,
  NO_READ,
  previewResource,
  type Runtime,
  readResource,
} from "../operations/index.js";
import { adoptedBy } from "../plan/index.js";
import { isOfProgram } from "../record/index.js";
import { exactId } from "../rules/index.js";
import {
  knownOperations,
  NAMESPACE,
  readSettings,
  SETTING_NAMES,
  settingFailures,
} from "../settings/index.js";
import {
  argumentsIn,
  DEFAULT_PROVIDER,
  nameInUrn,
  PROVIDER,
  parseKey,
  pendingLine,
  providerAt,
  type ResourceRef,
  refOfInputs,
  refOfUrn,
  SECRET_ARGUMENTS,
  SENDER,
  secretArgumentsIn,
  senderText,
  TIMEOUTS_IGNORED,
  typesIn,
  UNKNOWN,
} from "../state/index.js";
import { logThroughEngine } from "./engine-log.js";
import type { Properties } from "./properties.js";

/** One provider resource: its settings and its run. The engine starts a process for each provider resource. */
export class AdvertisingPlugin {
  /** The run, once the engine has begun one. */
  run: Runtime | undefined;
  /** The beginning of each error, which names the provider if it isn't the default one. */
  #title = "";

  /** The engine's address, `host:port`, once there is an engine. */
  engine: string | undefined;

  constructor(readonly environment: NodeJS.ProcessEnv) {}

  get runtime() {
    if (!this.run) throw new Error("not configured");
    return this.run;
  }

  /** @returns the problems of the provider's arguments; none while some arguments are unknown. */
  checkConfig(values: Values, urn: string) {
    const keys = Object.keys(argumentsIn(values)).filter((key) => key !== "version");
    if (keys.some((key) => values[key] === UNKNOWN)) return [];
    const { problems } = readSettings({
      ...this.#settingsIn(values, urn),
      environment: this.environment,
      keys,
      mayLackPassword: true,
    });
    return settingFailures(problems);
  }

  /** Begins a run. @param urn the provider resource's. */
  configure({ values }: Properties, urn: string) {
    // An engine that has attached to this process begins another run in it.
    void this.abandon();
    const provider = providerAt(urn);
    if (provider !== DEFAULT_PROVIDER) this.#title = `Provider "${nameInUrn(urn)}": `;
    const { environment, engine } = this;
    // In tests there is no engine.
    const log = logThroughEngine(engine ?? "localhost");
    const { config, hasNoCommand, isOfStack } = this.#settingsIn(values, urn);
    const runtime = createRuntime(config, environment, log, {
      provider,
      engine,
      hasNoCommand,
    });
    runtime.deployment.isUp = undefined;
    runtime.deployment.mayBeFormer = !isOfStack;
    // Also if the program declares nothing of this provider any more: what leaves the state is named.
    void runtime.record.state();
    this.run = runtime;
  }

  /** Reads settings: the arguments of an explicit provider override the stack's configuration. */
  #settingsIn(values: Values, urn: string) {
    // The engine gives the default provider the stack's settings: in a refresh or a destroy, those of the last `up`.
    const isDefault = providerAt(urn) === DEFAULT_PROVIDER;
    // The stack's settings for this package, without the namespace in their names.
    const stack = JSON.parse(this.environment.PULUMI_CONFIG || "{}");
    // An empty argument hides nothing.
    const isGiven = (key: string) => (own(values, key) ?? "") !== "";
    const textIn = (from: Values, key: string) => {
      const value = own(from, key);
      return typeof value === "string" ? value : JSON.stringify(value);
    };
    return {
      config: (key: string): string | undefined =>
        textIn(isDefault || isGiven(key) ? values : stack, key),
      /** Whether these are surely the stack's settings. */
      isOfStack:
        isDefault &&
        SETTING_NAMES.every((key) => textIn(values, key) === textIn(stack, key)),
      hasNoCommand: (key: string) => !isDefault && isGiven(key),
    };
  }

  /** @param olds the inputs in the state; empty for a new resource. */
  async check(urn: string, olds: Values, { values, secret }: Properties) {
    const { ref } = resourceAt(urn);
    const news = {
      ...values,
      [SECRET_ARGUMENTS]: secret.size === 0 ? undefined : [...secret],
    };
    // A resource with an alias gets the inputs in the state, which contain the former key.
    const { key = ref.key } = refOfInputs(ref.resource, olds) ?? {};
    const formerKeys = [key].filter((former) => former !== ref.key);
    return check(this.runtime, ref, {
      context: { identity: ref.identity, formerKeys },
      olds,
      news: withoutUndefined(news),
    });
  }

  /**
   * Without a detailed diff, the engine compares the inputs, down to the parts of each event. What an import in a preview
   * couldn't read for want of a password has only an id to compare.
   * @param change has the outputs in the state as `olds`.
   */
  async diff(urn: string, change: Change) {
    const { resource, ref } = resourceAt(urn);
    const isUnread = Object.keys(argumentsIn(change.olds)).join() === resource.idProperty;
    if (isUnread && this.runtime.settings.password === undefined)
      return { changes: false, replaces: [] };
    return diffResource(this.runtime, ref, change);
  }

  /** The id and outputs of a create, as far as a preview knows them. @throws AdvertisingError if it would fail. */
  async previewCreate(urn: string, { values, secret }: Properties) {
    const resource = await this.#preview(urn, { id: "", olds: {}, news: values });
    const id = adoptedBy(values);
    if ("member" in resource || id === undefined || id === UNKNOWN)
      return { id: "", values, secret };
    return { id, values: { ...values, [resource.idProperty]: exactId(id) }, secret };
  }

  async #preview(urn: string, change: Change) {
    const { resource, ref } = resourceAt(urn);
    await previewResource(this.runtime, ref, change).catch((error: Error) => {
      if (!(error instanceof BlockedCreateError)) throw error;
      throw new BlockedCreateError(
        `${error.message}\nPulumi stops here. To list all unresolved creates:\n  ${pendingLine()}`,
      );
    });
    return resource;
  }

  async create(urn: string, { values }: Properties) {
    const { ref } = await this.#beginUp(urn);
    const change = { id: "", olds: {}, news: values };
    const { id, outs } = await applyResource(this.runtime, ref, change);
    return { id, values: outs, secret: secretArgumentsIn(values) };
  }

  /** The outputs of an update, as far as a preview knows them. @throws AdvertisingError if it would fail. */
  async previewUpdate(urn: string, change: Change, secret: Properties["secret"]) {
    const resource = await this.#preview(urn, change);
    const { idProperty } = resource;
    const id = "member" in resource ? UNKNOWN : change.olds[idProperty];
    return { values: { ...change.news, [idProperty]: id }, secret };
  }

  async update(urn: string, change: Change) {
    const { ref } = await this.#beginUp(urn);
    const { outs } = await applyResource(this.runtime, ref, change);
    return { values: outs, secret: secretArgumentsIn(change.news) };
  }

  async delete(urn: string, id: string, properties: Values) {
    const { resource, ref } = await this.#beginUp(urn);
    await deleteResource(resource, this.runtime, { id, properties, ref });
  }

  /** Reads an object for a refresh, an import or a `.get()`. @returns undefined if the object is gone. */
  async read(urn: string, id: string, properties: Values, inputs: Values) {
    const { resource, ref } = resourceAt(urn);
    const isInState = Object.keys(properties).length > 0;
    if (!isInState) await this.#assertCanImport(resource, ref, id);
    const result = await readResource(resource, this.runtime, id, properties);
    if (!result) return undefined;
    const { props } = result;
    const found = { id: result.id, secret: secretArgumentsIn(inputs) };
    if (isInState) return { ...found, values: props, inputs: result.inputs ?? inputs };
    const { [resource.idProperty]: _, ...given } = argumentsIn(props);
    const { account } = this.runtime;
    const { identity } = ref;
    const sender = senderText({ identity, account, run: "", canUpdate: false });
    return {
      ...found,
      values: { ...props, [PROVIDER]: providerReference(resource.name) },
      inputs: { ...given, [SENDER]: sender },
    };
  }

  /**
   * @throws UnsupportedError if no read is known: without one, an imported object's arguments are unknown.
   * ArgumentsError if another resource has the object.
   */
  async #assertCanImport(resource: AnyKind, ref: ResourceRef, id: string) {
    const { label } = ref;
    const { runtime } = this;
    const { command, deployment, record, settings } = runtime;
    const isInProgram = command && isOfProgram(command);
    let reason = "a set has no id on the platform";
    runtime.begin(ref);
    if (!("member" in resource)) {
      const { all } = await record.open();
      // An import's save drops interrupted updates from Pulumi's record.
      const open = all.find((each) => {
        return each.key === ref.key || (!isOfProgram(command) && record.willForget(each));
      });
      if (open)
        throw new BlockedCreateError(
          `${label} can't be imported or read: an earlier run sent a create of ${parseKey(open.key).label}. Nothing was sent. First run:\n  ${pendingLine()}`,
        );
      const saved = await record.state();
      let holder = saved
        ?.holdersOf(resource.name, id)
        .find((each) => each.ref.key !== ref.key)?.ref.key;
      // A program may read any object twice; what is imported is managed.
      if (!isOfProgram(command)) holder ??= deployment.claim(resource, id, ref.key);
      // The state has it as only read, so this is a `get` in a program.
      const isGet = isInProgram && saved?.resourceAt(ref.urn)?.external;
      if (holder !== undefined && !isGet)
        throw new ArgumentsError(
          `${label} can't be imported or read: ${id} already belongs to ${parseKey(holder).label}. Nothing was sent. To read it, use that resource. To move it, set existingId: ${id} in ${label}, and remove it there.`,
        );
      if (knownOperations(resource, settings).read) return;
      reason = `${NO_READ}; if the configuration has one now, run \`${inStack("pulumi up")}\` first`;
      if (isInProgram) reason = `${NAMESPACE}:operations names no read`;
    }
    throw new UnsupportedError(
      `${label} can't be imported or read by the id ${id}: ${reason}. Nothing was sent. ` +
        "To adopt live objects, declare them with their arguments and existingId.",
    );
  }

  /** Notes that the run has failed. @returns the error as users see it. */
  fail(error: unknown) {
    const message = `${this.#title}${describeError(error)}`;
    if (!this.run) return message;
    this.run.deployment.hasFailed = true;
    return this.run.secrets.scrub(message);
  }

  /** The engine passes the option `customTimeouts` with each change, in seconds: 0 if it isn't set. */
  noteTimeout(urn: string, seconds: number) {
    if (seconds > 0)
      this.runtime.messages.tellAt("warn", urn, `customTimeouts ${TIMEOUTS_IGNORED}`);
  }

  /** Called when somebody cancels the run, and at the end of every run: what is in flight ends, and nothing new begins. */
  cancel() {
    this.run?.work.cancel();
  }

  /** Called when the engine is gone. */
  async abandon() {
    await this.run?.abandon();
  }

  /** Called first by each call that changes something. It opens the journal, which then takes what was noted before. */
  async #beginUp(urn: string) {
    const found = resourceAt(urn);
    this.runtime.deployment.isUp = true;
    this.runtime.begin(found.ref);
    await this.runtime.journal().openOnce();
    return found;
  }
}

/** The resource of a URN, `urn:pulumi:<stack>::<project>::<types>::<name>`. */
function resourceAt(urn: string) {
  const types = typesIn(urn);
  const resource = resourceOfType(types.split("$").at(-1) ?? "");
  if (!resource)
    throw new ArgumentsError(`The plugin has no resource ${types}. Nothing was sent.`);
  return { resource, ref: refOfUrn(resource.name, urn) };
}
