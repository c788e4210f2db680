/**
 * One of several processes that share a cookie file: the built package's client with real time. shared-store-processes.test.ts
 * starts it with its task as JSON in the argument, and says over IPC when to begin.
 *
 * Without `names` it gets them in messages, and creates those of one message at once, until it is disconnected.
 * `dieAtCall`: it kills itself right before that file-system call, without a chance to clean up.
 */
import "../support/cheap-scrypt.mjs";
import { randomUUID } from "node:crypto";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { baseUrl, cookieFile, keepLoggedIn, names, dieAtCall } = JSON.parse(process.argv[2]);

if (dieAtCall !== undefined) {
  process.umask(0); // so that only the code itself makes files private
  let calls = 0;
  const counted = (target, name) => {
    const original = target[name];
    target[name] = function (...args) {
      if (++calls === dieAtCall) process.kill(process.pid, "SIGKILL");
      return original.apply(this, args);
    };
  };
  const { open } = fsp;
  fsp.open = async (...args) => {
    if (++calls === dieAtCall) process.kill(process.pid, "SIGKILL");
    const handle = await open(...args);
    for (const name of ["writeFile", "datasync", "close"]) counted(handle, name);
    return handle;
  };
  for (const name of ["mkdir", "readdir", "readFile", "rename", "stat", "link", "unlink"]) counted(fsp, name);
  syncBuiltinESMExports();
}

const dist = new URL("../../provider/dist/", import.meta.url);
const load = (path) => import(new URL(path, dist).href);
const { advertiser } = await load("kinds/advertiser-kind.js");
const { systemClock } = await load("base/clock.js");
const { Client, secretsIn, transportFor } = await load("client/index.js");

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
const transport = transportFor({ settings });
const client = new Client(settings, {
  transport,
  clock: systemClock,
  random: Math.random,
  newId: randomUUID,
  cookieFile,
  credentials: "advertising:email and advertising:password",
  secrets: secretsIn({ settings }),
  say: (message) => said.push(message),
});

async function create(name) {
  try {
    const fields = { advertiser_name: name };
    return await client.create({
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

if (names === undefined) {
  process.on("message", async (some) => process.send({ endings: await Promise.all(some.map(create)), said }));
  process.once("disconnect", () => transport.close());
} else {
  process.once("message", async () => {
    const endings = await Promise.all(names.map(create));
    await transport.close();
    process.send({ endings, said }, () => process.disconnect());
  });
}
process.send("ready");
