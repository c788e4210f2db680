/** The creates that are measured without an engine. */
import { importCompiled } from "./paths.mjs";

export const IN_FLIGHT = 16;

/** The request of one event. */
export const fieldsOf = (i, advertiser_id) => ({
  event_name: `Event ${i}`,
  advertiser_id,
  event_type_id: 0,
  value: 25,
  count_unique: true,
  click_window: 604800,
  view_window: 86400,
  attribution: "ALL",
});

/**
 * Our client with a new session, kept in memory. `create` takes the kind's name, and what is done right before its request is sent.
 * @param address the sandbox's
 */
export async function openClient({ url, email, password }) {
  const [{ kindNamed }, { readSettings }, { Client, systemSurroundings }] = await importCompiled(
    "kinds/index.js",
    "settings/index.js",
    "client/index.js",
  );
  const environment = {
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ADVERTISING_MAX_CONCURRENT_REQUESTS: String(IN_FLIGHT),
  };
  const reading = readSettings({ config: () => undefined, environment, mayLackPassword: false });
  const surroundings = systemSurroundings(reading, undefined, () => {});
  const client = new Client(reading.settings, surroundings);
  return {
    clock: surroundings.clock,
    create: (kind, fields, beforeSend = async () => {}) =>
      client.create({
        operation: kindNamed(kind).create,
        fields,
        label: "bench",
        beforeSend,
        onCreated: async () => undefined,
      }),
    close: () => surroundings.transport.close(),
  };
}

/** Calls `work` with 0, 1, … up to `count`, so many at once. */
export async function forEachInFlight(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}
