/** What users' own unit tests rely on: our mocks, Pulumi's own mocks, and the rules without a program. */
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import * as advertising from "../../provider/src/index.js";
import { outputOf, setMocks } from "../../provider/src/testing/index.js";
import { csvOf, folderWith } from "../support/catalogs.js";

const EVENT = { eventName: "Purchase", advertiserId: 7, value: 25 };

beforeEach(() => pulumi.runtime.setAllConfig({}));

describe("setMocks", () => {
  beforeEach(async () => void (await setMocks()));

  it("provides ids and the API's defaults, and keeps the ids of what is adopted or read", async () => {
    const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
    const event = new advertising.ConversionEvent("purchase", {
      ...EVENT,
      advertiserId: acme,
    });
    expect([await outputOf(acme.advertiserId), await outputOf(event.advertiserId)]).toEqual(
      [1, 1],
    );
    expect([await outputOf(event.eventId), await outputOf(event.id)]).toEqual([2, "2"]);
    expect([await outputOf(event.clickWindow), await outputOf(event.attribution)]).toEqual([
      2_592_000,
      "ALL",
    ]);
    expect(await outputOf(event.countUnique)).toBe(false);
    const unset = { clickWindow: event.segmentId, existingId: event.existingId };
    const like = new advertising.ConversionEvent("like", { ...EVENT, ...unset });
    expect([await outputOf(like.clickWindow), await outputOf(like.eventId)]).toEqual([
      2_592_000, 3,
    ]);
    const adopted = new advertising.ConversionEvent("adopted", {
      ...EVENT,
      existingId: "4711",
    });
    const read = advertising.Advertiser.get("read", 12);
    expect([await outputOf(adopted.eventId), await outputOf(read.advertiserId)]).toEqual([
      4711, 12,
    ]);
    expect(await outputOf(read.advertiserName)).toBeUndefined();
  });

  it.each([
    ["nothing", undefined],
    ['the string "abc"', "abc"],
    ["-1", -1],
  ])("an id that is read can't be %s", (words, id) => {
    const read = () => advertising.ConversionEvent.get("read", id as never);
    expect(read).toThrow(
      `ConversionEvent "read":\n    id expected an integer from 0; got ${words}`,
    );
  });

  it("gives each member of a set an id, and fills its defaults", async () => {
    const set = new advertising.ConversionEventSet("funnel", {
      advertiserId: 7,
      defaults: { clickWindow: 3600 },
      events: {
        landing: { eventName: "Landing", value: 0, formerKey: "start" },
        buy: { eventName: "Buy", value: 1, existingId: 99 },
      },
    });
    expect(await outputOf(set.events)).toMatchObject({
      landing: { eventName: "Landing", value: 0 },
    });
    expect((await outputOf(set.events)).landing).not.toHaveProperty("formerKey");
    expect(await outputOf(set.eventIds)).toEqual({ landing: 1, buy: 99 });
    expect(await outputOf(set.defaults)).toMatchObject({
      clickWindow: 3600,
      viewWindow: 2_592_000,
    });
    expect(await outputOf(set.advertiserId)).toBe(7);
  });

  const fileOf = (...rows: string[]) =>
    join(folderWith({ "events.csv": rows.join("\n") }), "events.csv");

  it.each([
    [false, "ConversionEvent", 200],
    [true, "ConversionEventSet", 10],
  ])(
    "a catalog with sets %s: each row is one event of its advertiser",
    async (sets, type, amount) => {
      const mocks = await setMocks();
      const { advertiserIds, eventIds } = new advertising.Catalog("shop", {
        file: fileOf(...csvOf(200)),
        sets,
      });
      expect(Object.keys(await outputOf(advertiserIds))).toHaveLength(10);
      const ids = await outputOf(eventIds);
      const keys = Array.from({ length: 200 }, (_, n) => `event-${n}`);
      expect([Object.keys(ids).toSorted(), new Set(Object.values(ids)).size]).toEqual([
        keys.toSorted(),
        200,
      ]);
      expect((await mocks.resources()).filter((each) => each.type === type)).toHaveLength(
        amount,
      );
    },
  );

  it("a catalog leaves out the columns that it ignores, and refuses others", async () => {
    const file = fileOf("key,advertiser,eventName,value,Preis", "buy,Acme,Buy,1,x");
    const ignoring = (...ignoreColumns: string[]) =>
      new advertising.Catalog("shop", { file, ignoreColumns });
    expect(await outputOf(ignoring("Preis").eventIds)).toEqual({ buy: 2 });
    expect(() => ignoring("Notes")).toThrow('unknown columns: "Preis". Known: key, ');
  });

  it("a catalog's arguments are plain values", async () => {
    await setMocks();
    const args = { file: pulumi.output("events.csv"), sets: pulumi.output(true) };
    expect(() => new advertising.Catalog("shop", args as never)).toThrow(
      /file expected a file's path; got an Output\n.*sets expected true or false; got an Output /,
    );
  });

  it("the constructor throws all problems of its plain arguments", () => {
    const wrong = { ...EVENT, value: "25", clickWindow: -1, colour: "red" } as never;
    expect(() => new advertising.ConversionEvent("purchase", wrong)).toThrow(
      /3 problems[\s\S]*"purchase"[\s\S]*value expected[\s\S]*clickWindow expected[\s\S]*colour is not a known argument[\s\S]*\[ADVERTISING_ARGUMENTS\]$/,
    );
    const options = { retainOnDelete: false };
    expect(
      () => new advertising.Advertiser("acme", { advertiserName: "Acme" }, options),
    ).toThrow("retainOnDelete");
    const file = fileOf("key,advertiser,eventName,value", "buy,Acme,Buy,many");
    const inFile = /wrong[\s\S]*events\.csv:2 [\s\S]*\[ADVERTISING_ARGUMENTS\]$/;
    expect(() => new advertising.Catalog("wrong", { file })).toThrow(inFile);
  });

  it("problems in Outputs are thrown together: by outputOf, resources() or the next setMocks()", async () => {
    const declare = () => {
      const acme = new advertising.Advertiser("acme", {
        advertiserName: pulumi.output(""),
      });
      const value = pulumi.output("x") as never;
      return new advertising.ConversionEvent("purchase", {
        ...EVENT,
        advertiserId: acme,
        value,
      });
    };
    const both =
      /2 problems[\s\S]*"acme"[\s\S]*"purchase"[\s\S]*got the string "x"[\s\S]*\[ADVERTISING_ARGUMENTS\]/;
    const mocks = await setMocks();
    const { eventId } = declare();
    await expect(outputOf(eventId)).rejects.toThrow(both);
    await expect(mocks.resources()).rejects.toThrow(both);
    await setMocks();
    declare();
    await expect(setMocks()).rejects.toThrow(both);
    expect(await (await setMocks()).resources()).toEqual([]);
  });

  it("a secret stays secret", async () => {
    const event = new advertising.ConversionEvent("purchase", {
      ...EVENT,
      value: pulumi.secret(25),
    });
    expect(await outputOf(event.value)).toBe(25);
    expect(await pulumi.isSecret(event.value)).toBe(true);
    expect(await pulumi.isSecret(event.eventId)).toBe(false);
  });

  it("reads the rules' settings from the configuration, never from the environment", async () => {
    process.env.ADVERTISING_MAX_WINDOW_SECONDS = "60";
    onTestFinished(() => void delete process.env.ADVERTISING_MAX_WINDOW_SECONDS);
    new advertising.ConversionEvent("longer", { ...EVENT, clickWindow: 3600 });
    pulumi.runtime.setAllConfig({ "advertising:maxWindowSeconds": "1800" });
    await setMocks();
    expect(
      () => new advertising.ConversionEvent("purchase", { ...EVENT, clickWindow: 3600 }),
    ).toThrow("1800");
    const event = new advertising.ConversionEvent("other", EVENT);
    expect(await outputOf(event.clickWindow)).toBe(1800);
    pulumi.runtime.setAllConfig({ "advertising:maxWindowSeconds": "soon" });
    await setMocks();
    expect(() => new advertising.ConversionEvent("purchase", EVENT)).toThrow(
      /maxWindowSeconds[\s\S]*SETTINGS/,
    );
  });

  it("each call starts a new program", async () => {
    const adopt = (name: string) =>
      new advertising.ConversionEvent(name, { ...EVENT, existingId: 4711 });
    adopt("first");
    expect(() => adopt("second")).toThrow(`4711 already belongs to "first"`);
    await setMocks({ project: "shop", stack: "dev", organization: "acme", preview: true });
    expect(await outputOf(adopt("second").eventId)).toBe(4711);
    expect([pulumi.getProject(), pulumi.getStack(), pulumi.getOrganization()]).toEqual([
      "shop",
      "dev",
      "acme",
    ]);
    expect(pulumi.runtime.isDryRun()).toBe(true);
  });

  it("other packages' resources and functions are those of `others`", async () => {
    class Bucket extends pulumi.CustomResource {
      declare readonly arn: pulumi.Output<string>;
      constructor(name: string) {
        super("aws:s3/bucket:Bucket", name, { arn: undefined });
      }
    }
    expect(await outputOf(new Bucket("logs").id)).toBe("logs");
    const mocks = await setMocks({
      others: {
        newResource: ({ name }) => ({ id: `${name}-id`, state: { arn: "arn" } }),
        call: () => ({ answer: 42 }),
      },
    });
    expect(await outputOf(new Bucket("logs").arn)).toBe("arn");
    expect(await pulumi.runtime.invoke("aws:index:getX", {})).toEqual({ answer: 42 });
    expect(await mocks.resources()).toEqual([]);
  });
});

describe("Pulumi's own mocks", () => {
  beforeEach(() =>
    pulumi.runtime.setMocks({
      newResource: ({ inputs, name }) => ({
        id: `${name}-id`,
        state: { ...inputs, advertiserId: 3, eventId: 4 },
      }),
      call: ({ inputs }) => inputs,
    }),
  );

  it("need no settings, and the program resolves", async () => {
    const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
    const event = new advertising.ConversionEvent("purchase", {
      ...EVENT,
      advertiserId: acme.advertiserId,
    });
    const set = new advertising.ConversionEventSet("set", {
      advertiserId: acme,
      events: {},
    });
    expect(await outputOf(event.eventId)).toBe(4);
    expect(await outputOf(event.advertiserId)).toBe(3);
    expect(await outputOf(set.id)).toBe("set-id");
    expect(
      () => new advertising.ConversionEvent("wrong", { ...EVENT, value: "x" as never }),
    ).toThrow("value expected");
  });
});

describe("validate", () => {
  it.each([
    ["Advertiser", { advertiserName: "Acme" }, []],
    ["Advertiser", { name: "Acme" }, ["advertiserName", "name"]],
    ["ConversionEvent", { ...EVENT, value: pulumi.output(1), clickWindow: 600 }, []],
    [
      "ConversionEvent",
      { ...EVENT, value: Number.NaN, eventTypeId: 1.5 },
      ["value", "eventTypeId"],
    ],
    ["ConversionEvent", null as never, ["eventName", "advertiserId", "value"]],
    [
      "ConversionEventSet",
      { advertiserId: 7, events: { buy: { eventName: "Buy" } } },
      [`events["buy"].value`],
    ],
    ["ConversionEvent", { ...EVENT, formerKey: "a" }, ["formerKey"]],
  ] as const)("%s %o: returns all problems, by property", (kind, args, properties) => {
    const problems = advertising.validate(kind, args);
    expect(problems.map(({ property }) => property)).toEqual(properties);
    for (const { reason } of problems) expect(reason).toMatch(/expected|known argument/);
  });

  it("also returns what is accepted and probably a mistake, as warnings", () => {
    const args = { advertiserId: 7, events: { a: { eventName: "{{Event}}", value: 1 } } };
    const { level, property } = advertising.validate("ConversionEventSet", args)[0] ?? {};
    expect([level, property]).toEqual(["warning", 'events["a"].eventName']);
  });

  it("a former key is no key of now, and that of one event", () => {
    const entry = (formerKey: string) => ({ eventName: "A", value: 1, formerKey });
    const events = {
      a: entry("a"),
      b: entry("a"),
      c: entry("old"),
      d: entry("old"),
      e: entry("other"),
    };
    const set = { advertiserId: 7, events };
    const problems = ["a", "b", "d"].map((key) => ({
      property: `events["${key}"].formerKey`,
    }));
    expect(advertising.validate("ConversionEventSet", set)).toMatchObject(problems);
    expect(() => new advertising.ConversionEventSet("funnel", set)).toThrow(
      /2 problems\.[\s\S]*is already a key or a formerKey/,
    );
    const defaults = { formerKey: "a" } as never;
    expect(
      advertising.validate("ConversionEventSet", { advertiserId: 7, defaults, events: {} }),
    ).toHaveLength(1);
  });

  it("takes an installation's limit, and refuses an unknown kind", () => {
    const args = { ...EVENT, clickWindow: 3600 };
    const problems = advertising.validate("ConversionEvent", args, {
      maxWindowSeconds: 600,
    });
    expect(problems).toMatchObject([{ property: "clickWindow" }]);
    expect(() => advertising.validate("Event" as never, args)).toThrow(
      /"ConversionEvent".*"Event".*ARGUMENTS/,
    );
  });
});
