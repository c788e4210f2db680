import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import {
  CATALOG_RULES,
  type CatalogContent,
  describeAlike,
  readCatalog,
} from "../catalog/index.js";
import { asksToDelete, CATALOG_SEPARATOR, CATALOG_TYPE, KINDS } from "../kinds/index.js";
import { exactId, problemMessages, validate } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { labelOf } from "../state/index.js";
import {
  holdsOutput,
  isOfType,
  optionFindings,
  withDeletionPolicy,
} from "./declaration.js";
import { currentProgram, stopAfter } from "./program.js";
import { awaitLater } from "./pulumi-internals.js";
import { Advertiser, ConversionEvent, ConversionEventSet } from "./resources.js";

/** The arguments of a {@link Catalog}. */
export interface CatalogArgs {
  /** The data file, relative to the program's folder: `.yaml`, `.yml`, `.json`, `.csv` or `.tsv`. A plain string. */
  file: string;
  /**
   * `true` declares a `ConversionEventSet` for each advertiser, named `<catalog>/<key>`, instead of
   * `ConversionEvent`s: for hundreds of events. A later switch creates all events again, unless the file adopts them
   * (`existingId`).
   * @default false
   */
  sets?: boolean | undefined;
  /** The CSV columns to leave out, by their headings in the file. Other unknown columns are an error. */
  ignoreColumns?: readonly string[] | undefined;
  /** Whether live objects that leave the catalog are deleted, as for an `Advertiser`. @default "retain" */
  deletionPolicy?: "retain" | "delete" | undefined;
}

/**
 * The advertisers and conversion events of a data file, each a resource of its own: `Advertiser` `<catalog>/<key>` and
 * `ConversionEvent` `<catalog>/<advertiser's key>/<key>` (with `sets`, a `ConversionEventSet` for each advertiser). The
 * names depend only on the keys, so the file's order and format don't matter. One error lists all mistakes in the file,
 * with their places, before anything is registered.
 *
 * @example
 * const shop = new advertising.Catalog("shop", { file: "catalog.yaml" });
 * export const eventIds = shop.eventIds;
 */
export class Catalog extends pulumi.ComponentResource {
  /** The type token, for policy packs and `isInstance`. */
  static readonly __pulumiType = CATALOG_TYPE;

  /** Each advertiser's id, by key. An id above 2^53 - 1 is a string of digits. */
  declare readonly advertiserIds: pulumi.Output<Record<string, number>>;
  /** Each event's id, by key; by `<advertiser's key>/<key>` if several advertisers have an event with that key. */
  declare readonly eventIds: pulumi.Output<Record<string, number>>;

  /**
   * @param name unique among the stack's catalogs; the names of its resources begin with it.
   * @param options Pulumi's; `protect`, `parent` and `aliases` apply to its resources, as with any component.
   */
  constructor(
    name: string,
    args: CatalogArgs,
    options: pulumi.ComponentResourceOptions = {},
  ) {
    const { content, sets, validated, deletionPolicy } = declareFile(
      name,
      { ...args },
      options,
    );
    // The component waits, like its resources, until the program is found valid.
    try {
      super(CATALOG_TYPE, name, {}, pulumi.mergeOptions(options, { dependsOn: validated }));
    } catch (error) {
      throw stopAfter(error);
    }
    const ofAll = { parent: this };
    const advertiserIds: Record<string, pulumi.Input<number | string>> = {};
    for (const { key, args: own } of content.advertisers) {
      // An advertiser without arguments exists already, and its key is its id.
      advertiserIds[key] = own
        ? new Advertiser(
            resourceName(name, key),
            { deletionPolicy, ...own } as never,
            ofAll,
          ).advertiserId
        : exactId(key);
    }
    const byKey = Map.groupBy(content.events, ({ key }) => key);
    const eventIds: Record<string, pulumi.Output<number>> = {};
    for (const [owner, events] of Map.groupBy(
      content.events,
      (event) => event.advertiser,
    )) {
      const prefix = resourceName(name, owner);
      const entries = events.map(({ key, args: entry }) => [key, entry]);
      const shared = { advertiserId: advertiserIds[owner], deletionPolicy };
      const ofSet = { ...shared, events: Object.fromEntries(entries) } as never;
      const set = sets ? new ConversionEventSet(prefix, ofSet, ofAll) : undefined;
      for (const { key, args: entry } of events) {
        const { formerKey, ...others } = entry;
        const aliases =
          formerKey === undefined
            ? []
            : [{ name: resourceName(prefix, String(formerKey)) }];
        const id =
          set?.eventIds.apply((ids) => ids[key] as number) ??
          new ConversionEvent(
            resourceName(prefix, key),
            { ...others, ...shared } as never,
            {
              ...ofAll,
              aliases,
            },
          ).eventId;
        const isUnique = byKey.get(key)?.length === 1;
        eventIds[isUnique ? key : resourceName(owner, key)] = id;
      }
    }
    const outputs = {
      advertiserIds: pulumi.output(advertiserIds),
      eventIds: pulumi.output(eventIds),
    };
    Object.assign(this, outputs);
    this.registerOutputs(outputs);
  }

  /** Whether `value` is a Catalog, of whichever copy of this package. */
  static override isInstance(value: unknown): value is Catalog {
    return isOfType(value, CATALOG_TYPE);
  }
}

function resourceName(...parts: readonly string[]) {
  return parts.join(CATALOG_SEPARATOR);
}

/** Reads the file and declares its mistakes, so that the program's one error lists them too. */
function declareFile(name: string, args: Values, options: pulumi.ComponentResourceOptions) {
  const program = currentProgram();
  const { settings } = program.reading;
  const { values, problems } = validate(
    withDeletionPolicy(args, options).props,
    CATALOG_RULES,
    {
      read: (_, value) => (holdsOutput(value) ? Symbol("an Output") : value),
    },
  );
  const { file, ignoreColumns, sets, deletionPolicy } = values as Partial<CatalogArgs>;
  const content: CatalogContent =
    file === undefined
      ? { advertisers: [], events: [], findings: [] }
      : readCatalog(file, settings, ignoreColumns);
  const canDelete = KINDS.some((kind) => knownOperations(kind, settings).delete);
  const ofOptions = optionFindings(options, asksToDelete(values), canDelete);
  const byLevel = Map.groupBy(content.findings, ({ level }) => level);
  const added = program.add({
    title: labelOf("Catalog", name),
    lines: [
      ...describeAlike(byLevel.get("error") ?? []),
      ...problemMessages([...problems, ...ofOptions.problems]),
    ],
    warnings: [
      ...describeAlike(byLevel.get("warning") ?? []),
      ...problemMessages(ofOptions.warnings),
    ],
  });
  return {
    content,
    sets,
    deletionPolicy,
    validated: awaitLater(added.then(() => [])),
  };
}
