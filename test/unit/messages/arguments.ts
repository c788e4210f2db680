/** Arguments, and how a program and its tests are set up. */
import { resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { vi } from "vitest";
import * as advertising from "../../../provider/src/index.js";
import {
  optionFindings,
  readFindings,
  readIdOf,
} from "../../../provider/src/program/declaration.js";
import { expectOneCopy } from "../../../provider/src/program/program.js";
import { typesOf } from "../../../provider/src/program/pulumi-internals.js";
import { problemMessages } from "../../../provider/src/rules/index.js";
import { SECRET_ARGUMENTS } from "../../../provider/src/state/index.js";
import { outputOf, setMocks } from "../../../provider/src/testing/index.js";
import { newFolder } from "../../support/folder.js";
import { newRun } from "../../support/run.js";
import { type Examples, STACK, thrownBy } from "./examples.js";

const EVENT = { eventName: "Purchase", advertiserId: 7, value: 25 };

/** What a program's constructor throws, under the mocks of a user's test. */
async function refused(declare: () => unknown, config: Record<string, string> = {}) {
  pulumi.runtime.setAllConfig(config);
  await setMocks();
  const message = thrownBy(declare);
  pulumi.runtime.setAllConfig({});
  return message;
}

/** The warnings of a program, under the same mocks. */
async function warningsOf(declare: () => unknown) {
  await setMocks();
  const printed: string[] = [];
  const spy = vi
    .spyOn(console, "warn")
    .mockImplementation((text) => void printed.push(text));
  declare();
  await new Promise((printed) => setImmediate(printed));
  spy.mockRestore();
  return printed.join("\n");
}

const { getStore } = state as unknown as {
  getStore(): { settings: { options: { monitorAddr?: string | undefined } } };
};

/** What the first resource of a program throws that Pulumi's engine runs. */
function thrownWithoutMocks() {
  const { options } = getStore().settings;
  const { monitorAddr } = options;
  options.monitorAddr = undefined;
  // It throws once more, for programs that catch it.
  const later = vi.spyOn(globalThis, "setImmediate").mockReturnValue({} as never);
  const message = thrownBy(() => new advertising.ConversionEvent("purchase", EVENT));
  later.mockRestore();
  options.monitorAddr = monitorAddr;
  return message;
}

const OWN_FOLDER = resolve(import.meta.dirname, "../../../provider");
const copies = (globalThis as unknown as Record<symbol, Set<string>>)[
  Symbol.for("pulumi-advertising")
];

const engineRun = () =>
  newRun({ url: "https://ads.example", email: "a@b.c", password: "geheim" }, newFolder());

/** What the provider process answers to the engine's check. */
async function checked(inputs: object) {
  const identity = { identity: `${STACK}::purchase`, run: { isUp: false, resources: 1 } };
  const { event } = engineRun();
  const { failures } = await event.check({}, { ...inputs, __sender: identity });
  return (failures ?? []).map(({ reason }) => reason).join("\n");
}

export const args: Examples = {
  "a secret id": () =>
    checked({
      ...EVENT,
      existingId: 4711,
      [SECRET_ARGUMENTS]: ["existingId", "deletionPolicy"],
    }),
  "an event whose arguments are all wrong": () =>
    refused(
      () =>
        new advertising.ConversionEvent(
          "purchase",
          {
            eventName: "x".repeat(100),
            advertiserId: new pulumi.StackReference("org/shop/dev"),
            value: Number.NaN,
            eventTypeId: 1.5,
            segmentId: -1,
            countUnique: "yes",
            clickWindow: 3_000_000,
            viewWindow: "7d",
            attribution: "all",
            existingId: 0,
            additionalFields: { value: 1, note: { at: () => 1 } },
            colour: "red",
            eventname: "Purchase",
          } as never,
          { import: "4711", retainOnDelete: false },
        ),
      { "advertising:markField": "alternative_id" },
    ),
  "deletes that the options or the settings contradict": () =>
    refused(
      () => {
        const args = { advertiserName: "Acme", deletionPolicy: pulumi.output("delete") };
        const deletedWith = {} as pulumi.Resource;
        new advertising.Advertiser("acme", args as never, { deletedWith });
      },
      {
        "advertising:operations": '{"advertiser":{"delete":"DELETE rest/advertiser/{id}"}}',
      },
    ),
  "a deletionPolicy without a known delete": () =>
    problemMessages(optionFindings({}, true, false).warnings).join("\n"),
  "a plain id of `.get` that isn't one": () => readFindings(readIdOf("shop")).join("\n"),
  "a deletionPolicy beside an option that keeps": () =>
    problemMessages(optionFindings({ retainOnDelete: true }, true, true).warnings).join(
      "\n",
    ),
  "a set whose arguments are wrong": () =>
    refused(
      () =>
        new advertising.ConversionEventSet("funnel", {
          advertiserId: pulumi.output(7),
          defaults: { value: 1 },
          events: {
            toString: { eventName: "Landing", value: 0 },
            landing: 12,
            lead: {},
            buy: { eventName: "Buy", value: 1, formerKey: "lead", existingId: 4711 },
            pay: { eventName: "Pay", value: 1, existingId: 4711 },
            a: { eventName: "A", value: "1" },
            b: { eventName: "B", value: "2" },
            c: { eventName: "C", value: "3" },
            d: { eventName: "D", value: "4" },
            e: { eventName: "E", value: "5" },
          },
        } as never),
    ),
  "a set whose arguments are no objects": () =>
    refused(() => {
      const wrong = { advertiserId: 7, defaults: "none", events: ["buy"] } as never;
      return new advertising.ConversionEventSet("funnel", wrong);
    }),
  "an advertiser without a usable name and id": () =>
    refused(
      () => new advertising.Advertiser("acme", { advertiserName: "\n", existingId: 0 }),
    ),
  "accepted, and likely a mistake": async () => {
    const { set, event: single, runtime, told } = engineRun();
    const identity = { identity: `${STACK}::funnel`, run: { isUp: false, resources: 1 } };
    const event = { value: 25, segmentId: "1234567890123450000" };
    const events = {
      buy: { ...event, eventName: "Sign\u200bup", clickWindow: 7 },
      lead: { ...event, eventName: "None", clickWindow: 10_080, viewWindow: 365 },
      view: { ...event, eventName: "{{Event}}" },
      sale: { ...event, eventName: "CafÃ©" },
    };
    await set.check({}, { advertiserId: 7, events, __sender: identity });
    for (const name of ["a", "b", "c", "d", "e"]) {
      const of = { identity: `${STACK}::${name}`, run: { isUp: false, resources: 9 } };
      await single.check({}, { ...EVENT, eventName: "TODO", __sender: of });
    }
    runtime.messages.tellCollected();
    return told.map(({ severity, message }) => `${severity}: ${message}`).join("\n");
  },
  "an option that is ignored": () =>
    warningsOf(() => {
      const options = { customTimeouts: { create: "5m" } };
      new advertising.ConversionEvent("lead", EVENT, options);
    }),
  "an Output of the wrong value, in a user's test": async () => {
    await setMocks();
    const value = pulumi.output(undefined) as never;
    const event = new advertising.ConversionEvent("purchase", { ...EVENT, value });
    return outputOf(event.eventId).then(String, ({ message }) => message);
  },
  "an Output of the wrong value, in an `up`": async () => {
    const fields = { ...EVENT, value: undefined, additionalFields: { a: { b: Symbol() } } };
    return checked({ ...fields, [SECRET_ARGUMENTS]: ["additionalFields"] });
  },
  "an Output that isn't an id, as the id of `.get`": () =>
    engineRun()
      .event.read("shop", {})
      .then(String, ({ message }) => message),
  "the function `validate`, of an unknown kind": () =>
    thrownBy(() => advertising.validate("Event" as never, EVENT)),
  "an old version of Node.js": () => {
    const { versions, execPath } = process;
    const old = {
      versions: { value: { node: "20.11.0" } },
      execPath: { value: "/bin/node" },
    };
    Object.defineProperties(process, old);
    const message = thrownWithoutMocks();
    Object.defineProperties(process, {
      versions: { value: versions },
      execPath: { value: execPath },
    });
    return message;
  },
  "a Pulumi that keeps the types of resources elsewhere": () =>
    thrownBy(() => typesOf({ __pulumiResource: true })),
  "a Pulumi that keeps its settings elsewhere": async () => {
    vi.resetModules();
    const path = "@pulumi/pulumi/runtime/state.js";
    vi.doMock(path, () => ({ getStore: undefined, getLocalStore: undefined }));
    const { currentMocks } = await import(
      "../../../provider/src/program/pulumi-internals.js"
    );
    vi.doUnmock(path);
    return thrownBy(currentMocks);
  },
  "a program whose folder does not have the package": () => {
    const spy = vi.spyOn(process, "cwd").mockReturnValue("/app");
    const message = thrownWithoutMocks();
    spy.mockRestore();
    return message;
  },
  "two copies of the package": () => {
    const other = "/app/node_modules/tracking/node_modules/pulumi-advertising";
    copies?.add(other);
    const message = thrownBy(expectOneCopy);
    copies?.delete(other);
    return message.replace(OWN_FOLDER, "/app/node_modules/pulumi-advertising");
  },
};
