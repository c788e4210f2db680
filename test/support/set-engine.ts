/**
 * What Pulumi's engine does with one set, run after run: it checks, compares, creates or updates, and saves what the provider returns.
 */
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { carriedBack } from "./carried.js";
import { newRun, type RunOptions } from "./run.js";

type Values = Record<string, unknown>;
type Run = ReturnType<typeof newRun>;

interface Saved {
  id: string;
  inputs: Values;
  outputs: Values;
  /** Why the set is incomplete. The engine then asks for an update, whatever differs. */
  initError?: string;
}

export interface SetResult {
  /** The failure as the engine prints it. */
  readonly error: string | undefined;
  readonly run: Run;
}

const PROVIDER = "exports.handler";

/** Values as Pulumi's SDK sends them. */
const carried = (values: object) => JSON.parse(JSON.stringify(values)) as Values;

export class SetEngine {
  state: Saved | undefined;
  /** More of the program's briefing about the set. */
  declares: Values = {};
  readonly #sandbox: Sandbox;
  readonly #folder: string;
  readonly #name: string;

  /** @param folder of the cookie file and the journal. */
  constructor(sandbox: Sandbox, folder: string, name = "funnel") {
    this.#sandbox = sandbox;
    this.#folder = folder;
    this.#name = name;
  }

  get eventIds(): Record<string, number | string> {
    return (this.state?.outputs.eventIds ?? {}) as Record<string, number | string>;
  }

  get unresolved(): Record<string, Values> {
    return (this.state?.outputs.unresolved ?? {}) as Record<string, Values>;
  }

  newRun(options?: RunOptions): Run {
    return newRun(this.#sandbox, this.#folder, options);
  }

  /** A whole run, which ends cleanly. */
  async up(declared: Values, options?: RunOptions): Promise<SetResult> {
    const run = this.newRun(options);
    const error = await this.apply(run, declared);
    run.closeNow();
    return { error, run };
  }

  /** A preview. @returns its messages. */
  async preview(declared: Values, options?: RunOptions): Promise<string> {
    const run = this.newRun(options);
    const inputs = await this.#checked(run, declared, false);
    if (this.state !== undefined) await run.set.diff(this.state.id, this.state.outputs, inputs);
    run.closeNow();
    return [...run.told.map(({ message }) => message), ...run.said].join("\n");
  }

  /** A refresh. If it fails, the state stays as it was. */
  async refresh(options?: RunOptions): Promise<SetResult> {
    const run = this.newRun(options);
    let error: string | undefined;
    try {
      if (this.state !== undefined) {
        const { props } = await run.set.read(this.state.id, this.state.outputs);
        this.state = { ...this.state, outputs: carriedBack(props) };
      }
    } catch (failure) {
      error = (failure as Error).message;
    }
    run.closeNow();
    return { error, run };
  }

  /** A run that is killed when `when` resolves, of which the engine saves nothing. */
  async upAndKill(declared: Values, when: Promise<unknown>, options?: RunOptions): Promise<void> {
    const run = this.newRun(options);
    const before = structuredClone(this.state);
    const applying = this.apply(run, declared);
    await when;
    await run.kill();
    await applying;
    await run.kill(); // also frees what it has taken meanwhile, such as the journal's lock
    this.state = before;
  }

  /** Calls a run's provider as the engine does, and saves its results. @returns the failure as the engine prints it. */
  async apply(run: Run, declared: Values): Promise<string | undefined> {
    let inputs: Values = {};
    try {
      inputs = await this.#checked(run, declared, true);
      const { state } = this;
      if (state === undefined) {
        const { id, outs } = await run.set.create(inputs);
        this.state = { id, inputs, outputs: carriedBack(outs) };
        return undefined;
      }
      const { changes } = await run.set.diff(state.id, state.outputs, inputs);
      if (changes === false && state.initError === undefined) {
        this.state = { ...state, inputs };
        return undefined;
      }
      const { outs } = await run.set.update(state.id, state.outputs, inputs);
      this.state = { id: state.id, inputs, outputs: carriedBack(outs) };
      return undefined;
    } catch (thrown) {
      const error = thrown as Error & { id?: string; properties?: Values };
      if (error.id !== undefined) {
        this.state = {
          id: error.id,
          inputs,
          outputs: carriedBack(error.properties),
          initError: error.message,
        };
      }
      return error.message;
    }
  }

  async #checked(run: Run, declared: Values, isUp: boolean): Promise<Values> {
    const entries = Object.values((declared.events ?? {}) as Record<string, Values>);
    const adopted = entries.flatMap(({ existingId }) => (existingId === undefined ? [] : String(existingId))).join(" ");
    const more = adopted === "" ? {} : { adopted };
    const identity = { identity: `tiny/dev::${this.#name}`, run: { isUp, resources: 1 }, ...more, ...this.declares };
    const { inputs, failures = [] } = await run.set.check(
      this.state?.inputs ?? {},
      carried({ ...declared, __identity: identity, __provider: PROVIDER }),
    );
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("\n"));
    // Pulumi's provider process puts its reference back in.
    return carriedBack({ ...inputs, __provider: PROVIDER });
  }
}
