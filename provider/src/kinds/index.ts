/** The front door of `kinds/`. */
export { advertiser } from "./advertiser-kind.js";
export { bodyOf, fingerprintOf, fingerprintOfBody } from "./body.js";
export { conversionEvent } from "./event-kind.js";
export {
  CATALOG_SEPARATOR,
  CATALOG_TYPE,
  type Kind,
  type Limits,
  nameToTell,
  type ResourceName,
  removalWarning,
  type SetKind,
  setRemovalWarning,
  typeTokenOf,
} from "./kind.js";
export {
  addressOf,
  type KnownOperations,
  OPTIONAL_OPERATIONS,
  type Operation,
  type OptionalOperation,
} from "./operation.js";
export { KINDS, kindNamed, kindOfType, ownerOf, setOfType } from "./registry.js";
export { conversionEventSet } from "./set-kind.js";
export { Attribution, days, EventType, hours, THIRTY_DAYS_IN_SECONDS } from "./vocabulary.js";
