/**
 * The commands about a stack's state. `leftovers` lists the objects that the stack left live, by the state and by
 * exports. `report` lists ids by key, and the addresses of tags by the user's own template, since the platform's are
 * not known.
 */
import { writeFileSync } from "node:fs";
import { count, enumerate, printable, UsageError } from "../base/index.js";
import { conversionEvent, KINDS, type Kind } from "../kinds/index.js";
import {
  type ExportedObject,
  type ExportedStack,
  shown,
  stackNamesIn,
} from "../record/index.js";
import { exactId } from "../rules/index.js";
import { MAX_LISTED } from "../state/index.js";
import { commentOf } from "./comment.js";
import {
  advertiserKeys,
  currentObjectsIn,
  type Leftover,
  leftoversOf,
} from "./contents.js";
import {
  type Command,
  chosen,
  command,
  type Formats,
  jsonOf,
  SEVERAL,
  TEXT,
  textOf,
} from "./harness.js";
import { pageOf } from "./page.js";
import { STATE_OPTIONS, stackName, stateOf } from "./pulumi.js";

export const leftovers = command(
  { before: SEVERAL, format: { ...TEXT, default: "text" }, ...STATE_OPTIONS },
  async ({ before, format, out, ...choice }) => {
    const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
    const now = await stateOf(choice);
    const names: (string | undefined)[] = stackNamesIn(now);
    // After a `destroy`, the state does not name its stack.
    if (names.length === 0 && choice.state === undefined)
      names.push(await stackName(choice));
    const earlier: ExportedStack[] = [];
    for (const file of before) {
      // One by one, since standard input can be read only once.
      const state = await stateOf({ state: file });
      const [name] = stackNamesIn(state);
      // People deactivate what is listed, so another stack's state must not count as an earlier one of this stack.
      if (name !== undefined && names[0] !== undefined && !names.includes(name))
        throw new Error(`${file} is a state of the stack ${name}, not of ${names[0]}`);
      earlier.push(state);
    }
    return write(inFormat(leftoversOf(now, earlier), earlier.length), out);
  },
);

const COLUMNS = ["kind", "id", "name", "key", "at", "why"] as const;

export const LEFTOVER_FORMATS: Formats<readonly Leftover[], [exports?: number]> = {
  text: (leftovers, exports = 0) => {
    let first = `${count(leftovers.length, "object is", "objects are")} no longer managed.`;
    if (leftovers.length === 0) first = "What was read shows nothing that was left live.";
    const lines = leftovers.map(({ kind, id, name, key, why }) => {
      const called = name === "" ? "" : ` "${name}"`;
      return printable(`${kind} ${id}${called} (${key}): ${why}`);
    });
    if (lines.length > 0)
      lines.push(
        "While an object is live, tags with its id keep firing. If no other stack manages it, deactivate it by hand.",
      );
    if (exports === 0)
      first += " For removed resources, add an earlier export: --before EXPORT.";
    return [first, ...lines, ""].join("\n");
  },
  json: (leftovers) => jsonOf({ leftovers }),
  csv: (leftovers) =>
    csvOf([COLUMNS, ...leftovers.map((each) => COLUMNS.map((name) => each[name]))]),
};

const EVENT_ARGUMENTS = ["id", "key", ...Object.keys(conversionEvent.wireNames)];
export const PLACEHOLDERS = `{${EVENT_ARGUMENTS.join("}, {")}}`;

const FAILURES = { rename: "renames", replace: "replacements" } as const;

const REPORTS = {
  ids: command(
    { format: { ...TEXT, default: "json" }, template: TEXT, ...STATE_OPTIONS },
    async ({ format, template, out, ...choice }) => {
      const inFormat = chosen(ID_FORMATS, format, "format");
      const addressOf = template === undefined ? undefined : addressesBy(template);
      const objects = currentObjectsIn((await stateOf(choice)).resources);
      const missing = objects.filter(({ id }) => id === undefined).map(({ key }) => key);
      if (missing.length > 0)
        console.error(
          `Warning: left out, id missing or secret: ${enumerate(missing, MAX_LISTED)}`,
        );
      const found = objects.filter(({ id }) => id !== undefined);
      return write(inFormat(found, addressOf), out);
    },
  ),
  page: command(STATE_OPTIONS, async ({ out, ...choice }) =>
    write(pageOf(await stateOf(choice)), out),
  ),
  comment: command(
    { preview: { ...TEXT, default: "-" }, "fail-on": TEXT, out: TEXT },
    async ({ preview, "fail-on": failOn, out }) => {
      const watched = (failOn?.split(",") ?? []).map((name) =>
        chosen(FAILURES, name.trim(), "--fail-on"),
      );
      const comment = commentOf(await textOf(preview));
      write(comment.text, out);
      return Number(watched.some((each) => comment[each] > 0));
    },
  ),
};

export const report: Command = async ([name = "", ...rest]) =>
  chosen(REPORTS, name, "report")(rest);

type AddressOf = (event: ExportedObject) => string;

/** Lists are in natural order, so that a state always gives the same text. The objects have an id. */
export const ID_FORMATS: Formats<readonly ExportedObject[], [addressOf?: AddressOf]> = {
  /** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
  json: (objects, addressOf) => {
    const byKey = <T>(kind: Kind, shownOf: (object: ExportedObject) => T) => {
      const listed = objects.filter((each) => each.kind === kind);
      return Object.fromEntries(listed.map((each) => [each.key, shownOf(each)]));
    };
    const lists = KINDS.map((kind) => [
      `${kind.noun}s`,
      byKey(kind, ({ id = "" }) => exactId(id)),
    ]);
    return jsonOf({
      ...Object.fromEntries(lists),
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
    return csvOf([
      ["kind", "key", "id", "name", "advertiser", "advertiserId", "tag"],
      ...rows,
    ]);
  },
};

const PLACEHOLDER = /\{(\w+)\}/g;

/** @param template has names in braces. @returns a function for an event's address. @throws UsageError */
export function addressesBy(template: string): AddressOf {
  for (const [placeholder, name = ""] of template.matchAll(PLACEHOLDER))
    if (!EVENT_ARGUMENTS.includes(name))
      throw new UsageError(`--template takes ${PLACEHOLDERS}; got ${placeholder}`);
  return ({ id, key, values }) =>
    template.replace(PLACEHOLDER, (_, name: string) =>
      encodeURIComponent(shown({ ...values, id, key }[name])),
    );
}

/** Writes a report. @param file undefined or `-`: standard output. @returns the exit code. @throws system errors. */
function write(report: string, file: string | undefined) {
  if (file === undefined || file === "-") process.stdout.write(report);
  else writeFileSync(file, report);
  return 0;
}

/**
 * CSV as in RFC 4180, after a byte order mark, without which Excel does not read it as UTF-8. An apostrophe keeps a
 * cell that begins like a formula from being executed. In many countries semicolons separate cells, even inside
 * quotation marks, so each part of a text may begin a cell. @param rows the header first.
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
