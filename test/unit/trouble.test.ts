/** A hint needs a sign in the answer, and none advises a change that would replace a live object. */
import { describe, expect, it } from "vitest";
import { HINTS, hintsFor } from "../../provider/src/client/trouble.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { answer } from "../support/answers.js";

type Name = keyof typeof HINTS;
const SENT = { event_name: "Login", advertiser_id: 3, value: 1 };

/** The names of the hints that fit. */
const fitting = (body: unknown, operation = conversionEvent.create, sent: Record<string, unknown> = SENT) => {
  const hints = hintsFor(answer(400, body), operation, sent);
  return (Object.keys(HINTS) as Name[]).filter((name) => hints.includes(HINTS[name].advice));
};

it.each<[unknown, Name[]]>([
  // Words that were observed, in each form of a refusal.
  ["advertiser_id advertiser 1 is not active", ["inactive"]],
  [{ success: false, message: "advertiser_id advertiser 1 is not active" }, ["inactive"]],
  [{ success: false, errors: ["ERROR: advertiser 1 is not active"] }, ["inactive"]],
  [{ errors: { event: { advertiser_id: ["advertiser 1 is not active"] } } }, ["inactive"]],
  [{ payload: { errors: ["The advertiser is inactive."] } }, ["inactive"]],
  [{ message: "no", error_code: "ADVERTISER_NOT_ACTIVE" }, ["inactive"]],
  [{ message: "event_name is taken; advertiser_id advertiser 1 is not active" }, ["inactive", "taken"]],
  ["event_name is taken", ["taken"]],
  [{ errors: { event_name: ["is taken"] } }, ["taken"]],
  [{ errors: { event_name: ["has already been taken"] } }, ["taken"]],
  [{ errors: ["the name is taken"] }, ["taken"]],
  [{ message: "The name already exists." }, ["taken"]],
  [{ error_code: "NAME_TAKEN" }, ["taken"]],
  ["colour is not a known field", ["unknownField"]],
  [{ errors: { colour: ["is not a known field"] } }, ["unknownField"]],
  [{ errors: ["unknown field colour"] }, ["unknownField"]],
  // No sign of any hint.
  ["event_name: is too long", []],
  ["the event is not active", []],
  ["segment 9 is not active for advertiser 3", []],
  [{ errors: { segment_id: ["is not active"] } }, []],
  ["advertiser 3's segment is not active", []],
  ["advertiser 3 is active, but the segment is not known", []],
  ["there is no advertiser 4711", []],
  ["you may not create events for this advertiser", []],
  ["no action was taken", []],
  ["the object does not already exist", []],
  ["Please log in again", []],
  [{ payload: { note: "the name is taken" } }, []],
  ["<p>the name is taken</p>", []],
  ["", []],
])("%j", (body, names) => {
  expect(fitting(body)).toEqual(names);
});

describe("a hint", () => {
  it("is not given for words that were sent", () => {
    for (const event_name of ["the advertiser is inactive", "x; advertiser 1 is not active", "the name is taken"]) {
      expect(fitting(`${event_name} is too long`, conversionEvent.create, { ...SENT, event_name })).toEqual([]);
      expect(fitting({ message: event_name }, conversionEvent.create, { ...SENT, event_name })).toEqual([]);
    }
  });

  it("about an event's advertiser is not given for an advertiser", () => {
    const sent = { advertiser_name: "Acme" };
    expect(fitting("the advertiser is not active", advertiser.create, sent)).toEqual([]);
    expect(fitting("advertiser_name is taken", advertiser.create, sent)).toEqual(["taken"]);
  });

  it("is given once, however many signs there are", () => {
    const body = { errors: ["the name is taken", "event_name is taken"] };
    expect(hintsFor(answer(409, body), conversionEvent.create, SENT)).toEqual([HINTS.taken.advice]);
  });

  it.each([404, 405])("after %i is about the address as well", (status) => {
    const about = (body: unknown) => hintsFor(answer(status, body), conversionEvent.create, SENT);
    expect(about("")).toEqual(["Check advertising:baseUrl, its path included."]);
    expect(about("event_name is taken")).toEqual(["Check advertising:baseUrl, its path included.", HINTS.taken.advice]);
  });

  it("advises no other arguments; the one for a taken name does not mention advertisers", () => {
    expect(HINTS.taken.advice).not.toMatch(/advertiser/i);
    expect(HINTS.taken.advice).toContain("existingId");
    for (const { advice } of Object.values(HINTS)) expect(advice).not.toMatch(/active: true|replace/);
    expect(HINTS.inactive.advice).toMatch(/^Activate that advertiser on the platform, by hand/);
  });

  it("takes no time for hostile words", () => {
    const long = "advertiser is valid and ".repeat(20_000);
    expect(fitting(Array.from({ length: 20 }, () => long))).toEqual([]);
  });
});
