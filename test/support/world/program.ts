/**
 * A program as data, and what the program's half makes of it, with the same `declare`, `judge` and `judgeRemovals` as for a real
 * program, but without Pulumi's constructors.
 */
import * as pulumi from "@pulumi/pulumi";
import { readCsvEvents } from "../../../provider/src/catalog/csv-catalog.js";
import { judgeCatalog } from "../../../provider/src/catalog/judge.js";
import { describeFinding } from "../../../provider/src/catalog/written.js";
import { readYaml, readYamlCatalog } from "../../../provider/src/catalog/yaml-catalog.js";
import type { Kind, SetKind } from "../../../provider/src/kinds/index.js";
import {
  advertiser,
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  conversionEvent,
  conversionEventSet,
  typeTokenOf,
} from "../../../provider/src/kinds/index.js";
import { adoptionsToNote, judge, judgeRemovals } from "../../../provider/src/program/batch.js";
import { type Declaration, declare } from "../../../provider/src/program/declaration.js";
import { Declared } from "../../../provider/src/program/declared.js";
import type { Finding } from "../../../provider/src/program/findings.js";
import { Outputs } from "../../../provider/src/program/ids.js";
import { placeOfProgram } from "../../../provider/src/program/place.js";
import { isPlatformId } from "../../../provider/src/rules/index.js";
import type { Settings } from "../../../provider/src/settings/index.js";
import { type Briefing, identityText, urnOf, writeBriefing } from "../../../provider/src/state/index.js";
import { Inventory, look, type StorePaths } from "../../../provider/src/store/index.js";

export interface Entry {
  readonly eventName: string;
  readonly value: number;
  readonly existingId?: string | undefined;
}

/** One resource of a program. It names its advertiser by the resource's name, or by the id in digits. */
export interface Resource {
  readonly type: "Advertiser" | "ConversionEvent" | "ConversionEventSet";
  readonly name: string;
  /** Its former names. */
  readonly aliases?: readonly string[] | undefined;
  readonly advertiser?: string | undefined;
  readonly platformName?: string | undefined;
  readonly value?: number | undefined;
  readonly existingId?: string | undefined;
  readonly events?: Readonly<Record<string, Entry>> | undefined;
  readonly deletes?: boolean | undefined;
  readonly protect?: boolean | undefined;
  readonly replaceOnChanges?: readonly string[] | undefined;
}

/** Advertisers by name, then other resources by type and name. */
export type Program = ReadonlyMap<string, Resource>;

/** An event of a catalog. */
export interface Row extends Entry {
  readonly key: string;
  /** The key of an advertiser in the catalog, or the id of a live one. */
  readonly advertiser: string;
}

export interface Catalog {
  readonly name: string;
  readonly sets: boolean;
  readonly rows: readonly Row[];
}

/** What people write: resources and catalogs. */
export interface Source {
  readonly program: Program;
  /** By name. */
  readonly catalogs: ReadonlyMap<string, Catalog>;
}

export const keyOf = ({ type, name }: Pick<Resource, "type" | "name">) => `${type} ${name}`;

const KINDS: Readonly<Record<Resource["type"], Kind | SetKind>> = {
  Advertiser: advertiser,
  ConversionEvent: conversionEvent,
  ConversionEventSet: conversionEventSet,
};

/** Only the resources of a catalog have the separator in their names. */
const parentTypesOf = (name: string) => (name.includes(CATALOG_SEPARATOR) ? CATALOG_TYPE : undefined);

const identityOf = (name: string) => identityText({ ...placeOfProgram(), parentTypes: parentTypesOf(name), name });

export const urnOfResource = ({ type, name }: Pick<Resource, "type" | "name">) =>
  urnOf(identityOf(name), typeTokenOf(type));

const inOrder = (program: ReadonlyMap<string, Resource>): Program =>
  new Map([...program].sort(([a], [b]) => (a < b ? -1 : 1)));

/** All resources of a program, including those of its catalogs. */
export function allOf({ program, catalogs }: Source): Program {
  if (catalogs.size === 0) return program;
  const more = [...catalogs.values()]
    .flatMap((catalog) => contentOf(catalog).resources)
    .map((each) => [keyOf(each), each] as const);
  return inOrder(new Map([...program, ...more]));
}

export function findingsOf({ catalogs }: Source): Finding[] {
  return [...catalogs.values()].flatMap((each) => contentOf(each).findings);
}

/** A catalog's files: one for its advertisers, and one for the events. A live advertiser is named by its id. */
export function filesOf({ name, rows }: Catalog): { readonly json: string; readonly csv: string } {
  const keys = new Set(rows.map(({ advertiser }) => advertiser).filter((key) => !isPlatformId(key)));
  const advertisers = Object.fromEntries([...keys].map((key) => [key, { advertiserName: `Acme ${key}` }]));
  const cell = (text: unknown) => `"${String(text ?? "").replaceAll('"', '""')}"`;
  const lines = rows.map(({ advertiser, key, eventName, value, existingId }) =>
    [advertiser, key, eventName, value, existingId].map(cell).join(","),
  );
  return {
    json: JSON.stringify({ advertisers, eventsFile: `${name}.csv` }),
    csv: ["advertiser,key,eventName,value,existingId", ...lines].join("\n"),
  };
}

const LIMITS = { maxWindowSeconds: 2_592_000, markField: undefined };

interface Content {
  readonly resources: readonly Resource[];
  readonly findings: readonly Finding[];
}

const read = new WeakMap<Catalog, Content>();

/** A catalog's content as the room `catalog` reads its file, with the names that its component gives. */
function contentOf(catalog: Catalog): Content {
  const known = read.get(catalog);
  if (known !== undefined) return known;
  const { name, sets } = catalog;
  const files = filesOf(catalog);
  const yaml = readYaml(files.json, "catalog.json", "json");
  if (!("data" in yaml)) throw new Error("this is no JSON");
  const written = { ...readYamlCatalog(yaml, "catalog.json"), events: readCsvEvents(files.csv, "catalog.csv").events };
  const { advertisers, events, findings } = judgeCatalog(written, LIMITS);
  const lines = findings.filter(({ level }) => level === "error").map(describeFinding);
  const below = (...keys: string[]) => [name, ...keys].join(CATALOG_SEPARATOR);
  const own = advertisers.flatMap(({ key, args }): Resource[] =>
    args === undefined ? [] : [{ type: "Advertiser", name: below(key), platformName: String(args.advertiserName) }],
  );
  const entries = events.map(({ key, advertiser: owner, args }) => {
    const { eventName, value, existingId } = args as { eventName: string; value: number; existingId?: unknown };
    const entry = { eventName, value, ...(existingId === undefined ? {} : { existingId: String(existingId) }) };
    return { key, owner, advertiser: isPlatformId(owner) ? owner : below(owner), entry };
  });
  const found = sets
    ? [...Map.groupBy(entries, ({ owner }) => owner)].map(
        ([owner, those]): Resource => ({
          type: "ConversionEventSet",
          name: below(owner),
          advertiser: those[0]?.advertiser,
          events: Object.fromEntries(those.map(({ key, entry }) => [key, entry])),
        }),
      )
    : entries.map(
        ({ key, owner, advertiser: by, entry: { eventName, ...entry } }): Resource => ({
          type: "ConversionEvent",
          name: below(owner, key),
          advertiser: by,
          platformName: eventName,
          ...entry,
        }),
      );
  const content = {
    resources: [...own, ...found],
    findings: lines.length === 0 ? [] : [{ title: `Catalog "${name}"`, lines, problems: lines.length }],
  };
  read.set(catalog, content);
  return content;
}

/** Outputs for the ids of advertisers, which only a run knows. */
const ids = new Map<string, pulumi.Output<number>>();

function idOf(name: string): pulumi.Output<number> {
  const known = ids.get(name) ?? pulumi.output(new Promise<number>(() => undefined));
  ids.set(name, known);
  return known;
}

/** What one run of a program declares. */
export interface Said {
  /** If there are any, nothing is registered. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** The inputs for a resource; the engine gives the advertiser's id. */
  inputsOf(resource: Resource, advertiserId: unknown): Record<string, unknown>;
  /** At the program's end. */
  atEnd(): { readonly findings: readonly Finding[]; readonly warnings: readonly string[] };
}

/** @param wrong the problems of its catalogs. */
export function saidBy(
  program: Program,
  settings: Settings,
  paths: StorePaths,
  isPreview: boolean,
  wrong: readonly Finding[] = [],
): Said {
  const outputs = new Outputs();
  const declared = new Declared();
  const snapshot = look(paths);
  const resources = [...program.values()];
  for (const { type, name } of resources) {
    if (type === "Advertiser") outputs.noteOwn(idOf(name));
  }
  const declarations = resources.map(declareOne);
  for (const each of declarations) declared.add(each);
  const judged = judge(declarations, declared, snapshot, isPreview);
  const { warnings, briefings } = judged;
  const findings = [...wrong, ...judged.findings];
  if (findings.length === 0 && !isPreview)
    new Inventory(paths.objects).noteAdopts(declared.program, adoptionsToNote(declarations, snapshot));
  return {
    findings,
    warnings,
    inputsOf: (resource, advertiserId) => {
      const key = declarationKey(declarations[resources.indexOf(resource)] as Declaration);
      const more = briefings.get(key) ?? {};
      const identity = identityOf(resource.name);
      return {
        ...argumentsOf(resource, advertiserId),
        __identity: writeBriefing({ identity, ...(more as Omit<Briefing, "identity">) }),
        __provider: `exports.handler=()=>require("pulumi-advertising/handlers").${KINDS[resource.type].handler}`,
      };
    },
    atEnd: () => {
      const judged = judgeRemovals(declared, snapshot, settings);
      if (judged.findings.length === 0 && !isPreview) new Inventory(paths.objects).noteEnded(declared.program);
      return judged;
    },
  };

  function declareOne(resource: Resource): Declaration {
    const { type, name, aliases = [], deletes, protect, replaceOnChanges } = resource;
    const kind = KINDS[type];
    const owner = resource.advertiser;
    const given = argumentsOf(resource, owner === undefined || isPlatformId(owner) ? owner : idOf(owner));
    const options = {
      retainOnDelete: deletes !== true,
      protect: protect === true,
      ...(parentTypesOf(name) === undefined ? {} : { parent: CATALOG }),
      ...(aliases.length === 0 ? {} : { aliases: aliases.map((alias) => ({ name: alias })) }),
      ...(replaceOnChanges === undefined ? {} : { replaceOnChanges: [...replaceOnChanges] }),
    };
    return declare({ kind, name, args: given, options }, { settings, outputs });
  }
}

/** The parts of a component that declarations read. */
const CATALOG = { __pulumiType: CATALOG_TYPE } as unknown as pulumi.Resource;

function declarationKey({ key }: Declaration): string {
  return key ?? "";
}

function argumentsOf(resource: Resource, advertiserId: unknown): Record<string, unknown> {
  const { type, name, platformName, value, existingId, events = {} } = resource;
  // Digits in a file are a number.
  const idOf = (given: unknown) =>
    parentTypesOf(name) !== undefined && typeof given === "string" && isPlatformId(given) ? Number(given) : given;
  const adopting = (given: string | undefined) => (given === undefined ? {} : { existingId: idOf(given) });
  switch (type) {
    case "Advertiser":
      return { advertiserName: platformName, ...adopting(existingId) };
    case "ConversionEvent":
      return { eventName: platformName, advertiserId: idOf(advertiserId), value, ...adopting(existingId) };
    case "ConversionEventSet": {
      const entries = Object.entries(events).map(([key, { existingId: id, ...entry }]) => [
        key,
        { ...entry, ...adopting(id) },
      ]);
      return { advertiserId: idOf(advertiserId), events: Object.fromEntries(entries) };
    }
  }
}
