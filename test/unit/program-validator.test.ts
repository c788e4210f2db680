/** What only a whole program shows: conflicts between its resources, and what each of them is told of the others. */
import { describe, expect, it } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type {
  DeclaredObject,
  ResourceDeclaration,
} from "../../provider/src/program/declaration.js";
import { ProgramValidator } from "../../provider/src/program/program-validator.js";
import { memberOf, parseKey, UNKNOWN } from "../../provider/src/state/index.js";

const event = (name: string) => `ConversionEvent::${name}`;
const FUNNEL = "ConversionEventSet::funnel";

/** A single resource, or with a set's key the set with these members. */
function declared(
  key: string,
  object: Partial<DeclaredObject> = {},
  more: Partial<ResourceDeclaration> = {},
): ResourceDeclaration {
  const kind = parseKey(key).kind === "Advertiser" ? advertiser : conversionEvent;
  const { formerKeys = [] } = more;
  const own = { key, formerKeys, adopts: undefined, kindAndName: kind.name, ...object };
  return { key, kind, objects: [own], formerKeys, ...more };
}

/** @param adopts by key; `undefined` for a set whose events are not known yet. */
function aSet(adopts: Record<string, string | undefined> | undefined): ResourceDeclaration {
  const objects = Object.entries(adopts ?? {}).map(([key, id]) => {
    return {
      key: memberOf(FUNNEL, key),
      formerKeys: [],
      adopts: id,
      kindAndName: "ConversionEvent",
    };
  });
  return declared(FUNNEL, { adopts: UNKNOWN }, adopts === undefined ? {} : { objects });
}

function all(declarations: ResourceDeclaration[], isPreview = true) {
  const validator = new ProgramValidator(isPreview);
  return { validator, wrong: declarations.map((each) => validator.add(each)) };
}
/** What the provider gets about each, by key. */
function contextsOf(...declarations: ResourceDeclaration[]) {
  const { validator } = all(declarations);
  return new Map(declarations.map((each) => [each.key, validator.contextOf(each)]));
}
it("each resource's context names the settings that the program's process has from variables", () => {
  const resource = declared(event("a"));
  const validator = new ProgramValidator(true, ["password"]);
  validator.add(resource);
  expect(validator.contextOf(resource).run).toEqual({
    isUp: false,
    resources: 1,
    inherited: ["password"],
  });
});

describe("between resources", () => {
  it("two can't adopt one object of a kind", () => {
    const one = declared(event("one"), { adopts: "7" });
    const others = [
      declared("Advertiser::acme", { adopts: "7" }),
      declared(event("later"), { adopts: UNKNOWN }),
      declared(event("latest"), { adopts: UNKNOWN }),
    ];
    const set = aSet({ a: "7", b: "8", c: "8", d: undefined });
    const why = (path: string, id: string, by: string) =>
      `${path}existingId ${id} already belongs to "${by}": one object can't be two resources; remove one, or correct its existingId`;
    expect(all([one, ...others]).wrong.flat()).toEqual([]);
    const lines = [why('events["a"].', "7", "one"), why('events["c"].', "8", "funnel/b")];
    expect(all([one, set]).wrong).toEqual([[], lines]);
  });

  it("each resource has all that the program adopts if that is short; of a long list, all together have a megabyte", () => {
    const batch = [
      declared(event("a"), { adopts: "7" }),
      declared(event("b"), { adopts: "8" }),
    ];
    const run = { isUp: false, resources: 2 };
    const adopted = "ConversionEvent 7,ConversionEvent 8";
    const context = { run, formerKeys: [], sameNamed: [], adopts: 2, adopted };
    const few = contextsOf(...batch);
    expect(few.get(event("a"))).toEqual(context);
    expect(few.get(event("b"))).toEqual(context);
    const many = Array.from({ length: 2000 }, (_, n) =>
      declared(event(`e${n}`), { adopts: String(1_000_000 + n) }),
    );
    const contexts = [...contextsOf(...many).values()];
    expect(contexts[0]?.adopted?.split(",")).toHaveLength(2000);
    expect(contexts.at(-1)).toMatchObject({ adopts: 2000, adopted: undefined });
    expect(JSON.stringify(contexts).length).toBeLessThan(1_500_000);
    for (const later of [declared(event("c"), { adopts: UNKNOWN }), aSet(undefined)])
      expect(contextsOf(...batch, later).get(event("a"))).toMatchObject({
        adopted: `${adopted},ConversionEvent ${UNKNOWN}`,
      });
  });
});

describe("what crosses to the provider process", () => {
  it("other objects of the program with the same platform name, and the keys that aliases say it had", () => {
    const named = (
      key: string,
      platformName: string,
      more: Partial<ResourceDeclaration> = {},
    ) => declared(key, { kindAndName: `${parseKey(key).kind} ${platformName}` }, more);
    const member = memberOf(FUNNEL, "a");
    const set = declared(
      FUNNEL,
      {},
      {
        objects: [
          {
            key: member,
            formerKeys: [],
            adopts: undefined,
            kindAndName: "ConversionEvent Buy",
          },
        ],
      },
    );
    const batch = [
      named(event("one"), "Buy", { formerKeys: [event("was")] }),
      named(event("two"), "Buy"),
      named(event("three"), "Lead"),
      named("Advertiser::a", "Buy"),
      set,
    ];
    const contexts = contextsOf(...batch);
    expect(contexts.get(event("one"))).toMatchObject({
      formerKeys: [event("was")],
      sameNamed: [event("two"), member],
    });
    expect(contexts.get(FUNNEL)).toMatchObject({
      sameNamed: [event("one"), event("was"), event("two")],
    });
    for (const key of [event("three"), "Advertiser::a"])
      expect(contexts.get(key)).toMatchObject({ formerKeys: [], sameNamed: [] });
  });
});
