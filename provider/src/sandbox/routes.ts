/**
 * Which operation of the platform a request asks for. Pure.
 */
import type { SandboxOptions } from "./options.js";

export type Operation = "authenticate" | "advertiser" | "event";

export interface Route {
  readonly operation: Operation;
  /** Whether it was asked for as `…/strict`: a create that refuses unknown fields. */
  readonly strict: boolean;
}

/** Of 0.5, and wherever clients of 2.0 log in: that path is not documented. */
const DEFAULT_AUTHENTICATE_PATHS = ["*/authenticate"];

const CREATE = /^\/rest\/(advertiser|event)(\/strict)?$/;

/** @returns nothing where there is no such operation. */
export function routeOf(
  method: string | undefined,
  url: string | undefined,
  { pathPrefix = "", authenticatePaths = DEFAULT_AUTHENTICATE_PATHS }: SandboxOptions,
): Route | undefined {
  const whole = (url ?? "").split("?")[0] ?? "";
  if (method !== "POST" || !whole.startsWith(`${pathPrefix}/`)) return undefined;
  const path = whole.slice(pathPrefix.length);
  if (authenticatePaths.some((pattern) => isFor(pattern, path))) return { operation: "authenticate", strict: false };
  const [, noun, strict] = CREATE.exec(path) ?? [];
  return noun === undefined ? undefined : { operation: noun as Operation, strict: strict !== undefined };
}

function isFor(pattern: string, path: string): boolean {
  return pattern.startsWith("*") ? path.endsWith(pattern.slice(1)) : path === pattern;
}
