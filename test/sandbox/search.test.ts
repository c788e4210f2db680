/** Creates of unknown outcome that a search settles, through the provider as the engine calls it. */
import { describe, expect, it } from "vitest";
import { JournalError } from "../../provider/src/base/errors.js";
import { advertiser as advertiserKind } from "../../provider/src/kinds/advertiser-kind.js";
import { lookFor } from "../../provider/src/provider/search.js";
import type { Runtime } from "../../provider/src/provider/services.js";
import type { Fault, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { recordsIn } from "../../provider/src/store/notes.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { struck } from "../support/killing.js";
import { failureOf, newRun } from "../support/run.js";
import { useSandbox } from "../support/stack.js";

const inputs = { advertiserName: "A", __identity: "tiny/dev::a" };
const SEARCH = { createdVisibleAfterSeconds: 0, advertiser: { search: "GET rest/advertiser?alternative_id={mark}" } };
const lost: Fault = { kind: "close-without-answer" };

async function start(options: SandboxOptions = {}, operations: object = SEARCH) {
  const clock = new FakeClock(Date.now());
  const sandbox = await useSandbox({ operations: true, clock: () => clock.wallMs(), ...options });
  const folder = newFolder();
  const settings = { operations: JSON.stringify(operations), markField: "alternative_id", requestTimeoutSeconds: "5" };
  const adapt = (runtime: Runtime): Runtime => ({ ...runtime, clock });
  let last: ReturnType<typeof newRun> | undefined;
  /** A new run after the previous one has ended. */
  const open = (at = folder) => {
    last?.closeNow();
    last = newRun(sandbox, at, { settings, adapt });
    return last;
  };
  return { sandbox, clock, folder, open, ...open() };
}

it("R2: an object that a search finds stays with the resource that adopted it, and one that it settled can't be adopted", async () => {
  const { sandbox, advertiser, clock, open } = await start();
  sandbox.fail({ on: "advertiser", act: true, with: lost });
  sandbox.fail({ on: "search", act: false, with: { kind: "answer", status: 500 }, times: 20 });
  const failure = await failureOf(advertiser.create(inputs));
  sandbox.endFaults();
  const olds = failure.properties as Record<string, unknown>;
  const adopting = { advertiserName: "B", existingId: 1, __identity: "tiny/dev::b" };

  const next = open();
  const adopted = await next.advertiser.check({}, adopting);
  await next.advertiser.create(adopted.inputs ?? {});
  const checked = await next.advertiser.check(inputs, inputs);
  await next.advertiser.diff(String(failure.id), olds, checked.inputs ?? {});
  clock.advance(3600_000); // late enough to be sent again, which must not happen either
  const again = await failureOf(next.advertiser.create(checked.inputs ?? {}));
  expect(again.id).toMatch(/^unresolved-/);
  expect(again.message).toMatch(
    /Searched for alternative_id = \S+: found 1, and 1 belongs to Advertiser "b" already: one object can't be two resources\./,
  );

  const last = open(newFolder());
  const kept = await last.advertiser.check(inputs, inputs);
  await last.advertiser.diff(String(again.id), again.properties as Record<string, unknown>, kept.inputs ?? {});
  expect((await last.advertiser.create(kept.inputs ?? {})).id).toBe("1");
  const refused = await last.advertiser.check({}, adopting);
  expect(refused.failures?.map(({ reason }) => reason).join()).toContain("one object can't be two");
  expect(sandbox.advertiserPosts).toBe(1);
});

it("two unresolved resources with the same arguments are each looked for, by their marks", async () => {
  const { sandbox, clock, open, ...first } = await start();
  sandbox.fail({ on: "advertiser", act: true, with: lost, times: 2 });
  sandbox.fail({ on: "search", act: false, with: { kind: "answer", status: 500 }, times: 50 });
  const twins = [inputs, { ...inputs, __identity: "tiny/dev::b" }];
  const checked = await Promise.all(twins.map(async (each) => (await first.advertiser.check({}, each)).inputs ?? {}));
  const failures = await Promise.all(checked.map((each) => failureOf(first.advertiser.create(each))));
  sandbox.endFaults();
  clock.advance(95_000);
  const { advertiser } = open();
  const ids: string[] = [];
  for (const [at, { id, properties }] of failures.entries()) {
    const olds = properties as Record<string, unknown>;
    const news = (await advertiser.check(checked[at] ?? {}, twins[at] ?? {})).inputs ?? {};
    await advertiser.diff(String(id), olds, news);
    ids.push((await advertiser.create(news)).id);
  }
  expect(ids.sort()).toEqual(["1", "2"]);
  expect(sandbox.advertiserPosts).toBe(2);
});

describe("an answer that is lost", () => {
  it("is found by its mark in the same run", async () => {
    const { sandbox, advertiser, said, closeNow } = await start();
    sandbox.fail({ on: "advertiser", act: true, with: lost });
    expect((await advertiser.create(inputs)).id).toBe("1");
    expect(said.at(-1)).toBe('Advertiser "a" was created as 1: its response was lost, and a search has found it.');
    expect(sandbox).toMatchObject({ advertiserPosts: 1, searches: 1 });
    closeNow();
  });

  it("is found when the search finds it only later", async () => {
    const { sandbox, advertiser, clock } = await start({ searchLagSeconds: 6 });
    sandbox.fail({ on: "advertiser", act: true, with: lost });
    expect((await advertiser.create(inputs)).id).toBe("1");
    expect(clock.sleeps).toEqual([1000, 2000, 4000]);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("C2, C3: stays unresolved if it is not found; the next run sends it once the create can no longer arrive", async () => {
    const { sandbox, advertiser, clock, open } = await start();
    sandbox.fail({ on: "advertiser", with: lost });
    const failure = await failureOf(advertiser.create(inputs));
    expect(failure.id).toMatch(/^unresolved-/);
    expect(failure.message).toMatch(
      /Searched for alternative_id = \S+ 5 times until \S+: there is none\. The next `pulumi up` looks again, and from \S+ on sends it again/,
    );
    expect(sandbox.advertiserPosts).toBe(1);

    const olds = failure.properties as Record<string, unknown>;
    const next = open();
    expect(await next.advertiser.diff(failure.id ?? "", olds, inputs)).toMatchObject({ changes: true });
    clock.advance(65_000);
    expect((await next.advertiser.create(inputs)).id).toBe("1");
    expect(next.said.at(-1)).toMatch(/was sent at \S+, and a search finds no object with its mark: it is sent again/);
    const [, mark] = /alternative_id = (\S+) 5 times/.exec(failure.message) ?? [];
    expect(sandbox).toMatchObject({
      advertiserPosts: 2,
      advertisers: [{ advertiser_name: "A", alternative_id: mark }],
    });
  });

  it("is never sent again with resendAfterSeconds: never", async () => {
    const { sandbox, advertiser, clock, open } = await start({}, { ...SEARCH, resendAfterSeconds: "never" });
    sandbox.fail({ on: "advertiser", with: lost });
    const failure = await failureOf(advertiser.create(inputs));
    clock.advance(3_600_000);
    const next = open();
    await next.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    const again = await failureOf(next.advertiser.create(inputs));
    expect(again.id).toBe(failure.id);
    expect(again.message.match(/Searched for/g)).toHaveLength(1);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("keeps the platform's words, and of all searches only what the last one found", async () => {
    const { sandbox, advertiser, open } = await start({}, { ...SEARCH, resendAfterSeconds: "never" });
    const body = { message: "Gateway. Searched for an upstream: none" };
    sandbox.fail({ on: "advertiser", with: { kind: "answer", status: 502, body } });
    const failure = await failureOf(advertiser.create(inputs));
    const next = open(newFolder());
    await next.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    const { message } = await failureOf(next.advertiser.create(inputs));
    expect(message).toContain("Searched for an upstream: none");
    expect(message.match(/Searched for alternative_id/g)).toHaveLength(1);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("C3: is found by a machine without the journal", async () => {
    const { sandbox, advertiser, open, clock } = await start({ searchLagSeconds: 65 });
    sandbox.fail({ on: "advertiser", act: true, with: lost });
    const failure = await failureOf(advertiser.create(inputs));
    const elsewhere = open(newFolder());
    await elsewhere.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    expect((await failureOf(elsewhere.advertiser.create(inputs))).id).toBe(failure.id);
    clock.advance(60_000);
    const later = open(newFolder());
    await later.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    expect((await later.advertiser.create(inputs)).id).toBe("1");
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("C6: without the journal it is not sent when the engine asks again, as its error hooks do", async () => {
    const { sandbox, advertiser, open } = await start(
      { searchLagSeconds: 600 },
      { ...SEARCH, resendAfterSeconds: "never" },
    );
    sandbox.fail({ on: "advertiser", act: true, with: lost });
    const failure = await failureOf(advertiser.create(inputs));
    const elsewhere = open(newFolder());
    await elsewhere.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    for (let i = 0; i < 3; i++) expect((await failureOf(elsewhere.advertiser.create(inputs))).id).toBe(failure.id);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  const troubles: [string, Fault][] = [
    ["408", { kind: "answer", status: 408 }],
    ["404", { kind: "answer", status: 404, body: { message: "advertiser not found" } }],
    ["a page", { kind: "answer", status: 200, headers: { "content-type": "text/html" }, body: "<html>x</html>" }],
    ["half a body", { kind: "half-body" }],
    ["a success and no list", { kind: "answer", status: 200, body: { success: true } }],
    ["a refusal", { kind: "answer", status: 200, body: { success: false, payload: [] } }],
    [
      "others",
      { kind: "answer", status: 200, body: { payload: [{ id: 9, advertiser_name: "x", alternative_id: "y" }] } },
    ],
  ];
  it.each(troubles)("C2: is not sent again after a search that answers %s", async (_, fault) => {
    const { sandbox, advertiser, clock, open } = await start();
    sandbox.fail({ on: "advertiser", with: lost });
    sandbox.fail({ on: "search", with: fault, times: 1000 });
    const failure = await failureOf(advertiser.create(inputs));
    clock.advance(3_600_000);
    const next = open();
    await next.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    expect((await failureOf(next.advertiser.create(inputs))).id).toBe(failure.id);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("is not sent again if the server ignores the filter", async () => {
    const objects = { advertisers: [{ id: 7, advertiser_name: "B" }], events: [] };
    const { sandbox, advertiser, clock, open } = await start({ ignoreFilters: true, objects });
    sandbox.fail({ on: "advertiser", with: lost });
    const failure = await failureOf(advertiser.create(inputs));
    clock.advance(3_600_000);
    const next = open();
    expect((await failureOf(next.advertiser.create(inputs))).message).toContain("is the filter known there?");
    expect(failure.message).toContain("is the filter known there?");
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("is an error if several objects have its mark", async () => {
    const { sandbox, advertiser } = await start();
    const both = (mark: unknown) => [1, 2].map((id) => ({ id, advertiser_name: "A", alternative_id: mark }));
    sandbox.fail({ on: "advertiser", with: lost });
    sandbox.fail({
      on: "search",
      with: {
        kind: "answer",
        status: 200,
        body: (_: unknown, { path }: { path: string }) => ({ payload: both(path.split("=")[1]) }),
      },
    });
    expect((await failureOf(advertiser.create(inputs))).message).toMatch(
      /: found 2 objects: 1 and 2\. Keep one of them, and remove the others on the platform, except those that another/,
    );
  });
});

describe("a create of a run that was killed", () => {
  /** The create was sent, and the process killed before any answer. */
  async function killed(acts: boolean, operations: object = SEARCH) {
    const started = await start({}, operations);
    const { sandbox, advertiser } = started;
    sandbox.fail({ on: "advertiser", act: acts, with: { kind: "no-answer" } });
    void failureOf(advertiser.create(inputs));
    while (sandbox.requests.at(-1)?.path !== "/rest/advertiser" || sandbox.advertiserPosts === 0)
      await new Promise((done) => setTimeout(done, 5));
    return started;
  }

  it("is taken over by the next run if it made an object", async () => {
    const { sandbox, open } = await killed(true);
    const next = open();
    await next.advertiser.check({}, inputs);
    expect(next.said.join("\n")).toContain("`pulumi up` will look for it by its mark");
    expect((await next.advertiser.create(inputs)).id).toBe("1");
    expect(next.said.at(-1)).toContain("created as 1 by an interrupted run; it is taken over");
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("C3: gives the next run's check its mark, so that `pending` does not list a second create", async () => {
    const { sandbox, open } = await killed(true, {});
    const { alternative_id: sent } = sandbox.advertisers[0] as unknown as Record<string, unknown>;
    const next = open();
    const check = async (advertiserName: string) =>
      (await next.advertiser.check({}, { ...inputs, advertiserName })).inputs ?? {};
    expect(await check("A")).toHaveProperty("__mark", `alternative_id ${sent}`);
    // With different arguments it is another create, with its own mark.
    expect(await check("B")).toHaveProperty("__mark", expect.stringMatching(/^alternative_id /));
    expect(await check("B")).not.toHaveProperty("__mark", `alternative_id ${sent}`);
    expect((await failureOf(next.advertiser.create(await check("A")))).id).toBe(`unresolved-${sent}`);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("R6: does not give it if a search may send it again: then `pending` lists another create, sent at an unknown time", async () => {
    const { sandbox, open } = await killed(true);
    const { alternative_id: sent } = sandbox.advertisers[0] as unknown as Record<string, unknown>;
    const { inputs: next = {} } = await open().advertiser.check({}, inputs);
    expect(next).toHaveProperty("__mark", expect.stringMatching(/^alternative_id /));
    expect(next).not.toHaveProperty("__mark", `alternative_id ${sent}`);
  });

  it("R6: that waited for two rate limits does not count as not made before its last sending can no longer arrive", async () => {
    const { sandbox, clock, advertiser, runtime } = await start();
    const limit: Fault = { kind: "answer", status: 429, headers: { "retry-after": "1" } };
    const limits = [1, 2].map(() => sandbox.fail({ on: "advertiser", with: limit }));
    const lost = sandbox.fail({ on: "advertiser", with: { kind: "no-answer" } });
    void failureOf(advertiser.create(inputs));
    await struck(...limits.slice(0, 1));
    const firstMs = Date.now();
    await struck(...limits);
    const secondMs = Date.now();
    await struck(lost);
    const [sent = expect.fail("nothing is noted"), ...more] = recordsIn(runtime.journal(inputs.__identity).path);
    expect(more).toEqual([]);
    const sentMs = Date.parse(sent.at);
    expect(sentMs).toBeGreaterThanOrEqual(secondMs);
    const arrivesWithinMs = (5 + 60) * 1000;
    for (const [atMs, kind] of [
      [(firstMs + sentMs) / 2 + arrivesWithinMs, "open"],
      [sentMs + arrivesWithinMs, "not-made"],
    ] as const) {
      clock.jumpWall(atMs - clock.wallMs());
      const look = { wasJustSent: false, isOnce: true };
      expect(await lookFor(advertiserKind, { ...runtime, clock }, "a", sent, look)).toMatchObject({ kind });
    }
    expect(sandbox).toMatchObject({ advertiserPosts: 3, advertisers: [] });
  });

  it("is sent by the next run if it made none and can no longer arrive", async () => {
    const { sandbox, open, clock } = await killed(false);
    expect((await failureOf(open().advertiser.create(inputs))).id).toMatch(/^unresolved-/);
    clock.advance(65_000);
    expect((await open().advertiser.create(inputs)).id).toBe("1");
    expect(sandbox).toMatchObject({ advertiserPosts: 2, advertisers: [{ id: 1 }] });
  });

  it("is taken over and updated if the arguments have changed and an update is known", async () => {
    const operations = { advertiser: { ...SEARCH.advertiser, update: "PUT rest/advertiser/{id}" } };
    const { sandbox, open } = await killed(true, operations);
    const next = open();
    expect((await next.advertiser.create({ ...inputs, advertiserName: "B" })).id).toBe("1");
    await next.kill();
    expect(sandbox).toMatchObject({ advertiserPosts: 1, updates: 1, advertisers: [{ id: 1, advertiser_name: "B" }] });
    // Killed again before the state was saved: the object differs from what the journal says was sent, so going back to that is an update.
    expect((await open().advertiser.create(inputs)).id).toBe("1");
    expect(sandbox).toMatchObject({ advertiserPosts: 1, updates: 2, advertisers: [{ id: 1, advertiser_name: "A" }] });
  });
});

describe("C2: an unresolved create of another machine in the state, with an earlier create in this machine's journal", () => {
  /** The journal has the create of an interrupted run. A machine without that journal has sent a second one, whose answer was lost. */
  async function both(first: "answered" | "not answered", second: Fault) {
    const { sandbox, advertiser, open, clock, ...rest } = await start(
      { searchLagSeconds: 600 },
      { ...SEARCH, resendAfterSeconds: "never" },
    );
    if (first === "not answered") sandbox.fail({ on: "advertiser", act: true, with: lost });
    const creating = advertiser.create(inputs);
    await (first === "answered" ? creating : failureOf(creating));
    await rest.kill();
    sandbox.fail({ on: "advertiser", act: true, with: second });
    const failure = await failureOf(open(newFolder()).advertiser.create(inputs));
    expect(sandbox.advertisers.map(({ id }) => id)).toEqual([1, 2]);
    const next = open();
    await next.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs);
    return { sandbox, clock, open, next, failure };
  }

  it.each(["answered", "not answered"] as const)(
    "is found first, and the journal keeps the other one: %s",
    async (first) => {
      const { sandbox, clock, next, open } = await both(first, lost);
      clock.advance(700_000);
      const { id, outs } = await next.advertiser.create(inputs);
      expect(id).toBe("2");
      const later = open();
      await later.advertiser.check(inputs, inputs);
      await later.advertiser.diff(id, outs as Record<string, unknown>, inputs);
      expect(later.said.join("\n")).toMatch(/[Tt]he state has 2\./);
      expect(sandbox).toMatchObject({ advertiserPosts: 2, searches: expect.any(Number) });
    },
  );

  it.each(["answered", "not answered"] as const)(
    "stays unresolved while it is not found, and nothing is sent: %s",
    async (first) => {
      const { sandbox, next, failure } = await both(first, lost);
      expect((await failureOf(next.advertiser.create(inputs))).id).toBe(failure.id);
      expect((await next.runtime.journal(inputs.__identity).notSettled()).map(({ key }) => key)).toEqual([
        "Advertiser::organization/tiny/dev::a",
      ]);
      expect(sandbox.advertiserPosts).toBe(2);
    },
  );
});

it("an unresolved create is looked for under the new name of an alias, although the journal has it under the former one", async () => {
  const { sandbox, folder, open, closeNow } = await start();
  closeNow();
  const first = newRun(sandbox, folder, { settings: { markField: "alternative_id" } });
  sandbox.fail({ on: "advertiser", act: true, with: lost });
  const { id = "", properties } = await failureOf(first.advertiser.create(inputs));
  first.closeNow();
  const next = open();
  const renamed = {
    ...inputs,
    __identity: { identity: "tiny/dev::b", moved: ["Advertiser::organization/tiny/dev::a"] },
  };
  const { inputs: news = {} } = await next.advertiser.check(inputs, renamed);
  expect(await next.advertiser.diff(id, properties as Record<string, unknown>, news)).toMatchObject({ changes: true });
  const { inputs: again = {} } = await next.advertiser.check({}, renamed);
  expect((await next.advertiser.create(again)).id).toBe("1");
  next.closeNow();
  expect(await open().runtime.journal("tiny/dev::b").notSettled()).toEqual([]);
  expect(sandbox.advertiserPosts).toBe(1);
});

describe("C5: the end of a create", () => {
  /** Passes the journal's note of the end through `note`. */
  const noting =
    (note: (write: () => Promise<void>) => Promise<void>) =>
    (runtime: Runtime): Runtime => ({
      ...runtime,
      journal: (identity) => {
        const journal = runtime.journal(identity);
        const begin: typeof journal.begin = async (create) => {
          const begun = await journal.begin(create);
          if (begun.kind !== "send") return begun;
          return { ...begun, ended: (ending) => note(() => begun.ended(ending)) };
        };
        return { begin, handOver: (mark: string) => journal.handOver(mark) } as typeof journal;
      },
    });

  it.each([
    ["created", undefined],
    ["of unknown outcome", lost],
    ["refused", { kind: "answer", status: 406, body: { errors: ["no"] } } as Fault],
  ])("is noted before the engine gets it: %s", async (_, fault) => {
    const sandbox = await useSandbox();
    const order: string[] = [];
    const adapt = noting(async (write) => {
      await write();
      order.push("noted");
    });
    const run = newRun(sandbox, newFolder(), { adapt });
    if (fault !== undefined) sandbox.fail({ on: "advertiser", with: fault });
    await run.advertiser.create(inputs).catch(() => undefined);
    order.push("told");
    expect(order).toEqual(["noted", "told"]);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("that can't be noted is reported, and changes no outcome", async () => {
    const sandbox = await useSandbox();
    const adapt = noting(async () => {
      throw new JournalError("The journal can't be written: no space left.");
    });
    const run = newRun(sandbox, newFolder(), { adapt });
    expect((await run.advertiser.create(inputs)).id).toBe("1");
    expect(run.said).toEqual(['Advertiser "a" was created as 1. The journal can\'t be written: no space left.']);
    sandbox.fail({ on: "advertiser", act: true, with: lost });
    const other = { ...inputs, __identity: "tiny/dev::b" };
    expect((await failureOf(run.advertiser.create(other))).id).toMatch(/^unresolved-/);
    expect(run.said.at(-1)).toBe("The journal can't be written: no space left.");
    expect(sandbox.advertiserPosts).toBe(2);
  });
});

it("a create without a mark is not searched for", async () => {
  const { sandbox, folder, open, clock, closeNow } = await start();
  closeNow();
  const before = newRun(sandbox, folder);
  sandbox.fail({ on: "advertiser", act: true, with: lost });
  const failure = await failureOf(before.advertiser.create(inputs));
  before.closeNow();
  clock.advance(3_600_000);
  const next = open();
  const diff = failureOf(next.advertiser.diff(failure.id ?? "", failure.properties as Record<string, unknown>, inputs));
  expect((await diff).message).toContain("Look in the account");
  expect((await failureOf(next.advertiser.create(inputs))).id).toBe(failure.id);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, searches: 0 });
});

it("a create's mark is in its inputs even without a known search, which may be configured later", async () => {
  const { sandbox, advertiser } = await start({}, {});
  const { inputs: checked = {} } = await advertiser.check({}, inputs);
  await advertiser.create({ ...checked });
  const { alternative_id: sent } = sandbox.advertisers[0] as unknown as Record<string, unknown>;
  expect(checked).toHaveProperty("__mark", `alternative_id ${sent}`);
  expect(sandbox.advertiserPosts).toBe(1);
});
