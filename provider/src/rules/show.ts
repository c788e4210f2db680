/**
 * Shows a value that was not accepted to its author: short, on one line, safe for a terminal.
 */
import { printable } from "../base/index.js";

const SHOWN_CHARACTERS = 60;

/** Stands for a value that only the program can tell the kind of, such as a resource; no rule accepts it. */
export class InWords {
  /** @param words completes "got …". */
  constructor(readonly words: string) {}
}

/** Describes `value` by kind and, where short, by content: `"30"` becomes `the string "30"`, an array `a list`. */
export function show(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (value instanceof InWords) return value.words;
  switch (typeof value) {
    case "string": {
      const length = [...value].length;
      if (length > SHOWN_CHARACTERS) return `a string of ${length} characters`;
      return value === printable(value) ? `the string "${value}"` : `the string ${escaped(value)}`;
    }
    case "number":
    case "boolean":
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
      return Array.isArray(value) ? "a list" : "an object";
    default:
      return `a ${typeof value}`;
  }
}

/** JSON's escapes for all that is not printable ASCII, so that control characters are visible and harmless. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
