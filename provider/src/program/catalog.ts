import * as pulumi from "@pulumi/pulumi";
import { cut, shellWord, type Values } from "../base/index.js";
import {
  CATALOG_RULES,
  describeAlike,
  type Catalog as File,
  type Finding,
  readCatalog,
} from "../catalog/index.js";
import {
  advertiser,
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  conversionEvent,
  KINDS,
  type Kind,
} from "../kinds/index.js";
import { abilitiesOf } from "../plan/index.js";
import { exactId, problemMessages, validate } from "../rules/index.js";
import { labelOf } from "../state/index.js";
import { optionProblems } from "./declaration.js";
import { isOfType } from "./ids.js";
import { heardLater } from "./place.js";
import { currentProgram } from "./program.js";
import {
  Advertiser,
  type AdvertiserArgs,
  ConversionEvent,
  type ConversionEventArgs,
  ConversionEventSet,
  type ConversionEventSetArgs,
} from "./resources.js";

/** What a {@link Catalog} is declared with. */
export interface CatalogArgs {
  /** The data file, relative to the program's folder: `.yaml`, `.yml`, `.json`, `.csv` or `.tsv`. A plain string. */
  file: string;
  /**
   * One `ConversionEventSet` per advertiser, named `<catalog>/<key>`, instead of `ConversionEvent`s: for hundreds of
   * events. Switching later creates events a second time unless the file adopts them (`existingId`). @default false
   */
  sets?: boolean | undefined;
}

/**
 * The advertisers and conversion events of a data file, each a resource of its own: `Advertiser` `<catalog>/<key>` and
 * `ConversionEvent` `<catalog>/<advertiser's key>/<key>` (with `sets`, a `ConversionEventSet` for each advertiser). The
 * keys alone make the names, so that another order or form of the file changes nothing. One error lists everything that
 * is wrong in the file, with its place, before anything is registered.
 *
 * @example
 * const shop = new advertising.Catalog("shop", { file: "catalog.yaml" });
 * export const eventIds = shop.eventIds;
 */
export class Catalog extends pulumi.ComponentResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = CATALOG_TYPE;

  /** Each advertiser's id, by key. One that a number could not hold exactly (above 2^53 - 1) is digits as a string. */
  declare public readonly advertiserIds: pulumi.Output<Record<string, number>>;
  /** Each event's id, by key; by `<advertiser's key>/<key>` where several advertisers have an event of that key. */
  declare public readonly eventIds: pulumi.Output<Record<string, number>>;

  /**
   * @param name unique among the stack's catalogs; the names of its resources begin with it.
   * @param options Pulumi's own; `protect`, `parent` and `aliases` reach its resources as with any component. So does
   *   `retainOnDelete: false`, each resource of a kind for which a delete is known.
   */
  constructor(name: string, args: CatalogArgs, options: pulumi.ComponentResourceOptions = {}) {
    const { content, sets, validated, deleting } = declared(name, { ...args }, options);
    // It is registered no sooner than its resources are: once the whole program was found good.
    super(CATALOG_TYPE, name, {}, pulumi.mergeOptions(options, { dependsOn: validated }));
    const optionsOf = (kind: Kind) => ({
      parent: this,
      ...(deleting.includes(kind) ? { retainOnDelete: false } : {}),
    });
    const advertisers = new Map(
      content.advertisers.map(({ key, args: own }): [string, AdvertiserId] => {
        if (own === undefined) return [key, exactId(key)]; // it lives already
        const all = own as unknown as AdvertiserArgs;
        return [key, new Advertiser(named(name, key), all, optionsOf(advertiser)).advertiserId];
      }),
    );
    const times = Map.groupBy(content.events, ({ key }) => key);
    const eventIds = [...Map.groupBy(content.events, (event) => event.advertiser)].flatMap(
      ([owner, events]) => {
        const ids = declareAll(
          sets,
          named(name, owner),
          advertisers.get(owner),
          events,
          optionsOf(conversionEvent),
        );
        return ids.map(
          ([key, id]) => [times.get(key)?.length === 1 ? key : named(owner, key), id] as const,
        );
      },
    );
    this.advertiserIds = pulumi.output(Object.fromEntries(advertisers)) as pulumi.Output<
      Record<string, number>
    >;
    this.eventIds = pulumi.output(Object.fromEntries(eventIds)) as pulumi.Output<
      Record<string, number>
    >;
    this.registerOutputs({ advertiserIds: this.advertiserIds, eventIds: this.eventIds });
  }

  /** Whether `value` is a Catalog, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Catalog {
    return isOfType(value, CATALOG_TYPE);
  }
}

type AdvertiserId = pulumi.Input<number | string>;

function named(...parts: readonly string[]): string {
  return parts.join(CATALOG_SEPARATOR);
}

/** Of one advertiser. @param name the catalog's, and the advertiser's key. @returns their ids. */
function declareAll(
  sets: boolean,
  name: string,
  advertiserId: AdvertiserId | undefined,
  events: File["events"],
  options: pulumi.CustomResourceOptions,
): [key: string, id: pulumi.Output<number>][] {
  if (!sets)
    return events.map(({ key, args: { formerKey, ...args } }) => {
      const all = { ...args, advertiserId } as unknown as ConversionEventArgs;
      const aliases = formerKey === undefined ? [] : [{ name: named(name, String(formerKey)) }];
      return [key, new ConversionEvent(named(name, key), all, { ...options, aliases }).eventId];
    });
  const entries = Object.fromEntries(events.map(({ key, args }) => [key, args]));
  const all = { advertiserId, events: entries } as unknown as ConversionEventSetArgs;
  const { eventIds } = new ConversionEventSet(name, all, options);
  return events.map(({ key }) => [key, eventIds.apply((ids) => ids[key] as number)]);
}

const NOTHING: File = { advertisers: [], events: [], findings: [] };

/** Reads the file, and declares what is wrong with it, so that the program's one error lists that too. */
function declared(name: string, args: Values, options: pulumi.ComponentResourceOptions) {
  const program = currentProgram();
  const { settings } = program.reading;
  const { values, problems } = validate(args, CATALOG_RULES, { isUnknown: () => false });
  const file = typeof values.file === "string" ? values.file : "";
  const content = file === "" ? NOTHING : readCatalog(file, process.cwd(), settings);
  const title = labelOf("Catalog", name);
  const canDelete = KINDS.filter((kind) => abilitiesOf(kind, settings).delete);
  const byLevel = Map.groupBy(content.findings, ({ level }) => level);
  const errors = byLevel.get("error") ?? [];
  const others = problemMessages([...problems, ...optionProblems(options, canDelete.length > 0)]);
  const warnings = linesOf(byLevel.get("warning") ?? [], file).map((line) => `  ${line}`);
  const declaration = {
    finding: {
      title,
      lines: [...linesOf(errors, file), ...others],
      problems: errors.length + others.length,
    },
    warnings: warnings.length === 0 ? [] : [[`${title}:`, ...warnings].join("\n")],
    resource: undefined,
  };
  const deleting = options.retainOnDelete === false ? canDelete : [];
  const validated = heardLater(program.add(declaration).then(() => []));
  return { content, sets: values.sets === true, deleting, validated };
}

const MAX_FINDINGS = 100;

function linesOf(findings: readonly Finding[], file: string): string[] {
  const command = `npx pulumi-advertising validate ${shellWord(file)}`;
  return cut(
    describeAlike(findings),
    MAX_FINDINGS,
    (more) => `and ${more} more, which this lists:\n      ${command}`,
  );
}
