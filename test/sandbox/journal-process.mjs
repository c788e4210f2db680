/**
 * A run that notes creates in a journal until it is killed. journal-file.test.ts starts it, with its task as JSON in the
 * argument.
 *
 * `log` gets a line for each note that is on the disk (`sent`, `created`, `settled`), and one before a note is forgotten
 * (`settling`). Lines are written at once, so that a kill can't undo them.
 *
 * Without `atOnce` it notes one create for each message, answers it, and ends cleanly when it is disconnected.
 */
import { appendFileSync } from "node:fs";

const { systemClock } = await import(new URL("../../provider/dist/base/clock.js", import.meta.url).href);
const { Journal } = await import(new URL("../../provider/dist/store/journal.js", import.meta.url).href);

const { folder, stack, log, round, atOnce } = JSON.parse(process.argv[2]);
let unique = 0;
const newMark = () => `r${round}-${unique++}`;
const journal = new Journal({ folder, stack, clock: systemClock, newMark, maxWaitMs: 60_000 });
const noted = (...words) => appendFileSync(log, `${words.join(" ")}\n`);

async function create() {
  const key = `Advertiser::${stack}::r${round}-${unique}`;
  const mark = newMark();
  const begun = await journal.begin({ key, fingerprint: "f", mark });
  await begun.sending("2026-01-01T00:00:00Z");
  noted("sent", mark);
  if (unique % 3 === 0) {
    noted("settling", mark);
    await begun.ended({ kind: "not-created" });
    noted("settled", mark);
  } else {
    await begun.ended({ kind: "created", id: `${round}000${unique}` });
    noted("created", mark);
  }
}

if (atOnce === undefined) {
  process.on("message", async () => {
    const failure = await create().catch((error) => error.message);
    process.send({ failure });
  });
  process.once("disconnect", () => journal.release());
} else {
  process.send("begins");
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (;;) await create();
    }),
  );
}
