/**
 * The front door of `decision/`, which promises that what becomes of an object is decided in one place, from facts. `decide.ts` decides
 * it for every object, also whether one that a set lets go of is deleted; `members.ts` makes the facts of a single resource or of each
 * member of a set; `holders.ts` knows who else has an object. Everything here is pure and asks neither the platform nor the disk.
 * The room may import `base`, `rules`, `kinds`, `settings` and `state`.
 */

export { ANY, argumentNames, type Changes, canonical, changesIn, hasValue, holdsUnknown } from "./changes.js";
export {
  type Abilities,
  type Action,
  abilitiesOf,
  decide,
  type Facts,
  type Former,
  formerOf,
  NO_ABILITIES,
  type Wanted,
} from "./decide.js";
export { type Holder, Holders, type Knowledge } from "./holders.js";
export {
  type Circumstances,
  formerIfReplaced,
  isChange,
  type Member,
  membersOf,
  PLAIN,
  singleMember,
} from "./members.js";
export { isSameBody, type Known, type Rename, renamesIn, type SentCreate, settles } from "./same-object.js";
export { type Created, visibleFromMs } from "./visible.js";
