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

/** Removes registered secrets from texts. One for a process. */
export class Secrets {
  readonly #lasting = new Set<string>();
  readonly #passing = new Set<string>();
  #pattern: RegExp | undefined;

  /** Registers a secret for good; every spelling of it is removed. Empty values are passed over. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret === "" || this.#lasting.has(secret)) return;
    this.#lasting.add(secret);
    this.#pattern = undefined;
  }

  /** Registers one of many that replace each other; the oldest are forgotten. */
  addPassing(secret: string): void {
    if (secret === "" || this.#passing.has(secret)) return;
    this.#passing.add(secret);
    if (this.#passing.size > MAX_PASSING) this.#passing.delete(this.#passing.values().next().value as string);
    this.#pattern = undefined;
  }

  /** `text` with each registered secret replaced by `[secret]`. */
  scrub(text: string): string {
    if (this.#lasting.size + this.#passing.size === 0) return text;
    this.#pattern ??= patternOf([...this.#lasting, ...this.#passing]);
    return text.replace(this.#pattern, MASK);
  }
}

function patternOf(secrets: readonly string[]): RegExp {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  const alternatives = [...spellings]
    .sort((a, b) => b.length - a.length) // the longest first, so that no half of one is left
    .map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(alternatives.join("|"), "gi"); // percent-encoding may use either case
}

function spellingsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret.toWellFormed());
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const html = secret
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return [
    secret,
    percent,
    percent.replaceAll("%20", "+"),
    everyBytePercentEncoded(secret),
    json,
    json.replaceAll("/", "\\/"),
    ascii,
    html,
    Buffer.from(secret).toString("hex"),
    ...base64Fragments(secret),
  ];
}

function everyBytePercentEncoded(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
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
