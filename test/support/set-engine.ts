/**
 * Simulates Pulumi's engine for some resources, run after run: it checks, compares, creates, updates or replaces,
 * deletes last, and saves the provider's results. Single events and sets have the same calls, so that one test can do both.
 */
import { join } from "node:path";
import { everyJournal, type JournalEntry } from "../../provider/src/journal/index.js";
import { memberRef, refOf } from "../../provider/src/state/index.js";
import { carriedBack } from "./carried.js";
import { newRun, type RunOptions } from "./run.js";

type Values = Record<string, unknown>;
export type Run = ReturnType<typeof newRun>;
type Platform = Parameters<typeof newRun>[0];

interface Saved {
  id: string;
  inputs: Values;
  outputs: Values;
  /** Why the resource is incomplete. The engine then calls `update`, even if nothing differs. */
  initError?: string;
}

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

/** The records of a stack's journals in a run's folder, as `purchase created 5`. */
export function journalLines(folder: string, stack = "organization/tiny/dev"): string[] {
  const entryLine = ({ key, state, id }: JournalEntry) =>
    [key.slice(key.indexOf("::") + 2), state, id]
      .filter((each) => each !== undefined)
      .join(" ");
  return recordsIn(folder, stack).map(entryLine).toSorted();
}

function recordsIn(folder: string, stack: string): JournalEntry[] {
  const all = everyJournal(join(folder, "stacks")).filter((each) => each.stack === stack);
  return all
    .flatMap(({ records }) => [...records.values()])
    .filter(({ state }) => state !== "closed");
}

const messageOf = (error: Error) => error.message;

/** All messages of a run. */
export const wordsOf = ({ told, said }: Run) =>
  [...told.map(({ message }) => message), ...said].join("\n");

abstract class Engine {
  state: Saved | undefined;
  /** More of the program's context about the resource. */
  declares: Values = {};
  /** The stack, as `<project>/<stack>`. */
  stack = "tiny/dev";
  readonly #sandbox: Platform;
  readonly #folder: string;
  readonly name: string;

  /** @param folder has the cookie file and the journal. */
  constructor(sandbox: Platform, folder: string, name: string) {
    this.#sandbox = sandbox;
    this.#folder = folder;
    this.name = name;
  }

  abstract readonly resource: "ConversionEvent" | "ConversionEventSet";
  protected abstract provider(run: Run): Run["event"] | Run["set"];
  abstract adoptedIn(declared: Values): string[];
  abstract namesOf(declared: Values): Named[];

  get ref() {
    return refOf(this.resource, `${this.stack}::${this.name}`);
  }

  newRun(options?: RunOptions): Run {
    return newRun(this.#sandbox, this.#folder, options);
  }

  /** A whole run, which ends cleanly. */
  async up(declared: Values, options?: RunOptions): Promise<Result> {
    const run = this.newRun(options);
    const [error] = await runProgram(run, [[this, declared]]);
    run.closeNow();
    return { error, run };
  }

  /** A preview. @returns its messages, and its errors. */
  async preview(declared: Values, options?: RunOptions): Promise<string> {
    const run = this.newRun(options);
    const [error] = await runProgram(run, [[this, declared]], false);
    run.closeNow();
    return [wordsOf(run), error].filter(Boolean).join("\n");
  }

  /** A refresh. If it fails, the state stays as it was. */
  async refresh(options?: RunOptions): Promise<Result> {
    const run = this.newRun(options);
    let error: string | undefined;
    try {
      if (this.state !== undefined) {
        const { id, props, inputs } = await this.provider(run).read(
          this.state.id,
          this.state.outputs,
        );
        const { initError: _, ...kept } = this.state;
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
    run.closeNow();
    return { error, run };
  }

  /** A run that is killed when `when` resolves; the engine saves nothing of it. @param when undefined: once everything is done. */
  async upAndKill(
    declared: Values,
    when?: Promise<unknown>,
    options?: RunOptions,
  ): Promise<void> {
    const run = this.newRun(options);
    const before = structuredClone(this.state);
    const applying = this.apply(run, declared);
    await (when ?? applying);
    await run.kill();
    await applying;
    await run.kill(); // also frees what it has taken meanwhile, such as the journal's lock
    this.state = before;
  }

  async apply(run: Run, declared: Values): Promise<string | undefined> {
    return (await runProgram(run, [[this, declared]]))[0];
  }

  /** @param context the program process's information about the whole run. */
  async begin(
    run: Run,
    declared: Values,
    context: Values,
    isUp: boolean,
  ): Promise<(() => Promise<void>)[]> {
    const provider = this.provider(run);
    const given = { identity: `${this.stack}::${this.name}`, ...context, ...this.declares };
    const check = async (olds: Values) => {
      const news = { ...declared, __identity: given, __provider: PROVIDER };
      const { inputs, failures = [] } = await provider.check(olds, carried(news));
      if (failures.length > 0)
        throw new Error(failures.map(({ reason }) => reason).join("\n"));
      // Adds the reference to the provider, as Pulumi's provider process does.
      return carriedBack({ ...inputs, __provider: PROVIDER });
    };
    const { state } = this;
    let inputs = await check(state?.inputs ?? {});
    try {
      if (state === undefined) {
        if (isUp) await this.#create(provider, inputs);
        return [];
      }
      const { changes, replaces = [] } = await provider.diff(
        state.id,
        state.outputs,
        inputs,
      );
      if (replaces.length > 0) inputs = await check({});
      if (!isUp) return [];
      if (replaces.length > 0) {
        await this.#create(provider, inputs);
        return this.#deletes(run, state);
      }
      if (changes === false && state.initError === undefined) {
        this.state = { ...state, inputs };
        return [];
      }
      const { outs } = await provider.update(state.id, state.outputs, inputs);
      this.state = { id: state.id, inputs, outputs: carriedBack(outs) };
      return [];
    } catch (thrown) {
      const error = thrown as Error & { id?: string; properties?: Values };
      if (error.id !== undefined)
        this.state = {
          id: error.id,
          inputs,
          outputs: carriedBack(error.properties),
          initError: error.message,
        };
      throw error;
    }
  }

  async #create(provider: Run["event"] | Run["set"], inputs: Values): Promise<void> {
    const { id, outs } = await provider.create(inputs);
    this.state = { id: String(id), inputs, outputs: carriedBack(outs) };
  }

  #deletes(run: Run, { id, inputs, outputs }: Saved): (() => Promise<void>)[] {
    return inputs.__delete === true
      ? [async () => this.provider(run).delete(id, outputs)]
      : [];
  }

  /** The program no longer declares it. */
  leave(run: Run): (() => Promise<void>)[] {
    const { state } = this;
    this.state = undefined;
    return state === undefined ? [] : this.#deletes(run, state);
  }

  /** A `destroy`. @returns the failure. */
  async destroy(options?: RunOptions): Promise<string | undefined> {
    const run = this.newRun(options);
    const ended = Promise.all(this.leave(run).map((work) => work()));
    const error = await ended.then(() => undefined, messageOf);
    run.closeNow();
    return error;
  }
}

/**
 * Runs a program with these resources, in this order. Undeclared resources leave the state at the end. The run continues
 * after an error. @returns the failures as the engine prints them, in the same order, then those of deletes.
 */
export async function runProgram(
  run: Run,
  program: readonly (readonly [Engine, Values | undefined])[],
  isUp = true,
): Promise<(string | undefined)[]> {
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
    const whole = { isUp, resources: declared.length };
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
  // In a real run this is on the disk long before the end.
  const [one] = declared[0] ?? [];
  if (isUp && one !== undefined)
    await run.runtime
      .journal(one.ref)
      .recordNotCarriedOut("Advertiser::nobody")
      .catch(() => {});
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
