/**
 * Each resource as data: everything that the shared lifecycle asks of it.
 */
import { createAdvertiser, createEvent, type Operation } from "../api/operation.js";
import { advertiserSchema } from "../schema/advertiser.js";
import { conversionEventSchema } from "../schema/conversion-event.js";
import type { ResourceSchema } from "../schema/resource.js";

export interface Declaration {
  readonly schema: ResourceSchema;
  readonly operation: Operation;
}

export const advertiserDeclaration: Declaration = { schema: advertiserSchema, operation: createAdvertiser };

export const conversionEventDeclaration: Declaration = { schema: conversionEventSchema, operation: createEvent };
