/**
 * Masks registered secrets in every text that leaves the process. A secret is found in each common encoding
 * ({@link spelled}), in both Unicode normal forms and in any case; these spellings are computed when it is registered. A
 * secret number is compared with the whole numbers in a text, because its digits may also be part of an id.
 */

const MASK = "[secret]";

/**
 * Cookies may change with every response. A response can only echo the cookie of a request in flight, or one set just
 * before. So this many of the newest are enough, and a long run's memory doesn't grow.
 */
const MIN_PASSING = 512;

/** A number as JSON or a person writes it; or a character reference, whose digits must not count as a number. */
const SPELLED_NUMBER =
  /%[\da-f]{2}|\\u[\da-f]{4}|&#x?[\da-f]+;|(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** The number of characters by which spellings are indexed. */
const BEGINNING = 3;

/** Shorter parts of an argument are not real secrets, and masking them would damage ordinary words. */
const MIN_CHARACTERS = 4;

/** Shorter spellings are masked only where they stand alone: they may be part of any word. */
const MIN_WITHIN_WORDS = 4;

export class Secrets {
  readonly #lasting = new Set<string>();
  readonly #numbers = new Set<number>();
  #passing = new Set<string>();
  readonly #names;
  /** The spellings by their first characters, so that a text's cost doesn't grow with the number of spellings. */
  #spellings = new Map<string, Set<string>>();

  /** @param names of settings, which our own texts contain: they are shown, though a secret may be a part of one. */
  constructor(names: readonly string[] = []) {
    this.#names = names.map(foldCase);
  }

  /** Registers a secret for good. Empty values are ignored. */
  add(secret: string | undefined) {
    if (secret === undefined || this.#lasting.has(secret)) return;
    this.#lasting.add(secret);
    this.#addSpellings(secret);
  }

  /** Registers every string and number in `value`, for good. @param shown the names of properties that aren't secret. */
  addWithin(value: unknown, shown: readonly string[] = []) {
    if (typeof value === "object")
      for (const [name, part] of Object.entries(value ?? {}))
        if (!shown.includes(name)) this.addWithin(part, shown);
    if (String(value).length < MIN_CHARACTERS) return;
    if (typeof value === "string") this.add(value);
    if (typeof value === "number") this.#numbers.add(Math.abs(value));
  }

  /** Registers a secret that later ones replace, such as a cookie; the oldest are forgotten. */
  addPassing(secret: string) {
    const isKnown = this.#passing.delete(secret);
    this.#passing.add(secret);
    if (!isKnown) this.#addSpellings(secret);
    if (this.#passing.size <= 2 * MIN_PASSING) return;
    this.#passing = new Set([...this.#passing].slice(-MIN_PASSING));
    this.#spellings = new Map();
    for (const kept of [...this.#lasting, ...this.#passing]) this.#addSpellings(kept);
  }

  #addSpellings(secret: string) {
    for (const spelling of variantsOf(secret).flatMap(spelled).map(foldCase)) {
      if (spelling === "") continue;
      const beginning = spelling.slice(0, BEGINNING);
      this.#spellings.set(
        beginning,
        (this.#spellings.get(beginning) ?? new Set()).add(spelling),
      );
    }
  }

  /** `text` with each registered secret replaced by `[secret]`, in each of its spellings. */
  scrub(text: string) {
    const folded = foldCase(text);
    let scrubbed = "";
    let done = 0;
    for (let start = 0; start < text.length; start++) {
      const end = start + this.#lengthAt(folded, start);
      if (end === start) continue;
      if (start >= done) scrubbed += text.slice(done, start) + MASK;
      done = Math.max(done, end);
    }
    scrubbed += text.slice(done);
    if (this.#numbers.size === 0) return scrubbed;
    return scrubbed.replace(SPELLED_NUMBER, (digits) =>
      this.#numbers.has(Number(digits.replaceAll(",", ""))) ? MASK : digits,
    );
  }

  /** The length of the longest spelling that begins at `start`; 0 if none does. */
  #lengthAt(folded: string, start: number) {
    let longest = 0;
    for (let length = 1; length <= BEGINNING; length++) {
      const spellings = this.#spellings.get(folded.slice(start, start + length)) ?? [];
      for (const spelling of spellings) {
        if (!folded.startsWith(spelling, start)) continue;
        const isShort = spelling.length < MIN_WITHIN_WORDS;
        if (isShort && isInWord(folded, start, spelling.length)) continue;
        if (this.#names.some((name) => isInName(name, folded, start, spelling))) continue;
        longest = Math.max(longest, spelling.length);
      }
    }
    return longest;
  }
}

function isInWord(text: string, start: number, length: number) {
  return [start - 1, start + length].some((at) => /[\p{L}\p{N}]/u.test(text.charAt(at)));
}

/** Whether a spelling in a text is a part of a longer name. */
function isInName(name: string, text: string, start: number, spelling: string) {
  const at = name.indexOf(spelling);
  const isPart = at >= 0 && spelling.length < name.length;
  return isPart && text.startsWith(name, start - at);
}

/** Lower case, except for characters whose lower case has another length. */
function foldCase(text: string) {
  return text.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

/** A secret in both normal forms and both cases: letters such as ß and a final ς change length or form with the case. */
function variantsOf(secret: string) {
  if (/^[\x20-\x7e]*$/.test(secret)) return [secret];
  const forms = [
    secret,
    secret.toWellFormed(),
    secret.normalize("NFC"),
    secret.normalize("NFD"),
  ];
  return forms.flatMap((form) => [form, form.toLowerCase(), form.toUpperCase()]);
}

function spelled(text: string) {
  const bytes = Buffer.from(text);
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text.toWellFormed());
  const strict = percent.replace(
    /[!'()*~]/g,
    (each) => `%${each.charCodeAt(0).toString(16)}`,
  );
  const ascii = json.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const html = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return [
    text,
    bytes.toString("hex"),
    ...base64Of(bytes),
    ...[percent, strict].flatMap((each) => [each, each.replaceAll("%20", "+")]),
    ...[json, ascii].flatMap((each) => [each, each.replaceAll("/", "\\/")]),
    ...["'", "&#39;", "&#039;", "&#x27;"].map((apostrophe) =>
      html.replaceAll("'", apostrophe),
    ),
  ];
}

/** A shorter piece of Base64 may occur anywhere by chance. */
const MIN_DIGITS = 4;

/**
 * The Base64 digits that depend only on the secret, for each of the three offsets at which it may begin within encoded
 * data. Without these, an encoded `user:password` would stay, from which anyone can decode the password.
 */
function base64Of(bytes: Buffer) {
  const pieces = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const digits = shifted.toString("base64").replace(/=+$/, "");
    const start = Math.ceil((offset * 8) / 6);
    // If the data ends with the secret, its last digit is known too.
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return [digits.slice(start, end), digits.slice(start)];
  });
  const long = pieces.filter((piece) => piece.length >= MIN_DIGITS);
  return [...long, ...long.map((piece) => piece.replaceAll("+", "-").replaceAll("/", "_"))];
}
