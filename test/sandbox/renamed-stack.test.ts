/** After `pulumi stack rename` and an `up`, a new stack of the former name takes over nothing that the renamed one has. */
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";

type Properties = Record<string, unknown>;
type Run = ReturnType<typeof newRun>;

const OFF = { environment: { PULUMI_SKIP_CHECKPOINTS: "true" } };
const DELETES = { settings: operatedSettings({ delete: "DELETE rest/event/{id}" }) };
const LOST = { on: "event", act: true, with: { kind: "close-without-answer" } } as const;

/** A stack with one event, run after run, as the engine asks for it. */
class Stack {
  state: { id: string; inputs: Properties; outs: Properties } | undefined;
  readonly #sandbox: Sandbox;
  readonly #folder: string;
  name: string;

  constructor(sandbox: Sandbox, folder: string, name: string) {
    this.#sandbox = sandbox;
    this.#folder = folder;
    this.name = name;
  }

  newRun(options = OFF): Run {
    return newRun(this.#sandbox, this.#folder, { ...DELETES, ...options });
  }

  /** @returns the error, or nothing. */
  async apply(run: Run, isUp = true): Promise<string> {
    const identity = { identity: `tiny/${this.name}::e`, run: { isUp, resources: 1 }, deletes: true };
    const declared = { eventName: "E", advertiserId: 1, value: 1, __identity: identity };
    const { inputs } = (await run.event.check(this.state?.inputs ?? {}, declared)) as { inputs: Properties };
    try {
      if (this.state !== undefined) {
        await run.event.diff(this.state.id, this.state.outs, inputs);
        if (isUp) this.state = { ...this.state, inputs };
      } else if (isUp) {
        const { id, outs } = await run.event.create(inputs);
        this.state = { id: String(id), inputs, outs: outs as Properties };
      }
      return "";
    } catch (thrown) {
      const { id, properties, message } = thrown as Error & { id?: string; properties: Properties };
      if (id !== undefined) this.state = { id, inputs, outs: properties };
      return message;
    }
  }

  async up(options = OFF): Promise<string> {
    const run = this.newRun(options);
    const error = await this.apply(run);
    run.closeNow();
    return error;
  }

  async destroy(): Promise<void> {
    const run = this.newRun();
    if (this.state !== undefined) await run.event.delete(this.state.id, this.state.outs);
    run.closeNow();
  }
}

async function start(name = "dev") {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const stack = new Stack(sandbox, folder, name);
  return { sandbox, folder, stack, another: (of: string) => new Stack(sandbox, folder, of) };
}

describe("an object that the renamed stack has", () => {
  it.each([
    ["ends cleanly", (run: Run) => run.closeNow()],
    ["is killed once the engine has saved the new name", (run: Run) => run.kill()],
  ])("is not a new stack's of the former name if the `up` in between %s", async (_, end) => {
    const { sandbox, stack, another } = await start();
    expect(await stack.up()).toBe("");
    stack.name = "prod";
    const run = stack.newRun();
    expect(await stack.apply(run)).toBe("");
    await end(run);

    const fresh = another("dev");
    expect(await fresh.up()).toBe("");
    expect(fresh.state?.id).not.toBe(stack.state?.id);
    expect(sandbox.eventPosts).toBe(2);
    await fresh.destroy();
    expect(sandbox).toMatchObject({ deletes: 1, events: [{ id: Number(stack.state?.id) }] });
    // The notes that this run has left are not about the former name.
    expect(await stack.up()).toBe("");
    expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
  });

  it("is not a new stack's either if the stack is renamed twice, or gets its former name back", async () => {
    for (const names of [
      ["test", "prod"],
      ["prod", "dev"],
    ]) {
      const { sandbox, stack, another } = await start();
      expect(await stack.up()).toBe("");
      for (const name of names) {
        stack.name = name;
        expect(await stack.up()).toBe("");
      }
      for (const name of ["dev", "test", "prod"].filter((each) => each !== stack.name)) {
        expect(await another(name).up()).toBe("");
      }
      expect(sandbox.eventPosts).toBe(3);
      expect(new Set(sandbox.events.map(({ id }) => id)).size).toBe(3);
    }
  });

  it("a preview settles nothing", async () => {
    const { sandbox, stack } = await start();
    await stack.up();
    stack.name = "prod";
    const run = stack.newRun();
    await stack.apply(run, false);
    const left = await run.runtime.formerly("tiny/dev::e").journal.notSettled();
    expect(left.map(({ id }) => id)).toEqual([stack.state?.id]);
    run.closeNow();
    expect(sandbox.eventPosts).toBe(1);
  });

  it("a create that only the former name's journal has stays there: it may be of a new stack of that name", async () => {
    const { sandbox, stack, another } = await start();
    await stack.up({ environment: { PULUMI_SKIP_CHECKPOINTS: "" } });
    const fresh = another("dev");
    const killed = fresh.newRun();
    await fresh.apply(killed);
    await killed.kill();
    const made = String(sandbox.events[1]?.id);
    Object.assign(fresh, { state: undefined }); // which the engine had no time to save
    stack.name = "prod";
    expect(await stack.up()).toBe("");
    expect(await fresh.up()).toBe("");
    expect(fresh.state?.id).toBe(made);
    expect(sandbox.eventPosts).toBe(2);
  });

  it("with two stacks of one state, by export and import, each goes on with its object", async () => {
    const { sandbox, stack, another } = await start();
    await stack.up();
    const copy = another("prod");
    copy.state = stack.state;
    for (const each of [copy, stack, copy, stack]) expect(await each.up()).toBe("");
    expect(stack.state?.id).toBe(copy.state?.id);
    expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  });
});

describe("an unresolved create that the renamed stack has", () => {
  it("goes on under the new name, and stops no new stack of the former one", async () => {
    const { sandbox, stack, another } = await start();
    sandbox.fail(LOST);
    expect(await stack.up()).toContain("Look in the account for");
    stack.name = "prod";
    for (let turn = 0; turn < 2; turn++) expect(await stack.up()).toContain("Look in the account for");

    const fresh = another("dev");
    expect(await fresh.up()).toBe("");
    expect(sandbox.eventPosts).toBe(2);
    // After `pulumi state delete`, the journal of the new name still has it.
    stack.state = undefined;
    expect(await stack.up()).toContain("Look in the account for");
    expect(sandbox.eventPosts).toBe(2);
  });
});

it("events of a set: those that exist, and the unresolved one", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const events = { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } };
  const declared = { advertiserId: 1, events };
  const options = { ...OFF, ...DELETES };
  const stack = new SetEngine(sandbox, folder);
  sandbox.fail({ ...LOST, after: 1 });
  expect((await stack.up(declared, options)).error).toContain("outcome of 1 event is unknown");
  stack.declares = { identity: "tiny/prod::funnel" };
  expect((await stack.up(declared, options)).error).toContain("outcome of 1 event is unknown");
  const held = Object.values(stack.eventIds);
  expect(held).toHaveLength(1);

  const fresh = new SetEngine(sandbox, folder);
  expect((await fresh.up(declared, options)).error).toBeUndefined();
  expect(Object.values(fresh.eventIds)).not.toContain(held[0]);
  expect(sandbox.eventPosts).toBe(4);

  stack.state = undefined;
  expect((await stack.up(declared, options)).error).toContain("outcome of 1 event is unknown");
  expect(sandbox.eventPosts).toBe(5);
});
