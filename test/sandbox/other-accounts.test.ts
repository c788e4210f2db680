/** A stack whose settings name another account than its objects, or than an interrupted run. */
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { RESOURCE_FORMS, runProgram, SingleObjectFixture } from "../support/set-engine.js";

describe.each(RESOURCE_FORMS)("%s", (form) => {
  it.each([
    ["", {}],
    [", with a known search", { settings: operatedSettings() }],
  ])(
    "an interrupted run of another account stops the next one without its disk too%s",
    async (_, options) => {
      const sandbox = await operatedSandbox();
      const before = new SingleObjectFixture(form, sandbox, newFolder(), "e");
      await before.kill({}, options);
      const there = await operatedSandbox();
      const e = new SingleObjectFixture(form, there, newFolder(), "e");
      const stop =
        /An interrupted run sent .*under the account .*, but this run's settings/;
      const formerAccount = `${new URL(sandbox.url).host} ${sandbox.email}`;
      expect(await e.preview({}, options)).toMatch(stop);
      const { error } = await e.up({}, options);
      expect(error).toMatch(stop);
      expect(error).toContain(`advertising:formerAccount '${formerAccount}'`);
      const settings = { ...Object(options).settings, formerAccount };
      expect(await e.preview({}, { settings })).not.toMatch(/under the account/);
      expect([sandbox.eventPosts, there.eventPosts]).toEqual([1, 0]);
    },
  );

  it("a program that declares nothing of the state's is stopped before it sends anything", async () => {
    const sandbox = await operatedSandbox();
    const before = new SingleObjectFixture(form, sandbox, newFolder(), "before");
    expect((await before.up()).error).toBeUndefined();
    const there = await operatedSandbox();
    const fresh = new SingleObjectFixture(form, there, newFolder(), "fresh");
    for (const isUp of [false, true]) {
      const run = fresh.engine.newRun();
      const errors = await runProgram(run, [before.gone(), fresh.is({})], isUp);
      await run.close();
      expect(errors.join()).toMatch(/The state has .*"before".* under the account /);
    }
    expect([there.eventPosts, before.id]).toEqual([0, "2"]);
  });
});
