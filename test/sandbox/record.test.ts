/**
 * What follows from Pulumi's record: a killed run's creates are known on every machine, also without its disk; what ended
 * cleanly counts by the state alone; and who has an object. Nothing is sent twice, and nothing is lost.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { pendingCommand } from "../../provider/src/cli/pending.js";
import type * as pulumi from "../../provider/src/cli/pulumi.js";
import { processIdentity } from "../../provider/src/files/index.js";
import type { Runtime } from "../../provider/src/operations/index.js";
import type { FaultRule } from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf, journalsOf, type RunOptions, withClock } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import {
  AdvertiserEngine,
  EventEngine,
  journalFiles,
  killed,
  runProgram,
  SetEngine,
  wordsOf,
} from "../support/set-engine.js";

type Engine = EventEngine | SetEngine;

const acting = vi.hoisted(() => ({
  engine: undefined as unknown,
}));

vi.mock("../../provider/src/cli/pulumi.js", async (original) => {
  const { pulumiOf } = await import("../support/pulumi-command.js");
  return {
    ...(await original<typeof pulumi>()),
    ...pulumiOf(() => acting.engine as Engine),
  };
});

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };
const NOT_MADE: FaultRule = { ...LOST, act: false };
const E = { eventName: "E", value: 1 };
const OTHER = { eventName: "Other", advertiserId: 1, value: 1 };

/** For a run that waits until a search counts. */
const withoutWaiting = (runtime: Runtime) => withClock(runtime, new FakeClock(Date.now()));

const FORMS = ["a single event", "a set that is created", "a set that is updated"] as const;
type Form = (typeof FORMS)[number];

/** @param isFirst whether the stack has nothing else. */
async function start(form: Form, isFirst = true) {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const isSet = form !== "a single event";
  /** The resource whose create is interrupted, on a machine. */
  const on = (folder: string): Engine =>
    isSet ? new SetEngine(sandbox, folder, "e") : new EventEngine(sandbox, folder, "e");
  const set = (events: object) => ({ advertiserId: 1, events });
  const before = { a: { eventName: "A", value: 1 } };
  const isUpdated = form === "a set that is updated";
  const declared = isSet
    ? set({ ...(isUpdated && before), k: E })
    : { advertiserId: 1, ...E };
  const other = () => new EventEngine(sandbox, newFolder(), "other");
  if (!isFirst) await other().up(OTHER);
  if (isUpdated) await on(newFolder()).up(set(before));
  const sentBefore = sandbox.eventPosts;
  const idOf = ({ state }: Engine) => {
    const { eventId, eventIds } = (state?.outputs ?? {}) as {
      eventId?: number;
      eventIds?: Record<string, number>;
    };
    return isSet ? eventIds?.k : eventId;
  };
  /** The creates of the event that arrived. */
  const posts = () => sandbox.eventPosts - sentBefore;
  const madeId = () => sandbox.events.find(({ event_name }) => event_name === "E")?.id;
  const name = isSet ? "e/k" : "e";
  const ASKS = new RegExp(
    `Look in the account for.*named "E".*pending --created '${name}=.*pending --not-created '${name}'`,
    "s",
  );
  /** Preview and `up` on a machine stop with the commands, and send nothing. */
  const expectAsked = async (engine: Engine, options?: RunOptions) => {
    const sent = posts();
    expect(await engine.preview(declared, options)).toMatch(ASKS);
    expect((await engine.up(declared, options)).error).toMatch(ASKS);
    expect(posts()).toBe(sent);
  };
  /** The object is managed, and each further run on any machine changes nothing. */
  const expectManaged = async (engine: Engine, sent: number) => {
    expect((await engine.up(declared)).error).toBeUndefined();
    expect([idOf(engine), posts()]).toEqual([madeId(), sent]);
    for (const each of [engine, on(here), on(newFolder())]) {
      expect(await each.preview(declared)).toBe("");
      expect((await each.up(declared)).error).toBeUndefined();
    }
    expect([idOf(engine), posts()]).toEqual([madeId(), sent]);
    const names = sandbox.events.map(({ event_name }) => event_name);
    expect(new Set(names).size).toBe(names.length);
  };
  return {
    sandbox,
    here,
    on,
    declared,
    other,
    idOf,
    posts,
    madeId,
    name,
    ASKS,
    expectAsked,
    expectManaged,
  };
}

/** Runs `pending` on the machine of an engine. @returns its exit code and output. */
async function pending(engine: Engine, ...args: string[]) {
  acting.engine = engine;
  vi.stubEnv("XDG_STATE_HOME", engine.folder);
  vi.stubEnv("PULUMI_BACKEND_URL", "file:///states");
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(line));
  onTestFinished(() => void vi.unstubAllEnvs());
  const code = await pendingCommand(args);
  log.mockRestore();
  return { code, output: lines.join("\n") };
}

describe.each(FORMS.flatMap((form) => [true, false].map((isFirst) => ({ form, isFirst }))))(
  "$form, killed (the first of its stack: $isFirst)",
  ({ form, isFirst }) => {
    it.each([1, 2, 3])(
      "without its disk, %d times: it is asked about, and a true answer from anywhere leads to each object once",
      async (kills) => {
        const { on, declared, posts, madeId, name, expectAsked, expectManaged } =
          await start(form, isFirst);
        for (let kill = 0; kill < kills; kill++) await on(newFolder()).upAndKill(declared);
        expect(posts()).toBe(1);
        await expectAsked(on(newFolder()));
        await on(newFolder()).upAndKill(declared);
        await expectAsked(on(newFolder()));
        const { code, output } = await pending(
          on(newFolder()),
          "--created",
          `${name}=${madeId()}`,
        );
        expect([code, output]).toEqual([
          0,
          expect.stringContaining(`Resolved as created with id ${madeId()}: ${name}`),
        ]);
        await expectManaged(on(newFolder()), 1);
      },
    );

    it("without its disk, and a refresh, which Pulumi advises, comes first: it warns, and sends nothing", async () => {
      const { on, declared, other, expectAsked } = await start(form, isFirst);
      await on(newFolder()).upAndKill(declared);
      // Without a resource in the state, no provider is asked. A set's refresh saves the create.
      const isSetUpdated = form === "a set that is updated";
      const refreshing = isSetUpdated ? on(newFolder()) : other();
      if (isFirst && !isSetUpdated) return;
      const { run, error } = await refreshing.refresh();
      expect([error, wordsOf(run)]).toEqual([
        undefined,
        expect.stringContaining("Don't let it clear pending creates"),
      ]);
      await expectAsked(on(newFolder()));
    });

    it("without its disk, and again with its disk: it is asked about, and sent no second time", async () => {
      const { here, on, declared, expectAsked } = await start(form, isFirst);
      await on(newFolder()).upAndKill(declared);
      for (const _ of [1, 2]) await on(here).upAndKill(declared);
      await expectAsked(on(here));
    });

    it("without its disk, before anything arrived: a true answer leads to one create", async () => {
      const { sandbox, on, declared, posts, name, expectAsked, expectManaged } =
        await start(form, isFirst);
      sandbox.fail(NOT_MADE);
      await on(newFolder()).upAndKill(declared);
      await expectAsked(on(newFolder()));
      const there = on(newFolder());
      const { code, output } = await pending(there, "--not-created", name);
      // No resource is left in the state that could keep the answer.
      if (isFirst && form === "a single event") {
        expect(output).toContain("npx pulumi-advertising pending --clear");
        await pending(there, "--clear");
      }
      expect([code, posts()]).toEqual([0, 1]);
      await expectManaged(on(newFolder()), 2);
    });

    it.each([true, false])(
      "is answered at once, on a machine without its disk (created: %s)",
      async (isMade) => {
        const { sandbox, on, declared, madeId, name, expectManaged } = await start(
          form,
          isFirst,
        );
        if (!isMade) sandbox.fail(NOT_MADE);
        await on(newFolder()).upAndKill(declared);
        const there = on(newFolder());
        const listed = await pending(there);
        expect([listed.code, listed.output]).toEqual([
          1,
          expect.stringContaining(
            `  ${name}: look in the account ${new URL(sandbox.url).host} ${sandbox.email} for`,
          ),
        ]);
        const answer = isMade
          ? ["--created", `${name}=${madeId()}`]
          : ["--not-created", name];
        expect((await pending(there, ...answer)).code).toBe(0);
        // Without another resource in the state, the answer stays on the machine.
        const isAnywhere = !isFirst || form === "a set that is updated";
        await expectManaged(isAnywhere ? on(newFolder()) : there, isMade ? 1 : 2);
      },
    );

    it("with its disk: what was answered is taken over without a question, also after a second kill", async () => {
      const { here, on, declared, posts, expectManaged } = await start(form, isFirst);
      await on(here).upAndKill(declared);
      expect(await on(here).preview(declared)).toMatch(/takes it over/);
      await on(here).upAndKill(declared);
      expect(posts()).toBe(1);
      await expectManaged(on(here), 1);
      expect(journalFiles(here)).toEqual([]);
    });

    it("with its disk: what was not answered is asked about, and sent once if it wasn't created", async () => {
      const { sandbox, here, on, declared, name, expectAsked, expectManaged } = await start(
        form,
        isFirst,
      );
      sandbox.fail(NOT_MADE);
      await on(here).upAndKill(declared);
      await expectAsked(on(here));
      expect((await pending(on(here), "--not-created", name)).code).toBe(0);
      await expectManaged(on(here), 2);
      await pending(on(here), "--clear");
      await expectManaged(on(here), 2);
      expect(journalFiles(here)).toEqual([]);
    });

    it("before it sent anything: its disk shows that, and it is sent without a question", async () => {
      const { sandbox, here, on, declared, posts, expectManaged } = await start(
        form,
        isFirst,
      );
      sandbox.fail({
        on: "authenticate",
        with: { kind: "answer", status: 503 },
        times: 100,
      });
      rmSync(`${here}/session.json`, { force: true });
      await on(here).upAndKill(declared, undefined, { settings: { maxWaitSeconds: "0" } });
      expect(posts()).toBe(0);
      sandbox.endFaults();
      await expectManaged(on(here), 1);
    });

    it("and cleared from Pulumi's record: its disk never sends it again, and asks unless the record has a run of its state", async () => {
      const { here, on, declared, expectAsked, expectManaged, posts } = await start(
        form,
        isFirst,
      );
      await on(here).upAndKill(declared);
      on(here).saved.clearCreates();
      if (isFirst && form !== "a set that is updated") await expectAsked(on(here));
      else await expectManaged(on(here), 1);
      expect(posts()).toBe(1);
    });

    it("its results could not be saved, though it ended cleanly: it is asked about, here and elsewhere", async () => {
      const { here, on, declared, madeId, name, expectAsked, expectManaged } = await start(
        form,
        isFirst,
      );
      const { saved } = on(here);
      saved.isStuck = true;
      expect((await on(here).up(declared)).error).toBeUndefined();
      saved.isStuck = false;
      await expectAsked(on(here));
      await expectAsked(on(newFolder()));
      await pending(on(newFolder()), "--created", `${name}=${madeId()}`);
      await expectManaged(on(newFolder()), 1);
    });
  },
);

it.each(FORMS)(
  "%s, killed twice without its disk, is found by the mark of the first sending",
  async (form) => {
    const { sandbox, on, declared, posts, idOf, madeId } = await start(form);
    const options: RunOptions = {
      settings: operatedSettings({ search: eventOperations.search }),
      adapt: withoutWaiting,
    };
    sandbox.fail(LOST);
    sandbox.fail({ on: "search", with: { kind: "answer", status: 404 }, times: 50 });
    for (const _ of [1, 2]) await on(newFolder()).upAndKill(declared, undefined, options);
    sandbox.endFaults();
    const there = on(newFolder());
    expect((await there.up(declared, options)).error).toBeUndefined();
    expect([idOf(there), posts()]).toEqual([madeId(), 1]);
  },
);

it.each([true, false])(
  "an answer where the state has nothing else (%s) says whether only this machine has it",
  async (isFirst) => {
    const started = await start("a single event", isFirst);
    const { on, declared, madeId, expectAsked, expectManaged } = started;
    await on(newFolder()).upAndKill(declared);
    const there = on(newFolder());
    const { output } = await pending(there, "--created", `e=${madeId()}`);
    expect(output.includes("Only this machine knows e now: run `pulumi up")).toBe(isFirst);
    if (isFirst) await expectAsked(on(newFolder()));
    else await expectManaged(on(newFolder()), 1);
  },
);

describe.each(FORMS)("%s, where Pulumi can't be asked", (form) => {
  it("says so once, and the journal protects as it can", async () => {
    const { sandbox, here, on, declared, posts, expectManaged } = await start(form);
    const { saved } = on(here);
    saved.trouble = "the `pulumi` command is not on the PATH";
    sandbox.fail(LOST);
    await on(here).upAndKill(declared);
    const { error, run } = await on(here).up(declared);
    expect(error).toMatch(/Look in the account for/);
    saved.trouble = undefined;
    const warned = run.told.filter(({ severity }) => severity === "warn");
    expect(warned.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^Pulumi's record of this stack can't be read: the `pulumi` command is not on the PATH\. .*nothing is deleted.*pending --stack \S+` first\.$/,
      ),
    ]);
    expect(posts()).toBe(1);
    await pending(
      on(here),
      "--created",
      `${form === "a single event" ? "e" : "e/k"}=${sandbox.events.at(-1)?.id}`,
    );
    await expectManaged(on(here), 1);
  });

  it("takes over what its killed run has made here", async () => {
    const { here, on, declared, posts, idOf, madeId } = await start(form);
    await on(here).upAndKill(declared);
    on(here).saved.trouble = "no rights";
    expect((await on(here).up(declared)).error).toBeUndefined();
    expect([idOf(on(here)), posts()]).toEqual([madeId(), 1]);
  });
});

describe("moved after a kill", () => {
  const FACES: [string, string | undefined, string | undefined][] = [
    ["from the classes to the plugin", undefined, "default"],
    ["from the plugin to the classes", "default", undefined],
    ["to another provider", "eu", "us"],
  ];
  it.each(
    FACES.flatMap((faces) => [true, false].map((isSet) => [...faces, isSet] as const)),
  )(
    "%s (%s to %s, a set: %s): taken over without a question, and asked about without the disk",
    async (_, from, to, isSet) => {
      for (const isHere of [true, false]) {
        const { sandbox, here, on, declared, posts, idOf, madeId, expectAsked } =
          await start(isSet ? "a set that is created" : "a single event");
        const [before, after] = [on(here), on(isHere ? here : newFolder())];
        const saved = new SavedStack("tiny/dev");
        before.plugin = from;
        after.plugin = to;
        for (const each of [before, after]) each.backend = saved;
        await before.upAndKill(declared);
        expect(posts()).toBe(1);
        if (isHere) {
          expect(await after.preview(declared)).toMatch(/takes it over/);
          expect((await after.up(declared)).error).toBeUndefined();
          expect([idOf(after), posts()]).toEqual([madeId(), 1]);
        } else await expectAsked(after);
        expect(sandbox.events).toHaveLength(1);
      }
    },
  );
});

describe.each([
  ["from the classes to the plugin", undefined, "default"],
  ["from the plugin to the classes", "default", undefined],
])("an unresolved create that the state lists, %s", (_, from, to) => {
  it.each([true, false])(
    "isn't a new resource's of the same name without an alias: preview and `up` say that it isn't created (a set: %s)",
    async (isSet) => {
      const { here, on, declared, posts, name } = await start(
        isSet ? "a set that is created" : "a single event",
      );
      const [before, after] = [on(here), on(here)];
      before.plugin = from;
      after.plugin = to;
      // Killed in one face, unresolved in the state of the other one, and back.
      await after.upAndKill(declared);
      rmSync(journalsOf(here), { recursive: true });
      expect((await before.up(declared)).error).toMatch(/Look in the account for/);
      const isRefused = new RegExp(
        `^1 object isn't created: .*its outcome is unknown.*pending --created '${name}=.*If both are the same object: add the alias "${before.urn}"`,
        "s",
      );
      for (const _ of [1, 2]) {
        expect(await after.preview(declared)).toMatch(isRefused);
        const { error } = await after.up(declared);
        expect(error?.slice(error.indexOf("1 object"))).toMatch(isRefused);
        // This is the resource that can't be created.
        expect(error).not.toContain("--target");
      }
      expect([posts(), after.state]).toEqual([1, undefined]);
      // Another object isn't held up.
      const events = { k: { eventName: "Other", value: 1 } };
      const other = isSet ? { advertiserId: 1, events } : OTHER;
      expect((await after.up(other)).error).toBeUndefined();
      expect(posts()).toBe(2);
    },
  );
});

it.each(["a single event", "a set that is created"] as const)(
  "`up --replace` of %s with an unresolved create asks about it, in the preview too",
  async (form) => {
    const { sandbox, here, on, declared, posts, ASKS } = await start(form);
    const engine = on(here);
    sandbox.fail(LOST);
    expect((await engine.up(declared)).error).toMatch(ASKS);
    const replace = async (isUp: boolean) => {
      const run = engine.newRun();
      const provider = form === "a single event" ? run.event : run.set;
      // The engine gives no old inputs, and calls no `diff`.
      const context = { identity: "tiny/dev::e", run: { isUp, resources: 1 } };
      const checked = await provider.check({}, { ...declared, __sender: context });
      const failures = checked.failures?.map(({ reason }) => reason).join("");
      const error = isUp
        ? (await failureOf(provider.create(checked.inputs ?? {}))).message
        : failures;
      await run.close();
      return error;
    };
    for (const isUp of [false, true]) expect(await replace(isUp)).toMatch(ASKS);
    expect(posts()).toBe(1);
  },
);

it.each([undefined, "own"])(
  "what was only read so far is created, and preview and `up` name the other object (plugin: %s)",
  async (plugin) => {
    const { here, on, declared, posts } = await start("a single event");
    const engine = Object.assign(on(here), { plugin });
    await engine.up(declared);
    const { id = "", outputs = {} } = engine.state ?? {};
    engine.state = { id, outputs, inputs: {}, isRead: true };
    const told = /The old object 2\b.* stays live and unmanaged/;
    expect(await engine.preview(declared)).toMatch(told);
    const { error, run } = await engine.up(declared);
    expect([error, posts()]).toEqual([undefined, 2]);
    expect(wordsOf(run)).toMatch(told);
  },
);

it("what an earlier run has replaced can leave with its unresolved create: its successor has resolved that", async () => {
  const { sandbox, here, on, declared, posts, ASKS } = await start("a single event");
  const engine = on(here);
  sandbox.fail(LOST);
  expect((await engine.up(declared)).error).toMatch(ASKS);
  const { id, outputs, inputs } = engine.state ?? expect.fail();
  const leave = async () => {
    const run = engine.newRun({ command: { command: "up" } });
    const left = await run.event.delete(id, outputs).then(
      () => undefined,
      ({ message }: Error) => message,
    );
    await run.close();
    return left;
  };
  expect(await leave()).toMatch(/Pulumi would forget what is unresolved/);
  const { urn } = engine;
  engine.state = { id: "2", inputs, outputs: { ...declared, eventId: 2 } };
  engine.saved.set(`${urn}#old`, { id, inputs, outputs, isOld: true, resourceUrn: urn });
  expect(await leave()).toBeUndefined();
  expect(posts()).toBe(1);
});

it("the object of an open create that the program has only read since is a true answer", async () => {
  const { here, on, declared, posts, ASKS } = await start("a single event");
  await on(here).upAndKill(declared);
  const engine = on(newFolder());
  acting.engine = engine;
  engine.state = { id: "2", outputs: { eventId: 2 }, inputs: {}, isRead: true };
  expect((await engine.up(declared)).error).toMatch(ASKS);
  expect(engine.state.outputs.__left).toBeUndefined();
  expect(posts()).toBe(1);
});

it("a preview beside another machine's `up` doesn't say for sure that what that has just created is replaced", async () => {
  const { here, on, declared } = await start("a single event");
  const engine = on(here);
  await engine.up(declared);
  const run = engine.newRun({ command: { command: "preview" } });
  // The engine has read the state before.
  const context = { identity: "tiny/dev::e", run: { isUp: false, resources: 1 } };
  await run.event.check({}, { ...declared, __sender: context });
  await run.close();
  expect(wordsOf(run)).toMatch(
    /is replaced \(unless a run that is still in progress has just created 2\)/,
  );
});

describe.each(["a single event", "a set that is created"] as const)(
  "%s has one life after the other",
  (form) => {
    it.each([false, true])(
      "declared again after its removal it is created, with another mark (search known: %s)",
      async (isSearched) => {
        const { sandbox, here, on, declared, posts, idOf } = await start(form);
        const options = isSearched
          ? { settings: operatedSettings({ search: eventOperations.search }) }
          : {};
        const engine = on(here);
        for (const life of [1, 2, 3]) {
          expect((await engine.up(declared, options)).error).toBeUndefined();
          expect([idOf(engine), posts()]).toEqual([1 + life, life]);
          const run = engine.newRun(options);
          await runProgram(run, [[engine, undefined]]);
          await run.close();
          expect(engine.state).toBeUndefined();
        }
        const marks = sandbox.events.map(({ alternative_id }) => alternative_id);
        if (isSearched) expect(new Set(marks).size).toBe(3);
      },
    );

    it("what was taken over after a kill is replaced and replaced again, on any machine", async () => {
      const { here, on, declared, posts, idOf } = await start(form);
      await on(here).upAndKill(declared);
      expect((await on(here).up(declared)).error).toBeUndefined();
      const valued = (value: number) =>
        form === "a single event"
          ? { advertiserId: 1, ...E, value }
          : { advertiserId: 1, events: { k: { ...E, value } } };
      for (const value of [2, 3, 4]) {
        const there = on(newFolder());
        expect((await there.up(valued(value))).error).toBeUndefined();
        expect([idOf(there), posts()]).toEqual([1 + value, value]);
        expect(await on(newFolder()).preview(valued(value))).toBe("");
      }
    });

    it("killed in a later life: a search finds that life's object", async () => {
      const { sandbox, here, on, declared, posts, idOf } = await start(form);
      const options = { settings: operatedSettings({ search: eventOperations.search }) };
      await on(here).up(declared, options);
      const run = on(here).newRun(options);
      await runProgram(run, [[on(here), undefined]]);
      await run.close();
      sandbox.fail(LOST);
      await on(newFolder()).upAndKill(declared, undefined, options);
      const there = on(newFolder());
      expect((await there.up(declared, options)).error).toBeUndefined();
      expect([idOf(there), posts(), sandbox.events.map(({ id }) => id)]).toEqual([
        3,
        2,
        [2, 3],
      ]);
    });

    it("two states with the same guessed place have two objects, and neither deletes the other's", async () => {
      const { sandbox, here, on, declared, other, posts, idOf } = await start(form);
      const options = { settings: operatedSettings({ delete: eventOperations.delete }) };
      const [one, two] = [on(here), on(here)];
      two.backend = new SavedStack("tiny/dev");
      for (const each of [one, two]) each.declares = { deletes: true };
      for (const each of [one, two, one, two])
        expect((await each.up(declared, options)).error).toBeUndefined();
      expect([idOf(one), idOf(two), posts()]).toEqual([2, 3, 2]);
      expect(await two.destroy(options)).toBeUndefined();
      expect([sandbox.events.map(({ id }) => id), sandbox.deletes]).toEqual([[2], 1]);
      // The other one's killed run is at most a question.
      const beside = other();
      beside.backend = two.backend;
      await beside.up(OTHER);
      const sent = sandbox.eventPosts;
      one.state = undefined;
      await one.upAndKill(declared);
      expect(sandbox.eventPosts).toBe(sent + 1);
      const { error = "" } = await two.up(declared);
      expect(error).toMatch(/Only this machine's journal has it/);
      expect(sandbox.eventPosts).toBe(sent + 1);
      expect((await one.up(declared)).error).toBeUndefined();
      expect([idOf(one), sandbox.eventPosts]).toEqual([5, sent + 1]);
    });
  },
);

describe("names that several creates have", () => {
  const NAMES = ["web", "my:Comp$::web", "alone", "--created", "funnel/a"];

  /** Creates of unknown outcome: those of events with these names, and of sets' events. */
  async function unresolved() {
    const sandbox = await operatedSandbox();
    const folder = newFolder();
    const events = NAMES.map((name) => new EventEngine(sandbox, folder, name));
    const sets = ["web", "funnel"].map((name) => new SetEngine(sandbox, folder, name));
    const program = [
      ...events.map((each, at) => [each, { advertiserId: 1, ...E, eventName: `E${at}` }]),
      ...sets.map((each, at) => [
        each,
        { advertiserId: 1, events: { a: { ...E, eventName: `S${at}` } } },
      ]),
    ] as unknown as Parameters<typeof runProgram>[1];
    const [one] = events as [EventEngine];
    for (const each of [...events, ...sets]) each.backend = one.saved;
    sandbox.fail({ ...NOT_MADE, times: 7 });
    const run = async (isUp: boolean) => {
      const now = one.newRun();
      const errors = await runProgram(now, program, isUp);
      await now.close();
      return errors.join("\n");
    };
    return { sandbox, one, run };
  }

  /** The words of the printed answers that creates were not carried out. */
  const answersIn = (text: string) => {
    const lines = text.match(/pending --not-created.*(?= --stack)/g) ?? [];
    return lines.flatMap((line) => {
      const words = line.matchAll(/--not-created[= ]'([^']*)'/g);
      return Array.from(words, ([, name = ""]) => `--not-created=${name}`);
    });
  };

  it.each(["the next `up`", "the next preview", "`pending`"])(
    "are told apart in what %s prints, which resolves all as printed",
    async (where) => {
      const { sandbox, one, run } = await unresolved();
      await run(true);
      expect(sandbox.eventPosts).toBe(7);
      const printed =
        where === "`pending`"
          ? (await pending(one)).output
          : await run(where.endsWith("`"));
      const answers = answersIn(printed);
      expect(answers).toHaveLength(7);
      expect(answers).toContain("--not-created=alone");
      expect((await pending(one, ...answers)).output).toMatch(/No create is unresolved/);
      expect(await run(true)).toBe("\n".repeat(6));
      expect(sandbox.eventPosts).toBe(14);
    },
  );
});

describe("who has an object", () => {
  const DELETES = { settings: operatedSettings({ delete: eventOperations.delete }) };

  async function twoWithOne() {
    const sandbox = await operatedSandbox();
    const engine = (name: string) => {
      const made = new EventEngine(sandbox, newFolder(), name);
      made.declares = { deletes: true };
      return made;
    };
    const [a, b] = [engine("a"), engine("b")];
    const declared = { advertiserId: 1, ...E };
    await a.up(declared, DELETES);
    const adopt = async () => (await b.up({ ...declared, existingId: 2 }, DELETES)).error;
    expect(await adopt()).toContain('existingId 2 belongs to ConversionEvent "a"');
    // Where Pulumi can't be asked, a run of `b` alone doesn't know that.
    a.saved.trouble = "no rights";
    expect(await adopt()).toBeUndefined();
    a.saved.trouble = undefined;
    return { sandbox, a, b, declared };
  }

  it.each(["a", "b"] as const)(
    "a destroy of one of two (%s) deletes nothing, and says so; the last one's deletes it",
    async (which) => {
      const { sandbox, ...two } = await twoWithOne();
      const [leaving, staying] = which === "a" ? [two.a, two.b] : [two.b, two.a];
      const run = leaving.newRun({
        ...DELETES,
        command: { command: "destroy", targets: [leaving.urn] },
      });
      for (const work of leaving.leave(run)) await work();
      await run.close();
      expect(wordsOf(run)).toMatch(
        new RegExp(
          `2\\) leaves the state and isn't deleted, because it also belongs to ${staying.name}\\.$`,
        ),
      );
      expect([sandbox.deletes, sandbox.events.length, leaving.state]).toEqual([
        0,
        1,
        undefined,
      ]);
      expect(await staying.destroy(DELETES)).toBeUndefined();
      expect([sandbox.deletes, sandbox.events, sandbox.eventPosts]).toEqual([1, [], 1]);
    },
  );

  it.each([
    ["classes", undefined, "default"],
    ["plugin", "default", undefined],
  ])(
    "what leaves the %s and is adopted under its name in the other face stays",
    async (_, from, to) => {
      const sandbox = await operatedSandbox();
      const engine = (name: string, plugin: string | undefined) => {
        const made = new EventEngine(sandbox, newFolder(), name);
        made.plugin = plugin;
        made.declares = { deletes: true };
        return made;
      };
      const declared = { advertiserId: 1, ...E };
      const other = engine("other", from);
      await engine("a", from).up(declared, DELETES);
      await other.up(OTHER, DELETES);
      const { trouble } = other.saved;
      // The other face's process begins at the same time.
      other.saved.trouble = "no rights";
      const moved = engine("a", to);
      expect(
        (await moved.up({ ...declared, existingId: 2 }, DELETES)).error,
      ).toBeUndefined();
      other.saved.trouble = trouble;
      const run = other.newRun(DELETES);
      const program = [
        [other, OTHER] as const,
        [engine("a", from), undefined] as const,
      ] as const;
      expect(await runProgram(run, program)).toEqual([undefined, undefined]);
      await run.close();
      expect(wordsOf(run)).toMatch(/"a" \(2\) .*because it also belongs to a\./);
      expect([sandbox.deletes, moved.state?.id]).toEqual([0, "2"]);
    },
  );

  it("the removal of one of two deletes nothing", async () => {
    const { sandbox, a, b, declared } = await twoWithOne();
    const run = a.newRun(DELETES);
    expect(
      await runProgram(run, [
        [a, undefined],
        [b, { ...declared, existingId: 2 }],
      ]),
    ).toEqual([undefined, undefined]);
    await run.close();
    expect([sandbox.deletes, sandbox.eventPosts, a.state, b.state?.id]).toEqual([
      0,
      1,
      undefined,
      "2",
    ]);
  });

  it.each([
    [
      "can't be read",
      (saved: SavedStack) => {
        saved.trouble = "no rights";
      },
    ],
    [
      "is another backend's",
      (saved: SavedStack) => {
        saved.resources.clear();
      },
    ],
  ])(
    "without a record that shows the delete itself (it %s), nothing is deleted, and that is said",
    async (_, change) => {
      const { sandbox, a } = await twoWithOne();
      const { id, outputs } = a.state ?? expect.fail();
      const record = a.saved.copy();
      change(record);
      const run = a.newRun({ ...DELETES, saved: record, command: { command: "destroy" } });
      await run.event.delete(id, outputs);
      await run.close();
      expect(wordsOf(run)).toMatch(
        /2\)? leaves the state and isn't deleted, because Pulumi's record doesn't show whether it also belongs to another resource\./,
      );
      expect(sandbox.deletes).toBe(0);
    },
  );
});

it.each(["", "if the advertiser leaves first", "if the record can't be read"])(
  "an answer that an advertiser with the event's number keeps is the event's %s",
  async (when) => {
    const isUnreadable = when.includes("read");
    const sandbox = await operatedSandbox();
    const here = newFolder();
    const ghost = () => new AdvertiserEngine(sandbox, newFolder(), "ghost");
    const p = (folder: string) => new EventEngine(sandbox, folder, "p");
    const adopted = { advertiserName: "Ghost", existingId: 2 };
    const declared = { advertiserId: 1, ...E };
    await ghost().up(adopted);
    await p(here).upAndKill(declared);
    expect((await pending(p(newFolder()), "--created", "p=2")).code).toBe(0);
    if (when.includes("leaves")) {
      adopted.existingId = 7;
      expect((await ghost().up(adopted)).error).toBeUndefined();
    }
    const run = p(here).newRun();
    const { saved } = p(here);
    if (isUnreadable) saved.trouble = "no rights";
    await runProgram(run, [
      [ghost(), adopted],
      [p(here), declared],
    ]);
    await run.close();
    expect(sandbox.eventPosts).toBe(1);
    if (!isUnreadable) expect(p(here).state?.id).toBe("2");
  },
);

it("answers about a stack of which nothing is in the state yet: what was created keeps the others", async () => {
  const sandbox = await operatedSandbox();
  const engines = (folder: string) =>
    ["a", "b"].map((name) => new EventEngine(sandbox, folder, name)) as [
      EventEngine,
      EventEngine,
    ];
  const run = async (folder: string) => {
    const both = engines(folder);
    const now = both[0].newRun();
    const program = both.map(
      (each) => [each, { advertiserId: 1, eventName: each.name, value: 1 }] as const,
    );
    const errors = await runProgram(now, program);
    await now.close();
    return errors;
  };
  const first = engines(newFolder());
  sandbox.fail(LOST);
  sandbox.fail(NOT_MADE);
  await killed(
    first[0].newRun(),
    first.map(
      (each) => [each, { advertiserId: 1, eventName: each.name, value: 1 }] as const,
    ),
  );
  const asked = expect.stringMatching(/outcome/);
  expect(await run(newFolder())).toEqual([asked, asked]);
  const [there] = engines(newFolder());
  const made = sandbox.events[0]?.event_name;
  const other = made === "a" ? "b" : "a";
  await pending(there, "--created", `${made}=2`, "--not-created", String(other));
  for (const _ of [1, 2]) expect(await run(newFolder())).toEqual([undefined, undefined]);
  expect(sandbox.events.map(({ event_name }) => event_name)).toEqual([made, other]);
  expect(sandbox.eventPosts).toBe(3);
});

it.each([false, true])(
  "a set that is incomplete: the next run sends what is missing without a question; killed, it is asked or searched for (%s)",
  async (isSearched) => {
    const sandbox = await operatedSandbox();
    const settings = operatedSettings({ search: eventOperations.search });
    const options = isSearched ? { settings } : {};
    const declared = {
      advertiserId: 1,
      events: { a: { eventName: "A", value: 1 }, k: E },
    };
    const incomplete = async () => {
      const set = new SetEngine(sandbox, newFolder(), "s");
      sandbox.fail({
        on: "event",
        after: 1,
        with: { kind: "answer", status: 406, body: { errors: ["busy"] } },
      });
      expect((await set.up(declared, options)).error).toContain("busy");
      return set;
    };
    const set = await incomplete();
    expect((await set.up(declared, options)).error).toBeUndefined();
    expect([Object.keys(set.eventIds), sandbox.eventPosts]).toEqual([["a", "k"], 3]);

    await runProgram(set.newRun(options), [[set, undefined]]);
    const there = await incomplete();
    sandbox.fail(LOST);
    await there.upAndKill(declared, undefined, options);
    expect(sandbox.eventPosts).toBe(6);
    const last = new SetEngine(sandbox, newFolder(), "s");
    const { error } = await last.up(declared, options);
    if (isSearched)
      expect([error, Object.keys(last.eventIds)]).toEqual([undefined, ["a", "k"]]);
    else expect(error).toMatch(/Look in the account for/);
    expect(sandbox.eventPosts).toBe(6);
  },
);

describe("an interrupted update of a set, whose disk is lost, and a run that doesn't make the change again", () => {
  const SET_BACK = "a set that is updated";
  /** Pulumi's next save drops a pending update: the state has to have the create by then. */
  const expectKept = async ({ on, expectAsked, expectManaged, madeId, name }: Killed) => {
    await expectAsked(on(newFolder()));
    await pending(on(newFolder()), "--created", `${name}=${madeId()}`);
    await expectManaged(on(newFolder()), 1);
  };
  type Killed = Awaited<ReturnType<typeof start>>;
  const killed = async (options?: RunOptions) => {
    const made = await start(SET_BACK, false);
    await made.on(newFolder()).upAndKill(made.declared, undefined, options);
    expect(made.posts()).toBe(1);
    return made;
  };
  const before = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };

  it("the program was set back: it stops with the commands, and the state has the create", async () => {
    const made = await killed();
    const { on, posts, ASKS } = made;
    expect(await on(newFolder()).preview(before)).toMatch(ASKS);
    expect((await on(newFolder()).up(before)).error).toMatch(ASKS);
    expect(posts()).toBe(1);
    await expectKept(made);
  });

  it("that run is killed too, and its disk is lost: the same", async () => {
    const { on, declared, expectManaged, madeId } = await killed();
    for (let kill = 0; kill < 2; kill++) await on(newFolder()).upAndKill(before);
    // Only the first one's operation has had the name.
    const asks = /Look in the account for.*pending --created 'e\/k=/s;
    expect(await on(newFolder()).preview(before)).toMatch(asks);
    expect((await on(newFolder()).up(before)).error).toMatch(asks);
    expect((await on(newFolder()).up(declared)).error).toMatch(asks);
    await pending(on(newFolder()), "--created", `e/k=${madeId()}`);
    await expectManaged(on(newFolder()), 1);
  });

  it.each([false, true])(
    "through the plugin, whose check and diff don't know a preview: the same (refreshed: %s)",
    async (isRefreshed) => {
      const sandbox = await operatedSandbox();
      const on = () => {
        const engine = new SetEngine(sandbox, newFolder(), "e");
        engine.plugin = "default";
        return engine;
      };
      await on().up(before);
      const declared = { advertiserId: 1, events: { ...before.events, k: E } };
      await on().upAndKill(declared);
      if (isRefreshed) expect((await on().refresh()).error).toBeUndefined();
      const ASKS = /Look in the account for.*pending --created 'e\/k=/s;
      expect(await on().preview(before)).toMatch(ASKS);
      for (const each of [before, declared, declared])
        expect((await on().up(each)).error).toMatch(ASKS);
      expect(sandbox.eventPosts).toBe(2);
    },
  );

  it("the set gets another name, with an alias, and is set back: the same", async () => {
    const { on, sandbox, declared } = await start(SET_BACK);
    await on(newFolder()).upAndKill(declared);
    const renamed = () => {
      const set = (on(newFolder()) as SetEngine).beside(SetEngine, "renamed");
      set.declares = { formerKeys: [on(newFolder()).ref.key] };
      return set;
    };
    const sent = sandbox.eventPosts;
    for (let run = 0; run < 2; run++)
      expect((await renamed().up(before)).error).toMatch(/pending --created 'renamed\/k=/);
    expect(sandbox.eventPosts).toBe(sent);
    expect(Object.keys(renamed().unresolved)).toEqual(["k"]);
  });

  it("it was also given another name, with an alias, and is refreshed: the state has the create", async () => {
    const { on, sandbox, declared } = await start(SET_BACK);
    const renamed = () => {
      const set = (on(newFolder()) as SetEngine).beside(SetEngine, "renamed");
      set.declares = { formerKeys: [on(newFolder()).ref.key] };
      return set;
    };
    await renamed().upAndKill(declared);
    const sent = sandbox.eventPosts;
    expect((await on(newFolder()).refresh()).error).toBeUndefined();
    expect(on(newFolder()).saved.operations).toEqual([]);
    expect((await renamed().up(declared)).error).toMatch(/pending --created 'renamed\/k=/);
    await pending(renamed(), "--created", `renamed/k=${sandbox.events.at(-1)?.id}`);
    for (let run = 0; run < 2; run++)
      expect((await renamed().up(declared)).error).toBeUndefined();
    expect([Object.keys(renamed().eventIds), sandbox.eventPosts]).toEqual([
      ["a", "k"],
      sent,
    ]);
  });

  describe.each(["the classes", "the plugin"])("of %s", (front) => {
    const startAs = async () => {
      const sandbox = await operatedSandbox();
      const on = (folder: string, name = "e") => {
        const set = new SetEngine(sandbox, folder, name);
        if (front === "the plugin") set.plugin = "default";
        return set;
      };
      const declared = { advertiserId: 1, events: { ...before.events, k: E } };
      await on(newFolder()).up(before);
      await on(newFolder()).upAndKill(declared);
      const { state, saved, urn } = on(newFolder());
      const expectManaged = async (engine: SetEngine) => {
        for (const each of [engine, on(newFolder(), engine.name)]) {
          expect(await each.preview(declared)).not.toMatch(/to create|to replace/);
          expect((await each.up(declared)).error).toBeUndefined();
        }
        expect([engine.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, k: 3 }, 2]);
      };
      return { sandbox, on, declared, state, saved, urn, expectManaged };
    };

    it.each([false, true])(
      "`pulumi state rename`, which keeps the identity: the state has the create (refreshed: %s)",
      async (isRefreshed) => {
        const { on, sandbox, declared, state, saved, urn, expectManaged } = await startAs();
        saved.set(urn, undefined);
        const renamed = () => on(newFolder(), "renamed");
        renamed().state = state;
        const { output } = await pending(renamed());
        expect(output).toMatch(/^1 create is unresolved.*\n {2}e\/k: look in the account/);
        expect(await renamed().preview(declared)).toMatch(/pending --created 'e\/k=/);
        if (isRefreshed) await renamed().refresh();
        const name = isRefreshed ? "renamed/k" : "e/k";
        const answer = await pending(renamed(), "--created", `${name}=3`);
        expect(answer.code).toBe(0);
        expect(sandbox.eventPosts).toBe(2);
        await expectManaged(renamed());
      },
    );

    it.each([false, true])(
      "`pulumi state delete`: this machine keeps the answers, and what is still open (another resource: %s)",
      async (hasOther) => {
        const { on, sandbox, declared, saved, urn, expectManaged } = await startAs();
        saved.set(urn, undefined);
        const other = new EventEngine(sandbox, newFolder(), "other");
        if (hasOther) other.state = { id: "9", inputs: OTHER, outputs: OTHER };
        const here = newFolder();
        const first = await pending(on(here), "--created", "e/k=3");
        expect(saved.operations).toEqual([]);
        expect(first.output).toMatch(
          /Resolved as .* e\/k\nOnly this machine .*\n {2}e\/a: look/s,
        );
        expect((await on(here).up(declared)).error).toMatch(/pending --created 'e\/a=/);
        expect((await pending(on(here), "--created", "e/a=2")).code).toBe(0);
        await expectManaged(on(here));
      },
    );
  });

  it("what was replaced is as before: it stops, and the state has the create", async () => {
    const { on, sandbox } = await start(SET_BACK, false);
    const sent = sandbox.eventPosts;
    const changed = { advertiserId: 1, events: { a: { eventName: "A", value: 2 } } };
    await on(newFolder()).upAndKill(changed);
    const ASKS = /Look in the account for.*pending --created 'e\/a=/s;
    expect(await on(newFolder()).preview(before)).toMatch(ASKS);
    await on(newFolder()).upAndKill(before);
    expect((await on(newFolder()).up(before)).error).toMatch(ASKS);
    expect((await on(newFolder()).up(changed)).error).toMatch(ASKS);
    const newId = `e/a=${sandbox.events.at(-1)?.id}`;
    const { output } = await pending(on(newFolder()), "--created", newId);
    expect(output).toMatch(/^Resolved .*: e\/a\. The old object \d+ stays live/);
    expect((await on(newFolder()).up(changed)).error).toBeUndefined();
    expect(await on(newFolder()).preview(changed)).toBe("");
    expect(sandbox.eventPosts).toBe(sent + 1);
  });

  it("a run of something else: nothing is sent, and it names the way on", async () => {
    const made = await killed();
    const { other, posts } = made;
    const ADVICE = /that this run leaves out: e\/k\. .*`pulumi up`.*without --target/s;
    expect(await other().preview({ ...OTHER, value: 2 })).toMatch(ADVICE);
    const { error } = await other().up({ ...OTHER, value: 2 });
    expect(error).toMatch(ADVICE);
    expect(posts()).toBe(1);
    await expectKept(made);
  });

  it.each([false, true])(
    "a refresh: the state has the create (a read is known: %s)",
    async (isRead) => {
      const made = await killed();
      const { on, posts, declared, ASKS } = made;
      const { read } = eventOperations;
      const options = isRead ? { settings: operatedSettings({ read }) } : {};
      expect((await on(newFolder()).refresh(options)).error).toBeUndefined();
      expect(on(newFolder()).saved.operations).toEqual([]);
      for (const each of [before, declared])
        expect((await on(newFolder()).up(each, options)).error).toMatch(ASKS);
      expect(posts()).toBe(1);
      await expectKept(made);
    },
  );

  it("a refresh on the machine that was killed: what its journal has is taken over, for each machine", async () => {
    const made = await start(SET_BACK, false);
    const { here, on, declared, expectManaged, posts } = made;
    await on(here).upAndKill(declared);
    expect((await on(here).refresh()).error).toBeUndefined();
    await expectManaged(on(newFolder()), 1);
    expect(posts()).toBe(1);
  });

  it("a refresh there, of an event that was replaced: it names the former object", async () => {
    const { here, on, sandbox } = await start(SET_BACK, false);
    const former = (on(here) as SetEngine).eventIds.a;
    const changed = { advertiserId: 1, events: { a: { eventName: "A", value: 2 } } };
    await on(here).upAndKill(changed);
    const posts = sandbox.eventPosts;
    const refreshed = await on(here).refresh();
    const now = sandbox.events.at(-1)?.id;
    expect(wordsOf(refreshed.run)).toContain(
      `is ${now} now. The old object ${former} stays live`,
    );
    for (let run = 0; run < 2; run++)
      expect((await on(newFolder()).up(changed)).error).toBeUndefined();
    expect(sandbox.eventPosts).toBe(posts);
  });

  it("the set is no longer declared: it stops with the commands", async () => {
    const made = await killed();
    const { on, other, ASKS } = made;
    const run = other().newRun();
    const program = [
      [Object.assign(other(), {}), OTHER] as const,
      [on(newFolder()), undefined] as const,
    ] as const;
    const [error] = await runProgram(run, program);
    await run.close();
    expect(error).toMatch(ASKS);
    expect(wordsOf(run)).not.toContain("e/k");
    await expectKept(made);
  });

  describe("the set is declared only after an `await`: the error names two ways on", () => {
    const awaiting = async (options?: RunOptions) => {
      const made = await killed(options);
      const { on, other, declared } = made;
      const batch = [other(), OTHER] as const;
      const set = [on(newFolder()), declared] as const;
      /** @param isAtOnce whether the program declares both before its first `await`. */
      const up = async (isAtOnce: boolean) => {
        const run = other().newRun(options);
        const [refused] = isAtOnce ? [] : await runProgram(run, [batch]);
        const errors = refused ? [refused] : await runProgram(run, [set, batch]);
        await run.close();
        return errors.filter((each) => each !== undefined).join();
      };
      return { ...made, up };
    };

    it("to resolve the create", async () => {
      const { on, up, posts, ASKS } = await awaiting();
      const error = await up(false);
      expect(error).toMatch(ASKS);
      expect(error).toMatch(
        /If it's declared after an await: resolve this first, or declare it before the first await\./,
      );
      await pending(on(newFolder()), "--not-created", "e/k");
      expect([await up(false), posts()]).toEqual(["", 2]);
    });

    it("to declare it at once, where a search is known", async () => {
      const { search } = eventOperations;
      const options = { settings: operatedSettings({ search }), adapt: withoutWaiting };
      const { up, posts } = await awaiting(options);
      expect(await up(false)).toContain("or declare it before the first await");
      expect([await up(true), posts()]).toEqual(["", 1]);
    });
  });
});

it("a set whose creation was killed, and that the program then declares without events: each run names what was sent", async () => {
  const sandbox = await operatedSandbox();
  const on = () => new SetEngine(sandbox, newFolder(), "e");
  const declared = { advertiserId: 1, events: { k: E } };
  await on().upAndKill(declared);
  for (let machine = 0; machine < 2; machine++) {
    const { run, error } = await on().up({ advertiserId: 1, events: {} });
    expect(error).toBeUndefined();
    expect(wordsOf(run)).toContain("also sent 1 create: e/k (outcome unknown)");
  }
  expect((await on().up(declared)).error).toMatch(
    /Look in the account for.*pending --created 'e\/k=/s,
  );
  await pending(on(), "--created", "e/k=2");
  expect((await on().up(declared)).error).toBeUndefined();
  expect(sandbox.eventPosts).toBe(1);
});

it("a killed run created an event that its set no longer declares: each machine knows of it", async () => {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const on = (folder: string) => new SetEngine(sandbox, folder, "e");
  const without = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
  const declared = { advertiserId: 1, events: { ...without.events, k: E } };
  await on(here).upAndKill(declared);
  const id = sandbox.events.find(({ event_name }) => event_name === "E")?.id;
  const { run, error } = await on(here).up(without);
  expect([error, wordsOf(run)]).toMatchObject([
    undefined,
    expect.stringContaining(`also sent 1 create: e/k (${id})`),
  ]);
  const asks = /Look in the account for.*pending --created 'e\/k=/s;
  for (let machine = 0; machine < 2; machine++) {
    expect(await on(newFolder()).preview(declared)).toMatch(asks);
    expect((await on(newFolder()).up(declared)).error).toMatch(asks);
  }
  await pending(on(newFolder()), "--created", `e/k=${id}`);
  expect((await on(newFolder()).up(declared)).error).toBeUndefined();
  expect([on(here).eventIds.k, sandbox.eventPosts]).toEqual([id, 2]);
});

it("an event of a set that a killed run has updated in place, where a search is known too: updated again, not created", async () => {
  const sandbox = await operatedSandbox();
  const { update, search } = eventOperations;
  const options = { settings: operatedSettings({ update, search }) };
  const on = () => new SetEngine(sandbox, newFolder(), "s");
  const declared = (value: number) => ({ advertiserId: 1, events: { k: { ...E, value } } });
  await on().up(declared(1), options);
  const posts = sandbox.eventPosts;
  await on().upAndKill(declared(2), undefined, options);
  for (const _ of [1, 2])
    expect((await on().up(declared(2), options)).error).toBeUndefined();
  expect([sandbox.eventPosts, sandbox.events.at(-1)?.value]).toEqual([posts, 2]);
});

it("an event that a killed run has sent for another advertiser is open, also if this run only updates the earlier one", async () => {
  const sandbox = await operatedSandbox();
  const { update, search } = eventOperations;
  const settings = operatedSettings({ update, search });
  const options = { settings, adapt: withoutWaiting };
  const on = () => new SetEngine(sandbox, newFolder(), "s");
  const declared = (advertiserId: number, value: number) => ({
    ...{ advertiserId, events: { k: { ...E, value } } },
  });
  await on().up(declared(1, 1), options);
  await on().upAndKill(declared(2, 1), undefined, options);
  const posts = sandbox.eventPosts;
  const made = String(sandbox.events.at(-1)?.id);
  const last = on();
  const { error, run } = await last.up(declared(1, 2), options);
  expect(`${error}${wordsOf(run)}`).toContain(made);
  expect(sandbox.eventPosts).toBe(posts);
});

it("several resources of a killed run, some of which were saved: each once", async () => {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const engines = ["a", "b", "c"].map((name) => new EventEngine(sandbox, here, name));
  const program = engines.map(
    (engine) => [engine, { advertiserId: 1, eventName: engine.name, value: 1 }] as const,
  );
  const first = program.slice(0, 1);
  const run = engines[0]?.newRun() ?? expect.fail();
  await runProgram(run, first);
  await run.close();
  await killed(engines[0]?.newRun() ?? expect.fail(), program);
  expect(sandbox.eventPosts).toBe(3);
  const next = engines[0]?.newRun() ?? expect.fail();
  expect(await runProgram(next, program)).toEqual([undefined, undefined, undefined]);
  await next.close();
  expect([engines.map(({ state }) => state?.id), sandbox.eventPosts]).toEqual([
    ["2", "3", "4"],
    3,
  ]);
});

it("an unresolved event of a set that gets another key is not sent under it where Pulumi can't be asked", async () => {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const up = async (key: string) => {
    const set = new SetEngine(sandbox, here, "s");
    set.saved.trouble = "no rights";
    return (await set.up({ advertiserId: 1, events: { [key]: E } })).error;
  };
  sandbox.fail(LOST);
  expect(await up("o")).toMatch(/outcome of 1 create is unknown/);
  for (let time = 0; time < 2; time++) {
    expect(await up("l")).toMatch(/events\["l"\].*: an earlier run sent events\["o"\]/);
    expect(sandbox.eventPosts).toBe(1);
  }
});

it.each([true, false])(
  "an answer that the state has (created: %s) counts where Pulumi can't be asked, whatever this machine's journal has",
  async (isCreated) => {
    const sandbox = await operatedSandbox();
    const set = new SetEngine(sandbox, newFolder(), "s");
    // The run's journal stays, as nothing proves that its state was saved.
    const options = { environment: { PULUMI_SKIP_CHECKPOINTS: "1" } };
    const a = { eventName: "A", value: 1 };
    await set.up({ advertiserId: 1, events: { a } }, options);
    sandbox.fail(isCreated ? LOST : NOT_MADE);
    set.saved.trouble = "no rights";
    const declared = { advertiserId: 1, events: { a, k: E } };
    expect((await set.up(declared, options)).error).toMatch(
      /outcome of 1 create is unknown/,
    );
    const other = { advertiserId: 1, events: { a, p: E } };
    expect((await set.up(other, options)).error).toMatch(/p: 1 object isn't created/);
    set.saved.trouble = undefined;
    await pending(set, ...(isCreated ? ["--created", "s/k=3"] : ["--not-created", "s/k"]));
    set.saved.trouble = "no rights";
    expect((await set.up(other, options)).error).toBeUndefined();
    expect([Object.keys(set.eventIds), sandbox.eventPosts]).toEqual([["a", "p"], 3]);
  },
);

describe("without the record, and with checkpoints off, what the state has is over", () => {
  const options = {
    settings: operatedSettings({}),
    environment: { PULUMI_SKIP_CHECKPOINTS: "1" },
  };
  const begin = async () => {
    return operatedSandbox();
  };

  it("for an event that is replaced", async () => {
    const sandbox = await begin();
    const event = new EventEngine(sandbox, newFolder(), "k");
    event.saved.trouble = "no rights";
    for (const value of [1, 9, 9, 10]) {
      const program = { advertiserId: 1, ...E, value };
      expect((await event.up(program, options)).error).toBeUndefined();
    }
    expect([event.state?.id, sandbox.eventPosts]).toEqual(["4", 3]);
  });

  it.each([true, false])(
    "for a set's event (removed in between: %s)",
    async (isRemoved) => {
      const sandbox = await begin();
      const set = new SetEngine(sandbox, newFolder(), "s");
      set.saved.trouble = "no rights";
      const a = { eventName: "A", value: 1 };
      const up = (events: Record<string, object>) =>
        set.up({ advertiserId: 1, events }, options).then(({ error }) => error);
      await up({ a, k: E });
      const declared = { a, k: { ...E, value: 9 } };
      if (isRemoved) await up({ a });
      // Only its `diff` shows this run that the state has the object.
      else expect(await up(declared)).toMatch(/k: was not sent: .* Run this again\./);
      expect(await up(declared)).toBeUndefined();
      expect([set.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, k: 4 }, 3]);
      expect([await up(declared), sandbox.eventPosts]).toEqual([undefined, 3]);
    },
  );
});

it("an event whose alias is an unresolved event of the state, while the state has it too: refused, in the other one's name", async () => {
  const sandbox = await operatedSandbox();
  const [a, b] = ["a", "b"].map((name) => new EventEngine(sandbox, newFolder(), name)) as [
    EventEngine,
    EventEngine,
  ];
  await a.up(OTHER);
  sandbox.fail(LOST);
  await b.up({ advertiserId: 1, ...E });
  const renamed = new EventEngine(sandbox, newFolder(), "a");
  renamed.declares = { formerKeys: [b.ref.key] };
  const program = [[renamed, { advertiserId: 1, ...E }] as const];
  for (let time = 0; time < 2; time++) {
    const run = renamed.newRun();
    const [error] = await runProgram(run, program, true, 1);
    await run.close();
    expect(error).toMatch(/an earlier run sent ConversionEvent "b".*--created 'b=/s);
  }
  expect(sandbox.eventPosts).toBe(2);
});

it("an unresolved event of the state, which the program gives another name, or drops: nothing is sent", async () => {
  const sandbox = await operatedSandbox();
  const declared = { advertiserId: 1, ...E };
  sandbox.fail(LOST);
  expect((await new EventEngine(sandbox, newFolder(), "e").up(declared)).error).toMatch(
    /outcome of 1 create is unknown/,
  );
  const renamed = new EventEngine(sandbox, newFolder(), "f");
  const refused = /"f": an earlier run sent ConversionEvent "e".*--created 'e=/s;
  expect(await renamed.preview(declared)).toMatch(refused);
  expect((await renamed.up(declared)).error).toMatch(refused);
  expect([sandbox.eventPosts, renamed.state]).toEqual([1, undefined]);

  // Pulumi would drop it from the state.
  const dropped = /unknown.*Pulumi would forget what/s;
  for (const isUp of [false, true]) {
    const run = renamed.newRun();
    const errors = await runProgram(run, [[renamed, OTHER]], isUp);
    await run.close();
    expect(errors).toEqual([expect.stringMatching(dropped)]);
  }
  expect(sandbox.eventPosts).toBe(1);
});

describe("given another name with an alias, and killed: the printed command works", () => {
  const A = { eventName: "A", value: 1 };
  const RENAMED = {
    "a set": [SetEngine, { advertiserId: 1, events: { a: A } }] as const,
    "a single event": [EventEngine, { ...OTHER, value: 5 }] as const,
  };
  const NOW = {
    "a set": { advertiserId: 1, events: { a: A, c: E } },
    "a single event": { advertiserId: 1, ...E },
  };

  it.each([
    ["a set", true],
    ["a set", false],
    ["a single event", true],
    ["a single event", false],
  ] as const)("%s (its disk is there: %s)", async (form, hasDisk) => {
    const sandbox = await operatedSandbox();
    const here = newFolder();
    const [of, before] = RENAMED[form];
    const declared = NOW[form];
    const former = new of(sandbox, here, "web");
    expect((await former.up(before)).error).toBeUndefined();
    const on = (folder: string) => {
      const engine = new of(sandbox, folder, "shop");
      engine.declares = { formerKeys: [former.ref.key] };
      return engine;
    };
    sandbox.fail(LOST);
    await on(here).upAndKill(declared);
    const then = on(hasDisk ? here : newFolder());
    const [, name = ""] = /--created '([^=]+)=/.exec(await then.preview(declared)) ?? [];
    const id = String(sandbox.events.at(-1)?.id);
    expect((await pending(then)).output).toContain(`--created '${name}=`);
    expect(await pending(then, "--created", `${name}=${id}`)).toMatchObject({
      code: 0,
      output: expect.stringContaining(`Resolved as created with id ${id}: ${name}`),
    });
    for (let run = 0; run < 2; run++)
      expect((await then.up(declared)).error).toBeUndefined();
    expect([sandbox.eventPosts, then.state?.outputs.eventIds ?? then.state?.id]).toEqual([
      2,
      form === "a set" ? { a: 2, c: 3 } : id,
    ]);
  });

  it("a set whose events are secret, before it got the name", async () => {
    const sandbox = await operatedSandbox();
    const former = new SetEngine(sandbox, newFolder(), "web");
    const declared = { advertiserId: 1, events: { c: E }, __secret: ["events"] };
    sandbox.fail(NOT_MADE);
    await former.upAndKill(declared);
    const then = new SetEngine(sandbox, newFolder(), "shop");
    then.declares = { formerKeys: [former.ref.key] };
    expect(await then.preview(declared)).toMatch(/"web": .*secret.*--not-created 'web'/s);
    await pending(then, "--not-created", "web");
    expect((await then.up(declared)).error).toBeUndefined();
    expect([sandbox.eventPosts, then.eventIds]).toEqual([2, { c: 2 }]);
  });

  it("a new event, before anything was saved of it", async () => {
    const sandbox = await operatedSandbox();
    const former = new EventEngine(sandbox, newFolder(), "web");
    sandbox.fail(LOST);
    const declared = { advertiserId: 1, ...E };
    await former.upAndKill(declared);
    const then = former.beside(EventEngine, "shop");
    then.declares = { formerKeys: [former.ref.key] };
    expect(await then.preview(declared)).toContain("--created 'web=");
    expect((await pending(then, "--created", "web=2")).code).toBe(0);
    expect((await then.up(declared)).error).toBeUndefined();
    expect([sandbox.eventPosts, then.state?.id]).toEqual([1, "2"]);
  });
});

describe.each([true, false])(
  "a first run without checkpoints, killed (the state has something else: %s)",
  (hasRoot) => {
    const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
    const declared = {
      advertiserId: 1,
      events: { a: { ...E, eventName: "A" }, b: { ...E, eventName: "B" }, c: E },
    };
    /** What this machine's journal knows has the ids 2 and 3. */
    const killedOnce = async () => {
      const sandbox = await operatedSandbox();
      const set = new SetEngine(sandbox, newFolder(), "s");
      if (hasRoot) set.saved.save();
      sandbox.fail({ ...LOST, after: 2 });
      await set.upAndKill(declared, undefined, { environment });
      return { sandbox, set };
    };

    it("one answer after another: the journal stays this state's", async () => {
      const { sandbox, set } = await killedOnce();
      // A killed process leaves its lock.
      const lock = `${journalFiles(set.folder)[0]}.lock`;
      writeFileSync(
        lock,
        JSON.stringify({ ...processIdentity(process.pid), pid: 999_999 }),
      );
      const { output, code } = await pending(set, "--not-created", "s/c");
      expect([code, output]).toEqual([
        0,
        expect.stringMatching(
          /not created: s\/c.*in the state yet:\n {2}s\/a: created as 2/s,
        ),
      ]);
      expect((await set.up(declared, { environment })).error).toBeUndefined();
      expect([set.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, b: 3, c: 5 }, 4]);
    });

    it("all answers at once, also those that this machine's journal knows", async () => {
      const { sandbox, set } = await killedOnce();
      const { code, output } = await pending(
        set,
        ...["--created", "s/a=2", "--created", "s/c=4", "--created", "s/b=3"],
      );
      expect([code, output]).toEqual([
        0,
        expect.stringContaining("Resolved as created with id 2: s/a"),
      ]);
      expect((await set.up(declared, { environment })).error).toBeUndefined();
      expect([set.eventIds, sandbox.eventPosts]).toEqual([{ a: 2, b: 3, c: 4 }, 3]);
      const wrong = await pending(set, "--created", "s/a=9");
      expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining("s/a was") });
    });
  },
);

describe.each(["a single event", "a set"] as const)(
  "%s of which a killed run has changed something, and whose program was set back",
  (form) => {
    const isSet = form === "a set";
    const start = async (...operations: (keyof typeof eventOperations)[]) => {
      const sandbox = await operatedSandbox();
      const known = Object.fromEntries(
        operations.map((each) => [each, eventOperations[each]]),
      );
      const options = { settings: operatedSettings(known) };
      const on = (folder = newFolder()): Engine =>
        isSet ? new SetEngine(sandbox, folder, "e") : new EventEngine(sandbox, folder, "e");
      const of = (value: number) => {
        const more = { advertiserId: 1, eventName: "E", value };
        return isSet
          ? {
              advertiserId: 1,
              events: { k: { eventName: "E", value }, other: { eventName: "O", value: 1 } },
            }
          : more;
      };
      await on().up(of(1), options);
      return { sandbox, options, on, of };
    };
    const eventIn = ({ events }: Awaited<ReturnType<typeof operatedSandbox>>) =>
      events.find(({ event_name }) => event_name === "E");

    it("an update: all its arguments are sent, on any machine, also after a second kill", async () => {
      const { sandbox, options, on, of } = await start("update");
      await on().upAndKill(of(2), undefined, options);
      expect(eventIn(sandbox)?.value).toBe(2);
      if (isSet)
        expect(await on().preview(of(1), options)).toMatch(/to update in place: k \(\d+\)/);
      if (!isSet) await on().upAndKill(of(1), undefined, options);
      const sent = sandbox.updates;
      expect((await on().up(of(1), options)).error).toBeUndefined();
      expect([eventIn(sandbox)?.value, sandbox.updates]).toEqual([1, sent + 1]);
      expect(await on().preview(of(1), options)).toBe("");
      expect((await on().up(of(1), options)).error).toBeUndefined();
      expect([sandbox.updates, sandbox.eventPosts]).toEqual([sent + 1, isSet ? 2 : 1]);
    });

    it("an update, and a refresh comes first: the same", async () => {
      const { sandbox, options, on, of } = await start("update");
      await on().upAndKill(of(2), undefined, options);
      expect((await on().refresh(options)).error).toBeUndefined();
      expect((await on().up(of(1), options)).error).toBeUndefined();
      expect([eventIn(sandbox)?.value, sandbox.updates]).toEqual([1, 2]);
      expect(await on().preview(of(1), options)).toBe("");
    });

    it("an update, and a run of something else comes first: it is refused", async () => {
      const { sandbox, options, on, of } = await start("update");
      const other = () => new EventEngine(sandbox, newFolder(), "other");
      await other().up(OTHER, options);
      await on().upAndKill(of(2), undefined, options);
      const REFUSED = /leaves out: e.* First run `pulumi up` without --target/;
      expect(await other().preview({ ...OTHER, value: 2 }, options)).toMatch(REFUSED);
      expect((await other().up({ ...OTHER, value: 2 }, options)).error).toMatch(REFUSED);
      expect(sandbox).toMatchObject({ updates: 1 });
      expect((await other().up({ ...OTHER, value: 2 })).error).toBeUndefined();
    });

    const says =
      /an interrupted run may have deleted \d+; if it isn't in the account, (?:run|keep the set)/;
    const killedDelete = async (...more: "read"[]) => {
      const begun = await start("delete", ...more);
      const { sandbox, options, on, of } = begun;
      const deleting = () => Object.assign(on(), { declares: { deletes: true } });
      await deleting().up(of(1), options);
      const run = deleting().newRun(options);
      const others = { advertiserId: 1, events: { other: { eventName: "O", value: 1 } } };
      const beside = [new EventEngine(sandbox, newFolder(), "beside"), OTHER] as const;
      await killed(run, [beside, [deleting(), isSet ? others : undefined]]);
      expect([eventIn(sandbox), sandbox.deletes]).toEqual([undefined, 1]);
      return { ...begun, deleting, beside, others };
    };

    it("a delete, and a refresh comes first: that one says what to do", async () => {
      const { options, deleting } = await killedDelete();
      expect(wordsOf((await deleting().refresh(options)).run)).toMatch(says);
    });

    it("a delete: preview and `up` say what to do if the object is gone", async () => {
      const { sandbox, options, of, deleting } = await killedDelete("read");
      expect(await deleting().preview(of(1), options)).toMatch(says);
      expect(wordsOf((await deleting().up(of(1), options)).run)).toMatch(says);
      expect([sandbox.deletes, sandbox.eventPosts]).toEqual([1, isSet ? 3 : 2]);
    });

    it("a delete: if the program changes the object, the preview's cure doesn't take its key away", async () => {
      const { options, of, deleting } = await killedDelete();
      const cure =
        /may have deleted \d+; if it isn't .* run `pulumi up` once without the de/;
      expect(await deleting().preview(of(2), options)).toMatch(cure);
    });

    it("a delete: the preview says so also of what the program no longer declares", async () => {
      const { options, deleting, beside, others } = await killedDelete();
      const run = deleting().newRun(options);
      const adopted = [beside[0], { ...OTHER, existingId: isSet ? 4 : 3 }] as const;
      const without = [deleting(), isSet ? others : undefined] as const;
      await runProgram(run, [adopted, without], false);
      await run.close();
      expect(wordsOf(run)).toMatch(says);
    });
  },
);

it("a set whose update was killed moves to another provider, which takes over what that sent: it leaves the former one", async () => {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const of = (plugin: string) =>
    Object.assign(new SetEngine(sandbox, here, "e"), { plugin });
  const a = { eventName: "A", value: 1 };
  await of("eu").up({ advertiserId: 1, events: { a } });
  await of("eu").upAndKill({ advertiserId: 1, events: { a, k: E } });
  const posts = sandbox.eventPosts;
  const { id = "", outputs = {} } = of("eu").state ?? {};
  const former = of("eu").newRun();
  await former.runtime.record.state();
  const moved = { advertiserId: 1, events: { a: { ...a, existingId: 2 }, k: E } };
  expect((await of("us").up(moved)).error).toBeUndefined();
  await expect(former.set.delete(id, outputs)).resolves.toBeUndefined();
  await former.close();
  expect([sandbox.eventPosts, of("us").eventIds.k]).toEqual([posts, 3]);
});

it("a set's event that was resolved elsewhere, and then renamed: preview and `up` say the same of its create in a journal", async () => {
  const sandbox = await operatedSandbox();
  const here = newFolder();
  const on = (folder = newFolder()) => new SetEngine(sandbox, folder, "e");
  const a = { eventName: "A", value: 1 };
  await on().up({ advertiserId: 1, events: { a } });
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  await on(here).upAndKill({ advertiserId: 1, events: { a, k: E } });
  const adopted = { advertiserId: 1, events: { a, k: { ...E, existingId: 3 } } };
  expect((await on().up(adopted)).error).toBeUndefined();
  const renamed = { advertiserId: 1, events: { a, other: { ...E, formerKey: "k" } } };
  expect((await on().up(renamed)).error).toBeUndefined();
  const previewed = await on(here).preview(renamed);
  const { run } = await on(here).up(renamed);
  expect([previewed, sandbox.eventPosts]).toEqual([wordsOf(run), 2]);
});

it("an `up` through the plugin without a set whose update was killed: it stops with the commands, and the state keeps the set", async () => {
  const sandbox = await operatedSandbox();
  const on = (folder: string) =>
    Object.assign(new SetEngine(sandbox, folder, "e"), { plugin: "default" });
  const a = { eventName: "A", value: 1 };
  await on(newFolder()).up({ advertiserId: 1, events: { a } });
  await on(newFolder()).upAndKill({ advertiserId: 1, events: { a, k: E } });
  expect(sandbox.eventPosts).toBe(2);
  const there = newFolder();
  const { state } = on(there);
  const options = { engineId: "engine" } as const;
  // Before Pulumi saves.
  const preview = on(there).newRun(options);
  await preview.runtime.record.state();
  await preview.close();
  const run = on(there).newRun(options);
  const leaving = Promise.all(
    on(there)
      .leave(run)
      .map((work) => work()),
  );
  await expect(leaving).rejects.toThrow(
    /Look in the account for.*pending --created 'e\/k=.*Pulumi would forget/s,
  );
  await run.close();
  expect(on(there).state).toEqual(state);
});

describe("an `up` that Pulumi has saved for another package before this one reads the record", () => {
  const engineId = "4711 1";

  it("a killed update of a set: what its preview has read is searched for, and nothing is sent again", async () => {
    const sandbox = await operatedSandbox();
    const { search } = eventOperations;
    const options = { settings: operatedSettings({ search }) };
    const on = (folder: string) => new SetEngine(sandbox, folder, "e");
    const before = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
    const declared = { advertiserId: 1, events: { ...before.events, k: E } };
    await on(newFolder()).up(before, options);
    await on(newFolder()).upAndKill(declared, undefined, options);
    const next = on(newFolder());
    const previewed = await next.preview(declared, { ...options, engineId });
    expect(previewed).toContain("to look for on the platform: k");
    next.saved.saveFirst();
    const run = { ...options, engineId, engine: "another address", adapt: withoutWaiting };
    expect((await next.up(declared, run)).error).toBeUndefined();
    expect(next.state?.outputs.eventIds).toEqual({ a: 2, k: 3 });
    expect([sandbox.eventPosts, readdirSync(journalsOf(next.folder))]).toEqual([2, []]);
  });

  it.each(["refresh", "up"])(
    "a killed update of a set, and its `%s --run-program` reads the set first: it keeps what its preview has read",
    async (command) => {
      const sandbox = await operatedSandbox();
      const on = (folder: string) => new SetEngine(sandbox, folder, "e");
      const declared = { advertiserId: 1, events: { k: E } };
      await on(newFolder()).up({ advertiserId: 1, events: {} });
      await on(newFolder()).upAndKill(declared);
      const next = on(newFolder());
      const options = { engineId, command: { command } };
      const preview = next.newRun(options);
      await preview.set.read(next.state?.id ?? "", next.state?.outputs);
      await preview.close();
      next.saved.saveFirst();
      await next.refresh(options);
      expect(next.unresolved).toHaveProperty("k");
      expect((await next.up(declared)).error).toContain("its outcome is unknown");
      expect(sandbox.eventPosts).toBe(1);
    },
  );

  it.each(["a set's event", "a single event"])(
    "a killed change of %s that was undone: all its arguments are sent",
    async (form) => {
      const sandbox = await operatedSandbox();
      const { update } = eventOperations;
      const options = { settings: operatedSettings({ update }) };
      const isSet = form === "a set's event";
      const on = (folder: string): Engine =>
        isSet ? new SetEngine(sandbox, folder, "e") : new EventEngine(sandbox, folder, "e");
      const declared = (value: number) =>
        isSet
          ? { advertiserId: 1, events: { k: { ...E, value } } }
          : { advertiserId: 1, ...E, value };
      await on(newFolder()).up(declared(1), options);
      await on(newFolder()).upAndKill(declared(2), undefined, options);
      const next = on(newFolder());
      const previewed = await next.preview(declared(1), { ...options, engineId });
      expect(previewed).toContain("an interrupted run may have updated 2");
      next.saved.saveFirst();
      await next.up(declared(1), { ...options, engineId });
      expect(sandbox).toMatchObject({ updates: 2, events: [{ value: 1 }] });
    },
  );
});
