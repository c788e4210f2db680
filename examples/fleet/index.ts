import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as advertising from "pulumi-advertising";

// The program of one stack of the fleet: fleet.json has an entry of the stack's name.
interface Fleet {
  /** Every stack has these events. */
  readonly events: Record<
    string,
    { readonly eventName: string; readonly eventTypeId?: number; readonly value: number }
  >;
  readonly stacks: Record<
    string,
    { readonly advertiserName: string; readonly values?: Record<string, number> }
  >;
}

const fleet = JSON.parse(readFileSync("fleet.json", "utf8")) as Fleet;
const stack = fleet.stacks[pulumi.getStack()];
if (stack === undefined)
  throw new pulumi.RunError(`fleet.json has no stack "${pulumi.getStack()}"`);

const advertiser = new advertising.Advertiser("advertiser", {
  advertiserName: stack.advertiserName,
});
const events = Object.entries(fleet.events).map(
  ([name, event]) =>
    new advertising.ConversionEvent(name, {
      ...event,
      value: stack.values?.[name] ?? event.value,
      advertiserId: advertiser.advertiserId,
    }),
);

export const advertiserId = advertiser.advertiserId;
export const eventIds = events.map((event) => event.eventId);
