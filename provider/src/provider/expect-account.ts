/**
 * Holds what the state says of a resource's installation and account against the current ones.
 */
import { AccountError } from "../base/index.js";

/**
 * @param recorded what the state says; nothing for resources of earlier versions, and for those that were only read.
 * @param label of the resource.
 * @throws AccountError where it is another one: what this run would create belongs to the wrong account, and what it
 *   refers to does not exist there.
 */
export function expectSameAccount(recorded: unknown, current: string, label: string): void {
  if (typeof recorded !== "string" || recorded === "" || current === "" || recorded === current) return;
  throw new AccountError(
    [
      `${label} was created at ${shown(recorded)}, and the settings now name ${shown(current)}. Nothing was sent.`,
      "  To go on with the first: set advertising:baseUrl and advertising:email back.",
      "  To use the other one: a stack of its own (`pulumi stack init`), since ids of one account mean nothing in another.",
      "  If it is the same platform and account under a new address:",
      `    npx pulumi-advertising relocate '${recorded}'`,
    ].join("\n"),
  );
}

function shown(account: string): string {
  const [place = "", email = ""] = account.split(" ");
  return `${place} as ${email}`;
}
