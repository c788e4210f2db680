import * as pulumi from "@pulumi/pulumi";
import { agree, count, cut, shellWord, type Values } from "../base/index.js";
import {
  CATALOG_RULES,
  type Catalog as CatalogFile,
  describeAlike,
  type Finding,
  readCatalog,
} from "../catalog/index.js";
import { abilitiesOf } from "../decision/index.js";
import { CATALOG_SEPARATOR, CATALOG_TYPE, KINDS, type Kind } from "../kinds/index.js";
import { exactId, InWords, inWords, validate } from "../rules/index.js";
import { type Identity, identityText, journalKeyOf, labelOf, memberOf } from "../state/index.js";
import type { Live } from "../store/index.js";
import { Advertiser, type AdvertiserArgs } from "./advertiser.js";
import { ConversionEvent, type ConversionEventArgs } from "./conversion-event.js";
import { ConversionEventSet, type ConversionEventSetArgs } from "./conversion-event-set.js";
import { type Declaration, optionProblems } from "./declaration.js";
import { isNotPlain, isOfType } from "./ids.js";
import { heardLater, placeOfProgram, typesOf } from "./place.js";
import { currentProgram } from "./program.js";

/** What a {@link Catalog} is declared with. */
export interface CatalogArgs {
  /** The data file, relative to the program's folder: `.yaml`, `.yml`, `.json`, `.csv` or `.tsv`. A plain string. */
  file: string;
  /**
   * One `ConversionEventSet` for each advertiser, named `<catalog>/<key>`, instead of a `ConversionEvent` for each event: for
   * advertisers with hundreds of events, which as single resources take the engine minutes. To be chosen at the beginning: events that
   * change their form are created a second time, unless the file adopts them with `existingId`. @default false
   */
  sets?: boolean;
}

/**
 * The advertisers and conversion events of a data file, each a resource of its own: `Advertiser` `<catalog>/<key>` and
 * `ConversionEvent` `<catalog>/<advertiser's key>/<key>` (with `sets`, a `ConversionEventSet` for each advertiser). The keys alone make
 * the names, so that another order or another form of the file changes nothing.
 *
 * One error lists everything that is wrong in the file, with file, line and column, before anything is registered.
 *
 * @example
 * const shop = new advertising.Catalog("shop", { file: "catalog.yaml" });
 * export const eventIds = shop.eventIds;
 */
export class Catalog extends pulumi.ComponentResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = CATALOG_TYPE;

  /** By key: each advertiser's id. One that a number could not hold exactly (above 2^53 - 1) is its digits as a string. */
  declare public readonly advertiserIds: pulumi.Output<Record<string, number>>;
  /**
   * By key: each event's id, as in `advertiserIds`. Where several advertisers have an event of the same key, its name here is
   * `<advertiser's key>/<key>`.
   */
  declare public readonly eventIds: pulumi.Output<Record<string, number>>;

  /**
   * @param name unique among the stack's catalogs; the names of its resources begin with it.
   * @param options Pulumi's own; `protect`, `parent` and `aliases` reach its resources as with any component. So does
   *   `retainOnDelete: false`, each resource of a kind for which a delete is known.
   */
  constructor(name: string, args: CatalogArgs, options: pulumi.ComponentResourceOptions = {}) {
    const { content, sets, judged, deleting } = declared(name, { ...args }, options);
    // It is registered no sooner than its resources are: once the whole program was found good.
    super(CATALOG_TYPE, name, {}, pulumi.mergeOptions(options, { dependsOn: judged }));
    const optionsOf = (kind: Kind["name"]) => ({
      parent: this,
      ...(deleting.has(kind) ? { retainOnDelete: false } : {}),
    });
    const advertisers = new Map(
      content.advertisers.map((each) => [each.key, advertiserIn(optionsOf("Advertiser"), name, each.key, each.args)]),
    );
    const idsOf = sets ? idsOfSets : idsOfEvents;
    const eventIds = idsOf(optionsOf("ConversionEvent"), name, content.events, advertisers);
    this.advertiserIds = pulumi.output(Object.fromEntries(advertisers)) as pulumi.Output<Record<string, number>>;
    this.eventIds = pulumi.output(Object.fromEntries(eventIds)) as pulumi.Output<Record<string, number>>;
    this.registerOutputs({ advertiserIds: this.advertiserIds, eventIds: this.eventIds });
  }

  /** Whether `value` is a Catalog, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Catalog {
    return isOfType(value, CATALOG_TYPE);
  }
}

/** @param args `undefined` if the advertiser lives already: then its key is its id. @returns its id. */
function advertiserIn(
  options: pulumi.CustomResourceOptions,
  name: string,
  key: string,
  args: Values | undefined,
): pulumi.Input<number | string> {
  if (args === undefined) return exactId(key);
  const all = args as unknown as AdvertiserArgs;
  return new Advertiser(`${name}${CATALOG_SEPARATOR}${key}`, all, options).advertiserId;
}

type Ids = readonly (readonly [key: string, id: pulumi.Output<number>])[];
type Advertisers = ReadonlyMap<string, pulumi.Input<number | string>>;

function idsOfEvents(
  options: pulumi.CustomResourceOptions,
  name: string,
  events: CatalogFile["events"],
  advertisers: Advertisers,
): Ids {
  const keyOf = shownKeys(events);
  return events.map((each) => {
    const { key, advertiser } = each;
    const args = { ...each.args, advertiserId: advertisers.get(advertiser) } as unknown as ConversionEventArgs;
    const full = [name, advertiser, key].join(CATALOG_SEPARATOR);
    return [keyOf(each), new ConversionEvent(full, args, options).eventId];
  });
}

function idsOfSets(
  options: pulumi.CustomResourceOptions,
  name: string,
  events: CatalogFile["events"],
  advertisers: Advertisers,
): Ids {
  const keyOf = shownKeys(events);
  return [...Map.groupBy(events, ({ advertiser }) => advertiser)].flatMap(([advertiser, own]) => {
    const args = {
      advertiserId: advertisers.get(advertiser),
      events: Object.fromEntries(own.map(({ key, args: entry }) => [key, entry])),
    } as unknown as ConversionEventSetArgs;
    const set = new ConversionEventSet([name, advertiser].join(CATALOG_SEPARATOR), args, options);
    return own.map((each) => [keyOf(each), set.eventIds.apply((ids) => ids[each.key] as number)] as const);
  });
}

/** The name under which people find an event's id: its key, with its advertiser's before it if others have an event of that key. */
function shownKeys(events: CatalogFile["events"]): (event: CatalogFile["events"][number]) => string {
  const times = Map.groupBy(events, ({ key }) => key);
  return ({ key, advertiser }) => (times.get(key)?.length === 1 ? key : [advertiser, key].join(CATALOG_SEPARATOR));
}

const NOTHING: CatalogFile = { advertisers: [], events: [], findings: [] };

/** Reads the file, and declares what is wrong with it, so that the program's one error lists that too. */
function declared(name: string, args: Values, options: pulumi.ComponentResourceOptions) {
  const program = currentProgram();
  const plain = Object.entries(args).map(([key, value]) => [
    key,
    isNotPlain(value) ? new InWords("an Output or a Promise") : value,
  ]);
  const { values, problems } = validate(Object.fromEntries(plain), CATALOG_RULES, { isUnknown: () => false });
  const { file } = values;
  const sets = values.sets === true;
  const content = typeof file === "string" ? readCatalog(file, process.cwd(), program.reading.settings) : NOTHING;
  const parentTypes = [typesOf(options.parent) ?? [], CATALOG_TYPE].flat().join("$");
  const form = formProblem(content, sets, program.snapshot.objects, { ...placeOfProgram(), parentTypes, name });
  const label = labelOf("Catalog", name);
  const deletable = KINDS.filter((kind) => abilitiesOf(kind, program.reading.settings).delete);
  const canDelete = new Set(deletable.map((kind) => kind.name));
  const errors = content.findings.filter(({ level }) => level === "error");
  const warnings = linesOf(
    content.findings.filter(({ level }) => level === "warning"),
    MAX_WARNINGS,
    String(file),
  );
  const others = [
    ...inWords(problems),
    ...(form === undefined ? [] : [`sets ${form}`]),
    ...inWords(optionProblems(options, canDelete.size > 0)),
  ];
  const declaration: Declaration = {
    ...NO_RESOURCE,
    label,
    problems: [...linesOf(errors, MAX_ERRORS, String(file)), ...others],
    amount: errors.length + others.length,
    warnings: warnings.length === 0 ? [] : [[`${label}:`, ...warnings.map((line) => `  ${line}`)].join("\n")],
  };
  const deleting = options.retainOnDelete === false ? canDelete : new Set<Kind["name"]>();
  return { content, sets, deleting, judged: heardLater(program.add(declaration).then(() => [])) };
}

/** A catalog declares its resources by their own constructors. */
const NO_RESOURCE = { key: undefined, isRead: false, setOf: undefined, objects: [], formerly: [], tells: {} } as const;

const MAX_ERRORS = 500;
const MAX_WARNINGS = 20;

/** More than `most` are counted. */
function linesOf(findings: readonly Finding[], most: number, file: string): string[] {
  return cut(
    describeAlike(findings),
    most,
    (others) => `and ${others} more, which this lists:\n      npx pulumi-advertising validate ${shellWord(file)}`,
  );
}

/** More events are counted. */
const MAX_SHOWN = 5;

/**
 * The events of a catalog are single resources or members of sets. Another form changes every event's identity, and would create
 * each of them a second time.
 * @param objects what runs on this machine have created. @param place that of the catalog's resources, with its own name.
 * @returns what is wrong with the form, as far as this machine knows: events that live in the other one, and that the file does
 *   not name by their ids.
 */
function formProblem(
  { events }: CatalogFile,
  sets: boolean,
  objects: ReadonlyMap<string, Live>,
  place: Identity,
): string | undefined {
  if (objects.size === 0) return undefined;
  const known = events.flatMap(({ key, advertiser, args }) => {
    const below = (...keys: string[]) =>
      identityText({ ...place, name: [place.name, ...keys].join(CATALOG_SEPARATOR) });
    const single = journalKeyOf("ConversionEvent", below(advertiser, key));
    const member = memberOf(journalKeyOf("ConversionEventSet", below(advertiser)), key);
    const [own, other] = sets ? [member, single] : [single, member];
    const found = objects.get(other);
    if (found === undefined || objects.has(own) || args.existingId !== undefined) return [];
    return [`${advertiser}${CATALOG_SEPARATOR}${key} (${found.id})`];
  });
  if (known.length === 0) return undefined;
  const shown = cut(known, MAX_SHOWN, (others) => `${others} more`).join(", ");
  const amount = known.length;
  const single = agree(amount, "is a resource of its own", "are resources of their own");
  const [is, are] = sets ? ["is true", single] : ["is not set", agree(amount, "is in a set", "are in sets")];
  return (
    `${is}, and ${count(amount, "event")} of the catalog ${are} in this stack: ${shown}. ` +
    "Each would be created a second time, with another id. Leave the option as it was; or write each one's id as existingId in the file, which adopts it"
  );
}
