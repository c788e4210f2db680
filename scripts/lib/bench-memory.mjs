import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, forEachInFlight, IN_FLIGHT, openClient } from "./bench-creates.mjs";
import { importCompiled } from "./paths.mjs";

const CREATES = 2000;

/** Creates per second through the real client, without an engine, with and without the memory's records; `rounds` of each, alternating. */
export async function measureMemory({ folder, sandbox, rounds }) {
  const [{ fingerprintOf }, { Memory, memoryPath }] = await importCompiled("kinds/index.js", "store/index.js");
  const { create, clock, close } = await openClient(sandbox.address);
  const withoutRecords = () => (fields) => create("ConversionEvent", fields);
  const withRecords = () => {
    const place = { backend: "file:///bench", stack: "organization/bench/dev" };
    const path = memoryPath(place, mkdtempSync(join(folder, "memory-")));
    const memory = new Memory({ ...place, path, clock, newUnique: randomUUID, maxWaitMs: 0 });
    return async (fields) => {
      await memory.expectUsable();
      const key = `ConversionEvent::${fields.event_name}`;
      const record = { key, body: fingerprintOf(fields), mark: randomUUID() };
      const { id } = await create("ConversionEvent", fields, (at) => memory.sending({ ...record, at }));
      await memory.made(key, id);
    };
  };

  const perSecond = { withoutRecords: [], withRecords: [] };
  const ways = Object.entries({ withoutRecords, withRecords });
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
