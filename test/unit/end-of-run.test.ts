/** What a run says at its end: the ids that leave the state, and open creates that nothing has declared. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Resource, readExport } from "../../provider/src/record/export.js";
import { markOf, otherFormUrn, refOf } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations } from "../support/operated.js";
import { failureOf, journalsOf, newRun, type RunOptions } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import { journalLines } from "../support/set-engine.js";
import { EVENT, encrypted, senderOf, storedEvent, storedSet } from "../support/stored.js";

const PLATFORM = { url: "https://x.example", email: "a@b.c", password: "geheim-password" };
const STACK = "shop/dev";
const EARLIER = "earlier-run1";
const DELETES = {
  settings: { operations: JSON.stringify({ event: { delete: eventOperations.delete } }) },
};

const DELETING = { deletionPolicy: "delete" };
const ACCOUNT = "x.example a@b.c";
const inputsOf = (name: string) => ({ eventName: name, advertiserId: 1, ...EVENT });
const OURS = { __sender: senderOf("", { account: ACCOUNT }) };
const refTo = (name: string) => refOf("ConversionEvent", `${STACK}::${name}`);
/** An event of the program; `deleted` by the engine if it leaves. */
const event = (name: string, id: number, deleted = false): Resource => ({
  ...storedEvent(name, id, deleted ? DELETING : {}, {
    inputs: { ...inputsOf(name), ...OURS },
    retainOnDelete: !deleted,
  }),
});
const ofPlugin = (name: string, id: number, provider: string): Resource => ({
  ...event(name, id),
  urn: otherFormUrn(refTo(name)),
  type: "advertising:index:ConversionEvent",
  provider: `urn:pulumi:dev::shop::pulumi:providers:advertising::${provider}::an-id`,
});
const creating = (name: string) => ({
  type: "creating",
  resource: {
    ...event(name, 0),
    id: "",
    inputs: { ...inputsOf(name), __sender: senderOf("", { run: EARLIER }) },
  },
});
const updating = (...keys: string[]) => {
  const events = Object.fromEntries(keys.map((key) => [key, { eventName: key, value: 1 }]));
  const inputs = {
    advertiserId: 1,
    defaults: {},
    events,
    __sender: senderOf("", { run: EARLIER }),
  };
  return { type: "updating", resource: storedSet("funnel", {}, { inputs }) };
};

interface Situation {
  resources?: Resource[];
  pending?: object[];
  /** The events that the run checks. */
  checks?: string[];
  /** A set that the run checks after these. */
  set?: string;
  /** How many resources the program declares. @default as many */
  declares?: number;
  isUp?: boolean;
  /** More for the check of the first one. */
  news?: object;
  /** The inputs in the state for the first one. */
  olds?: Record<string, unknown>;
  options?: RunOptions;
  folder?: string;
  /** What Pulumi has saved besides, once the run has checked everything. */
  later?: Resource[];
  /** All that Pulumi has saved by the end. */
  savedAtEnd?: Resource[];
}

/** All that the run says after its checks. */
async function endOf(given: Situation): Promise<string[]> {
  const { resources = [], pending: pending_operations = [], checks = [] } = given;
  const { declares = checks.length, isUp = false, folder = newFolder() } = given;
  const deployment = {
    manifest: { time: "2026-03-02T10:00:00Z" },
    resources,
    pending_operations,
  };
  const saved = new SavedStack(STACK);
  let later: Resource[] = [];
  let isOver = false;
  saved.read = async () => {
    let now: object = { ...deployment, resources: [...resources, ...later] };
    if (isOver)
      now = { manifest: { time: "2026-03-02T10:01:00Z" }, resources: given.savedAtEnd };
    return readExport(JSON.stringify({ version: 3, deployment: now }));
  };
  const { command, ...rest } = given.options ?? {};
  const name = isUp ? "up" : "preview";
  const options = { ...rest, command: { command: name, ...command }, saved };
  const run = newRun(PLATFORM, folder, options);
  for (const [at, each] of checks.entries()) {
    const olds = resources.some(({ urn }) => urn.endsWith(`::${each}`)) && inputsOf(each);
    const context = {
      identity: `${STACK}::${each}`,
      run: { isUp, resources: declares },
    };
    const more = at === 0 ? given.news : {};
    const held = at === 0 ? given.olds : undefined;
    await run.event.check(held ?? (olds || {}), {
      ...inputsOf(each),
      __sender: context,
      ...more,
    });
  }
  if (given.set !== undefined) {
    const identity = `${STACK}::${given.set}`;
    const __sender = { identity, run: { isUp, resources: declares } };
    await run.set.check({}, { advertiserId: 1, events: {}, __sender, ...DELETING });
  }
  if (given.later) {
    run.runtime.record.notePassed(({ urn }) => urn === KEPT.urn);
    await run.runtime.record.state();
    later = given.later;
  }
  if (given.savedAtEnd) {
    await run.runtime.record.state();
    run.runtime.record.notePassed(({ urn }) => urn === KEPT.urn);
    isOver = true;
  }
  const before = run.told.length;
  await run.close();
  return run.told.slice(before).map(({ severity, message }) => `${severity}: ${message}`);
}

const STAYS =
  "stays live and unmanaged, and tags placed for it keep firing; once nothing uses it, deactivate it by hand";
const leaves = (name: string, id: number, why?: string) => {
  const fate = `If none of these, its event ${id} ("${name}") ${STAYS}.`;
  const reason = why === undefined ? "" : ` ${id} isn't deleted, because ${why}.`;
  return `info: \`${name}\` is no longer in the program, unless an error ended it early, it waits for an unknown value, or another provider has it. ${fate}${reason}`;
};
const KEPT = event("kept", 1);
const GONE = event("gone", 2);
const both = { resources: [KEPT, GONE], checks: ["kept"] };
const names = (messages: string[]) =>
  messages.flatMap((each) => /^info: `(.*?)` is no longer/.exec(each)?.[1] ?? []);

describe("what leaves the state", () => {
  it.each([false, true])("is named with its id and name (up: %s)", async (isUp) => {
    expect(await endOf({ ...both, isUp })).toEqual([leaves("gone", 2)]);
  });

  it("is named for sure only where the backend has saved its removal: an error may have kept it", async () => {
    const over = { ...both, isUp: true };
    const sure = leaves("gone", 2).replace(/, unless .* of these, its/, ". Its");
    expect(await endOf({ ...over, savedAtEnd: [KEPT] })).toEqual([sure]);
    expect(await endOf({ ...over, savedAtEnd: [KEPT, GONE] })).toEqual([leaves("gone", 2)]);
  });

  const set = storedSet("funnel", {
    events: { a: { eventName: "A" }, b: { eventName: "B" } },
    eventIds: { a: 20, b: 21 },
  });
  const urn = (name: string) => refTo(name).resourceUrn;
  const targeting = (...targets: string[]) => ({ command: { targets } });
  const excluding = (...excludes: string[]) => ({ command: { excludes } });

  it("is what another provider has adopted meanwhile: nothing", async () => {
    const later = [ofPlugin("moved", 2, "eu")];
    expect(await endOf({ ...both, isUp: true, later })).toEqual([]);
  });

  it.each<[string, string[], Situation]>([
    ["nothing: all are declared", [], { resources: [KEPT], checks: ["kept"] }],
    [
      "an undeclared set's members",
      ["funnel/a", "funnel/b"],
      { resources: [KEPT, set], checks: ["kept"] },
    ],
    ["not what may be declared later: a part of the program", [], { ...both, declares: 2 }],
    [
      "not what another resource adopts",
      [],
      {
        ...both,
        news: {
          __sender: {
            identity: `${STACK}::kept`,
            run: { isUp: false, resources: 1 },
            adopted: "ConversionEvent 2",
          },
        },
      },
    ],
    [
      "not what goes on under a new name",
      [],
      {
        resources: [GONE],
        checks: ["kept"],
        olds: { ...inputsOf("gone"), __sender: senderOf(`${STACK}::gone`) },
        news: {
          __sender: {
            identity: `${STACK}::kept`,
            run: { isUp: false, resources: 1 },
            formerKeys: ["ConversionEvent::gone"],
          },
        },
      },
    ],
    ["not after a failed check", [], { ...both, news: { value: "x" } }],
    [
      "only read resources are not this stack's",
      [],
      { resources: [KEPT, { ...GONE, external: true }], checks: ["kept"] },
    ],
    [
      "with --target: only the targets",
      ["gone"],
      { ...both, options: targeting(urn("gone")) },
    ],
    [
      "with --target of others: none",
      [],
      { ...both, declares: 2, options: targeting(urn("kept")) },
    ],
    [
      "with --target: also if the rest of the program isn't checked",
      ["gone"],
      { ...both, declares: 2, options: targeting("**::gone", urn("kept")) },
    ],
    ["with --exclude: not those", [], { ...both, options: excluding(urn("gone")) }],
    ["with --exclude of others", ["gone"], { ...both, options: excluding(urn("kept")) }],
    [
      "not with dependents of the targets, which only the engine knows",
      [],
      { ...both, options: { command: { targets: [urn("kept")], hasDependents: true } } },
    ],
    [
      "not what Pulumi protects: its error says so",
      [],
      { resources: [KEPT, { ...GONE, protect: true }], checks: ["kept"] },
    ],
    ["not in a destroy", [], { ...both, options: { command: { command: "destroy" } } }],
    ["not in a refresh", [], { ...both, options: { command: { command: "refresh" } } }],
  ])("%s: %j", async (_, expected, situation) => {
    expect(names(await endOf(situation))).toEqual(expected);
  });

  it("has no secret name", async () => {
    const secret = { ...GONE, outputs: { ...GONE.outputs, eventName: encrypted } };
    const [message] = await endOf({ resources: [KEPT, secret], checks: ["kept"] });
    expect(message).toContain('its event 2 ("(secret)") stays live');
  });

  it("and is deleted: a preview says so; in an `up` the engine calls `delete`, which says it", async () => {
    const resources = [KEPT, event("gone", 2, true)];
    const situation = { resources, checks: ["kept"], options: DELETES };
    expect(await endOf(situation)).toEqual([
      'info: `gone` is no longer in the program, unless an error ended it early, it waits for an unknown value, or another provider has it. If none of these, `pulumi up` deletes event 2 ("gone") on the platform (deletionPolicy: "delete").',
    ]);
    expect(await endOf({ ...situation, isUp: true })).toEqual([]);
    // The option is off, but no delete is known.
    const why = "advertising:operations has no delete";
    expect(await endOf({ resources, checks: ["kept"] })).toEqual([leaves("gone", 2, why)]);
  });

  it.each<[string, string | undefined, object, object?]>([
    ["Pulumi's option", "the resource has the option retainOnDelete", DELETING],
    [
      "another resource's delete",
      "the resource has the option deletedWith",
      DELETING,
      { retainOnDelete: undefined, deletedWith: urn("owner") },
    ],
    ["default, as nobody asks for a delete", undefined, {}],
  ])(
    "and stays live by %s: preview and `up` give the reason, if there is one",
    async (_, why, outputs, options = {}) => {
      const gone = Object.assign(event("gone", 2), options);
      gone.outputs = { ...gone.outputs, ...outputs };
      const situation = { resources: [KEPT, gone], checks: ["kept"], options: DELETES };
      for (const isUp of [false, true])
        expect(await endOf({ ...situation, isUp })).toEqual([leaves("gone", 2, why)]);
    },
  );

  it("and is deleted through the plugin: named by the preview in an `up` too, where it doesn't know a preview", async () => {
    const { outputs = {} } = event("gone", 2, true);
    const gone = { ...ofPlugin("gone", 2, "default"), retainOnDelete: false, outputs };
    const resources = [KEPT, gone];
    for (const command of ["up", "preview"]) {
      const options = { ...DELETES, provider: "default", command: { command } };
      expect(await endOf({ resources, checks: ["kept"], options })).toEqual([
        expect.stringContaining("`pulumi up` deletes event 2"),
      ]);
    }
  });

  it.each([
    ["no delete is known", {}, ""],
    [
      "a delete is asked for",
      DELETES,
      " 2 isn't deleted, because the program still reads it (`.get`).",
    ],
  ])(
    "is what the program only reads now, though Pulumi saves that at once: %s",
    async (_, options, why) => {
      const saved = new SavedStack(STACK);
      const gone = event("gone", 2, true);
      let resources: Resource[] = [KEPT, gone];
      saved.read = async () => {
        await setImmediate();
        return readExport(JSON.stringify({ version: 3, deployment: { resources } }));
      };
      const run = newRun(PLATFORM, newFolder(), { ...options, saved });
      // Pulumi may ask for this before it checks any resource.
      await run.event.read("2", {});
      resources = [KEPT, { ...gone, external: true }];
      const context = { identity: `${STACK}::kept`, run: { isUp: true, resources: 1 } };
      const news = { ...inputsOf("kept"), __sender: context };
      await run.event.check(inputsOf("kept"), news);
      await run.close();
      const reason =
        why || " 2 isn't deleted, because advertising:operations has no delete.";
      expect(run.told).toMatchObject([
        {
          message: `\`gone\` is only read from now on. Its event 2 ("gone") ${STAYS}.${reason}`,
        },
      ]);
    },
  );

  it("stays live under --target: what the run leaves out may adopt it", async () => {
    const resources = [KEPT, event("gone", 2, true)];
    const targeted = { ...DELETES, ...targeting(urn("gone"), urn("kept")) };
    expect(await endOf({ resources, checks: ["kept"], options: targeted })).toEqual([
      leaves("gone", 2, "this run leaves out resources that may adopt it"),
    ]);
  });

  const leftOut = (what: string, id: number) =>
    `warn: ${what} (${id}) leaves the state and isn't deleted, because this run leaves out resources that may adopt it. Object ${id} ${STAYS}.`;

  it.each([false, true])(
    "is named if this run leaves out the resource that adopts it (up: %s)",
    async (isUp) => {
      const context = { run: { isUp, resources: 2 }, adopted: "ConversionEvent 2" };
      const news = { __sender: { identity: `${STACK}::kept`, ...context } };
      const options = excluding(urn("adopter"));
      const given = { ...both, isUp, news, declares: 2, options };
      expect(await endOf(given)).toEqual([leftOut('ConversionEvent "gone"', 2)]);
    },
  );

  it.each([
    [
      "left out",
      excluding(urn("adopter")),
      {},
      [leftOut('events["b"] of ConversionEventSet "funnel"', 21)],
    ],
    ["checked", excluding(urn("other")), { existingId: 21 }, []],
    ["in the run, since it's whole", {}, {}, []],
  ])(
    "is an event of a set, named if its adopter is %s",
    async (_, { command = {} }: RunOptions, more, expected) => {
      const saved = new SavedStack(STACK);
      saved.read = async () =>
        readExport(JSON.stringify({ deployment: { resources: [set] } }));
      const run = newRun(PLATFORM, newFolder(), { saved, command });
      const context = { run: { isUp: true, resources: 3 }, adopted: "ConversionEvent 21" };
      const identified = (name: string) => ({
        __sender: { identity: `${STACK}::${name}`, ...context },
      });
      const news = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
      const { inputs = {} } = await run.set.check(
        { advertiserId: 1, events: {} },
        { ...news, ...identified("funnel") },
      );
      await run.set.diff(set.id ?? "", set.outputs ?? {}, inputs);
      await run.event.check({}, { ...inputsOf("other"), ...identified("other"), ...more });
      await run.close();
      const told = run.told.map(({ severity, message }) => `${severity}: ${message}`);
      expect(told.filter((each) => each.includes("leaves out"))).toEqual(expected);
    },
  );

  it("can't be adopted by a target alone: the preview fails like the `up`", async () => {
    const saved = new SavedStack(STACK);
    saved.read = async () =>
      readExport(JSON.stringify({ deployment: { resources: [KEPT, GONE] } }));
    const { command } = targeting(urn("new"));
    const run = newRun(PLATFORM, newFolder(), { saved, command });
    const checkOf = (isUp: boolean) => {
      const context = { identity: `${STACK}::new`, run: { isUp, resources: 1 } };
      return run.event.check({}, { ...inputsOf("new"), existingId: 2, __sender: context });
    };
    const { failures = [] } = await checkOf(false);
    const { inputs = {} } = await checkOf(true);
    const { message } = await failureOf(run.event.create(inputs));
    const [{ reason } = { reason: "" }] = failures;
    expect(reason).toMatch(
      /existingId 2 belongs to ConversionEvent "gone", which this run leaves out/,
    );
    expect(message).toBe(reason);
  });

  it("is named with what it has left live before", async () => {
    const __left = [{ id: "7", name: "Old", at: "2026-01-01T00:00:00Z" }, { id: "8" }];
    const gone = { ...GONE, outputs: { ...GONE.outputs, __left } };
    expect(await endOf({ resources: [KEPT, gone], checks: ["kept"] })).toEqual([
      leaves("gone", 2),
      `warn: \`gone\` left 2 objects live before, unless deleted since: 7 ("Old"), 8.`,
    ]);
  });

  it("and is what an interrupted replacement has left: a preview says that it's deleted", async () => {
    const endWith = (name: string) => {
      const old = { ...event(name, 3, true), delete: true };
      return endOf({ resources: [KEPT, old], options: DELETES, checks: ["kept"] });
    };
    expect(await endWith("again")).toContain(
      'warn: `again` was replaced by an earlier run. `pulumi up` deletes event 3 ("again") on the platform (deletionPolicy: "delete").',
    );
    // The program keeps it.
    expect((await endWith("kept")).join()).not.toContain("deletes");
  });

  it.each([
    ["no longer in the program", "again", true, false],
    ["declared, without the deletionPolicy", "kept", true, false],
    ["declared, in the `up`", "kept", false, true],
    ["which Pulumi's option keeps", "again", false, false],
  ])("and is named if it stays live after all: %s", async (_, name, deletes, isUp) => {
    const old = { ...event(name, 3, deletes), delete: true };
    const resources = [event("kept", 5), old];
    const told = await endOf({ resources, checks: ["kept"], isUp, savedAtEnd: [] });
    expect(told).toEqual([
      expect.stringContaining(
        `warn: \`${name}\` was replaced by an earlier run, and leaves the state. Its event 3 ("${name}") stays live and unmanaged`,
      ),
    ]);
  });

  it("and isn't named twice if another resource of the state has it", async () => {
    const resources = [KEPT, GONE, { ...GONE, delete: true }];
    expect(await endOf({ resources, checks: ["kept"] })).toEqual([leaves("gone", 2)]);
  });

  it.each([
    ["again", true],
    ["funnel", false],
  ])("and isn't deleted if its set is replaced: %s", async (name, isDeleted) => {
    const outputs = { eventIds: { a: 20 }, events: { a: { eventName: "A" } }, ...DELETING };
    const more = { delete: true, retainOnDelete: false, inputs: OURS };
    const old = storedSet(name, outputs, more);
    const resources = [KEPT, old];
    const options = DELETES;
    const set = "funnel";
    const told = await endOf({ resources, options, checks: ["kept"], set, declares: 2 });
    expect(told.join().includes("deletes event 20")).toBe(isDeleted);
  });

  it("is what a failed `--replace` of a set has left: a preview says that it stays live, as the `up` keeps it", async () => {
    const { outputs = {}, ...rest } = storedSet(
      "funnel",
      {
        events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } },
        ...DELETING,
      },
      { delete: true, retainOnDelete: false },
    );
    const old = { ...rest, outputs: { ...outputs, eventIds: { a: 20, b: 21 } } };
    const kept = { a: { eventName: "A", value: 1 } };
    const now = storedSet("funnel", { events: kept, eventIds: { a: 20 }, ...DELETING });
    const saved = new SavedStack(STACK);
    saved.read = async () =>
      readExport(JSON.stringify({ deployment: { resources: [now, old] } }));
    const run = newRun(PLATFORM, newFolder(), {
      ...DELETES,
      saved,
      command: { command: "preview" },
    });
    const context = { identity: `${STACK}::funnel`, run: { isUp: false, resources: 1 } };
    const news = { advertiserId: 1, events: kept, ...DELETING, __sender: context };
    const { inputs = {} } = await run.set.check({ advertiserId: 1, events: {} }, news);
    await run.set.diff(now.id ?? "", now.outputs ?? {}, inputs);
    await run.close();
    const told = run.told.map(({ message }) => message).join("\n");
    expect(told).toMatch(
      /events\["b"\].*\(21\) leaves .*isn't deleted, because its set is replaced/,
    );
    expect(told).not.toMatch(/\b20\b|deletes event/);
  });

  it("is named by the provider that has it: the dynamic one, or one of the plugin's", async () => {
    const resources = [
      GONE,
      ofPlugin("first", 3, "default_0_1_0"),
      ofPlugin("second", 4, "mine"),
    ];
    const named = async (provider?: string) =>
      names(
        await endOf({
          resources,
          checks: ["new"],
          ...(provider && { options: { provider } }),
        }),
      );
    expect(await named()).toEqual(["gone"]);
    expect(await named("default")).toEqual(["first"]);
    expect(await named("mine")).toEqual(["second"]);
    expect(await named("other")).toEqual([]);
  });

  it("is nothing if Pulumi can't be asked, or nothing was checked", async () => {
    expect(await endOf({ resources: [GONE] })).toEqual([]);
    const run = newRun(PLATFORM, newFolder(), { saved: unreadable() });
    const context = { identity: `${STACK}::kept`, run: { isUp: true, resources: 1 } };
    await run.event.check({}, { ...inputsOf("kept"), __sender: context });
    await run.close();
    const message = expect.stringContaining("can't be read: no rights");
    expect(run.told).toEqual([{ severity: "warn", urn: "", message }]);
  });
});

describe("open creates that nothing has declared", () => {
  const unclaimed = (what: string) =>
    `warn: An earlier run also sent ${what}. To see what to do:\n  npx pulumi-advertising pending --stack dev`;
  const SENT = "1 create: sent (outcome unknown)";

  it.each([false, true])("are named, with the command (up: %s)", async (isUp) => {
    const pending = [creating("sent")];
    const messages = await endOf({ resources: [KEPT], pending, checks: ["kept"], isUp });
    expect(messages).toEqual([unclaimed(SENT)]);
  });

  it("are named without the engine's command line too", async () => {
    const saved = new SavedStack(STACK);
    const deployment = {
      manifest: {},
      resources: [],
      pending_operations: [creating("sent")],
    };
    saved.read = async () => readExport(JSON.stringify({ version: 3, deployment }));
    const adapt: RunOptions["adapt"] = (runtime) => ({ ...runtime, command: undefined });
    const run = newRun(PLATFORM, newFolder(), { saved, adapt });
    const context = { identity: `${STACK}::kept`, run: { isUp: false, resources: 1 } };
    await run.event.check({}, { ...inputsOf("kept"), __sender: context });
    await run.close();
    expect(run.told).toMatchObject([
      { severity: "warn", message: unclaimed(SENT).slice(6) },
    ]);
  });

  it("after a failure, the program may still declare them", async () => {
    const pending = [creating("sent")];
    const checks = ["kept"];
    const messages = await endOf({
      resources: [KEPT],
      pending,
      checks,
      news: { value: "x" },
    });
    expect(messages).toEqual([unclaimed(SENT)]);
  });

  it("are none that a resource has declared, unless the engine has stopped before it", async () => {
    const situation = { pending: [creating("sent")], checks: ["sent"] };
    expect(await endOf(situation)).toEqual([]);
    expect(await endOf({ ...situation, isUp: true })).toEqual([unclaimed(SENT)]);
  });

  it("of an interrupted update are kept, since Pulumi's next save drops the update; a preview writes nothing", async () => {
    const folder = newFolder();
    const situation = {
      resources: [KEPT],
      pending: [updating("a", "b")],
      checks: ["kept"],
      folder,
    };
    await endOf(situation);
    expect(journalLines(folder, STACK)).toEqual([]);
    // The refused check has named them.
    expect(await endOf({ ...situation, isUp: true })).toEqual([]);
    expect(journalLines(folder, STACK)).toEqual(['funnel["a"] sent', 'funnel["b"] sent']);
    // The update is gone from the record. The journal has its creates, and knows the state that it began with.
    expect(await endOf({ resources: [KEPT], checks: ["kept"], folder })).toEqual([
      expect.stringContaining("also sent 2 creates: funnel/a"),
    ]);
  });

  it("of an interrupted update are kept by a plugin's `up` too whose first check is refused", async () => {
    const folder = newFolder();
    const kept = ofPlugin("kept", 1, "default");
    const interrupted = updating("a");
    const set = {
      ...interrupted.resource,
      type: "advertising:index:ConversionEventSet",
      provider: kept.provider,
    };
    await endOf({
      resources: [kept],
      pending: [{ ...interrupted, resource: set }],
      checks: ["kept"],
      folder,
      options: { provider: "default", command: { command: "up", targets: [kept.urn] } },
    });
    expect(journalLines(folder, STACK)).toEqual(['funnel["a"] sent']);
  });

  it("an object beside the state's is named, and its journal goes with an `up`", async () => {
    const folder = newFolder();
    const key = "ConversionEvent::kept";
    const journal = join(journalsOf(folder), "0.earlier-run1.jsonl");
    mkdirSync(journalsOf(folder), { recursive: true, mode: 0o700 });
    const entry = { key, run: EARLIER, at: "", mark: markOf(EARLIER, key), body: "b" };
    const lines = [
      { journal: "pulumi-advertising", version: 1, stack: STACK, run: EARLIER },
      { ...entry, state: "created", id: "9" },
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    writeFileSync(journal, text, { mode: 0o600 });
    const kept = {
      ...KEPT,
      inputs: { ...KEPT.inputs, __sender: senderOf("", { run: EARLIER }) },
    };
    const situation = { resources: [kept], checks: ["kept"], folder };
    const told = [
      `warn: ConversionEvent "kept": an earlier run also created 9. Object 9 ${STAYS}.`,
    ];
    expect(await endOf(situation)).toEqual(told);
    expect(await endOf({ ...situation, isUp: true })).toEqual(told);
    expect(await endOf(situation)).toEqual([]);
  });
});

function unreadable() {
  const saved = new SavedStack(STACK);
  saved.trouble = "no rights";
  return saved;
}

it("a record that takes longer than the engine waits is said", async () => {
  const saved = new SavedStack(STACK);
  saved.read = () => new Promise(() => undefined);
  const run = newRun(PLATFORM, newFolder(), { saved, command: { command: "preview" } });
  run.runtime.begin(refTo("kept"));
  await run.close();
  expect(run.told).toEqual([
    { severity: "warn", urn: "", message: expect.stringContaining("Pulumi took too long") },
  ]);
});

it("each provider's process warns about open creates of its own provider only", async () => {
  const inputs = { ...inputsOf("lost"), __sender: senderOf("", { run: EARLIER }) };
  const resource = { ...ofPlugin("lost", 0, "eu"), id: "", inputs };
  const pending = [{ type: "creating", resource }];
  const saidBy = async (...provider: string[]) => {
    const [name] = provider;
    const options = name === undefined ? {} : { options: { provider: name } };
    const said = await endOf({ resources: [KEPT], pending, checks: ["kept"], ...options });
    return said.filter((each) => each.includes("lost")).length;
  };
  expect([await saidBy(), await saidBy("us"), await saidBy("eu")]).toEqual([0, 0, 1]);
});

it("after the first error the engine asks no more: what it has checked but not come to is named too", async () => {
  const names = ["a", "b", "c"];
  const pending_operations = names.map((name) => {
    const inputs = { ...inputsOf(name), __sender: senderOf("", { run: EARLIER }) };
    return { type: "creating", resource: { ...ofPlugin(name, 0, "eu"), id: "", inputs } };
  });
  const saved = new SavedStack(STACK);
  const deployment = { resources: [], pending_operations };
  saved.read = async () => readExport(JSON.stringify({ version: 3, deployment }));
  const command = { command: "preview" };
  const run = newRun(PLATFORM, newFolder(), { saved, provider: "eu", command });
  const [first] = await Promise.all(
    names.map((name) => {
      const identity = { identity: `${STACK}::${name}` };
      return run.event.check({}, { ...inputsOf(name), __sender: identity });
    }),
  );
  const error = await run.event.preview?.("", {}, first?.inputs ?? {}).catch(String);
  expect(error).toContain("pending --created 'a=");
  run.runtime.deployment.hasFailed = true;
  await run.close();
  expect(run.told.map(({ message }) => message).join("\n")).toContain(
    "An earlier run also sent 2 creates: b (outcome unknown), c (outcome unknown).",
  );
});

it.each([
  ["if the engine stops before the set", {}],
  ["if the program is as before, and the run fails", { a: 20, b: 21 }],
])(
  "an interrupted update's creates are kept %s: Pulumi's next save drops the update",
  async (_, eventIds) => {
    const [saved, folder] = [new SavedStack(STACK), newFolder()];
    const then = Object.keys(eventIds).map((key) => [key, { eventName: key, value: 2 }]);
    const stored = { events: Object.fromEntries(then), eventIds };
    const set = storedSet("funnel", { ...stored, advertiserId: 1, defaults: {} });
    const deployment = { resources: [set], pending_operations: [updating("a", "b")] };
    saved.read = async () => readExport(JSON.stringify({ version: 3, deployment }));
    const run = newRun(PLATFORM, folder, { saved });
    const events = { a: { eventName: "a", value: 2 }, b: { eventName: "b", value: 2 } };
    const identity = { identity: `${STACK}::funnel`, run: { isUp: true, resources: 2 } };
    const news = { advertiserId: 1, events, __sender: identity };
    const { inputs = {} } = await run.set.check({ advertiserId: 1, events: {} }, news);
    await run.set.diff(set.id ?? "", set.outputs ?? {}, inputs);
    run.runtime.deployment.hasFailed = true;
    await run.close();
    expect(journalLines(folder, STACK)).toEqual(['funnel["a"] sent', 'funnel["b"] sent']);
  },
);
