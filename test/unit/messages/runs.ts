/** What an `up` prints. */

import { rmSync } from "node:fs";
import { conversionEvent } from "../../../provider/src/kinds/index.js";
import type { Runtime } from "../../../provider/src/operations/runtime.js";
import { objectKey, UNKNOWN } from "../../../provider/src/state/index.js";
import { jsonAnswer } from "../../support/installation.js";
import { WITNESS, withWitness } from "../../support/operated.js";
import type { SavedResource } from "../../support/saved-stack.js";
import {
  AdvertiserEngine,
  type EventEngine,
  journalFiles,
  type Run,
  wordsOf,
} from "../../support/set-engine.js";
import { senderOf } from "../../support/stored.js";
import { type Examples, rejectionOf } from "./examples.js";
import { ADVERTISER, IDENTITY, knowing, LOST, PURCHASE, startShop } from "./real-runs.js";

/** Of a platform whose searches find these. */
const found =
  (ids: number[]) =>
  (_: unknown, { path }: { path: string }) =>
    jsonAnswer({
      payload: ids.map((id) => ({ id, alternative_id: path.split("=")[1] })),
    });

/** A create whose answer is lost, while searches find these objects. */
async function lostAndSearched(ids: number[]) {
  const shop = await startShop(knowing(["search"]));
  shop.sandbox.fail({ on: "event", with: LOST });
  shop.sandbox.fail({ on: "search", with: found(ids), times: 99 });
  const purchase = shop.event();
  const up = async () => {
    const { error, run } = await purchase.up(PURCHASE, shop.known);
    return error ?? wordsOf(run);
  };
  return { ...shop, up };
}

/** An error of the client's create, once it is sent. */
const failingAfterSending = (error: Error) => (runtime: Runtime) => {
  const client = () =>
    Object.assign(Object.create(runtime.client()), {
      create: async ({ beforeSend }: { beforeSend(at: string): Promise<void> }) => {
        await beforeSend(new Date().toISOString());
        throw error;
      },
    });
  return { ...runtime, client };
};

/** What happens between a create's answer and its note in the journal. */
const onCreated = (happens: () => void) => (runtime: Runtime) => {
  type Client = ReturnType<Runtime["client"]>;
  const create = (request: Parameters<Client["create"]>[0]) =>
    runtime.client().create({
      ...request,
      onCreated: (id) => {
        happens();
        return request.onCreated(id);
      },
    });
  return {
    ...runtime,
    client: () => Object.assign(Object.create(runtime.client()), { create }),
  };
};

/** One request at a time, without a login before. */
const ONE_BY_ONE = { authMode: "basic", maxConcurrentRequests: "1" } as const;

const defect = Object.assign(new TypeError("ids is not iterable"), {
  stack: "TypeError: ids is not iterable\n    at idIn (answer.js:12:34)",
});

/** An event 2 on the platform that this package has not created. */
const FOREIGN = {
  objects: {
    advertisers: [ADVERTISER],
    events: [WITNESS, { id: 2, event_name: "Purchase", advertiser_id: 1, value: 20 }],
  },
};

const events = (...names: string[]) => ({
  advertiserId: 1,
  events: Object.fromEntries(
    names.map((name) => [name, { eventName: name, value: 1 }] as const),
  ),
});

/** An event that is deleted when it leaves the state. */
async function deleted() {
  const shop = await startShop(knowing(["delete"]));
  const purchase = shop.event();
  purchase.declares = { deletes: true };
  await purchase.up(PURCHASE, shop.known);
  return { ...shop, purchase };
}

/** What is said when the engine deletes an event. */
async function leaving(engine: AdvertiserEngine | EventEngine, run: Run) {
  await Promise.all(engine.leave(run).map((work) => work()));
  return wordsOf(run);
}

/** What is said when the engine deletes an advertiser whose event stays. @param hidden the event's secret outputs. */
async function advertiserLeaves(...hidden: string[]) {
  const { purchase } = await deleted();
  const acme = purchase.beside(AdvertiserEngine, "acme");
  acme.declares = { deletes: true };
  const operations = { advertiser: { delete: "DELETE rest/advertiser/{id}" } };
  const known = { settings: { operations: JSON.stringify(operations) } };
  await acme.up({ advertiserName: "Acme" }, known);
  purchase.hides = hidden;
  await purchase.up({ ...PURCHASE, advertiserId: acme.state?.id }, known);
  const now = acme.newRun(known);
  await now.runtime.record.state();
  now.runtime.deployment.claim(conversionEvent, String(purchase.state?.id), "");
  return leaving(acme, now);
}

export const runs: Examples = {
  "the response is lost, and a search finds the event": async () => {
    const { sandbox, event, known } = await startShop(knowing(["search"]));
    sandbox.fail({ on: "event", act: true, with: LOST });
    return wordsOf((await event().up(PURCHASE, known)).run);
  },
  "the response is lost, and a search finds nothing": async () =>
    (await lostAndSearched([])).up(),
  "the response is lost, and a search finds two": async () =>
    (await lostAndSearched([8, 9])).up(),
  "a later run, once the lost create can no longer arrive": async () => {
    const { up, sandbox, clock } = await lostAndSearched([]);
    await up();
    sandbox.endFaults();
    clock.advance(1_000_000);
    return up();
  },
  "a search finds what another event has": async () => {
    const { sandbox, event, known, run } = await startShop(knowing(["search"]));
    const other = event("other");
    await other.up({ ...PURCHASE, eventName: "Other" }, known);
    sandbox.fail({ on: "event", with: LOST });
    sandbox.fail({ on: "search", with: found([2]), times: 99 });
    return run([
      [other, { ...PURCHASE, eventName: "Other" }],
      [event(), PURCHASE],
    ]);
  },
  "the response names an id that the event had before": async () => {
    const { sandbox, event, known } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    sandbox.fail({
      on: "event",
      with: () => jsonAnswer({ success: true, payload: { id: 2 } }),
    });
    return (await purchase.up({ ...PURCHASE, value: 26 }, known)).error ?? "";
  },
  "the response names an id that was deleted before": async () => {
    const { sandbox, newRun } = await startShop();
    const { event, runtime } = newRun();
    runtime.deployment.deleted.add(conversionEvent, "2");
    sandbox.fail({
      on: "event",
      with: () => jsonAnswer({ success: true, payload: { id: 2 } }),
    });
    return rejectionOf(event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) }));
  },
  "a defect while a response is read": async () => {
    const { event, known } = await startShop();
    const { error } = await event().up(PURCHASE, {
      ...known,
      adapt: failingAfterSending(defect),
    });
    return error ?? "";
  },
  "the journal is removed during a create": async () => {
    const { folder, newRun } = await startShop();
    const removeJournals = () => {
      for (const path of journalFiles(folder)) rmSync(path);
    };
    const { event, said } = newRun({ adapt: onCreated(removeJournals) });
    await event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) });
    return said.join("\n");
  },
  "an earlier run created what another event adopts": async () => {
    const { event, known, newRun } = await startShop();
    await event().upAndKill(PURCHASE, undefined, known);
    const now = newRun();
    const identity = { identity: "shop/dev::other" };
    await now.event.check({}, { ...PURCHASE, existingId: 2, __sender: identity });
    return rejectionOf(now.event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) }));
  },
  "an earlier run's create is resolved while the event is made": async () => {
    const { event, known, newRun } = await startShop();
    await event().upAndKill(PURCHASE, undefined, known);
    const { event: provider, runtime } = newRun();
    const identity = { identity: IDENTITY, run: { isUp: true, resources: 1 } };
    const { inputs = {} } = await provider.check({}, { ...PURCHASE, __sender: identity });
    const { all } = await runtime.record.open();
    for (const { mark } of all) runtime.record.seenInState.add(mark);
    return rejectionOf(provider.create(inputs));
  },
  "an adoption, beside what an earlier run made": async () => {
    const { event, known } = await startShop({}, FOREIGN);
    await event().upAndKill(PURCHASE, undefined, known);
    const { run } = await event().up({ ...PURCHASE, existingId: 2 }, known);
    return wordsOf(run);
  },
  "an adoption of what is not there, and of what differs": async () => {
    const { event, known } = await startShop(knowing(["read"]), FOREIGN);
    const options = { ...known, adapt: withWitness };
    const missing = await event().up({ ...PURCHASE, existingId: 999 }, options);
    const different = await event().up({ ...PURCHASE, existingId: 2 }, options);
    return [missing.error, different.error].join("\n");
  },
  "an adoption of what another event has": async () => {
    const { newRun } = await startShop();
    const { event } = newRun();
    await event.declare({ ...PURCHASE, __sender: senderOf("shop/dev::other") });
    return rejectionOf(
      event.declare({ ...PURCHASE, existingId: 2, __sender: senderOf(IDENTITY) }),
    );
  },
  "an update fails": async () => {
    const { sandbox, event, known } = await startShop(knowing(["update"]));
    const purchase = event();
    await purchase.up(PURCHASE, known);
    const body = { message: "internal" };
    sandbox.fail({ on: "update", with: { kind: "answer", status: 500, body }, times: 9 });
    return (await purchase.up({ ...PURCHASE, value: 26 }, known)).error ?? "";
  },
  "a set: the platform refuses all": async () => {
    const { sandbox, set, known } = await startShop();
    const body = { errors: ["the name is taken"] };
    sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body }, times: 2 });
    return (await set().up(events("buy", "lead"), known)).error ?? "";
  },
  "a set: too many unknown outcomes": async () => {
    const { sandbox, set, known } = await startShop(ONE_BY_ONE);
    sandbox.fail({ on: "event", with: LOST, times: 99 });
    const names = Array.from({ length: 18 }, (_, at) => `e${at}`);
    const { error = "" } = await set().up(events(...names), known);
    // The others are as in the other examples.
    return error.split("\n").slice(0, 2).join("\n");
  },
  "a set: one is removed and deleted": async () => {
    const { set, known } = await startShop(knowing(["delete"]));
    const funnel = set();
    funnel.declares = { deletes: true };
    await funnel.up(events("buy", "lead"), known);
    return wordsOf((await funnel.up(events("buy"), known)).run);
  },
  "a delete that isn't sent: it isn't known any more": async () => {
    const { purchase, newRun } = await deleted();
    return leaving(purchase, newRun({ settings: {} }));
  },
  "a delete that isn't sent: the state has no account": async () => {
    const { purchase, newRun } = await deleted();
    if (purchase.state) purchase.state.inputs.__sender = senderOf(IDENTITY);
    return leaving(purchase, newRun());
  },
  "a delete that isn't sent: its deletionPolicy is secret": async () => {
    const { purchase, newRun } = await deleted();
    purchase.hides = ["deletionPolicy"];
    purchase.state = { ...(purchase.state as SavedResource) };
    return leaving(purchase, newRun());
  },
  "a delete that isn't sent: a set has secret ids": async () => {
    const { purchase, newRun, set, known } = await deleted();
    const funnel = set();
    funnel.hides = ["eventIds"];
    await funnel.up(events("buy"), known);
    return leaving(purchase, newRun());
  },
  "a delete that isn't sent: nobody asks for it": async () => {
    const { purchase, newRun } = await deleted();
    delete purchase.state?.outputs.deletionPolicy;
    return leaving(purchase, newRun());
  },
  "a delete that isn't sent: only the state asks for it": async () => {
    const { purchase, known } = await deleted();
    purchase.declares = {};
    return wordsOf((await purchase.up({ ...PURCHASE, value: 2 }, known)).run);
  },
  "a delete that isn't sent: only the program asks for it": async () => {
    const { purchase, known } = await deleted();
    delete purchase.state?.outputs.deletionPolicy;
    return wordsOf((await purchase.up({ ...PURCHASE, value: 2 }, known)).run);
  },
  "a delete that isn't sent: a transformation's option keeps it": async () => {
    const { purchase, known } = await deleted();
    purchase.declares = { deletes: true, retains: true };
    return wordsOf((await purchase.up({ ...PURCHASE, value: 2 }, known)).run);
  },
  "a delete that isn't sent: another event adopts what isn't known yet": async () => {
    const { purchase, newRun } = await deleted();
    const now = newRun();
    const adopted = objectKey("ConversionEvent", UNKNOWN);
    now.runtime.deployment.noteContext({ identity: IDENTITY, adopted });
    return leaving(purchase, now);
  },
  "a delete that isn't sent: this run leaves out the adopter": async () => {
    const { purchase, newRun } = await deleted();
    const now = newRun({ command: { excludes: ["other"] } });
    const adopted = objectKey("ConversionEvent", "2");
    now.runtime.deployment.noteContext({ identity: IDENTITY, adopted });
    return leaving(purchase, now);
  },
  "a delete that isn't sent: an event of the advertiser stays": () => advertiserLeaves(),
  "a delete that isn't sent: an event's advertiser is secret": () =>
    advertiserLeaves("advertiserId"),
  "a delete that isn't sent: this run leaves resources out": async () => {
    const { purchase, newRun } = await deleted();
    return leaving(purchase, newRun({ command: { excludes: ["other"] } }));
  },
  "a delete that isn't sent: the engine replaces a set": async () => {
    const { set: funnel, known } = await startShop(knowing(["delete"]));
    const set = funnel();
    const events = { buy: { eventName: "Buy", value: 1 } };
    await set.up({ advertiserId: 1, events }, known);
    const run = set.newRun({ ...known, command: { command: "preview" } });
    const context = { identity: "shop/dev::funnel", run: { isUp: false, resources: 1 } };
    await run.set.check({}, { advertiserId: 1, events: {}, __sender: context });
    await run.close();
    return wordsOf(run);
  },
  "an adoption from a resource that the run leaves out": async () => {
    const { event, known } = await deleted();
    const given = { ...PURCHASE, existingId: 2 };
    const options = { ...known, command: { targets: ["other"] } };
    return (await event("other").up(given, options)).error ?? "";
  },
  "a delete that isn't sent: Pulumi can't be asked": async () => {
    const { purchase, newRun } = await deleted();
    const run = newRun({ command: { command: "destroy" } });
    purchase.saved.trouble = "`pulumi stack export` failed: no rights";
    return leaving(purchase, run);
  },
  "a delete that isn't sent: the program has nothing more of the package": async () => {
    const { purchase, newRun } = await deleted();
    return leaving(purchase, newRun());
  },
  "a delete that isn't sent: the resource has the object again": async () => {
    const { purchase, newRun } = await deleted();
    const run = newRun();
    run.runtime.deployment.claim(conversionEvent, "2", purchase.ref.key);
    return leaving(purchase, run);
  },
  "a delete that isn't sent: another event has it": async () => {
    const { purchase, newRun, event } = await deleted();
    event("other").state = purchase.state;
    return leaving(purchase, newRun());
  },
  "an interrupted run of another account": async () => {
    const { event, known, newRun } = await startShop();
    await event().upAndKill(PURCHASE, undefined, known);
    const now = newRun({ settings: { email: "me@example.com" } });
    return rejectionOf(now.event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) }));
  },
  "a create without a password": async () => {
    const { newRun } = await startShop();
    const { event } = newRun({ settings: { password: "" } });
    return rejectionOf(event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) }));
  },
  "Pulumi is killed": async () => {
    const { newRun } = await startShop();
    const { event, kill } = newRun();
    await kill();
    return rejectionOf(event.declare({ ...PURCHASE, __sender: senderOf(IDENTITY) }));
  },
};
