import * as advertising from "pulumi-advertising";

// A file in YAML: advertisers with their events, shared defaults, the team's own rules, and more events in a spreadsheet's CSV.
const shop = new advertising.Catalog("shop", { file: "catalog.yaml" });

// A spreadsheet alone: each text in its column "Advertiser" is an advertiser. Hundreds of events: one resource an advertiser.
const outlet = new advertising.Catalog("outlet", { file: "outlet.csv", sets: true });

// For those who place the tags: ids by the keys of the files.
export const advertiserIds = { shop: shop.advertiserIds, outlet: outlet.advertiserIds };
export const eventIds = { shop: shop.eventIds, outlet: outlet.eventIds };
