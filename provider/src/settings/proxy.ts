/** The environment's proxy: the first variable that isn't empty. No I/O. */
import { BlockList, isIPv6 } from "node:net";
import { isLoopback, type SettingProblem } from "./settings.js";

export interface ProxySetting {
  /** Contains the credentials, so it is never printed. */
  url: string;
  host: string;
  /** The variable that it came from, such as `HTTPS_PROXY`. */
  variable: string;
  /** The list of `NO_PROXY`, which undici reads. */
  noProxy: string;
  /** The credentials in the spellings that were given or are sent. */
  secrets: readonly string[];
}

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/**
 * Loopback addresses bypass the proxy: through it, they would mean the proxy's own machine.
 * @param baseUrl `undefined` if it could not be read
 */
export function readProxy(
  environment: NodeJS.ProcessEnv,
  baseUrl: string | undefined,
  problems: SettingProblem[],
) {
  const variable = VARIABLES.find((name) => environment[name]?.trim());
  if (variable === undefined) return undefined;
  const noProxy = environment.no_proxy?.trim() || environment.NO_PROXY || "";
  const hostname = baseUrl && new URL(baseUrl).hostname;
  if (hostname && (isLoopback(hostname) || isInNetwork(hostname, noProxy)))
    return undefined;
  try {
    const url = proxyUrl(environment[variable]?.trim() ?? "");
    return { url: url.href, host: url.host, variable, noProxy, secrets: secretsOf(url) };
  } catch {
    problems.push({
      source: variable,
      reason: "expected [http://][user:password@]host:port, percent-encoded",
      command: `export ${variable}=http://proxy.example.com:3128`,
    });
    return undefined;
  }
}

/** Whether a host is an address in a network of the list, such as `10.0.0.0/8`, which undici doesn't understand. */
function isInNetwork(hostname: string, list: string) {
  const address = hostname.replace(/^\[|\]$/g, "");
  const networks = new BlockList();
  for (const [, network = "", bits] of list.matchAll(/([^\s,]+)\/(\d+)/g))
    try {
      networks.addSubnet(network, Number(bits), familyOf(network));
    } catch {
      // No network, such as a text with too many bits: it names no host either.
    }
  return networks.check(address, familyOf(address));
}

function familyOf(address: string) {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

/** @throws URIError, TypeError */
function proxyUrl(value: string) {
  // curl and Go (so the Pulumi CLI too) read `host:port` without a scheme as http://.
  if (/^[^/?#\\]+:\d+\/?$/.test(value)) return new URL(`http://${value}`);
  // With an unencoded `/`, `?` or `#` in the password, URL would take a part of the password for the host.
  if (!/^https?:\/\/[^/?#\\]+\/?$/i.test(value)) throw new URIError();
  return new URL(value);
}

/** The user name is a secret only without a password; beside one it may be any short word, so it stays readable. */
function secretsOf({ username, password }: URL) {
  if (username + password === "") return [];
  return [String, decodeURIComponent].flatMap((spelled) => {
    const user = spelled(username);
    const secret = spelled(password);
    return [secret || user, `${user}:${secret}`];
  });
}
