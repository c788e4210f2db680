/** Creates, adoptions, renames, updates and deletes. */
import { RefusedError, Secrets } from "../../../provider/src/base/index.js";
import { conversionEvent as event } from "../../../provider/src/kinds/index.js";
import {
  MOVES,
  ONLY_READ,
  OTHER_MAY_ADOPT,
} from "../../../provider/src/operations/fates.js";
import * as tell from "../../../provider/src/operations/messages.js";
import {
  assertSameAccount,
  type Outcome,
} from "../../../provider/src/operations/outcome.js";
import { Messages } from "../../../provider/src/operations/runtime.js";
import {
  type Abilities,
  asUnresolved,
  DISPLACED,
  decideObjects,
  type OpenCreate,
} from "../../../provider/src/plan/index.js";
import {
  hiddenEventsMessage,
  howToKeep,
  KEPT_BEFORE,
  otherFormUrn,
  REPLACED_BEFORE,
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
const leaving = (ref: typeof purchase) => ({
  kind: event,
  ref,
  name: "Purchase",
});
const LIVE = { id: "42", isDeleted: false };
const KEPT = { ...LIVE, why: "the resource has the option retainOnDelete" };
const DELETED = { id: "42", isDeleted: true };
const NO_ABILITIES: Abilities = {};
const ABLE = { ...NO_ABILITIES, read: true, update: true };

const namesake = (ref: typeof purchase, create: OpenCreate) => ({
  ref,
  open: create,
});
const planned = (
  stored: object,
  declared: object,
  deletes = false,
  more: Abilities = NO_ABILITIES,
  ref = funnel,
) => {
  const can = { ...more, delete: deletes };
  const all = { advertiserId: 7, defaults: {} };
  const circumstances = { can, fateOf: (id: string) => ({ id, isDeleted: deletes }) };
  const members = decideObjects(
    event,
    readStoredSet({ ...all, ...stored }),
    readDeclaredSet({ ...all, ...declared }),
    circumstances,
  );
  const set = readStoredSet({ ...all, ...stored });
  return (
    tell.planMessage({ kind: event, can, ref, stored: set }, members, () => false) ?? ""
  );
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
const OF_PLUGIN = { ...funnel, resourceUrn: otherFormUrn(funnel) };
function anotherAccount(): string {
  const account = "b.example you@example.com";
  return thrownBy(() =>
    assertSameAccount(
      { account, isSameAccount: () => false },
      "a.example you@example.com",
      'ConversionEvent "purchase"',
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
  "the same, of unknown outcome, with the plugin": () =>
    tell.namesakesMessage([namesake(ofPlugin, open(OLD))]),
  "the same, of the plugin and under its name in the classes": () =>
    tell.namesakesMessage([
      namesake(ofPlugin, open(ofPlugin.key, { isInState: true, urn: purchase.urn })),
    ]),
  "in a preview, with an advertiser that is not known yet": () =>
    tell.possibleNamesakeNotice(namesake(purchase, open(OLD, { id: "4711" }))).text,
  "a new event after that, in the same run": () =>
    tell.refusedBeforeMessage(purchase, 'ConversionEvent "lead"'),
  "an unresolved create": () => tell.unresolvedMessage([{ ref: purchase, record }]),
  "an unresolved create that Pulumi's record has as in flight": () =>
    tell.unresolvedMessage([{ ref: purchase, record: { ...record, at: "" } }]),
  "a preview, before a take-over": () =>
    tell.takeOverNotice(purchase, { ...record, id: "4711" }).text,
  "a preview, before a take-over with arguments that differ, perhaps": () =>
    tell.takeOverNotice(purchase, { ...record, id: "4711" }, true).text,
  "taken over, and its arguments are unknown": () =>
    tell.unknownSendingNotice(purchase, "4711").text,
  "created with other arguments, in a preview": () =>
    tell.madeOtherwiseMessage([{ ref: purchase, id: "4711" }]),
  "a preview, before a create of unknown outcome is looked for": () =>
    tell.takeOverNotice(purchase, record).text,
  "the same, of a create that only Pulumi's record knows": () =>
    tell.takeOverNotice(purchase, { ...record, at: "" }).text,
  "an unresolved create that only this machine's journal has": () => {
    const sent = open(purchase.key, { isDoubtful: true });
    return tell.unresolvedMessage([{ ref: purchase, record: asUnresolved(sent) }]);
  },
  "a search finds an object of another advertiser": () =>
    tell.foundOtherwiseMessage("4711", ["advertiserId"]),
  "a search has found the object with another value": () =>
    tell.foundDifferentNotice({ ...purchase, label: `${purchase.label} (42)` }, [
      "value 26 → 99",
    ]).text,
  "a search finds the object with another value": () =>
    tell.foundOtherwiseMessage("4711", ["value"], true),
  "saved as it was sent": () => tell.savedAsSentMessage([{ ref: purchase, id: "4711" }]),
  "secret events of a set, and another event, of unknown outcome": () =>
    tell.unresolvedMessage(
      ["ConversionEventSet::funnel", purchase.key].map((key) => {
        return { ref: refOfKey(key, STACK), record };
      }),
    ),
  "events of a set of unknown outcome": () =>
    tell.unresolvedMessage(
      ["buy", "lead"].map((key) => ({
        ref: refOfKey(`ConversionEventSet::funnel["${key}"]`, STACK),
        record,
      })),
    ),
  "created beside the state's object": () =>
    tell.secondObjectNotice(purchase, event, "42").text,
  "an object that a create of another run made too, which Pulumi's record doesn't have":
    () => tell.secondObjectNotice(purchase, event, "42", true).text,
  "no longer in the program": () => tell.leavingNotice(leaving(purchase), LIVE).text,
  "an interrupted update": () => tell.interruptedNotice(purchase, "42", "update").text,
  "an interrupted delete": () => tell.interruptedNotice(purchase, "42", "delete").text,
  "no longer in the program, where nobody knows whether it failed": () =>
    tell.leavingNotice(leaving(purchase), LIVE, tell.UNLESS_MOVED).text,
  "the same with a known delete": () =>
    tell.leavingNotice(leaving(purchase), DELETED, tell.UNLESS_MOVED).text,
  "a managed object that is only read now": () =>
    tell.leavingNotice(leaving(purchase), LIVE, tell.READ_NOW).text,
  "kept for another provider": () =>
    tell.notDeletedNotice(`${purchase.label} (42)`, OTHER_MAY_ADOPT).text,
  "kept, since the program reads it": () =>
    tell.notDeletedNotice(`${purchase.label} (42)`, ONLY_READ).text,
  "kept in a move between the classes and the plugin": () =>
    tell.notDeletedNotice(`${purchase.label} (42)`, MOVES).text,
  "kept, since an existingId takes its place": () =>
    tell.replacedNotice(event, purchase, { ...LIVE, why: DISPLACED }, "is replaced").text,
  "the advice beside an existingId that was changed": () => howToKeep("42", false, true),
  "a former name that the state still has": () =>
    tell.formerNameMessage(purchase, "buy", "42"),
  "no longer in the program, with a known delete": () =>
    tell.leavingNotice(leaving(purchase), DELETED).text,
  "secret events of a set that an interrupted run has sent": () =>
    hiddenEventsMessage(funnel),
  "no longer in the program, and what it has left live": () =>
    tell.formerlyLeftNotice(purchase, [
      { id: "7", at: AT, name: "Buy" },
      { id: "8", at: AT },
    ]).text,
  "no longer in the program, with secret ids": () => tell.hiddenIdsNotice(funnel).text,
  "an interrupted update of a set that the run leaves out": () =>
    tell.leftOutMessage([purchase]),
  "an unresolved create that would leave the state": () =>
    tell.undeclaredMessage([{ ref: purchase, record: asUnresolved(open(OLD)) }]),
  "many that a run has not come to": () => {
    const numbers = Array.from({ length: 25 }, (_, n) => n + 1);
    const all = numbers.map((n) => open(`${OLD}-${n}`, { id: String(100 + n) }));
    return tell.unclaimedMessage(all);
  },
  "an open create that a run has not come to": () => tell.unclaimedMessage([open(OLD)]),
  "a removed resource after an error": () =>
    tell.incompleteMessage('ConversionEvent "purchase" (42)'),
  "an adoption, with a known read": () =>
    tell.adoptionNotice(purchase, "4711", { read: true }).text,
  "an adoption": () => tell.adoptionNotice(purchase, "4711", NO_ABILITIES).text,
  "an adoption, with a known read and update": () =>
    tell.adoptionNotice(purchase, "4711", ABLE).text,
  "only the state changes": () =>
    tell.stateOnlyNotice(purchase, "42", ["value 25 → 26"], NO_ABILITIES).text,
  "only the state changes, unless a read shows otherwise": () =>
    tell.stateOnlyNotice(purchase, "42", ["advertiserId 1 → 2"], ABLE).text,
  "a preview of a replacement": () =>
    tell.replacedNotice(event, purchase, LIVE, "is replaced").text,
  "a preview of a replacement that deletes": () =>
    tell.replacedNotice(event, purchase, DELETED, "is replaced").text,
  "a preview of a replacement that an option keeps from deleting": () =>
    tell.replacedNotice(event, purchase, KEPT, "is replaced").text,
  "no longer in the program, and kept by an option": () =>
    tell.leavingNotice(leaving(purchase), KEPT).text,
  "a delete that an interrupted run has left": () =>
    tell.leavingNotice(leaving(purchase), DELETED, REPLACED_BEFORE).text,
  "what an interrupted run has replaced, and that stays live": () =>
    tell.leavingNotice(leaving(purchase), KEPT, KEPT_BEFORE).text,
  "a removed set of which not all could be deleted": () =>
    tell.keptMessage(["a", "b"].map((key) => ({ ...refused(key), id: "2" }))),
  "a removed set of which not all could be deleted, where a read is known": () =>
    tell.keptMessage([{ ...refused("a"), id: "2", canRefresh: true }]),
  "objects were deleted": () =>
    tell.deletedNotice('ConversionEventSet "funnel"', [{ id: "2" }, { id: "3" }]).text,
  "a replacement, for which Pulumi drops what a policy changes": () =>
    tell.remediatedMessage(purchase, ["clickWindow", "viewWindow"]),
  "a set deletes what is adopted later": () =>
    tell.adoptedTooLateMessage(purchase.label, "42", funnel.label),
  "a set deletes what may be adopted later": () =>
    tell.adoptedTooLateMessage(purchase.label, UNKNOWN, funnel.label),
  "an adoption of what this run has deleted": () =>
    tell.adoptedDeletedMessage(purchase, "42"),
  "a set: a new key with the name of a removed one": () =>
    planned(HELD, { events: { purchase: { eventName: "Buy", value: 1 } } }),
  "a set: a renamed key": () =>
    planned(HELD, {
      events: { purchase: { eventName: "Buy", value: 1, formerKey: "buy" } },
    }),
  "a set: adopted": () =>
    planned({}, { events: { buy: { eventName: "Buy", value: 1, existingId: 4711 } } }),
  "a set: a key that it had before": () =>
    planned(
      { events: {}, eventIds: {}, __left: [{ key: "buy", id: "42", at: record.at }] },
      HELD,
    ),
  "a set: removed, with a known delete": () => planned(HELD, { events: {} }, true),
  "a set: much at once": () => planned(MUCH, MUCH_DECLARED),
  "a set: much at once, with known operations": () =>
    planned(MUCH, MUCH_DECLARED, false, {
      ...{ read: true, update: true, search: true, markField: "alternative_id" },
    }),
  "an object that was changed by hand": () =>
    tell.driftNotice(purchase, ["value 26 → 99"]).text,
  "an object that is gone": () => tell.goneNotice(purchase).text,
  "an object that is gone, whose create is listed": () =>
    tell.stillListedMessage(purchase.label, "is no longer on the platform, but"),
  "a destroy, and its create is listed": () =>
    tell.stillListedMessage(purchase.label, "isn't deleted, because"),
  "a refresh through the plugin, after a setting has changed": () => tell.FORMER_SETTINGS,
  "an advertiser whose event isn't deleted": () =>
    tell.eventLeftMessage('Advertiser "acme" (6)', purchase.label),
  "an object that was just created, and is not found": () =>
    tell.tooEarlyNotice({ ...purchase, id: "42" }, AT).text,
  "more than can be listed": () =>
    resolveCommands(
      Array.from({ length: 22 }, (_, at) => ({ shownName: `funnel/e${at}` })),
    ).join("\n"),
  "more than ten notices of a sort": () => {
    const shown: string[] = [];
    const messages = new Messages(
      new Secrets(),
      async (_severity, _urn, message) => void shown.push(message),
    );
    const made = { ...record, id: "4711" };
    for (let at = 0; at < 12; at++) {
      const ref = refOf("ConversionEvent", `shop/dev::e${at}`);
      const target = { ...ref, id: "42" };
      for (const notice of [
        tell.takeOverNotice(ref, made),
        tell.unknownSendingNotice(ref, "42"),
        tell.leavingNotice(leaving(ref), LIVE),
        tell.leavingNotice(leaving(ref), DELETED),
        tell.leavingNotice(leaving(ref), DELETED, REPLACED_BEFORE),
        tell.leavingNotice(leaving(ref), KEPT, KEPT_BEFORE),
        tell.formerlyLeftNotice(ref, [{ id: "7", at: AT }]),
        tell.adoptionNotice(ref, UNKNOWN, NO_ABILITIES),
        tell.possibleNamesakeNotice(namesake(ref, open(OLD))),
        tell.replacedNotice(event, ref, LIVE, "is replaced"),
        tell.replacedNotice(event, ref, DELETED, "is replaced"),
        tell.stateOnlyNotice(ref, "42", ["value 25 → 26"], NO_ABILITIES),
        tell.secondObjectNotice(ref, event, "42"),
        tell.goneNotice(ref),
        tell.tooEarlyNotice(target, AT),
        tell.driftNotice(ref, ["value 26 → 99"]),
        tell.foundDifferentNotice(ref, ["value 26 → 99"]),
      ])
        messages.tellEach(notice, "info");
    }
    shown.length = 0;
    messages.tellCollected();
    return shown.join("\n");
  },
  "what a set leaves, for two reasons": () =>
    tell.leftMessage(event, funnel, [
      { key: "buy", ...KEPT },
      { key: "lead", ...KEPT, id: "43" },
      { key: "visit", ...LIVE, id: "44", why: "another resource may adopt it" },
    ]) ?? "",
  "isn't deleted before Pulumi's record is cleared": () => tell.clearFirst(),
  "what a set leaves": () =>
    tell.leftMessage(event, funnel, [{ ...LIVE, key: "buy" }]) ?? "",
  "what a set of the plugin leaves": () =>
    tell.leftMessage(event, OF_PLUGIN, [{ ...LIVE, key: "buy" }]) ?? "",
  "a set of the plugin: what leaves the state": () =>
    planned(HELD, { events: {} }, false, NO_ABILITIES, OF_PLUGIN),
  "taken over": () =>
    tell.usedMessage(
      purchase,
      [{ key: "", id: undefined }],
      new Map<string, Outcome>([
        ["", { kind: "created", id: "51", mark: "m", isTakenOver: true }],
      ]),
    ) ?? "",
  "adopted, and taken over, of a set": () =>
    tell.usedMessage(
      funnel,
      [
        { key: "buy", id: undefined },
        { key: "lead", id: undefined },
      ],
      new Map<string, Outcome>([
        ["buy", { kind: "managed", id: "42" }],
        ["lead", { kind: "created", id: "43", mark: "m", isTakenOver: true }],
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
    const messages = new Messages(new Secrets(), async () => undefined);
    const say = (text: string) => void said.push(text);
    const warnings = ["unknown field x"];
    tell.warnOfPlatform(
      { messages: Object.assign(messages, { say }) },
      purchase.label,
      warnings,
    );
    return said.join();
  },
  "another account": anotherAccount,
};
