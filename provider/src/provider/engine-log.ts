/**
 * Messages at a resource, in the engine's own list. Pulumi shows what a provider prints only at the stack; so this asks the
 * engine directly, at the address that it passes to the dynamic-provider process.
 */
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as unknown as { getStore(): { settings: { options: { engineAddr?: string } } } };

export type Severity = "info" | "warn";

/** Tells something about the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

/** @param address the engine's, `host:port`; without it (tests without an engine) messages go to standard error. */
export function engineLog(address: string | undefined): TellAt {
  if (address !== undefined) getStore().settings.options.engineAddr ??= address;
  return async (severity, urn, message) => {
    // All that Pulumi's log asks of a resource.
    const resource = { urn: { promise: async () => urn } } as unknown as pulumi.Resource;
    await pulumi.log[severity](message, resource);
  };
}
