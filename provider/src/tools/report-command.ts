/**
 * `pulumi-advertising report`: what a stack's state or a preview says, for the people who run the account. Here too are the ids by key, for
 * those who place tags, as JSON, CSV, environment variables, or a TypeScript module; with the addresses of tags, which come from the
 * user's own template, since the platform's are not known.
 */
import { count, enumerate, nearest, UsageError } from "../base/index.js";
import { exactId } from "../rules/index.js";
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
import { chosen, command, refuseForeignOptions, textOf, type Values, write } from "./harness.js";
import { pageOf } from "./page.js";
import { readPreview } from "./preview.js";
import { STACK_HELP, STACK_OPTIONS, settingInEnvironment, stateOf } from "./pulumi.js";
import { type ExportedStack, stackIn, stateIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising report ids|page|comment [options]

Reports on a stack or a preview. Sends and changes nothing. Secret values are shown as "(secret)".

  ids          the ids of advertisers and conversion events, by their names in the program
  page         one HTML file that needs no network: events, ids to copy, windows as bars, event types that an advertiser
               lacks
  comment      a preview as Markdown for a pull request, of at most 60,000 characters; reads what
               \`pulumi preview --json --show-sames\` printed, on standard input

  --format FORMAT        ids as json (default), csv, dotenv, or ts: a TypeScript module
  --template URL         ids with the address of each event's tag: {id}, {key}, {eventName}, {advertiserId},
                         {eventTypeId}, {segmentId} and {value} are replaced
  --preview FILE         for comment: instead of standard input
  --state FILE           what \`pulumi stack export\` printed (- for standard input), instead of a stack
${STACK_HELP}
  --out FILE             writes to FILE

Exit codes: 0 written, 2 failed.`;

const OPTIONS = {
  state: { type: "string" },
  ...STACK_OPTIONS,
  format: { type: "string" },
  template: { type: "string" },
  preview: { type: "string" },
  out: { type: "string" },
} as const;

type Options = Omit<Values<typeof OPTIONS>, "out">;

interface Report {
  /** The options that mean something to it, beside those that all reports have. */
  readonly takes: readonly (keyof Options)[];
  readonly text: (options: Options) => Promise<string>;
}

const FROM_STATE = ["state", "stack", "cwd"] as const;

const REPORTS: Readonly<Record<string, Report>> = {
  ids: { takes: [...FROM_STATE, "format", "template"], text: ids },
  page: { takes: FROM_STATE, text: page },
  comment: {
    takes: ["preview"],
    text: async ({ preview = "-" }) => {
      // They decide what becomes of an object. A preview holds them if the stack sets them.
      const [operations, markField] = [settingInEnvironment("operations"), settingInEnvironment("markField")];
      return commentOf(readPreview(await textOf(preview), { operations, markField }));
    },
  },
};

export const reportCommand = command({
  help: HELP,
  options: OPTIONS,
  takes: { amount: 1, words: `one report: ${enumerate(Object.keys(REPORTS))}` },
  run: async ({ out, ...options }, name = "") => {
    const report = chosen(REPORTS, name, "report");
    refuseForeignOptions(`report ${name}`, options, report.takes);
    write(await report.text(options), out);
    return 0;
  },
});

/** More names are counted. */
const MAX_LISTED = 20;

async function ids({ format = "json", template, ...choice }: Options): Promise<string> {
  const inFormat = chosen(ID_FORMATS, format, "format");
  const addressOf = template === undefined ? undefined : addressesBy(template);
  const found = idsOf(contentsIn(await stateOf(choice)), addressOf);
  if (found.missing.length > 0) {
    const keys = found.missing.map(({ key }) => key);
    console.error(
      `Warning: ${count(keys.length, "object has", "objects have")} no id yet (unresolved, or still to be created): ${enumerate(keys, MAX_LISTED)}`,
    );
  }
  return inFormat(found);
}

async function page(choice: Options): Promise<string> {
  const state = await stateOf(choice);
  return pageOf(contentsIn(state), stackIn(state) ?? "", stateIn(state).time);
}

function contentsIn(stack: ExportedStack): Contents {
  const contents = contentsOf(stateIn(stack).resources);
  warnOfSecretSets(contents, "so its events are left out");
  return contents;
}

type Identified = Entry & { readonly id: string };

export interface Ids {
  readonly advertisers: readonly Identified[];
  readonly events: readonly Identified[];
  /** Without an id: the outcome of their create is unknown, or the next run sends it. */
  readonly missing: readonly Entry[];
  /** The tags' addresses by the keys of the events, where there is a template. */
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly advertiserKeys: Contents["advertiserKeys"];
}

/** Sorted by key, so that the same state is always the same text. */
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
  const those = entries.filter((entry): entry is Identified => entry.id !== undefined);
  return those.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Each ends with a line break. @throws Error in words, where a format can't tell two keys apart. */
export const ID_FORMATS: Readonly<Record<string, (ids: Ids) => string>> = {
  json: asJson,
  csv: asCsv,
  dotenv: asDotenv,
  ts: asTypeScript,
};

/** A contract: fields are only added. An id is a number, or digits where a number can't hold it exactly. */
function asJson({ advertisers, events, tags }: Ids): string {
  return jsonOf({ advertisers: byKey(advertisers), events: byKey(events), tags });
}

function byKey(entries: readonly Identified[]): Record<string, number | string> {
  return Object.fromEntries(entries.map(({ key, id }) => [key, exactId(id)]));
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

/** `EVENT_<KEY>=<id>`, in capitals, digits and underscores. */
function asDotenv({ advertisers, events, tags }: Ids): string {
  const variables = [
    ...advertisers.map(({ key, id }) => ({ of: key, name: `ADVERTISER_${variable(key)}`, value: id })),
    ...events.flatMap(({ key, id }) => [
      { of: key, name: `EVENT_${variable(key)}`, value: id },
      ...(tags === undefined
        ? []
        : [{ of: key, name: `TAG_${variable(key)}`, value: `'${tags[key]?.replaceAll("'", "%27")}'` }]),
    ]),
  ];
  const clashes = [...Map.groupBy(variables, ({ name }) => name)].filter(([, those]) => those.length > 1);
  if (clashes.length > 0) {
    const told = clashes.map(([name, those]) => `${name} (${those.map(({ of }) => of).join(", ")})`);
    throw new Error(`as environment variables, some keys would have one name: ${told.join("; ")}. Use --format json`);
  }
  return variables.map(({ name, value }) => `${name}=${value}\n`).join("");
}

/** Letters of other alphabets by their code points, so that two such keys stay two. */
function variable(key: string): string {
  return [...key.toUpperCase()]
    .map((character) => {
      if (/[A-Z0-9_]/.test(character)) return character;
      return character.charCodeAt(0) < 128 ? "_" : `U${character.codePointAt(0)?.toString(16).toUpperCase()}`;
    })
    .join("");
}

function asTypeScript({ advertisers, events, tags }: Ids): string {
  // Written plainly, a key of that name would set the object's prototype instead.
  const literal = (value: unknown) =>
    JSON.stringify(value, undefined, 2).replace(/^ {2}"__proto__":/m, '  ["__proto__"]:');
  const constant = (name: string, value: unknown) => `export const ${name} = ${literal(value)} as const;\n`;
  return [
    "// Written by `pulumi-advertising report ids --format ts`: run it again instead of changing this file.\n",
    constant("advertiserIds", byKey(advertisers)),
    constant("eventIds", byKey(events)),
    ...(tags === undefined ? [] : [constant("tags", tags)]),
  ].join("\n");
}

/** What a template may name in braces, beside the arguments of an event. */
const ARGUMENTS = ["eventName", "advertiserId", "eventTypeId", "segmentId", "value"] as const;
const NAMES = ["id", "key", ...ARGUMENTS];

/**
 * @param template such as `https://tags.example.com/e?id={id}`.
 * @returns the address of an event, with each value percent-encoded. @throws UsageError where the template is none.
 */
export function addressesBy(template: string): (event: Identified) => string {
  const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = [...new Set(named)].filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    const told = unknown.map((name) => {
      const meant = nearest(name, NAMES);
      return `{${name}}${meant === undefined ? "" : ` (did you mean {${meant}}?)`}`;
    });
    throw new UsageError(`--template knows ${enumerate(NAMES.map((name) => `{${name}}`))}; got ${enumerate(told)}`);
  }
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
