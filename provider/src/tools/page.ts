/**
 * A stack's advertisers and conversion events as one HTML file that needs no network: for people who look things up.
 */

import { count } from "../base/index.js";
import { EventType, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { duration } from "../rules/index.js";
import { type Contents, type Entry, nameOf, type Shown, shown } from "./contents.js";

/** @param stack its name, and @param time when its state was written, ISO 8601: each is empty where the state does not say. */
export function pageOf(contents: Contents, stack: string, time: string): string {
  const { advertiserKeys } = contents;
  const { advertisers } = contents;
  const events = contents.events.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
  const open = [...advertisers, ...events].filter(isOpen);
  const title = stack === "" ? "Conversion events" : `Conversion events of ${stack}`;
  const counts = [count(advertisers.length, "advertiser"), count(events.length, "event")];
  const state = time === "" ? "" : `; state of ${minuteOf(time)}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header><h1><bdi>${title}</bdi></h1><p class="soft">${counts.join(", ")}, ${open.length} unresolved${state}</p></header>
<div class="tools"><label for="filter">Filter</label><input id="filter" type="search" autocomplete="off"><span id="said" role="status"></span></div>
<main>${[
    openSection(open),
    matrixSection(events, advertisers, advertiserKeys),
    advertiserSection(advertisers),
    eventSection(events, advertiserKeys),
  ]}</main>
<script>${raw(SCRIPT)}</script>
</body>
</html>
`.text;
}

/** The engine writes nanoseconds. */
function minuteOf(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/, "$1 $2 UTC");
}

function isOpen({ record }: Entry): boolean {
  return record !== undefined;
}

function openSection(open: readonly Entry[]): Markup {
  if (open.length === 0) return raw("");
  const items = open.map(
    (entry) =>
      markup`<li data-row>${entry.kind.name} <bdi>${entry.key}</bdi> (<bdi>${nameOf(entry)}</bdi>), sent at ${entry.record?.at ?? ""}: nobody knows whether it arrived.</li>\n`,
  );
  return markup`<section class="open" aria-labelledby="open"><h2 id="open">Unresolved (${open.length})</h2>
<p>Look in the account for each, and settle it with <code>npx pulumi-advertising pending</code>.</p>
<ul>${items}</ul></section>
`;
}

function matrixSection(
  events: readonly Entry[],
  advertisers: readonly Entry[],
  advertiserKeys: Contents["advertiserKeys"],
): Markup {
  if (events.length === 0) return raw("");
  // The two that the platform documents are worth a look even where nobody has one.
  const present = [EventType.Purchase, EventType.LandingPage, ...events.map(({ values }) => values.eventTypeId)];
  const types = [...new Set(present.map(typeOf))].toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const byAdvertiser = Map.groupBy(events, ({ values }) => shown(values.advertiserId));
  const known = advertisers.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const rows = [...new Set([...known, ...byAdvertiser.keys()])].map((id) => {
    const cells = types.map((type) => {
      const amount = (byAdvertiser.get(id) ?? []).filter(({ values }) => typeOf(values.eventTypeId) === type).length;
      const isGap = amount === 0 && type !== NO_TYPE;
      return isGap ? markup`<td class="num gap">none</td>` : markup`<td class="num">${amount}</td>`;
    });
    return markup`<tr data-row><th scope="row">${keyOf(advertiserKeys.get(id) ?? id)}</th>${cells}</tr>\n`;
  });
  const heads = types.map((type) => markup`<th scope="col" class="num">${type}</th>`);
  return markup`<section aria-labelledby="matrix"><h2 id="matrix">Events by advertiser and type</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="matrix"><table><thead><tr><th scope="col">Advertiser</th>${heads}</tr></thead>
<tbody>${rows}</tbody></table></div></section>
`;
}

const NO_TYPE = "no type";

function typeOf(value: Shown | undefined): string {
  if (value === undefined) return NO_TYPE;
  if (value === EventType.Purchase) return "0 purchase";
  if (value === EventType.LandingPage) return "1 landing page";
  return shown(value);
}

function advertiserSection(advertisers: readonly Entry[]): Markup {
  const rows = advertisers.map(
    (entry) =>
      markup`<tr role="row" data-row><th role="rowheader" scope="row">${keyOf(entry.key)}</th>${[
        cell("Name", markup`<bdi>${nameOf(entry)}</bdi>`),
        cell("Id", idCell(entry), "id"),
      ]}</tr>\n`,
  );
  return table("advertisers", "Advertisers", ["Advertiser", "Name", "Id"], rows);
}

function eventSection(events: readonly Entry[], advertiserKeys: Contents["advertiserKeys"]): Markup {
  const rows = events.map((entry) => {
    const { key, values, isEarlier } = entry;
    const advertiserId = shown(values.advertiserId);
    const note = isEarlier ? markup` <span class="soft">(lives with other arguments than these)</span>` : raw("");
    return markup`<tr role="row" data-row><th role="rowheader" scope="row">${keyOf(key)}</th>${[
      cell("Name", markup`<bdi>${nameOf(entry)}</bdi>${note}`),
      cell("Advertiser", keyOf(advertiserKeys.get(advertiserId) ?? advertiserId)),
      cell("Id", idCell(entry), "id"),
      cell("Type", markup`${typeOf(values.eventTypeId)}`),
      cell("Value", markup`${shown(values.value)}`, "num"),
      cell("Clicks", windowCell(values.clickWindow)),
      cell("Views", windowCell(values.viewWindow)),
      cell("Attribution", markup`${shown(values.attribution)}`),
    ]}</tr>\n`;
  });
  const heads = ["Event", "Name", "Advertiser", "Id", "Type", "Value", "Clicks", "Views", "Attribution"];
  return table("events", "Events", heads, rows, "Windows are drawn on a scale from 0 to 30 days.");
}

function table(id: string, title: string, heads: readonly string[], rows: readonly Markup[], caption = ""): Markup {
  if (rows.length === 0) return raw("");
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title} (${rows.length})</h2>
<table role="table" class="cards"><caption>${caption}</caption><thead role="rowgroup"><tr role="row">${heads.map(
    (head) => markup`<th role="columnheader" scope="col">${head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table></section>
`;
}

/** Its lines break after a slash, where they have to. */
function keyOf(key: string): Markup {
  return markup`<bdi>${key.split(/(?<=\/)/).map((part, index) => (index === 0 ? markup`${part}` : markup`<wbr>${part}`))}</bdi>`;
}

/** The roles stay where narrow screens show rows as cards. */
function cell(label: string, content: Markup, kind = ""): Markup {
  return markup`<td role="cell" data-label="${label}" class="${kind}">${content}</td>`;
}

function idCell(entry: Entry): Markup {
  const { id, key } = entry;
  if (id === undefined) return markup`<span class="gap">${isOpen(entry) ? "unresolved" : "none yet"}</span>`;
  return markup`<code>${id}</code> <button type="button" data-id="${id}" aria-label="Copy the id ${id} of ${key}">Copy</button>`;
}

function windowCell(seconds: Shown | undefined): Markup {
  if (typeof seconds !== "number") return markup`${shown(seconds)}`;
  const percent = Math.min(100, (seconds / THIRTY_DAYS_IN_SECONDS) * 100);
  return markup`${duration(seconds)}<span class="bar" aria-hidden="true"><i style="width:${percent.toFixed(1)}%"></i></span>`;
}

/** HTML that can't be broken out of: every value that is put into it is escaped, unless it is markup already. */
class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | readonly Markup[];

function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const filled = parts.map((part, index) => `${textOf(part)}${strings[index + 1] ?? ""}`);
  return new Markup(`${strings[0] ?? ""}${filled.join("")}`);
}

/** Text that is markup: never of a user's. */
function raw(text: string): Markup {
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return String(part)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The page's style: light and dark, wide and narrow, on screen and on paper. No address in it leads anywhere. */
const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--row:#f6f8fa;--accent:#0550ae;--bar:#0969da;--track:#d8dee4;--warn:#9a3412;--warnbg:#fff4e5}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#a5afba;--line:#3d444d;--row:#161b22;--accent:#79c0ff;--bar:#58a6ff;--track:#30363d;--warn:#ffb77c;--warnbg:#2d1f0f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1400px;padding:1rem;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .5rem}
p{margin:.3rem 0}.soft{color:var(--soft)}
bdi,code{overflow-wrap:anywhere}.cards :is(th[scope=row],[data-label=Name],[data-label=Advertiser]){min-width:9.5rem}code{font:.9em ui-monospace,monospace}
a{color:var(--accent)}
.tools{position:sticky;top:0;background:var(--bg);padding:.5rem 0;display:flex;gap:.8rem;align-items:center;flex-wrap:wrap;z-index:1}
.tools label{font-weight:600}
input{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:6px;padding:.45rem .6rem;width:min(24rem,100%)}
button{font:inherit;font-size:.85em;color:var(--accent);background:var(--bg);border:1px solid var(--accent);border-radius:6px;padding:.25rem .6rem;min-height:28px;cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%}
caption{text-align:start;color:var(--soft);padding:.2rem 0}
th,td{border-bottom:1px solid var(--line);padding:.4rem .5rem;text-align:start;vertical-align:top}
tbody tr:nth-child(even){background:var(--row)}
th{font-weight:600}thead th{color:var(--soft);font-size:.85rem}
.num{text-align:end;font-variant-numeric:tabular-nums}
.id{white-space:nowrap}
.open{background:var(--warnbg);border:1px solid var(--warn);border-radius:8px;padding:.6rem 1rem}
.open h2{margin-top:.2rem;color:var(--warn)}
.gap{color:var(--warn);font-weight:600}
.bar{display:block;width:6rem;max-width:100%;height:.55rem;border-radius:3px;background:var(--track);margin-top:.25rem}
.bar i{display:block;height:100%;border-radius:3px;background:var(--bar)}
.scroll{overflow-x:auto}
[hidden]{display:none!important}
@media (max-width:1200px){
.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cards,.cards caption,.cards tr,.cards td,.cards th{display:block;width:100%}
.cards tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:.6rem}
.cards tr{border:1px solid var(--line);border-radius:8px;padding:.3rem .4rem}
.cards td,.cards th{border:0;padding:.2rem .3rem}
.cards td::before{content:attr(data-label) ": ";color:var(--soft);font-size:.85em}
.cards .num{text-align:start}
}
@media print{
:root{--bg:#fff;--fg:#000;--soft:#333;--line:#999;--row:#fff;--bar:#333;--track:#ddd;--warn:#000;--warnbg:#fff}
.tools,button{display:none}body{max-width:none;font-size:10pt}tr{break-inside:avoid}thead{display:table-header-group}
.bar,.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
`;

/** The page's script: the filter, and the buttons that copy an id. Without it, the page still shows everything. */
const SCRIPT = `
"use strict";
const rows = [...document.querySelectorAll("[data-row]")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
const filter = document.getElementById("filter");
const said = document.getElementById("said");
const apply = () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter((word) => word !== "");
  let shown = 0;
  for (const { row, text } of rows) {
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) shown++;
  }
  said.textContent = words.length === 0 ? "" : shown + " of " + rows.length + " shown";
};
filter.addEventListener("input", apply);
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  filter.value = "";
  apply();
});
apply();
// A page that was opened as a file may have no clipboard of its own.
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (!isCopied) throw new Error("no clipboard");
  }
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-id]");
  if (button === null) return;
  copy(button.dataset.id).then(
    () => { said.textContent = "Copied " + button.dataset.id; button.focus(); },
    () => { said.textContent = "This browser does not let the page copy: select the id by hand"; },
  );
});
`;
