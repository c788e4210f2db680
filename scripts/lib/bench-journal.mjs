import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, forEachInFlight, IN_FLIGHT, openClient } from "./bench-creates.mjs";
import { importCompiled } from "./paths.mjs";

const CREATES = 2000;

/** Creates per second through the real client, without an engine, with and without the journal's notes; `rounds` of each, alternating. */
export async function measureJournal({ folder, sandbox, rounds }) {
  const [{ fingerprintOf }, { Journal }] = await importCompiled("kinds/index.js", "store/index.js");
  const { create, clock, close } = await openClient(sandbox.address);
  const withoutNotes = () => (fields) => create("ConversionEvent", fields);
  const journals = []; // kept: their files stay open until this process ends, as in a real run
  const withNotes = () => {
    const journal = new Journal({
      folder: mkdtempSync(join(folder, "journal-")),
      stack: "organization/bench/dev",
      clock,
      newMark: randomUUID,
      maxWaitMs: 0,
    });
    journals.push(journal);
    return async (fields) => {
      const key = `ConversionEvent::organization/bench/dev::${fields.event_name}`;
      const fingerprint = fingerprintOf(fields);
      const { sending, ended } = await journal.begin({ key, fingerprint, mark: randomUUID() });
      const { id } = await create("ConversionEvent", fields, sending);
      await ended({ kind: "created", id });
    };
  };

  const perSecond = { withoutNotes: [], withNotes: [] };
  const ways = Object.entries({ withoutNotes, withNotes });
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [name, way] of round % 2 === 0 ? ways : ways.toReversed()) {
        await sandbox.reset(); // ends the session too: it is opened before the clock starts
        const { id } = await create("Advertiser", { advertiser_name: "Advertiser" });
        const createOne = way();
        const begin = performance.now();
        await forEachInFlight(CREATES, (i) => createOne(fieldsOf(i, Number(id))));
        if (round >= 0) perSecond[name].push(CREATES / ((performance.now() - begin) / 1000)); // the first only warms up
      }
    }
  } finally {
    await close();
  }
  return { ...perSecond, creates: CREATES, inFlight: IN_FLIGHT };
}
