/** An advertiser that its resource gives up, with a known delete, while the program still has events of it. */
import { describe, expect, it } from "vitest";
import type { EngineRun } from "../../provider/src/record/index.js";
import { UNKNOWN } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { DELETES_ONLY, operatedSandbox } from "../support/operated.js";
import {
  AdvertiserEngine,
  RESOURCE_FORMS,
  runProgram,
  SingleObjectFixture,
  wordsOf,
} from "../support/set-engine.js";

describe.each(
  RESOURCE_FORMS.flatMap((form) =>
    [undefined, "default"].map((plugin) => ({ form, plugin })),
  ),
)("$form (plugin: $plugin)", ({ form, plugin }) => {
  /** @param namesIt whether the program gives the event its advertiser's id as a number. */
  const start = async (isAdopted: boolean, namesIt = false) => {
    const theirs = { id: 5, event_name: "E", advertiser_id: 2, value: 1 };
    const objects = { advertisers: [{ id: 1, active: true }], events: [theirs] };
    const sandbox = await operatedSandbox({ objects });
    const folder = newFolder();
    const acme = new AdvertiserEngine(sandbox, folder, "acme");
    const event = new SingleObjectFixture(form, sandbox, folder);
    for (const each of [acme, event.engine]) {
      each.declares = { deletes: true, ...(plugin !== undefined && { adopted: "" }) };
      each.plugin = plugin;
    }
    if (!namesIt) event.engine.declares.dependencies = [acme.urn];
    const more = isAdopted ? { existingId: 5 } : {};
    const run = async (
      name: string | undefined,
      advertiserId?: unknown,
      { isUp = true, isLater = true } = {},
    ) => {
      const now = acme.newRun(DELETES_ONLY);
      const declared = name === undefined ? name : { advertiserName: name };
      const owned =
        advertiserId === undefined ? event.gone() : event.is({ ...more, advertiserId });
      const program = [[acme, declared] as const, owned];
      const errors = await runProgram(now, isLater ? program : program.reverse(), isUp);
      await now.close();
      expect(errors.filter((each) => each !== undefined)).toEqual([]);
      return wordsOf(now);
    };
    await run("Acme", 6);
    const live = () => sandbox.advertisers.map(({ id }) => id);
    expect([acme.state?.id, live()]).toEqual(["6", [1, 6]]);
    return { sandbox, acme, event, run, live };
  };
  const KEPT = "6 isn't deleted, because ";
  const LATER = /"acme" \(6\) leaves the state and isn't deleted, because /;

  it.each<[string, string | undefined, unknown, unknown]>([
    ["replaced, and the event stays where it is", "Other", 7, UNKNOWN],
    ["replaced, and the program names its id", "Other", 6, 6],
    ["removed, and the program names its id", undefined, 6, 6],
  ])("adopted: it stays live if it's %s", async (_, name, owner, ownerInPreview) => {
    const { run, live } = await start(true);
    const preview = await run(name, ownerInPreview, { isUp: false });
    const up = await run(name, owner);
    expect(up).toMatch(/"buy" belongs to it\./);
    expect(up.includes(KEPT) || LATER.test(up)).toBe(true);
    // The plugin doesn't know what the program adopts later.
    const isKnown = plugin === undefined || name === undefined;
    expect(preview.includes(KEPT)).toBe(isKnown);
    expect(live()).toContain(6);
  });

  it("it stays live if the same run creates an event for it", async () => {
    const { sandbox, live } = await start(false);
    const folder = newFolder();
    const acme = new AdvertiserEngine(sandbox, folder, "acme");
    const more = new SingleObjectFixture(form, sandbox, folder, "more");
    for (const each of [acme, more.engine]) {
      each.declares = { deletes: true };
      each.plugin = plugin;
    }
    for (const isUp of [false, true]) {
      const now = acme.newRun(DELETES_ONLY);
      await runProgram(now, [[acme, undefined], more.is({ advertiserId: 6 })], isUp);
      await now.close();
      expect(wordsOf(now)).toMatch(/isn't deleted, because .*"more" belongs to it/);
    }
    expect(live()).toContain(6);
  });

  /** Both leave at once, the advertiser first: Pulumi knows no order. @returns the failures. */
  const destroyBoth = async ({ acme, event }: Awaited<ReturnType<typeof start>>) => {
    const now = acme.newRun({ ...DELETES_ONLY, command: { command: "destroy" } });
    const leaving = [acme, event.engine].flatMap((each) => each.leave(now));
    const ended = await Promise.allSettled(leaving.map((work) => work()));
    await now.close();
    return ended.flatMap((each) =>
      each.status === "rejected" ? [each.reason.message] : [],
    );
  };

  it("its event, which names its id, is deleted before it", async () => {
    const given = await start(false, true);
    const { sandbox, run, live } = given;
    await run("Acme", 6);
    expect(await destroyBoth(given)).toEqual([]);
    const deletes = sandbox.requests.filter(({ method }) => method === "DELETE");
    expect(deletes.map(({ path }) => path.split("/").at(-2))).toEqual([
      "event",
      "advertiser",
    ]);
    expect(live()).toEqual([1]);
  });

  it("it isn't deleted if the delete of its event fails; the next run deletes both", async () => {
    const given = await start(false, true);
    const { sandbox, run, live } = given;
    await run("Acme", 6);
    const refusal = { kind: "answer", status: 422 } as const;
    sandbox.fail({ on: "delete", with: refusal, times: 9 });
    const [first, second, ...others] = await destroyBoth(given);
    expect(first).toMatch(
      /^Advertiser "acme" \(6\) isn't deleted yet: .*"buy" belongs to it, .* Run this again\./,
    );
    expect([second, others]).toEqual([expect.stringContaining("422"), []]);
    expect(live()).toEqual([1, 6]);
    sandbox.endFaults();
    expect(await destroyBoth(given)).toEqual([]);
    expect(live()).toEqual([1]);
  });

  it.each<[string, Partial<EngineRun>, boolean]>([
    ["a whole destroy deletes it", {}, true],
    ["a destroy with it as a target keeps it", { targets: ["**acme"] }, false],
    ["a destroy that leaves the event out keeps it", { excludes: ["**buy"] }, false],
    ["a destroy that leaves another one out keeps it", { excludes: ["**other"] }, false],
    ["a destroy with both as targets deletes it", { targets: ["**acme", "**buy"] }, true],
  ])("%s", async (_, command, isDeleted) => {
    const { sandbox, live } = await start(false);
    const acme = new AdvertiserEngine(sandbox, newFolder(), "acme");
    acme.plugin = plugin;
    const destroying = { ...DELETES_ONLY, command: { command: "", ...command } };
    expect(await acme.destroy(destroying)).toBeUndefined();
    expect(live()).toEqual(isDeleted ? [1] : [1, 6]);
  });

  it.each([true, false])(
    "it stays live if an event names its id (checked later: %s)",
    async (isLater) => {
      const { run, live } = await start(false, true);
      await run("Acme", 6);
      const stays =
        /"acme" is replaced\. The old object 6\b.*stays live.*"buy".* belongs to it/;
      expect(await run("Other", 6, { isUp: false, isLater })).toMatch(stays);
      expect(await run("Other", 6, { isLater })).toMatch(/"buy".* belongs to it/);
      expect(live()).toContain(6);
    },
  );

  it("it is deleted if its event is replaced", async () => {
    const { run, live } = await start(false);
    await run("Acme", 6);
    expect(await run("Other", UNKNOWN, { isUp: false })).toMatch(
      /object 6\b.*will be deleted/,
    );
    expect(await run("Other", 8)).toMatch(/deleted 6 on the platform/);
    expect(live()).toEqual([1, 8]);
  });
});
