/**
 * What must never be printed, and the function that removes it, by value, in every spelling in which it may come back.
 */

const MASK = "[secret]";
/** Below this length a fragment of Base64 is too short to tell from other text. */
const MIN_FRAGMENT = 8;

/**
 * Cookies may rotate with every answer. An echo can only hold one that a request still under way was sent with, or one that
 * came just before; so this many of the newest are enough, and a long run does not grow.
 */
const MAX_PASSING = 1024;

/** Spellings are found by so many of their first characters. */
const KEY_LENGTH = 4;

/** Removes registered secrets from texts. One for a process. */
export class Secrets {
  readonly #lasting = new Set<string>();
  readonly #passing = new Set<string>();
  readonly #index = new SpellingIndex();

  /** Registers a secret for good; every spelling of it is removed. Empty values are passed over. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret === "" || this.#lasting.has(secret)) return;
    this.#lasting.add(secret);
    if (!this.#passing.has(secret)) this.#index.add(secret);
  }

  /** Registers one of many that replace each other; the oldest are forgotten. */
  addPassing(secret: string): void {
    if (secret === "" || this.#passing.has(secret)) return;
    this.#passing.add(secret);
    if (!this.#lasting.has(secret)) this.#index.add(secret);
    if (this.#passing.size <= MAX_PASSING) return;
    const oldest = this.#passing.values().next().value as string;
    this.#passing.delete(oldest);
    if (!this.#lasting.has(oldest)) this.#index.delete(oldest);
  }

  /** `text` with each registered secret replaced by `[secret]`. */
  scrub(text: string): string {
    const folded = lowerCase(text);
    let scrubbed = "";
    let kept = 0;
    for (let at = 0; at < text.length; at++) {
      const end = this.#index.longestAt(folded, at);
      if (end === at) continue;
      scrubbed += text.slice(kept, at) + MASK;
      kept = end;
      at = end - 1;
    }
    return scrubbed + text.slice(kept);
  }
}

/**
 * Finds which spelling begins at a place. An index and not one large pattern: that would be compiled anew with every new
 * cookie, for seconds where there are a thousand, and there is a size at which it is refused.
 */
class SpellingIndex {
  /** By the length of the keys: the secrets of which a whole spelling begins with the key, and those spellings. */
  readonly #whole = Array.from({ length: KEY_LENGTH }, () => new Map<string, Map<string, string[]>>());
  /**
   * By how they begin (a key, or a special character): the secrets of which each special character may be spelled in its
   * own way, and how they go on.
   */
  readonly #mixed = new Map<Part, Map<string, readonly Part[]>>();
  readonly #firstSpecials = new Set<readonly RegExp[]>();

  add(secret: string): void {
    for (const spelling of wholeSpellingsOf(secret)) {
      const key = spelling.slice(0, KEY_LENGTH);
      const ofLength = this.#ofLength(key.length);
      const found = ofLength.get(key) ?? new Map<string, string[]>();
      ofLength.set(key, found.set(secret, [...(found.get(secret) ?? []), spelling]));
    }
    const [first, ...rest] = beginningFirst(partsOf(secret));
    if (first === undefined) return;
    this.#mixed.set(first, (this.#mixed.get(first) ?? new Map<string, readonly Part[]>()).set(secret, rest));
    if (typeof first !== "string") this.#firstSpecials.add(first);
  }

  delete(secret: string): void {
    for (const spelling of wholeSpellingsOf(secret)) {
      const key = spelling.slice(0, KEY_LENGTH);
      remove(this.#ofLength(key.length), key, secret);
    }
    const [first] = beginningFirst(partsOf(secret));
    if (first === undefined) return;
    remove(this.#mixed, first, secret);
    if (typeof first !== "string" && !this.#mixed.has(first)) this.#firstSpecials.delete(first);
  }

  /** Where the longest spelling ends that begins at `at`, so that no half of one is left; `at` where none does. */
  longestAt(folded: string, at: number): number {
    let end = at;
    for (let length = 1; length <= KEY_LENGTH; length++) {
      const key = folded.slice(at, at + length);
      for (const spellings of this.#ofLength(length).get(key)?.values() ?? []) {
        for (const spelling of spellings)
          if (folded.startsWith(spelling, at)) end = Math.max(end, at + spelling.length);
      }
      if (key.length === length) end = Math.max(end, this.#mixedEnd(key, folded, [at + length]));
    }
    for (const first of this.#firstSpecials) {
      const begun = endsOf(first, folded, [at]);
      if (begun.length > 0) end = Math.max(end, this.#mixedEnd(first, folded, begun));
    }
    return end;
  }

  /** Where the longest one ends of those that begin with `first`, which ends at one of `begun`; -1 where none does. */
  #mixedEnd(first: Part, folded: string, begun: readonly number[]): number {
    let end = -1;
    for (const rest of this.#mixed.get(first)?.values() ?? []) {
      let ends = begun;
      for (let n = 0; n < rest.length && ends.length > 0; n++) ends = endsOf(rest[n] as Part, folded, ends);
      end = Math.max(end, ...ends);
    }
    return end;
  }

  #ofLength(length: number): Map<string, Map<string, string[]>> {
    return this.#whole[length - 1] as Map<string, Map<string, string[]>>;
  }
}

function remove<K>(from: Map<K, Map<string, unknown>>, key: K, secret: string): void {
  const found = from.get(key);
  found?.delete(secret);
  if (found?.size === 0) from.delete(key);
}

/** A part of a secret: letters and digits, or the spellings of a special character, one pattern for each. */
type Part = string | readonly RegExp[];

/** Letters and digits at the beginning are cut to a key. */
function beginningFirst([first, ...rest]: readonly Part[]): Part[] {
  if (first === undefined) return [];
  if (typeof first !== "string" || first.length <= KEY_LENGTH) return [first, ...rest];
  return [first.slice(0, KEY_LENGTH), first.slice(KEY_LENGTH), ...rest];
}

/** The places where `part` may end that begins at one of `starts`. All, since one spelling may begin with another one. */
function endsOf(part: Part, folded: string, starts: readonly number[]): number[] {
  if (typeof part === "string") {
    return starts.filter((start) => folded.startsWith(part, start)).map((start) => start + part.length);
  }
  const ends = new Set<number>();
  for (const start of starts) {
    for (const pattern of part) {
      pattern.lastIndex = start;
      if (pattern.test(folded)) ends.add(pattern.lastIndex);
    }
  }
  return [...ends];
}

/** Only A to Z, so that the length stays; percent-encoding and hexadecimal digits may use either case. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The secret as a whole in each encoding, in lower case. */
function wholeSpellingsOf(secret: string): Set<string> {
  const texts = [...new Set(jsonSpellingsOf(secret))];
  const percent = encodeURIComponent(secret.toWellFormed());
  const spellings = [
    percent,
    percent.replaceAll("%20", "+"),
    htmlOf(secret),
    ...texts,
    everyBytePercentEncoded(secret),
    ...texts.map((text) => Buffer.from(text).toString("hex")),
    ...texts.flatMap(base64Fragments),
  ];
  return new Set(spellings.map(lowerCase));
}

/** The secret as it is, and as the JSON writers in use put it into a body, which may itself come back encoded. */
function jsonSpellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const texts = [secret];
  for (const text of [json, json.replaceAll("/", "\\/")]) {
    const lower = text.replace(/[^\x20-\x7e]/g, (c) => `\\u${hex(c.charCodeAt(0), 4)}`);
    const upper = text.replace(/[^\x20-\x7e]/g, (c) => `\\u${hex(c.charCodeAt(0), 4).toUpperCase()}`);
    texts.push(text, lower, upper);
  }
  return texts;
}

/**
 * The parts of a secret in which each special character may come back in any spelling of its own, since encoders differ
 * in which ones they change. None where there is no such character.
 */
function partsOf(secret: string): Part[] {
  // Backslashes in a row are taken together: apart, the ways to match them would multiply.
  const parts = lowerCase(secret).match(/[\w.~-]+|\\+|[^\w.~\\-]/gu) ?? [];
  const isPlain = (part: string) => /^[\w.~-]/.test(part);
  return parts.every(isPlain) ? [] : parts.map((part) => (isPlain(part) ? part : spellingsOfSpecial(part)));
}

function htmlOf(secret: string): string {
  return secret.replace(/[&<>"]/g, (c) => `&${ENTITY_NAMES[c]};`);
}

const ENTITY_NAMES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" };

/** Equal ones are one object: secrets that begin alike are found together. */
const spellingsOfSpecials = new Map<string, readonly RegExp[]>();

/** @param special one character, or several backslashes. */
function spellingsOfSpecial(special: string): readonly RegExp[] {
  const known = spellingsOfSpecials.get(special);
  if (known !== undefined) return known;
  const [character = ""] = special;
  const code = character.codePointAt(0) ?? 0;
  const entities = [`#0{0,5}${code}`, `#x0{0,4}${code.toString(16)}`, ENTITY_NAMES[character] ?? []].flat();
  const encoded = [
    `&(?:amp;)?(?:${entities.join("|")});`,
    [...Buffer.from(character)].map((byte) => `%(?:25)?${hex(byte, 2)}`).join(""),
    // Up to three backslashes: JSON within JSON.
    character
      .split("")
      .map((unit) => `\\\\{1,3}u${hex(unit.charCodeAt(0), 4)}`)
      .join(""),
  ];
  const patterns =
    character === "\\"
      ? [`(?:${encoded.join("|")}){${special.length}}`, ...[1, 2, 4].map((times) => `\\\\{${times * special.length}}`)]
      : [...encoded, `"'/`.includes(character) ? `\\\\{0,3}${character}` : literally(character)];
  if (CONTROL_ESCAPES[character] !== undefined) patterns.push(`\\\\{1,3}${CONTROL_ESCAPES[character]}`);
  if (character === " ") patterns.push("\\+"); // in forms
  const spellings = patterns.map((pattern) => new RegExp(pattern, "y"));
  spellingsOfSpecials.set(special, spellings);
  return spellings;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

function everyBytePercentEncoded(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => `%${hex(byte, 2)}`).join("");
}

/** What the secret looks like inside the Base64 of a longer text: one spelling for each of the three alignments. */
function base64Fragments(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const fragments: string[] = [bytes.toString("base64").replace(/=+$/, "")];
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // The first and the last character that a neighbour's bits share are not the secret's alone.
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    fragments.push(encoded.slice(Math.ceil((offset * 8) / 6), end));
  }
  return fragments
    .filter((fragment) => fragment.length >= MIN_FRAGMENT || fragment === fragments[0])
    .flatMap((fragment) => [
      fragment,
      fragment.replaceAll("+", "-").replaceAll("/", "_"),
      encodeURIComponent(fragment),
    ]);
}
