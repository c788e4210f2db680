import * as advertising from "pulumi-advertising-sdk";

const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });

const funnel = new advertising.ConversionEventSet("funnel", {
  advertiserId: acme.advertiserId,
  defaults: { attribution: advertising.Attribution.Whitelist },
  events: {
    landing: {
      eventName: "Landing page",
      value: 0,
      eventTypeId: advertising.EventType.LandingPage,
    },
    cart: { eventName: "Cart", value: 1.5 },
  },
});

export const eventIds = funnel.eventIds;
