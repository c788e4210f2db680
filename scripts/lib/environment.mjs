import { delimiter, dirname, join } from "node:path";
import { inRoot, localFolder } from "./paths.mjs";

/**
 * The environment of runs of ours: Node.js and the CLI first on PATH, and none of the user's own Pulumi or advertising settings, so
 * that no run touches the user's login, stacks or ad account.
 */
export function runEnvironment(node, cli) {
  const path = [
    dirname(node),
    cli,
    inRoot("node_modules", ".bin"),
    process.env.PATH,
    inRoot("node_modules", "@pulumi", "pulumi"), // pulumi-resource-pulumi-nodejs, for a CLI that came without it
  ];
  return {
    ...without(process.env, /^(PULUMI|ADVERTISING)_|^PATH$|^NO_PROXY$/i), // Windows spells it Path
    // Pulumi's Node.js side would ask an https_proxy in small letters for its own engine on this machine.
    no_proxy: [process.env.no_proxy ?? process.env.NO_PROXY, "127.0.0.1", "localhost"].filter(Boolean).join(","),
    PATH: path.filter(Boolean).join(delimiter),
    PULUMI_HOME: join(localFolder, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true", // all that is needed is there: a missing plugin is a mistake, not a download
  };
}

function without(variables, names) {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.test(name)));
}
