import { ConversionEvent, days, validate } from "pulumi-advertising";
import { type Mocks, outputOf, setMocks } from "pulumi-advertising/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";

let mocks: Mocks;

beforeEach(async () => {
  vi.resetModules(); // each test runs the program again
  mocks = await setMocks();
});

async function events() {
  return (await mocks.resources()).filter(({ type }) => type === "ConversionEvent");
}

describe("the program", () => {
  it("exports an id for each event of the catalog", async () => {
    const { eventIds } = await import("./index.js");
    const ids = Object.values(await outputOf(eventIds));
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.sort()).toEqual(
      (await events()).map(({ outputs }) => outputs.eventId).sort(),
    );
  });

  it("looks back for two weeks at most, and credits selected line items only", async () => {
    await import("./index.js");
    for (const { name, outputs } of await events()) {
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
