/** A run in which time passes as the test wants it, for what is sent as well. */
import type { Runtime } from "../../provider/src/provider/runtime.js";
import type { FakeClock } from "./clock.js";

export function timed(runtime: Runtime, clock: FakeClock): Runtime {
  const client = runtime.client();
  const create: typeof client.create = ({ beforeSend, ...request }) =>
    client.create({ ...request, beforeSend: () => beforeSend(new Date(clock.wallMs()).toISOString()) });
  const timedClient = Object.assign(Object.create(client) as typeof client, { create });
  const silent = { warnEach: () => undefined, tellAt: () => undefined };
  return { ...runtime, ...silent, clock, client: () => timedClient };
}
