/**
 * The front door of `decision/`, which promises that what becomes of an object is decided in one place, from facts. `decide.ts` decides
 * for every object, including whether one that a set gives up is deleted; `members.ts` collects the facts for a single resource or for each
 * member of a set; `holders.ts` knows which other resource has an object. Everything here is pure and asks neither the platform nor the disk.
 * The room may import `base`, `rules`, `kinds`, `settings` and `state`.
 */

export {
  argumentNames,
  argumentsFrom,
  changesIn,
  type Differences,
  differencesIn,
  hasValue,
  holdsUnknown,
  isSameBody,
  matchesCreate,
  mayBeFoundGone,
  renamesIn,
  sentOtherwise,
  type TakeOver,
  takeOverOf,
  withDifferences,
} from "./changes.js";
export {
  type Abilities,
  type Action,
  abilitiesOf,
  type Circumstances,
  type Created,
  decide,
  deletesUnlessHeld,
  type Former,
  isDeleted,
  removalOf,
  type ShownAction,
  shownAction,
  type Unproven,
  visibleFromMs,
} from "./decide.js";
export { type Adopted, type Holder, Holders, SOMEBODY } from "./holders.js";
export {
  actionOfCreate,
  adoptedBy,
  formerIfReplaced,
  isChange,
  knownAdoption,
  type Member,
  membersOf,
  objectsToDelete,
  singleMember,
  stillToDelete,
  type ToDelete,
} from "./members.js";
