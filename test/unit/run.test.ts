/** What `check` and `diff` note for later calls, in the order in which the engine makes them. */
import { expect, it } from "vitest";
import { type Member, singleMember } from "../../provider/src/decision/members.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { Run } from "../../provider/src/provider/run.js";

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
const changed = diff({ advertiserName: "B" });

it("the second check of a replacement, which gets no old inputs, keeps what the first one read from the state", () => {
  const run = new Run();
  for (const step of [check, changed, checkAgain]) step(run);
  expect(run.checked(KEY)).toMatchObject({ wasSecret: SECRET, wasDeleting: true });
  expect(run.decided(KEY)?.former).toEqual({ id: "5", isDeleted: false });
});

it("the first resource that is checked says whether it is an `up`; the largest number of declared resources counts", () => {
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
