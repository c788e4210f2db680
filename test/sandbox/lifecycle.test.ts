/** The provider's lifecycle with a real client, as the engine calls it. */

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { SandboxOptions } from "../../provider/src/sandbox/index.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { recordsIn } from "../../provider/src/store/notes.js";
import { StackJournals } from "../../provider/src/tools/change-stack.js";
import { newFolder } from "../support/folder.js";
import { commandsIn } from "../support/printed-commands.js";
import { refusalShapes } from "../support/refusal-shapes.js";
import { failureOf, newRun, type RunOptions } from "../support/run.js";
import { useSandbox } from "../support/stack.js";

const inputs = {
  advertiserName: "A",
  __identity: "organization/tiny/dev::a",
  __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").advertiser',
};

const URN = "urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:Advertiser::a";

const eventInputs = {
  eventName: "E0",
  advertiserId: 1,
  value: 1,
  __identity: "organization/tiny/dev::e0",
  __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").conversionEvent',
};

async function start(options: RunOptions = {}, platform: SandboxOptions = {}) {
  const sandbox = await useSandbox(platform);
  const folder = newFolder();
  const run = newRun(sandbox, folder, options);
  const journals = () =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  const nextAfterKill = async () => {
    await run.kill();
    return newRun(sandbox, folder);
  };
  return { ...run, sandbox, journals, nextAfterKill };
}

it("C6: an unresolved create that the engine asks for again, as its error hooks do, is not sent again", async () => {
  const { sandbox, advertiser, closeNow, journals } = await start();
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
  const first = await failureOf(advertiser.create(inputs));
  for (let i = 0; i < 3; i++) {
    const again = await failureOf(advertiser.create(inputs));
    expect(again.id).toMatch(/^unresolved-/);
    expect(again.id).toBe(first.id);
    expect(again.properties).toHaveProperty("unresolved");
  }
  expect(sandbox.advertiserPosts).toBe(1);
  closeNow();
  // The journal keeps it until it is settled.
  expect(journals()).toHaveLength(1);
});

it("a targeted destroy, which asks for a `diff` of what depends on its target, gets no message about a replacement", async () => {
  const { sandbox, advertiser, event, set, nextAfterKill } = await start();
  const events = { k: { eventName: "K", value: 1 } };
  const setInputs = { advertiserId: 1, events, __identity: "organization/tiny/dev::s", __provider: "exports.handler" };
  await advertiser.create(inputs);
  const [one, several] = [await event.create(eventInputs), await set.create(setInputs)];
  const { event: later, set: laterSet, told, said } = await nextAfterKill();
  await later.diff(one.id, one.outs ?? {}, { ...eventInputs, advertiserId: UNKNOWN });
  await laterSet.diff(several.id, several.outs ?? {}, { ...setInputs, advertiserId: UNKNOWN });
  expect([...told, ...said]).toEqual([]);
  expect(sandbox.creates).toBe(3);
});

it("after a destroy, the object of an earlier run is not named as the one that its own create was to replace", async () => {
  const sandbox = await useSandbox();
  const folder = newFolder();
  const environment = { PULUMI_SKIP_CHECKPOINTS: "true" }; // the notes stay until a later run sees them in the state
  const first = newRun(sandbox, folder, { environment });
  const checked = await first.advertiser.check({}, inputs);
  const { id } = await first.advertiser.create(checked.inputs ?? {});
  first.closeNow();
  const second = newRun(sandbox, folder, { environment });
  const changed = await second.advertiser.check({}, { ...inputs, advertiserName: "B" });
  const { message, properties } = await failureOf(second.advertiser.create(changed.inputs ?? {}));
  expect(message).toContain(`created it at`);
  expect(message).not.toContain(`it is not ${id}`);
  expect(properties).not.toHaveProperty("unresolved.replaces");
  expect(sandbox.advertiserPosts).toBe(1);
});

it("C4: a defect of this package after the sending leaves the create unresolved", async () => {
  const { sandbox, advertiser, journals } = await start({
    adapt: (runtime) => {
      const client = runtime.client();
      const create: typeof client.create = async (request) => {
        await client.create(request);
        throw new TypeError("not foreseen");
      };
      return { ...runtime, client: () => Object.assign(Object.create(client), { create }) };
    },
  });
  const failure = await failureOf(advertiser.create(inputs));
  expect(failure.id).toMatch(/^unresolved-/);
  expect(failure.message).toContain("not foreseen");
  expect(failure.message).toContain("existingId");
  expect(sandbox.advertiserPosts).toBe(1);
  expect(journals()).toHaveLength(1);
});

it("C4: a defect of this package before the sending leaves nothing unresolved", async () => {
  const { sandbox, advertiser } = await start({
    adapt: (runtime) => ({
      ...runtime,
      client: () => {
        throw new TypeError("not foreseen");
      },
    }),
  });
  const failure = await failureOf(advertiser.create(inputs));
  expect(failure.id).toBeUndefined();
  expect(failure.message).toContain("A defect in pulumi-advertising");
  expect(sandbox.advertiserPosts).toBe(0);
});

it("C1: if the journal can't be written, nothing is sent, and the error says what to do", async () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  const { sandbox, advertiser } = await start({ cookieFile: join(file, "session.json") });
  const failure = await failureOf(advertiser.create(inputs));
  expect(failure.id).toBeUndefined();
  expect(failure.message).toMatch(/^Nothing was sent\. The journal .*jsonl.*can't be used: .*advertising:cookieFile/);
  expect(sandbox.advertiserPosts).toBe(0);
});

/** The engine's tests cover what a real run prints about a refusal. */
it.each(refusalShapes)(
  "a refusal in the shape %s: the platform's words and advice, no second login, and nothing in the state",
  async (refusalShape) => {
    const { sandbox, advertiser, event } = await start({}, { refusalShape, advertisersStartActive: false });
    expect((await advertiser.create(inputs)).id).toBe("1");
    const failure = await failureOf(event.create(eventInputs));
    expect(failure.id).toBeUndefined();
    expect(failure.message).toContain("advertiser 1 is not active");
    expect(failure.message).toMatch(
      /ConversionEvent "e0": POST http:\/\/127\.0\.0\.1:\d+\/rest\/event was refused with status \d{3}/,
    );
    expect(failure.message).toContain("Activate that advertiser on the platform");
    expect(failure.message).not.toContain("active: true");
    expect(failure.stack).not.toMatch(/^\s+at .*:\d+/m);
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 1 });
  },
);

describe("a create of a run that was killed before the state was saved", () => {
  it("C2: is taken over with a message if the arguments are the same, and nothing is sent", async () => {
    const { sandbox, advertiser, nextAfterKill, journals } = await start();
    const { id } = await advertiser.create(inputs);
    const next = await nextAfterKill();
    await next.advertiser.check({}, inputs);
    expect(next.said).toEqual([
      expect.stringContaining(`created as ${id} by an interrupted run: \`pulumi up\` will take it over`),
    ]);
    expect((await next.advertiser.create(inputs)).id).toBe(id);
    expect(next.said.at(-1)).toContain(`created as ${id} by an interrupted run; it is taken over, and nothing is sent`);
    expect(sandbox.advertiserPosts).toBe(1);
    next.closeNow();
    expect(journals()).toEqual([]);
  });

  it("C2: of a run that ended cleanly with checkpoints off, the message says how to replace it", async () => {
    const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
    const { sandbox, advertiser, closeNow, nextAfterKill } = await start({ environment });
    const { id } = await advertiser.create(inputs);
    closeNow();
    const next = await nextAfterKill();
    await next.advertiser.check({}, inputs);
    await next.advertiser.create({ ...inputs });
    const hint = "If you asked Pulumi to replace it, run `pulumi up` once without that, and then ask again.";
    expect(next.said).toEqual([
      `Advertiser "a" was created as ${id} by an earlier run: \`pulumi up\` will take it over. ${hint}`,
      `Advertiser "a" was created as ${id} by an earlier run; it is taken over, and nothing is sent. ${hint}`,
    ]);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("C2: is unresolved if the arguments have changed, and nothing is sent", async () => {
    const { sandbox, advertiser, nextAfterKill } = await start();
    const { id } = await advertiser.create(inputs);
    const next = await nextAfterKill();
    const other = { ...inputs, advertiserName: "B" };
    await next.advertiser.check({}, other);
    const [warning] = next.told;
    expect(warning).toMatchObject({ severity: "warn", urn: URN });
    expect(warning?.message.replace(/sent at .*\./, "sent at …").split("\n")).toEqual([
      `Advertiser "a" was created as ${id} by an interrupted run with other arguments than the program has now: \`pulumi up\` will send nothing for it, and fail.`,
      `To go on with ${id}, declare all arguments as they were sent: the Advertiser named "A", sent at …`,
      `To create another one (${id} stays live):`,
      `  npx pulumi-advertising pending --forget '${URN}'`,
    ]);
    const failure = await failureOf(next.advertiser.create(other));
    expect(failure.id).toMatch(/^unresolved-/);
    const { message } = failure;
    expect(message).toContain(`An earlier run created ${id}: the Advertiser named "A", sent at `);
    expect(message).toContain(`as ${id}. It was sent with other arguments than the program has now.`);
    expect(message).not.toContain("is unknown");
    expect(commandsIn(message)).toEqual([
      `npx pulumi-advertising pending --created '${URN}=${id}'`,
      `npx pulumi-advertising pending --not-created '${URN}'`,
    ]);
    const olds = failure.properties as Record<string, unknown>;
    const later = await failureOf(next.advertiser.diff(String(failure.id), olds, { ...inputs, advertiserName: "B" }));
    expect(later.message).toBe(message);
    expect(sandbox.advertiserPosts).toBe(1);
  });

  it("is named as a second object if the program has existingId now", async () => {
    const { sandbox, advertiser, nextAfterKill, journals } = await start();
    const { id } = await advertiser.create(inputs);
    const next = await nextAfterKill();
    expect((await next.advertiser.create({ ...inputs, existingId: 99 })).id).toBe("99");
    expect(next.said).toEqual([
      expect.stringContaining(`an interrupted run also created ${id}, which nothing manages. ${id} stays live`),
    ]);
    expect(sandbox.advertiserPosts).toBe(1);
    next.closeNow();
    expect(journals()).toEqual([]);
  });
});

it("a targeted run does not mark creates as unclaimed that it was not asked about", async () => {
  const { advertiser, nextAfterKill } = await start();
  await advertiser.create(inputs);
  const next = await nextAfterKill();
  const targeted = {
    ...eventInputs,
    __identity: { identity: eventInputs.__identity, run: { isUp: true, resources: 2 } },
  };
  await next.event.check({}, targeted);
  const notes = await next.runtime.journal(inputs.__identity).notSettled();
  expect(notes).toMatchObject([{ id: "1" }]);
  next.closeNow();
  expect(recordsIn(next.runtime.journal(inputs.__identity).path)).toEqual(notes);
});

it("an `up` reports a take-over once, afterwards", async () => {
  const { sandbox, advertiser, nextAfterKill } = await start();
  await advertiser.create(inputs);
  const next = await nextAfterKill();
  const up = { ...inputs, __identity: { identity: inputs.__identity, run: { isUp: true, resources: 1 } } };
  const { inputs: checked = {} } = await next.advertiser.check({}, up);
  await next.advertiser.create(checked as Record<string, unknown>);
  expect(next.said).toEqual([expect.stringContaining("it is taken over, and nothing is sent")]);
  expect(sandbox.advertiserPosts).toBe(1);
});

it("ADVERTISING_LOG=debug writes each attempt to standard error: number, status, or why there was no answer", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const { sandbox, advertiser } = await start({ environment: { ADVERTISING_LOG: "debug" } });
  sandbox.fail({ on: "advertiser", with: { kind: "answer", status: 429, headers: { "retry-after": "0" } } });
  await advertiser.create(inputs);
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "reset" } });
  await failureOf(advertiser.create(inputs));
  const lines = written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes(" POST "));
  expect(lines.map((line) => line.replace(/^\S+Z |after \d+ ms\n$/g, ""))).toEqual([
    "POST /rest/authenticate attempt 1: status 200 ",
    "POST /rest/advertiser attempt 1: status 429 ",
    "POST /rest/advertiser attempt 2: status 200 ",
    expect.stringMatching(/^POST \/rest\/advertiser attempt 1: \w+, sent $/),
  ]);
  expect(lines.join("")).not.toContain(sandbox.password);
});

it("a create that only the journal has, settled by the user with an id, is taken over and not sent again", async () => {
  const sandbox = await useSandbox();
  const folder = newFolder();
  const killed = newRun(sandbox, folder);
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
  expect((await failureOf(killed.advertiser.create(inputs))).id).toMatch(/^unresolved-/);
  await killed.kill(); // before the engine saved anything, as with checkpoints off
  const journals = new StackJournals({ cookieFile: join(folder, "session.json"), folder }, "organization/tiny/dev");
  const [{ mark = "" } = {}] = journals.notes();
  await journals.whileHeld(async () => journals.settle(new Map([[mark, "1"]])));
  const next = newRun(sandbox, folder);
  expect((await next.advertiser.create(inputs)).id).toBe("1");
  expect(sandbox.advertiserPosts).toBe(1);
});
