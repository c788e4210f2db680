/**
 * The front door of `rules/`: checks values against zod schemas in this package's own words. It promises that everything that is
 * wrong is reported at once, each with its path, that what is not known yet switches off only what depends on it, and that a secret
 * value is never shown. It knows no kind of resource. It may import `base/` and zod.
 */
export {
  additionalFieldsBeside,
  asAccepted,
  defaultOf,
  duration,
  exactId,
  expectationOf,
  expecting,
  finiteNumber,
  formsOf,
  identifierOf,
  integerFromZero,
  isContainer,
  isName,
  isPlatformId,
  LIVE_ID,
  nameOf,
  READABLE_ID,
  truth,
  windowOf,
} from "./fields.js";
export type { Problem } from "./problem.js";
export { InWords, inWords, quoted, type Reading, type Rules, show, validate } from "./validate.js";
