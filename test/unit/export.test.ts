/** What `pulumi stack export` printed, as objects of the platform. */
import { describe, expect, it } from "vitest";
import {
  holdsSecret,
  isSecret,
  objectsIn,
  readExport,
  stackNamesIn,
} from "../../provider/src/record/export.js";
import {
  CIPHERTEXT,
  encrypted,
  exportOf,
  senderOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
} from "../support/stored.js";

describe("an export", () => {
  const TIME = "2026-03-02T10:00:00.000Z";
  const EVENT = storedEvent("buy", 1);
  const creating = { type: "creating", resource: EVENT };

  it.each([
    ["of engine 3.259", exportOf([EVENT], "2026-03-02T11:00:00+01:00"), TIME, 1],
    [
      "a file backend's checkpoint",
      JSON.stringify({
        version: 3,
        checkpoint: { latest: { manifest: { time: TIME }, resources: [EVENT] } },
      }),
      TIME,
      1,
    ],
    ["of a new stack", '{"version":3,"deployment":{"manifest":{"time":"x"}}}', "", 0],
    ["of a stack whose deployment is null", '{"version":3,"deployment":null}', "", 0],
  ])("%s", (_, text, time, resources) => {
    const stack = readExport(text);
    expect([stack.time, stack.resources.length, stack.pending]).toEqual([
      time,
      resources,
      [],
    ]);
  });

  it.each(["", "x", "[]", "{}", "3", '{"version":3}', '{"version":3,"deployment":[]}'])(
    "%j is none",
    (text) => {
      expect(() => readExport(text, "f.json")).toThrow(
        "f.json is not what `pulumi stack export` prints",
      );
    },
  );

  it("names the stack of its resources and pending operations", () => {
    const inputs = (stack: string) => ({
      inputs: { __sender: senderOf(`shop/${stack}::buy`) },
    });
    // `pulumi stack rename` leaves the identity as it was.
    const urn = EVENT.urn.replace(":dev:", ":eu:");
    const resource = { ...EVENT, urn, ...inputs("was@acme") };
    const stack = {
      time: "",
      resources: [{ ...EVENT, ...inputs("dev") }, { ...EVENT, ...inputs("dev") }, EVENT],
      pending: [{ ...creating, resource }],
    };
    expect(stackNamesIn(stack)).toEqual(["organization/shop/dev", "acme/shop/eu"]);
  });
});

describe("objects", () => {
  it("in natural order, whatever the state's: event-2 before event-10", () => {
    const events = ["event-10", "event-2", "Event-1", "event-1"].map((name, index) =>
      storedEvent(name, index + 1),
    );
    const expected = ["event-1", "Event-1", "event-2", "event-10"];
    expect(objectsIn(events).map(({ key }) => key)).toEqual(expected);
    expect(objectsIn(events.toReversed()).map(({ key }) => key)).toEqual(expected);
  });

  it("two of one name have their URNs as keys", () => {
    const event = storedEvent("buy", 1);
    const below = {
      ...storedEvent("buy", 2),
      urn: event.urn.replace("::pulumi-nodejs", "::Shop$pulumi-nodejs"),
    };
    const keys = objectsIn([event, below]).map(({ key }) => key);
    expect(keys.toSorted()).toEqual([below.urn, event.urn].toSorted());
    expect(objectsIn([event, { ...event, delete: true }]).map(({ key }) => key)).toEqual([
      "buy",
      "buy",
    ]);
  });

  it("arguments: what a refresh found removed has no default", () => {
    const events = {
      own: { eventName: "Own", value: 1 },
      gone: { eventName: "Gone", value: 1, segmentId: null },
    };
    const set = storedSet("s", {
      defaults: { segmentId: 5 },
      events,
      eventIds: { own: 1, gone: 2 },
    });
    expect(objectsIn([set]).map(({ values }) => values.segmentId)).toEqual([undefined, 5]);
  });

  it("what was only read, and what is another package's, is none", () => {
    const read = storedAdvertiser("theirs", 5, "theirs", { external: true });
    const other = { ...storedEvent("x", 1), type: "aws:s3/bucket:Bucket" };
    expect(objectsIn([read, other])).toEqual([]);
  });

  it("a secret value is shown as such, and nothing of it", () => {
    const event = storedEvent("buy", 1, { eventName: encrypted, eventId: encrypted });
    const set = storedSet("funnel", {
      events: { a: { eventName: "A", value: encrypted } },
    });
    const objects = objectsIn([event, set]);
    expect(objects.map(({ name, id }) => [name, id])).toEqual([
      ["(secret)", "1"],
      ["A", undefined],
    ]);
    expect(JSON.stringify(objects.map(({ values }) => values))).not.toContain(CIPHERTEXT);
  });
});

it("a secret is found at any depth", () => {
  expect([encrypted, { a: encrypted }, undefined, "x"].map(isSecret)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect([encrypted, { a: [encrypted] }, undefined, "x"].map(holdsSecret)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
