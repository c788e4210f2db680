/**
 * `pulumi-advertising report`: what a stack's state or a preview says, for the people who run the account. Here too are the ids by key, for
 * those who place tags; with the addresses of tags, which come from the user's own template, since the platform's are not known.
 */
import { count, enumerate, UsageError } from "../base/index.js";
import { exactId } from "../rules/index.js";
import { MAX_LISTED } from "../state/index.js";
import { commentOf } from "./comment.js";
import {
  type Contents,
  contentsOf,
  csvOf,
  type Entry,
  jsonOf,
  nameOf,
  SECRET,
  shown,
  warnOfSecretSets,
} from "./contents.js";
import { type Command, chosen, command, say, textOf, write } from "./harness.js";
import { pageOf } from "./page.js";
import { readPreview } from "./preview.js";
import { STACK_HELP, STACK_OPTIONS, settingInEnvironment, stateOf } from "./pulumi.js";
import { type ExportedStack, stackNamesIn, stateIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising report ids|page|comment [options]

Reports on a stack or a preview. Sends and changes nothing. Secret values are shown as "(secret)".

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file that needs no network: events, ids to copy, windows as bars, event types that an advertiser
               lacks
  comment      a preview as Markdown for a pull request, of at most 60,000 characters; reads what
               \`pulumi preview --json --show-sames\` printed, on standard input

  --format FORMAT        ids as json (default) or csv
  --template URL         ids with the address of each event's tag: {id}, {key}, {eventName}, {advertiserId},
                         {eventTypeId}, {segmentId} and {value} are replaced
  --preview FILE         for comment: instead of standard input
  --fail-on WHAT         for comment: exit code 1 if there is one; rename, replace, or both: rename,replace
  --state FILE           what \`pulumi stack export\` printed (- for standard input), instead of a stack
${STACK_HELP}
  --out FILE             writes to FILE

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
      const found = idsOf(contentsIn(await stateOf(choice)), addressOf);
      const keys = found.missing.map(({ key }) => key);
      const have = count(keys.length, "object has", "objects have");
      if (keys.length > 0)
        console.error(
          `Warning: ${have} no id yet (unresolved, or still to be created): ${enumerate(keys, MAX_LISTED)}`,
        );
      return write(inFormat(found), out);
    },
  }),
  page: command({
    help: HELP,
    options: FROM_STATE,
    run: async ({ out, ...choice }) => {
      const state = await stateOf(choice);
      return write(pageOf(contentsIn(state), stackNamesIn(state)[0] ?? "", stateIn(state).time), out);
    },
  }),
  comment: command({
    help: HELP,
    options: { preview: TEXT, "fail-on": TEXT, out: TEXT },
    run: async ({ preview = "-", "fail-on": failOn, out }) => {
      const watched = (failOn?.split(",") ?? []).map((name) => chosen(FAILURES, name.trim(), "reason to fail"));
      // They decide what becomes of an object. A preview holds them if the stack sets them.
      const [operations, markField] = [settingInEnvironment("operations"), settingInEnvironment("markField")];
      const comment = commentOf(readPreview(await textOf(preview), { operations, markField }));
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

function contentsIn(stack: ExportedStack): Contents {
  const contents = contentsOf(stateIn(stack).resources);
  warnOfSecretSets(contents, "so its events are left out");
  return contents;
}

type Identified = Entry & { readonly id: string };

/** Each list in natural order, so that the same state is always the same text. */
export interface Ids {
  readonly advertisers: readonly Identified[];
  readonly events: readonly Identified[];
  /** Without an id: the outcome of their create is unknown, or the next run sends it. */
  readonly missing: readonly Entry[];
  /** The tags' addresses by the keys of the events, where there is a template. */
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly advertiserKeys: Contents["advertiserKeys"];
}

export function idsOf(contents: Contents, addressOf: ((event: Identified) => string) | undefined): Ids {
  const { advertisers, advertiserKeys } = contents;
  const events = identified(contents.events);
  return {
    advertisers: identified(advertisers),
    events,
    missing: [...advertisers, ...contents.events].filter(({ id }) => id === undefined),
    tags: addressOf && Object.fromEntries(events.map((event) => [event.key, addressOf(event)])),
    advertiserKeys,
  };
}

function identified(entries: readonly Entry[]): Identified[] {
  return entries.filter((entry): entry is Identified => entry.id !== undefined);
}

/** Each ends with a line break. */
export const ID_FORMATS: Readonly<Record<string, (ids: Ids) => string>> = { json: asJson, csv: asCsv };

/** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
function asJson({ advertisers, events, tags }: Ids): string {
  const byKey = (entries: readonly Identified[]) =>
    Object.fromEntries(entries.map(({ key, id }) => [key, exactId(id)] as const));
  return jsonOf({ advertisers: byKey(advertisers), events: byKey(events), tags });
}

function asCsv({ advertisers, events, tags, advertiserKeys }: Ids): string {
  const tag = (text: string | undefined) => (tags === undefined ? [] : [text ?? ""]);
  return csvOf([
    ["kind", "key", "id", "name", "advertiser", "advertiserId", ...tag("tag")],
    ...advertisers.map((each) => ["advertiser", each.key, each.id, nameOf(each), "", "", ...tag("")]),
    ...events.map((each) => {
      const { key, id } = each;
      const advertiserId = shown(each.values.advertiserId);
      const advertiser = advertiserKeys.get(advertiserId) ?? "";
      return ["event", key, id, nameOf(each), advertiser, advertiserId, ...tag(tags?.[key])];
    }),
  ]);
}

/** What a template may name in braces. */
const NAMES = ["id", "key", "eventName", "advertiserId", "eventTypeId", "segmentId", "value"];

/**
 * @param template such as `https://tags.example.com/e?id={id}`.
 * @returns the address of an event, with each value percent-encoded. @throws UsageError where the template is none.
 */
export function addressesBy(template: string): (event: Identified) => string {
  const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = [...new Set(named)].filter((name) => !NAMES.includes(name));
  const inBraces = (names: readonly string[]) => enumerate(names.map((name) => `{${name}}`));
  if (unknown.length > 0) throw new UsageError(`--template knows ${inBraces(NAMES)}; got ${inBraces(unknown)}`);
  if (!named.includes("id")) throw new UsageError("--template needs {id}: without it all events have one address");
  return (event) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id") return event.id;
      if (name === "key") return encodeURIComponent(event.key);
      const value = event.values[name];
      if (value === SECRET) throw new Error(`--template names {${name}}, which is secret of the event ${event.key}`);
      return encodeURIComponent(shown(value));
    });
}
