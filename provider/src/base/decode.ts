/** What a text says once it is decoded, and where in the text that came from. Libraries decode; here is what is tried. */
import { decodeHTMLStrict } from "entities/decode";

export interface Decoded {
  readonly text: string;
  /** Where in the original each character begins; at the end the original's length. */
  readonly origins: Int32Array;
}

const PERCENT = /(?:%[\da-fA-F]{2})+/.source;
const ENTITY = /&#?\w{1,32};/.source;
const BACKSLASH = /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|["'/bfnrt])/.source;
/** Of all kinds together also each single backslash: in a mixture nobody knows which of them were to be doubled. */
const KINDS = [PERCENT, ENTITY, `${BACKSLASH}|\\\\\\\\`, `${PERCENT}|${ENTITY}|${BACKSLASH}|\\\\`];

/** Nobody escapes a text more often than this. */
const MAX_TIMES = 8;

/**
 * `text` as it is, then after each time that its escapes are decoded: those of one kind alone (in HTML, `C:\new` holds no
 * line break), then those of all kinds. The last one holds no escapes.
 *
 * @returns undefined where some are left after {@link MAX_TIMES}.
 */
export function unescaped(text: string): Decoded[] | undefined {
  const original = { text, origins: new Int32Array(text.length + 1).map((_, at) => at) };
  const all = new Map<string, Decoded>([[text, original]]);
  for (const kind of KINDS) {
    let last: Decoded = original;
    for (let times = 0; ; times++) {
      const next = decodeOnce(last, new RegExp(`(${kind})`));
      if (next.text === last.text) break;
      if (times === MAX_TIMES) return undefined;
      all.delete(next.text); // if it is there already, it moves to the end
      all.set(next.text, next);
      last = next;
    }
  }
  return [...all.values()];
}

function decodeOnce({ text, origins }: Decoded, escapes: RegExp): Decoded {
  const from = new Int32Array(origins.length);
  let decoded = "";
  let at = 0;
  for (const [n, part] of text.split(escapes).entries()) {
    const isEscape = n % 2 === 1;
    const characters = isEscape ? decodeEscape(part) : part;
    if (isEscape) from.fill(origins[at] as number, decoded.length, decoded.length + characters.length);
    else from.set(origins.subarray(at, at + part.length), decoded.length);
    decoded += characters;
    at += part.length;
  }
  from[decoded.length] = origins[at] as number;
  return { text: decoded, origins: from };
}

function decodeEscape(written: string): string {
  if (written.startsWith("%")) return Buffer.from(written.replaceAll("%", ""), "hex").toString();
  if (written.startsWith("&")) return decodeHTMLStrict(written);
  if (written === "\\" || written === "\\'") return written.slice(1);
  return JSON.parse(`"${written.replace("\\x", "\\u00")}"`);
}

const DIGITS = [
  { encoding: "base64", runs: /[\w+/-]+(?:[\r\n]+[\w+/-]+)*={0,2}/g, skips: [0, 1, 2, 3] },
  { encoding: "hex", runs: /[\da-f]+/gi, skips: [0, 1] },
] as const;

/** Each run of Base64 or hexadecimal digits that may hold so many bytes, decoded from each place where they may begin. */
export function* digitsIn(text: string, bytes: number): Generator<{ start: number; end: number; decoded: string }> {
  for (const { encoding, runs, skips } of DIGITS) {
    for (const { 0: run, index: start } of text.matchAll(runs)) {
      if (run.length * 0.75 < bytes) continue;
      const decoded = skips.map((skip) => Buffer.from(run.slice(skip), encoding).toString()).join("\0");
      yield { start, end: start + run.length, decoded };
    }
  }
}
