/**
 * `pulumi-advertising report`: what a stack's state or a preview says, for those who run the account; and the ids by
 * key, for those who place tags, with the tags' addresses from the user's own template: the platform's are not known.
 */
import { enumerate, UsageError } from "../base/index.js";
import { advertiser, conversionEvent, type Kind } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import { MAX_LISTED } from "../state/index.js";
import { commentOf } from "./comment.js";
import {
  advertiserKeys,
  currentObjectsIn,
  type ExportedObject,
  shown,
} from "./contents.js";
import {
  type Command,
  chosen,
  command,
  csvOf,
  type Formats,
  jsonOf,
  say,
  textOf,
  write,
} from "./harness.js";
import { pageOf } from "./page.js";
import { STATE_HELP, STATE_OPTIONS, stateOf } from "./pulumi.js";

const EVENT_ARGUMENTS = [
  "id",
  "key",
  "eventName",
  "advertiserId",
  "eventTypeId",
  "segmentId",
  "value",
];
const PLACEHOLDERS = `{${EVENT_ARGUMENTS.join("}, {")}}`;

const REPORT_HELP = `Usage: pulumi-advertising report ids|page|comment [options]

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file with everything and what was left live
  comment      Markdown for a pull request, from \`pulumi preview --json --show-sames\`

  --format FORMAT        ids as json (default) or csv
  --template URL         ids with the address of each event's tag:
                         ${PLACEHOLDERS}
  --preview FILE         for comment: instead of standard input
  --fail-on WHAT         for comment: exit code 1 on rename, replace or rename,replace
  --out FILE             writes to FILE

For ids and page:
${STATE_HELP}`;

const TEXT = { type: "string" } as const;
const FAILURES = { rename: "renames", replace: "replacements" } as const;

const REPORTS: Readonly<Record<string, Command>> = {
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
