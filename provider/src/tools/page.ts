/**
 * A stack's advertisers and conversion events as one HTML file that needs no network: for people who look things up.
 */

import { count } from "../base/index.js";
import { EventType, THIRTY_DAYS_IN_SECONDS } from "../kinds/index.js";
import { type Contents, type Entry, nameOf, type Shown, shown } from "./contents.js";
import { SCRIPT, STYLE } from "./page-assets.js";

export interface PageHead {
  /** Of the stack; empty where the state does not say. */
  readonly stack: string;
  /** When the state was written, ISO 8601; empty where it does not say. */
  readonly time: string;
}

export function pageOf(contents: Contents, { stack, time }: PageHead): string {
  const { advertiserKeys } = contents;
  const advertisers = contents.advertisers.toSorted(byKey);
  const events = contents.events.toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || byKey(a, b));
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

function byKey(a: Entry, b: Entry): number {
  return a.key < b.key ? -1 : 1;
}

function isOpen({ openSince }: Entry): boolean {
  return openSince !== undefined;
}

function openSection(open: readonly Entry[]): Markup {
  if (open.length === 0) return raw("");
  const items = open.map(
    (entry) =>
      markup`<li data-row>${entry.kind.name} <bdi>${entry.key}</bdi> (<bdi>${nameOf(entry)}</bdi>), sent at ${entry.openSince ?? ""}: nobody knows whether it arrived.</li>\n`,
  );
  return markup`<section class="open" aria-labelledby="open"><h2 id="open">Unresolved (${open.length})</h2>
<p>Look into the account for each, and settle it with <code>npx pulumi-advertising pending</code>.</p>
<ul>${items}</ul></section>
`;
}

/** Which advertiser has events of which type. */
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
    const note = isEarlier ? markup` <span class="soft">(created with other defaults than now)</span>` : raw("");
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

function idCell({ id, key }: Entry): Markup {
  if (id === undefined) return markup`<span class="gap">unresolved</span>`;
  return markup`<code>${id}</code> <button type="button" data-id="${id}" aria-label="Copy the id ${id} of ${key}">Copy</button>`;
}

function windowCell(seconds: Shown | undefined): Markup {
  if (typeof seconds !== "number") return markup`${shown(seconds)}`;
  const percent = Math.min(100, (seconds / THIRTY_DAYS_IN_SECONDS) * 100);
  return markup`${durationOf(seconds)}<span class="bar" aria-hidden="true"><i style="width:${percent.toFixed(1)}%"></i></span>`;
}

function durationOf(seconds: number): string {
  if (seconds % 86_400 === 0) return count(seconds / 86_400, "day");
  if (seconds % 3600 === 0) return count(seconds / 3600, "hour");
  return count(seconds, "second");
}

/** HTML that can't be broken out of: every value that is put into it is escaped, unless it is markup already. */
class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | readonly Markup[];

/** A tagged template. */
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
