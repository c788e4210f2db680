/** One HTML file with a stack's advertisers, its events, and the objects that it left live. It needs no network. */
import { count, joined, readFromPackage } from "../base/index.js";
import { advertiser, EventType, KINDS, ownerIn } from "../kinds/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  shown,
  stackNamesIn,
} from "../record/index.js";
import { withUnit } from "../rules/index.js";
import { advertiserKeys, currentObjectsIn, leftoversOf } from "./contents.js";

export function pageOf(state: ExportedStack) {
  const objects = currentObjectsIn(state.resources);
  const byKind = Map.groupBy(objects, ({ kind }) => kind.noun);
  const unresolved = objects.filter(({ record }) => record !== undefined);
  const keys = advertiserKeys(objects);
  const [stack] = stackNamesIn(state);
  const title = escaped(joined(" of ", "Conversion events", stack));
  const about = joined(
    ", ",
    ...KINDS.map(({ noun }) => count(byKind.get(noun)?.length ?? 0, noun)),
    `${unresolved.length} unresolved`,
    state.time && `state of ${state.time}`,
  );
  const tables = [
    ...KINDS.map(({ noun }) =>
      tableOf(
        `${noun}s`,
        byKind.get(noun)?.map((each) => rowOf(each, keys)),
      ),
    ),
    tableOf(
      "Left live",
      leftoversOf(state, []).map(({ key, kind, name, id, why }) => ({
        Resource: key,
        Kind: kind,
        Name: name,
        Id: id,
        Why: why,
      })),
      "Unmanaged, and perhaps live: then tags with their ids keep firing.",
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
  return readFromPackage(`assets/${name}`);
}

function rowOf(object: ExportedObject, keys: ReadonlyMap<string, string>): PageRow {
  const { kind, key, name, id = "unknown", values } = object;
  if (kind === advertiser) return { Advertiser: key, Name: name, Id: id };
  const owner = shown(ownerIn(kind, values));
  const [type] =
    Object.entries(EventType).find(([, each]) => each === values.eventTypeId) ?? [];
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
  if (typeof seconds !== "number") return shown(seconds);
  return withUnit(seconds);
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
