/**
 * Which operation of the platform a request asks for. Pure.
 */
import { NOUNS, type Noun, type Operation, type SandboxOptions } from "./options.js";

/** What is served with the option `operations` alone. */
export type OptionalOperation = Exclude<Operation, "authenticate" | Noun>;

export type Route =
  | {
      readonly operation: "authenticate" | Noun;
      /** Whether it was asked for as `…/strict`: a create that refuses unknown fields. */
      readonly strict: boolean;
    }
  | { readonly operation: "read" | "update" | "delete"; readonly noun: Noun; readonly id: string }
  | { readonly operation: "search"; readonly noun: Noun; readonly filters: ReadonlyMap<string, string> };

const CREATE = new RegExp(`^/rest/(${NOUNS.join("|")})(/strict)?$`);
const OBJECT = new RegExp(`^/rest/(${NOUNS.join("|")})(?:/(\\d+))?$`);

const BY_METHOD: Readonly<Record<string, "read" | "update" | "delete">> = {
  GET: "read",
  PUT: "update",
  PATCH: "update",
  DELETE: "delete",
};

/** @returns nothing where there is no such operation. */
export function routeOf(
  method: string | undefined,
  url: string | undefined,
  { pathPrefix = "", authenticatePaths = ["*/authenticate"], operations }: SandboxOptions,
): Route | undefined {
  const [whole = "", query = ""] = (url ?? "").split("?");
  if (!whole.startsWith(`${pathPrefix}/`)) return undefined;
  const path = whole.slice(pathPrefix.length);
  if (method !== "POST") return operations === true ? optionalRouteOf(method, path, query) : undefined;
  const isLogin = (pattern: string) => (pattern.startsWith("*") ? path.endsWith(pattern.slice(1)) : path === pattern);
  if (authenticatePaths.some(isLogin)) return { operation: "authenticate", strict: false };
  const [, noun, strict] = CREATE.exec(path) ?? [];
  return noun === undefined ? undefined : { operation: noun as Noun, strict: strict !== undefined };
}

/** `GET rest/event/5`, `PUT rest/event/5`, `DELETE rest/event/5`, `GET rest/event?field=value`. */
function optionalRouteOf(method: string | undefined, path: string, query: string): Route | undefined {
  const [, noun, id] = OBJECT.exec(path) ?? [];
  const operation = BY_METHOD[method ?? ""];
  if (noun === undefined || operation === undefined) return undefined;
  if (id !== undefined) return { operation, noun: noun as Noun, id };
  if (operation !== "read") return undefined;
  return { operation: "search", noun: noun as Noun, filters: new Map(new URLSearchParams(query)) };
}
