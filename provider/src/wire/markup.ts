/**
 * HTML as the text that a reader of it would see, XML as data. Both in one pass and leniently: error pages are seldom
 * valid. Pure. By hand, since no more than this is needed of a parser: nothing here is shown as HTML again.
 */

export interface Page {
  readonly title: string;
  /** What is visible, a paragraph, heading, cell or the like each, as it is written but for tags and entities. */
  readonly blocks: readonly string[];
}

const HTML_TAG =
  /<\/?(?:html|head|body|title|h[1-6]|p|div|span|br|hr|[uod]l|li|table|t[rhd]|pre|code|[abi]|em|strong|font|center|section|article|main|header|form|input|script|style|meta|link|img|small|blockquote|d[td])\b[^<>]*>/i;
/** What runs on in a line. Every other tag begins a new block. */
const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);
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

/** The visible text of a page. */
export function readPage(html: string): Page {
  const blocks: string[] = [];
  let title = "";
  let block = "";
  let inTitle = false;
  const endBlock = () => {
    if (block.trim() !== "") blocks.push(block.trim());
    block = "";
  };
  for (const { kind, text } of tokensOf(html, true)) {
    if (kind === "text") {
      if (inTitle) title += text;
      else block += text;
    } else if (text === "title") {
      inTitle = kind === "open" && title === "";
    } else if (!INLINE.has(text)) {
      endBlock();
    }
  }
  endBlock();
  return { title: title.trim(), blocks };
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
function* tokensOf(markup: string, isHtml: boolean): Generator<Token> {
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

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", copy: "\u00a9", reg: "\u00ae", middot: "\u00b7" },
  ...{ hellip: "\u2026", mdash: "\u2014", ndash: "\u2013", bull: "\u2022", times: "\u00d7", euro: "\u20ac" },
  ...{ lsquo: "\u2018", rsquo: "\u2019", ldquo: "\u201c", rdquo: "\u201d", laquo: "\u00ab", raquo: "\u00bb" },
  ...{
    auml: "\u00e4",
    ouml: "\u00f6",
    uuml: "\u00fc",
    Auml: "\u00c4",
    Ouml: "\u00d6",
    Uuml: "\u00dc",
    szlig: "\u00df",
  },
  ...{ eacute: "\u00e9", egrave: "\u00e8", ecirc: "\u00ea", agrave: "\u00e0", acirc: "\u00e2", ccedil: "\u00e7" },
  ...{ ocirc: "\u00f4", iacute: "\u00ed", oacute: "\u00f3", uacute: "\u00fa", aacute: "\u00e1", ntilde: "\u00f1" },
};

/** `text` with its entities as the characters that they stand for. */
export function decoded(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (entity, hex, decimal, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] as string) : entity;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** Only A to Z, so that the length stays. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
