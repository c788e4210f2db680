import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../provider/src/clock.js";
import { withLock } from "../../provider/src/files/lock.js";

it("lets one holder in at a time, and leaves nothing behind", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "the.lock");
  let inside = 0;
  let most = 0;
  const holders = Array.from({ length: 40 }, (_, n) =>
    withLock(path, { clock: systemClock, unique: `holder ${n}`, maxWaitMs: 60_000 }, async () => {
      most = Math.max(most, ++inside);
      await systemClock.sleep(1);
      inside--;
    }),
  );
  await Promise.all(holders);
  expect(most).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});
