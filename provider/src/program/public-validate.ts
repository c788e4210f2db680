/** The public function `validate`. */
import { ArgumentsError, asRecord, withPage } from "../base/index.js";
import { KINDS, SETS, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { show, validate as validateAgainst } from "../rules/index.js";
import type { Problem } from "../rules/problem.js";
import { idsOf, isNotPlain } from "./ids.js";

/** What the rules depend on if an installation differs from the API's documentation. */
export interface ValidateOptions {
  /** The longest window in seconds, as the setting `maxWindowSeconds`. @default 2592000, which is 30 days */
  maxWindowSeconds?: number;
}

/**
 * Checks arguments against the rules of a resource, without a program: nothing is declared, sent or read. What is an
 * Output or a Promise is taken as given, as in a preview. What depends on more than one resource (an id that is adopted
 * twice) is left to the program.
 *
 * @param kind the resource's class: `"Advertiser"`, `"ConversionEvent"` or `"ConversionEventSet"`.
 * @param args as its constructor takes them.
 * @returns everything that is wrong, by property; empty where the arguments fit.
 * @throws an error with the code `ADVERTISING_ARGUMENTS` where `kind` is none of these.
 *
 * @example
 * for (const { property, reason } of advertising.validate("ConversionEvent", row)) console.error(`${property} ${reason}`);
 */
export function validate(
  kind: "Advertiser" | "ConversionEvent" | "ConversionEventSet",
  args: object,
  options: ValidateOptions = {},
): Problem[] {
  const kinds = [...KINDS, ...SETS];
  const found = kinds.find(({ name }) => name === kind);
  if (found === undefined) {
    const names = kinds.map(({ name }) => `"${name}"`).join(", ");
    throw new ArgumentsError(withPage(`validate: expected one of ${names}; got ${show(kind)}`, ArgumentsError.code));
  }
  const { maxWindowSeconds = THIRTY_DAYS_IN_SECONDS } = options;
  const rules = found.rules({ maxWindowSeconds, markField: undefined });
  const ids = idsOf(found, asRecord(args));
  return [...validateAgainst(ids, rules, { isUnknown: isNotPlain }).problems];
}
