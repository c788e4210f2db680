/** The rules of an advertiser (API page, POST rest/advertiser). */
import { additionalFieldsBeside, identifierOf, nameOf } from "./fields.js";
import type { ResourceSchema } from "./resource.js";

const wireNames = { advertiserName: "advertiser_name" } as const;

export const advertiserSchema: ResourceSchema = {
  kind: "Advertiser",
  idProperty: "advertiserId",
  nameProperty: "advertiserName",
  tellingProperties: [],
  afterlife: "stays live on the platform, with the events that were created for it",
  wireNames,
  exactIds: new Set([]),
  refersTo: {},
  rules: ({ traceField }) => ({
    advertiserName: nameOf(undefined),
    existingId: identifierOf("the id of a live advertiser").optional(),
    additionalFields: additionalFieldsBeside(new Set(Object.values(wireNames)), traceField).optional(),
  }),
  warnings: () => [],
};
