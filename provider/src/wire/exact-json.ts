/**
 * JSON with integers of any size: an id above 2^53 must come and go digit by digit.
 */

/** What ES2023's types do not know yet of JSON; Node has it from version 21 on. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/** Parses JSON; integers that a number can't hold exactly become a string of their digits. @throws SyntaxError, RangeError */
export function parseExact(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
      ? source
      : value,
  );
}

/** `digits` as a JSON number, for {@link JSON.stringify}. */
export function exactInteger(digits: string): unknown {
  return exact.rawJSON(digits);
}
