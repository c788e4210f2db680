/** A stack's advertisers, events and what it left live, as one HTML file to look things up in. It needs no network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
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

const KEEP_FIRING = "Tags that were placed for them keep firing.";

export function pageOf(state: ExportedStack): string {
  const { advertisers, events, advertiserKeys } = contentsOf(state.resources);
  const unresolved = [...advertisers, ...events].filter(({ record }) => record !== undefined);
  const [stack] = stackNamesIn(state);
  let title = "Conversion events";
  if (stack !== undefined) title += ` of ${stack}`;
  const about = [
    count(advertisers.length, "advertiser"),
    count(events.length, "event"),
    `${unresolved.length} unresolved`,
  ];
  if (state.time !== "") about.push(`state of ${moment(state.time)}`);
  const tables: readonly Table[] = [
    {
      title: "Advertisers",
      heads: ["Advertiser", "Name", "Id"],
      rows: advertisers.map((each) => [each.key, nameOf(each), idOf(each)]),
    },
    {
      title: "Events",
      heads: [
        ...["Event", "Name", "Advertiser", "Id", "Type", "Value"],
        ...["Click window", "View window", "Attribution"],
      ],
      rows: events.map((event) => eventRow(event, advertiserKeys)),
    },
    {
      title: "Left live",
      about: `Live on the platform, and no longer managed by this stack. ${KEEP_FIRING}`,
      heads: ["Resource", "Kind", "Name", "Id", "Why", "Since"],
      rows: leftoversOf(state, []).map(({ key, kind, name, id, why, at }) => {
        return [key, kind, name, id, why, moment(at)];
      }),
    },
  ];
  const filled = tables.filter(({ rows }) => rows.length > 0);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${asset("page.css")}${filled.map(labelsOf).join("")}</style>
</head>
<body>
<h1>${escaped(title).replaceAll("/", "/<wbr>")}</h1><p>${escaped(about.join(", "))}</p>
<div class="tools">
<label for="filter">Filter</label><input id="filter" type="search">
<span id="said" role="status"></span>
</div>
<main>
${filled.map(htmlOf).join("\n")}
</main>
<script>${asset("page.js")}</script>
</body>
</html>
`;
}

function asset(name: string): string {
  return readFileSync(join(__dirname, "../../assets", name), "utf8");
}

function eventRow(event: ExportedObject, advertiserKeys: ReadonlyMap<string, string>): Cell[] {
  const values = valuesOf(event);
  const advertiserId = shown(values.advertiserId);
  return [
    event.key,
    nameOf(event),
    advertiserKeys.get(advertiserId) ?? advertiserId,
    idOf(event),
    numberCell(values.eventTypeId, typeName),
    numberCell(values.value, String),
    numberCell(values.clickWindow, duration),
    numberCell(values.viewWindow, duration),
    shown(values.attribution),
  ];
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
  if (typeof value !== "number") return shown(value);
  return { text: format(value), sort: value };
}

function typeName(id: number): string {
  const [name] = Object.entries(EventType).find(([, value]) => value === id) ?? [];
  return name === undefined ? String(id) : `${name} (${id})`;
}

/** `2026-03-02 10:00 UTC`. @param time as a state has it. */
function moment(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function idOf({ id, record }: ExportedObject): string {
  if (id !== undefined) return id;
  return record === undefined ? "none yet" : "unresolved";
}

/** Whatever a cell holds is text. */
function htmlOf({ title, about = "", heads, rows }: Table): string {
  const headings = heads.map((head) => `<th scope="col">${head}</th>`).join("");
  const body = rows.map((cells) => `<tr data-row>${htmlRow(cells, heads)}</tr>\n`).join("");
  return `<section aria-label="${title}"><h2>${title} (${rows.length})</h2><p>${about}</p>
<table>
<thead><tr>${headings}</tr></thead>
<tbody>${body}</tbody></table></section>`;
}

function htmlRow(cells: readonly Cell[], heads: readonly string[]): string {
  const all = cells.map((cell, index) => {
    const { text, sort } = typeof cell === "string" ? { text: cell, sort: undefined } : cell;
    if (text === "") return "<td></td>";
    const marks = [];
    if (sort !== undefined) marks.push(` data-sort="${sort}"`);
    if (heads[index] === "Id") marks.push(/^\d+$/.test(text) ? " data-copied" : " data-open");
    return `<td${marks.join("")}><bdi>${escaped(text)}</bdi></td>`;
  });
  return all.join("");
}

/** On a narrow screen a row is a card, in which each value has its heading, and the name comes first. */
function labelsOf({ title, heads }: Table): string {
  const labels = heads.map((head, index) => {
    const cell = `section[aria-label="${title}"] td:nth-child(${index + 1})`;
    if (head === "Name") return `${cell}{order:-1;font-weight:600}`;
    return `${cell}::before{content:"${head}"}`;
  });
  return `@media screen and (width<75rem){${labels.join("")}}\n`;
}

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
