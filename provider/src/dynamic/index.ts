/**
 * `dynamic/`: Pulumi's dynamic providers in front of `operations/`, which knows nothing about Pulumi. Also links this
 * process to the engine: for messages, and to notice when the engine is gone.
 */
import { connect } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import type { TellAt } from "../operations/index.js";

export { createProvider, silenceShown } from "./provider.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as unknown as {
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

const CHECK_EVERY_MS = 1000;

/** Calls `onGone` once nothing listens at the engine's address, `host:port`. Doesn't keep the process alive. */
export function watchEngine(address: string | undefined, onGone: () => void): void {
  const [, host, port] = /^([\w.[\]:-]+):(\d+)$/.exec(address ?? "") ?? [];
  if (host === undefined) return;
  const timer = setInterval(() => {
    const socket = connect({ host, port: Number(port) });
    socket.unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.destroy();
      // Any other error may be temporary; a closed port on this machine means that the engine's process has ended.
      if (error.code !== "ECONNREFUSED") return;
      clearInterval(timer);
      onGone();
    });
  }, CHECK_EVERY_MS);
  timer.unref();
}
