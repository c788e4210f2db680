/** The kind `Advertiser`. Its rules come from the platform's API documentation of `POST rest/advertiser`. */
import { z } from "zod";
import { additionalFieldsBeside, identifierOf, nameRule } from "../rules/index.js";
import { defineKind, deletionPolicy, memoized } from "./kind.js";

const advertiserWireNames = { advertiserName: "advertiser_name" };

/** The rules of an advertiser in a catalog, whose objects share a `deletionPolicy`. */
export const advertiserRules = memoized(({ markField }) =>
  z.strictObject({
    advertiserName: nameRule(),
    existingId: identifierOf("the id of a live advertiser").optional(),
    additionalFields: additionalFieldsBeside(advertiserWireNames, markField).optional(),
  }),
);

export const advertiser = defineKind({
  noun: "advertiser",
  name: "Advertiser",
  idProperty: "advertiserId",
  nameProperty: "advertiserName",
  identifyingProperties: [],
  unmanagedNotice: "stays live and unmanaged, with the events that were created for it",
  wireNames: advertiserWireNames,
  idArguments: [],
  rules: memoized((limits) => advertiserRules(limits).extend({ deletionPolicy })),
});
