/** What a build from source tells its reader: how long it will take, and how much of it is done. Nothing here reads a clock. */

const counted = (number) => number.toLocaleString("en-US");

/**
 * Measured from empty caches, in seconds of one core: the compilers work for 400, and 40 s are spent waiting for downloads and linking,
 * which more cores do not shorten. A machine may be half as fast, or busy, so the answer is a range.
 */
export function estimate(cores) {
  const seconds = 40 + 400 / cores;
  const minutes = (value) => Math.max(1, Math.round(value / 60));
  return `about ${minutes(seconds)} to ${minutes(2 * seconds)} minutes on ${cores} core${cores === 1 ? "" : "s"}`;
}

/**
 * Whether a line that `go build -v` or `go list` writes is progress: a package's import path, or a module that is downloaded.
 * Everything else is a message.
 */
export const isPackage = (line) => /^[\w.~+/-]+$/.test(line);
export const isModule = (line) => line.startsWith("go: downloading ");

/** The message in Go's output: its last lines, without the progress. */
export function messageIn(output) {
  return output
    .split("\n")
    .filter((line) => !isPackage(line) && !isModule(line))
    .slice(-20)
    .join("\n")
    .trim();
}

/** Cuts text that arrives in pieces into lines. */
export function lineReader(onLine) {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) onLine(line);
  };
}

/**
 * Shows the parts done: on a terminal in one line that is rewritten, elsewhere (a log) in at most nine lines a program.
 * On a terminal nothing is written before `show`, since another program, npm, may be drawing there.
 */
export class BuildProgress {
  #write;
  #isTerminal;
  #columns;
  #isShown;
  #heldLines = [];
  #current = new Map();
  #tenths = new Map();

  constructor({ write, isTerminal, columns = 80 }) {
    this.#write = write;
    this.#isTerminal = isTerminal;
    this.#columns = columns;
    this.#isShown = !isTerminal;
  }

  show() {
    this.#isShown = true;
    for (const line of this.#heldLines.splice(0)) this.line(line);
    this.#rewrite();
  }

  /** A line that stays. */
  line(text) {
    if (!this.#isShown) this.#heldLines.push(text);
    else this.#write(`${this.#isTerminal ? "\r\x1b[K" : ""}  ${text}\n`);
  }

  /** How many modules of a program were downloaded so far; how many there will be is known only at the end. */
  downloaded(program, modules) {
    this.#set(program, `${counted(modules)} modules downloaded`);
  }

  /** How many of a program's packages were given to the compiler so far. Go names them as it starts with them. */
  compiled(program, packages, total) {
    const text = `${counted(packages)} of ${counted(total)} packages${packages < total ? "" : ", linking"}`;
    this.#set(program, text);
    const tenth = Math.floor((packages * 10) / total);
    if (this.#isTerminal || packages >= total || tenth <= (this.#tenths.get(program) ?? 0)) return;
    this.#tenths.set(program, tenth);
    this.line(`${program}: ${text}`);
  }

  /** Says for good what became of a program's step. */
  done(program, text) {
    this.#current.delete(program);
    this.line(`${program}: ${text}`);
    this.#rewrite();
  }

  /** Removes the line that was being rewritten, so that a message starts in a clean one. */
  end() {
    this.#current.clear();
    if (this.#isTerminal && this.#isShown) this.#write("\r\x1b[K");
  }

  #set(program, text) {
    this.#current.set(program, text);
    this.#rewrite();
  }

  #rewrite() {
    if (!this.#isTerminal || !this.#isShown || this.#current.size === 0) return;
    const text = [...this.#current].map(([program, state]) => `${program}: ${state}`).join("; ");
    this.#write(`\r\x1b[K${`  ${text}`.slice(0, this.#columns - 1)}`);
  }
}
