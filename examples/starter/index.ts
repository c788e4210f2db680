import * as advertising from "pulumi-advertising";

const shop = new advertising.Catalog("shop", { file: "catalog.yaml" });

// For those who place the tags: ids by the keys of the file.
export const advertiserIds = shop.advertiserIds;
export const eventIds = shop.eventIds;
