/** A stack's advertisers and conversion events, and what it left live, as one HTML file that needs no network: for people who look things up. */
import { count } from "../base/index.js";
import { EventType, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { duration } from "../rules/index.js";
import { type Contents, nameOf, type StoredObject, shown, valuesOf } from "./contents.js";
import type { Leftover } from "./leftovers.js";

interface About {
  /** The stack's name, and when its state was written, ISO 8601: each is empty where the state does not say. */
  readonly stack: string;
  readonly time: string;
  readonly leftovers: readonly Leftover[];
}

export function pageOf({ advertisers, events, advertiserKeys }: Contents, { stack, time, leftovers }: About): string {
  const open = [...advertisers, ...events].filter(({ record }) => record !== undefined);
  const title = stack === "" ? "Conversion events" : `Conversion events of ${stack}`;
  const ownerOf = (id: string) => keyOf(advertiserKeys.get(id) ?? id);
  const settle = open.length === 0 ? "" : markup` (see <code>npx pulumi-advertising pending</code>)`;
  const counts = `${count(advertisers.length, "advertiser")}, ${count(events.length, "event")}, ${open.length} unresolved`;
  // The engine writes nanoseconds.
  const minute = time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/, "$1 $2 UTC");
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<header><h1><bdi>${title}</bdi></h1><p class="soft">${counts}${settle}${time === "" ? "" : `; state of ${minute}`}</p></header>
<div class="tools"><label for="filter">Filter</label><input id="filter" type="search" autocomplete="off"><span id="said" role="status"></span></div>
<main>
${matrixSection(events, advertisers, ownerOf)}
${table("advertisers", "Advertisers", ["Advertiser", "Name", "Id"], advertisers.map(advertiserRow))}
${table(
  "events",
  "Events",
  EVENT_HEADS,
  events.map((event) => eventRow(event, ownerOf)),
  "Windows are drawn on a scale from 0 to 30 days.",
)}
${table("left", "Left live", ["Left live", "Kind", "Name", "Id", "Why"], leftovers.map(leftoverRow), "No longer managed by this stack: tags that were placed for these keep firing.")}
</main>
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text;
}

function matrixSection(
  events: readonly StoredObject[],
  advertisers: readonly StoredObject[],
  ownerOf: (id: string) => Markup,
): Markup | string {
  if (events.length === 0) return "";
  const described = events
    .map(valuesOf)
    .map(({ advertiserId, eventTypeId }) => [shown(advertiserId), typeOf(eventTypeId)]);
  // The two that the platform documents are worth a look even where nobody has one.
  const documented = [EventType.Purchase, EventType.LandingPage].map(typeOf);
  const types = [...new Set([...documented, ...described.map(([, type = ""]) => type)])];
  const heads = types.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const ids = new Set([...advertisers.flatMap(({ id }) => id ?? []), ...described.map(([owner = ""]) => owner)]);
  const rows = [...ids].map((id) => {
    const cells = heads.map((head) => {
      const amount = described.filter(([owner, type]) => owner === id && type === head).length;
      return amount === 0 && head !== NO_TYPE
        ? markup`<td class="num gap">none</td>`
        : markup`<td class="num">${amount}</td>`;
    });
    return markup`<tr data-row><th scope="row">${ownerOf(id)}</th>${cells}</tr>\n`;
  });
  return table("matrix", "Events by advertiser and type", ["Advertiser", ...heads], rows);
}

const NO_TYPE = "no type";

function typeOf(value: unknown): string {
  if (value === undefined) return NO_TYPE;
  if (value === EventType.Purchase) return "0 purchase";
  return value === EventType.LandingPage ? "1 landing page" : shown(value);
}

function advertiserRow(advertiser: StoredObject): Markup {
  return markup`<tr data-row><th scope="row">${keyOf(advertiser.key)}</th><td><bdi>${nameOf(advertiser)}</bdi></td>${idCell(advertiser)}</tr>\n`;
}

const EVENT_HEADS = ["Event", "Name", "Advertiser", "Id", "Type", "Value", "Clicks", "Views", "Attribution"];

function eventRow(event: StoredObject, ownerOf: (id: string) => Markup): Markup {
  const { advertiserId, eventTypeId, value, clickWindow, viewWindow, attribution } = valuesOf(event);
  return markup`<tr data-row><th scope="row">${keyOf(event.key)}</th>
<td><bdi>${nameOf(event)}</bdi></td><td>${ownerOf(shown(advertiserId))}</td>${idCell(event)}
<td>${typeOf(eventTypeId)}</td><td class="num">${shown(value)}</td>
<td>${windowOf(clickWindow)}</td><td>${windowOf(viewWindow)}</td><td>${shown(attribution)}</td></tr>\n`;
}

function leftoverRow({ kind, id, name, key, why, at }: Leftover): Markup {
  const since = at === "" ? "" : ` (${at})`;
  return markup`<tr data-row><th scope="row">${keyOf(key)}</th><td>${kind}</td><td><bdi>${name}</bdi></td><td><code>${id}</code></td><td>${why}${since}</td></tr>\n`;
}

/** What is wider than the screen scrolls on its own. */
function table(
  id: string,
  title: string,
  heads: readonly string[],
  rows: readonly Markup[],
  caption = "",
): Markup | string {
  if (rows.length === 0) return "";
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title} (${rows.length})</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="${id}"><table><caption>${caption}</caption>
<thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div></section>`;
}

/** Its lines break after a slash, where they have to. */
function keyOf(key: string): Markup {
  const parts = key.split(/(?<=\/)/).map((part, index) => (index === 0 ? markup`${part}` : markup`<wbr>${part}`));
  return markup`<bdi>${parts}</bdi>`;
}

function idCell({ id, key, record }: StoredObject): Markup {
  if (id === undefined) return markup`<td class="gap">${record === undefined ? "none yet" : "unresolved"}</td>`;
  return markup`<td class="id"><code>${id}</code> <button type="button" data-id="${id}" aria-label="Copy the id ${id} of ${key}">Copy</button></td>`;
}

function windowOf(seconds: unknown): Markup | string {
  if (typeof seconds !== "number") return shown(seconds);
  const percent = Math.min(100, (seconds / THIRTY_DAYS_IN_SECONDS) * 100).toFixed(1);
  return markup`${duration(seconds)}<span class="bar" aria-hidden="true"><i style="width:${percent}%"></i></span>`;
}

/** HTML that can't be broken out of: every value that is put into it is escaped, unless it is markup already. */
class Markup {
  constructor(readonly text: string) {}
}

function markup(
  strings: TemplateStringsArray,
  ...parts: readonly (string | number | Markup | readonly Markup[])[]
): Markup {
  const filled = parts.map((part) => {
    if (part instanceof Markup) return part.text;
    if (typeof part === "object") return part.map(({ text }) => text).join("");
    const entity = (character: string) => `&#${character.charCodeAt(0)};`;
    return String(part)
      .toWellFormed()
      .replace(/[&<>"']/g, entity);
  });
  return new Markup(String.raw({ raw: strings }, ...filled));
}

/** Light and dark, wide and narrow, on screen and on paper. No address in it leads anywhere. */
const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--row:#f6f8fa;--accent:#0550ae;--bar:#0969da;--track:#d8dee4;--warn:#9a3412}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#a5afba;--line:#3d444d;--row:#161b22;--accent:#79c0ff;--bar:#58a6ff;--track:#30363d;--warn:#ffb77c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1400px;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:1.6rem 0 .5rem}
p{margin:.3rem 0}.soft,caption,thead th{color:var(--soft)}
bdi,code{overflow-wrap:anywhere}:is(td,th)>bdi{display:inline-block;min-width:9.5rem}code{font:.9em ui-monospace,monospace}
.tools{position:sticky;top:0;background:var(--bg);padding:.5rem 0;display:flex;gap:.8rem;align-items:center;flex-wrap:wrap;z-index:1}
.tools label,th{font-weight:600}
input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:6px;padding:.45rem .6rem;width:min(24rem,100%)}
button{font:inherit;font-size:.85em;color:var(--accent);background:var(--bg);border:1px solid var(--accent);border-radius:6px;padding:.25rem .6rem;min-height:28px;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%}.scroll{overflow-x:auto}
caption{text-align:start;padding:.2rem 0}
th,td{border-bottom:1px solid var(--line);padding:.4rem .5rem;text-align:start;vertical-align:top}
tbody tr:nth-child(even){background:var(--row)}
.num{text-align:end;font-variant-numeric:tabular-nums}.id{white-space:nowrap}
.gap{color:var(--warn);font-weight:600}
.bar{display:block;width:6rem;height:.55rem;border-radius:3px;background:var(--track);margin-top:.25rem}
.bar i{display:block;height:100%;border-radius:3px;background:var(--bar)}
[hidden]{display:none!important}
@media print{
:root{--bg:#fff;--fg:#000;--soft:#333;--line:#999;--row:#fff;--bar:#333;--track:#ddd;--warn:#000}
.tools,button{display:none}body{max-width:none;font-size:10pt}.scroll{overflow:visible}tr{break-inside:avoid}
:is(td,th)>bdi{min-width:0}.bar,.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;

/** The filter, and the buttons that copy an id. Without it, the page still shows everything. */
const SCRIPT = `
"use strict";
const rows = [...document.querySelectorAll("[data-row]")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
const filter = document.getElementById("filter");
const said = document.getElementById("said");
const apply = () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
  for (const { row, text } of rows) row.hidden = !words.every((word) => text.includes(word));
  const shown = rows.filter(({ row }) => !row.hidden).length;
  said.textContent = words.length === 0 ? "" : shown + " of " + rows.length + " shown";
};
filter.addEventListener("input", apply);
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  filter.value = "";
  apply();
});
apply();
const tell = (text) => () => { said.textContent = text; };
document.addEventListener("click", ({ target }) => {
  const id = target.closest("button[data-id]")?.dataset.id;
  if (id === undefined) return;
  const copied = async () => navigator.clipboard.writeText(id);
  copied().then(tell("Copied " + id), tell("This browser does not let the page copy: select the id by hand"));
});
`;
