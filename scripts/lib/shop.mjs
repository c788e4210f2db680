import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startSandbox } from "pulumi-advertising/sandbox";
import {
  inRoot,
  localFolder,
  Problem,
  programName,
  readJson,
  run,
  runMain,
} from "./base.mjs";

const STACK = "dev";
const AGAIN =
  "To begin again from nothing, delete the folder .pulumi-local, which holds this stack and the sandbox's objects.";
const configFile = join(localFolder, `Pulumi.${STACK}.yaml`);
const stateFolder = join(localFolder, "state");
/** The sandbox ends with each run, the stack's state stays: so what the state speaks of is kept beside it. */
const objectsFile = join(localFolder, "sandbox.json");

/** `npm start`'s main job: a real `pulumi up` of the root Pulumi.yaml against a sandbox, and what then lives there. */
await runMain(async () => {
  const sandbox = await startWhereItWas();
  const before = countOf(sandbox);
  const { port } = sandbox;
  try {
    console.log(`\nSandbox: a stand-in for the platform listens at ${sandbox.url}.\n`);
    await pulumiUp(sandbox);
  } finally {
    await sandbox.close();
    writeFileSync(`${objectsFile}.new`, JSON.stringify({ port, ...sandbox.snapshot() }));
    renameSync(`${objectsFile}.new`, objectsFile); // whole or not at all
  }
  show(sandbox, countOf(sandbox) - before);
});

/** The state remembers the address that each resource was created at: so the sandbox comes back to it. */
async function startWhereItWas() {
  const { port, ...objects } = existsSync(objectsFile) ? readJson(objectsFile) : {};
  if (port === undefined) return startSandbox();
  return startSandbox({ objects, port }).catch((error) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Problem(
      `Another program uses port ${port}, where the sandbox was and the stack expects it: end that program.\n${AGAIN}`,
    );
  });
}

async function pulumiUp({ url, email, password }) {
  mkdirSync(stateFolder, { recursive: true });
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `${pathToFileURL(stateFolder).href}?metadata=skip`, // a kill can leave the .attrs files that this omits empty
    PULUMI_CONFIG_PASSPHRASE: "of a stack that holds nothing secret",
    // Settings from the environment, not from the stack: the sandbox's address may differ from run to run.
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ADVERTISING_COOKIE_FILE: join(localFolder, "session.json"),
  };
  const pulumi = async (...args) => {
    const { exitCode } = await run(join(process.argv[2], programName("pulumi")), args, {
      cwd: inRoot(),
      env,
    });
    if (exitCode === 0) return;
    throw new Problem(
      `\`pulumi ${args[0] === "up" ? "up" : "stack init"}\` failed: see its message above.\n${AGAIN}`,
    );
  };
  if (!existsSync(configFile)) {
    // `stack init` writes the stack's file beside Pulumi.yaml; in the root it would look like one of the user's own.
    copyFileSync(inRoot("Pulumi.yaml"), join(localFolder, "Pulumi.yaml"));
    await pulumi("--cwd", localFolder, "stack", "init", STACK, "--no-select");
  }
  await pulumi(
    "up",
    "--yes",
    "--skip-preview",
    "--stack",
    STACK,
    "--config-file",
    configFile,
  );
}

function countOf({ advertisers, events }) {
  return advertisers.length + events.length;
}

function show({ advertisers, events }, created) {
  console.log(
    created === 0
      ? "Nothing changed on the sandbox. It has:"
      : `Created on the sandbox: ${created}. It now has:`,
  );
  for (const advertiser of advertisers) {
    console.log(`  advertiser ${advertiser.id}  ${advertiser.advertiser_name}`);
    for (const event of events.filter(
      ({ advertiser_id }) => advertiser_id === advertiser.id,
    )) {
      console.log(`    event ${event.id}  ${event.event_name}, value ${event.value}`);
    }
  }
}
