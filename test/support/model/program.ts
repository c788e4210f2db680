/** A program as data, and what its half makes of it: the same `declare` and `Judge` as a real one, no constructors. */
import { advertiser, conversionEvent, conversionEventSet } from "../../../provider/src/kinds/index.js";
import { declare } from "../../../provider/src/program/declaration.js";
import { Judge } from "../../../provider/src/program/judge.js";
import type { Settings } from "../../../provider/src/settings/index.js";
import { IDENTITY, identityText, memberOf, PROVIDER, type Ref, refOf } from "../../../provider/src/state/index.js";
import type { Records } from "../../../provider/src/store/index.js";
import type { Registration, Values } from "./engine.js";

export interface Entry {
  readonly eventName: string;
  readonly value: number;
}

/** One resource of a program: `Advertiser`, or what belongs to the advertiser with this name, or with this id. */
export interface Declared {
  readonly type: keyof typeof KINDS;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly advertiser?: string;
  readonly platformName?: string;
  readonly value?: number;
  readonly events?: Readonly<Record<string, Entry>>;
  readonly deletes?: boolean;
}

const KINDS = { Advertiser: advertiser, ConversionEvent: conversionEvent, ConversionEventSet: conversionEventSet };

export const PROJECT = "shop";

export function refIn(stack: string, { type, name }: Pick<Declared, "type" | "name">): Ref {
  const place = { organization: "organization", project: PROJECT, stack, parentTypes: undefined, name };
  return refOf(type, identityText(place));
}

export interface ProgramHalf {
  readonly registrations: readonly Registration[];
  readonly warnings: readonly string[];
  /** Nothing is registered if there are any. */
  readonly findings: readonly string[];
  atEnd(): string[];
}

/** @param program advertisers first. @param records as this machine remembers them before the run. */
export function programHalf(
  program: readonly Declared[],
  stack: string,
  settings: Settings,
  records: Records,
): ProgramHalf {
  const judge = new Judge();
  const batch = program.map((declared) => {
    const owner = ownerOf(program, declared);
    const advertiserId = owner === undefined ? declared.advertiser : Promise.resolve(); // known later
    const options = { retainOnDelete: declared.deletes !== true, aliases: aliasesOf(declared) };
    const call = {
      kind: KINDS[declared.type],
      name: declared.name,
      args: argumentsOf(declared, advertiserId),
      options,
    };
    const declaration = declare(call, settings);
    judge.add(declaration);
    return declaration;
  });
  const { findings, warnings, briefings } = judge.judge(batch, false);
  const registrations = program.map((declared, index): Registration => {
    const { type, aliases = [], deletes } = declared;
    const ref = refIn(stack, declared);
    const owner = ownerOf(program, declared);
    return {
      type,
      urn: ref.urn,
      aliases: aliases.map((name) => refIn(stack, { type, name }).urn),
      retainOnDelete: deletes !== true,
      owner: owner && refIn(stack, owner).urn,
      inputs: (advertiserId) => ({
        ...argumentsOf(declared, owner === undefined ? declared.advertiser : advertiserId),
        [IDENTITY]: { identity: ref.identity, ...briefings.get(batch[index]?.resource?.key ?? "") },
        [PROVIDER]: `exports.handler=()=>require("pulumi-advertising/handlers").${KINDS[type].handler}`,
      }),
    };
  });
  const told = findings.map(({ title, lines }) => [title, ...lines].join("\n"));
  return { registrations, warnings, findings: told, atEnd: () => judge.atEnd([...records.values()], false) };
}

function aliasesOf({ aliases = [] }: Declared) {
  return aliases.map((name) => ({ name }));
}

function ownerOf(program: readonly Declared[], { advertiser: name }: Declared): Declared | undefined {
  return program.find((each) => each.type === "Advertiser" && each.name === name);
}

function argumentsOf({ type, platformName, value, events }: Declared, advertiserId: unknown): Values {
  if (type === "Advertiser") return { advertiserName: platformName };
  if (type === "ConversionEvent") return { eventName: platformName, advertiserId, value };
  return { advertiserId, events };
}

/** One object that a program declares: a single resource, or a member of a set. */
export interface Wanted {
  readonly kind: "Advertiser" | "ConversionEvent";
  readonly key: string;
  readonly label: string;
  readonly resource: Declared;
  readonly member: string | undefined;
  readonly name: string;
  readonly value: number | undefined;
}

export function objectsOf(program: readonly Declared[]): Wanted[] {
  return program.flatMap((resource): Wanted[] => {
    const { type, events, platformName = "", value } = resource;
    const { key, label } = refIn("any", resource);
    if (type !== "ConversionEventSet")
      return [{ kind: type, key, label, resource, member: undefined, name: platformName, value }];
    return Object.entries(events ?? {}).map(([member, entry]) => ({
      kind: "ConversionEvent",
      key: memberOf(key, member),
      label: `${memberOf("events", member)} of ${label}`,
      resource,
      member,
      name: entry.eventName,
      value: entry.value,
    }));
  });
}
