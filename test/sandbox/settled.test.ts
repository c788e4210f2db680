/**
 * R4: what an adoption has settled stays settled, whatever becomes of the adopter. The set keeps its unresolved create for the adopter, since
 * the engine asks about the set first, and forgets it in a later run.
 */
import { expect, it } from "vitest";
import { memberOf } from "../../provider/src/state/identity.js";
import { newFolder } from "../support/folder.js";
import type { newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

type Properties = Record<string, unknown>;
type Run = ReturnType<typeof newRun>;
type End = "closeNow" | "kill";

const A = { eventName: "A", value: 1 };
const WITH = { advertiserId: 1, events: { b: { eventName: "B", value: 1 }, a: A } };
const WITHOUT = { advertiserId: 1, events: { b: { eventName: "B", value: 1 } } };
const MEMBER = memberOf("ConversionEventSet::organization/tiny/dev::funnel", "a");

/** A set whose event `a` was created, and the answer lost; the program moves it to a resource of its own. */
async function start(environment: Readonly<Record<string, string>> = {}) {
  const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const folder = newFolder();
  const engine = new SetEngine(sandbox, folder);
  sandbox.fail({ on: "event", act: true, after: 1, with: { kind: "close-without-answer" } });
  expect((await engine.up(WITH, { environment })).error).toContain("outcome of 1 event is unknown");
  expect(Object.keys(engine.unresolved)).toEqual(["a"]);
  const id = String(sandbox.events.find(({ event_name }) => event_name === "A")?.id);

  const run = { isUp: true, resources: 2 };
  /** The single resource, as the engine has it. */
  let held: { id: string; outs: Properties; inputs: Properties } | undefined;
  const checked = async ({ event }: Run, more: Properties) => {
    // The program's half names the create only to what may have its object.
    const formerly = more.eventName === undefined ? [MEMBER] : undefined;
    const identity = { identity: "tiny/dev::x", run, formerly };
    const { inputs = {} } = await event.check(held?.inputs ?? {}, {
      advertiserId: 1,
      ...A,
      __identity: identity,
      ...more,
    });
    return inputs as Properties;
  };
  const adopt = async (now: Run, more: Properties = {}) => {
    const inputs = await checked(now, { existingId: Number(id), ...more });
    const { id: adopted, outs = {} } = await now.event.create(inputs);
    held = { id: String(adopted), outs: outs as Properties, inputs };
  };
  const goOn = async (now: Run, more: Properties) => {
    const { id: of = "", outs = {} } = held ?? {};
    await now.event.diff(of, outs, await checked(now, more));
  };
  /** The set, and then `work`, in one run of the whole program. @returns why it stopped. */
  const up = async (work: (run: Run) => Promise<void>, end: End = "closeNow", of = engine) => {
    of.declares = { run, adopted: id, adoptedAs: of === engine ? { [MEMBER]: id } : undefined };
    const now = of.newRun({ environment });
    const error = await of.apply(now, WITHOUT);
    await work(now);
    await now[end]();
    return error;
  };
  /** The set alone: the adopter has left the program. */
  const upOfSet = async (of = engine) => {
    of.declares = {};
    return (await of.up(WITHOUT, { environment })).error;
  };
  const onAnotherMachine = () => {
    const other = new SetEngine(sandbox, newFolder());
    other.state = structuredClone(engine.state);
    return other;
  };
  return { sandbox, engine, id, adopt, goOn, up, upOfSet, onAnotherMachine };
}

it("the adopter leaves the program: the set drops the create, and nothing waits for it", async () => {
  const { sandbox, engine, id, adopt, up, upOfSet } = await start();
  expect(await up(adopt)).toBe(undefined);
  expect(engine.unresolved.a).toMatchObject({ adoptedAs: id });
  expect(await upOfSet()).toBe(undefined);
  expect(engine.unresolved).toEqual({});
  expect(sandbox.eventPosts).toBe(2);
});

it("another machine has seen the adopter in the state: it knows it too", async () => {
  const { sandbox, adopt, goOn, up, upOfSet, onAnotherMachine } = await start();
  await up(adopt);
  const [other, stranger] = [onAnotherMachine(), onAnotherMachine()];
  expect(await up((now) => goOn(now, { value: 2 }), "closeNow", other)).toBe(undefined);
  expect(await upOfSet(other)).toBe(undefined);
  expect(other.unresolved).toEqual({});
  expect(await upOfSet(stranger)).toContain("outcome of 1 event is unknown");
  expect(sandbox.eventPosts).toBe(2);
});

it("a kill after the adoption: the create stays unresolved until the state has the adopter", async () => {
  const { sandbox, engine, adopt, up, upOfSet } = await start();
  await up(adopt, "kill");
  expect(await upOfSet()).toContain("outcome of 1 event is unknown");
  expect(await up(adopt)).toBe(undefined);
  expect(await upOfSet()).toBe(undefined);
  expect(engine.unresolved).toEqual({});
  expect(sandbox.eventPosts).toBe(2);
});

it("without checkpoints, what the state has is known from the next run on", async () => {
  const { sandbox, engine, adopt, goOn, up, upOfSet } = await start({ PULUMI_SKIP_CHECKPOINTS: "true" });
  await up(adopt);
  const kept = structuredClone(engine.state);
  expect(await upOfSet()).toContain("outcome of 1 event is unknown");
  engine.state = kept;
  await up((now) => goOn(now, { value: 2 }));
  expect(await upOfSet()).toBe(undefined);
  expect(engine.unresolved).toEqual({});
  expect(sandbox.eventPosts).toBe(2);
});

it("another object is adopted: the create stays unresolved, and declared again it is not sent", async () => {
  const { sandbox, engine, adopt, up, upOfSet } = await start();
  await up((now) => adopt(now, { eventName: "Other" }));
  expect(await upOfSet()).toContain("outcome of 1 event is unknown");
  engine.declares = {};
  expect((await engine.up(WITH)).error).toContain("outcome of 1 event is unknown");
  expect(sandbox.eventPosts).toBe(2);
});

it("its key is declared again: it is not sent, whatever was adopted for it", async () => {
  const { sandbox, engine, adopt, up } = await start();
  await up(adopt);
  engine.declares = {};
  expect((await engine.up(WITH)).error).toContain("outcome of 1 event is unknown");
  expect(sandbox.eventPosts).toBe(2);
});
