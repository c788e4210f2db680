/** Which operation of the platform a request asks for. Pure. */
import { type AllOptions, NOUNS, type Noun, type SandboxOperation } from "./options.js";

export interface Route {
  readonly operation: SandboxOperation;
  /** Of anything but a login. */
  readonly noun: Noun;
  /** Of a read, an update and a delete. */
  readonly id: number;
  /** Whether a create refuses unknown fields. */
  readonly isStrict: boolean;
  /** Of a search: the text that each field contains. */
  readonly filters: URLSearchParams;
}

/** Logins are served at any path that ends so: the path of a 2.0 login isn't documented. */
const LOGIN = "/authenticate";
/** `/rest/event`, `/rest/event/strict`, `/rest/event/5`. */
const OBJECTS = new RegExp(
  `^/rest/(?<noun>${NOUNS.join("|")})(?:/(?:(?<strict>strict)|(?<id>\\d+)))?$`,
);

const BY_METHOD = new Map<string, SandboxOperation>([
  ["GET", "read"],
  ["PUT", "update"],
  ["PATCH", "update"],
  ["DELETE", "delete"],
]);

/** @returns `undefined` for anything that the platform doesn't serve. */
export function routeOf(method: string, url: string, options: AllOptions): Route | undefined {
  const { pathPrefix, operations } = options;
  const [wholePath = "", query] = url.split("?");
  if (!wholePath.startsWith(`${pathPrefix}/`)) return undefined;
  const path = wholePath.slice(pathPrefix.length);

  const { noun, strict, id } = OBJECTS.exec(path)?.groups ?? {};
  const routeTo = (operation: SandboxOperation): Route => ({
    operation,
    noun: noun as Noun,
    id: Number(id),
    isStrict: strict !== undefined,
    filters: new URLSearchParams(query),
  });
  if (method === "POST" && path.endsWith(LOGIN)) return routeTo("authenticate");
  if (noun === undefined) return undefined;
  if (method === "POST" && id === undefined) return routeTo(noun as Noun);
  if (!operations || strict !== undefined) return undefined;
  if (id === undefined) return method === "GET" ? routeTo("search") : undefined;
  const operation = BY_METHOD.get(method);
  return operation && routeTo(operation);
}
