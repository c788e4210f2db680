/** A stack's advertisers, events and what it left live, as one HTML file to look things up in. It needs no network. */
import { count } from "../base/index.js";
import { duration } from "../rules/index.js";
import {
  contentsOf,
  type ExportedStack,
  nameOf,
  type StoredObject,
  shown,
  stackNamesIn,
  valuesOf,
} from "./contents.js";
import { leftoversOf } from "./leftovers.js";

export function pageOf(state: ExportedStack): string {
  const { advertisers, events, advertiserKeys } = contentsOf(state.resources);
  const [leftovers, [stack], { time }] = [leftoversOf(state, []), stackNamesIn(state), state];
  const open = [...advertisers, ...events].filter(({ record }) => record !== undefined);
  const title = stack === undefined ? "Conversion events" : `Conversion events of ${stack}`;
  const counts = `${count(advertisers.length, "advertiser")}, ${count(events.length, "event")}, ${open.length} unresolved`;
  const rows = events.map((event) => {
    const { advertiserId, eventTypeId, value, clickWindow, viewWindow, attribution } = valuesOf(event);
    const owner = advertiserKeys.get(shown(advertiserId)) ?? shown(advertiserId);
    const windows = [clickWindow, viewWindow].map((each) => (typeof each === "number" ? duration(each) : shown(each)));
    const others = [eventTypeId, value].map(shown);
    return [event.key, nameOf(event), owner, idOf(event), ...others, ...windows, shown(attribution)];
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1><p>${counts}${time === "" ? "" : `; state of ${escaped(time)}`}</p>
<div class="tools"><label for="filter">Filter</label> <input id="filter" type="search"> <span id="said" role="status"></span></div>
<main>
${table(
  "Advertisers",
  ["Advertiser", "Name", "Id"],
  advertisers.map((each) => [each.key, nameOf(each), idOf(each)]),
)}
${table("Events", ["Event", "Name", "Advertiser", "Id", "Type", "Value", "Clicks", "Views", "Attribution"], rows)}
${table(
  "Left live",
  ["No longer managed", "Kind", "Name", "Id", "Why", "Since"],
  leftovers.map(({ key, kind, name, id, why, at }) => [key, kind, name, id, why, at]),
)}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function idOf({ id, record }: StoredObject): string {
  return id ?? (record === undefined ? "none yet" : "unresolved");
}

/** What is wider than the screen scrolls on its own. Whatever a cell holds is text. */
function table(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const cell = (text: string, index: number) =>
    `<td${heads[index] === "Id" && /^\d+$/.test(text) ? " data-copied" : ""}><bdi>${escaped(text)}</bdi></td>`;
  return `<section aria-label="${title}"><h2>${title} (${rows.length})</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr data-row>${row.map(cell).join("")}</tr>\n`).join("")}</tbody></table></div></section>`;
}

function escaped(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The browser's own colors, so that it is as light or dark as the reader likes. */
const STYLE = `
:root{color-scheme:light dark}
body{margin:1rem;font:16px/1.45 system-ui,sans-serif}
h1,bdi{overflow-wrap:anywhere}td>bdi{display:inline-block;min-width:6rem;max-width:40rem}
.tools{position:sticky;top:0;background:Canvas;padding:.5rem 0}
input,button{font:inherit}input{max-width:60%}
table{border-collapse:collapse}.scroll{overflow-x:auto}
th,td{border-bottom:1px solid;padding:.4rem .5rem;text-align:start;vertical-align:top}
[hidden]{display:none!important}
@media print{.tools,button{display:none}.scroll{overflow:visible}td>bdi{min-width:0}}
`;

/** The filter, and the buttons that copy an id. Without it, the page still shows everything. */
const SCRIPT = `
"use strict";
const rows = [...document.querySelectorAll("[data-row]")];
const said = document.getElementById("said");
document.getElementById("filter").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\\s+/);
  for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  said.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " shown";
});
for (const cell of document.querySelectorAll("[data-copied]")) {
  const id = cell.textContent;
  const button = cell.appendChild(document.createElement("button"));
  Object.assign(button, { textContent: "Copy", ariaLabel: "Copy the id " + id + " of " + cell.parentNode.cells[0].textContent });
  button.addEventListener("click", async () => {
    const copied = navigator.clipboard?.writeText(id) ?? Promise.reject();
    await copied.then(() => { said.textContent = "Copied " + id; }, () => { said.textContent = "Select the id by hand"; });
  });
}
`;
