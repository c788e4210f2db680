/**
 * At which installation, with which account: what a resource belongs to. Short, for every resource's state holds it; not
 * a secret. Its form is a contract with that state.
 */
import type { Settings } from "./settings.js";

/** `<host>[:<port>][/<path prefix>] <e-mail>`; empty where the settings name none. */
export function accountOf({ baseUrl, email }: Pick<Settings, "baseUrl" | "email">): string {
  if (!URL.canParse(baseUrl) || email === undefined) return "";
  const { host, pathname } = new URL(baseUrl);
  // An e-mail's case is not told apart by any known platform, and is typed either way.
  return `${host}${pathname.replace(/\/$/, "")} ${email.toLowerCase()}`;
}
