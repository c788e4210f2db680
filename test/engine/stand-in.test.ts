/**
 * The model's engine (`test/support/world/engine.ts`) is a stand-in. The same recorded programs go through it and through Pulumi itself: the
 * provider has to get the same calls with the same values, and each time to find the same state saved, pending operations included.
 */
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { readSettings } from "../../provider/src/settings/index.js";
import { identityText } from "../../provider/src/state/index.js";
import { pathsIn, placesFor } from "../../provider/src/store/places.js";
import {
  type Call,
  elsewhere,
  expectSame,
  masked,
  type Played,
  type Player,
  type Run,
  recorded,
  throughPulumi,
  timeOf,
} from "../support/both-engines.js";
import { newFolder } from "../support/folder.js";
import { struck } from "../support/killing.js";
import { newRun } from "../support/run.js";
import { useSandbox } from "../support/stack.js";
import { PROJECT, STACK } from "../support/stack-init.js";
import {
  type Deployment,
  destroy,
  type Ended,
  type RunOptions,
  refresh,
  refused,
  up,
} from "../support/world/engine.js";
import { keyOf, type Program, type Resource, saidBy, urnOfResource } from "../support/world/program.js";

interface WrittenRun extends Run {
  /** What is declared now; otherwise as before. */
  readonly program?: readonly Resource[];
  /** What other clients do before it. */
  readonly elsewhere?: (sandbox: Sandbox) => Promise<unknown>;
}

interface Life {
  readonly operations?: object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly runs: readonly WrittenRun[];
  /** How many creates either platform has received at the end. */
  readonly creates: number;
}

await pulumi.runtime.setMocks(
  { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: ({ inputs }) => inputs },
  PROJECT,
  STACK,
  false,
  "organization",
);

const STACK_NAME = `organization/${PROJECT}/${STACK}`;
const IDENTITY = identityText({
  organization: "organization",
  project: PROJECT,
  stack: STACK,
  parentTypes: undefined,
  name: "any",
});
const LIVE = { advertisers: [{ id: 1, advertiser_name: "Live", active: true }], events: [] };

function sandboxOf({ operations }: Life): Promise<Sandbox> {
  return useSandbox({ authMode: "both", objects: LIVE, operations: operations !== undefined });
}

function settingsOf({ operations }: Life): Record<string, string> {
  return {
    authMode: "basic",
    requestTimeoutSeconds: "3600",
    ...(operations === undefined ? {} : { operations: JSON.stringify(operations) }),
  };
}

/** Through the stand-in, on a machine of its own. */
function throughStandIn(life: Life, sandbox: Sandbox): Player {
  const folder = newFolder();
  const { environment = {} } = life;
  const given = { ...settingsOf(life), cookieFile: join(folder, "session.json") };
  const config: Record<string, string> = {
    baseUrl: sandbox.url,
    email: sandbox.email,
    password: sandbox.password,
    ...given,
  };
  const { settings } = readSettings({ config: (key) => config[key], environment: {}, mayLackPassword: true });
  const paths = pathsIn(placesFor(settings, folder).journalFolder, STACK_NAME);
  let backend: Deployment = { manifest: { time: "" }, resources: [] };

  return async ({ how, faults = [], isKilled = false, targets, targetDependents = false }, resources) => {
    if (how === "pending") throw new Error("no life here has commands");
    const calls: Call[] = [];
    const before = timeOf(backend);
    const run = newRun(sandbox, folder, { settings: given, environment });
    const isPreview = how === "preview";
    let isOver = false;
    const options: RunOptions = {
      faces: recorded({ Advertiser: run.advertiser, ConversionEvent: run.event, ConversionEventSet: run.set }, (call) =>
        calls.push({ ...call, state: backend }),
      ),
      save: (deployment) => {
        if (isOver) throw new Error("killed");
        backend = deployment;
      },
      now: () => new Date().toISOString(),
      checkpoints: environment.PULUMI_SKIP_CHECKPOINTS === undefined,
      isPreview,
      targets: targets && new Set(targets.map(how === "destroy" ? urnOfResource : keyOf)),
      targetDependents,
    };
    const armed = faults.map((rule) => sandbox.fail(rule));
    const ending = { up: upNow, preview: upNow, refresh, destroy }[how](backend, options);
    const ended = (isKilled ? await Promise.race([ending, struck(...armed)]) : await ending) ?? undefined;
    isOver = true;
    // What is under way is never answered.
    if (isKilled) run.runtime.journal(IDENTITY).release();
    else run.closeNow();
    sandbox.endFaults();
    if (!isPreview && ended !== undefined) backend = ended.deployment;
    return { calls, isWell: ended && ended.errors.length === 0, state: backend, isSaved: timeOf(backend) !== before };

    async function upNow(before: Deployment): Promise<Ended> {
      const declared: Program = new Map(resources.map((each) => [keyOf(each), each]));
      const said = saidBy(declared, settings, paths, isPreview);
      const wrong = said.findings.map(({ title }) => title);
      return wrong.length > 0 ? refused(before, wrong, options) : up(before, declared, said, options);
    }
  };
}

async function playBoth(life: Life): Promise<void> {
  const sandboxes = [await sandboxOf(life), await sandboxOf(life)] as const;
  const players = [
    (await throughPulumi(sandboxes[0], life.environment)).play,
    throughStandIn(life, sandboxes[1]),
  ] as const;
  let resources: readonly Resource[] = [];
  for (const [index, run] of life.runs.entries()) {
    resources = run.program ?? resources;
    const played: Played[] = [];
    for (const side of [0, 1] as const) {
      await run.elsewhere?.(sandboxes[side]);
      played.push(masked(await players[side](run, resources, settingsOf(life)), sandboxes[side].url));
    }
    const [real, standIn] = played as [Played, Played];
    expectSame(standIn, real, `run ${index + 1}, ${run.how}`);
  }
  expect(sandboxes.map(({ creates }) => creates)).toEqual([life.creates, life.creates]);
}

const advertiser = (name: string, more: Partial<Resource> = {}): Resource => ({
  type: "Advertiser",
  name,
  platformName: name.toUpperCase(),
  ...more,
});
const event = (name: string, more: Partial<Resource> = {}): Resource => ({
  type: "ConversionEvent",
  name,
  platformName: name.toUpperCase(),
  advertiser: "a",
  value: 1,
  ...more,
});
const set = (value: number): Resource => ({
  type: "ConversionEventSet",
  name: "s",
  advertiser: "a",
  deletes: true,
  events: { k: { eventName: "K", value }, l: { eventName: "L", value: 1 } },
});

const NOT_NOW = { kind: "answer", status: 406, body: { success: false, errors: ["not now"] } } as const;
const LOST = { kind: "close-without-answer" } as const;

const a = advertiser("a", { deletes: true });
const e = event("e", { deletes: true });
const kept = event("kept", { protect: true });
const former = event("former", { advertiser: "1", platformName: "Renamed" });
const renamed = event("renamed", { advertiser: "1", aliases: ["former"], platformName: "Renamed" });

it("operations known: created, changed, renamed, replaced, removed, protected, targets, refreshed and destroyed", async () => {
  const ofB = event("of-b", { advertiser: "b" });
  const ways = { read: "GET rest/event/{id}", update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" };
  const forAdvertisers = JSON.parse(JSON.stringify(ways).replaceAll("event", "advertiser"));
  await playBoth({
    operations: { event: ways, advertiser: forAdvertisers, createdVisibleAfterSeconds: 0 },
    runs: [
      { how: "preview", program: [a, e, set(1)] },
      { how: "up", program: [a, e, former, event("gone"), kept, set(1)] },
      // Without what a member's change would have made of it, the set is saved with an error, and with the inputs that it had.
      {
        how: "up",
        program: [a, { ...e, value: 2 }, event("gone"), kept, renamed, set(2)],
        faults: [{ on: "update", after: 1, with: NOT_NOW }],
      },
      // That is tried again; and a replacement, whose former object is deleted.
      {
        how: "up",
        program: [a, { ...e, value: 3, replaceOnChanges: ["value"] }, event("gone"), kept, renamed, set(2)],
      },
      // Removed: one that is deleted, one that is retained, and one that can't be.
      { how: "up", program: [a, { ...e, value: 3 }, event("new"), renamed] },
      {
        how: "up",
        program: [
          { ...a, platformName: "Changed" },
          advertiser("b"),
          { ...e, value: 4 },
          { ...kept, value: 4 },
          event("new"),
          ofB,
          { ...renamed, value: 4 },
        ],
        targets: [a],
        targetDependents: true,
      },
      { how: "up", targets: [ofB] },
      {
        how: "refresh",
        elsewhere: async (sandbox) => {
          const byName = new Map(sandbox.events.map((each) => [each.event_name, each]));
          await elsewhere(sandbox, "DELETE", `rest/event/${byName.get("NEW")?.id}`);
          await elsewhere(sandbox, "PUT", `rest/event/${byName.get("E")?.id}`, { ...byName.get("E"), value: 7 });
        },
      },
      { how: "destroy" },
    ],
    creates: 9,
  });
});

it("targets: what the program declares no longer, alone and with what depends on it, in an up and in a destroy", async () => {
  const ways = { delete: "DELETE rest/event/{id}" };
  const b = advertiser("b");
  const ofB = event("of-b", { advertiser: "b" });
  const plain = advertiser("a");
  await playBoth({
    operations: { event: ways, createdVisibleAfterSeconds: 0 },
    runs: [
      { how: "up", program: [plain, b, e, event("also"), ofB, { ...set(1), deletes: false }] },
      // It needs an advertiser that is no target.
      { how: "up", program: [plain, b, ofB], targets: [e] },
      { how: "up", program: [plain], targets: [b] },
      { how: "preview", program: [plain], targets: [b], targetDependents: true },
      { how: "up", program: [plain], targets: [b], targetDependents: true },
      { how: "destroy", targets: [plain] },
      { how: "destroy", targets: [plain], targetDependents: true },
    ],
    creates: 7,
  });
});

it("nothing known: lost answers, a replacement too, an adoption, a kill and what comes after it, findings, and a refresh", async () => {
  const of1 = (name: string) => event(name, { advertiser: "1" });
  const [first, second, third] = [of1("first"), of1("second"), of1("third")];
  const changed = { ...first, value: 2 };
  await playBoth({
    runs: [
      { how: "up", program: [first, second, third], faults: [{ on: "event", after: 1, act: true, with: LOST }] },
      { how: "up", program: [changed, second, third], faults: [{ on: "event", act: true, with: LOST }] },
      {
        how: "up",
        program: [{ ...changed, existingId: "4" }, { ...second, existingId: "3" }, third],
        faults: [{ on: "event", act: true, with: { kind: "no-answer" } }],
        isKilled: true,
      },
      { how: "up" },
      // Something is no longer declared which may be live: nothing is deleted.
      { how: "up", program: [changed, second] },
      // What is to go is read as well.
      { how: "refresh" },
    ],
    creates: 4,
  });
});

it("checkpoints off: nothing is saved before the end, and then also after a failure or of a program that is refused", async () => {
  const twice = (name: string) => event(name, { advertiser: "1", existingId: "7" });
  const A = advertiser("a");
  await playBoth({
    environment: { PULUMI_SKIP_CHECKPOINTS: "true" },
    runs: [
      { how: "up", program: [A, advertiser("b"), event("e")], faults: [{ on: "advertiser", after: 1, with: NOT_NOW }] },
      { how: "up", program: [A, twice("x"), twice("y")] },
    ],
    creates: 2,
  });
});
