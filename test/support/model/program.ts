/** A program as data, and its program process: the real `declare` and `ProgramValidator`, without constructors. */
import {
  advertiser,
  conversionEvent,
  conversionEventSet,
  providerReference,
} from "../../../provider/src/kinds/index.js";
import { declare } from "../../../provider/src/program/declaration.js";
import { ProgramValidator } from "../../../provider/src/program/program-validator.js";
import type { Settings } from "../../../provider/src/settings/index.js";
import {
  identityText,
  memberOf,
  PROVIDER,
  type ResourceRef,
  refOf,
  SENDER,
} from "../../../provider/src/state/index.js";
import type { Registration, Values } from "./engine.js";

export interface Entry {
  readonly eventName: string;
  readonly value: number;
  readonly formerKey?: string;
  readonly existingId?: string;
  readonly self?: number;
}

/** One resource of a program: an advertiser, or a resource of the advertiser with this name or id. */
export interface Declared {
  readonly type: keyof typeof KINDS;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly advertiser?: string;
  readonly platformName?: string;
  readonly value?: number;
  readonly events?: Readonly<Record<string, Entry>>;
  readonly deletes?: boolean;
  readonly existingId?: string;
  /** The identity that people see in the resource, which stays the same under another name. */
  readonly self?: number;
}

const KINDS = {
  Advertiser: advertiser,
  ConversionEvent: conversionEvent,
  ConversionEventSet: conversionEventSet,
};

export const PROJECT = "shop";

export function refIn(
  stack: string,
  { type, name }: Pick<Declared, "type" | "name">,
): ResourceRef {
  const place = { parentTypes: undefined, name };
  return refOf(type, identityText(`organization/${PROJECT}/${stack}`, place));
}

export interface ProgramHalf {
  readonly registrations: readonly Registration[];
  /** The problems of the program. If there are any, nothing is registered. */
  readonly findings: readonly string[];
}

/**
 * @param program advertisers first. @param batches in how many turns of the event loop it declares them.
 */
export function programHalf(
  program: readonly Declared[],
  stack: string,
  settings: Settings,
  { batches = 1, isPreview = false } = {},
): ProgramHalf {
  const validator = new ProgramValidator(isPreview);
  const batch = program.map((declared) => {
    const owner = ownerOf(program, declared);
    const advertiserId = owner === undefined ? declared.advertiser : Promise.resolve(); // known later
    const options = { aliases: aliasesOf(declared) };
    const call = {
      kind: KINDS[declared.type],
      name: declared.name,
      args: argumentsOf(declared, advertiserId),
      options,
    };
    return declare(call, settings);
  });
  const each = Math.max(1, Math.ceil(batch.length / batches));
  const judged = Array.from({ length: batches }, (_, index) => {
    const part = batch.slice(index * each, (index + 1) * each);
    const findings = part.map(({ title, lines, resource }) => {
      const conflicts = resource === undefined ? [] : validator.add(resource);
      return { title, lines: [...lines, ...conflicts] };
    });
    const contexts = part.flatMap(({ resource }) =>
      resource === undefined
        ? []
        : [[resource.key, validator.contextOf(resource)] as const],
    );
    return { findings, contexts };
  });
  const findings = judged.flatMap((part) =>
    part.findings.filter(({ lines }) => lines.length > 0),
  );
  const contexts = new Map(judged.flatMap((part) => part.contexts));
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
        [SENDER]: {
          identity: ref.identity,
          ...contexts.get(batch[index]?.resource?.key ?? ""),
        },
        [PROVIDER]: providerReference(type),
      }),
    };
  });
  const told = findings.map(({ title, lines }) => [title, ...lines].join("\n"));
  return { registrations, findings: told };
}

function aliasesOf({ aliases = [] }: Declared) {
  return aliases.map((name) => ({ name }));
}

function ownerOf(
  program: readonly Declared[],
  { advertiser: name }: Declared,
): Declared | undefined {
  return program.find((each) => each.type === "Advertiser" && each.name === name);
}

function argumentsOf(
  { type, platformName, value, events, existingId, deletes }: Declared,
  advertiserId: unknown,
): Values {
  const policy = deletes === true ? { deletionPolicy: "delete" } : {};
  const adopted = existingId === undefined ? policy : { ...policy, existingId };
  if (type === "Advertiser") return { advertiserName: platformName, ...adopted };
  if (type === "ConversionEvent")
    return { eventName: platformName, advertiserId, value, ...adopted };
  const entries = Object.entries(events ?? {}).map(([key, { self: _, ...entry }]) => [
    key,
    entry,
  ]);
  return { ...policy, advertiserId, events: Object.fromEntries(entries) };
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
  readonly existingId: string | undefined;
  readonly self: number | undefined;
  /** The object's key, and its former keys according to the program. */
  readonly keys: readonly string[];
}

export function objectsOf(program: readonly Declared[]): Wanted[] {
  return program.flatMap((resource): Wanted[] => {
    const {
      type,
      events,
      platformName = "",
      value,
      existingId,
      self,
      aliases = [],
    } = resource;
    const { key, label } = refIn("any", resource);
    const own = [key, ...aliases.map((name) => refIn("any", { type, name }).key)];
    if (type !== "ConversionEventSet") {
      const member = undefined;
      return [
        {
          kind: type,
          key,
          label,
          resource,
          member,
          name: platformName,
          value,
          existingId,
          self,
          keys: own,
        },
      ];
    }
    return Object.entries(events ?? {}).map(([member, entry]) => ({
      kind: "ConversionEvent",
      key: memberOf(key, member),
      label: `${memberOf("events", member)} of ${label}`,
      resource,
      member,
      name: entry.eventName,
      value: entry.value,
      existingId: entry.existingId,
      self: entry.self,
      keys: [member, ...(entry.formerKey === undefined ? [] : [entry.formerKey])].flatMap(
        (each) => own.map((set) => memberOf(set, each)),
      ),
    }));
  });
}
