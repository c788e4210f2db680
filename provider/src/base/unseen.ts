/** Characters that nobody sees: their names, and the texts that look alike because of them. Pure. */
import { enumerate, excerpt } from "./text.js";

/** Characters that are invisible, or that look like a space and are none. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

/** Names for those that programs write into tables. Any other is shown by its number alone. */
const UNSEEN_NAMES: Readonly<Record<string, string>> = {
  "000A": "line break",
  "0020": "space",
  "00A0": "no-break space",
  "00AD": "soft hyphen",
  "200B": "zero-width space",
  "202F": "narrow no-break space",
  FEFF: "byte order mark",
};

const MAX_CHARACTERS_NAMED = 6;

/** `U+200B (zero-width space) and U+0301`. */
function describeCharacters(characters: Iterable<string>): string {
  return enumerate(Array.from(characters, describeCharacter), MAX_CHARACTERS_NAMED);
}

function describeCharacter(character: string): string {
  const code = codeOf(character);
  const name = UNSEEN_NAMES[code];
  if (name === undefined) return `U+${code}`;
  return `U+${code} (${name})`;
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code.toString(16).toUpperCase().padStart(4, "0");
}

/** The unseen characters in `text`, by number and name; `undefined` if there are none. */
export function unseenIn(text: string): string | undefined {
  const found = text.match(UNSEEN);
  if (found === null) return undefined;
  return describeCharacters(new Set(found));
}

/** Where unseen characters belong to a name. */
const IN_PLACE = [
  // In an emoji.
  /(?<=[\p{Emoji}\p{Emoji_Modifier}])(?:\u200d|[\ufe0e\ufe0f]|[\u{e0020}-\u{e007f}])+/gu,
  // Between letters of a script that joins them, which Latin, Greek and Cyrillic are not.
  /(?<=[^\P{L}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}]|\p{M})(?:\u200c|\u200d)/gu,
  // A space beside French punctuation.
  /[\u00a0\u202f](?=[!?:;»%€])|(?<=«)[\u00a0\u202f]/gu,
];

/** As {@link unseenIn}, without those that belong there. */
export function strayIn(text: string): string | undefined {
  return unseenIn(IN_PLACE.reduce((rest, pattern) => rest.replace(pattern, ""), text));
}

/** JSON with an escape for each unseen character. */
export function withEscapes(json: string): string {
  return json.replace(UNSEEN, (character) => {
    const code = codeOf(character).toLowerCase();
    if (code.length === 4) return `\\u${code}`;
    return `\\u{${code}}`;
  });
}

export const SHOWN_CHARACTERS = 60;

/** The first characters of a name or a cell, quoted as in JSON, with escapes for unseen characters. */
export function quoted(text: string): string {
  return withEscapes(JSON.stringify(excerpt(text, SHOWN_CHARACTERS)));
}

/** Equal for texts that look the same. */
export function looksOf(text: string): string {
  return text.normalize("NFKC").replace(UNSEEN, "");
}

/** How two texts that look the same differ; `undefined` if a reader sees the difference. */
export function unseenDifference(one: string, other: string): string | undefined {
  if (one === other || looksOf(one) !== looksOf(other)) return undefined;
  const isUneven = (character: string) =>
    one.split(character).length !== other.split(character).length;
  const uneven = describeCharacters([...new Set(one + other)].filter(isUneven));
  return `they look the same, and differ in ${uneven || "the order of their characters"}`;
}

/**
 * How a text differs from the first of its group that looks the same: `"Bu\u200by" beside "Buy": …`; `undefined` if it
 * is that first one.
 */
export function lookAlike(
  known: Map<string, string>,
  text: string,
  group = "",
): string | undefined {
  const looks = `${group} ${looksOf(text)}`;
  const first = known.get(looks);
  if (first === undefined) known.set(looks, text);
  const difference = unseenDifference(text, first ?? text);
  return difference && `${quoted(text)} beside ${quoted(first ?? text)}: ${difference}`;
}
