/** An installation with an advertiser 1 and every operation switched on in the settings. */
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { knownOperations } from "../../provider/src/settings/index.js";
import { type InstallationOptions, useSandbox } from "./installation.js";

/** The events' part of `advertising:operations`. */
export const eventOperations = {
  read: "GET rest/event/{id}",
  update: "PUT rest/event/{id}",
  delete: "DELETE rest/event/{id}",
  search: "GET rest/event?alternative_id={mark}",
};

/** The settings for it. @param event the operations on events that are known. */
export function operatedSettings(
  event: Partial<typeof eventOperations> = eventOperations,
): Record<string, string> {
  return {
    operations: JSON.stringify({ event, createdVisibleAfterSeconds: 0 }),
    markField: "alternative_id",
  };
}

/** Where objects of both kinds can be deleted, and nothing else is known. */
export const DELETES_ONLY = {
  settings: {
    operations: JSON.stringify({
      advertiser: { delete: "DELETE rest/advertiser/{id}" },
      event: { delete: eventOperations.delete },
      createdVisibleAfterSeconds: 0,
    }),
  },
};

export function operatedSandbox(options: InstallationOptions = {}): Promise<Sandbox> {
  const objects = {
    advertisers: [{ id: 1, advertiser_name: "A", active: true }],
    events: [],
  };
  return useSandbox({ operations: true, objects, ...options });
}

/** The event that {@link withWitness} reads; the next object has the id 2. */
export const WITNESS = { id: 1, event_name: "Witness", advertiser_id: 1, value: 1 };

/** The run first reads {@link WITNESS} successfully, so that a later "not found" counts as gone. */
export function withWitness(runtime: Runtime): Runtime {
  let hasRead = false;
  const client = () => {
    const real = runtime.client();
    const operation = knownOperations(conversionEvent, runtime.reading.settings).read;
    if (operation !== undefined && !hasRead)
      void real.read({
        kind: conversionEvent,
        operation,
        id: String(WITNESS.id),
        label: "witness",
      });
    hasRead = true;
    return real;
  };
  return { ...runtime, client };
}
