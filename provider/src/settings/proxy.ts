/**
 * The environment's proxy, by the rules of undici's own agent: `https_proxy`, or where that is not set or empty
 * `http_proxy`, each before its name in capitals. No I/O.
 */
import type { Environment } from "../base/index.js";
import { isLoopback, type SettingProblem } from "./settings.js";

export interface ProxySetting {
  /** With the credentials: never printed. */
  readonly url: string;
  readonly host: string;
  /** The variable that it came from, such as `HTTPS_PROXY`. */
  readonly variable: string;
  /** The list of `NO_PROXY`, which undici reads. */
  readonly noProxy: string;
  /** The credentials in the spellings that were given or are sent. */
  readonly secrets: readonly string[];
}

/** @param baseUrl if it could be read. No proxy is asked for a loopback address: there it would be the proxy's own. */
export function readProxy(
  environment: Environment,
  baseUrl: string | undefined,
): { readonly proxy?: ProxySetting; readonly problem?: SettingProblem } {
  const { variable, value } = namedLike(environment, "https_proxy", "http_proxy");
  if (value === "" || (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname)))
    return {};
  try {
    const url = proxyUrl(value);
    const { value: noProxy } = namedLike(environment, "no_proxy");
    const proxy = { url: url.href, host: url.host, variable, noProxy, secrets: secretsOf(url) };
    return { proxy };
  } catch {
    const reason =
      "expected [http://][user:password@]host:port, percent-encoded; " +
      "got another value, which is not shown";
    const command = `export ${variable}=http://proxy.example.com:3128`;
    return { problem: { source: variable, reason, command } };
  }
}

/** The first that has a value. A name in small letters that is set counts before its capitals, also where it is empty. */
function namedLike(environment: Environment, ...names: string[]) {
  for (const name of names) {
    const variable = environment[name] === undefined ? name.toUpperCase() : name;
    const value = environment[variable]?.trim() ?? "";
    if (value !== "") return { variable, value };
  }
  return { variable: "", value: "" };
}

/** @throws URIError, TypeError */
function proxyUrl(value: string): URL {
  // `host:port` without a scheme is what curl, Go and so the Pulumi CLI take as http://.
  if (/^[^/?#\\]+:\d+\/?$/.test(value)) return new URL(`http://${value}`);
  // A password with an unencoded character ends up in a path, and a part of it in what would be taken for the host.
  if (!/^https?:\/\/[^/?#\\]+\/?$/i.test(value))
    throw new URIError("a path, or another scheme");
  return new URL(value);
}

/** Without a password the user name is what lets one in; with one it may be any short word, and is left readable. */
function secretsOf({ username, password }: URL): string[] {
  if (username + password === "") return [];
  const decoded = { user: decodeURIComponent(username), secret: decodeURIComponent(password) };
  const spellings = [{ user: username, secret: password }, decoded];
  return spellings.flatMap(({ user, secret }) => [secret || user, `${user}:${secret}`]);
}
