/**
 * The front door of `base/`: words, data and errors that every room uses. It promises functions without files or network, and time
 * as an argument; a text that passed `Secrets` holds no registered secret. It knows nothing of advertisers and events, and
 * imports no other room.
 */
export { type Clock, momentOf, systemClock } from "./clock.js";
export {
  AccountMismatchError,
  AdvertisingError,
  ArgumentsError,
  BadAnswerError,
  InternalError,
  JournalError,
  LoginError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  SettingsError,
  UnsupportedError,
  UsageError,
  withCode,
  withPage,
} from "./errors.js";
export {
  asRecord,
  exactInteger,
  isPlain,
  jsonIn,
  own,
  parseExact,
  structureIn,
  type Values,
  withoutUndefined,
} from "./record.js";
export { Secrets } from "./secrets.js";
export {
  agree,
  asTyped,
  commandsTake,
  count,
  cut,
  didYouMean,
  editsBetween,
  enumerate,
  excerpt,
  idRanges,
  letters,
  looksOf,
  natural,
  nearest,
  plainShellWord,
  printable,
  saidOnce,
  shellWord,
  unseenDifference,
  unseenIn,
  whyTooOld,
  withEscapes,
  withoutValues,
} from "./text.js";
