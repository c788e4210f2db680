/**
 * `report ids`: ids by key, for those who place tags, as JSON, CSV, environment variables, or a TypeScript module; with the
 * addresses of tags, which come from the user's own template, since the platform's are not known.
 */
import { enumerate, nearest } from "../base/index.js";
import { exactId } from "../rules/index.js";
import { type Contents, csvOf, type Entry, jsonOf, nameOf, SECRET, shown } from "./contents.js";

/** An event or advertiser with its id. */
type Identified = Entry & { readonly id: string };

export interface Ids {
  readonly advertisers: readonly Identified[];
  readonly events: readonly Identified[];
  /** Without an id, since their outcomes are unknown. */
  readonly unresolved: readonly Entry[];
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
    unresolved: [...advertisers, ...contents.events].filter(
      ({ id, openSince }) => id === undefined && openSince !== undefined,
    ),
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
 * @returns the address of an event, with each value percent-encoded. @throws Error where the template is none.
 */
export function addressesBy(template: string): (event: Identified) => string {
  const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = [...new Set(named)].filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    const told = unknown.map((name) => {
      const meant = nearest(name, NAMES);
      return `{${name}}${meant === undefined ? "" : ` (did you mean {${meant}}?)`}`;
    });
    throw new Error(`--template knows ${enumerate(NAMES.map((name) => `{${name}}`))}; got ${enumerate(told)}`);
  }
  if (!named.includes("id")) throw new Error("--template needs {id}: without it all events have one address");
  return (event) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id") return event.id;
      if (name === "key") return encodeURIComponent(event.key);
      const value = event.values[name];
      if (value === SECRET) throw new Error(`--template names {${name}}, which is secret of the event ${event.key}`);
      return encodeURIComponent(shown(value));
    });
}
