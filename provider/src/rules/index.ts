/** The front door of `rules/`. */
export {
  additionalFieldsBeside,
  duration,
  exactId,
  expectationOf,
  expecting,
  finiteNumber,
  identifierOf,
  integerFromZero,
  isName,
  isPlatformId,
  isReadableId,
  nameOf,
  READABLE_ID,
  truth,
  windowOf,
} from "./fields.js";
export { asAccepted, defaultOf, formsOf } from "./forms.js";
export type { Problem, Source } from "./problem.js";
export { InWords, show } from "./show.js";
export { isContainer } from "./unknown-values.js";
export { type Group, type Members, type Reading, type Rules, validate } from "./validate.js";
