/** Creates, adoptions, renames, updates and deletes. */
import { RefusedError, Secrets } from "../../../provider/src/base/index.js";
import type { OpenCreate } from "../../../provider/src/journal/index.js";
import { conversionEvent as event } from "../../../provider/src/kinds/index.js";
import * as tell from "../../../provider/src/operations/messages.js";
import {
  assertSameAccount,
  type Outcome,
} from "../../../provider/src/operations/outcome.js";
import { createMessages } from "../../../provider/src/operations/runtime.js";
import { type Abilities, decideObjects } from "../../../provider/src/plan/index.js";
import {
  readDeclaredSet,
  readStoredSet,
  refOf,
  refOfKey,
  resolveCommands,
  UNKNOWN,
} from "../../../provider/src/state/index.js";
import {
  AT,
  type Examples,
  elsewhere,
  OLD,
  open,
  purchase,
  record,
  STACK,
  thrownBy,
} from "./examples.js";

const inSet = refOfKey('ConversionEventSet::funnel["buy"]', STACK);
const inCatalog = refOfKey(
  "ConversionEvent::advertising:index:Catalog$::shop/acme/buy",
  STACK,
);
const inComponent = refOfKey("ConversionEvent::my:Shop$::purchase", STACK);
const ofPlugin = {
  ...purchase,
  resourceUrn: "urn:pulumi:dev::shop::advertising:index:ConversionEvent::purchase",
};
const NO_ABILITIES: Abilities = {};
const ABLE = { ...NO_ABILITIES, read: true, update: true };

const namesake = (ref: typeof purchase, create: OpenCreate) => ({
  ref,
  open: create,
  isPerhaps: false,
});
const planned = (
  stored: object,
  declared: object,
  deletes = false,
  more: Abilities = NO_ABILITIES,
) => {
  const can = { ...more, delete: deletes };
  const all = { advertiserId: 7, defaults: {} };
  const circumstances = { can, deletes: () => deletes };
  const members = decideObjects(
    event,
    readStoredSet({ ...all, ...stored }),
    readDeclaredSet({ ...all, ...declared }),
    circumstances,
  );
  return tell.planMessage(event, members, can) ?? "";
};
const HELD = { events: { buy: { eventName: "Buy", value: 1 } }, eventIds: { buy: 42 } };

const [buy, buyNow] = [1, 2].map((value) => ({ eventName: "Buy", value }));
const MUCH = {
  events: { buy, lead: buy, signup: buy },
  eventIds: { buy: 42, lead: 43, signup: 44 },
  unresolved: { visit: { ...record, field: "alternative_id" } },
};
const MUCH_DECLARED = {
  events: {
    buy: buyNow,
    lead: { ...buyNow, existingId: 43 },
    signup: { ...buy, existingId: UNKNOWN },
    visit: buy,
  },
};

const refused = (key: string) =>
  ({
    key,
    error: new RefusedError(
      `${refOfKey(`ConversionEventSet::funnel["${key}"]`, STACK).label}: no`,
    ),
  }) as const;
const funnel = refOf("ConversionEventSet", "shop/dev::funnel");
const buyAndLead = decideObjects(
  event,
  readStoredSet({ advertiserId: 7 }),
  readDeclaredSet({
    advertiserId: 7,
    events: { buy: { eventName: "Buy", value: 1 }, lead: { eventName: "Lead", value: 1 } },
  }),
);

function anotherAccount(provider: string | undefined): string {
  const account = "b.example you@example.com";
  return thrownBy(() =>
    assertSameAccount(
      { account, isSameAccount: () => false, provider },
      "a.example you@example.com",
      'The state has ConversionEvent "purchase"',
    ),
  );
}

export const operations: Examples = {
  "a new event, and an open create of its name, whose id is known": () =>
    tell.namesakesMessage([namesake(purchase, open(OLD, { id: "4711" }))]),
  "a new event, and an open create of its name, whose outcome is unknown": () =>
    tell.namesakesMessage([namesake(purchase, open(OLD))]),
  "a new key in a set": () =>
    tell.namesakesMessage([
      namesake(inSet, open('ConversionEventSet::funnel["old"]', { id: "4711" })),
    ]),
  "a new row of a catalog": () =>
    tell.namesakesMessage([
      namesake(
        inCatalog,
        open("ConversionEvent::advertising:index:Catalog$::shop/acme/old", { id: "4711" }),
      ),
    ]),
  "several of a renamed set": () =>
    tell.namesakesMessage(
      ["buy", "lead"].map((key, at) =>
        namesake(
          refOfKey(`ConversionEventSet::renamed["${key}"]`, STACK),
          open(`ConversionEventSet::funnel["${key}"]`, { id: String(4711 + at) }),
        ),
      ),
    ),
  "a new event, and an open create of its name in a component": () =>
    tell.namesakesMessage([
      namesake(purchase, open("ConversionEvent::my:Shop$::old", { id: "4711" })),
    ]),
  "a new event in a component, and an open create of its name outside": () =>
    tell.namesakesMessage([namesake(inComponent, open(OLD, { id: "4711" }))]),
  "an open create of another stack": () =>
    tell.namesakesMessage([namesake(purchase, open(OLD, { elsewhere, id: "4711" }))]),
  "an open create of another stack, whose outcome is unknown": () =>
    tell.namesakesMessage([namesake(purchase, open(OLD, { elsewhere }))]),
  "in a preview, with an advertiser that is not known yet": () =>
    tell.possibleNamesakeNotice(namesake(purchase, open(OLD, { id: "4711" }))).text,
  "a new event after that, in the same run": () =>
    tell.refusedBeforeMessage(purchase, 'ConversionEvent "lead"'),
  "an unresolved create": () => tell.unresolvedMessage([{ ref: purchase, record }]),
  "a preview, before a take-over": () =>
    tell.takeOverNotice(purchase, { ...record, id: "4711", state: "created" }).text,
  "created with other arguments, in a preview": () =>
    tell.madeOtherwiseMessage([{ ref: purchase, id: "4711" }]),
  "a preview, before a create of unknown outcome is looked for": () =>
    tell.takeOverNotice(purchase, record).text,
  "the same, of a create that only Pulumi's record knows": () =>
    tell.takeOverNotice(purchase, { ...record, atLatest: true }).text,
  "saved as it was sent": () => tell.savedAsSentMessage([{ ref: purchase, id: "4711" }]),
  "events of a set of unknown outcome": () =>
    tell.unresolvedMessage(
      ["buy", "lead"].map((key) => ({
        ref: refOfKey(`ConversionEventSet::funnel["${key}"]`, STACK),
        record,
      })),
    ),
  "created beside the state's object": () =>
    tell.secondObjectNotice(event, purchase, { ...open(OLD, { id: "4711" }) }, "42").text,
  "sent beside the state's object, with an unknown outcome": () =>
    tell.secondObjectNotice(event, purchase, open(OLD), "42").text,
  "a resource that had an object before": () =>
    tell.formerObjectNotice(purchase, open(purchase.key, { id: "4711" })).text,
  "a new event with the name of an earlier one": () =>
    tell.formerObjectNotice(purchase, open(OLD, { id: "4711" })).text,
  "a new row with the name of an earlier one": () =>
    tell.formerObjectNotice(
      inCatalog,
      open("ConversionEvent::advertising:index:Catalog$::shop/acme/old", { id: "4711" }),
    ).text,
  "an adoption": () => tell.adoptionNotice(purchase, "4711", NO_ABILITIES).text,
  "an adoption, with a known read and update": () =>
    tell.adoptionNotice(purchase, "4711", ABLE).text,
  "only the state changes": () =>
    tell.stateOnlyNotice(purchase, "42", ["value 25 → 26"]).text,
  "a preview of a replacement": () =>
    tell.replacedNotice(event, purchase, { id: "42", isDeleted: false }, "is replaced")
      .text,
  "a preview of a replacement that deletes": () =>
    tell.replacedNotice(event, purchase, { id: "42", isDeleted: true }, "is replaced").text,
  "a preview of a replacement that deletes, with the plugin": () =>
    tell.replacedNotice(event, ofPlugin, { id: "42", isDeleted: true }, "is replaced").text,
  "a preview of an update after one that failed": () =>
    tell.resentUpdateNotice(purchase).text,
  "a set: a new key with the name of a removed one": () =>
    planned(HELD, { events: { purchase: { eventName: "Buy", value: 1 } } }),
  "a set: a renamed key": () =>
    planned(HELD, {
      events: { purchase: { eventName: "Buy", value: 1, formerKey: "buy" } },
    }),
  "a set: adopted": () =>
    planned({}, { events: { buy: { eventName: "Buy", value: 1, existingId: 4711 } } }),
  "a set: removed, with a known delete": () => planned(HELD, { events: {} }, true),
  "a set: much at once": () => planned(MUCH, MUCH_DECLARED),
  "a set: much at once, with known operations": () =>
    planned(MUCH, MUCH_DECLARED, false, {
      ...{ read: true, update: true, search: true, markField: "alternative_id" },
    }),
  "an object that was changed by hand": () =>
    tell.driftNotice(purchase, ["value 26 → 99"]).text,
  "an object that is gone": () => tell.goneNotice(purchase).text,
  "an object that was just created, and is not found": () =>
    tell.tooEarlyNotice({ ...purchase, id: "42" }, AT).text,
  "a read that was switched on later": () => tell.stateForRead(),
  "more than can be listed": () =>
    resolveCommands(Array.from({ length: 22 }, (_, at) => `funnel/e${at}`)).join("\n"),
  "more than ten notices of a sort": () => {
    const shown: string[] = [];
    const { informEach, tellCollected } = createMessages(
      new Secrets(),
      async (_severity, _urn, message) => void shown.push(message),
    );
    const made = { ...record, id: "4711", state: "created" } as const;
    for (let at = 0; at < 12; at++) {
      const ref = refOf("ConversionEvent", `shop/dev::e${at}`);
      const target = { ...ref, id: "42" };
      for (const notice of [
        tell.takeOverNotice(ref, made),
        tell.formerObjectNotice(ref, open(OLD, { id: "4711" })),
        tell.adoptionNotice(ref, UNKNOWN, NO_ABILITIES),
        tell.possibleNamesakeNotice(namesake(ref, open(OLD))),
        tell.replacedNotice(event, ref, { id: "42", isDeleted: false }, "is replaced"),
        tell.stateOnlyNotice(ref, "42", ["value 25 → 26"]),
        tell.resentUpdateNotice(ref),
        tell.secondObjectNotice(event, ref, open(OLD, { id: "4711" }), "42"),
        tell.goneNotice(ref),
        tell.tooEarlyNotice(target, AT),
        tell.driftNotice(ref, ["value 26 → 99"]),
      ])
        informEach(notice);
    }
    shown.length = 0;
    tellCollected();
    return shown.join("\n");
  },
  "what a set leaves": () =>
    tell.leftMessage(event, [{ id: "42", key: "buy", at: AT }]) ?? "",
  "adopted, and taken over": () =>
    tell.usedMessage(
      funnel,
      buyAndLead,
      new Map<string, Outcome>([
        ["buy", { kind: "managed", id: "42" }],
        ["lead", { kind: "created", id: "43", sending: "m at" }],
      ]),
    ) ?? "",
  "a set: one refused, one of unknown outcome": () =>
    tell.setFailureMessage(
      funnel,
      new Map([
        ["buy", { kind: "failed", ...refused("buy") }],
        ["lead", { kind: "unresolved", record }],
      ]),
      [],
    ).text,
  "a warning of the platform": () => {
    const said: string[] = [];
    tell.warnOfPlatform({ say: (text) => void said.push(text) }, purchase.label, [
      "unknown field x",
    ]);
    return said.join();
  },
  "another account": () => anotherAccount(undefined),
  "another account of an explicit provider": () => anotherAccount("plugin-second"),
};
