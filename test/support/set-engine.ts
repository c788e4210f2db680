/**
 * Simulates Pulumi's engine for some resources, run after run: it checks, compares, creates, updates or replaces,
 * deletes last, and saves the provider's results. Single events and sets have the same calls, so that one test can do both.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type JournalEntry, readJournal } from "../../provider/src/journal/index.js";
import {
  memberRef,
  otherFormUrn,
  refOf,
  refOfKey,
} from "../../provider/src/state/index.js";
import { carriedBack } from "./carried.js";
import { journalsOf, newRun, type RunOptions } from "./run.js";
import { type SavedResource, type SavedStack, stackNamed } from "./saved-stack.js";

type Values = Record<string, unknown>;
export type Run = ReturnType<typeof newRun>;
type Platform = Parameters<typeof newRun>[0];

export interface Result {
  /** The failure as the engine prints it. */
  readonly error: string | undefined;
  readonly run: Run;
}

const PROVIDER = "exports.handler";

/** An object that a program declares, with its name on the platform. */
interface Named {
  readonly key: string;
  readonly name: unknown;
}

/** Values as Pulumi's SDK sends them. */
const carried = (values: object) => JSON.parse(JSON.stringify(values)) as Values;

/** What a stack's journals in a run's folder have as open, as `purchase created 5`. */
export function journalLines(folder: string, stack = "tiny/dev"): string[] {
  const entryLine = ({ key, state, id }: JournalEntry) =>
    [key.slice(key.indexOf("::") + 2), state, id]
      .filter((each) => each !== undefined)
      .join(" ");
  const journals = journalFiles(folder).flatMap((path) => readJournal(path) ?? []);
  const entries = journals
    .filter((each) => each.stack === stack)
    .flatMap((each) => [...each.entries.values()]);
  return entries
    .filter(({ state }) => state !== "closed")
    .map(entryLine)
    .toSorted();
}

/** The paths of all journal files on a machine. */
export function journalFiles(folder: string): string[] {
  let names: string[] = [];
  try {
    names = readdirSync(journalsOf(folder));
  } catch {
    // No run has created anything on this machine.
  }
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(journalsOf(folder), name));
}

const messageOf = (error: Error) => error.message;

/** All messages of a run. */
export const wordsOf = ({ told }: Run) => told.map(({ message }) => message).join("\n");

abstract class Engine {
  /**
   * More of the program's context about the resource; `deletes`: its `deletionPolicy`; `retains`: Pulumi's option, and
   * `dependencies`, which only the engine knows.
   */
  declares: Values = {};
  /** The stack, as `<project>/<stack>`. */
  stack = "tiny/dev";
  /** Another backend than the test's. */
  backend: SavedStack | undefined;
  /** The plugin's provider, if it is not a dynamic resource. */
  plugin: string | undefined;
  /** Pulumi's `additionalSecretOutputs`. */
  hides: readonly string[] = [];
  /** What a policy makes of the checked inputs: of those of the first `check` only, as the engine does it. */
  remediate = (inputs: Values): Values => inputs;
  readonly #sandbox: Platform;
  readonly folder: string;
  readonly name: string;

  /** @param folder of a machine: it has the cookie file and the journals. */
  constructor(sandbox: Platform, folder: string, name: string) {
    this.#sandbox = sandbox;
    this.folder = folder;
    this.name = name;
  }

  abstract readonly resource: "Advertiser" | "ConversionEvent" | "ConversionEventSet";
  protected abstract provider(run: Run): Run["event"] | Run["set"];
  abstract adoptedIn(declared: Values): string[];
  abstract namesOf(declared: Values): Named[];

  get ref() {
    return refOf(this.resource, `${this.stack}::${this.name}`);
  }

  get urn(): string {
    return this.plugin === undefined ? this.ref.resourceUrn : otherFormUrn(this.ref);
  }

  /** What Pulumi has saved of its stack. */
  get saved(): SavedStack {
    return this.backend ?? stackNamed(this.stack);
  }

  get #option() {
    const { retains, dependencies } = this.declares;
    return {
      ...(retains === true && { retainOnDelete: true }),
      ...(dependencies !== undefined && { dependencies: dependencies as string[] }),
    };
  }

  get #formerUrns(): string[] {
    const keys = (this.declares.formerKeys ?? []) as string[];
    return keys.map((key) => refOfKey(key, `organization/${this.stack}`).resourceUrn);
  }

  /** The provider resource, as the state names it. */
  get #provider(): string | undefined {
    const [project, stack] = this.stack.split("/");
    const urn = `urn:pulumi:${stack}::${project}::pulumi:providers:advertising`;
    return this.plugin === undefined ? undefined : `${urn}::${this.plugin}::0`;
  }

  /** The resource in the state, also under its former names. */
  get state(): SavedResource | undefined {
    const all = [this.urn, ...this.#formerUrns].map((urn) => this.saved.resources.get(urn));
    return all.find((each) => each !== undefined);
  }

  set state(state: SavedResource | undefined) {
    const provider = this.#provider;
    const { hides } = this;
    this.saved.set(this.urn, state && { ...state, provider, hides }, this.#formerUrns);
  }

  newRun(options?: RunOptions): Run {
    const provider = this.plugin;
    return newRun(this.#sandbox, this.folder, {
      saved: this.saved,
      ...(provider !== undefined && { provider }),
      ...options,
    });
  }

  /** Another resource of the stack, on the same machine. */
  beside<T extends Engine>(
    of: new (sandbox: Platform, folder: string, name: string) => T,
    name: string,
  ): T {
    const { stack, backend } = this;
    return Object.assign(new of(this.#sandbox, this.folder, name), { stack, backend });
  }

  /** A whole run, which ends cleanly. Other resources of the stack stay, as with `--target`. */
  async up(declared: Values, options?: RunOptions): Promise<Result> {
    const run = this.newRun(options);
    const [error] = await runProgram(run, [[this, declared]], true, this.#others());
    await run.close();
    return { error, run };
  }

  /** A preview. @returns its messages, and its errors. */
  async preview(declared: Values, options?: RunOptions): Promise<string> {
    const run = this.newRun(options);
    const [error] = await runProgram(run, [[this, declared]], false, this.#others());
    await run.close();
    return [wordsOf(run), error].filter(Boolean).join("\n");
  }

  #others() {
    const own = [this.urn, ...this.#formerUrns];
    return [...this.saved.resources.keys()].filter((urn) => !own.includes(urn)).length;
  }

  /** A refresh. If it fails, the state stays as it was. */
  async refresh(options?: RunOptions): Promise<Result> {
    const run = this.newRun({ command: { command: "refresh" }, ...options });
    let error: string | undefined;
    const { state } = this;
    try {
      if (state !== undefined) {
        const { id, props, inputs } = await this.provider(run).read(
          state.id,
          state.outputs,
        );
        const { initError: _, ...kept } = state;
        const found = inputs && {
          inputs: { ...carriedBack(inputs), __provider: PROVIDER },
        };
        this.state =
          id === ""
            ? undefined
            : { ...kept, ...found, id: String(id), outputs: carriedBack(props) };
      }
    } catch (failure) {
      error = (failure as Error).message;
    }
    await run.close();
    return { error, run };
  }

  /**
   * A run that is killed when `when` resolves. The engine has saved the beginnings of its operations, and no result.
   * @param when undefined: once everything is done.
   */
  async upAndKill(
    declared: Values,
    when?: Promise<unknown>,
    options?: RunOptions,
  ): Promise<void> {
    const run = this.newRun(options);
    await killed(run, [[this, declared]], when);
  }

  async apply(run: Run, declared: Values): Promise<string | undefined> {
    return (await runProgram(run, [[this, declared]], true, this.#others()))[0];
  }

  /** @param context the program process's information about the whole run. */
  async begin(
    run: Run,
    declared: Values,
    context: Values,
    isUp: boolean,
  ): Promise<(() => Promise<void>)[]> {
    const provider = this.provider(run);
    const { deletes, retains: _, dependencies: __, ...more } = this.declares;
    const given = { identity: `${this.stack}::${this.name}`, ...context, ...more };
    const policy = deletes === true ? { deletionPolicy: "delete" } : {};
    const check = async (olds: Values) => {
      const news = { ...declared, ...policy, __sender: given, __provider: PROVIDER };
      const { inputs, failures = [] } = await provider.check(olds, carried(news));
      if (failures.length > 0)
        throw new Error(failures.map(({ reason }) => reason).join("\n"));
      // Adds the reference to the provider, as Pulumi's provider process does.
      return carriedBack({ ...inputs, __provider: PROVIDER });
    };
    // The engine gives no old inputs of a resource that was only read, and calls no `diff`.
    const state = this.state?.isRead === true ? undefined : this.state;
    let inputs = this.remediate(await check(state?.inputs ?? {}));
    const { preview } = provider;
    if (state === undefined) {
      if (!isUp) await preview?.("", {}, inputs);
      if (isUp) await this.#operate("creating", { inputs }, () => provider.create(inputs));
      return [];
    }
    const { changes, replaces = [] } = await provider.diff(state.id, state.outputs, inputs);
    if (replaces.length > 0) inputs = await check({});
    if (!isUp && replaces.length > 0) await preview?.("", {}, inputs);
    else if (!isUp && changes) await preview?.(state.id, state.outputs, inputs);
    if (!isUp) return [];
    if (replaces.length > 0) {
      await this.#operate("creating", { inputs }, () => provider.create(inputs));
      const old = `${this.urn}#${state.id}`;
      this.saved.set(old, { ...state, isOld: true, resourceUrn: this.urn });
      return [() => this.#delete(run, state, old)];
    }
    if (changes === false && state.initError === undefined) {
      this.state = { ...state, inputs, ...this.#option };
      return [];
    }
    const { id } = state;
    await this.#operate("updating", { inputs, id }, () => {
      return provider.update(id, state.outputs, inputs);
    });
    return [];
  }

  /** Saves what a `create` or `update` returns, and what its failure says that there is. */
  async #operate(
    type: "creating" | "updating",
    resource: { inputs: Values; id?: string },
    call: () => Promise<{ id?: unknown; outs?: object | undefined }>,
  ): Promise<void> {
    const { inputs } = resource;
    const provider = this.#provider;
    const aliases = this.#formerUrns;
    const option = this.#option;
    const named = { urn: this.urn, aliases, provider };
    const end = this.saved.begin(type, { ...resource, ...named, ...option });
    try {
      const { id, outs } = await call();
      this.state = { id: String(id), inputs, outputs: carriedBack(outs), ...option };
    } catch (thrown) {
      const {
        id,
        properties,
        message: initError,
      } = thrown as Error & {
        id?: string;
        properties?: Values;
      };
      if (id !== undefined)
        this.state = { id, inputs, outputs: carriedBack(properties), initError };
      throw thrown;
    } finally {
      end();
    }
  }

  /** By the option in the state, the engine calls `delete`; in any case the resource leaves the state. */
  async #delete(run: Run, state: SavedResource, at: string): Promise<void> {
    const { id, inputs, outputs, retainOnDelete = false } = state;
    const end = this.saved.begin("deleting", { ...state, urn: this.urn });
    try {
      const isCalled = this.plugin !== undefined || inputs.deletionPolicy === "delete";
      if (isCalled && !retainOnDelete) await this.provider(run).delete(id, outputs);
      this.saved.set(at, undefined);
    } finally {
      end();
    }
  }

  /** The program no longer declares it. */
  leave(run: Run): (() => Promise<void>)[] {
    const { state } = this;
    if (state === undefined) return [];
    const at = [this.urn, ...this.#formerUrns].find((urn) => this.saved.resources.has(urn));
    return [() => this.#delete(run, state, at ?? "")];
  }

  /** A `destroy`. @returns the failure. */
  async destroy(options?: RunOptions): Promise<string | undefined> {
    const run = this.newRun({ command: { command: "destroy" }, ...options });
    const ended = Promise.all(this.leave(run).map((work) => work()));
    const error = await ended.then(() => undefined, messageOf);
    await run.close();
    return error;
  }
}

/** A run that is killed when `when` resolves. @param when undefined: once everything is done. */
export async function killed(
  run: Run,
  program: Parameters<typeof runProgram>[1],
  when?: Promise<unknown>,
): Promise<void> {
  const stacks = new Set(program.map(([{ saved }]) => saved));
  for (const each of stacks) each.isStuck = true;
  const applying = runProgram(run, program);
  await (when ?? applying);
  await run.kill();
  await applying;
  await run.kill(); // also frees what it has taken meanwhile, such as the journal's lock
  for (const each of stacks) each.isStuck = false;
}

/**
 * Runs a program with these resources, in this order. Undeclared resources leave the state at the end. The run continues
 * after an error. @returns the failures as the engine prints them, in the same order, then those of deletes.
 * @param others how many more the program declares, which this run leaves out (`--target`).
 */
export async function runProgram(
  run: Run,
  program: readonly (readonly [Engine, Values | undefined])[],
  isUp = true,
  others = 0,
): Promise<(string | undefined)[]> {
  const { command } = run.runtime;
  if (command && !isUp && !run.isOfUp) command.command = "preview";
  if (command && others > 0) command.targets = program.map(([{ urn }]) => urn);
  const declared = program.flatMap(([engine, values]) =>
    values === undefined ? [] : [[engine, values] as const],
  );
  const all = declared.flatMap(([engine, values]) => engine.namesOf(values));
  const sameNamedAs = (engine: Engine, values: Values) => {
    const own = engine.namesOf(values);
    const isOther = ({ key, name }: Named) =>
      own.some((each) => each.name === name) && own.every((each) => each.key !== key);
    return all.filter(isOther).map(({ key }) => key);
  };
  const adopted = declared
    .flatMap(([engine, values]) =>
      engine.adoptedIn(values).map((id) => `ConversionEvent ${id}`),
    )
    .join();
  const last: (() => Promise<void>)[] = [];
  const errors: (string | undefined)[] = [];
  for (const [engine, values] of program) {
    const whole = { isUp, resources: declared.length + others };
    const sameNamed = values === undefined ? [] : sameNamedAs(engine, values);
    const context = { run: whole, sameNamed, ...(adopted !== "" && { adopted }) };
    if (values === undefined) {
      if (isUp) last.push(...engine.leave(run));
      errors.push(undefined);
    } else {
      const beginning = engine.begin(run, values, context, isUp);
      errors.push(await beginning.then((deletes) => void last.push(...deletes), messageOf));
    }
  }
  for (const work of errors.every((error) => error === undefined) ? last : []) {
    const failure = await work().then(() => undefined, messageOf);
    if (failure !== undefined) errors.push(failure);
  }
  return errors;
}

export class SetEngine extends Engine {
  readonly resource = "ConversionEventSet";

  constructor(sandbox: Platform, folder: string, name = "funnel") {
    super(sandbox, folder, name);
  }

  get eventIds(): Record<string, number | string> {
    return (this.state?.outputs.eventIds ?? {}) as Record<string, number | string>;
  }

  get unresolved(): Record<string, Values> {
    return (this.state?.outputs.unresolved ?? {}) as Record<string, Values>;
  }

  protected provider(run: Run) {
    return run.set;
  }

  namesOf({ events }: Values): Named[] {
    const entries = Object.entries((events ?? {}) as Record<string, Values>);
    return entries.map(([key, { eventName }]) => ({
      key: memberRef(this.ref, key).key,
      name: eventName,
    }));
  }

  adoptedIn({ events }: Values): string[] {
    const entries = Object.values((events ?? {}) as Record<string, Values>);
    return entries.flatMap(({ existingId }) =>
      existingId === undefined ? [] : String(existingId),
    );
  }
}

export class EventEngine extends Engine {
  readonly resource = "ConversionEvent";

  protected provider(run: Run) {
    return run.event;
  }

  namesOf({ eventName }: Values): Named[] {
    return [{ key: this.ref.key, name: eventName }];
  }

  adoptedIn({ existingId }: Values): string[] {
    return existingId === undefined ? [] : [String(existingId)];
  }
}

export class AdvertiserEngine extends Engine {
  readonly resource = "Advertiser";

  protected provider(run: Run) {
    return run.advertiser;
  }

  namesOf({ advertiserName }: Values): Named[] {
    return [{ key: this.ref.key, name: advertiserName }];
  }

  adoptedIn(): string[] {
    return [];
  }
}

/** One event, single or the only member of a set: both must behave alike. */
export class SingleObjectFixture {
  readonly engine: Engine;
  readonly label: string;

  constructor(shape: ResourceForm, sandbox: Platform, folder: string, name = "buy") {
    this.engine =
      shape === "a single event"
        ? new EventEngine(sandbox, folder, name)
        : new SetEngine(sandbox, folder, name);
    const isSet = this.engine instanceof SetEngine;
    this.label = isSet
      ? `events["k"] of ConversionEventSet "${name}"`
      : `ConversionEvent "${name}"`;
  }

  /** The event's arguments, as a single event or as a set has them. */
  of({ advertiserId = 1, ...event }: Values): Values {
    const entry = { eventName: "E", value: 1, ...event };
    return this.engine instanceof SetEngine
      ? { advertiserId, events: { k: entry } }
      : { advertiserId, ...entry };
  }

  /** The platform's id in the state. */
  get id(): string | undefined {
    const { engine } = this;
    const id =
      engine instanceof SetEngine ? engine.eventIds.k : engine.state?.outputs.eventId;
    return id === undefined ? undefined : String(id);
  }

  get unresolved(): Values | undefined {
    const { engine } = this;
    return engine instanceof SetEngine
      ? engine.unresolved.k
      : (engine.state?.outputs.unresolved as Values | undefined);
  }

  /** The objects that replacements have left live. */
  get left(): Values[] {
    return (this.engine.state?.outputs.__left ?? []) as Values[];
  }

  /** This resource's part of a program, for {@link runProgram}. */
  is = (event: Values = {}) => [this.engine, this.of(event)] as const;
  gone = () => [this.engine, undefined] as const;

  up = async (event: Values = {}, options?: RunOptions) =>
    this.engine.up(this.of(event), options);
  preview = async (event: Values = {}, options?: RunOptions) =>
    this.engine.preview(this.of(event), options);
  kill = async (event: Values = {}, options?: RunOptions) =>
    this.engine.upAndKill(this.of(event), undefined, options);
}

export type ResourceForm = "a single event" | "a set's event";
export const RESOURCE_FORMS: ResourceForm[] = ["a single event", "a set's event"];
