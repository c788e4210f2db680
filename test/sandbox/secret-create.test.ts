/** A create with a secret in its body: no fingerprint of it is written anywhere, and what is answered isn't sent again. */
import { describe, expect, it } from "vitest";
import { readJournal } from "../../provider/src/journal/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox } from "../support/operated.js";
import {
  journalFiles,
  RESOURCE_FORMS,
  SetEngine,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

const LOST = { on: "event", act: true, with: { kind: "reset" } } as const;

describe.each(RESOURCE_FORMS)("%s", (form) => {
  const start = async () => {
    const [sandbox, folder] = [await operatedSandbox(), newFolder()];
    const fixture = new SingleObjectFixture(form, sandbox, folder);
    const isSet = fixture.engine.resource === "ConversionEventSet";
    const withValue = (value: number) => ({
      ...fixture.of({ value }),
      __secret: [isSet ? "events" : "value"],
    });
    const declared = withValue(8_675_309);
    return { sandbox, folder, fixture, declared, withValue, engine: fixture.engine };
  };

  it("the journal has no fingerprint", async () => {
    const { sandbox, folder, declared, engine } = await start();
    await engine.upAndKill(declared);
    const entries = journalFiles(folder).flatMap((path) => {
      return [...(readJournal(path)?.entries.values() ?? [])];
    });
    expect(entries).toMatchObject([{ state: "created", body: "" }]);
    const next = await engine.up(declared);
    expect(wordsOf(next.run)).toContain("nothing shows with which arguments");
    expect(sandbox.eventPosts).toBe(1);
  });

  it("nor has the state; once it is answered, nothing is sent again, and a later change is", async () => {
    const { sandbox, fixture, declared, withValue, engine } = await start();
    sandbox.fail(LOST);
    expect((await engine.up(declared)).error).toContain(
      "The outcome of 1 create is unknown",
    );
    expect(fixture.unresolved).toMatchObject({ body: "" });
    const outcomes = {
      [String(fixture.unresolved?.mark)]: `ConversionEvent ${sandbox.events[0]?.id}`,
    };
    const environment = { ADVERTISING_ANSWERS: JSON.stringify({ outcomes }) };
    const refreshed = await engine.refresh({ environment });
    expect(refreshed.error).toBeUndefined();
    expect(wordsOf(refreshed.run)).toContain("nothing shows with which arguments");
    expect((await engine.up(declared)).error).toBeUndefined();
    expect(fixture.id).toBe(String(sandbox.events[0]?.id));
    expect(sandbox.eventPosts).toBe(1);
    expect((await engine.up(withValue(8_675_310))).error).toBeUndefined();
    expect([fixture.id, sandbox.eventPosts]).toEqual(["3", 2]);
  });

  it("a secret id is refused", async () => {
    const { sandbox, fixture, engine } = await start();
    const { error } = await engine.up({
      ...fixture.of({ existingId: 7 }),
      __secret: ["existingId"],
    });
    expect(error).toContain("existingId can't be secret");
    expect(sandbox.requests).toEqual([]);
  });
});

it("an id in secret events is shown", async () => {
  const objects = {
    advertisers: [{ id: 1, advertiser_name: "A", active: true }],
    events: [{ id: 471_100, event_name: "E", advertiser_id: 1, value: 8_675_309 }],
  };
  const set = new SetEngine(await operatedSandbox({ objects }), newFolder());
  const entry = { eventName: "E", value: 8_675_309, existingId: 471_100 };
  const declared = { advertiserId: 1, events: { k: entry }, __secret: ["events"] };
  expect(await set.preview(declared)).toMatch(/to adopt .*: k \(471100\)/);
  expect(wordsOf((await set.up(declared)).run)).toMatch(/adopted: k \(471100\)/);
});
