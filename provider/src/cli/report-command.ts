/**
 * `pulumi-advertising report`: what a stack's state or a preview says, for those who run the account; and the ids by
 * key, for those who place tags, with the tags' addresses from the user's own template: the platform's are not known.
 */
import { enumerate, UsageError } from "../base/index.js";
import { exactId } from "../rules/index.js";
import { MAX_LISTED } from "../state/index.js";
import { commentOf, readPreview } from "./comment.js";
import { contentsOf, type ExportedObject, nameOf, shown, valuesOf, warnOfSecretSets } from "./contents.js";
import { type Command, chosen, command, csvOf, jsonOf, say, textOf, write } from "./harness.js";
import { pageOf } from "./page.js";
import { STACK_HELP, STACK_OPTIONS, stateOf } from "./pulumi.js";

const NAMES = ["id", "key", "eventName", "advertiserId", "eventTypeId", "segmentId", "value"];

const HELP = `Usage: pulumi-advertising report ids|page|comment [options]

Reports on a stack or a preview. Sends and changes nothing. Secret values are shown as "(secret)".

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file that needs no network: advertisers, events and ids to copy, and what the stack left live
  comment      Markdown for a pull request, from \`pulumi preview --json --show-sames\` on standard input

  --format FORMAT        ids as json (default) or csv
  --template URL         ids with the address of each event's tag: {${NAMES.join("}, {")}}
  --preview FILE         for comment: instead of standard input
  --fail-on WHAT         for comment: exit code 1 if there is one; rename, replace, or both: rename,replace
  --out FILE             writes to FILE

For ids and page:
  --state FILE           what \`pulumi stack export\` printed (- for standard input), instead of a stack
${STACK_HELP}

Exit codes: 0 written, 1 written, and there is what --fail-on names, 2 failed.`;

const TEXT = { type: "string" } as const;
const FROM_STATE = { state: TEXT, out: TEXT, ...STACK_OPTIONS };
const FAILURES = { rename: "renames", replace: "replacements" } as const;

const REPORTS: Readonly<Record<string, Command>> = {
  ids: command({
    help: HELP,
    options: { format: TEXT, template: TEXT, ...FROM_STATE },
    run: async ({ format = "json", template, out, ...choice }) => {
      const inFormat = chosen(ID_FORMATS, format, "format");
      const addressOf = template === undefined ? undefined : addressesBy(template);
      const { resources } = await stateOf(choice);
      warnOfSecretSets(resources);
      const contents = contentsOf(resources);
      const missing = [...contents.advertisers, ...contents.events].flatMap(({ id, key }) => (id ? [] : [key]));
      if (missing.length > 0) console.error(`Warning: no id yet: ${enumerate(missing, MAX_LISTED)}`);
      return write(inFormat(contents, addressOf), out);
    },
  }),
  page: command({
    help: HELP,
    options: FROM_STATE,
    run: async ({ out, ...choice }) => {
      const state = await stateOf(choice);
      warnOfSecretSets(state.resources);
      return write(pageOf(state), out);
    },
  }),
  comment: command({
    help: HELP,
    options: { preview: TEXT, "fail-on": TEXT, out: TEXT },
    run: async ({ preview = "-", "fail-on": failOn, out }) => {
      const watched = (failOn?.split(",") ?? []).map((name) => chosen(FAILURES, name.trim(), "reason to fail"));
      const comment = commentOf(readPreview(await textOf(preview)));
      write(comment.text, out);
      return watched.some((each) => comment[each] > 0) ? 1 : 0;
    },
  }),
};

export const reportCommand: Command = {
  help: HELP,
  run: async ([name = "", ...rest]) =>
    ["--help", "-h"].includes(name) ? say(HELP) : chosen(REPORTS, name, "report").run(rest),
};

type AddressOf = (event: ExportedObject) => string;

/** Each list in natural order, so that the same state is always the same text. What has no id is left out. */
export const ID_FORMATS: Readonly<
  Record<string, (contents: ReturnType<typeof contentsOf>, addressOf?: AddressOf) => string>
> = {
  /** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
  json: ({ advertisers, events }, addressOf) => {
    const byKey = <T>(objects: readonly ExportedObject[], told: (object: ExportedObject, id: string) => T) =>
      Object.fromEntries(objects.flatMap((each) => (each.id === undefined ? [] : [[each.key, told(each, each.id)]])));
    const idOf = (_: ExportedObject, id: string) => exactId(id);
    const tags = addressOf && byKey(events, addressOf);
    return jsonOf({ advertisers: byKey(advertisers, idOf), events: byKey(events, idOf), tags });
  },
  csv: ({ advertisers, events, advertiserKeys }, addressOf) => {
    const row = (kind: string, each: ExportedObject, owner: string) => {
      if (each.id === undefined) return [];
      const address = kind === "event" ? addressOf?.(each) : "";
      const tag = addressOf === undefined ? [] : [address ?? ""];
      return [[kind, each.key, each.id, nameOf(each), advertiserKeys.get(owner) ?? "", owner, ...tag]];
    };
    const tag = addressOf === undefined ? [] : ["tag"];
    return csvOf([
      ["kind", "key", "id", "name", "advertiser", "advertiserId", ...tag],
      ...advertisers.flatMap((each) => row("advertiser", each, "")),
      ...events.flatMap((each) => row("event", each, shown(valuesOf(each).advertiserId))),
    ]);
  },
};

/** @param template with names in braces. @returns an event's address. @throws UsageError */
export function addressesBy(template: string): AddressOf {
  const unknown = [...template.matchAll(/\{(\w+)\}/g)].find(([, name = ""]) => !NAMES.includes(name));
  if (unknown !== undefined) throw new UsageError(`--template knows {${NAMES.join("}, {")}}; got ${unknown[0]}`);
  return (event) => {
    const values: Readonly<Record<string, unknown>> = { ...valuesOf(event), id: event.id, key: event.key };
    return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(shown(values[name])));
  };
}
