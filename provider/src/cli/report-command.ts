/**
 * `pulumi-advertising report`: what a stack's state or a preview says, for those who run the account; and the ids by
 * key, for those who place tags, with the tags' addresses from the user's own template: the platform's are not known.
 */
import { enumerate, UsageError } from "../base/index.js";
import { exactId } from "../rules/index.js";
import { MAX_LISTED } from "../state/index.js";
import { commentOf, readPreview } from "./comment.js";
import {
  type Contents,
  contentsOf,
  type ExportedObject,
  nameOf,
  shown,
  valuesOf,
  warnOfSecretSets,
} from "./contents.js";
import { type Command, chosen, command, csvOf, jsonOf, say, textOf, write } from "./harness.js";
import { pageOf } from "./page.js";
import { STACK_HELP, STACK_OPTIONS, stateOf } from "./pulumi.js";

const NAMES = ["id", "key", "eventName", "advertiserId", "eventTypeId", "segmentId", "value"];
const PLACEHOLDERS = `{${NAMES.join("}, {")}}`;

const REPORT_HELP = `Usage: pulumi-advertising report ids|page|comment [options]

Reports on a stack or a preview. Sends and changes nothing. Secret values are "(secret)".

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file with everything and what was left live; it needs no network
  comment      Markdown for a pull request, from \`pulumi preview --json --show-sames\`

  --format FORMAT        ids as json (default) or csv
  --template URL         ids with the address of each event's tag:
                         ${PLACEHOLDERS}
  --preview FILE         for comment: instead of standard input
  --fail-on WHAT         for comment: rename, replace or rename,replace: exit code 1 if there is one
  --out FILE             writes to FILE

For ids and page:
  --state FILE           what \`pulumi stack export\` printed (- for standard input)
${STACK_HELP}

Exit codes: 0 written, 1 written, and there is what --fail-on names, 2 failed.`;

const TEXT_OPTION = { type: "string" } as const;
const FROM_STATE = { state: TEXT_OPTION, out: TEXT_OPTION, ...STACK_OPTIONS };
const FAILURES = { rename: "renames", replace: "replacements" } as const;

const REPORTS: Readonly<Record<string, Command>> = {
  ids: command({
    help: REPORT_HELP,
    options: {
      format: { ...TEXT_OPTION, default: "json" },
      template: TEXT_OPTION,
      ...FROM_STATE,
    },
    run: async ({ format, template, out, ...choice }) => {
      const inFormat = chosen(ID_FORMATS, format, "format");
      const addressOf = template === undefined ? undefined : addressesBy(template);
      const { resources } = await stateOf(choice);
      warnOfSecretSets(resources);
      const contents = contentsOf(resources);
      const all = [...contents.advertisers, ...contents.events];
      const missing = all.filter(({ id }) => id === undefined).map(({ key }) => key);
      if (missing.length > 0)
        console.error(`Warning: no id yet: ${enumerate(missing, MAX_LISTED)}`);
      return write(inFormat(contents, addressOf), out);
    },
  }),
  page: command({
    help: REPORT_HELP,
    options: FROM_STATE,
    run: async ({ out, ...choice }) => {
      const state = await stateOf(choice);
      warnOfSecretSets(state.resources);
      return write(pageOf(state), out);
    },
  }),
  comment: command({
    help: REPORT_HELP,
    options: {
      preview: { ...TEXT_OPTION, default: "-" },
      "fail-on": TEXT_OPTION,
      out: TEXT_OPTION,
    },
    run: async ({ preview, "fail-on": failOn, out }) => {
      const names = failOn?.split(",") ?? [];
      const watched = names.map((name) => chosen(FAILURES, name.trim(), "reason to fail"));
      const comment = commentOf(readPreview(await textOf(preview)));
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
type IdFormat = (contents: Contents, addressOf?: AddressOf) => string;

/** Each list in natural order, so that the same state is always the same text. What has no id is left out. */
export const ID_FORMATS: Readonly<Record<string, IdFormat>> = {
  /** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
  json: ({ advertisers, events }, addressOf) =>
    jsonOf({
      advertisers: byKey(advertisers, ({ id }) => exactId(id)),
      events: byKey(events, ({ id }) => exactId(id)),
      tags: addressOf && byKey(events, addressOf),
    }),
  csv: ({ advertisers, events, advertiserKeys }, addressOf) => {
    const header = ["kind", "key", "id", "name", "advertiser", "advertiserId"];
    const rows = withIds(advertisers).map((each) => {
      return ["advertiser", each.key, each.id, nameOf(each), "", ""];
    });
    for (const event of withIds(events)) {
      const owner = shown(valuesOf(event).advertiserId);
      const ownerKey = advertiserKeys.get(owner) ?? "";
      rows.push(["event", event.key, event.id, nameOf(event), ownerKey, owner]);
    }
    if (addressOf === undefined) return csvOf([header, ...rows]);
    const tags = [...withIds(advertisers).map(() => ""), ...withIds(events).map(addressOf)];
    const tagged = rows.map((row, index) => [...row, tags[index] ?? ""]);
    return csvOf([[...header, "tag"], ...tagged]);
  },
};

type WithId = ExportedObject & { readonly id: string };

function withIds(objects: readonly ExportedObject[]): WithId[] {
  return objects.filter((each): each is WithId => each.id !== undefined);
}

function byKey<T>(objects: readonly ExportedObject[], shownOf: (object: WithId) => T) {
  return Object.fromEntries(withIds(objects).map((each) => [each.key, shownOf(each)]));
}

const PLACEHOLDER = /\{(\w+)\}/g;

/** @param template with names in braces. @returns an event's address. @throws UsageError */
export function addressesBy(template: string): AddressOf {
  for (const [placeholder, name = ""] of template.matchAll(PLACEHOLDER))
    if (!NAMES.includes(name))
      throw new UsageError(`--template knows ${PLACEHOLDERS}; got ${placeholder}`);
  return (event) => {
    const { id, key } = event;
    const values: Readonly<Record<string, unknown>> = { ...valuesOf(event), id, key };
    return template.replace(PLACEHOLDER, (_, name: string) =>
      encodeURIComponent(shown(values[name])),
    );
  };
}
