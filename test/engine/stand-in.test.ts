/**
 * The model's engine (`test/support/model/engine.ts`) is a stand-in. One program with its edits goes through it and
 * through Pulumi itself: the provider must get the same calls with the same values, and the same state must be saved.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readExport } from "../../provider/src/record/index.js";
import type { FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { readSettings } from "../../provider/src/settings/index.js";
import { newFolder } from "../support/folder.js";
import { keepCompiled } from "../support/keep-compiled.js";
import { struck, upAndKill } from "../support/killing.js";
import { type Deployment, type Faces, refresh, up } from "../support/model/engine.js";
import { type Declared, PROJECT, programHalf } from "../support/model/program.js";
import { newRun } from "../support/run.js";
import { SavedStack } from "../support/saved-stack.js";
import { newStack, program, useSandbox } from "../support/stack.js";
import { STACK, stateFileIn } from "../support/stack-init.js";

interface Run {
  readonly how: "up" | "refresh";
  /** What is declared from now on. */
  readonly program?: readonly Declared[];
  readonly fault?: FaultRule;
  readonly isKilled?: boolean;
}

interface Played {
  readonly calls: readonly string[];
  readonly state: Partial<Deployment>;
}

const PROGRAM = program(`
const byName = {};
for (const each of JSON.parse(require("node:fs").readFileSync("resources.json", "utf8"))) {
  const { type, name, aliases, advertiser, platformName, value, events, deletes } = each;
  const advertiserId = byName[advertiser]?.advertiserId ?? advertiser;
  const args = {
    Advertiser: { advertiserName: platformName },
    ConversionEvent: { eventName: platformName, advertiserId, value },
    ConversionEventSet: { advertiserId, events },
  };
  if (deletes) args[type].deletionPolicy = "delete";
  const former = (aliases ?? []).map((alias) => ({ name: alias }));
  byName[name] = new advertising[type](name, args[type], { aliases: former });
}
`);

const WAYS = {
  read: "GET rest/event/{id}",
  update: "PUT rest/event/{id}",
  delete: "DELETE rest/event/{id}",
};
const SETTINGS = {
  authMode: "basic",
  requestTimeoutSeconds: "3600",
  maxConcurrentRequests: "1", // the platform counts ids as requests arrive
  operations: JSON.stringify({ event: WAYS, createdVisibleAfterSeconds: 0 }),
};
const HANDLERS = {
  Advertiser: "advertiser",
  ConversionEvent: "conversionEvent",
  ConversionEventSet: "conversionEventSet",
};

async function throughPulumi(sandbox: Sandbox) {
  const stack = await newStack(PROGRAM, { sandbox, project: PROJECT });
  const calls = join(stack.folder, "calls.jsonl");
  const variables = Object.entries(SETTINGS).map(([key, text]) => [
    key.replace(/[A-Z]/g, "_$&").toUpperCase(),
    text,
  ]);
  stack.setEnvironment({
    ...Object.fromEntries(variables.map(([name, text]) => [`ADVERTISING_${name}`, text])),
    NODE_OPTIONS: `${keepCompiled} --require ${JSON.stringify(join(import.meta.dirname, "../support/record-calls.cjs"))}`,
    RECORD_TO: calls,
    RECORD_STATE: stateFileIn(join(stack.folder, "backend"), PROJECT),
  });
  return async (
    { how, fault, isKilled }: Run,
    resources: readonly Declared[],
  ): Promise<Played> => {
    stack.write("resources.json", JSON.stringify(resources));
    rmSync(calls, { force: true });
    const armed = fault && sandbox.fail(fault);
    const args = ["--parallel", "1"];
    if (isKilled === true && armed !== undefined) {
      expect(await upAndKill(stack, struck(armed), "tree", args)).toBe(true);
      await stack.cancel();
    } else await stack[how](...args);
    sandbox.endFaults();
    const lines = existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [];
    const told = lines.map(
      (line) => JSON.parse(line) as { call: string; handler: string; given: unknown[] },
    );
    const state = (await stack.deployment()) as unknown as Partial<Deployment>;
    return {
      calls: told.map(({ call, handler, given }) =>
        JSON.stringify([call, handler, ...given]),
      ),
      state,
    };
  };
}

function throughStandIn(sandbox: Sandbox) {
  const folder = newFolder();
  const { settings } = readSettings({
    config: (key) =>
      ({ baseUrl: sandbox.url, email: "a@b.example", password: "a password", ...SETTINGS })[
        key
      ],
    environment: {},
    mayLackPassword: true,
  });
  let state: Deployment = { manifest: { time: "" }, resources: [] };

  return async (
    { how, fault, isKilled }: Run,
    resources: readonly Declared[],
  ): Promise<Played> => {
    const calls: string[] = [];
    const saved = new SavedStack(`${PROJECT}/${STACK}`);
    saved.read = async () => readExport(JSON.stringify({ version: 3, deployment: state }));
    const command = { command: how };
    const run = newRun(sandbox, folder, { settings: SETTINGS, saved, command });
    const recorded = <T extends object>(face: T, type: keyof typeof HANDLERS) =>
      new Proxy(face, {
        get:
          (_, call: string) =>
          (...given: unknown[]) => {
            calls.push(JSON.stringify([call, HANDLERS[type], ...given]));
            return (face[call as keyof T] as (...all: unknown[]) => unknown)(...given);
          },
      });
    let isOver = false;
    const options = {
      faces: {
        Advertiser: recorded(run.advertiser, "Advertiser"),
        ConversionEvent: recorded(run.event, "ConversionEvent"),
        ConversionEventSet: recorded(run.set, "ConversionEventSet"),
      } as Faces,
      save: (saved: Deployment) => {
        if (isOver) throw new Error("killed");
        state = saved;
      },
      now: () => new Date().toISOString(),
      checkpoints: true,
    };
    const { registrations } = programHalf(resources, STACK, settings);
    const armed = fault && sandbox.fail(fault);
    const ending =
      how === "refresh" ? refresh(state, options) : up(state, registrations, options);
    const ended = await Promise.race([
      ending,
      ...(isKilled === true && armed ? [struck(armed)] : []),
    ]);
    isOver = true;
    if (ended === undefined) {
      // Its request is never answered, so nobody waits for its end.
      void run.kill();
      run.runtime.journal().release();
    } else await run.close();
    sandbox.endFaults();
    if (ended !== undefined) state = ended.deployment;
    return { calls, state };
  };
}

/** Without what differs each time. */
function masked({ calls, state }: Played, { url }: Sandbox) {
  const { resources = [], pending_operations: pending = [] } = state;
  const isOurs = ({ type }: { readonly type: string }) => type.includes("advertising:");
  const shown = ({
    urn,
    id,
    inputs,
    outputs,
    ...more
  }: Omit<(typeof resources)[number], "outputs"> & { outputs?: object }) => ({
    ...{
      urn,
      id,
      inputs,
      outputs,
      delete: more.delete === true,
      retain: more.retainOnDelete === true,
    },
    ...{ initErrors: more.initErrors ?? [], dependencies: more.dependencies ?? [] },
  });
  const operations = pending
    .filter(({ resource }) => isOurs(resource))
    .map((each) => [each.type, shown(each.resource)]);
  // What does not depend on each other is deleted at the same time.
  const isDelete = (call: string) => call.startsWith(`["delete"`);
  const inOrder = [
    ...calls.filter((call) => !isDelete(call)),
    ...calls.filter(isDelete).toSorted(),
  ];
  const all = {
    // Which variables the program's process has is of this machine.
    calls: inOrder.map((call) => {
      return JSON.parse(call, (key, value) => (key === "inherited" ? undefined : value));
    }),
    state: resources.filter(isOurs).map(shown),
    operations,
  };
  const text = JSON.stringify(all)
    .replaceAll(new URL(url).host, "<platform>")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<mark>")
    .replaceAll(/\((\.\.\/)*node_modules/g, "(node_modules")
    .replaceAll(/"__sender":"[^"]*"/g, '"__sender":"<run>"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>");
  return JSON.parse(text) as object;
}

const a: Declared = { type: "Advertiser", name: "a", platformName: "A" };
const event = (name: string, more: Partial<Declared> = {}): Declared => {
  return {
    type: "ConversionEvent",
    name,
    advertiser: "a",
    platformName: name,
    value: 1,
    ...more,
  };
};
const setOf = (value: number): Declared => {
  const events = { k: { eventName: "K", value }, l: { eventName: "L", value: 1 } };
  return { type: "ConversionEventSet", name: "s", advertiser: "a", deletes: true, events };
};
const [e, of1] = [event("e", { deletes: true }), event("of-1", { advertiser: "1" })];
const renamed = event("renamed", { aliases: ["former"], platformName: "former" });
const REFUSED = {
  kind: "answer",
  status: 406,
  body: { success: false, errors: ["not now"] },
} as const;

it("created, changed, renamed, refused in part, killed, replaced, removed and refreshed: the same calls and states", async () => {
  const runs: readonly Run[] = [
    { how: "up", program: [a, e, event("former"), setOf(1)] },
    // Refused in part: saved with an error, and tried again.
    {
      how: "up",
      program: [a, { ...e, value: 2 }, renamed, setOf(2)],
      fault: { on: "update", after: 1, with: REFUSED },
    },
    {
      how: "up",
      program: [a, e, renamed, setOf(2), of1],
      fault: { on: "event", act: true, with: { kind: "no-answer" } },
      isKilled: true,
    },
    { how: "up", program: [{ ...a, platformName: "B" }, e, setOf(2)] },
    { how: "up", program: [{ ...a, platformName: "B" }, e, setOf(2), of1] },
    { how: "refresh" },
  ];
  const objects = {
    advertisers: [{ id: 1, advertiser_name: "Live", active: true }],
    events: [],
  };
  const sandboxes = [0, 1].map(() =>
    useSandbox({ authMode: "basic", objects, operations: true }),
  );
  const [real, model] = (await Promise.all(sandboxes)) as [Sandbox, Sandbox];
  const players = [await throughPulumi(real), throughStandIn(model)] as const;
  let resources: readonly Declared[] = [];
  for (const [index, run] of runs.entries()) {
    resources = run.program ?? resources;
    const [first, second] = [
      await players[0](run, resources),
      await players[1](run, resources),
    ];
    expect(masked(second, model), `run ${index + 1}, ${run.how}`).toEqual(
      masked(first, real),
    );
  }
  expect(model.creates).toBe(real.creates);
});
