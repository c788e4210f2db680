import { Agent } from "undici";
import { fieldsOf, forEachInFlight, IN_FLIGHT, openClient } from "./bench-creates.mjs";
import { median, table } from "./bench-table.mjs";

/** At a latency of 0 a round takes a fraction of a second, so there are many: what else the machine does is then in few of them. */
const LOADS = {
  0: { creates: 3000, rounds: 25 },
  50: { creates: 1000, rounds: 5 },
};
/** Until the code of both is compiled. */
const WARM_UP_ROUNDS = 2;

/**
 * The client alone against bare undici on the same sandbox, in pairs whose order alternates: creates a second, and CPU a create of this
 * process. Without the memory of creates, which is measured by itself.
 * @param sandboxes by latency in milliseconds, each in a process of its own
 */
export async function measureClient({ sandboxes }) {
  const rows = [];
  for (const [latencyMs, sandbox] of sandboxes) {
    const { creates, rounds } = LOADS[latencyMs];
    const pairs = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      const order = Object.entries({ undici: bareUndici, client: ourClient });
      const pair = {};
      for (const [name, begin] of round % 2 === 0 ? order : order.toReversed()) {
        pair[name] = await measureOne(begin, sandbox, creates);
      }
      if (round >= 0) pairs.push(pair);
    }
    const of = (name, what) => median(pairs.map((pair) => pair[name][what]));
    const ratioOf = (what) => median(pairs.map(({ client, undici }) => client[what] / undici[what]));
    const quickest = (name) => Math.max(...pairs.map((pair) => pair[name].perSecond));
    rows.push([
      `${latencyMs} ms`,
      String(rounds),
      ...["undici", "client"].map((name) => of(name, "perSecond").toFixed(0)),
      ratioOf("perSecond").toFixed(3),
      (quickest("client") / quickest("undici")).toFixed(3),
      ...["undici", "client"].map((name) => of(name, "cpuMs").toFixed(3)),
      ratioOf("cpuMs").toFixed(2),
    ]);
    console.log(`  latency ${latencyMs} ms: ${ratioOf("perSecond").toFixed(3)} of bare undici`);
  }
  const head = [
    "the platform's latency",
    "pairs",
    "undici, creates/s",
    "client, creates/s",
    "client / undici",
    "of the quickest rounds",
    "undici, CPU ms",
    "client, CPU ms",
    "client / undici, CPU",
  ];
  return `${IN_FLIGHT} in flight. Medians, of the ratios those of pairs; the quickest round of each is the one that other work on the machine disturbed least:\n\n${table(head, rows)}`;
}

async function measureOne(begin, sandbox, creates) {
  await sandbox.reset();
  const { create, close } = await begin(sandbox.address);
  await forEachInFlight(IN_FLIGHT, create); // each connection is opened before the clock starts
  const cpu = process.cpuUsage();
  const started = performance.now();
  await forEachInFlight(creates, create);
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await close();
  return { perSecond: creates / seconds, cpuMs: (user + system) / 1000 / creates };
}

/**
 * The least that does the same, as a program does it that uses undici: the same headers and body for each request, encoded anew, on as many
 * connections; the body read to its end and parsed, and the id taken from where this sandbox puts it. The cookie is read once.
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

async function ourClient(address) {
  const { create, close } = await openClient(address);
  const { id } = await create("Advertiser", { advertiser_name: "Advertiser" });
  return { create: (i) => create("ConversionEvent", fieldsOf(i, Number(id))), close };
}
