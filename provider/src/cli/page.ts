/** One HTML file with a stack's advertisers, its events, and the objects that it left live. It needs no network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { count, joined } from "../base/index.js";
import { EventType, KINDS, type KindName } from "../kinds/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  shown,
  stackNamesIn,
} from "../record/index.js";
import { withUnit } from "../rules/index.js";
import { advertiserKeys, currentObjectsIn, leftoversOf } from "./contents.js";

export function pageOf(state: ExportedStack): string {
  const objects = currentObjectsIn(state.resources);
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  const unresolved = objects.filter(({ record }) => record !== undefined);
  const keys = advertiserKeys(objects);
  const [stack] = stackNamesIn(state);
  const title = escaped(joined(" of ", "Conversion events", stack));
  const about = joined(
    ", ",
    ...KINDS.map((kind) => count(byKind.get(kind)?.length ?? 0, kind.create.noun)),
    `${unresolved.length} unresolved`,
    state.time && `state of ${moment(state.time)}`,
  );
  const tables = [
    ...KINDS.map((kind) => {
      const rows = byKind.get(kind)?.map((each) => ROWS[kind.name](each, keys));
      return tableOf(`${kind.create.noun}s`, rows);
    }),
    tableOf(
      "Left live",
      leftoversOf(state, []).map(({ key, kind, name, id, why, at }) => {
        const place = { Resource: key, Kind: kind, Name: name, Id: id };
        return { ...place, Why: why, Since: moment(at) };
      }),
      "Live, and no longer managed by this stack. Tags with their ids keep firing.",
    ),
  ];
  const parts: Readonly<Record<string, string>> = {
    title,
    heading: title.replaceAll("/", "/<wbr>"),
    about,
    tables: tables.join("\n"),
    style: asset("page.css"),
    script: asset("page.js"),
  };
  // In a style or a script, a placeholder is a comment, so that the template is valid too.
  const placeholder = /(?:\/\* )?\{\{(\w+)\}\}(?: \*\/)?/g;
  return asset("page.html").replace(placeholder, (_, name) => parts[name] ?? "");
}

function asset(name: string) {
  return readFileSync(join(__dirname, "../../assets", name), "utf8");
}

type RowOf = (object: ExportedObject, keys: ReadonlyMap<string, string>) => PageRow;

const ROWS: Readonly<Record<KindName, RowOf>> = {
  Advertiser: ({ key, name, id = "unknown" }) => ({ Advertiser: key, Name: name, Id: id }),
  ConversionEvent: eventRow,
};

function eventRow(event: ExportedObject, keys: ReadonlyMap<string, string>) {
  const { key, name, id = "unknown", values } = event;
  const owner = shown(values.advertiserId);
  const types = Object.entries(EventType);
  const [type] = types.find(([, each]) => each === values.eventTypeId) ?? [];
  return {
    Event: key,
    Name: name,
    Advertiser: keys.get(owner) ?? owner,
    Id: id,
    Type: joined(" ", shown(values.eventTypeId), type && `(${type})`),
    Value: shown(values.value),
    "Click window": shownWindow(values.clickWindow),
    "View window": shownWindow(values.viewWindow),
    Attribution: shown(values.attribution),
  };
}

function shownWindow(seconds: unknown) {
  return typeof seconds === "number" ? withUnit(seconds) : shown(seconds);
}

/** `2026-03-02 10:00`. @param time as a state has it. */
function moment(time: string) {
  return time.slice(0, 16).replace("T", " ");
}

/** Texts by their headings, which all rows of a table share. */
type PageRow = Readonly<Record<string, string>>;

/** Empty without rows. All cells are escaped. */
function tableOf(title: string, rows: readonly PageRow[] = [], about = "") {
  const [first] = rows;
  if (!first) return "";
  const heads = Object.keys(first).map((head) => `<th scope="col">${head}</th>`);
  const lines = rows.map((row) => {
    return `<tr data-row>${Object.entries(row).map(cellOf).join("")}</tr>\n`;
  });
  return `<section aria-label="${title}"><h2>${title} (${rows.length})</h2><p>${about}</p>
<table>
<thead><tr>${heads.join("")}</tr></thead>
<tbody>${lines.join("")}</tbody></table></section>`;
}

function cellOf([head, text]: readonly [string, string]) {
  if (text === "") return "<td></td>";
  let mark = "";
  if (head === "Id") mark = /^\d+$/.test(text) ? " data-copied" : " data-open";
  return `<td data-head="${head}"${mark}><bdi>${escaped(text)}</bdi></td>`;
}

function escaped(text: string) {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
