/** ClientDependencies for a part of the client that is tested alone: nothing is sent or printed, unless `more` says so. */
import { expect } from "vitest";
import { Secrets } from "../../provider/src/base/secrets.js";
import type { ClientDependencies } from "../../provider/src/client/client-dependencies.js";
import { FakeClock } from "./clock.js";
import { settingsOf } from "./settings.js";

export function dependenciesOf(more: Partial<ClientDependencies> = {}): ClientDependencies {
  return {
    settings: settingsOf(),
    transport: { send: () => expect.fail("nothing is sent"), close: async () => undefined },
    clock: new FakeClock(),
    cookieFile: undefined,
    credentialsSource: "advertising:email and advertising:password",
    secrets: new Secrets(),
    say: (message) => expect.fail(message),
    ...more,
  };
}
