/** The rules of an advertiser (API page, POST rest/advertiser). */
import { z } from "zod";
import { additionalFieldsBeside, identifierOf, nameOf } from "../rules/index.js";
import { createOf, type KindOf, onceFor, outputsOf } from "./kind.js";
import { likelyMistakes } from "./likely-mistakes.js";

const wireNames = { advertiserName: "advertiser_name" } as const;

export const advertiser: KindOf<typeof wireNames> = {
  name: "Advertiser",
  idProperty: "advertiserId",
  nameProperty: "advertiserName",
  identifyingProperties: [],
  unmanagedNotice: "stays live on the platform, with the events that were created for it",
  wireNames,
  outputs: outputsOf("advertiserId", wireNames),
  create: createOf("advertiser", wireNames),
  exactIds: new Set([]),
  references: {},
  owner: undefined,
  rules: onceFor(({ markField }) =>
    z.strictObject({
      advertiserName: nameOf(undefined),
      existingId: identifierOf("the id of a live advertiser").optional(),
      additionalFields: additionalFieldsBeside(wireNames, markField).optional(),
    }),
  ),
  conflicts: () => [],
  warnings: (values) => likelyMistakes(advertiser, values),
};
