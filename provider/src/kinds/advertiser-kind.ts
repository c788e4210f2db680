/** The kind `Advertiser`. Its rules come from the platform's API documentation of `POST rest/advertiser`. */
import { z } from "zod";
import { additionalFieldsBeside, identifierOf, nameRule } from "../rules/index.js";
import { createOf, type KindOf, memoized, outputsOf } from "./kind.js";

const advertiserWireNames = { advertiserName: "advertiser_name" } as const;

export const advertiser: KindOf<typeof advertiserWireNames> = {
  name: "Advertiser",
  idProperty: "advertiserId",
  nameProperty: "advertiserName",
  identifyingProperties: [],
  unmanagedNotice: "stays live and unmanaged, with the events that were created for it",
  wireNames: advertiserWireNames,
  outputs: outputsOf("advertiserId", advertiserWireNames),
  create: createOf("advertiser", advertiserWireNames),
  idArguments: new Set([]),
  references: {},
  owner: undefined,
  rules: memoized(({ markField }) =>
    z.strictObject({
      advertiserName: nameRule(undefined),
      existingId: identifierOf("the id of a live advertiser").optional(),
      additionalFields: additionalFieldsBeside(advertiserWireNames, markField).optional(),
    }),
  ),
};
