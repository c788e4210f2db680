/** What happens to a create: the table of `plan/plan-create.ts`, and which of its rows comes first. */
import { expect, it } from "vitest";
import type { OpenCreate } from "../../provider/src/plan/open-creates.js";
import { type CreateFacts, planCreate } from "../../provider/src/plan/plan-create.js";

const open = (more: Partial<OpenCreate> = {}): OpenCreate => ({
  ...{ key: "ConversionEvent::buy", run: "r", at: "", mark: "m", body: "b" },
  ...more,
});
const record = { at: "", mark: "m", body: "b", what: "It was sent." };
const marked = { ...record, field: "alternative_id" };
const made = open({ id: "5" });
const saved = { id: "4", at: "", mark: "s", body: "b" };
const namesake = open({ key: "ConversionEvent::old", mark: "n" });
const can = { search: true, markField: "alternative_id" };

it.each<[string, Partial<CreateFacts>, object]>([
  ["nothing is known", {}, { do: "send" }],
  ["the saved state has an object of it", { saved }, { do: "keep", create: saved }],
  ["it has the object that is replaced", { saved, replaces: "4" }, { do: "send" }],
  ["an earlier run made its object", { own: [made] }, { do: "take over", create: made }],
  ["the second one made it", { own: [open(), made] }, { do: "take over", create: made }],
  ["it made the object that is replaced", { own: [made], replaces: "5" }, { do: "send" }],
  ["whether it did is in doubt", { own: [{ ...made, isDoubtful: true }] }, { do: "send" }],
  ["the outcome is unknown", { unresolved: record }, { do: "blocked", record }],
  ["a search is known", { unresolved: marked, can }, { do: "search", record: marked }],
  [
    "a search is known, and an earlier run's journal has the create too",
    { unresolved: marked, can, own: [open()] },
    { do: "search", record: marked },
  ],
  [
    "a search is known, but another create of it is open too",
    { unresolved: marked, can, own: [open(), open({ mark: "n" })] },
    { do: "blocked", record: marked },
  ],
  [
    "a search is known, but it has no mark",
    { unresolved: record, can },
    { do: "blocked", record },
  ],
  ["another resource's may be it", { namesake }, { do: "refused", namesake }],
  ["another one was refused", { firstRefused: "x" }, { do: "not sent", refused: "x" }],
  [
    "a saved object comes before an earlier run's, and before all others",
    { saved, own: [made], unresolved: record, namesake, firstRefused: "x" },
    { do: "keep", create: saved },
  ],
  [
    "an id comes before an unknown outcome, a namesake and a refusal",
    { own: [made], unresolved: record, namesake, firstRefused: "x" },
    { do: "take over", create: made },
  ],
  [
    "an unknown outcome comes before a namesake",
    { unresolved: record, namesake, firstRefused: "x" },
    { do: "blocked", record },
  ],
  [
    "a namesake comes before a refusal",
    { namesake, firstRefused: "x" },
    { do: "refused", namesake },
  ],
])("%s", (_, facts, plan) => {
  const none = {
    saved: undefined,
    unresolved: undefined,
    replaces: undefined,
    namesake: undefined,
  };
  const given = { own: [], can: {}, firstRefused: undefined, ...none, ...facts };
  expect(planCreate(given)).toEqual(plan);
});
