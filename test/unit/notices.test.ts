/** Messages, not too often; and the end of the work once the engine is gone. */
import { describe, expect, it } from "vitest";
import { NotSentError, Secrets } from "../../provider/src/base/index.js";
import { Messages, Work } from "../../provider/src/operations/runtime.js";

describe("messages", () => {
  function start() {
    const log: string[] = [];
    const secrets = new Secrets();
    secrets.add("geheim");
    const messages = new Messages(
      secrets,
      async (...parts) => void log.push(parts.join(" ")),
    );
    return { messages, log };
  }

  it("are scrubbed, and the same one is shown once, at its resource or for its topic", () => {
    const { messages, log } = start();
    for (const urn of ["a", "a", "b"]) messages.tellAt("info", urn, "it is geheim");
    expect(log).toEqual(["info a it is [secret]", "info b it is [secret]"]);
    for (const text of ["geheim 1", "geheim 1", "geheim 2"]) messages.say(text);
    messages.say("before", "topic");
    messages.say("after", "topic");
    expect(log.slice(2)).toEqual(["warn  [secret] 1", "warn  [secret] 2", "warn  before"]);
  });

  it("of one sort: the first ten are shown, the others counted, in the order in which people count", () => {
    const { messages, log } = start();
    for (let at = 0; at < 22; at++)
      messages.tellEach({
        sort: "gone",
        urn: `urn${at}`,
        text: `e${at} is gone`,
        brief: `e${21 - at}`,
      });
    messages.tellEach({ sort: "changed", urn: "urn", text: "x was changed", brief: "x" });
    expect(log).toHaveLength(11);
    messages.tellCollected(); // a moment later it comes by itself
    expect(log.slice(11)).toEqual([
      expect.stringMatching(/^warn {2}12 more, gone: e0, e1, e2, .*e10, e11$/),
    ]);
  });
});

it("once the engine is gone, work under way ends, sleepers wake up, and nothing begins", async () => {
  const underWay = new Work();
  const steps: string[] = [];
  let answer = () => {};
  const work = underWay.track(async () => {
    underWay.assertGoesOn();
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    steps.push("noted");
    underWay.assertGoesOn();
  });
  const sleeping = underWay.clock.sleep(3_600_000);
  const ended = underWay.end().then(() => steps.push("ended"));
  await expect(sleeping).rejects.toThrow(NotSentError);
  await expect(underWay.track(async () => steps.push("begun"))).rejects.toThrow(
    NotSentError,
  );
  answer();
  await expect(work).rejects.toThrow(NotSentError);
  await ended;
  expect(steps).toEqual(["noted", "ended"]);
});
