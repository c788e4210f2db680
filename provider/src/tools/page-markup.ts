/** HTML that can't be broken out of: every value that is put into it is escaped, unless it is markup already. */

export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | readonly Markup[];

/** A tagged template. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const filled = parts.map((part, index) => `${textOf(part)}${strings[index + 1] ?? ""}`);
  return new Markup(`${strings[0] ?? ""}${filled.join("")}`);
}

/** Text that is markup: never of a user's. */
export function raw(text: string): Markup {
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return String(part)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
