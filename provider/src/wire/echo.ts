/**
 * Tells what an answer says from what it just gives back of the request. Pure.
 */
import { leavesOf } from "./leaves.js";
import { decoded } from "./markup.js";

/** Whether a text is a value that was sent. @param isField it stands under a name of the request. */
export type IsEcho = (text: string, isField?: boolean) => boolean;

/** Shorter beginnings of a value may be anything. */
const MIN_BEGINNING = 12;

/** By the values, not by the names alone: under the name of a field may stand what is wrong with it. */
export function echoOf(sent: Readonly<Record<string, unknown>>): IsEcho {
  const values = new Set<string>();
  for (const { place, value } of leavesOf(sent)) {
    const text = folded(String(value));
    if (text === "") continue;
    values.add(text);
    // As a line of a text or a page that shows the request.
    const name = folded(place?.name ?? "");
    for (const line of [`${name}: ${text}`, `${name}=${text}`, `${name} = ${text}`, `"${name}": "${text}"`])
      values.add(line);
  }
  const all = [...values];
  return (text, isField = false) => {
    const whole = folded(text);
    if (values.has(whole) || values.has(whole.replace(/,$/, ""))) return true;
    const beginning = whole.replace(/(\.{3}|\u2026)$/, "");
    if (beginning.length < MIN_BEGINNING || (beginning === whole && !isField)) return false;
    return all.some((value) => value.startsWith(beginning));
  };
}

function folded(text: string): string {
  return decoded(text).trim().replace(/\s+/g, " ").toLowerCase();
}
