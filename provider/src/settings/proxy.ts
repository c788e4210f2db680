/**
 * The proxy that the environment names, by the rules of undici's own agent: `https_proxy`, or where that is not set or
 * empty `http_proxy`, each before its name in capitals. No I/O.
 */
import { isLoopback, type SettingProblem } from "./settings.js";

export interface ProxySetting {
  /** With the credentials: never printed. */
  readonly url: string;
  /** Host and port, for people. */
  readonly host: string;
  /** The variable that it came from, such as `HTTPS_PROXY`. */
  readonly variable: string;
  /** The list of `NO_PROXY`, which undici reads. */
  readonly noProxy: string;
  /** The credentials in the spellings that were given or are sent. */
  readonly secrets: readonly string[];
}

interface ProxyReading {
  readonly proxy?: ProxySetting;
  /** The variable names no usable proxy. The value may hold a password, so it is not told. */
  readonly problem?: SettingProblem;
}

const EXAMPLE = "http://proxy.example.com:3128";

/**
 * @param baseUrl the platform's address, where it could be read. A loopback address is never asked of a proxy: there it
 *   would be the proxy's own machine.
 */
export function readProxy(
  environment: Readonly<Record<string, string | undefined>>,
  baseUrl: string | undefined,
): ProxyReading {
  const given = ["https_proxy", "http_proxy"]
    .map((name) => firstOf(environment, name))
    .find(({ value }) => value !== "");
  if (given === undefined || (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname))) return {};
  const { variable, value } = given;
  const url = urlOf(value);
  const credentials = url === undefined ? undefined : credentialsOf(url, value);
  if (url === undefined || credentials === undefined) {
    const reason =
      `expected a proxy's address that begins with http:// or https:// and has no path (a user name and password in it ` +
      "are percent-encoded); got another value, which is not shown";
    return { problem: { source: variable, reason, command: `export ${variable}=${EXAMPLE}` } };
  }
  const noProxy = firstOf(environment, "no_proxy").value;
  return { proxy: { url: url.href, host: url.host, variable, noProxy, secrets: credentials } };
}

/** A name in small letters that is set counts before the one in capitals, also where it is empty. */
function firstOf(environment: Readonly<Record<string, string | undefined>>, name: string) {
  const variable = environment[name] === undefined ? name.toUpperCase() : name;
  return { variable, value: environment[variable]?.trim() ?? "" };
}

/**
 * None where the value is no address of a proxy. One with a path, query or fragment is none either: a password with
 * such a character that was not encoded ends up there, and a part of it in what would be taken for the host.
 */
function urlOf(value: string): URL | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:\/\//i.test(value) || !["http:", "https:"].includes(url.protocol))
    return undefined;
  return url.pathname === "/" && !/[?#]/.test(value) ? url : undefined;
}

/** None where they can't be decoded. */
function credentialsOf(url: URL, value: string): string[] | undefined {
  const raw = value.slice(value.indexOf("//") + 2, Math.max(value.indexOf("//") + 2, value.lastIndexOf("@")));
  if (raw === "") return [];
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    // Without a password the user name is what lets one in; with one it may be any short word, and is left readable.
    const secret = password === "" ? [user, url.username] : [password, url.password, raw.slice(raw.indexOf(":") + 1)];
    return [...new Set([...secret, `${user}:${password}`, `${url.username}:${url.password}`, raw])].filter(
      (spelling) => spelling !== "" && spelling !== ":",
    );
  } catch {
    return undefined;
  }
}
