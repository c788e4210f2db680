/** A run in which time passes as the test wants it, for what is sent as well. */
import type { Runtime } from "../../provider/src/provider/services.js";
import type { FakeClock } from "./clock.js";

export function timed(runtime: Runtime, clock: FakeClock): Runtime {
  const client = runtime.client();
  const create: typeof client.create = ({ beforeSend, ...request }) =>
    client.create({ ...request, beforeSend: () => beforeSend(new Date(clock.wallMs()).toISOString()) });
  // Its methods have private fields: they are called on the client itself.
  const timedClient = new Proxy(client, {
    get: (target, name) => {
      const member = name === "create" ? create : Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const silent = { warnEach: () => undefined, tellAt: () => undefined };
  return { ...runtime, ...silent, clock, client: () => timedClient };
}
