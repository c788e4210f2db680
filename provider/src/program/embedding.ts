/**
 * Whether the program has a process of its own, as under the CLI, or is one of several in somebody else's: an inline program of
 * the automation API, or a user's unit test.
 */
import * as state from "@pulumi/pulumi/runtime/state.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore, getLocalStore } = state as unknown as {
  getStore(): { settings: { options: { monitorAddr?: string }; monitor?: object } };
  getLocalStore(): unknown;
};

/** What Pulumi's mocks set. */
const MOCK_MONITOR = "mock";

export function isEmbedded(): boolean {
  return getLocalStore() !== undefined || mocksOfNow() !== undefined;
}

/** Pulumi's mocks, which stand for the engine in a user's unit test; each `setMocks` makes others. */
export function mocksOfNow(): object | undefined {
  const { options, monitor } = getStore().settings;
  return options.monitorAddr === MOCK_MONITOR ? monitor : undefined;
}
