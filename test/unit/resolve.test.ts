/** What another stack's journal has open becomes this one's: that stack was renamed. */
import { describe, expect, it } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import { takeOverOpen } from "../../provider/src/journal/index.js";
import { MemoryDisk } from "../support/disk.js";
import { aCreate, DEV, FOLDER, PROD, stackOn } from "../support/journal.js";

const [A, B, C] = ["Advertiser::a", "Advertiser::b", "Advertiser::c"] as const;

describe("after `pulumi stack rename`", () => {
  /** @param had by stack: its records. */
  async function renamed(...had: Record<string, string>[]) {
    const disk = new MemoryDisk();
    const stacks = [stackOn(disk), stackOn(disk, PROD)] as const;
    for (const [index, records] of had.entries())
      for (const [key, state] of Object.entries(records))
        await stacks[index]?.up(async (run) => {
          if (state.startsWith("confirmed "))
            return run.recordSeen({ key, id: state.slice(state.indexOf(" ") + 1) });
          await run.recordSending({ ...aCreate(key), mark: `${index} ${key}` });
          if (state !== "sent")
            await run.recordCreated(key, state.slice(state.indexOf(" ") + 1));
        });
    const takeOver = () => takeOverOpen(DEV, PROD, { folder: FOLDER, disk });
    return { disk, takeOver, former: stacks[0], now: stacks[1] };
  }

  it("the new name has all that the former one has open, and the former one has it no longer", async () => {
    const { former, now, takeOver } = await renamed({
      [A]: "sent",
      [B]: "created 42",
      [C]: "confirmed 3",
    });
    expect([await takeOver(), await takeOver()]).toEqual([2, 0]);
    expect(now.words()).toEqual(["a sent", "b created 42"]);
    expect(now.newRun().of(B)?.mark).toBe(`0 ${B}`);
    expect(former.newRun().openAtStart).toEqual([]);
  });

  it("killed in between, both have it, and the same call goes on; in use, it is left alone", async () => {
    const { disk, former, now, takeOver } = await renamed({ [A]: "created 42" });
    const run = former.newRun();
    await run.assertUsable();
    const held = takeOverOpen(DEV, PROD, {
      folder: FOLDER,
      disk,
      clock: { ...systemClock, monotonicMs: soon() },
    });
    await expect(held).rejects.toThrow(/^Nothing was sent.*held by another run/);
    run.release();
    disk.onChange = (what) => {
      if (what === `sync ${now.path}` && now.words().length > 0) throw new Error("killed");
    };
    await expect(takeOver()).rejects.toThrow("killed");
    disk.onChange = () => undefined;
    expect(former.words()).toEqual(["a created 42"]);
    expect(await takeOver()).toBe(1);
    expect([former.newRun().openAtStart, now.words()]).toEqual([[], ["a created 42"]]);
  });

  it("nothing is taken over while both have something open under one key, which is named", async () => {
    const { former, now, takeOver } = await renamed(
      { [A]: "created 42", [B]: "created 43" },
      { [A]: "created 7", [B]: "confirmed 4" },
    );
    await expect(takeOver()).rejects.toThrow('another open create of Advertiser "a"');
    expect([former.newRun().openAtStart.map(({ id }) => id), now.words()]).toEqual([
      ["42", "43"],
      ["a created 7", "b confirmed 4"],
    ]);
  });
});

/** A minute later at each look. */
function soon(): () => number {
  let minutes = 0;
  return () => ++minutes * 60_000;
}
