/**
 * Unusual values of arguments: what no rule refuses (`unit/validate`)
 * arrives at the platform unchanged.
 */

import { describe, expect, it } from "vitest";
import { senderIn, UNKNOWN } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSandbox, operatedSettings } from "../support/operated.js";
import { failureOf, newRun } from "../support/run.js";
import { SingleObjectFixture } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";
import { senderOf } from "../support/stored.js";

async function start() {
  const sandbox = await useSandbox();
  const { advertiser, event } = newRun(sandbox, newFolder());
  return {
    sandbox,
    /** Checks and creates, as the engine does. @returns the object on the platform. */
    async arrived(args: object): Promise<Record<string, unknown>> {
      if ("eventName" in args)
        await advertiser.declare({
          advertiserName: "of the event",
          __sender: senderOf("tiny/dev::owner"),
        });
      const posts = sandbox.creates;
      const provider = "advertiserName" in args ? advertiser : event;
      const { inputs, failures } = await provider.check(
        {},
        { ...args, __sender: { identity: "tiny/dev::it" } },
      );
      expect(failures).toEqual([]);
      const { id } = await provider.create(inputs);
      expect(sandbox.creates).toBe(posts + 1);
      const object = [...sandbox.advertisers, ...sandbox.events].find(
        (one) => String(one.id) === id,
      );
      return { ...object };
    },
  };
}

const eventWith = (args: object) => ({
  eventName: "E",
  advertiserId: 1,
  value: 1,
  ...args,
});
const MEGABYTE = "ä".repeat(512 * 1024);

describe("a name", () => {
  it.each<[string, string]>([
    ["emoji", "👩‍👩‍👧‍👦 🎉 sold"],
    ["both ways to write an accent", "\u00e9 e\u0301"],
    ["other scripts", "متجر 商店 магазин"],
    ["quotes, backslashes and what looks like escapes", "\"\\u0000\\n' %00 </script>"],
    ["spaces around it", "  name  "],
    ["the largest code point", "\u{10ffff}"],
  ])("arrives unchanged: %s", async (_, name) => {
    const { arrived } = await start();
    expect((await arrived({ advertiserName: name })).advertiser_name).toBe(name);
    expect((await arrived(eventWith({ eventName: name }))).event_name).toBe(name);
  });

  it("of 1 MB arrives whole if there is no limit; one of an event is counted in characters, not in UTF-16 units", async () => {
    const { arrived } = await start();
    expect((await arrived({ advertiserName: MEGABYTE })).advertiser_name).toBe(MEGABYTE);
    const longest = "🎉".repeat(99);
    expect((await arrived(eventWith({ eventName: longest }))).event_name).toBe(longest);
  });
});

describe("a number", () => {
  it.each([1e21, -1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 53 + 2, 0.1 + 0.2, -25.5])(
    "arrives unchanged: value %d",
    async (value) => {
      const { arrived } = await start();
      expect((await arrived(eventWith({ value }))).value).toBe(value);
    },
  );

  it("that is -0 arrives as 0, because JSON and the state have only one zero", async () => {
    const { arrived } = await start();
    expect(await arrived(eventWith({ value: -0, eventTypeId: -0 }))).toMatchObject({
      value: 0,
      event_type_id: 0,
    });
  });
});

describe("additional fields", () => {
  it("arrive unchanged, at every depth", async () => {
    const { arrived } = await start();
    const fields = {
      crlf: "a\r\nb",
      nul: "a\u0000b",
      escape: "\u001b[31m",
      emoji: "👩‍👩‍👧‍👦",
      long: MEGABYTE,
      large: 1e21,
      small: 5e-324,
      none: null,
      empty: { list: [], object: {}, text: "" },
      deep: [{ "a\r\nb": ["\u0000", 1e21, { "🎉": false }] }],
    };
    expect(await arrived({ advertiserName: "A", additionalFields: fields })).toMatchObject(
      fields,
    );
    expect(await arrived(eventWith({ additionalFields: fields }))).toMatchObject(fields);
  });
});

it("secret numbers that the platform echoes are masked if they have at least 4 characters, of a single event and of a set", async () => {
  const sandbox = await useSandbox();
  const { event, set } = newRun(sandbox, newFolder());
  const errors = ["value 98765.0 is too high, as 4321 and 'blue' are, for 'ab1' or 765"];
  sandbox.fail({
    on: "event",
    with: { kind: "answer", status: 406, body: { errors } },
    times: 2,
  });
  const own = {
    eventName: "blue",
    value: 98765,
    additionalFields: { note: [4321, "ab1", 765] },
  };
  const single = {
    ...own,
    advertiserId: 1,
    __secret: Object.keys(own),
    __sender: senderOf("tiny/dev::e"),
  };
  const many = {
    advertiserId: 1,
    events: { a: own },
    __secret: ["events"],
    __sender: senderOf("tiny/dev::s"),
  };
  for (const create of [() => event.declare(single), () => set.declare(many)]) {
    const { message } = await failureOf(create());
    expect(message).toContain(
      "value [secret] is too high, as [secret] and '[secret]' are, for 'ab1' or 765",
    );
  }
});

describe.each([
  ["a single event, with the classes", "a single event", undefined],
  ["a single event, with the plugin", "a single event", "default"],
  ["a set's event", "a set's event", undefined],
] as const)("arguments of %s that a policy remediates", (_, form, plugin) => {
  const DAY = 24 * 3600;
  async function remediated() {
    const sandbox = await operatedSandbox();
    const fixture = new SingleObjectFixture(form, sandbox, newFolder());
    const limit = (event: Record<string, unknown>) => {
      const { clickWindow } = event;
      return Number(clickWindow) > 14 * DAY ? { ...event, clickWindow: 14 * DAY } : event;
    };
    const remediate = (inputs: Record<string, unknown>) => {
      const { defaults } = inputs as { defaults?: Record<string, unknown> };
      return defaults ? { ...inputs, defaults: limit(defaults) } : limit(inputs);
    };
    Object.assign(fixture.engine, { plugin, remediate });
    const windows = () => sandbox.events.map(({ click_window }) => click_window);
    expect((await fixture.up()).error).toBeUndefined();
    expect(windows()).toEqual([14 * DAY]);
    return { sandbox, fixture, windows };
  }

  it("are kept by a create, without changes, and by an update in place", async () => {
    const { sandbox, fixture, windows } = await remediated();
    expect(await fixture.preview()).toBe("");
    const settings = operatedSettings({ update: eventOperations.update });
    expect((await fixture.up({ value: 2 }, { settings })).error).toBeUndefined();
    expect([windows(), sandbox.events[0]?.value]).toEqual([[14 * DAY], 2]);
    expect(sandbox.eventPosts).toBe(1);
  });

  it.skipIf(form === "a set's event")(
    "are an error in a replacement, where the engine drops the change, until the program makes it",
    async () => {
      const { sandbox, fixture, windows } = await remediated();
      const refused =
        /^ConversionEvent "buy": .*policy .*clickWindow.*Nothing was sent\..* in the program\./;
      for (const _ of [1, 2]) {
        const preview = await fixture.preview({ value: 2 });
        expect(preview).toMatch(refused);
        expect(preview).not.toMatch(/is replaced/);
        expect((await fixture.up({ value: 2 })).error).toMatch(refused);
      }
      expect([sandbox.eventPosts, fixture.id]).toEqual([1, "2"]);
      const changed = { value: 2, clickWindow: 14 * DAY };
      expect((await fixture.up(changed)).error).toBeUndefined();
      expect(windows()).toEqual([14 * DAY, 14 * DAY]);
    },
  );
});

it("arguments that are ignored, secret or not known yet are no remediation: their replacement is created", async () => {
  const sandbox = await operatedSandbox();
  const { engine, up } = new SingleObjectFixture("a single event", sandbox, newFolder());
  const secret = {
    __secret: ["additionalFields"],
    additionalFields: { b: { y: 1, x: [2] } },
  };
  await up({ ...secret, segmentId: 1 });
  const { id, inputs, outputs } = engine.state ?? expect.fail();
  const replaced = async (isUp: boolean, segmentId: unknown) => {
    const run = engine.newRun();
    const context = { identity: senderIn(inputs).identity, run: { isUp, resources: 1 } };
    const next = { ...inputs, value: 2, __sender: context };
    // The option keeps the old value for the first `check` only.
    const first = await run.event.check(inputs, {
      ...next,
      segmentId: isUp ? 1 : segmentId,
    });
    const diff = await run.event.diff(id, outputs, first.inputs ?? {});
    expect(diff.replaces).toContain("value");
    const second = await run.event.check({}, { ...next, segmentId });
    expect(second.failures).toEqual([]);
    if (isUp) await run.event.create(second.inputs ?? {});
    await run.close();
  };
  await replaced(false, UNKNOWN);
  await replaced(true, 9);
  expect(sandbox.eventPosts).toBe(2);
});
