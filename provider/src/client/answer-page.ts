/**
 * What can be read of a body that is no data: a page of HTML, or a text. Pure.
 */
import { holdsHtml, tokensOf } from "./answer-markup.js";
import { isSecretName } from "./names.js";
import type { Clean, IsEcho } from "./redact.js";

/** What runs on in a line. Every other tag begins a new block. */
const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);

/** A page longer than this is told by its sentences: menus and the like come before them. */
const LONG = 400;

/** @param clean comes before anything is taken apart: a secret may hold a line's end, or what looks like a tag. */
export function visibleText(body: string, isHtml: boolean, clean: Clean, isEcho: IsEcho): string {
  if ((isHtml || looksLikeHtml(body)) && holdsHtml(body)) return pageText(clean(body), isEcho);
  return clean(body.replace(/^\ufeff/, ""))
    .split(/(?<=[\r\n])/)
    .filter((line) => !isEcho(line))
    .join("");
}

/** A sentence as it stands in data; where it is HTML, what is visible of it. */
export function visibleSentence(text: string, clean: Clean): string {
  return looksLikeHtml(text) && holdsHtml(text) ? pageText(clean(text), () => false) : text;
}

function looksLikeHtml(text: string): boolean {
  return /^\s*</.test(text) || /<\/[a-z]/i.test(text);
}

/** The title first, then what is visible. */
function pageText(html: string, isEcho: IsEcho): string {
  const page = readPage(html);
  const title = isEcho(page.title) ? "" : oneLine(page.title);
  const blocks = withoutNamedCells(page.blocks.map(oneLine)).filter((block) => block !== title && !isEcho(block));
  const isLong = blocks.reduce((sum, block) => sum + block.length, 0) > LONG;
  const sentences = blocks.filter((block) => block.split(" ").length > 3);
  const text = (isLong && sentences.length > 0 ? sentences : blocks)
    .map((block, at, all) => (at === all.length - 1 || /[.!?:;,]$/.test(block) ? block : `${block};`))
    .join(" ");
  if (!/<(html|head|body|title)\b|<!doctype/i.test(html)) return text;
  if (title === "") return text === "" ? "" : `an HTML page: ${text}`;
  return `an HTML page titled "${title}"${text === "" ? "" : `: ${text}`}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** A table of settings, as debug pages show it, has a name in one cell and the value in the next. */
function withoutNamedCells(blocks: readonly string[]): string[] {
  return blocks.filter((block, at) => {
    const before = blocks[at - 1] ?? "";
    return /\s/.test(block) || before.split(" ").length > 3 || !isSecretName(before);
  });
}

/** @returns what is visible, a paragraph, heading, cell or the like each, as it is written but for tags and entities. */
function readPage(html: string): { readonly title: string; readonly blocks: readonly string[] } {
  const blocks = [""];
  let title = "";
  let inTitle = false;
  for (const { kind, text } of tokensOf(html, true)) {
    if (kind !== "text") {
      if (text === "title") inTitle = kind === "open" && title === "";
      else if (!INLINE.has(text)) blocks.push("");
    } else if (inTitle) {
      title += text;
    } else {
      blocks.push(`${blocks.pop()}${text}`);
    }
  }
  return { title: title.trim(), blocks: blocks.map((block) => block.trim()).filter((block) => block !== "") };
}
