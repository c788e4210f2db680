import { ConversionEvent, days, validate } from "pulumi-advertising";
import { type Mocks, outputOf, setMocks } from "pulumi-advertising/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";

let mocks: Mocks;

beforeEach(async () => {
  vi.resetModules(); // each test runs the program again
  mocks = await setMocks();
});

type Event = { eventId?: number | undefined; clickWindow?: number };
type EventSet = {
  defaults: Event;
  events: Record<string, Event>;
  eventIds: Record<string, number>;
};

/** The program's events by name, also those in sets. */
async function events() {
  const found: Record<string, Event> = {};
  for (const { type, name, outputs } of await mocks.resources()) {
    if (type === "ConversionEvent") found[name] = outputs;
    if (type !== "ConversionEventSet") continue;
    const { defaults, events, eventIds } = outputs as EventSet;
    for (const [key, event] of Object.entries(events))
      found[`${name}/${key}`] = { ...defaults, ...event, eventId: eventIds[key] };
  }
  return found;
}

describe("the program", () => {
  it("exports an id for each event of the catalog", async () => {
    const { eventIds } = await import("./index.js");
    const ids = Object.values(await outputOf(eventIds));
    expect(ids.length).toBeGreaterThan(0);
    const declared = Object.values(await events()).map(({ eventId }) => eventId);
    expect(ids.sort()).toEqual(declared.sort());
  });

  it("looks back for two weeks at most", async () => {
    await import("./index.js");
    const windows = Object.entries(await events());
    expect(windows.length).toBeGreaterThan(0);
    for (const [name, { clickWindow }] of windows)
      expect(clickWindow, name).toBeLessThanOrEqual(days(14));
  });
});

describe("what is wrong", () => {
  const args = { eventName: "Purchase", advertiserId: 7, value: Number.NaN };

  it("is thrown by the constructor", () => {
    expect(() => new ConversionEvent("purchase", args)).toThrow(
      "value expected a finite number",
    );
  });

  it("is listed without a program", () => {
    expect(validate("ConversionEvent", args)).toMatchObject([{ property: "value" }]);
  });
});
