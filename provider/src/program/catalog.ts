import * as pulumi from "@pulumi/pulumi";
import { cut, type Values } from "../base/index.js";
import {
  CATALOG_RULES,
  type Catalog as CatalogFile,
  describeFinding,
  type Finding,
  readCatalog,
} from "../catalog/index.js";
import { CATALOG_SEPARATOR, CATALOG_TYPE } from "../kinds/index.js";
import { exactId, InWords, validate } from "../rules/index.js";
import { Advertiser, type AdvertiserArgs } from "./advertiser.js";
import { formProblem } from "./catalog-form.js";
import { isOfType } from "./classes.js";
import { ConversionEvent, type ConversionEventArgs } from "./conversion-event.js";
import { ConversionEventSet, type ConversionEventSetArgs } from "./conversion-event-set.js";
import { typesOf } from "./place.js";
import { isNotPlain } from "./plain.js";
import { examineSource } from "./preflight.js";
import { placeOfProgram } from "./resource-identity.js";

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
 * `ConversionEvent` `<catalog>/<advertiser's key>/<key>` (with `sets`, a `ConversionEventSet` for each advertiser). The keys alone make the names, so that another order or another form
 * of the file changes nothing.
 *
 * Everything that is wrong in the file is told at once, with file, line and column, before anything is registered.
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
   * @param options Pulumi's own; `protect`, `parent` and `aliases` reach its resources as with any component.
   */
  constructor(name: string, args: CatalogArgs, options: pulumi.ComponentResourceOptions = {}) {
    const { content, sets, admitted } = examine(name, { ...args }, options);
    // Registered no sooner than its resources are: once the whole program was found good.
    super(CATALOG_TYPE, name, {}, pulumi.mergeOptions(options, { dependsOn: admitted }));
    const advertisers = new Map(
      content.advertisers.map((each) => [each.key, advertiserIn(this, name, each.key, each.args)]),
    );
    const eventIds = (sets ? idsOfSets : idsOfEvents)(this, name, content.events, advertisers);
    this.advertiserIds = pulumi.output(Object.fromEntries(advertisers)) as pulumi.Output<Record<string, number>>;
    this.eventIds = pulumi.output(Object.fromEntries(eventIds)) as pulumi.Output<Record<string, number>>;
    this.registerOutputs({ advertiserIds: this.advertiserIds, eventIds: this.eventIds });
  }

  /** Whether `value` is a Catalog, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Catalog {
    return isOfType(value, CATALOG_TYPE);
  }
}

/** @param args none where it lives already, and its key is its id. @returns its id. */
function advertiserIn(
  catalog: Catalog,
  name: string,
  key: string,
  args: Values | undefined,
): pulumi.Input<number | string> {
  if (args === undefined) return exactId(key);
  const all = args as unknown as AdvertiserArgs;
  return new Advertiser(`${name}${CATALOG_SEPARATOR}${key}`, all, { parent: catalog }).advertiserId;
}

type Ids = readonly (readonly [key: string, id: pulumi.Output<number>])[];
type Advertisers = ReadonlyMap<string, pulumi.Input<number | string>>;

function idsOfEvents(catalog: Catalog, name: string, events: CatalogFile["events"], advertisers: Advertisers): Ids {
  const keyOf = shownKeys(events);
  return events.map((each) => {
    const { key, advertiser } = each;
    const args = { ...each.args, advertiserId: advertisers.get(advertiser) } as unknown as ConversionEventArgs;
    const full = [name, advertiser, key].join(CATALOG_SEPARATOR);
    return [keyOf(each), new ConversionEvent(full, args, { parent: catalog }).eventId];
  });
}

function idsOfSets(catalog: Catalog, name: string, events: CatalogFile["events"], advertisers: Advertisers): Ids {
  const keyOf = shownKeys(events);
  return [...Map.groupBy(events, ({ advertiser }) => advertiser)].flatMap(([advertiser, own]) => {
    const args = {
      advertiserId: advertisers.get(advertiser),
      events: Object.fromEntries(own.map(({ key, args: entry }) => [key, entry])),
    } as unknown as ConversionEventSetArgs;
    const set = new ConversionEventSet([name, advertiser].join(CATALOG_SEPARATOR), args, { parent: catalog });
    return own.map((each) => [keyOf(each), set.eventIds.apply((ids) => ids[each.key] as number)] as const);
  });
}

/** How people find an event's id: by its key, or with its advertiser's where others have an event of that key. */
function shownKeys(events: CatalogFile["events"]): (event: CatalogFile["events"][number]) => string {
  const times = Map.groupBy(events, ({ key }) => key);
  return ({ key, advertiser }) => (times.get(key)?.length === 1 ? key : [advertiser, key].join(CATALOG_SEPARATOR));
}

const NOTHING: CatalogFile = { advertisers: [], events: [], findings: [] };

/** Reads the file, and tells what is wrong with it together with the rest of the program. */
function examine(name: string, args: Values, options: pulumi.ComponentResourceOptions) {
  const known = Object.entries(args).map(([key, value]) => [
    key,
    isNotPlain(value) ? new InWords("an Output or a Promise") : value,
  ]);
  const { values, problems } = validate(Object.fromEntries(known), CATALOG_RULES, { isUnknown: () => false });
  const { limits, live, report, admitted } = examineSource(options);
  const { file } = values;
  const sets = values.sets === true;
  const content = typeof file === "string" ? readCatalog(file, process.cwd(), limits) : NOTHING;
  const parentTypes = [typesOf(options.parent) ?? [], CATALOG_TYPE].flat().join("$");
  const form = formProblem(content, sets, live, { ...placeOfProgram(), parentTypes, name });
  const title = `Catalog "${name}"`;
  report(title, [
    ...problems.map(({ property, reason }) => `${property} ${reason}`),
    ...linesOf(content.findings, "error", MAX_ERRORS, String(file)),
    ...(form === undefined ? [] : [`sets ${form}`]),
  ]);
  const warnings = linesOf(content.findings, "warning", MAX_WARNINGS, String(file));
  if (warnings.length > 0) void pulumi.log.warn([`${title}:`, ...warnings.map((line) => `  ${line}`)].join("\n"));
  const nothing = admitted.then(() => []);
  // Pulumi listens only later: Node would warn of a rejection that nobody handles.
  nothing.catch(() => undefined);
  return { content, sets, admitted: nothing };
}

const MAX_ERRORS = 500;
const MAX_WARNINGS = 20;

/** More than `most` are counted. */
function linesOf(findings: readonly Finding[], level: Finding["level"], most: number, file: string): string[] {
  const all = findings.filter((finding) => finding.level === level).map(describeFinding);
  return cut(all, most, (others) => `and ${others} more: npx pulumi-advertising check ${file}`);
}
