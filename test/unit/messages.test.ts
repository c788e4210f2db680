/**
 * The messages about creates, adoptions, renames and deletes, each with an example, in one list that somebody can read
 * at one sitting: `messages.txt`. Other tests assert codes and data.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { RefusedError, setCommandTarget } from "../../provider/src/base/index.js";
import { heldMessage, listing, resolvedMessage } from "../../provider/src/cli/pending.js";
import { describeFailure } from "../../provider/src/client/request-errors.js";
import { TransportFailure } from "../../provider/src/client/transport.js";
import type { JournalEntry, OpenCreate } from "../../provider/src/journal/index.js";
import { DamagedJournal } from "../../provider/src/journal/journal-entry.js";
import { journalErrorFrom } from "../../provider/src/journal/journal-file.js";
import { conversionEvent as event } from "../../provider/src/kinds/index.js";
import * as tell from "../../provider/src/operations/messages.js";
import { assertSameAccount, type Outcome } from "../../provider/src/operations/outcome.js";
import { type Abilities, plannedObjects } from "../../provider/src/plan/index.js";
import { ProgramValidator } from "../../provider/src/program/program-validator.js";
import {
  readDeclaredSet,
  readStoredSet,
  refOf,
  refOfKey,
} from "../../provider/src/state/index.js";

const AT = "2026-01-01T00:00:00.000Z";
const STACK = "organization/shop/dev";
const purchase = refOf("ConversionEvent", "shop/dev::purchase");
const inSet = refOfKey('ConversionEventSet::funnel["buy"]', STACK);
const inCatalog = refOfKey(
  "ConversionEvent::advertising:index:Catalog$::shop/acme/buy",
  STACK,
);
const facts = { advertiserId: 7, value: 25 };
const NO_ABILITIES: Abilities = {};
const ABLE = { ...NO_ABILITIES, read: true, update: true };

const open = (key: string, more: Partial<OpenCreate> = {}): OpenCreate => ({
  ...{ key, state: "sent", at: AT, mark: "m", body: "b", name: "Purchase", facts },
  ...more,
});
const namesake = (ref: typeof purchase, create: OpenCreate) => ({
  ref,
  open: create,
  isPerhaps: false,
});
const OLD = "ConversionEvent::old";
const elsewhere = { backend: "file:///states", stack: "organization/shop/old" };
const record = {
  at: AT,
  mark: "m",
  body: "b",
  name: "Purchase",
  facts,
  what: "The connection ended.",
};

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

const atEnd = (records: JournalEntry[], isPreview: boolean) =>
  new ProgramValidator(isPreview).atEnd(records).join("\n");

function thrownBy(work: () => void): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

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
const openCreate = {
  ref: purchase,
  record,
  knownBy: "journal",
  journal: elsewhere,
} as const;
const FACTS = { open: [], elsewhere: [], made: [] } as unknown as Parameters<
  typeof listing
>[0];
const disk = (code: string) =>
  Object.assign(new Error(`${code}: it failed`), { code, path: "/cache/x" });
const failure = (code: string, sent = false) =>
  describeFailure(
    new TransportFailure(code, sent, `${code} it failed`),
    new URL("https://ads.example/rest/event"),
  );

const MESSAGES: Readonly<Record<string, () => string>> = {
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
  "what leaves the state, in an up": () =>
    atEnd([{ ...open(OLD), state: "confirmed", id: "42" }], false),
  "an open create that nothing declares": () => atEnd([open(OLD)], true),
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
  "pending: nothing": () => listing(FACTS).join("\n"),
  "pending: an unresolved create": () =>
    listing({ ...FACTS, open: [openCreate] } as typeof FACTS).join("\n"),
  "pending: answered": () =>
    ["42", undefined]
      .map((id) => resolvedMessage({ create: openCreate, id } as never))
      .join("\n"),
  "pending: ended": () =>
    resolvedMessage({
      create: { ...openCreate, record: { ...record, id: "42" } },
      isForgotten: true,
    }),
  "pending: the state has another one": () =>
    heldMessage({ ref: purchase, record, held: "42" } as never),
  "a damaged journal": () =>
    journalErrorFrom("/cache/x.jsonl", new DamagedJournal("line 3 is not JSON")).message,
  "a journal on a full disk": () =>
    journalErrorFrom("/cache/x.jsonl", disk("ENOSPC")).message,
  "a journal of another user": () =>
    journalErrorFrom("/cache/x.jsonl", disk("EACCES")).message,
  "no connection, cause by cause": () =>
    [
      ...[
        "ENOTFOUND",
        "ECONNREFUSED",
        "ECONNRESET",
        "UND_ERR_CONNECT_TIMEOUT",
        "CERT_HAS_EXPIRED",
      ],
      ...[
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "NO_APPLICATION_PROTOCOL",
      ],
    ]
      .map((code) => failure(code))
      .join("\n"),
  "a connection that ends after sending": () => failure("ECONNRESET", true),
  "another account": () => anotherAccount(undefined),
  "another account of an explicit provider": () => anotherAccount("plugin-second"),
};

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

it("are these", async () => {
  setCommandTarget(() => ({ options: ["--stack", "dev"], isInline: false }));
  const list = Object.entries(MESSAGES).map(
    ([when, message]) => `## ${when}\n\n${message()}\n`,
  );
  await expect(list.join("\n")).toMatchFileSnapshot("messages.txt");
  setCommandTarget(() => ({ options: [], isInline: false }));
});

it("are all of operations", () => {
  const text = readFileSync(import.meta.filename, "utf8");
  expect(Object.keys(tell).filter((name) => !text.includes(`tell.${name}(`))).toEqual([]);
});
