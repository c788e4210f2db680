import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fieldsOf, forEachInFlight, IN_FLIGHT } from "./bench-creates.mjs";
import { inRoot } from "./paths.mjs";

const CREATES = 2000;

/** Creates per second through the real client, without an engine, with and without the journal's notes; `rounds` of each, alternating. */
export async function measureJournal({ folder, sandbox, rounds }) {
  const [{ kindNamed }, { fingerprintOf }, { readSettings }, { Journal }, { Client, systemSurroundings }] = await load(
    "kinds/index.js",
    "kinds/request.js",
    "settings/read-settings.js",
    "store/journal.js",
    "client/index.js",
  );
  const [advertiser, conversionEvent] = ["Advertiser", "ConversionEvent"].map(kindNamed);
  const { url, email, password } = sandbox.address;
  const environment = {
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ADVERTISING_MAX_CONCURRENT_REQUESTS: String(IN_FLIGHT),
  };
  const reading = readSettings({ config: () => undefined, environment, mayLackPassword: false });

  const surroundings = systemSurroundings(reading, undefined, () => {});
  const { transport, clock } = surroundings;
  const client = new Client(reading.settings, surroundings);
  const create = (operation, fields, beforeSend) =>
    client.create({ operation, fields, label: "bench", beforeSend, onCreated: async () => undefined });

  const withoutNotes = () => async (fields) => void (await create(conversionEvent.create, fields, async () => {}));
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
      const { id } = await create(conversionEvent.create, fields, sending);
      await ended({ kind: "created", id });
    };
  };

  const perSecond = { withoutNotes: [], withNotes: [] };
  const ways = Object.entries({ withoutNotes, withNotes });
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [name, way] of round % 2 === 0 ? ways : ways.toReversed()) {
        await sandbox.reset(); // ends the session too: it is opened before the clock starts
        const { id } = await create(advertiser.create, { advertiser_name: "Advertiser" }, async () => {});
        const createOne = way();
        const begin = performance.now();
        await forEachInFlight(CREATES, (i) => createOne(fieldsOf(i, Number(id))));
        if (round >= 0) perSecond[name].push(CREATES / ((performance.now() - begin) / 1000)); // the first only warms up
      }
    }
  } finally {
    await transport.close();
  }
  return { ...perSecond, creates: CREATES, inFlight: IN_FLIGHT };
}

const load = (...modules) =>
  Promise.all(modules.map((path) => import(pathToFileURL(inRoot("provider", "dist", path)).href)));
