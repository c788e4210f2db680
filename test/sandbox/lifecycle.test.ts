/** The provider's lifecycle with a real client, as the engine calls it. */

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { SandboxOptions } from "../../provider/src/sandbox/index.js";
import { UNKNOWN } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { refusalShapes } from "../support/refusal-shapes.js";
import { failureOf, newRun, type RunOptions } from "../support/run.js";
import { useSandbox } from "../support/stack.js";

const inputs = {
  advertiserName: "A",
  __identity: "organization/tiny/dev::a",
  __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").advertiser',
};

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
  const memories = () =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  const nextAfterKill = async () => {
    await run.kill();
    return newRun(sandbox, folder);
  };
  return { ...run, sandbox, folder, memories, nextAfterKill };
}

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

it("C4: a defect of this package after the sending leaves the create unresolved", async () => {
  const { sandbox, advertiser, memories } = await start({
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
  expect(memories()).toHaveLength(1);
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

it("C1: if the memory can't be written, nothing is sent, and the error says what to do", async () => {
  const { sandbox, advertiser, folder } = await start();
  writeFileSync(join(folder, "stacks"), "");
  const failure = await failureOf(advertiser.create(inputs));
  expect(failure.id).toBeUndefined();
  expect(failure.message).toMatch(/^Nothing was sent\. The memory .*jsonl.*can't be used: /);
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

it("an `up` reports a take-over once, afterwards", async () => {
  const { sandbox, advertiser, nextAfterKill, memories } = await start();
  await advertiser.create(inputs);
  const next = await nextAfterKill();
  const up = { ...inputs, __identity: { identity: inputs.__identity, run: { isUp: true, resources: 1 } } };
  const { inputs: checked = {} } = await next.advertiser.check({}, up);
  expect((await next.advertiser.create(checked as Record<string, unknown>)).id).toBe("1");
  expect([next.told, next.said]).toEqual([[], [expect.stringContaining("it is taken over, and nothing is sent")]]);
  next.closeNow();
  expect([sandbox.advertiserPosts, memories().length]).toEqual([1, 1]);
});

it("ADVERTISING_LOG=debug writes each attempt to standard error: number, status, or why there was no answer", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const { sandbox, advertiser } = await start({ environment: { ADVERTISING_LOG: "debug" } });
  sandbox.fail({ on: "advertiser", with: { kind: "answer", status: 429, headers: { "retry-after": "0" } } });
  await advertiser.create(inputs);
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "reset" } });
  await failureOf(advertiser.create({ ...inputs, __identity: "organization/tiny/dev::b" }));
  const lines = written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes(" POST "));
  expect(lines.map((line) => line.replace(/^\S+Z |after \d+ ms\n$/g, ""))).toEqual([
    "POST /rest/authenticate attempt 1: status 200 ",
    "POST /rest/advertiser attempt 1: status 429 ",
    "POST /rest/advertiser attempt 2: status 200 ",
    expect.stringMatching(/^POST \/rest\/advertiser attempt 1: \w+, sent $/),
  ]);
  expect(lines.join("")).not.toContain(sandbox.password);
});
