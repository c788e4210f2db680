/** Stands in for the Pulumi CLI that the commands call: a simulated engine has the state, and refreshes its resources. */
import { EventEngine, SetEngine } from "./set-engine.js";

export function pulumiOf(engineNow: () => EventEngine | SetEngine) {
  return {
    stackName: async () => `organization/${engineNow().stack}`,
    stateOf: async () => engineNow().saved.read(),
    refresh: async (urns: readonly string[], environment: Record<string, string>) => {
      const engine = engineNow();
      const { saved } = engine;
      saved.beginRun(true);
      saved.save();
      for (const urn of urns.filter((each) => saved.resources.has(each))) {
        const name = urn.split("::").at(-1) ?? "";
        const refreshed = /Set::/.test(urn)
          ? engine.beside(SetEngine, name)
          : engine.beside(EventEngine, name);
        const { error } = await refreshed.refresh({ environment });
        if (error !== undefined) throw new Error(error);
      }
    },
    clearPendingCreates: async () => engineNow().saved.clearCreates(),
  };
}
