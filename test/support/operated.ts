/** An installation whose users have switched on every operation, with an advertiser 1. */
import type { Sandbox, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { useSandbox } from "./stack.js";

/** For `advertising:operations`. */
export const eventOperations = {
  read: "GET rest/event/{id}",
  update: "PUT rest/event/{id}",
  delete: "DELETE rest/event/{id}",
  search: "GET rest/event?alternative_id={mark}",
};

/** The settings for it. @param event what the users know of its operations on events. */
export function operatedSettings(event: Partial<typeof eventOperations> = eventOperations): Record<string, string> {
  return { operations: JSON.stringify({ event, createdVisibleAfterSeconds: 0 }), markField: "alternative_id" };
}

export function operatedSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
  return useSandbox({ operations: true, objects, ...options });
}
