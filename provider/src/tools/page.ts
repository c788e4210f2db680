/** A stack's advertisers and conversion events, and what it left live, as one HTML file that needs no network: for people who look things up. */
import { count } from "../base/index.js";
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
  const counts = `${count(advertisers.length, "advertiser")}, ${count(events.length, "event")}, ${open.length} unresolved`;
  const rows = events.map((event) => {
    const { advertiserId, eventTypeId, value, clickWindow, viewWindow, attribution } = valuesOf(event);
    const owner = advertiserKeys.get(shown(advertiserId)) ?? shown(advertiserId);
    const windows = [clickWindow, viewWindow].map((each) => (typeof each === "number" ? duration(each) : shown(each)));
    return [
      event.key,
      nameOf(event),
      owner,
      idOf(event),
      shown(eventTypeId),
      shown(value),
      ...windows,
      shown(attribution),
    ];
  });
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
<h1>${title}</h1><p>${counts}${time === "" ? "" : `; state of ${time}`}</p>
<div class="tools"><label for="filter">Filter</label> <input id="filter" type="search"> <span id="said" role="status"></span></div>
<main>
${table(
  "Advertisers",
  ["Advertiser", "Name", "Id"],
  advertisers.map((each) => [each.key, nameOf(each), idOf(each)]),
)}
${table("Events", EVENT_HEADS, rows)}
${table(
  "Left live",
  LEFT_HEADS,
  leftovers.map(({ key, kind, name, id, why, at }) => [key, kind, name, id, why, at]),
)}
</main>
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text;
}

const EVENT_HEADS = ["Event", "Name", "Advertiser", "Id", "Type", "Value", "Clicks", "Views", "Attribution"];
const LEFT_HEADS = ["No longer managed", "Kind", "Name", "Id", "Why", "Since"];

function idOf({ id, key, record }: StoredObject): Markup | string {
  if (id === undefined) return record === undefined ? "none yet" : "unresolved";
  return markup`${id} <button type="button" data-id="${id}" aria-label="Copy the id ${id} of ${key}">Copy</button>`;
}

/** What is wider than the screen scrolls on its own. */
function table(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (string | Markup)[])[],
): Markup | string {
  if (rows.length === 0) return "";
  const cells = (row: readonly (string | Markup)[]) => row.map((cell) => markup`<td><bdi>${cell}</bdi></td>`);
  return markup`<section aria-label="${title}"><h2>${title} (${rows.length})</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => markup`<tr data-row>${cells(row)}</tr>\n`)}</tbody></table></div></section>`;
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
document.addEventListener("click", async ({ target }) => {
  if (target.dataset.id === undefined) return;
  const copied = navigator.clipboard?.writeText(target.dataset.id) ?? Promise.reject();
  await copied.then(() => { said.textContent = "Copied " + target.dataset.id; }, () => { said.textContent = "Select the id by hand"; });
});
`;
