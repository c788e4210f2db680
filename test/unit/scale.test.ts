/**
 * Failure at scale: whatever the platform answers, each object is sent at most once, and the run ends. What grew with the
 * square never ended at these sizes. Counts, and no times.
 */

import { describe, expect, it } from "vitest";
import { Client, secretsIn, systemDependencies } from "../../provider/src/client/index.js";
import {
  type AttemptResult,
  type HttpRequest,
  TransportFailure,
} from "../../provider/src/client/transport.js";
import { conversionEvent } from "../../provider/src/kinds/index.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import { declare } from "../../provider/src/program/declaration.js";
import { ProgramValidator } from "../../provider/src/program/program-validator.js";
import { refOf } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { eventOperations, operatedSettings } from "../support/operated.js";
import { newRun, type RunOptions } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import { settingsOf } from "../support/settings.js";
import { senderOf } from "../support/stored.js";

const SIZE = 1000;
const NOWHERE = { url: "https://platform.example", email: "e@x.y", password: "secret" };
const ACCOUNT = "platform.example e@x.y";

const answer = (status: number, body: object) => {
  return { status, body: JSON.stringify(body), headers: {}, setCookies: [] };
};
const FAILURES = {
  "not found": answer(404, { message: "no such page" }),
  refused: answer(406, { errors: ["bad"] }),
  "timed out": new TransportFailure("ADVERTISING_TIMEOUT", true, "no response"),
  unresolved: answer(500, { message: "internal" }),
};

/** A run on a platform that answers every request in one way. */
function runOn(
  response: AttemptResult,
  saved = new SavedStack("tiny/dev"),
  command: RunOptions["command"] = {},
) {
  const sent: string[] = [];
  const send = async ({ method, url }: HttpRequest) => {
    sent.push(`${method} ${url.pathname}`);
    return response;
  };
  const transport = { send, close: async () => undefined };
  const { search: _, ...event } = eventOperations;
  const one = { authMode: "basic", maxWaitSeconds: "0" };
  const settings = { ...operatedSettings(event), ...one };
  const adapt = (runtime: Runtime) => {
    const { reading } = runtime;
    const secrets = secretsIn(reading);
    const system = systemDependencies(reading, undefined, secrets, () => undefined);
    const client = new Client({ ...system, transport });
    return { ...runtime, client: () => client };
  };
  return { run: newRun(NOWHERE, newFolder(), { settings, saved, adapt, command }), sent };
}

const numbers = (size = SIZE) => Array.from({ length: size }, (_, index) => index);
const identityOf = (index: number) => `tiny/dev::e${index}`;
const eventOf = (index: number, eventName = `E${index}`) => {
  return { eventName, advertiserId: 1, value: 1 };
};
const inState = (index: number) => {
  const deletionPolicy = "delete";
  return { ...eventOf(index), eventId: index, deletionPolicy };
};
const set = {
  advertiserId: 1,
  events: Object.fromEntries(
    numbers().map((index) => [`k${index}`, { eventName: `E${index}`, value: 1 }]),
  ),
};
const setInState = {
  ...set,
  defaults: {},
  eventIds: Object.fromEntries(numbers().map((index) => [`k${index}`, index])),
};

/** The errors of calls that all fail. */
async function errorsOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const ended = await Promise.allSettled(calls);
  const errors = ended.flatMap((each) => {
    return each.status === "rejected" ? String((each.reason as Error).message) : [];
  });
  expect(errors).toHaveLength(calls.length);
  return errors;
}

/** Each request was sent once. */
function expectOnce(sent: readonly string[], request: (index: number) => string) {
  expect(sent.toSorted()).toEqual(numbers().map(request).toSorted());
}

describe.each(Object.entries(FAILURES))("all %s", (_, response) => {
  it("1,000 events: created, refreshed and deleted, each is sent once and has one short error", async () => {
    const creating = runOn(response);
    const created = await errorsOf(
      numbers().map((index) =>
        creating.run.event.declare({
          ...eventOf(index),
          __sender: senderOf(identityOf(index)),
        }),
      ),
    );
    await creating.run.close();
    expectOnce(creating.sent, () => "POST /rest/event");

    const saved = new SavedStack("tiny/dev");
    for (const index of numbers()) {
      const { urn } = refOf("ConversionEvent", identityOf(index));
      const __sender = senderOf(identityOf(index), { account: ACCOUNT });
      const inputs = { __sender, deletionPolicy: "delete" };
      const resource = { id: String(index), inputs, outputs: inState(index) };
      saved.resources.set(urn, { urn, ...resource });
    }
    saved.save();
    const reading = runOn(response, saved);
    const read = await errorsOf(
      numbers().map((index) => reading.run.event.read(String(index), inState(index))),
    );
    expectOnce(reading.sent, (index) => `GET /rest/event/${index}`);

    const deleting = runOn(response, saved, { command: "destroy" });
    const deleted = await errorsOf(
      numbers().map((index) => deleting.run.event.delete(String(index), inState(index))),
    );
    expectOnce(deleting.sent, (index) => `DELETE /rest/event/${index}`);
    for (const error of [...created, ...read, ...deleted])
      expect(error.length, error).toBeLessThan(1500);
  });

  it("a set of 1,000: one short error for all", async () => {
    const creating = runOn(response);
    const wanted = { ...set, __sender: senderOf("tiny/dev::funnel") };
    const created = await errorsOf([creating.run.set.declare(wanted)]);
    const saved = new SavedStack("tiny/dev");
    const { urn } = refOf("ConversionEventSet", "tiny/dev::funnel");
    const __sender = senderOf("tiny/dev::funnel", { account: ACCOUNT });
    saved.set(urn, { id: "set-1", inputs: { ...set, __sender }, outputs: setInState });
    const reading = runOn(response, saved);
    const read = await errorsOf([reading.run.set.read("set-1", setInState)]);
    expect(reading.sent.length).toBeGreaterThan(0);
    for (const { sent } of [creating, reading])
      expect(sent.length).toBeLessThanOrEqual(SIZE);
    for (const error of [...created, ...read])
      expect(error.length, error).toBeLessThan(30_000);
  });
});

describe("one name", () => {
  it("10,000 in a program: each resource carries a few of the others", () => {
    const validator = new ProgramValidator(true);
    const settings = settingsOf({});
    const declared = numbers(10_000).flatMap((index) => {
      const args = eventOf(index, "E");
      const call = { kind: conversionEvent, name: `e${index}`, args, options: {} };
      return declare(call, settings).resource ?? [];
    });
    expect(declared.flatMap((each) => validator.add(each))).toEqual([]);
    const contexts = declared.map((each) => validator.contextOf(each));
    expect(contexts).toHaveLength(10_000);
    expect(JSON.stringify(contexts).length).toBeLessThan(10_000 * 700);
  });

  it("2,000 that an earlier run has sent, beside 2,000 new ones: only these are sent", async () => {
    const size = 2000;
    const saved = new SavedStack("tiny/dev");
    for (const index of numbers(size)) {
      const { urn } = refOf("ConversionEvent", identityOf(index));
      const inputs = { ...eventOf(index, "E"), __sender: senderOf("", { run: "earlier" }) };
      saved.operations.push({ type: "creating", resource: { urn, inputs } });
    }
    saved.save();
    const { run, sent } = runOn(FAILURES.refused, saved);
    const whole = { isUp: true, resources: 2 * size };
    const checked = await Promise.all(
      numbers(2 * size).map((index) => {
        const context = { identity: identityOf(index), run: whole };
        return run.event.check({}, { ...eventOf(index, "E"), __sender: context });
      }),
    );
    await errorsOf(checked.map(({ inputs }) => run.event.create(inputs)));
    expect(sent).toHaveLength(size);
  });
});
