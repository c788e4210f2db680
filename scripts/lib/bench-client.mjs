/** Creates through the client, and through bare undici, without an engine and without the journal. */
import { pathToFileURL } from "node:url";
import { Agent } from "undici";
import { inRoot } from "./base.mjs";

const IN_FLIGHT = 16;
const CREATES = 3000;
/** A round takes a fraction of a second, so there are many: what else the machine does is then in few of them. */
const PAIRS = 25;
/** Rounds before the measurement, until the code of both is compiled. */
const WARM_UP = 2;

const fieldsOf = (i, advertiser_id) => ({
  event_name: `Event ${i}`,
  advertiser_id,
  event_type_id: 0,
  value: 25,
  count_unique: true,
  click_window: 604800,
  view_window: 86400,
  attribution: "ALL",
});

/** Client and bare undici on one sandbox, in pairs of alternating order: medians of creates a second and of ratios. */
export async function measureClient(sandbox) {
  const undici = [];
  const client = [];
  for (let pair = -WARM_UP; pair < PAIRS; pair++) {
    const order = [
      [bareUndici, undici],
      [ourClient, client],
    ];
    for (const [begin, perSecond] of pair % 2 === 0 ? order : order.toReversed()) {
      const one = await measureOne(begin, sandbox);
      if (pair >= 0) perSecond.push(one);
    }
  }
  const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(PAIRS / 2)];
  const ratio = median(client.map((perSecond, pair) => perSecond / undici[pair]));
  return { undici: median(undici), client: median(client), ratio, pairs: PAIRS };
}

async function measureOne(begin, sandbox) {
  await sandbox.reset();
  const { create, close } = await begin(sandbox.address);
  await forEachInFlight(IN_FLIGHT, create); // each connection is opened before the clock starts
  const started = performance.now();
  await forEachInFlight(CREATES, create);
  const seconds = (performance.now() - started) / 1000;
  await close();
  return CREATES / seconds;
}

/** Calls `work` with 0, 1, … up to `count`, with a fixed number in flight. */
async function forEachInFlight(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/**
 * The least that does the same with undici: each request has the same headers and body, encoded anew, on as many
 * connections; answers are read whole and parsed, the id taken where this sandbox puts it. The cookie is read once.
 */
async function bareUndici({ url, email, password }) {
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  const post = async (path, cookie, fields) => {
    const { statusCode, headers, body } = await agent.request({
      origin: url,
      path,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", cookie },
      body: JSON.stringify(fields),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
    return { headers, answer: JSON.parse(text) };
  };
  const login = await post("/rest/authenticate", "", { email, password });
  const cookie = [login.headers["set-cookie"]]
    .flat()
    .map((line) => line.split(";")[0])
    .join("; ");
  const advertiser = await post("/rest/advertiser", cookie, {
    advertiser_name: "Advertiser",
  });
  const advertiserId = advertiser.answer.payload.id;
  return {
    create: async (i) => {
      const { answer } = await post("/rest/event", cookie, fieldsOf(i, advertiserId));
      if (answer.payload?.id === undefined) throw new Error(JSON.stringify(answer));
    },
    close: () => agent.close(),
  };
}

/** Our client with a new session, kept in memory. */
export async function ourClient({ url, email, password }) {
  const modules = ["kinds", "settings", "client"].map(
    (name) => import(pathToFileURL(inRoot("provider", "dist", name, "index.js")).href),
  );
  const [{ kindsByName }, { readSettings }, { Client, secretsIn, systemDependencies }] =
    await Promise.all(modules);
  const environment = {
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ADVERTISING_MAX_CONCURRENT_REQUESTS: String(IN_FLIGHT),
  };
  const reading = readSettings({
    config: () => undefined,
    environment,
    mayLackPassword: false,
  });
  const secrets = secretsIn(reading);
  const dependencies = systemDependencies(reading, undefined, secrets, () => {});
  const client = new Client(dependencies);
  const create = (kind, fields) =>
    client.create({
      kind: kindsByName[kind],
      operation: kindsByName[kind].create,
      fields,
      label: "bench",
      beforeSend: async () => {},
      onCreated: async () => undefined,
    });
  const { id } = await create("Advertiser", { advertiser_name: "Advertiser" });
  return {
    create: (i) => create("ConversionEvent", fieldsOf(i, Number(id))),
    close: () => dependencies.transport.close(),
  };
}
