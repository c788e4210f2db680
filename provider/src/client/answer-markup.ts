/**
 * HTML and XML as a list of tags and texts, and XML as data. In one pass and leniently: error pages are seldom valid. Pure.
 * By hand, since no more than this is needed of a parser: nothing here is shown as HTML again. (htmlparser2 was measured:
 * 40 ms more at the start of each run, and 7 s for 640 kB of tags that are never closed.)
 */
import { decodeHTMLStrict } from "entities/decode";

const HTML_TAG =
  /<\/?(?:html|head|body|title|h[1-6]|p|div|span|br|hr|[uod]l|li|table|t[rhd]|pre|code|[abi]|em|strong|font|center|section|article|main|header|form|input|script|style|meta|link|img|small|blockquote|d[td])\b[^<>]*>/i;
/** What is not shown, or is no text. */
const HIDDEN = new Set("script style template svg math iframe object select textarea".split(" "));

/** Whether `text` holds tags of HTML at all. (What is only called HTML may be a plain sentence.) */
export function holdsHtml(text: string): boolean {
  return HTML_TAG.test(text);
}

export function looksLikeXml(text: string): boolean {
  if (/<html\b/i.test(text.slice(0, 1000))) return false;
  if (/^\s*<\?xml\b/i.test(text)) return true;
  const root = /^\s*<([A-Za-z_][\w:.-]{0,100})[\s/>]/.exec(text)?.[1];
  return root !== undefined && !HTML_TAG.test(`<${root}>`) && /(?:<\/[^<>]*|\/)>\s*$/.test(text.slice(-500));
}

interface Element {
  readonly name: string;
  readonly children: Map<string, unknown[]>;
  text: string;
}

/** Elements as properties: one without elements or attributes is its text, several of one name are a list. */
export function readXml(xml: string): unknown {
  const root = newElement("");
  const open = [root];
  for (const { kind, text, attributes } of tokensOf(xml, false)) {
    const current = open.at(-1) as Element;
    if (kind === "text") {
      current.text += text;
    } else if (kind === "open") {
      const element = newElement(localName(text));
      for (const [, name = "", double, single] of (attributes ?? "").matchAll(
        /([^\s=<>"'/]{1,100})\s{0,10}=\s{0,10}(?:"([^"]*)"|'([^']*)')/g,
      ))
        if (!name.startsWith("xmlns")) addTo(element, localName(name), decoded(double ?? single ?? ""));
      if (attributes?.endsWith("/") === true) addTo(current, element.name, dataOf(element));
      else open.push(element);
    } else if (open.length > 1) {
      // Whatever it is called: an end tag that is spelled wrongly must not lose what follows.
      open.pop();
      addTo(open.at(-1) as Element, current.name, dataOf(current));
    }
  }
  for (let last = open.pop(); last !== undefined && open.length > 0; last = open.pop())
    addTo(open.at(-1) as Element, last.name, dataOf(last));
  return dataOf(root);
}

function newElement(name: string): Element {
  return { name, children: new Map(), text: "" };
}

function addTo(element: Element, name: string, value: unknown): void {
  const values = element.children.get(name);
  if (values === undefined) element.children.set(name, [value]);
  else values.push(value);
}

function dataOf({ children, text }: Element): unknown {
  const own = text.trim();
  if (children.size === 0) return own;
  const value: Record<string, unknown> = Object.create(null);
  for (const [name, values] of children) value[name] = values.length === 1 ? values[0] : values;
  if (own !== "") value.text = value.text === undefined ? own : [value.text, own];
  return value;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

interface Token {
  /** Of a tag, `text` is the name. */
  readonly kind: "text" | "open" | "close";
  readonly text: string;
  readonly attributes?: string;
}

/** @param isHtml names in lower case, and without the content of what is not shown. */
export function* tokensOf(markup: string, isHtml: boolean): Generator<Token> {
  const lower = isHtml ? lowerCase(markup) : markup;
  const neverClosed = new Set<string>();
  const endOfTag = tagEnds(markup);
  const tagStart = /<(\/?)([A-Za-z_][^\s/>]*)|<!--|<!\[CDATA\[|<[!?]/g;
  let at = 0;
  while (at < markup.length) {
    tagStart.lastIndex = at;
    const found = tagStart.exec(markup);
    const start = found?.index ?? markup.length;
    if (start > at) yield { kind: "text", text: decoded(markup.slice(at, start)) };
    if (found === null) return;
    const [opening, slash = "", written] = found;
    if (written === undefined) {
      const [from, closing] = opening === "<!--" ? [4, "-->"] : opening === "<![CDATA[" ? [9, "]]>"] : [2, ">"];
      const end = markup.indexOf(closing, start + from);
      const upTo = end === -1 ? markup.length : end;
      if (from === 9) yield { kind: "text", text: markup.slice(start + from, upTo) };
      at = upTo + closing.length;
      continue;
    }
    const name = isHtml ? written.toLowerCase() : written;
    const end = endOfTag(start + opening.length);
    yield { kind: slash === "/" ? "close" : "open", text: name, attributes: markup.slice(start + opening.length, end) };
    at = end + 1;
    if (isHtml && slash === "" && HIDDEN.has(name) && !neverClosed.has(name)) {
      const close = lower.indexOf(`</${name}`, at);
      if (close !== -1) at = close;
      else if (name === "script" || name === "style") return;
      else neverClosed.add(name);
    }
  }
}

/**
 * Finds the `>` that ends a tag: none within the quotes of an attribute's value. The text's end where there is none. Once a
 * quote was found that is never closed, quotes don't count any more: what follows would be lost, or be read again and again.
 */
function tagEnds(markup: string): (from: number) => number {
  let quotesCount = true;
  return (from) => {
    let quote: string | undefined;
    let before = "";
    for (let at = from; quotesCount && at < markup.length; at++) {
      const character = markup.charAt(at);
      if (quote !== undefined) {
        if (character === quote) quote = undefined;
      } else if (character === ">") {
        return at;
      } else if ((character === '"' || character === "'") && before === "=") {
        quote = character;
      }
      if (character.trim() !== "") before = character;
    }
    if (quotesCount && quote === undefined) return markup.length;
    quotesCount = false;
    const end = markup.indexOf(">", from);
    return end === -1 ? markup.length : end;
  };
}

/** `text` with its entities as the characters that they stand for. */
export function decoded(text: string): string {
  return decodeHTMLStrict(text);
}

/** Only A to Z, so that the length stays. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
