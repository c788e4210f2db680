/** The provider's lifecycle with a real client, as the engine calls it. */

import { writeFileSync } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { UNKNOWN } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import type { InstallationOptions } from "../support/installation.js";
import { operatedSandbox } from "../support/operated.js";
import { failureOf, journalsOf, newRun, type RunOptions } from "../support/run.js";
import { EventEngine, journalLines } from "../support/set-engine.js";
import { useSandbox } from "../support/stack.js";
import { senderOf } from "../support/stored.js";

const inputs = {
  advertiserName: "A",
  __sender: senderOf("tiny/dev::a"),
  __provider: "exports.handler",
};
const eventInputs = {
  eventName: "E0",
  advertiserId: 1,
  value: 1,
  __sender: senderOf("tiny/dev::e0"),
  __provider: "exports.handler",
};

async function start(options: RunOptions = {}, platform: InstallationOptions = {}) {
  const sandbox = await useSandbox(platform);
  const folder = newFolder();
  const run = newRun(sandbox, folder, options);
  const nextAfterKill = async () => {
    await run.kill();
    return newRun(sandbox, folder);
  };
  return { ...run, sandbox, folder, nextAfterKill };
}

it("a targeted destroy, which asks for a `diff` of what depends on its target, gets no message about a replacement", async () => {
  const { sandbox, advertiser, event, set, nextAfterKill } = await start();
  const events = { k: { eventName: "K", value: 1 } };
  const setInputs = {
    advertiserId: 1,
    events,
    __sender: senderOf("tiny/dev::s"),
    __provider: "exports.handler",
  };
  await advertiser.declare(inputs);
  const [one, several] = [await event.declare(eventInputs), await set.declare(setInputs)];
  const { event: later, set: laterSet, told, said } = await nextAfterKill();
  await later.diff(one.id, one.outs ?? {}, { ...eventInputs, advertiserId: UNKNOWN });
  await laterSet.diff(several.id, several.outs ?? {}, {
    ...setInputs,
    advertiserId: UNKNOWN,
  });
  expect([...told, ...said, sandbox.creates]).toEqual([3]);
});

it("C1: if the journal can't be written, nothing is sent, and the error says what to do", async () => {
  const { sandbox, advertiser, folder } = await start();
  writeFileSync(journalsOf(folder), "");
  const failure = await failureOf(advertiser.declare(inputs));
  expect(failure.message).toMatch(
    /^Nothing was sent\. The journal .*jsonl.*can't be used: /,
  );
  expect([failure.id, sandbox.advertiserPosts]).toEqual([undefined, 0]);
});

it("a refusal has the platform's words, and leaves nothing in the state or the journal", async () => {
  const { sandbox, advertiser, event, folder } = await start(
    {},
    { advertisersStartActive: false },
  );
  expect((await advertiser.declare(inputs)).id).toBe("1");
  const { id, message } = await failureOf(event.declare(eventInputs));
  expect(message).toMatch(
    /^ConversionEvent "e0": POST http:.*\/rest\/event was refused with status \d{3}.*advertiser 1 is not active/s,
  );
  expect([id, journalLines(folder), sandbox.eventPosts]).toEqual([
    undefined,
    ["a created 1"],
    1,
  ]);
});

it("an `up` reports a take-over once, afterwards", async () => {
  const [sandbox, folder] = [await operatedSandbox(), newFolder()];
  const engine = new EventEngine(sandbox, folder, "a");
  const declared = { eventName: "A", advertiserId: 1, value: 1 };
  await engine.upAndKill(declared);
  const { error, run } = await engine.up(declared);
  expect([error, run.told, run.said]).toEqual([
    undefined,
    [
      expect.objectContaining({
        message: expect.stringContaining(
          "taken over from an earlier run: 2. No create was sent",
        ),
      }),
    ],
    [],
  ]);
  expect([sandbox.eventPosts, journalLines(folder)]).toEqual([1, []]);
});

it.each(["nonsense", "debug:", "0"])(
  "ADVERTISING_LOG=%s logs nothing, and says once what is known",
  async (value) => {
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    onTestFinished(() => written.mockRestore());
    vi.stubEnv("ADVERTISING_LOG", value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { advertiser, said } = await start();
    await advertiser.declare(inputs);
    const lines = written.mock.calls.map(([text]) => String(text));
    expect(lines.filter((text) => text.includes(" POST "))).toEqual([]);
    expect(said).toEqual([expect.stringContaining("debug:<file>")]);
  },
);

it("ADVERTISING_LOG=debug writes each attempt to standard error: number, status, or why there was no answer", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  vi.stubEnv("ADVERTISING_LOG", "debug");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { sandbox, advertiser } = await start();
  sandbox.fail({
    on: "advertiser",
    with: { kind: "answer", status: 429, headers: { "retry-after": "0" } },
  });
  await advertiser.declare(inputs);
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "reset" } });
  await failureOf(advertiser.declare({ ...inputs, __sender: senderOf("tiny/dev::b") }));
  const lines = written.mock.calls
    .map(([text]) => String(text))
    .filter((text) => text.includes(" POST "));
  expect(lines.map((line) => line.replace(/^\S+Z |after \d+ ms\n$/g, ""))).toEqual([
    "POST /rest/authenticate attempt 1: status 200 ",
    "POST /rest/advertiser attempt 1: status 429 ",
    "POST /rest/advertiser attempt 2: status 200 ",
    expect.stringMatching(/^POST \/rest\/advertiser attempt 1: \w+, sent $/),
  ]);
  expect(lines.join("")).not.toContain(sandbox.password);
});
