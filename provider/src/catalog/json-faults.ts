/**
 * Why a text is no JSON, in JSON's words and with the places: the engine's own messages have no place for most, and the
 * library that finds the places of values reads more than JSON.
 */
import { quoted } from "../base/index.js";

interface JsonFault {
  readonly offset: number;
  /** Completes "is not read as JSON: …". */
  readonly reason: string;
}

const SPACE = "[ \\t\\n\\r]+";
const TEXT = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[\\da-fA-F]{4}))*"';
const NUMBER = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?(?![\\w.])";
const PART = new RegExp(`${SPACE}|${TEXT}|${NUMBER}|true|false|null|[{}[\\],:]`, "y");
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\/|#.*/y;

/** @returns none for JSON. After a comment and a stray comma it goes on, so that all of them are listed. */
export function jsonFaults(text: string): JsonFault[] {
  const message = parseMessage(text);
  if (message === undefined) return [];
  const faults: JsonFault[] = [];
  let last = { part: "", offset: 0 };
  for (let offset = 0, part = ""; offset < text.length; offset += part.length) {
    const comment = partAt(COMMENT, text, offset);
    part = comment ?? partAt(PART, text, offset) ?? "";
    if (comment !== undefined) {
      faults.push({ offset, reason: "it has a comment, which JSON does not have: remove it" });
      continue;
    }
    if (part === "") return [...faults, { offset, reason: reasonFor(text.slice(offset)) }];
    if (part.trim() === "") continue;
    if (last.part === "," && /^[}\]]$/.test(part)) {
      faults.push({
        offset: last.offset,
        reason: `there is a comma before ${part}: remove it`,
      });
    } else if (OUT_OF_PLACE.test(last.part + part)) {
      return [
        ...faults,
        { offset, reason: `${part} comes where a value or a name is expected` },
      ];
    }
    last = { part, offset };
  }
  if (faults.length > 0) return faults;
  return [misplaced(message, text)];
}

/** Two parts that can't follow each other. */
const OUT_OF_PLACE = /^([:,[{][,:]|:[}\]])$/;

function parseMessage(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function partAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

/** @param rest begins with what is no part of JSON. */
function reasonFor(rest: string): string {
  if (/^[+.\d-]|^(NaN|Infinity)\b/.test(rest))
    return "a number is not written as in JSON, such as 0.5 or -3";
  if (/^[\p{L}_$'`‘’“”„«]/u.test(rest))
    return "names and texts need double quotes in JSON; true, false and null are in small letters";
  if (rest.startsWith('"'))
    return "a text has no end, or holds a line break, a tab or an escape that JSON does not allow";
  return `${quoted([...rest][0] ?? "")} is not expected here`;
}

/** Each part is JSON's, and one is missing or in the wrong place. The engine then mostly knows where. */
function misplaced(message: string, text: string): JsonFault {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  const offset = position === undefined ? text.length : Number(position);
  return { offset, reason: message.replace(/(?: in JSON)? at position.*$/s, "") };
}
