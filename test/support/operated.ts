/** An installation with an advertiser 1 and every operation switched on in the settings. */
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type InstallationOptions, useSandbox } from "./installation.js";

/** The events' part of `advertising:operations`. */
export const eventOperations = {
  read: "GET rest/event/{id}",
  update: "PUT rest/event/{id}",
  delete: "DELETE rest/event/{id}",
  search: "GET rest/event?alternative_id={mark}",
};

/** The settings for it. @param event the operations on events that are known. */
export function operatedSettings(event: Partial<typeof eventOperations> = eventOperations): Record<string, string> {
  return { operations: JSON.stringify({ event, createdVisibleAfterSeconds: 0 }), markField: "alternative_id" };
}

export function operatedSandbox(options: InstallationOptions = {}): Promise<Sandbox> {
  const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
  return useSandbox({ operations: true, objects, ...options });
}
