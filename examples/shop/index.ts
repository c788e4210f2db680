import * as advertising from "pulumi-advertising";

// Two advertisers of a small shop, each with the conversions that its campaigns are measured by.
const shoes = new advertising.Advertiser("acme-shoes", { advertiserName: "Acme Shoes" });
const hats = new advertising.Advertiser("acme-hats", { advertiserName: "Acme Hats" });

const purchase = new advertising.ConversionEvent("shoes-purchase", {
  eventName: "Shoes: purchase",
  advertiserId: shoes.advertiserId,
  value: 25,
  eventTypeId: advertising.EventType.Purchase,
  clickWindow: advertising.days(7),
  viewWindow: advertising.hours(24),
  attribution: advertising.Attribution.Whitelist,
});

const landing = new advertising.ConversionEvent("shoes-landing", {
  eventName: "Shoes: landing page",
  advertiserId: shoes.advertiserId,
  value: 0,
  eventTypeId: advertising.EventType.LandingPage,
});

const signUps = ["Newsletter", "Loyalty card"].map(
  (what) =>
    new advertising.ConversionEvent(`hats-${what.toLowerCase().replace(" ", "-")}`, {
      eventName: `Hats: ${what}`,
      advertiserId: hats.advertiserId,
      value: 1.5,
    }),
);

export const advertiserIds = { shoes: shoes.advertiserId, hats: hats.advertiserId };
export const eventIds = {
  purchase: purchase.eventId,
  landing: landing.eventId,
  signUps: signUps.map((event) => event.eventId),
};
