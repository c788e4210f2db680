import * as advertising from "pulumi-advertising-sdk";

const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });

const purchase = new advertising.ConversionEvent("purchase", {
  eventName: "Purchase",
  advertiserId: acme.advertiserId,
  value: 25,
  eventTypeId: advertising.EventType.Purchase,
  clickWindow: 7 * 24 * 3600,
});

export const eventId = purchase.eventId;
