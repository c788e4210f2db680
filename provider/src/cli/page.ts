/** A stack's advertisers, events and what it left live, as one HTML file to look things up in. It needs no network. */
import { count } from "../base/index.js";
import { EventType } from "../kinds/index.js";
import { duration } from "../rules/index.js";
import {
  contentsOf,
  type ExportedObject,
  type ExportedStack,
  nameOf,
  shown,
  stackNamesIn,
  valuesOf,
} from "./contents.js";
import { leftoversOf } from "./leftovers.js";

export function pageOf(state: ExportedStack): string {
  const { advertisers, events, advertiserKeys } = contentsOf(state.resources);
  const leftovers = leftoversOf(state, []);
  const [stack] = stackNamesIn(state);
  const open = [...advertisers, ...events].filter(({ record }) => record !== undefined);
  const title = stack === undefined ? "Conversion events" : `Conversion events of ${stack}`;
  const counts = `${count(advertisers.length, "advertiser")}, ${count(events.length, "event")}, ${open.length} unresolved`;
  const tables: readonly Table[] = [
    {
      title: "Advertisers",
      heads: ["Advertiser", "Name", "Id"],
      rows: advertisers.map((each) => [each.key, nameOf(each), idOf(each)]),
    },
    {
      title: "Events",
      heads: ["Event", "Name", "Advertiser", "Id", "Type", "Value", "Click window", "View window", "Attribution"],
      rows: events.map((event) => {
        const { advertiserId, eventTypeId, value, clickWindow, viewWindow, attribution } = valuesOf(event);
        return [
          event.key,
          nameOf(event),
          advertiserKeys.get(shown(advertiserId)) ?? shown(advertiserId),
          idOf(event),
          numberCell(eventTypeId, typeName),
          numberCell(value, String),
          numberCell(clickWindow, duration),
          numberCell(viewWindow, duration),
          shown(attribution),
        ];
      }),
    },
    {
      title: "Left live",
      about: "Live on the platform, and no longer managed by this stack. Tags that were placed for them keep firing.",
      heads: ["Resource", "Kind", "Name", "Id", "Why", "Since"],
      rows: leftovers.map(({ key, kind, name, id, why, at }) => [key, kind, name, id, why, moment(at)]),
    },
  ];
  const there = tables.filter(({ rows }) => rows.length > 0);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}${there.map(labelsOf).join("")}</style>
</head>
<body>
<h1>${escaped(title).replaceAll("/", "/<wbr>")}</h1><p>${counts}${state.time === "" ? "" : `; state of ${escaped(moment(state.time))}`}</p>
<div class="tools"><label for="filter">Filter</label><input id="filter" type="search"><span id="said" role="status"></span></div>
<main>
${there.map(htmlOf).join("\n")}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

interface Table {
  readonly title: string;
  readonly about?: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A text, which sorts as people expect; or a number in words, which sorts by the number. */
type Cell = string | { readonly text: string; readonly sort: number };

function numberCell(value: unknown, format: (value: number) => string): Cell {
  return typeof value === "number" ? { text: format(value), sort: value } : shown(value);
}

function typeName(id: number): string {
  const known = Object.entries(EventType).find(([, value]) => value === id);
  return known === undefined ? String(id) : `${known[0]} (${id})`;
}

/** `2026-03-02 10:00 UTC`. @param time as a state has it. */
function moment(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function idOf({ id, record }: ExportedObject): string {
  return id ?? (record === undefined ? "none yet" : "unresolved");
}

/** Whatever a cell holds is text. */
function htmlOf({ title, about, heads, rows }: Table): string {
  const cellOf = (cell: Cell, index: number) => {
    const { text, sort } = typeof cell === "string" ? { text: cell, sort: undefined } : cell;
    const order = sort === undefined ? "" : ` data-sort="${sort}"`;
    if (text === "") return "<td></td>";
    return `<td${order}${heads[index] === "Id" ? idMark(text) : ""}><bdi>${escaped(text)}</bdi></td>`;
  };
  return `<section aria-label="${title}"><h2>${title} (${rows.length})</h2>${about === undefined ? "" : `<p>${about}</p>`}
<table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr data-row>${row.map(cellOf).join("")}</tr>\n`).join("")}</tbody></table></section>`;
}

function idMark(id: string): string {
  return /^\d+$/.test(id) ? " data-copied" : " data-open";
}

/** On a narrow screen a row is a card, in which each value has its heading, and the name comes first. */
function labelsOf({ title, heads }: Table): string {
  const labels = heads.map((head, index) => {
    const cell = `section[aria-label="${title}"] td:nth-child(${index + 1})`;
    return head === "Name" ? `${cell}{order:-1;font-weight:600}` : `${cell}::before{content:"${head}"}`;
  });
  return `@media screen and (width<75rem){${labels.join("")}}\n`;
}

function escaped(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#1b1f24;--quiet:#59636e;--line:#d9dee4;--accent:#0b57d0;--open:#9a4b00}
@media (prefers-color-scheme:dark){:root{--page:#13161a;--card:#1d2126;--text:#e6e9ed;--quiet:#9aa4af;--line:#363d45;--accent:#8ab4f8;--open:#ffb871}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0 auto;padding:1.5rem;max-width:96rem;background:var(--page);color:var(--text);font:15px/1.45 system-ui,sans-serif}
h1,bdi{overflow-wrap:anywhere}h1{margin:0;font-size:1.6rem;line-height:1.25}h2{margin:1.75rem 0 .5rem;font-size:1.1rem}
p{margin:.25rem 0 .75rem;color:var(--quiet)}
.tools{position:sticky;top:0;z-index:2;display:flex;gap:.75rem;align-items:center;height:3.75rem;background:var(--page)}
input,button{font:inherit;color:inherit}
input{flex:1;min-width:0;max-width:28rem;padding:.4rem .6rem;border:1px solid var(--line);border-radius:.4rem;background:var(--card)}
#said{color:var(--quiet);font-size:.9rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
table{width:100%;border-collapse:separate;border-spacing:0;border:1px solid var(--line);border-radius:.5rem;background:var(--card);font-variant-numeric:tabular-nums}
th,td{padding:.5rem .75rem;text-align:start;vertical-align:top}th{vertical-align:bottom}
th,tr:not(:last-child)>td{border-bottom:1px solid var(--line)}
th{position:sticky;top:3.75rem;z-index:1;background:var(--card);border-radius:.5rem .5rem 0 0;color:var(--quiet);font-size:.85rem;font-weight:600}
th button{padding:0;border:0;background:none;text-align:start;cursor:pointer}
th button:hover,th[aria-sort]{color:var(--accent)}
th[aria-sort=ascending] button::after{content:" \u2191";content:" \u2191"/""}
th[aria-sort=descending] button::after{content:" \u2193";content:" \u2193"/""}
td>bdi{display:inline-block;min-width:4rem;max-width:30rem}td:first-child>bdi{min-width:9rem}
tbody tr:hover{background:color-mix(in srgb,var(--accent) 6%,transparent)}
td button{margin-inline-start:.5rem;padding:0 .45rem;border:1px solid var(--line);border-radius:.3rem;background:none;color:var(--accent);font-size:.8rem;cursor:pointer}
td button:hover{border-color:currentColor}
[data-copied],[data-sort]{white-space:nowrap}[data-copied]>bdi,[data-sort]>bdi{min-width:0}
[data-open]{color:var(--open);font-weight:600}
@media screen and (width<75rem){
body{padding:1rem}
table,tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr));gap:.75rem;border:0;background:none}
table{display:block}
h1{font-size:1.3rem}
thead tr{display:flex;flex-wrap:wrap;gap:.25rem .9rem;margin-bottom:.75rem}
thead tr:has(button)::before{content:"Sort by";padding:.2rem 0;color:var(--quiet);font-size:.85rem}
th{position:static;padding:.2rem 0;border:0;background:none}
tbody tr{display:flex;flex-direction:column;padding:.75rem;border:1px solid var(--line);border-radius:.5rem;background:var(--card)}
tr>td,tr:not(:last-child)>td{display:flex;gap:.75rem;padding:.15rem 0;border:0;white-space:normal}
tr:nth-child(n)>td:empty{display:none}
td::before{flex:0 0 7.5rem;color:var(--quiet);font-weight:400}
td:nth-child(n)>bdi{min-width:0}
}
@media print{
@page{size:landscape;margin:1cm}
:root{--page:#fff;--card:#fff;--text:#000;--quiet:#333;--line:#999}
body{padding:0;font-size:9pt}.tools,td button{display:none}th{position:static}th,td{padding:.2rem .4rem}td:nth-child(n)>bdi{min-width:0}tr{break-inside:avoid}
}
`;

/** The filter, sorting, and the buttons that copy an id. Without it, the page still shows everything. */
const SCRIPT = `
"use strict";
const rows = [...document.querySelectorAll("[data-row]")];
const texts = new Map(rows.map((row) => [row, [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase()]));
const said = document.getElementById("said");
document.getElementById("filter").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\\s+/);
  for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
  for (const section of document.querySelectorAll("section")) section.hidden = !section.querySelector("[data-row]:not([hidden])");
  said.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " shown";
});
const { compare } = new Intl.Collator(undefined, { numeric: true });
const inOrder = (a, b) => a.dataset.sort && b.dataset.sort ? a.dataset.sort - b.dataset.sort : compare(a.textContent, b.textContent);
for (const heading of document.querySelectorAll("th")) {
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  heading.append(button);
  button.addEventListener("click", () => {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
    const body = heading.closest("table").tBodies[0];
    const column = heading.cellIndex;
    const sorted = [...body.rows].sort((one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      return !a.textContent - !b.textContent || direction * inOrder(a, b);
    });
    body.append(...sorted);
  });
}
for (const cell of document.querySelectorAll("[data-copied]")) {
  const id = cell.textContent;
  const button = document.createElement("button");
  Object.assign(button, { textContent: "Copy", ariaLabel: "Copy the id " + id + " of " + cell.parentNode.cells[0].textContent });
  cell.append(button);
  button.addEventListener("click", async () => {
    const copied = navigator.clipboard?.writeText(id) ?? Promise.reject();
    await copied.then(() => { said.textContent = "Copied " + id; }, () => { said.textContent = "Select the id by hand"; });
  });
}
`;
