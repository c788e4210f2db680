/** What must never be printed: a text is decoded, the secrets are looked for, and where one came from is masked. */
import { type Decoded, digitsIn, unescaped } from "./decode.js";

const MASK = "[secret]";

/**
 * Cookies may rotate with every answer. An echo can only hold one that an in-flight request was sent with, or one that
 * came just before; so this many of the newest are enough, and a long run does not grow.
 */
const MIN_PASSING = 1024;

/** So often Base64 or hexadecimal digits are decoded: a header in a body that is itself encoded. */
const MAX_DEPTH = 2;

type Span = readonly [start: number, end: number];

/** Masks registered secrets in texts. One for a process. */
export class Secrets {
  readonly #lasting = new Set<string>();
  #passing = new Set<string>();
  #needles = new Needles();

  /** Registers a secret for good. Empty values are ignored. */
  add(secret: string | undefined): void {
    if (secret === undefined || this.#lasting.has(secret)) return;
    this.#lasting.add(secret);
    this.#needles.add(secret);
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

  /** `text` with each registered secret replaced by `[secret]`, in whatever encoding it stands there. */
  scrub(text: string): string {
    let scrubbed = "";
    let done = 0;
    for (const [start, end] of [...this.#find(text)].sort(([a], [b]) => a - b)) {
      if (start >= done) scrubbed += text.slice(done, start) + MASK;
      done = Math.max(done, end);
    }
    return scrubbed + text.slice(done);
  }

  /** How many characters and candidates were looked at: the cost so far, on any machine. */
  get steps(): number {
    return this.#needles.steps;
  }

  /** The parts of `text` that stand for a secret. */
  *#find(text: string, depth = 0): Generator<Span> {
    const all = unescaped(text);
    if (all === undefined) return yield [0, text.length];
    for (const decoded of all) {
      for (const span of this.#needles.find(decoded.text)) yield originOf(decoded, span);
    }
    if (depth === MAX_DEPTH) return;
    // The first one too: what stands before the digits can make an escape of them.
    for (const view of new Set([...all.slice(0, 1), ...all.slice(-1)])) {
      for (const { start, end, decoded } of digitsIn(view.text, this.#needles.shortest)) {
        if (this.#find(decoded, depth + 1).next().done !== true) yield originOf(view, [start, end]);
      }
    }
  }
}

/** An escape that stands for several characters is taken as a whole. */
function originOf({ origins }: Decoded, [start, end]: Span): Span {
  let after = end;
  while (origins[after] === origins[end - 1]) after++;
  return [origins[start] as number, origins[after] as number];
}

/** Finds which of many secrets stand in a text, at a cost that does not grow with their number. */
class Needles {
  readonly #needles = new Set<string>();
  /** By the hash of how they begin: their lengths. Those that begin alike are looked up as one. */
  readonly #lengths: (Set<number> | undefined)[] = new Array(HASHES);
  shortest = Number.POSITIVE_INFINITY;
  steps = 0;

  /** Also with its escapes decoded, since those of a text are. */
  add(secret: string): void {
    for (const text of [secret, ...(unescaped(secret) ?? []).map((decoded) => decoded.text)]) {
      const needle = fold(text);
      if (needle === "") continue;
      let hash = 0;
      for (let n = 0; n < Math.min(HASHED, needle.length); n++) hash = hashWith(hash, needle.charCodeAt(n));
      this.#needles.add(needle);
      this.#lengths[hash] = (this.#lengths[hash] ?? new Set()).add(needle.length);
      this.shortest = Math.min(this.shortest, needle.length);
    }
  }

  find(text: string): Span[] {
    const found: Span[] = [];
    const folded = fold(text);
    this.steps += folded.length;
    for (let at = 0; at < folded.length; at++) {
      const end = Math.min(at + HASHED, folded.length);
      for (let n = at, hash = 0; n < end; n++) {
        hash = hashWith(hash, folded.charCodeAt(n));
        const lengths = this.#lengths[hash];
        if (lengths === undefined) continue;
        this.steps += lengths.size;
        for (const length of lengths) {
          const candidate = folded.slice(at, at + length);
          if (this.#needles.has(candidate)) found.push([at, at + candidate.length]);
        }
      }
    }
    return found;
  }
}

/** So many characters are hashed, into so many numbers. */
const HASHED = 3;
const HASHES = 2 ** 16;

function hashWith(hash: number, code: number): number {
  return (hash * 31 + code) & (HASHES - 1);
}

/** Forms write a space as `+`, and some writers change the case. The length stays. */
function fold(text: string): string {
  // The only letters whose lower case is longer, or depends on what follows.
  const letters = text.toWellFormed().replaceAll("\u0130", "i").replaceAll("\u03a3", "\u03c3");
  return letters.toLowerCase().replaceAll("+", " ");
}
