/** The environment's proxy: the first variable that isn't empty. No I/O. */
import type { Environment } from "../base/index.js";
import { isLoopback, type SettingProblem } from "./settings.js";

export interface ProxySetting {
  /** With the credentials: never printed. */
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
 * No proxy is asked for a loopback address: there it would be the proxy's own.
 * @param baseUrl `undefined` if it could not be read
 */
export function readProxy(
  environment: Environment,
  baseUrl: string | undefined,
  problems: SettingProblem[],
): ProxySetting | undefined {
  const variable = VARIABLES.find((name) => environment[name]?.trim());
  if (variable === undefined) return undefined;
  if (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname)) return undefined;
  try {
    const url = proxyUrl(environment[variable]?.trim() ?? "");
    const noProxy = environment.no_proxy ?? environment.NO_PROXY ?? "";
    const secrets = secretsOf(url);
    return { url: url.href, host: url.host, variable, noProxy, secrets };
  } catch {
    const reason =
      "expected [http://][user:password@]host:port, percent-encoded; got another value";
    const command = `export ${variable}=http://proxy.example.com:3128`;
    problems.push({ source: variable, reason, command });
    return undefined;
  }
}

/** @throws URIError, TypeError */
function proxyUrl(value: string) {
  // `host:port` without a scheme is what curl, Go and so the Pulumi CLI take as http://.
  if (/^[^/?#\\]+:\d+\/?$/.test(value)) return new URL(`http://${value}`);
  // A password with an unencoded character ends up in a path, and a part of it in what would be taken for the host.
  if (!/^https?:\/\/[^/?#\\]+\/?$/i.test(value)) throw new URIError();
  return new URL(value);
}

/** Without a password the user name is what lets one in; with one it may be any short word, and is left readable. */
function secretsOf({ username, password }: URL) {
  if (username + password === "") return [];
  const pairs = [[username, password]];
  pairs.push([decodeURIComponent(username), decodeURIComponent(password)]);
  return pairs.flatMap(([user = "", secret]) => [secret || user, `${user}:${secret}`]);
}
