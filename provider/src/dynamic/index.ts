/**
 * `dynamic/`: Pulumi's dynamic providers in front of `operations/`, which knows nothing about Pulumi. Also sends
 * the engine messages.
 */
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import type { TellAt } from "../operations/index.js";

export { createProvider, silenceShown } from "./provider.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as {
  getStore(): { settings: { options: { engineAddr?: string } } };
};

/** @param address the engine's, `host:port`. Without one (in tests), messages go to standard error. */
export function engineLog(address: string | undefined): TellAt {
  if (address !== undefined) getStore().settings.options.engineAddr ??= address;
  return async (severity, urn, message) => {
    // Pulumi's log reads nothing but a resource's URN.
    const resource = {
      urn: { promise: async () => urn },
    } as unknown as pulumi.Resource;
    await pulumi.log[severity](message, resource);
  };
}
