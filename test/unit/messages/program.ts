/** What the program process prints, and what only Pulumi's dynamic provider or its plugin says. */
import type { JournalEntry } from "../../../provider/src/journal/index.js";
import { advertiser } from "../../../provider/src/kinds/index.js";
import { replacedNotice } from "../../../provider/src/operations/messages.js";
import { AdvertisingPlugin } from "../../../provider/src/plugin/provider.js";
import { ProgramValidator } from "../../../provider/src/program/program-validator.js";
import { refOf } from "../../../provider/src/state/index.js";
import { newFolder } from "../../support/folder.js";
import { newRun } from "../../support/run.js";
import { type Examples, OLD, open, record } from "./examples.js";

const atEnd = (records: JournalEntry[], isPreview: boolean) =>
  new ProgramValidator(isPreview).atEnd(records).join("\n");

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

/** A plugin whose journal is empty. */
function plugin(name = "default") {
  const { XDG_CACHE_HOME } = process.env;
  process.env.XDG_CACHE_HOME = newFolder();
  const provider = new AdvertisingPlugin({ PULUMI_BACKEND_URL: "file:///states" }, "");
  provider.configure(noSecrets({ baseUrl: PLATFORM.url, email: PLATFORM.email }), name);
  if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME;
  return provider;
}

/** The error as users see it. */
async function failed(provider: AdvertisingPlugin, call: () => unknown) {
  try {
    return String(await call());
  } catch (error) {
    return provider.fail(error);
  }
}

export const program: Examples = {
  "what leaves the state, in an up": () =>
    atEnd([{ ...open(OLD), state: "confirmed", id: "42" }], false),
  "an open create that nothing declares": () => atEnd([open(OLD)], true),
  "many that nothing declares": () => {
    const numbers = Array.from({ length: 25 }, (_, n) => n + 1);
    return atEnd(
      numbers.map((n) => ({ ...open(`${OLD}-${n}`), id: String(100 + n) })),
      true,
    );
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
    const values = { baseUrl: "platform.example.com", emial: "you@example.com" };
    const wrong = plugin().checkConfig(noSecrets(values));
    return [...wrong.values()].join("\n");
  },
  "the plugin: a resource that it doesn't have": () => {
    const provider = plugin();
    return failed(provider, () => provider.delete(urnOf("Segment"), "42", {}));
  },
  "the plugin: an import of an event without a known read": () => {
    const provider = plugin("second");
    return failed(provider, () => provider.read(urnOf("ConversionEvent"), "42", {}, {}));
  },
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
        "unresolved-m",
        { ...inputs, unresolved: record },
        noSecrets(inputs),
      ),
    );
  },
};
