import { accessSync, constants, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { IN_FLIGHT } from "./bench-creates.mjs";
import { programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { run } from "./run.mjs";

/**
 * The same events by another tool: OpenTofu or Terraform with Mastercard's generic REST provider, the nearest that people use for an API
 * without a provider of its own.
 */

const TOOLS = { tofu: "OpenTofu", terraform: "Terraform" };
const PROVIDER = "terraform-provider-restapi";

/**
 * The peer as `measureSizes` takes it; none, and one line that says so, where it is not on the PATH.
 * @param path the environment's PATH
 */
export function peerOn(path, { sandbox, folder }) {
  const found = findPeer(path, isProgram);
  if (found.missing !== undefined) {
    console.log(`Without a peer's figures: ${found.missing} is not on the PATH.`);
    return undefined;
  }
  return {
    name: found.name,
    open: async (events) => {
      await sandbox.reset();
      const stack = await newStack({ peer: found, folder, address: sandbox.address, events });
      const up = async () => {
        const took = await stack.up();
        const { posts } = await sandbox.received();
        if (posts !== events + 1) throw new Problem(`${found.name} sent ${posts} creates instead of ${events + 1}.`);
        return took;
      };
      return { ...stack, up };
    },
  };
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // The next folder may have it.
  }
}

/**
 * What of it is on this machine: `{ tool, provider, name }`, or `{ missing }` in words.
 * @param path the environment's PATH
 * @param isProgram whether a file can be run
 */
export function findPeer(path, isProgram) {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  const find = (program) => folders.map((folder) => join(folder, programName(program))).find(isProgram);
  const command = Object.keys(TOOLS).find((program) => find(program) !== undefined);
  const provider = find(PROVIDER);
  const missing = [
    ...(command === undefined ? ["tofu or terraform"] : []),
    ...(provider === undefined ? [PROVIDER] : []),
  ];
  if (missing.length > 0) return { missing: missing.join(" and ") };
  return { tool: find(command), provider, name: `${TOOLS[command]} with a generic REST provider` };
}

/** Every field of an event stands here, as in the programs that it is compared with. The platform's answer holds the id in `payload`. */
const CONFIGURATION = `terraform {
  required_providers {
    restapi = { source = "mastercard/restapi" }
  }
}

variable "url" { type = string }
variable "cookie" { type = string }
variable "events" { type = number }

provider "restapi" {
  uri                   = var.url
  headers               = { Cookie = var.cookie }
  create_returns_object = true
  id_attribute          = "payload/id"
}

resource "restapi_object" "advertiser" {
  path = "/rest/advertiser"
  data = jsonencode({ advertiser_name = "Advertiser" })
}

resource "restapi_object" "event" {
  count = var.events
  path  = "/rest/event"
  data = jsonencode({
    event_name    = "Event \${count.index}"
    advertiser_id = tonumber(restapi_object.advertiser.id)
    value         = 25
    event_type_id = 0
    count_unique  = true
    click_window  = 604800
    view_window   = 86400
    attribution   = "ALL"
  })
}
`;

/** The files of a project, by name. The provider is taken from where it is, so that nothing is downloaded. */
export const peerFiles = (provider) => ({
  "main.tf": CONFIGURATION,
  "cli.tfrc": `provider_installation {
  dev_overrides {
    "mastercard/restapi" = ${JSON.stringify(dirname(provider))}
  }
}
`,
});

/**
 * A project of one advertiser and so many events, with nothing applied. The session is opened here: the provider knows no login.
 * @param peer as `findPeer` answers it
 */
async function newStack({ peer, folder, address, events }) {
  const stack = mkdtempSync(join(folder, "peer-"));
  for (const [name, text] of Object.entries(peerFiles(peer.provider))) writeFileSync(join(stack, name), text);
  const home = join(stack, "home");
  mkdirSync(home);
  const inherited = Object.entries(process.env).filter(([name]) => !/^(TF|TOFU)_/i.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    HOME: home,
    CHECKPOINT_DISABLE: "1", // it asks for newer versions otherwise
    TF_CLI_CONFIG_FILE: join(stack, "cli.tfrc"),
    TF_VAR_url: address.url,
    TF_VAR_cookie: await sessionCookie(address),
    TF_VAR_events: String(events),
  };
  const args = ["apply", "-auto-approve", "-input=false", "-no-color", `-parallelism=${IN_FLIGHT}`];
  return {
    up: async () => {
      const begin = performance.now();
      const { exitCode, output } = await run(peer.tool, args, { cwd: stack, env, capture: true });
      const seconds = (performance.now() - begin) / 1000;
      if (exitCode !== 0) throw new Problem(`${output}\n\`${peer.tool} apply\` failed: see its message above.`);
      return { seconds };
    },
    stateBytes: () => statSync(join(stack, "terraform.tfstate")).size,
  };
}

async function sessionCookie({ url, email, password }) {
  const answer = await fetch(`${url}/rest/authenticate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  const cookies = answer.headers.getSetCookie();
  if (cookies.length === 0) throw new Problem(`The sandbox's login set no cookie; it answered ${answer.status}.`);
  return cookies.map((cookie) => cookie.split(";")[0]).join("; ");
}
