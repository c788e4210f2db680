/**
 * Which operation of the platform a request asks for. Pure.
 */
import type { SandboxOptions } from "./options.js";

export type Operation = "authenticate" | "advertiser" | "event";

/** @returns nothing where there is no such operation. */
export function operationOf(
  method: string | undefined,
  url: string | undefined,
  { pathPrefix = "" }: Pick<SandboxOptions, "pathPrefix">,
): Operation | undefined {
  const prefix = `${pathPrefix}/rest/`;
  const path = (url ?? "").split("?")[0] ?? "";
  const name = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  return method === "POST" && (name === "authenticate" || name === "advertiser" || name === "event") ? name : undefined;
}
