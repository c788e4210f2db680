import * as advertising from "pulumi-advertising-sdk";

const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });

export const advertiserId = acme.advertiserId;
