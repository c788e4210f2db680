/** The rules of an advertiser (API page, POST rest/advertiser). */
import { z } from "zod";
import { additionalFieldsBeside, identifierOf, nameOf } from "../rules/index.js";
import { createOf, type Kind, oddName, onceFor, outputsOf, roundedId } from "./kind.js";

const wireNames = { advertiserName: "advertiser_name" } as const;

export const advertiser: Kind = {
  name: "Advertiser",
  handler: "advertiser",
  idProperty: "advertiserId",
  nameProperty: "advertiserName",
  identifyingProperties: [],
  unmanagedNotice: "stays live on the platform, with the events that were created for it",
  wireNames,
  outputs: outputsOf("advertiserId", wireNames),
  create: createOf("advertiser", wireNames),
  exactIds: new Set([]),
  refersTo: {},
  rules: onceFor(({ markField }) =>
    z.strictObject({
      advertiserName: nameOf(undefined),
      existingId: identifierOf("the id of a live advertiser").optional(),
      additionalFields: additionalFieldsBeside(new Set(Object.values(wireNames)), markField).optional(),
    }),
  ),
  conflicts: () => [],
  warnings: (values) => [...oddName(values, "advertiserName"), ...roundedId(values, "existingId")],
};
