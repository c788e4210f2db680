/** What the program process prints, and what only Pulumi's dynamic provider or its plugin says. */
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { vi } from "vitest";
import type { Values } from "../../../provider/src/base/index.js";
import { advertiser, conversionEvent } from "../../../provider/src/kinds/index.js";
import { replacedNotice } from "../../../provider/src/operations/messages.js";
import { OpenCreates } from "../../../provider/src/plan/index.js";
import { readProperties } from "../../../provider/src/plugin/properties.js";
import { AdvertisingPlugin } from "../../../provider/src/plugin/provider.js";
import { notInPackage } from "../../../provider/src/plugin/server.js";
import {
  afterTransformations,
  programError,
} from "../../../provider/src/program/program.js";
import { runOf } from "../../../provider/src/record/engine-run.js";
import { readExport, savedStateOf } from "../../../provider/src/record/index.js";
import type { SettingsReading } from "../../../provider/src/settings/index.js";
import { refOf } from "../../../provider/src/state/index.js";
import { newFolder } from "../../support/folder.js";
import { newRun } from "../../support/run.js";
import { exportOf, storedEvent, storedSet } from "../../support/stored.js";
import { type Examples, open, record } from "./examples.js";

const PLATFORM = {
  url: "https://ads.example",
  email: "you@example.com",
  password: "geheim",
};
const urnOf = (type: string) => `urn:pulumi:dev::shop::advertising:index:${type}::purchase`;

const noSecrets = (values: object) => ({
  values: { ...values },
  secret: new Set<string>(),
});

const SECOND = "urn:pulumi:dev::shop::pulumi:providers:advertising::second";

/** A plugin whose journal is empty, and which finds no Pulumi: its warning about that is an example elsewhere. */
function plugin(name = "default_0_1_0", more: Values = {}) {
  vi.stubEnv("XDG_STATE_HOME", newFolder());
  vi.stubEnv("PATH", "");
  const provider = new AdvertisingPlugin({ PULUMI_BACKEND_URL: "file:///states" });
  const urn = `urn:pulumi:dev::shop::pulumi:providers:advertising::${name}`;
  const { url: baseUrl, email } = PLATFORM;
  provider.configure(noSecrets({ baseUrl, email, ...more }), urn);
  return provider;
}

/** The error as users see it. */
async function failed(provider: AdvertisingPlugin, call: () => unknown) {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  try {
    return String(await call());
  } catch (error) {
    return provider.fail(error);
  } finally {
    vi.unstubAllEnvs();
    warn.mockRestore();
  }
}

export const program: Examples = {
  "a transformation takes the provider away": () => {
    const left = { name: "purchase", props: {}, opts: {} };
    const taken = () => afterTransformations(conversionEvent, left as never);
    try {
      return String(taken());
    } catch (error) {
      return String(error);
    }
  },
  "a later batch of an up is wrong": () =>
    programError(
      { problems: [] } as unknown as SettingsReading,
      [{ title: 'ConversionEvent "late"', lines: ["value is required"] }],
      "The program stops, and nothing more is sent.",
    ).message,
  "the credentials of a provider, in a login's error": () => {
    const { runtime } = plugin("second", { email: PLATFORM.email, password: "geheim" });
    return `Check ${runtime.reading.credentialsSource}.`;
  },
  "an advertiser that is replaced": () =>
    replacedNotice(
      advertiser,
      refOf("Advertiser", "shop/dev::acme"),
      { id: "7", isDeleted: false },
      "is replaced",
    ).text,
  "a resource that isn't declared with the package's class": async () => {
    const { event } = newRun(PLATFORM, newFolder());
    return event.check({}, {}).then(String, ({ message }) => message);
  },
  "an error's own line, should Pulumi print it": async () => {
    const { event } = newRun(PLATFORM, newFolder());
    return event.check({}, {}).then(String, String);
  },
  "the plugin: wrong arguments of a provider": () => {
    const operations = { event: { reed: "x", search: "GET rest/event" } };
    const values = {
      baseUrl: "platform.example.com",
      emial: "you@example.com",
      operations,
    };
    return plugin().checkConfig(values, SECOND).join("\n");
  },
  "the plugin: a resource that it doesn't have": () => {
    const provider = plugin();
    return failed(provider, () => provider.delete(urnOf("Segment"), "42", {}));
  },
  "the plugin: an import of an event without a known read": () => {
    const provider = plugin("second");
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: a .get of an event without a known read": () => {
    const provider = plugin();
    Object.assign(provider.runtime, { command: runOf(["up"]) });
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: an import of what another event has": () => {
    const provider = plugin();
    const saved = savedStateOf(readExport(exportOf([storedEvent("sale", 42)])));
    provider.runtime.record.state = async () => saved;
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: an import of what an event of a set has": () => {
    const provider = plugin();
    const set = storedSet("funnel", { eventIds: { sale: 42 } });
    const saved = savedStateOf(readExport(exportOf([set])));
    provider.runtime.record.state = async () => saved;
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: an import of what an interrupted run has sent": () => {
    const provider = plugin();
    const create = open("ConversionEvent::purchase", { mark: "m", run: "r" });
    provider.runtime.record.open = async () => new OpenCreates([create]);
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: an import without a password": () => {
    const operations = JSON.stringify({ event: { read: "GET rest/event/{id}" } });
    const provider = plugin("default", { operations });
    Object.assign(provider.runtime, { command: { command: "import" } });
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
  "the plugin: a cancelled run": () => {
    const provider = plugin();
    provider.cancel();
    return failed(provider, () => provider.runtime.work.assertGoesOn());
  },
  "the plugin: an asset as an argument": async () => {
    const logo = { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17" };
    const struct = Struct.fromJavaScript({ advertiserName: logo });
    const answer = await plugin().check(urnOf("Advertiser"), {}, readProperties(struct));
    return answer.failures.join("\n");
  },
  "the plugin: a function that it doesn't have": () =>
    failed(plugin(), () => {
      throw notInPackage("functions");
    }),
  "the plugin: an import of a set": () => {
    const provider = plugin();
    return failed(provider, () => provider.read(urnOf("ConversionEventSet"), "42", {}, {}));
  },
  "the plugin: wrong arguments of a resource": async () => {
    const provider = plugin();
    const { failures } = await provider.check(urnOf("ConversionEvent"), {}, noSecrets({}));
    return failures.join("\n");
  },
  "the plugin: an open create, in a preview": () => {
    const provider = plugin();
    const { name } = record;
    const inputs = { advertiserId: 7, eventName: name, value: 25 };
    return failed(provider, () =>
      provider.previewUpdate(
        urnOf("ConversionEvent"),
        { id: "unresolved-m", olds: { ...inputs, unresolved: record }, news: inputs },
        new Set(),
      ),
    );
  },
};
