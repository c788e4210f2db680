/** What `check` and `diff` leave for what follows, in the order in which the engine calls. */
import { describe, expect, it } from "vitest";
import { type Member, singleMember } from "../../provider/src/decision/members.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { Run } from "../../provider/src/provider/run.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";

const KEY = "Advertiser::organization/shop/dev::a";
const briefing = { identity: "shop/dev::a" };
const SECRET = new Set(["advertiserName"]);
const ofState = { briefing, wasSecret: SECRET, wasDeleting: true };
const ofNothing = { briefing, wasSecret: new Set<string>(), wasDeleting: false };

type Step = (run: Run) => void;
const check: Step = (run) => run.noteChecked(KEY, ofState, false);
const checkAgain: Step = (run) => run.noteChecked(KEY, ofNothing, true);
const diff =
  (news: object): Step =>
  (run) => {
    const member: Member = singleMember(advertiser, "5", { advertiserName: "A" }, { ...news });
    run.noteDecided(advertiser, KEY, {
      member,
      former: { id: "5", isDeleted: false },
      leaves: { before: [], object: undefined },
    });
  };
const same = diff({ advertiserName: "A" });
const changed = diff({ advertiserName: "B" });

/** The id that a resource gets which depends on it, in a preview that takes it for unknown. */
function ownersId(run: Run): unknown {
  const dependent = { identity: "shop/dev::e", owners: { advertiserId: KEY } };
  return run.withKeptOwners(dependent, { advertiserId: UNKNOWN }).advertiserId;
}

describe("the id that a dependent resource is given", () => {
  it.each<[string, Step[], string]>([
    ["before anything was asked", [], UNKNOWN],
    ["after check, before diff", [check], UNKNOWN],
    ["where diff keeps it", [check, same], "5"],
    ["where diff replaces it", [check, changed, checkAgain], UNKNOWN],
    ["where only the engine was asked to replace it", [check, same, checkAgain], UNKNOWN],
    ["of a resource that is new", [checkAgain], UNKNOWN],
    ["in the next look of the same process", [check, same, checkAgain, check, same], "5"],
    ["in the next look, before its diff", [check, same, check], UNKNOWN],
  ])("%s", (_, steps, id) => {
    const run = new Run();
    for (const step of steps) step(run);
    expect(ownersId(run)).toBe(id);
  });
});

it("the second check of a replacement, which names no old inputs, forgets nothing of the state", () => {
  const run = new Run();
  for (const step of [check, changed, checkAgain]) step(run);
  expect(run.checked(KEY)).toMatchObject({ wasSecret: SECRET, wasDeleting: true });
  expect(run.decided(KEY)?.former).toEqual({ id: "5", isDeleted: false });
});

it("whichever resource is checked first says what the run is, and how much the program has declared with its batch", () => {
  const run = new Run();
  const saying = (resources: number) => ({ ...briefing, run: { isUp: true, resources } });
  run.noteChecked(KEY, { ...ofState, briefing: saying(2) }, false);
  changed(run);
  run.noteChecked(KEY, { ...ofNothing, briefing: saying(2) }, true);
  expect(run).toMatchObject({ isUp: true, isWhole: false });
  for (const name of ["b", "c"]) run.noteChecked(`${KEY}${name}`, { ...ofNothing, briefing: saying(4) }, true);
  expect(run.isWhole).toBe(false);
  run.noteChecked(`${KEY}d`, { ...ofNothing, briefing: saying(2) }, true);
  expect(run.isWhole).toBe(true);
});
