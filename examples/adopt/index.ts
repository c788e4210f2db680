import * as pulumi from "@pulumi/pulumi";
import * as advertising from "pulumi-advertising";

const config = new pulumi.Config();

// An advertiser that somebody created by hand: named by its id, nothing is sent for it.
const existing = new advertising.Advertiser("existing", {
  advertiserName: "Acme Classics",
  existingId: config.requireNumber("existingAdvertiser"),
});

// Some installations create advertisers inactive unless a field says otherwise: one that the package does not know.
const active = new advertising.Advertiser("active", {
  advertiserName: "Acme Outlet",
  additionalFields: { active: true },
});

// New events, of both.
const events = { existing, active };
export const eventIds = Object.entries(events).map(
  ([name, advertiser]) =>
    new advertising.ConversionEvent(`${name}-purchase`, {
      eventName: `Purchase (${name})`,
      advertiserId: advertiser.advertiserId,
      value: 10,
      eventTypeId: advertising.EventType.Purchase,
    }).eventId,
);

// An event that lives already: adopted like the advertiser.
export const adoptedEventId = new advertising.ConversionEvent("existing-landing", {
  eventName: "Landing page",
  advertiserId: existing.advertiserId,
  value: 0,
  existingId: config.requireNumber("existingEvent"),
}).eventId;
