/**
 * A program, as data, and what the program's half says of it: the same `declare`, `judge` and `judgeRemovals` that a real program
 * goes through, without Pulumi's constructors around them.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Kind, SetKind } from "../../../provider/src/kinds/index.js";
import { advertiser, conversionEvent, conversionEventSet, typeTokenOf } from "../../../provider/src/kinds/index.js";
import { Declared, judge, judgeRemovals } from "../../../provider/src/program/batch.js";
import { type Declaration, declare } from "../../../provider/src/program/declaration.js";
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

/** One resource of a program. An advertiser is named by its resource's name, or by its id in digits. */
export interface Resource {
  readonly type: "Advertiser" | "ConversionEvent" | "ConversionEventSet";
  readonly name: string;
  /** The names that it had before. */
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

/** Advertisers by name, then all else by type and name. */
export type Program = ReadonlyMap<string, Resource>;

export const keyOf = ({ type, name }: Pick<Resource, "type" | "name">) => `${type} ${name}`;

const KINDS: Readonly<Record<Resource["type"], Kind | SetKind>> = {
  Advertiser: advertiser,
  ConversionEvent: conversionEvent,
  ConversionEventSet: conversionEventSet,
};

const identityOf = (name: string) => identityText({ ...placeOfProgram(), parentTypes: undefined, name });

export const urnOfResource = ({ type, name }: Pick<Resource, "type" | "name">) =>
  urnOf(identityOf(name), typeTokenOf(type));

/** The ids of advertisers that only a run will know. */
const ids = new Map<string, pulumi.Output<number>>();

function idOf(name: string): pulumi.Output<number> {
  const known = ids.get(name) ?? pulumi.output(new Promise<number>(() => undefined));
  ids.set(name, known);
  return known;
}

/** One run of a program. */
export interface Said {
  /** With any of these nothing is registered. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** What the engine is handed for a resource, but for the ids that only it knows. */
  inputsOf(resource: Resource, advertiserId: unknown): Record<string, unknown>;
  /** At the program's end. */
  atEnd(): { readonly findings: readonly Finding[]; readonly warnings: readonly string[] };
}

export function saidBy(program: Program, settings: Settings, paths: StorePaths, isPreview: boolean): Said {
  const outputs = new Outputs();
  const declared = new Declared();
  const snapshot = look(paths);
  const resources = [...program.values()];
  for (const { type, name } of resources) {
    if (type === "Advertiser")
      outputs.noteOwner(idOf(name), declarationKey(declareOne({ type, name, platformName: "x" })));
  }
  const declarations = resources.map(declareOne);
  for (const each of declarations) declared.add(each);
  const { findings, warnings, briefings } = judge(declarations, declared, snapshot, isPreview);
  if (findings.length === 0 && !isPreview) noteAdoptions(declarations);
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
    atEnd: () => judgeRemovals(declared, snapshot, settings),
  };

  function declareOne(resource: Resource): Declaration {
    const { type, name, aliases = [], deletes, replaceOnChanges } = resource;
    const kind = KINDS[type];
    const owner = resource.advertiser;
    const given = argumentsOf(resource, owner === undefined || isPlatformId(owner) ? owner : idOf(owner));
    const options = {
      retainOnDelete: deletes !== true,
      ...(aliases.length === 0 ? {} : { aliases: aliases.map((alias) => ({ name: alias })) }),
      ...(replaceOnChanges === undefined ? {} : { replaceOnChanges: [...replaceOnChanges] }),
    };
    return declare({ kind, name, args: given, options }, { settings, outputs, isPreview });
  }

  /** As `program.ts` does. */
  function noteAdoptions(all: readonly Declaration[]): void {
    const inventory = new Inventory(paths.objects);
    for (const { key, adopts } of all.flatMap(({ objects = [] }) => objects)) {
      if (typeof adopts !== "string" || !isPlatformId(adopts) || snapshot.objects.has(key)) continue;
      inventory.note(key, { id: adopts, fingerprint: "" });
    }
  }
}

function declarationKey({ key }: Declaration): string {
  return key ?? "";
}

function argumentsOf(resource: Resource, advertiserId: unknown): Record<string, unknown> {
  const { type, platformName, value, existingId, events } = resource;
  const adopts = existingId === undefined ? {} : { existingId };
  switch (type) {
    case "Advertiser":
      return { advertiserName: platformName, ...adopts };
    case "ConversionEvent":
      return { eventName: platformName, advertiserId, value, ...adopts };
    case "ConversionEventSet":
      return { advertiserId, events };
  }
}
