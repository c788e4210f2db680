/** Pulumi's face: how the provider process is called, and what leaves it. Nothing here reaches a platform. */

import { describe, expect, it, vi } from "vitest";
import { OutcomeUnknownError, RefusedError } from "../../provider/src/base/index.js";
import { silenceShown } from "../../provider/src/dynamic/provider.js";
import type { RefreshAnswers } from "../../provider/src/journal/index.js";
import {
  conversionEvent,
  fingerprintOfBody,
  providerReference,
} from "../../provider/src/kinds/index.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import {
  identityText,
  refOf,
  SECRET_ARGUMENTS,
  senderIn,
} from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { newRun, type RunOptions } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import { senderOf } from "../support/stored.js";

const PLATFORM = { url: "https://x.example", email: "a@b.c", password: "geheim-password" };
const ACCOUNT = "x.example a@b.c";
const AT = "2026-01-01T00:00:00.000Z";
const ARGUMENTS = { advertiserId: 1, eventName: "Signup", value: 1.5 };
const PROVIDER =
  'exports.handler=()=>require("pulumi-advertising/handlers").conversionEvent';
const IN_UP = { isUp: true, resources: 1 };
const hidden = {
  __sender: senderOf("shop/dev::signup", { run: "r", account: ACCOUNT }),
  __provider: PROVIDER,
};
const inputs = { ...ARGUMENTS, ...hidden };
const outputs = { ...ARGUMENTS, eventId: 6 };
const sent = { name: "Signup", args: { advertiserId: 1, value: 1.5 } };
const open = { at: AT, mark: "m-1", body: "b", what: "It was sent.", ...sent };
const unresolved = { ...ARGUMENTS, unresolved: open };

interface Create {
  readonly fields: { readonly event_name: string };
  beforeSend(at: string): Promise<void>;
  onCreated(id: string): Promise<void>;
}

/** A run whose platform answers creates in this way. @param create is given the event's name once it was sent. */
function runWith(
  create: (name: string) => string = () => expect.fail("nothing may be sent"),
  options: RunOptions = {},
) {
  let sent = 0;
  const client = {
    async create({ fields, beforeSend, onCreated }: Create) {
      await beforeSend(AT);
      sent++;
      const id = create(fields.event_name);
      await onCreated(id);
      return { id, warnings: [] };
    },
  };
  const ours = client as unknown as ReturnType<Runtime["client"]>;
  const adapt = (real: Runtime) =>
    (options.adapt ?? ((it) => it))({ ...real, client: () => ours });
  const run = newRun(PLATFORM, newFolder(), { ...options, adapt });
  // As `check` does, which the engine calls before each of the others.
  run.runtime.begin({ identity: senderIn(inputs).identity });
  return { ...run, posts: () => sent };
}
const SHOWN = "[Pulumi shows this error at the resource]";
const fails = (error: unknown) => () => {
  throw error;
};
/** An error as Pulumi's process reads it. */
async function shown(call: Promise<unknown>) {
  const error = await call.then(
    () => expect.fail("it did not fail"),
    (each: Error) => each,
  );
  const { message, stack } = error;
  return { ...error, message, stack, text: String(error) };
}

describe("what leaves after a failure", () => {
  const secret = new RefusedError(`${PLATFORM.password} was refused`, {
    cause: new Error(PLATFORM.password),
  });

  it("of create and update is a message, scrubbed, without a stack and a cause", async () => {
    const run = runWith(fails(secret));
    const message =
      "[secret] was refused (node_modules/pulumi-advertising/docs/messages.md#advertising_refused) [ADVERTISING_REFUSED]";
    const refused = await shown(run.event.create(inputs));
    const { toString: _, ...shownOfIt } = refused;
    expect(shownOfIt).toEqual({ message, stack: SHOWN, text: SHOWN });
    expect(
      await shown(run.event.update("unresolved-m-1", unresolved, inputs)),
    ).toMatchObject({
      stack: SHOWN,
    });
    expect(run.posts()).toBe(1);
  });

  it("of check, diff, read and delete is the same, and what Pulumi's process prints besides is dropped", async () => {
    const saved = new SavedStack("shop/dev");
    const account = `${PLATFORM.password}.example a@b.c`;
    const elsewhere = { ...inputs, __sender: senderOf("shop/dev::signup", { account }) };
    const { urn } = refOf("ConversionEvent", "shop/dev::signup");
    saved.set(urn, { id: "6", inputs: elsewhere, outputs });
    const { event } = runWith(undefined, { saved });
    const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { error: spied } = console;
    silenceShown();
    for (const call of [
      event.check({}, ARGUMENTS), // without an identity
      event.diff("6", outputs, ARGUMENTS),
      event.read("6", outputs),
      event.delete("6", outputs),
    ]) {
      const { message, stack, text } = await shown(call);
      expect(message).toMatch(/ \[ADVERTISING_(ARGUMENTS|ACCOUNT_MISMATCH)\]$/);
      expect([stack, text]).not.toContain(message);
      expect(message).not.toContain(PLATFORM.password);
      console.error(`${text}: ${stack}`);
    }
    expect(print).not.toHaveBeenCalled();
    console.error("something else");
    expect(print).toHaveBeenCalledOnce();
    console.error = spied;
    print.mockRestore();
  });

  it("C4: of our own making asks for a report, with its stack in the message; after the sending the outcome is unknown", async () => {
    const defect = new TypeError(`x is not a function ${PLATFORM.password}`);
    const after = runWith(fails(defect));
    const before = runWith(undefined, {
      adapt: (real) => ({ ...real, client: fails(defect) }),
    });
    const words =
      /A defect in pulumi-advertising; please report it .*TypeError: x is not a function \[secret\]\n +at /s;
    for (const [{ event, posts }, amount] of [
      [after, 1],
      [before, 0],
    ] as const) {
      const error = await shown(event.create(inputs));
      expect([error.message, error.stack, "id" in error]).toEqual([
        expect.stringMatching(words),
        SHOWN,
        amount === 1,
      ]);
      expect(posts()).toBe(amount);
    }
  });
});

describe("an error that the engine saves", () => {
  it("has the id and the properties of a resource of unknown outcome, and its provider", async () => {
    const lost = new OutcomeUnknownError(`It was sent with ${PLATFORM.password}.`);
    const run = runWith(fails(lost));
    const error = (await shown(run.event.create(inputs))) as unknown as Record<
      string,
      unknown
    >;
    const { mark } = (error.properties as { unresolved: { mark: string } }).unresolved;
    expect(error).toMatchObject({
      id: `unresolved-${mark}`,
      stack: SHOWN,
      reasons: [error.message],
      message: expect.stringMatching(
        / the ConversionEvent named "Signup".*It was sent with \[secret\]\..*pending --created 'signup=<its id>'.* \(node_modules.pulumi-advertising.docs.*\) \[ADVERTISING_OUTCOME_UNKNOWN\]$/s,
      ),
    });
    expect(error.properties).toEqual({
      ...ARGUMENTS,
      __provider: PROVIDER,
      unresolved: {
        ...open,
        mark,
        body: expect.stringMatching(/^[\da-f]{32}$/),
        what: "It was sent with [secret].",
      },
    });
    // Error hooks ask again: the same answer, and no second create.
    expect(await shown(run.event.create(inputs))).toMatchObject({ id: error.id });
    expect(run.posts()).toBe(1);
  });

  it("has the members of a set that are there; a new set without any is not saved", async () => {
    const hidden = {
      __sender: senderOf("shop/dev::funnel", { run: "r" }),
      __provider: "p",
    };
    const news = (events: object) => ({ advertiserId: 1, defaults: {}, events, ...hidden });
    const [a, b] = ["A", "B"].map((eventName) => ({ eventName, value: 1 }));
    const run = runWith((name) => (name === "A" ? "5" : fails(new RefusedError("no"))()));
    expect(await shown(run.set.create(news({ a, b })))).toMatchObject({
      id: expect.stringMatching(/^set-/),
      message: expect.stringContaining(" is incomplete."),
      properties: {
        events: { a },
        eventIds: { a: 5 },
        __provider: providerReference("ConversionEventSet"),
      },
      stack: SHOWN,
    });
    const nothing = runWith(fails(new RefusedError("no")));
    expect(await shown(nothing.set.create(news({ b })))).not.toHaveProperty("id");
    expect([run.posts(), nothing.posts()]).toEqual([2, 1]);
  });
});

describe("what leaves otherwise", () => {
  it("a create's outputs have the id; its inputs name the resource, the account and the run", async () => {
    const run = runWith(() => "9007199254740993");
    const { inputs: checked, failures } = await run.event.check(
      {},
      { ...inputs, __sender: { identity: senderIn(inputs).identity, run: IN_UP } },
    );
    expect(failures).toEqual([]);
    expect(checked).toMatchObject({
      ...ARGUMENTS,
      __sender: senderOf("shop/dev::signup", {
        run: run.runtime.runName,
        account: ACCOUNT,
      }),
      countUnique: false,
    });
    expect(await run.event.create(checked)).toMatchObject({
      id: "9007199254740993",
      outs: { ...ARGUMENTS, eventId: "9007199254740993" },
    });
    expect(run.posts()).toBe(1);
  });

  it("a replacement creates before it deletes, and names its arguments", async () => {
    const { event } = runWith();
    const diff = (news: object) => event.diff("6", outputs, { ...inputs, ...news });
    expect(await diff({})).toEqual({ changes: false, replaces: [] });
    expect(await diff({ value: 2 })).toEqual({
      changes: true,
      replaces: ["value"],
    });
    expect(await diff({ existingId: 7 })).toEqual({
      changes: true,
      replaces: ["existingId"],
    });
  });

  it("problems of a check come all at once, each with its code, and at no property, whose value the engine would print", async () => {
    const run = { isUp: true, resources: 1, inherited: ["maxWaitSeconds"] };
    const { failures } = await runWith().event.check(
      {},
      {
        ...inputs,
        advertiserId: undefined,
        value: "x",
        __sender: { identity: senderIn(inputs).identity, run },
      },
    );
    const reasons = [
      /^advertiserId is required: .* got undefined from an Output .*\[ADVERTISING_ARGUMENTS\]$/,
      /^value expected a finite number; got .*\[ADVERTISING_ARGUMENTS\]$/,
      /^advertising:maxWaitSeconds is set by the program, .*\[ADVERTISING_SETTINGS\]$/s,
    ];
    expect(failures).toEqual(
      reasons.map((reason) => ({ property: "", reason: expect.stringMatching(reason) })),
    );
  });

  it("what a person answers is read as it was sent, and what is not there is gone", async () => {
    const read = (
      outcomes: Record<string, string>,
      state: Record<string, unknown> = unresolved,
    ) => {
      const answers: RefreshAnswers = { outcomes, carrier: "" };
      const { event } = runWith(undefined, {
        environment: { ADVERTISING_ANSWERS: JSON.stringify(answers) },
      });
      return event.read("unresolved-m-1", state);
    };
    expect(await read({ "m-1": "" })).toEqual({ id: "", props: {} });
    const { unresolved: _, ...before } = unresolved;
    expect(await read({ "m-1": "ConversionEvent 4711" })).toEqual({
      id: "4711",
      props: {
        ...before,
        eventId: 4711,
        __sentAs: { body: "b", owner: "1" },
        __resolved: { "m-1": "ConversionEvent 4711" },
      },
    });
    // Where the state has other arguments than those that were sent, it gets these.
    const body = fingerprintOfBody(conversionEvent, ARGUMENTS);
    const changed = { ...unresolved, value: 99, unresolved: { ...open, body } };
    expect(await read({ "m-1": "ConversionEvent 4711" }, changed)).toEqual({
      id: "4711",
      props: { ...before, eventId: 4711, __resolved: { "m-1": "ConversionEvent 4711" } },
    });
    // Another create's answer.
    expect(await read({ other: "" })).toEqual({ id: "unresolved-m-1", props: unresolved });
  });

  it("without a known read it comes back as it is, for `.get` with its id", async () => {
    const { event } = runWith();
    expect(await event.read("6", outputs)).toEqual({ id: "6", props: outputs });
    expect(await event.read("6", {})).toEqual({ id: "6", props: { eventId: 6 } });
  });
});

it("a delete says what stays live, without its name, and does not fail: a replaced object would stay in the state forever", async () => {
  const { event, told } = runWith();
  await event.delete("6", outputs);
  await event.delete("unresolved-m-1", unresolved);
  const said = told.map(({ message }) => message);
  expect(said).toEqual([
    expect.stringMatching(
      /^ConversionEvent 6 leaves the state and isn't deleted, because /,
    ),
  ]);
  expect(said.join()).not.toMatch(/signup/i);
});

it("another account is an error with both accounts and what to do, unless it is named as the former one", async () => {
  const there = "127.0.0.1:8787 a@b.c";
  const check = (settings: Record<string, string>) => {
    const olds = { ...inputs, __sender: senderOf("shop/dev::signup", { account: there }) };
    const context = { identity: "shop/dev::signup", run: IN_UP };
    const { event } = runWith(undefined, { settings });
    return event.check(olds, { ...ARGUMENTS, __sender: context });
  };
  expect((await shown(check({}))).message).toMatch(
    /ConversionEvent "signup" under the account 127\.0\.0\.1:8787 a@b\.c, but this run's settings name x\.example a@b\.c\. Nothing was sent\..*\n +pulumi config set advertising:formerAccount '127\.0\.0\.1:8787 a@b\.c'.*\(node_modules.pulumi-advertising.docs.*\) \[ADVERTISING_ACCOUNT_MISMATCH\]$/s,
  );
  const { failures } = await check({ formerAccount: ` ${there.toUpperCase()} ` });
  expect(failures).toEqual([]);
});

it("thirty adoptions in a preview are ten messages, and one line with all other ids", async () => {
  const run = newRun(PLATFORM, newFolder());
  const context = { run: { isUp: false, resources: 30 } };
  for (let n = 0; n < 30; n++) {
    const identity = `tiny/dev::e${n}`;
    const adopted = { ...inputs, existingId: 100 + n };
    await run.event.check({}, { ...adopted, __sender: { ...context, identity } });
  }
  expect(run.told).toHaveLength(11);
  const others = Array.from({ length: 20 }, (_, n) => `\\(${110 + n}\\)`).join(".*");
  expect(run.told.at(-1)?.message).toMatch(new RegExp(`^20 more, adopted; .*${others}`));
});

describe.each([
  ["the classes", undefined],
  ["the plugin", "default"],
])("through %s, likely mistakes are warnings of `check`", (_, provider) => {
  async function warned(args: object, parentTypes?: string) {
    const options = provider === undefined ? {} : { provider };
    const { event, told } = newRun(PLATFORM, newFolder(), options);
    const identity = identityText("a/shop/dev", { parentTypes, name: "buy" });
    const context = { identity, run: { isUp: false, resources: 1 } };
    const news = { ...ARGUMENTS, ...args, __sender: context };
    expect((await event.check({}, news)).failures).toEqual([]);
    await event.check({}, news);
    return told.map(({ severity, message }) => `${severity} ${message}`);
  }
  const eventName = "CafÃ©";
  const warning = `warn eventName "${eventName}" has broken letters, "Ã©": write it as people should read it`;

  it("once each", async () => {
    expect(await warned({ eventName })).toEqual([warning]);
    expect(await warned({ eventName: "Café" })).toEqual([]);
  });

  it("without a secret", async () => {
    const args = { eventName, clickWindow: 7, [SECRET_ARGUMENTS]: ["eventName"] };
    expect(await warned(args)).toEqual([
      expect.stringMatching(/^warn clickWindow is 7 seconds; .*, write 604800 \(7 days\)$/),
    ]);
  });

  it("a deletionPolicy that can't delete: the classes' program has said so", async () => {
    const warnings = provider
      ? [
          'warn deletionPolicy "delete" has no effect without a delete in advertising:operations',
        ]
      : [];
    expect(await warned({ deletionPolicy: "delete" })).toEqual(warnings);
  });

  it("not in a catalog, which shows them with their places", async () => {
    expect(await warned({ eventName }, "advertising:index:Catalog")).toEqual([]);
  });
});
