import { ConversionEvent, days, validate } from "pulumi-advertising";
import { type Mocks, outputOf, setMocks } from "pulumi-advertising/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";

let mocks: Mocks;

beforeEach(async () => {
  vi.resetModules(); // each test runs the program again
  mocks = await setMocks();
});

describe("the program", () => {
  it("exports an id for each event of the catalog", async () => {
    const { eventIds } = await import("./index.js");
    expect(Object.keys(await outputOf(eventIds)).sort()).toEqual([
      "hats/purchase",
      "landing",
      "shoes/purchase",
    ]);
  });

  it("looks back for two weeks at most, and credits selected line items only", async () => {
    await import("./index.js");
    const events = (await mocks.resources()).filter(
      ({ type }) => type === "ConversionEvent",
    );
    expect(events).toHaveLength(3);
    for (const { name, outputs } of events) {
      expect(outputs.clickWindow, name).toBeLessThanOrEqual(days(14));
      expect(outputs.attribution, name).toBe("WHITELIST");
    }
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
