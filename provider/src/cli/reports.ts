/**
 * What a stack's state says, for those who run the account: `leftovers`, what it left live, by the state, this machine's
 * journal, and exports; and `report`: ids by key, for those who place tags, with the tags' addresses from the user's own
 * template, as the platform's are not known; and one HTML file to look things up in, which needs no network.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { count, enumerate, joined, printable, UsageError } from "../base/index.js";
import {
  backendIn,
  deletedObjects,
  everyJournal,
  isOpen,
  type JournalEntry,
  journalFolder,
} from "../journal/index.js";
import {
  advertiser,
  conversionEvent,
  EventType,
  type Kind,
  resourceOfType,
} from "../kinds/index.js";
import { exactId, withUnit } from "../rules/index.js";
import { leftLiveIn, MAX_LISTED, objectKey, parseKey } from "../state/index.js";
import { commentOf } from "./comment.js";
import {
  type ExportedObject,
  type ExportedStack,
  inNaturalOrder,
  objectsIn,
  type Resource,
  refIn,
  shown,
  stackNamesIn,
} from "./contents.js";
import {
  type Command,
  chosen,
  command,
  type Formats,
  jsonOf,
  SEVERAL,
  type StackChoice,
  say,
  TEXT,
  textOf,
} from "./harness.js";
import { programFolder, STATE_HELP, STATE_OPTIONS, stackName, stateOf } from "./pulumi.js";

export const leftoversCommand = command({
  help: `Usage: pulumi-advertising leftovers [options]

Lists what this stack left live, by its state and this machine's journal; with --before also
what left the state since then.

  --before EXPORT        an earlier export or a backend's checkpoint file; several times
  --format FORMAT        text (default), json or csv
  --out FILE             writes to FILE
${STATE_HELP}`,
  options: {
    before: SEVERAL,
    format: { ...TEXT, default: "text" },
    ...STATE_OPTIONS,
  },
  run: async ({ before, format, out, ...choice }) => {
    const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
    const now = await stateOf(choice);
    const names: (string | undefined)[] = stackNamesIn(now);
    // A state that was destroyed does not say whose it is.
    if (names.length === 0 && choice.state === undefined)
      names.push(await stackName(choice));
    const earlier: ExportedStack[] = [];
    for (const file of before) {
      // One by one: standard input is there once.
      const state = await stateOf({ state: file });
      const [name] = stackNamesIn(state);
      // People deactivate what is listed, so another stack's state must not count as an earlier one of this stack.
      if (name !== undefined && names[0] !== undefined && !names.includes(name))
        throw new Error(`${file} is a state of the stack ${name}, not of ${names[0]}`);
      earlier.push(state);
    }
    const noted = choice.state === undefined ? notedHere(names, choice) : [];
    return write(inFormat(leftoversOf(now, earlier, noted)), out);
  },
});

/** What this machine's journals had in the state. They don't know what other machines have deleted. */
function notedHere(stacks: readonly (string | undefined)[], choice: StackChoice) {
  const folder = journalFolder();
  const backend = backendIn(process.env, programFolder(choice));
  const own = everyJournal(folder).filter(
    (each) => each.backend === backend && stacks.includes(each.stack),
  );
  const records = own.flatMap((each) => [...each.records.values()]);
  const byAccount = Map.groupBy(records, ({ account = "" }) => account);
  return [...byAccount].flatMap(([account, those]) => {
    const deleted = deletedObjects(folder, account, (each) => each === account);
    // What is open, `pending` lists.
    const known = those.filter((each) => each.state !== "closed" && !isOpen(each));
    return known.filter(({ key, id = "" }) => !deleted.has(parseKey(key).kind, id));
  });
}

interface Leftover {
  kind: Kind["name"];
  id: string;
  name: string;
  key: string;
  /** When it left the state, ISO 8601; empty where it is not known. */
  at: string;
  why: string;
}

/**
 * @param earlier states of this stack: they show what was removed. @param noted what the state had, by a journal.
 * @returns what the state does not have (again).
 */
export function leftoversOf(
  now: ExportedStack,
  earlier: readonly ExportedStack[],
  noted: readonly JournalEntry[] = [],
): Leftover[] {
  const objects = objectsIn(now.resources);
  const found = [now, ...earlier].flatMap(({ resources }) => resources.flatMap(notedIn));
  found.push(...objects.filter(isReplaced).map((each) => formerly(each, "replaced")));
  for (const { time, resources } of earlier) {
    const why = `removed since ${time || "an earlier export"}`;
    found.push(...objectsIn(resources).map((each) => formerly(each, why)));
  }
  for (const { key, id = "", name = "" } of noted) {
    const { kind, short } = parseKey(key);
    const why =
      "no longer in the state, by this machine's journal; live unless another one has deleted it";
    found.push({ kind, id, name, key: short, at: "", why });
  }
  // What is said first of an object counts.
  const left = new Map(
    found.toReversed().map((each) => [objectKey(each.kind, each.id), each]),
  );
  for (const { kind, id = "" } of objects.filter((each) => !isReplaced(each)))
    left.delete(objectKey(kind.name, id));
  const listed = [...left.values()].filter(({ id }) => id !== "");
  return inNaturalOrder(listed, ({ kind, key, id }) => `${kind} ${key} ${id}`);
}

/** Whether another resource has its place, or will (`deleteBeforeReplace`): the state holds it until the next run. */
function isReplaced({ resource }: ExportedObject) {
  return resource.delete === true || resource.pendingReplacement === true;
}

/** The objects that a report lists: all that aren't being replaced. */
export function currentObjectsIn(resources: readonly Resource[]): ExportedObject[] {
  return objectsIn(resources).filter((each) => !isReplaced(each));
}

/** The names of the stack's advertisers, by id. */
function advertiserKeys(objects: readonly ExportedObject[]) {
  const advertisers = objects.filter(({ kind }) => kind === advertiser);
  return new Map(advertisers.map(({ id = "", key }) => [id, key]));
}

function notedIn({ urn, type, outputs = {} }: Resource): Leftover[] {
  const of = resourceOfType(type);
  if (!of) return [];
  return leftLiveIn(outputs).map(({ id, at, name = "", key: member = "" }) => {
    const { kind, short: key } = refIn(of, urn, member);
    return { kind, id, name, key, at, why: "replaced, or removed from its set" };
  });
}

/** A leftover that no state has noted, so that its time isn't known. */
function formerly({ kind, id = "", name, key, resource }: ExportedObject, reason: string) {
  let why = reason;
  if (resource.retainOnDelete !== true)
    why += "; live only if it is not deleted (retainOnDelete was off)";
  return { kind: kind.name, id, name, key, at: "", why };
}

const COLUMNS = ["kind", "id", "name", "key", "at", "why"] as const;

export const LEFTOVER_FORMATS: Formats<readonly Leftover[]> = {
  text: (leftovers) => {
    if (leftovers.length === 0)
      return "The state has no object that stays live and unmanaged.\n";
    const lines = leftovers.map(({ kind, id, name, key, at, why }) => {
      return `  ${printable(`${kind} ${id} "${name}" of ${key}: ${why} ${at}`)}\n`;
    });
    return (
      `${count(leftovers.length, "object")} that this stack no longer manages. Tags keep firing ` +
      `their ids: if no other stack manages them, deactivate them by hand.\n${lines.join("")}`
    );
  },
  json: (leftovers) => jsonOf({ leftovers }),
  csv: (leftovers) =>
    csvOf([COLUMNS, ...leftovers.map((each) => COLUMNS.map((name) => each[name]))]),
};

const EVENT_ARGUMENTS = ["id", "key", ...Object.keys(conversionEvent.wireNames)];
const PLACEHOLDERS = `{${EVENT_ARGUMENTS.join("}, {")}}`;

const REPORT_HELP = `Usage: pulumi-advertising report ids|page|comment [options]

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file with everything and what was left live
  comment      Markdown for a pull request, from \`pulumi preview --json --show-sames\`

  --format FORMAT        ids as json (default) or csv
  --template URL         ids with the address of each event's tag, from
                         ${PLACEHOLDERS}
  --preview FILE         for comment: instead of standard input
  --fail-on WHAT         for comment: exit code 1 on rename, replace or rename,replace
  --out FILE             writes to FILE

For ids and page:
${STATE_HELP}`;

const FAILURES = { rename: "renames", replace: "replacements" } as const;

const REPORTS = {
  ids: command({
    help: REPORT_HELP,
    options: {
      format: { ...TEXT, default: "json" },
      template: TEXT,
      ...STATE_OPTIONS,
    },
    run: async ({ format, template, out, ...choice }) => {
      const inFormat = chosen(ID_FORMATS, format, "format");
      const addressOf = template === undefined ? undefined : addressesBy(template);
      const objects = currentObjectsIn((await stateOf(choice)).resources);
      const missing = objects.filter(({ id }) => id === undefined).map(({ key }) => key);
      if (missing.length > 0)
        console.error(`Warning: no id, or a secret one: ${enumerate(missing, MAX_LISTED)}`);
      const found = objects.filter(({ id }) => id !== undefined);
      return write(inFormat(found, addressOf), out);
    },
  }),
  page: command({
    help: REPORT_HELP,
    options: STATE_OPTIONS,
    run: async ({ out, ...choice }) => write(pageOf(await stateOf(choice)), out),
  }),
  comment: command({
    help: REPORT_HELP,
    options: {
      preview: { ...TEXT, default: "-" },
      "fail-on": TEXT,
      out: TEXT,
    },
    run: async ({ preview, "fail-on": failOn, out }) => {
      const names = failOn?.split(",") ?? [];
      const watched = names.map((name) => chosen(FAILURES, name.trim(), "reason to fail"));
      const comment = commentOf(await textOf(preview));
      write(comment.text, out);
      return Number(watched.some((each) => comment[each] > 0));
    },
  }),
};

export const reportCommand: Command = {
  help: REPORT_HELP,
  run: async ([name = "", ...rest]) => {
    if (["--help", "-h"].includes(name)) return say(REPORT_HELP);
    return chosen(REPORTS, name, "report").run(rest);
  },
};

type AddressOf = (event: ExportedObject) => string;

/** Each list in natural order, so that the same state is always the same text. @param objects with an id */
export const ID_FORMATS: Formats<readonly ExportedObject[], [addressOf?: AddressOf]> = {
  /** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
  json: (objects, addressOf) => {
    const byKey = <T>(kind: Kind, shownOf: (object: ExportedObject) => T) => {
      const listed = objects.filter((each) => each.kind === kind);
      return Object.fromEntries(listed.map((each) => [each.key, shownOf(each)]));
    };
    return jsonOf({
      advertisers: byKey(advertiser, ({ id = "" }) => exactId(id)),
      events: byKey(conversionEvent, ({ id = "" }) => exactId(id)),
      tags: addressOf && byKey(conversionEvent, addressOf),
    });
  },
  csv: (objects, addressOf = () => "") => {
    const keys = advertiserKeys(objects);
    const rows = objects.map((each) => {
      const { kind, key, id = "", name, values } = each;
      const owner = shown(values.advertiserId);
      const tag = kind === conversionEvent ? addressOf(each) : "";
      return [kind.name, key, id, name, keys.get(owner) ?? "", owner, tag];
    });
    const header = ["kind", "key", "id", "name", "advertiser", "advertiserId", "tag"];
    return csvOf([header, ...rows]);
  },
};

const PLACEHOLDER = /\{(\w+)\}/g;

/** @param template with names in braces. @returns an event's address. @throws UsageError */
export function addressesBy(template: string): AddressOf {
  for (const [placeholder, name = ""] of template.matchAll(PLACEHOLDER))
    if (!EVENT_ARGUMENTS.includes(name))
      throw new UsageError(`--template knows ${PLACEHOLDERS}; got ${placeholder}`);
  return ({ id, key, values }) =>
    template.replace(PLACEHOLDER, (_, name: string) =>
      encodeURIComponent(shown({ ...values, id, key }[name])),
    );
}

export function pageOf(state: ExportedStack): string {
  const objects = currentObjectsIn(state.resources);
  const advertisers = objects.filter(({ kind }) => kind === advertiser);
  const events = objects.filter(({ kind }) => kind === conversionEvent);
  const unresolved = objects.filter(({ record }) => record !== undefined);
  const keys = advertiserKeys(objects);
  const [stack] = stackNamesIn(state);
  const title = escaped(joined(" of ", "Conversion events", stack));
  const about = joined(
    ", ",
    count(advertisers.length, "advertiser"),
    count(events.length, "event"),
    `${unresolved.length} unresolved`,
    state.time && `state of ${moment(state.time)}`,
  );
  const tables = [
    tableOf(
      "Advertisers",
      advertisers.map(({ key, name, id = "unknown" }) => {
        return { Advertiser: key, Name: name, Id: id };
      }),
    ),
    tableOf(
      "Events",
      events.map((event) => eventRow(event, keys)),
    ),
    tableOf(
      "Left live",
      leftoversOf(state, []).map(({ key, kind, name, id, why, at }) => {
        const place = { Resource: key, Kind: kind, Name: name, Id: id };
        return { ...place, Why: why, Since: moment(at) };
      }),
      "Live, and no longer managed by this stack. Tags keep firing their ids.",
    ),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${asset("page.css")}</style>
</head>
<body>
<h1>${title.replaceAll("/", "/<wbr>")}</h1><p>${about}</p>
<div class="tools">
<label for="filter">Filter</label><input id="filter" type="search">
<span id="said" role="status"></span>
</div>
<main>
${tables.join("\n")}
</main>
<script>${asset("page.js")}</script>
</body>
</html>
`;
}

function asset(name: string) {
  return readFileSync(join(__dirname, "../../assets", name), "utf8");
}

function eventRow(event: ExportedObject, keys: ReadonlyMap<string, string>): PageRow {
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

/** Nothing without rows. Whatever a cell holds is text. */
function tableOf(title: string, rows: readonly PageRow[], about = "") {
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

/** Writes a report. @param file none or `-`: standard output. @returns the exit code. @throws Error of the system. */
function write(report: string, file: string | undefined) {
  if (file === undefined || file === "-") process.stdout.write(report);
  else writeFileSync(file, report);
  return 0;
}

/**
 * CSV as RFC 4180 has it, behind a byte order mark: without one, Excel does not read it as UTF-8. A spreadsheet carries
 * out a cell that begins like a formula: an apostrophe keeps it text. In many countries semicolons separate cells, even
 * inside quotation marks, so each part of a text may begin a cell.
 * @param rows the first of them the header.
 */
function csvOf(rows: readonly (readonly string[])[]) {
  const lines = rows.map((cells) => `${cells.map(csvCell).join(",")}\r\n`);
  return `\ufeff${lines.join("")}`;
}

function csvCell(text: string) {
  const safe = text.replace(/(^|[;\t\r\n])(?=[=+\-@\t\r])/g, "$1'");
  if (!/[",;\t\r\n]/.test(safe)) return safe;
  return `"${safe.replaceAll('"', '""')}"`;
}
