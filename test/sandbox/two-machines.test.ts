/** One stack on two machines, each with its own journal: what a preview here says of what was done there. */
import { describe, expect, it } from "vitest";
import type { FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox } from "../support/operated.js";
import { RESOURCE_FORMS, runProgram, SingleObjectFixture } from "../support/set-engine.js";

const LOST: FaultRule = { on: "event", act: true, with: { kind: "close-without-answer" } };

/** The run of a preview in which `gone` is no longer declared, and `fresh` is new. @returns its warnings. */
async function previewOfRename(
  gone: SingleObjectFixture,
  fresh: SingleObjectFixture,
): Promise<string> {
  const run = fresh.engine.newRun();
  await runProgram(run, [gone.gone(), fresh.is()], false);
  run.closeNow();
  return run.told.map(({ message }) => message).join("\n");
}

describe("a rename without an alias is hinted at", () => {
  const start = async () => {
    const [sandbox, here] = [await operatedSandbox(), newFolder()];
    const fixture = (name: string, folder = here) =>
      new SingleObjectFixture("a single event", sandbox, folder, name);
    return {
      sandbox,
      old: fixture("old"),
      fresh: fixture("fresh"),
      there: fixture("old", newFolder()),
    };
  };
  const HINT =
    '"fresh" is new, but earlier runs managed an object with the same name on the platform: "old" (';

  it("on a machine that did not create the object, once it has seen it in an `up`", async () => {
    const { sandbox, old, fresh, there } = await start();
    await there.up();
    old.engine.state = there.engine.state;
    await old.up();
    expect(await previewOfRename(old, fresh)).toContain(`${HINT}2)`);
    expect(sandbox.eventPosts).toBe(1);
  });

  it("after another machine has replaced it", async () => {
    const { sandbox, old, fresh, there } = await start();
    await old.up();
    there.engine.state = old.engine.state;
    await there.up({ value: 2 });
    old.engine.state = there.engine.state;
    await old.up({ value: 2 });
    expect(await previewOfRename(old, fresh)).toContain(`${HINT}3)`);
    expect(sandbox.eventPosts).toBe(2);
  });

  it("after it was adopted here", async () => {
    const { sandbox, old, fresh, there } = await start();
    await there.up();
    await old.up({ existingId: 2 });
    await old.up({ existingId: 2 });
    expect(await previewOfRename(old, fresh)).toContain(`${HINT}2)`);
    expect(sandbox.eventPosts).toBe(1);
  });
});

describe.each(RESOURCE_FORMS)(
  "%s: a create of unknown outcome that a colleague has resolved",
  (form) => {
    const start = async (): Promise<{
      sandbox: Sandbox;
      here: SingleObjectFixture;
      there: SingleObjectFixture;
    }> => {
      const sandbox = await operatedSandbox();
      const [here, there] = [newFolder(), newFolder()].map(
        (folder) => new SingleObjectFixture(form, sandbox, folder),
      );
      if (here === undefined || there === undefined) throw new Error("two machines");
      sandbox.fail(LOST);
      await here.up();
      there.engine.state = here.engine.state;
      const answers = JSON.stringify({ [String(here.unresolved?.mark)]: "2" });
      expect(
        (await there.engine.refresh({ environment: { ADVERTISING_ANSWERS: answers } }))
          .error,
      ).toBeUndefined();
      return { sandbox, here, there };
    };

    it("and nothing else: a preview here warns of no second one", async () => {
      const { sandbox, here, there } = await start();
      await there.up();
      here.engine.state = there.engine.state;
      expect(await here.preview()).toBe("");
      expect(sandbox.eventPosts).toBe(1);
    });

    it("and then replaced: a preview here warns of no second one", async () => {
      const { sandbox, here, there } = await start();
      await there.up({ value: 2 });
      here.engine.state = there.engine.state;
      expect(await here.preview({ value: 2 })).toBe("");
      expect([here.id, sandbox.eventPosts]).toEqual(["3", 2]);
    });

    it("by existingId: a preview here warns of no second one", async () => {
      const sandbox = await operatedSandbox();
      const [here, there] = [newFolder(), newFolder()].map(
        (folder) => new SingleObjectFixture(form, sandbox, folder),
      );
      if (here === undefined || there === undefined) throw new Error("two machines");
      sandbox.fail(LOST);
      await here.up();
      there.engine.state = here.engine.state;
      expect((await there.up({ existingId: 2 })).error).toBeUndefined();
      here.engine.state = there.engine.state;
      expect(await here.preview({ existingId: 2 })).toBe("");
      expect([here.id, sandbox.eventPosts]).toEqual(["2", 1]);
    });

    it("while another create of this machine is open: that one is warned of", async () => {
      const { sandbox, here, there } = await start();
      here.engine.state = there.engine.state;
      const before = here.engine.state;
      sandbox.fail(LOST);
      await here.up({ value: 2 }); // replaces what the colleague found, and nobody knows whether it did
      here.engine.state = before;
      expect(await here.preview({ value: 2 })).toMatch(/its outcome is unknown/);
      expect(sandbox.eventPosts).toBe(2);
    });
  },
);
