/**
 * An interrupted run created an object, and the object was deleted by hand. The read before the next run takes it over proves that it is
 * gone; or, if the program's arguments have changed since, the update with which it takes the object over.
 */
import { describe, expect, it } from "vitest";
import type { Runtime } from "../../provider/src/provider/services.js";
import type { Fault, Sandbox } from "../../provider/src/sandbox/index.js";
import { aboutWhom, forgetCommand } from "../../provider/src/state/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { failureOf, newRun } from "../support/run.js";
import { SetEngine } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";

type Properties = Record<string, unknown>;

const UPDATES = {
  event: { update: "PUT rest/event/{id}" },
  advertiser: { update: "PUT rest/advertiser/{id}", search: "GET rest/advertiser?alternative_id={mark}" },
};
const WORDS =
  "is not taken over: an earlier run created it as 2, and 2 is no longer on the platform. No create was sent. The next `pulumi up` creates another one.";
/** How long after its sending a create may be carried out, with a margin for the sandbox's clock. */
const REQUEST_LIMIT_MS = 30_000 + 10_000;
const advertiser = { advertiserName: "E", __identity: "tiny/dev::e" };

async function start(operations: object = { createdVisibleAfterSeconds: 0, ...UPDATES }) {
  const objects = { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] };
  const clock = new FakeClock(Date.now());
  const sandbox = await useSandbox({ operations: true, objects, clock: () => clock.wallMs() });
  const folder = newFolder();
  const settings = { operations: JSON.stringify(operations), markField: "alternative_id" };
  const adapt = (runtime: Runtime): Runtime => ({ ...runtime, clock });
  const run = () => newRun(sandbox, folder, { settings, adapt });
  return { sandbox, clock, folder, settings, adapt, run };
}

/** Deletes an object by hand. @param outs its properties in the state. */
async function remove(sandbox: Sandbox, id: number, outs: Properties): Promise<void> {
  const operations = {
    advertiser: { delete: "DELETE rest/advertiser/{id}" },
    event: { delete: "DELETE rest/event/{id}" },
  };
  const other = newRun(sandbox, newFolder(), { settings: { operations: JSON.stringify(operations) } });
  await other["eventName" in outs ? "event" : "advertiser"].delete(String(id), outs);
  other.closeNow();
}

async function creates({ advertiser: provider }: ReturnType<typeof newRun>, more: Properties = {}) {
  const { inputs = {} } = await provider.check({}, { ...advertiser, ...more });
  return provider.create(inputs as Properties);
}

/** An object 2 that an interrupted run created, long enough ago. */
async function interrupted(...given: Parameters<typeof start>) {
  const started = await start(...given);
  const first = started.run();
  const { outs } = await creates(first);
  await first.kill();
  started.clock.advance(REQUEST_LIMIT_MS);
  return { ...started, outs: outs as Properties };
}

/** The same, deleted by hand. */
async function deleted(...given: Parameters<typeof start>) {
  const { outs, ...started } = await interrupted(...given);
  await remove(started.sandbox, 2, outs);
  return started;
}

const notesOf = (run: ReturnType<typeof newRun>) => run.runtime.journal(advertiser.__identity).notSettled();

it.each(["ends cleanly", "is killed"])(
  "a single resource: the run that notices it fails and %s, and the next one creates it once",
  async (how) => {
    const { sandbox, run } = await deleted();
    const second = run();
    const failure = await failureOf(creates(second, { advertiserName: "F" }));
    expect(failure.message).toBe(
      `Advertiser "e" ${WORDS} (docs/messages.md#advertising_refused) [ADVERTISING_REFUSED]`,
    );
    expect(second.said[0]).toContain("`pulumi up` will take it over, and update it, unless it finds it gone.");
    expect(failure.id).toBeUndefined();
    // The engine's error hooks ask again.
    expect((await failureOf(creates(second, { advertiserName: "F" }))).message).toBe(failure.message);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, updates: 2 });
    if (how === "is killed") await second.kill();
    else second.closeNow();

    const third = run();
    expect(await notesOf(third)).toEqual([]);
    expect((await creates(third, { advertiserName: "F" })).id).toBe("3");
    expect([...third.said, ...third.told.map(({ message }) => message)].join("\n")).not.toMatch(/\b2\b/);
    expect(sandbox).toMatchObject({ advertiserPosts: 2, updates: 2, advertisers: [{ id: 1 }, { id: 3 }] });
  },
);

it("if the run is killed before that is noted, the next one notices it too", async () => {
  const { sandbox, run } = await deleted();
  const second = run();
  sandbox.fail({ on: "update", act: false, with: { kind: "answer", status: 406, body: { errors: ["busy"] } } });
  await failureOf(creates(second, { advertiserName: "F" }));
  await second.kill();
  // Also if the program goes back to the arguments that were sent.
  const third = run();
  expect((await failureOf(creates(third))).message).toContain(WORDS);
  third.closeNow();
  expect((await creates(run())).id).toBe("3");
  expect(sandbox).toMatchObject({ advertiserPosts: 2, advertisers: [{ id: 1 }, { id: 3 }] });
});

it("a member of a set: only that one fails, and the next run creates it once", async () => {
  const { sandbox, folder, clock, settings, adapt } = await start();
  const engine = new SetEngine(sandbox, folder);
  const events = (value: number) => ({
    advertiserId: 1,
    events: { a: { eventName: "A", value }, b: { eventName: "B", value: 1 } },
  });
  const killed = engine.newRun({ settings, adapt });
  await engine.apply(killed, events(1));
  await killed.kill();
  const gone = Number(engine.eventIds.a);
  await remove(sandbox, gone, { ...engine.state?.outputs, eventName: "A" });
  engine.state = undefined;
  clock.advance(REQUEST_LIMIT_MS);

  const { error } = await engine.up(events(2), { settings, adapt });
  expect(error).toContain(WORDS.replaceAll("2,", `${gone},`).replace("2 is", `${gone} is`));
  expect(Object.keys(engine.eventIds)).toEqual(["b"]);
  expect(sandbox).toMatchObject({ eventPosts: 2, updates: 1 });

  expect((await engine.up(events(2), { settings, adapt })).error).toBeUndefined();
  expect(Object.keys(engine.eventIds).sort()).toEqual(["a", "b"]);
  expect(sandbox).toMatchObject({ eventPosts: 3, updates: 1 });
  expect(sandbox.events).toHaveLength(2);
});

describe("without proof the note stays", () => {
  it("shortly after the create", async () => {
    const { sandbox, clock, run } = await deleted({ ...UPDATES, createdVisibleAfterSeconds: 300 });
    const second = run();
    const failure = await failureOf(creates(second, { advertiserName: "F" }));
    expect(failure.message).toMatch(
      /^Advertiser "e": the platform does not find 2, but it was sent at 20\S+: until 20\S+ that proves nothing\. Run this again after that\./,
    );
    expect(await notesOf(second)).toMatchObject([{ id: "2" }]);
    second.closeNow();
    clock.advance(280_000);
    const third = run();
    expect((await failureOf(creates(third, { advertiserName: "F" }))).message).toContain("that proves nothing");
    third.closeNow();
    clock.advance(15_000);
    const fourth = run();
    expect((await failureOf(creates(fourth, { advertiserName: "F" }))).message).toContain(WORDS);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, updates: 3 });
  });

  it.each<[string, Fault]>([
    ["a bare 404 without a witness", { kind: "answer", status: 404, body: "" }],
    ["an answer without a meaning", { kind: "answer", status: 200, body: "<html>" }],
    ["a refusal about something else", { kind: "answer", status: 406, body: { errors: ["the name is taken"] } }],
  ])("%s", async (_, fault) => {
    const { sandbox, run } = await deleted();
    sandbox.fail({ on: "update", act: false, with: fault, times: 9 });
    const second = run();
    const failure = await failureOf(creates(second, { advertiserName: "F" }));
    expect(failure.message).not.toContain("no longer on the platform");
    expect(await notesOf(second)).toMatchObject([{ id: "2" }]);
    expect(sandbox.advertiserPosts).toBe(1);
  });
});

it.each([
  ["", false, 1],
  [", also after a bare 404 without a witness", true, 2],
])(
  "an unresolved create whose object a search found, but which is gone, is sent again only once a later search finds none%s",
  async (_, isBareFirst, updates) => {
    const { sandbox, clock, run } = await start();
    sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
    sandbox.fail({
      on: "search",
      act: false,
      with: { kind: "answer", status: 406, body: { errors: ["no"] } },
      times: 20,
    });
    const first = run();
    const failure = await failureOf(creates(first));
    first.closeNow();
    sandbox.endFaults();
    const mark = String((sandbox.advertisers[1] as unknown as Properties).alternative_id);
    const found = { payload: [{ ...sandbox.advertisers[1] }] };
    await remove(sandbox, 2, { ...advertiser, ...(failure.properties as Properties), __unresolved: undefined });
    const again = async () => {
      const next = run();
      const { inputs = {} } = await next.advertiser.check(advertiser, { ...advertiser, advertiserName: "F" });
      await next.advertiser.diff(String(failure.id), failure.properties as Properties, inputs as Properties);
      const outcome = await next.advertiser
        .create(inputs as Properties)
        .catch((error: Error & { id?: string }) => error);
      next.closeNow();
      return outcome as Error & { id?: string };
    };
    // The search still finds the object that was deleted.
    clock.advance(REQUEST_LIMIT_MS);
    sandbox.fail({ on: "search", act: false, with: { kind: "answer", status: 200, body: found } });
    if (isBareFirst) {
      sandbox.fail({ on: "update", act: false, with: { kind: "answer", status: 404, body: "" } });
      const first = await again();
      expect(first.message).toMatch(/If it is not there:\n {2}npx pulumi-advertising pending --not-created '\S+::e'\n/);
      expect(first.id).toBeUndefined();
    }
    const second = await again();
    expect(second.id).toBe(`unresolved-${mark}`);
    expect(second.message).not.toContain("=2'");
    expect(second.message).toMatch(/(A search has found it|created it at \S+) as 2\. 2 is no longer on the platform\./);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, updates });
    clock.advance(100_000);
    expect((await again()).id).toBe("3");
    expect(sandbox).toMatchObject({ advertiserPosts: 2, updates, advertisers: [{ id: 1 }, { id: 3 }] });
  },
);

describe("an object that is taken over unchanged", () => {
  const READS = {
    createdVisibleAfterSeconds: 0,
    event: { read: "GET rest/event/{id}" },
    advertiser: { read: "GET rest/advertiser/{id}", search: "GET rest/advertiser?alternative_id={mark}" },
  };

  it("is read before, and not taken over if it is gone: the next run creates it once", async () => {
    const { sandbox, run } = await deleted(READS);
    const second = run();
    expect((await failureOf(creates(second))).message).toContain(WORDS);
    expect(second.said[0]).toContain("`pulumi up` will take it over, unless it finds it gone.");
    second.closeNow();
    expect(sandbox).toMatchObject({ advertiserPosts: 1, reads: 1 });
    const third = run();
    expect(await creates(third)).toMatchObject({ id: "3" });
    expect(third.said.join()).not.toMatch(/\b2\b/);
    expect(sandbox).toMatchObject({ advertiserPosts: 2, reads: 1, advertisers: [{ id: 1 }, { id: 3 }] });
  });

  it("and that has other arguments than the program, without a known update: it is read too", async () => {
    const { sandbox, run } = await deleted(READS);
    const second = run();
    const failure = await failureOf(creates(second, { advertiserName: "F" }));
    expect(failure.message).toContain(WORDS);
    expect(failure.id).toBeUndefined();
    second.closeNow();
    expect(await creates(run(), { advertiserName: "F" })).toMatchObject({ id: "3" });
    expect(sandbox).toMatchObject({ advertiserPosts: 2, reads: 1, advertisers: [{ id: 1 }, { id: 3 }] });
  });

  it("and that has other arguments and exists: a person has to settle it", async () => {
    const { sandbox, run } = await interrupted(READS);
    const second = run();
    const failure = await failureOf(creates(second, { advertiserName: "F" }));
    expect(failure.id).toMatch(/^unresolved-/);
    expect(failure.message).toContain("It was sent with other arguments than the program has now.");
    expect(await notesOf(second)).toMatchObject([{ id: "2" }]);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, reads: 1 });
  });

  it.each(["E", "F"])(
    "a bare 404 without a witness: the message has the command that lets the next run create one named %s",
    async (advertiserName) => {
      const { sandbox, run } = await deleted(READS);
      sandbox.fail({ on: "read", act: false, with: { kind: "answer", status: 404, body: "" }, times: 9 });
      const second = run();
      const failure = await failureOf(creates(second, { advertiserName }));
      const [urn] = (await notesOf(second)).map(({ key }) => aboutWhom(key).urn);
      expect(failure.message).toContain(
        `check advertising:operations.\nAn earlier run created it as 2. If it is not there:\n  ${forgetCommand(`${urn}`)}\n(`,
      );
      expect(failure.message).not.toContain("state delete");
      expect(await notesOf(second)).toMatchObject([{ id: "2" }]);
      expect(sandbox.advertiserPosts).toBe(1);
    },
  );

  it("is taken over if it exists", async () => {
    const { sandbox, run } = await interrupted(READS);
    expect(await creates(run())).toMatchObject({ id: "2" });
    expect(sandbox).toMatchObject({ advertiserPosts: 1, reads: 1 });
  });

  it("is not read as long as its absence would prove nothing", async () => {
    const { sandbox, run } = await deleted({ ...READS, createdVisibleAfterSeconds: 300 });
    expect(await creates(run())).toMatchObject({ id: "2" });
    expect(sandbox).toMatchObject({ advertiserPosts: 1, reads: 0 });
  });

  it("is neither taken over nor created again if the read has no usable answer", async () => {
    const { sandbox, run } = await interrupted(READS);
    sandbox.fail({ on: "read", act: false, with: { kind: "answer", status: 200, body: "<html>" }, times: 9 });
    const second = run();
    expect((await failureOf(creates(second))).message).not.toContain("no longer on the platform");
    expect(await notesOf(second)).toMatchObject([{ id: "2" }]);
    second.closeNow();
    sandbox.endFaults();
    expect(await creates(run())).toMatchObject({ id: "2" });
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("is not taken over either if its run ended cleanly with checkpoints off and another machine deleted it", async () => {
    const { sandbox, clock, folder, settings, adapt } = await start(READS);
    const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
    const run = () => newRun(sandbox, folder, { settings, adapt, environment });
    const first = run();
    const { outs } = await creates(first);
    first.closeNow();
    await remove(sandbox, 2, outs as Properties);
    clock.advance(REQUEST_LIMIT_MS);
    const second = run();
    expect((await failureOf(creates(second))).message).toContain(WORDS);
    second.closeNow();
    expect(await creates(run())).toMatchObject({ id: "3" });
    expect(sandbox).toMatchObject({ advertiserPosts: 2, advertisers: [{ id: 1 }, { id: 3 }] });
  });

  it("is not taken over if it is a set's event that is gone: only that one fails, and the next run creates it once", async () => {
    const { sandbox, folder, clock, settings, adapt } = await start(READS);
    const engine = new SetEngine(sandbox, folder);
    const events = { advertiserId: 1, events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } } };
    const killed = engine.newRun({ settings, adapt });
    await engine.apply(killed, events);
    await killed.kill();
    const gone = Number(engine.eventIds.a);
    await remove(sandbox, gone, { ...engine.state?.outputs, eventName: "A" });
    engine.state = undefined;
    clock.advance(REQUEST_LIMIT_MS);
    expect((await engine.up(events, { settings, adapt })).error).toContain(`${gone} is no longer on the platform`);
    expect(Object.keys(engine.eventIds)).toEqual(["b"]);
    expect((await engine.up(events, { settings, adapt })).error).toBeUndefined();
    expect(Object.keys(engine.eventIds).toSorted()).toEqual(["a", "b"]);
    expect(sandbox).toMatchObject({ eventPosts: 3, events: [{}, {}] });
  });

  it("does not count as found if a search still lists it after its delete", async () => {
    const { sandbox, clock, again, outs } = await lostAndListed({ resendAfterSeconds: 600 });
    await remove(sandbox, 2, outs);
    expect((await again()).id).toMatch(/^unresolved-/);
    expect(sandbox.advertiserPosts).toBe(1);
    clock.advance(600_000);
    const { id, said } = await again();
    expect(id).toBe("3");
    expect(said).toMatch(
      /was sent at \S+, and a search found 2, which is no longer on the platform: it is sent again\./,
    );
    expect(sandbox).toMatchObject({ advertiserPosts: 2, advertisers: [{ id: 1 }, { id: 3 }] });
  });

  it("is read once if a search found it", async () => {
    const { sandbox, again } = await lostAndListed();
    expect((await again()).id).toBe("2");
    expect(sandbox).toMatchObject({ advertiserPosts: 1, reads: 1 });
  });

  it("does not count as found after a bare 404 without a witness: the message says how to answer", async () => {
    const { sandbox, again, outs } = await lostAndListed();
    await remove(sandbox, 2, outs);
    sandbox.fail({ on: "read", act: false, with: { kind: "answer", status: 404, body: "" }, times: 20 });
    const { id, message } = await again();
    expect(id).toMatch(/^unresolved-/);
    expect(message).toContain("check advertising:operations.\nIf it is not there, answer with --not-created. The next");
    expect(message).toContain("pending --not-created");
    expect(message).not.toContain("state delete");
    expect(sandbox.advertiserPosts).toBe(1);
  });

  /** A create of unknown outcome, and a search that from then on lists its object 2. */
  async function lostAndListed(more: object = {}) {
    const { sandbox, clock, run } = await start({ ...READS, ...more });
    sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
    const none = { kind: "answer", status: 406, body: { errors: ["no"] } } as const;
    sandbox.fail({ on: "search", act: false, with: none, times: 20 });
    const first = run();
    const failure = await failureOf(creates(first));
    first.closeNow();
    sandbox.endFaults();
    const listed = { payload: [{ ...sandbox.advertisers[1] }] };
    sandbox.fail({ on: "search", act: false, with: { kind: "answer", status: 200, body: listed }, times: 20 });
    clock.advance(REQUEST_LIMIT_MS);
    const again = async () => {
      const next = run();
      const { inputs = {} } = await next.advertiser.check(advertiser, advertiser);
      await next.advertiser.diff(String(failure.id), failure.properties as Properties, inputs as Properties);
      const outcome: { id?: string; message?: string } = await next.advertiser
        .create(inputs as Properties)
        .catch((error: Error) => error);
      next.closeNow();
      return { id: outcome.id, message: outcome.message, said: next.said.join() };
    };
    return {
      sandbox,
      clock,
      again,
      outs: { ...advertiser, ...(failure.properties as Properties), __unresolved: undefined },
    };
  }
});
