/**
 * One of several processes that share a cookie file: the built package's client with real time.
 * session-processes.test.ts starts it with its task as JSON in the argument, and says over IPC when to begin.
 *
 * `dieAtCall`: it kills itself right before that file-system call, without a chance to clean up.
 */
import "../support/cheap-scrypt.mjs";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { baseUrl, cookieFile, keepLoggedIn, names, dieAtCall } = JSON.parse(process.argv[2]);

/** From now on, so that what the modules need to load does not count. */
function countCalls() {
  process.umask(0); // so that only the code itself makes files private
  let calls = 0;
  for (const name of Object.keys(fs).filter((name) =>
    /^(open|write|fsync|close|link|rename|rm|mkdir)\w*Sync$/.test(name),
  )) {
    const original = fs[name];
    fs[name] = (...args) => {
      if (++calls === dieAtCall) process.kill(process.pid, "SIGKILL");
      return original(...args);
    };
  }
  syncBuiltinESMExports();
}

const dist = new URL("../../provider/dist/", import.meta.url);
const load = (path) => import(new URL(path, dist).href);
const { advertiser } = await load("kinds/advertiser-kind.js");
const { systemClock } = await load("base/clock.js");
const { Client, secretsIn } = await load("client/index.js");
const { createTransport } = await load("client/transport.js");

const settings = {
  baseUrl,
  email: "ops@example.com",
  password: "sandbox-password",
  authMode: "session",
  keepLoggedIn,
  authenticatePath: "rest/authenticate",
  requestTimeoutSeconds: 60,
  maxWaitSeconds: 120,
  maxConcurrentRequests: 4,
};
const said = [];
const transport = createTransport({ settings });
const client = new Client({
  settings,
  transport,
  clock: systemClock,
  cookieFile,
  credentialsSource: "advertising:email and advertising:password",
  secrets: secretsIn({ settings }),
  say: (message) => said.push(message),
});

async function create(name) {
  try {
    const fields = { advertiser_name: name };
    return await client.create({
      kind: advertiser,
      operation: advertiser.create,
      fields,
      label: name,
      beforeSend: async () => undefined,
      onCreated: async () => undefined,
    });
  } catch (error) {
    return { failure: error.message };
  }
}

process.once("message", async () => {
  if (dieAtCall !== undefined) countCalls();
  const endings = await Promise.all(names.map(create));
  await transport.close();
  process.send({ endings, said }, () => process.disconnect());
});
process.send("ready");
