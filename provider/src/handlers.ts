/**
 * The dynamic providers, made in `dynamic/provider.ts`. Stored states load these exports by name (`__provider`), so
 * none of them may ever be renamed.
 */
import type { Config } from "@pulumi/pulumi/dynamic";
import { createProvider, engineLog, silenceShown } from "./dynamic/index.js";
import {
  type AnyKind,
  conversionEventSet as conversionEventSetKind,
  kindsByName,
} from "./kinds/index.js";
import { createRuntime, endBySignals, type Runtime } from "./operations/index.js";
import { watchEngine } from "./record/index.js";
import { NAMESPACE } from "./settings/index.js";

// One process serves all dynamic resources of a deployment: they share the runtime that the first call creates.
let runtime: Runtime | undefined;

function configure(config: Config) {
  if (runtime) return;
  // Pulumi passes the engine's address as the first argument.
  const [, , engine] = process.argv;
  const created = createRuntime(
    (key) => config.get(`${NAMESPACE}:${key}`),
    process.env,
    engineLog(engine),
    { engine },
  );
  runtime = created;
  silenceShown();
  // A killed engine leaves this process behind, so it ends itself.
  watchEngine(engine, () => void created.abandon().finally(() => process.exit(1)));
  endBySignals(() => created);
}

function configured() {
  if (!runtime) throw new Error("not configured");
  return runtime;
}

function provide(kind: AnyKind) {
  return createProvider(kind, configured, configure);
}

export const advertiser = provide(kindsByName.Advertiser);
export const conversionEventSet = provide(conversionEventSetKind);
export const conversionEvent = provide(kindsByName.ConversionEvent);
