/** Creates, adoptions, renames, updates and deletes. */
import { RefusedError } from "../../../provider/src/base/index.js";
import type { OpenCreate } from "../../../provider/src/journal/index.js";
import { conversionEvent as event } from "../../../provider/src/kinds/index.js";
import * as tell from "../../../provider/src/operations/messages.js";
import {
  assertSameAccount,
  type Outcome,
} from "../../../provider/src/operations/outcome.js";
import { type Abilities, plannedObjects } from "../../../provider/src/plan/index.js";
import {
  readDeclaredSet,
  readStoredSet,
  refOf,
  refOfKey,
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
const NO_ABILITIES: Abilities = {};
const ABLE = { ...NO_ABILITIES, read: true, update: true };

const namesake = (ref: typeof purchase, create: OpenCreate) => ({
  ref,
  open: create,
  isPerhaps: false,
});
const planned = (stored: object, declared: object, deletes = false) => {
  const can = { ...NO_ABILITIES, delete: deletes };
  const all = { advertiserId: 7, defaults: {} };
  const circumstances = { can, deletes: () => deletes };
  const members = plannedObjects(
    event,
    readStoredSet({ ...all, ...stored }),
    readDeclaredSet({ ...all, ...declared }),
    circumstances,
  );
  return tell.planMessage(event, members, can) ?? "";
};
const HELD = { events: { buy: { eventName: "Buy", value: 1 } }, eventIds: { buy: 42 } };

const refused = (key: string) =>
  ({
    key,
    error: new RefusedError(
      `${refOfKey(`ConversionEventSet::funnel["${key}"]`, STACK).label}: no`,
    ),
  }) as const;
const funnel = refOf("ConversionEventSet", "shop/dev::funnel");
const buyAndLead = plannedObjects(
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
  "an object that was changed by hand": () =>
    tell.driftNotice(purchase, ["value 26 → 99"]).text,
  "an object that is gone": () => tell.goneNotice(purchase).text,
  "an object that was just created, and is not found": () =>
    tell.tooEarlyNotice({ ...purchase, id: "42" }, AT).text,
  "a read that was switched on later": () => tell.stateForRead(),
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
