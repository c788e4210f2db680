/**
 * The front door of `state/`: the contracts with stored state, and what follows from them alone. Which resource is meant, what an
 * unresolved create, a set and an object that is left live look like in the state, and what the program's half tells the
 * provider's. `sentences.ts` has what both halves and the command say alike. Whatever an
 * earlier version wrote stays readable. It imports base, kinds and rules, and touches no file.
 */
export {
  type CreateRecord,
  type Facts,
  isUnresolved,
  isUnresolvedId,
  lastMomentSent,
  markOf,
  readMark,
  recordIn,
  tellingIn,
  unresolvedId,
  writeMark,
  writeMemberRecord,
  writeRecord,
} from "./create-record.js";
export {
  aboutWhom,
  aliasFor,
  currentKey,
  type Identity,
  identityText,
  isOfEarlierVersion,
  journalKeyOf,
  labelOf,
  memberLabel,
  memberOf,
  type Noted,
  nameInUrn,
  nameOf,
  parseIdentity,
  renamedFrom,
  resourceKeyIn,
  splitMember,
  stackOf,
  urnOf,
} from "./identity.js";
export {
  ACCOUNT,
  DELETES,
  IDENTITY,
  LEFT_LIVE,
  type LeftLive,
  leftLiveIn,
  leftLiveKind,
  MARK,
  PROVIDER,
  readDeclared,
  SECRET_ARGUMENTS,
  SECRET_SIGNATURE,
  type Told,
  UNKNOWN,
  UNRESOLVED,
  writeDeclared,
  writeLeftLive,
} from "./properties.js";
export {
  describe,
  explain,
  forgetCommand,
  removalWarning,
  setRemovalWarning,
  settleCommand,
  waysOut,
  whatHappened,
  whatIsOpen,
} from "./sentences.js";
export {
  type DeclaredSet,
  eventIn,
  memberMark,
  readDeclaredSet,
  readStoredSet,
  type Shared,
  type StoredSet,
  storedFingerprint,
  writeStoredSet,
} from "./stored-set.js";
