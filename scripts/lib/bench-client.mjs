import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { Agent } from "undici";
import { fieldsOf, forEachInFlight, IN_FLIGHT } from "./bench-creates.mjs";
import { median, table } from "./bench-table.mjs";
import { inRoot } from "./paths.mjs";

const CREATES = 4000;

/**
 * The client alone against bare undici on the same sandbox: creates a second, and CPU a create. Without the journal, which is measured by
 * itself.
 * @param sandboxes by latency in milliseconds
 */
export async function measureClient({ sandboxes, rounds }) {
  const rows = [];
  for (const [latencyMs, sandbox] of sandboxes) {
    const creates = latencyMs === 0 ? CREATES : CREATES / 4;
    const ways = { undici: [], client: [] };
    for (let round = -1; round < rounds; round++) {
      const order = [
        ["undici", bareUndici],
        ["client", ourClient],
      ];
      for (const [name, begin] of round % 2 === 0 ? order : order.toReversed()) {
        await sandbox.reset();
        const { create, close } = await begin(sandbox.address);
        await forEachInFlight(IN_FLIGHT, create); // each connection is opened before the clock starts
        const cpu = process.cpuUsage();
        const started = performance.now();
        await forEachInFlight(creates, create);
        const seconds = (performance.now() - started) / 1000;
        const { user, system } = process.cpuUsage(cpu);
        await close();
        if (round >= 0) ways[name].push({ perSecond: creates / seconds, cpuMs: (user + system) / 1000 / creates });
      }
    }
    const ratios = ways.client.map(({ perSecond }, at) => perSecond / ways.undici[at].perSecond);
    const of = (name, what) => median(ways[name].map((each) => each[what]));
    rows.push([
      `${latencyMs} ms`,
      ...["undici", "client"].map((name) => of(name, "perSecond").toFixed(0)),
      median(ratios).toFixed(3),
      ...["undici", "client"].map((name) => of(name, "cpuMs").toFixed(3)),
    ]);
    console.log(`  latency ${latencyMs} ms: ${median(ratios).toFixed(3)} of bare undici`);
  }
  const head = [
    "the platform's latency",
    "undici, creates/s",
    "client, creates/s",
    "client / undici",
    "undici, CPU ms",
    "client, CPU ms",
  ];
  return `${IN_FLIGHT} in flight, medians of ${rounds}:\n\n${table(head, rows)}`;
}

/** The least that does the same: a session, JSON, and the id out of the answer. */
async function bareUndici({ url, email, password }) {
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  const post = async (path, cookie, fields) => {
    const { headers, body } = await agent.request({
      origin: url,
      path,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", cookie },
      body: JSON.stringify(fields),
    });
    return { headers, answer: await body.json() };
  };
  const login = await post("/rest/authenticate", "", { email, password });
  const cookie = [login.headers["set-cookie"]]
    .flat()
    .map((line) => line.split(";")[0])
    .join("; ");
  const advertiser = await post("/rest/advertiser", cookie, { advertiser_name: "Advertiser" });
  const advertiserId = advertiser.answer.payload.id;
  return {
    create: async (i) => {
      const { answer } = await post("/rest/event", cookie, fieldsOf(i, advertiserId));
      if (answer.payload?.id === undefined) throw new Error(JSON.stringify(answer));
    },
    close: () => agent.close(),
  };
}

async function ourClient({ url, email, password }) {
  const [{ kindNamed }, { systemClock }, { readSettings }, { connect, secretsIn, transportFor }] = await Promise.all(
    ["kinds/registry.js", "clock.js", "config/read-settings.js", "lifecycle/connect.js"].map(
      (path) => import(pathToFileURL(inRoot("provider", "dist", path)).href),
    ),
  );
  const environment = {
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ADVERTISING_MAX_CONCURRENT_REQUESTS: String(IN_FLIGHT),
  };
  const reading = readSettings({ config: () => undefined, environment, mayLackPassword: false });
  const transport = transportFor(reading);
  const client = connect(reading.settings, {
    transport,
    clock: systemClock,
    random: Math.random,
    newId: randomUUID,
    cookieFile: undefined,
    secrets: secretsIn(reading),
    say: () => {},
  });
  const create = (kind, fields) =>
    client.create({
      operation: kindNamed(kind).create,
      fields,
      label: "bench",
      beforeSend: async () => {},
      onCreated: async () => undefined,
    });
  const { id } = await create("Advertiser", { advertiser_name: "Advertiser" });
  return {
    create: (i) => create("ConversionEvent", fieldsOf(i, Number(id))),
    close: () => transport.close(),
  };
}
