/** A memory that gets another name, as its stack. */
import { describe, expect, it } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import { takeOverFormer } from "../../provider/src/store/index.js";
import { MemoryDisk } from "../support/disk.js";
import { create, DEV, FOLDER, PROD, stackOn } from "../support/memory.js";

const [A, B, C] = ["Advertiser::a", "Advertiser::b", "Advertiser::c"] as const;

describe("after `pulumi stack rename`", () => {
  /** @param had by stack: its records. */
  async function renamed(...had: Record<string, string>[]) {
    const disk = new MemoryDisk();
    const stacks = [stackOn(disk), stackOn(disk, PROD)] as const;
    for (const [index, records] of had.entries())
      for (const [key, state] of Object.entries(records))
        await stacks[index]?.up(async (run) => {
          if (state.startsWith("live ")) return run.saw(key, state.slice(5));
          await run.sending(create(key));
          if (state !== "sent") await run.made(key, state.slice(5));
        });
    const takeOver = () => takeOverFormer(DEV, PROD, { folder: FOLDER, disk });
    return { disk, takeOver, former: stacks[0], now: stacks[1] };
  }

  it("the new name has all that the former one had, whose file is gone", async () => {
    const { disk, now, takeOver } = await renamed({ [A]: "sent", [B]: "made 42", [C]: "live 3" });
    for (let times = 0; times < 2; times++) await takeOver();
    expect(now.words()).toEqual(["a sent", "b made 42", "c live 3"]);
    expect(now.newRun().of(B)).toMatchObject(create(B));
    expect(disk.readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`)).toEqual([now.path]);
  });

  it("killed in between, both have it, and the former one is joined again; in use, it is left alone", async () => {
    const { disk, former, now, takeOver } = await renamed({ [A]: "made 42" });
    const run = former.newRun();
    await run.expectUsable();
    const held = takeOverFormer(DEV, PROD, { folder: FOLDER, disk, clock: { ...systemClock, monotonicMs: soon() } });
    await expect(held).rejects.toThrow(/^Nothing was sent.*held by another run/);
    run.release();
    disk.onChange = (what) => {
      if (what === `remove ${former.path}`) throw new Error("killed");
    };
    await expect(takeOver()).rejects.toThrow("killed");
    disk.onChange = () => undefined;
    former.append(`{"memory":"pulumi-advertising","version":1}\n${JSON.stringify(now.all()[0])}\n`); // not removed
    expect([former.words(), now.words()]).toEqual([["a made 42"], ["a made 42"]]);
    await takeOver();
    expect([former.words(), now.words()]).toEqual([[], ["a made 42"]]);
  });

  it("of a file that another machine's run took over meanwhile nothing is lost", async () => {
    const { disk, former, now, takeOver } = await renamed({ [A]: "made 42" });
    disk.onChange = (what) => {
      if (what !== `sync ${now.path}` || now.words().length === 0) return;
      disk.onChange = () => undefined;
      disk.rmSync(`${former.path}.lock`);
      former.append("theirs", `${former.path}.lock`);
    };
    await expect(takeOver()).rejects.toThrow(/another run took over the lock/);
    expect([former.words(), now.words()]).toEqual([["a made 42"], ["a made 42"]]);
  });

  it("a removed stack that had the new name before hides no create; two creates of one key stop it", async () => {
    const { now, takeOver } = await renamed({ [A]: "made 42", [B]: "live 3" }, { [A]: "live 7", [B]: "live 4" });
    await takeOver();
    expect(now.words()).toEqual(["a made 42", "b live 4"]);
    const both = await renamed({ [A]: "made 42" }, { [A]: "made 43" });
    await expect(both.takeOver()).rejects.toThrow(/different creates of Advertiser "a".*rm /s);
    expect([both.former.words(), both.now.words()]).toEqual([["a made 42"], ["a made 43"]]);
  });
});

/** A minute later at each look. */
function soon(): () => number {
  let minutes = 0;
  return () => ++minutes * 60_000;
}
