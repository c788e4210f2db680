/**
 * Masks registered secrets in every text that leaves the process. Each secret is looked for in the spellings that a single
 * writer gives it, computed once when it is registered, as CI systems do: as it is, percent-encoded, in JSON, in HTML, in
 * hexadecimal digits, and in Base64 at each of the three offsets. A number is looked for among the numbers of the text, because its
 * digits may also be part of an id.
 */

const MASK = "[secret]";

/**
 * Cookies may rotate with every answer. An echo can only hold one that an in-flight request was sent with, or one that
 * came just before; so this many of the newest are enough, and a long run does not grow.
 */
const MIN_PASSING = 512;

/** A number as JSON or a person writes it; or a character reference, whose digits are none. */
const NUMBER = /%[\da-f]{2}|\\u[\da-f]{4}|&#x?[\da-f]+;|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?/gi;

export class Secrets {
  readonly #lasting = new Set<string>();
  readonly #numbers = new Set<number>();
  #passing = new Set<string>();
  #needles = new Needles();

  /** Registers a secret for good. Empty values are ignored. */
  add(secret: string | undefined): void {
    if (secret === undefined || this.#lasting.has(secret)) return;
    this.#lasting.add(secret);
    this.#needles.add(secret);
  }

  /** Registers a number for good. */
  addNumber(secret: number): void {
    this.#numbers.add(Math.abs(secret));
  }

  /** Registers one of many that replace each other; the oldest are forgotten. */
  addPassing(secret: string): void {
    const isKnown = this.#passing.delete(secret);
    this.#passing.add(secret);
    if (!isKnown) this.#needles.add(secret);
    if (this.#passing.size <= 2 * MIN_PASSING) return;
    this.#passing = new Set([...this.#passing].slice(-MIN_PASSING));
    this.#needles = new Needles();
    for (const kept of [...this.#lasting, ...this.#passing]) this.#needles.add(kept);
  }

  /** `text` with each registered secret replaced by `[secret]`, in each of its spellings. */
  scrub(text: string): string {
    let scrubbed = "";
    let done = 0;
    for (const [start, end] of this.#needles.find(text)) {
      if (start >= done) scrubbed += text.slice(done, start) + MASK;
      done = Math.max(done, end);
    }
    return this.#withoutNumbers(scrubbed + text.slice(done));
  }

  #withoutNumbers(text: string): string {
    if (this.#numbers.size === 0) return text;
    return text.replace(NUMBER, (written) => (this.#numbers.has(Number(written.replaceAll(",", ""))) ? MASK : written));
  }

  /** How many characters and candidates were looked at: the cost so far, on any machine. */
  get steps(): number {
    return this.#needles.steps;
  }
}

/** So many characters of a needle find it. */
const BEGINNING = 3;

/** Finds which of many needles stand in a text, at a cost that does not grow with their number. */
class Needles {
  readonly #needles = new Set<string>();
  /** By how they begin: the lengths of the needles, the longest first. */
  readonly #lengths = new Map<string, number[]>();
  steps = 0;

  add(secret: string): void {
    for (const needle of spellingsOf(secret)) {
      this.#needles.add(needle);
      const beginning = needle.slice(0, BEGINNING);
      const lengths = new Set(this.#lengths.get(beginning)).add(needle.length);
      this.#lengths.set(
        beginning,
        [...lengths].sort((a, b) => b - a),
      );
    }
  }

  /** @returns where the longest needle at each place begins and ends, in the order of the text. */
  *find(text: string): Generator<readonly [start: number, end: number]> {
    this.steps += text.length;
    for (let at = 0; at < text.length; at++) {
      const end = this.#endAt(text, at);
      if (end !== undefined) yield [at, end];
    }
  }

  #endAt(text: string, at: number): number | undefined {
    for (let count = BEGINNING; count > 0; count--) {
      const lengths = this.#lengths.get(text.slice(at, at + count)) ?? [];
      this.steps += lengths.length;
      const length = lengths.find((each) => this.#needles.has(text.slice(at, at + each)));
      if (length !== undefined) return at + length;
    }
    return undefined;
  }
}

/** Every spelling of a secret; none of an empty one. */
function spellingsOf(secret: string): Set<string> {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(secret.toWellFormed());
  const everyByte = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const hex = bytes.toString("hex");
  const spellings = new Set([
    secret,
    secret.toWellFormed(),
    hex,
    hex.toUpperCase(),
    ...jsonOf(secret),
    ...htmlOf(secret),
  ]);
  // Forms write a space as `+`, and more or fewer characters are left as they are.
  const stricter = percent.replace(/[!'()*~]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const each of [percent, stricter, encodeURI(secret.toWellFormed()), everyByte]) {
    for (const spelling of [each, each.replaceAll("%20", "+")]) {
      spellings.add(spelling);
      spellings.add(spelling.replace(/%[\dA-Fa-f]{2}/g, (byte) => byte.toLowerCase()));
      spellings.add(spelling.replace(/%[\dA-Fa-f]{2}/g, (byte) => byte.toUpperCase()));
    }
  }
  for (const each of base64Of(bytes)) {
    spellings.add(each);
    spellings.add(each.replaceAll("+", "-").replaceAll("/", "_"));
  }
  spellings.delete("");
  return spellings;
}

/** Between the quotes of JSON: as `JSON.stringify` writes it, in ASCII alone, and each with slashes escaped. */
function jsonOf(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const escaped = (digits: (code: string) => string) =>
    plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`);
  const all = [plain, escaped((code) => code), escaped((code) => code.toUpperCase())];
  return [...all, ...all.map((each) => each.replaceAll("/", "\\/"))];
}

const QUOTES: readonly (readonly [quote: string, apostrophe: string])[] = [
  ["&quot;", "&#39;"],
  ["&quot;", "&#039;"],
  ["&quot;", "&apos;"],
  ["&quot;", "&#x27;"],
  ["&#34;", "&#39;"],
  ["&#x22;", "&#x27;"],
  ["&quot;", "'"],
  ['"', "'"],
];

/** As writers of HTML escape it: they differ in how they write quotes. */
function htmlOf(secret: string): string[] {
  const plain = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return QUOTES.map(([quote, apostrophe]) => plain.replaceAll('"', quote).replaceAll("'", apostrophe));
}

/** A piece of Base64 this short may stand anywhere. */
const MIN_DIGITS = 4;

/**
 * The digits that are the secret's alone, whatever stands before and behind it: so it is found within longer data, such as
 * `user:password`, at whichever of the three offsets it begins.
 */
function base64Of(bytes: Buffer): string[] {
  const pieces = [0, 1, 2].flatMap((offset) => {
    const digits = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = Math.ceil((offset * 8) / 6);
    // At the end of the data its last digit, and the padding, are known too.
    const toTheEnd = digits.slice(start);
    return [digits.slice(start, Math.floor(((offset + bytes.length) * 8) / 6)), toTheEnd.replace(/=+$/, ""), toTheEnd];
  });
  return pieces.filter((piece) => piece.length >= MIN_DIGITS);
}
