/**
 * Runs of a stack, played through Pulumi and compared with the model's engine: the calls that the provider got, with their values, what was
 * saved at each of them, and how the run ended.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { keepCompiled } from "./keep-compiled.js";
import { struck, upAndKill } from "./killing.js";
import { pendingCommand } from "./recovery.js";
import { newStack, program, type TestStack } from "./stack.js";
import { PROJECT, stateFileIn } from "./stack-init.js";
import type { Deployment, Faces } from "./world/engine.js";
import { type Catalog, filesOf, type Resource, urnOfResource } from "./world/program.js";

export interface Run {
  /** `pending`: this package's command. */
  readonly how: "preview" | "up" | "refresh" | "destroy" | "pending";
  /** Of the command `pending`. */
  readonly args?: readonly string[];
  /** @default 0 */
  readonly machine?: number;
  readonly faults?: readonly FaultRule[];
  /** Killed when the first of the faults meets a request. */
  readonly isKilled?: boolean;
  readonly targets?: readonly Pick<Resource, "type" | "name">[];
  readonly targetDependents?: boolean;
}

/** One call of a provider, and what was saved at that moment. */
export interface Call {
  readonly call: string;
  readonly handler: string;
  readonly given: readonly unknown[];
  readonly state: Partial<Deployment>;
}

export interface Played {
  readonly calls: readonly Call[];
  /** `undefined` for a run that was killed; for a command its exit code. */
  readonly isWell: boolean | number | undefined;
  readonly state: Partial<Deployment>;
  /** Whether anything was saved, even only the time. */
  readonly isSaved: boolean;
}

/** @param resources all declared resources, in the order of registration. @param catalogs that some of them come from. */
export type Player = (
  run: Run,
  resources: readonly Resource[],
  settings: Readonly<Record<string, string>>,
  catalogs?: readonly Catalog[],
) => Promise<Played>;

/** A program for Pulumi that declares what its data says. */
const GENERIC = program(`
const byName = {};
for (const resource of JSON.parse(require("node:fs").readFileSync("resources.json", "utf8"))) {
  const { type, name, aliases, advertiser, platformName, value, existingId, events, deletes, protect, replaceOnChanges } = resource;
  const advertiserId = byName[advertiser]?.advertiserId ?? advertiser;
  if (name.includes("/")) continue; // a catalog's
  const args = {
    Advertiser: { advertiserName: platformName, existingId },
    ConversionEvent: { eventName: platformName, advertiserId, value, existingId },
    ConversionEventSet: { advertiserId, events },
  };
  byName[name] = new advertising[type](name, args[type], {
    ...(deletes ? { retainOnDelete: false } : {}),
    ...(aliases ? { aliases: aliases.map((alias) => ({ name: alias })) } : {}),
    ...(replaceOnChanges ? { replaceOnChanges } : {}),
    protect,
  });
}
for (const { name, sets } of JSON.parse(require("node:fs").readFileSync("catalogs.json", "utf8")))
  new advertising.Catalog(name, { file: name + ".json", sets });
`);

const cacheOf = (stack: TestStack, machine: number) => join(stack.folder, `cache-${machine}`);

/** @returns a player, and a function that loses a machine's disk. */
export async function throughPulumi(
  sandbox: Sandbox,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ play: Player; lose: (machine: number) => void }> {
  const stack = await newStack(GENERIC, { sandbox, environment: { ...environment } });
  const calls = join(stack.folder, "calls.jsonl");
  const recorder = join(import.meta.dirname, "record-calls.cjs");
  stack.setEnvironment({
    NODE_OPTIONS: `${keepCompiled} --require ${JSON.stringify(recorder)}`,
    RECORD_TO: calls,
    RECORD_STATE: stateFileIn(join(stack.folder, "backend"), PROJECT),
  });
  const deployment = async () => ((await stack.deployment()) ?? {}) as unknown as Partial<Deployment>;
  const lose = (machine: number) => rmSync(cacheOf(stack, machine), { recursive: true, force: true });
  const play: Player = async (
    { how, args: given = [], machine = 0, faults = [], isKilled = false, targets = [], targetDependents = false },
    resources,
    settings,
    catalogs = [],
  ) => {
    stack.setEnvironment({ XDG_CACHE_HOME: cacheOf(stack, machine) });
    stack.setEnvironment({ ADVERTISING_OPERATIONS: undefined, ADVERTISING_MARK_FIELD: undefined });
    stack.setEnvironment(Object.fromEntries(Object.entries(settings).map(([key, text]) => [variableOf(key), text])));
    stack.write("resources.json", JSON.stringify(resources));
    stack.write("catalogs.json", JSON.stringify(catalogs));
    for (const catalog of catalogs)
      for (const [type, text] of Object.entries(filesOf(catalog))) stack.write(`${catalog.name}.${type}`, text);
    if (how === "pending") {
      const { code } = await pendingCommand(stack, ...given);
      return { calls: [], isWell: code ?? undefined, state: await deployment(), isSaved: false };
    }
    const before = timeOf(await deployment());
    rmSync(calls, { force: true });
    const armed = faults.map((rule) => sandbox.fail(rule));
    const args = [
      ...(how === "preview" ? [] : ["--parallel", "1"]),
      ...targets.flatMap((target) => ["--target", urnOfResource(target)]),
      ...(targetDependents ? ["--target-dependents"] : []),
    ];
    const code = isKilled ? await killed(stack, struck(...armed), args) : (await stack[how](...args)).code;
    sandbox.endFaults();
    const lines = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
    const state = await deployment();
    return {
      calls: lines.map((line) => JSON.parse(line) as Call),
      isWell: code === undefined ? undefined : code === 0,
      state,
      isSaved: timeOf(state) !== before,
    };
  };
  return { play, lose };
}

const variableOf = (setting: string) => `ADVERTISING_${setting.replace(/[A-Z]/g, "_$&").toUpperCase()}`;

export const timeOf = ({ manifest }: Partial<Deployment>) => manifest?.time;

async function killed(stack: TestStack, when: Promise<unknown>, args: readonly string[]): Promise<undefined> {
  expect(await upAndKill(stack, when, "tree", args)).toBe(true);
  rmSync(join(stack.folder, "backend", ".pulumi", "locks"), { recursive: true });
}

const HANDLERS = {
  Advertiser: "advertiser",
  ConversionEvent: "conversionEvent",
  ConversionEventSet: "conversionEventSet",
};

export function recorded(faces: Faces, note: (call: Omit<Call, "state">) => void): Faces {
  const one = ([type, face]: [string, object]) => {
    const handler = HANDLERS[type as keyof Faces];
    const calls = Object.entries(face).map(([call, work]) => [
      call,
      (...given: unknown[]) => {
        note({ call, handler, given: structuredClone(given) });
        return work(...given);
      },
    ]);
    return [type, Object.fromEntries(calls)];
  };
  return Object.fromEntries(Object.entries(faces).map(one)) as Faces;
}

/** Masks what differs each time. @param url the platform's. */
export function masked<T>(value: T, url: string): T {
  const text = JSON.stringify(value)
    .replaceAll(new URL(url).origin, "<origin>")
    .replaceAll(new URL(url).host, "<platform>")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<mark>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>");
  return JSON.parse(text) as T;
}

function shown({ resources = [], pending_operations: pending = [] }: Partial<Deployment>) {
  const isOurs = ({ type }: { type: string }) => type.startsWith("pulumi-nodejs:dynamic/advertising:");
  const one = ({ urn, id, inputs, outputs, ...more }: (typeof pending)[number]["resource"]) => ({
    resource: `${urn.split("::").at(-1)} ${more.delete === true ? "(to go) " : ""}${id ?? "without id"}`,
    inputs,
    outputs,
    flags: [more.retainOnDelete === true && "retained", more.protect === true && "protected"].filter(Boolean),
    initErrors: more.initErrors ?? [],
    dependencies: more.dependencies ?? [],
  });
  return {
    resources: resources.filter(isOurs).map(one),
    pending: pending.flatMap(({ type, resource }) => (isOurs(resource) ? [{ type, ...one(resource) }] : [])),
  };
}

const whatIsAsked = ({ calls }: Played) =>
  calls.map(({ call, handler, given }) => {
    const [first, ...others] = given;
    const keys = (values: unknown) => Object.keys(Object(values)).toSorted().join(",");
    return `${call} ${handler} ${typeof first === "string" ? first : `{${keys(first)}}`} ${others.map((each) => `{${keys(each)}}`).join(" ")}`;
  });

export function expectSame(standIn: Played, real: Played, where: string): void {
  expect(whatIsAsked(standIn), where).toEqual(whatIsAsked(real));
  expect({ ...standIn, state: shown(standIn.state), calls: callsIn(standIn) }, where).toEqual({
    ...real,
    state: shown(real.state),
    calls: callsIn(real),
  });
}

/** Sorts calls that may come in any order: objects that are deleted at the same time, and resources that leave the state with them. */
function callsIn({ calls, state }: Played) {
  const left = new Set(state.resources?.map(({ urn, id }) => `${urn} ${id}`));
  return calls.map((each) => {
    const stays = ({ urn, id }: { urn: string; id?: string }) => left.has(`${urn} ${id}`) || id === each.given[0];
    const { resources = [], ...others } = each.state;
    const then = each.call === "delete" ? { ...others, resources: resources.filter(stays) } : each.state;
    return { ...each, state: shown(then) };
  });
}

/** A request of another client, with Basic credentials, which need no session. */
export async function elsewhere({ url, email, password }: Sandbox, method: string, path: string, body?: object) {
  const credentials = Buffer.from(`${email}:${password}`).toString("base64");
  const { status } = await fetch(`${url}/${path}`, {
    method,
    headers: { authorization: `Basic ${credentials}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(status).toBe(200);
}
