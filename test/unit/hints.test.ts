/** A hint needs a sign in the answer, and none advises what replaces a live object. */
import { describe, expect, it } from "vitest";
import { HINTS, hintsFor } from "../../provider/src/client/hints.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";

type Name = keyof typeof HINTS;
const SENT = { event_name: "Login", advertiser_id: 3, value: 1 };

/** The names of the hints that fit. */
const fitting = (
  words: string | string[],
  operation = conversionEvent.create,
  sent: Record<string, unknown> = SENT,
) => {
  const hints = hintsFor([words].flat(), { answer: { status: 400 }, operation, sent });
  return (Object.keys(HINTS) as Name[]).filter((name) => hints.includes(HINTS[name].advice));
};

it.each<[string, Name[]]>([
  // An inactive advertiser.
  ["advertiser 1 is not active", ["inactive"]],
  ["advertiser_id advertiser 1 is not active", ["inactive"]],
  ["The advertiser is inactive.", ["inactive"]],
  ["the advertiser isn't active yet", ["inactive"]],
  ["advertiser_id: is not active", ["inactive"]],
  ["event.advertiser_id: must be active", ["inactive"]],
  ["modules.geo.advertiserId: inactive", ["inactive"]],
  ["Inactive advertiser", ["inactive"]],
  ["code ADVERTISER_NOT_ACTIVE", ["inactive"]],
  ["error_code ADVERTISER_INACTIVE", ["inactive"]],
  ["no (code AdvertiserInactive)", ["inactive"]],
  ["Advertiser with id 3 has been deactivated", ["inactive"]],
  ['Advertiser "Acme" is suspended', ["inactive"]],
  ['an HTML page titled "No": The advertiser is not active.', ["inactive"]],
  // An advertiser that nobody knows there.
  ["there is no advertiser 4711", ["unknown"]],
  ["advertiser_id there is no advertiser 4711", ["unknown"]],
  ["Advertiser not found", ["unknown"]],
  ["Advertiser with id 3 was not found.", ["unknown"]],
  ["Advertiser 3 does not exist", ["unknown"]],
  ["Advertiser 3 could not be found", ["unknown"]],
  ["Unknown advertiser: 3", ["unknown"]],
  ["invalid advertiser", ["unknown"]],
  ["advertiser_id: must be a valid advertiser", ["unknown"]],
  ['modules.geo.advertiser_id: "foo" is not a valid choice.', ["unknown"]],
  ['advertiser_id: Invalid pk "99" - object does not exist.', ["unknown"]],
  ["code INVALID_ADVERTISER", ["unknown"]],
  ["The advertiser does not belong to this account", ["unknown"]],
  // Both.
  ["An event needs a valid and active advertiser", ["inactive", "unknown"]],
  ["advertiser_id: must be a valid and active advertiser", ["inactive", "unknown"]],
  // What exists already.
  ["the name is taken", ["taken"]],
  ["event_name: taken", ["taken"]],
  ["event_name: has already been taken", ["taken"]],
  ["event_name: event with this event name already exists.", ["taken"]],
  ["exists already", ["taken"]],
  ["exists", ["taken"]],
  ["code NAME_TAKEN", ["taken"]],
  ["Duplicate entry 'x' for key 'event_name'", ["taken"]],
  ["the name must be unique", ["taken"]],
  ["alternative_id: already in use", ["taken"]],
  ['The name "Inactive advertiser" is taken', ["taken"]],
  // Nothing of the kind.
  ["event_name: is too long", []],
  ["the event is not active", []],
  ["segment 9 is not active for advertiser 3", []],
  ["segment_id: is not active", []],
  ["segment_id: does not exist", []],
  ["segment_id: already in use", []],
  ["advertiser 3's segment is not active", []],
  ["advertiser 3 has a paused campaign", []],
  ["advertiser 3 is active, but the segment is not known", []],
  ["advertiser_id: is required", []],
  ["advertiser_id: A valid integer is required.", []],
  ["advertiser_id: must be a valid integer", []],
  ["advertiser name is not valid", []],
  ["you may not create events for this advertiser", []],
  ["no action was taken", []],
  ["the object does not already exist", []],
  ["duplicate field colour", []],
  ["the name exceeds the limit", []],
  ["Please log in again", []],
  ["", []],
])("%s", (words, names) => {
  expect(fitting(words)).toEqual(names);
});

describe("a hint", () => {
  it("does not come of what was sent", () => {
    const sent = { ...SENT, event_name: "Inactive advertiser (taken)" };
    expect(fitting("event_name: Inactive advertiser (taken) is too long", conversionEvent.create, sent)).toEqual([]);
    expect(fitting("the name Inactive advertiser (taken) is taken", conversionEvent.create, sent)).toEqual(["taken"]);
  });

  it("about the advertiser of an event is none for an advertiser", () => {
    const sent = { advertiser_name: "Acme" };
    expect(fitting("the advertiser is not active", advertiser.create, sent)).toEqual([]);
    expect(fitting("advertiser not found", advertiser.create, sent)).toEqual([]);
    expect(fitting('Advertiser "Acme" already exists', advertiser.create, sent)).toEqual(["taken"]);
    expect(fitting("advertiser Acme exists", advertiser.create, sent)).toEqual(["taken"]);
  });

  it("comes once, however often its sign does", () => {
    expect(
      hintsFor(["taken", "is taken"], { answer: { status: 409 }, operation: conversionEvent.create, sent: SENT }),
    ).toEqual([HINTS.taken.advice]);
  });

  it.each([404, 405])("after %i is about the address as well", (status) => {
    const about = (words: string[]) =>
      hintsFor(words, { answer: { status }, operation: conversionEvent.create, sent: SENT });
    expect(about([])).toEqual(["Check advertising:baseUrl, its path included."]);
    expect(about(["advertiser not found"])).toEqual([
      "Check advertising:baseUrl, its path included.",
      HINTS.unknown.advice,
    ]);
  });

  it("advises no other arguments, and for a taken name says nothing of advertisers", () => {
    expect(HINTS.taken.advice).not.toMatch(/advertiser/i);
    expect(HINTS.taken.advice).toContain("existingId");
    for (const { advice } of Object.values(HINTS)) expect(advice).not.toMatch(/additionalFields|active: true|replace/);
    expect(HINTS.inactive.advice).toMatch(/^Activate that advertiser on the platform, by hand/);
  });

  it("takes no time for hostile words", () => {
    const long = "advertiser is valid and ".repeat(20).slice(0, 500);
    expect(fitting(Array.from({ length: 20 }, () => long))).toEqual([]);
  });
});
