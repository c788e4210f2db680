/** Stands in for the Pulumi CLI that the commands call: a simulated engine has the state, and refreshes its resources. */
import type { refresh } from "../../provider/src/cli/pulumi.js";
import { keyOfUrn } from "../../provider/src/state/index.js";
import { AdvertiserEngine, EventEngine, SetEngine } from "./set-engine.js";

type Refreshed = AdvertiserEngine | EventEngine | SetEngine;

export function pulumiOf(engineNow: () => EventEngine | SetEngine) {
  return {
    stackName: async () => `organization/${engineNow().stack}`,
    stateOf: async () => engineNow().saved.read(),
    refresh: async (...[urns, environment, _, creates]: Parameters<typeof refresh>) => {
      const engine = engineNow();
      if (creates === "clear") return engine.saved.clearCreates();
      const { saved } = engine;
      // Each `read` sees what Pulumi had saved before (measured with engine 3.259.0).
      const before = saved.copy();
      saved.beginRun(true);
      saved.save();
      for (const urn of urns.filter((each) => saved.resources.has(each))) {
        const name = keyOfUrn("ConversionEvent", urn).slice("ConversionEvent::".length);
        let kind: new (...of: ConstructorParameters<typeof EventEngine>) => Refreshed =
          EventEngine;
        if (/Set::/.test(urn)) kind = SetEngine;
        if (/Advertiser::/.test(urn)) kind = AdvertiserEngine;
        const refreshed = engine.beside(kind, name);
        if (/::advertising:index:/.test(urn)) refreshed.plugin = "default";
        const { error } = await refreshed.refresh({
          environment: environment as Record<string, string>,
          saved: before,
        });
        if (error !== undefined) throw new Error(error);
      }
    },
  };
}
