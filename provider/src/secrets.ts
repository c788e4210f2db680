/**
 * What must never be printed, and the function that removes it, by value, in every spelling in which it may come back.
 */

const MASK = "[secret]";
/** Below this length a fragment of Base64 is too short to tell from other text. */
const MIN_FRAGMENT = 8;

/** Removes registered secrets from texts. One for a process: whatever is registered is removed from then on. */
export class Secrets {
  readonly #spellings = new Set<string>();
  #pattern: RegExp | undefined;

  /** Registers a value, with its percent-encoded, Base64 and JSON-escaped spellings. Empty values are passed over. */
  add(secret: string | undefined): void {
    if (secret === undefined || secret === "") return;
    for (const spelling of spellingsOf(secret)) this.#spellings.add(spelling);
    this.#pattern = undefined;
  }

  /** `text` with each registered secret replaced by `[secret]`. */
  scrub(text: string): string {
    if (this.#spellings.size === 0) return text;
    this.#pattern ??= new RegExp(
      [...this.#spellings]
        .sort((a, b) => b.length - a.length) // the longest first, so that no half of one is left
        .map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
        .join("|"),
      "gi", // percent-encoding may use either case
    );
    return text.replace(this.#pattern, MASK);
  }
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
