/** The front door of `base/`. */
export { type Clock, systemClock } from "./clock.js";
export {
  AccountError,
  AdvertisingError,
  ArgumentsError,
  DefectError,
  JournalError,
  LoginError,
  NoAnswerError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  SettingsError,
  UnsupportedError,
  UsageError,
  withCode,
} from "./errors.js";
export { exactInteger, parseExact } from "./exact-json.js";
export { didYouMean, differsLittle, letters, nearest } from "./nearest.js";
export { whyTooOld } from "./node-version.js";
export { asRecord, own, type Values } from "./record.js";
export { Secrets } from "./secrets.js";
export { count, cut, enumerate, excerpt, idRanges, printable, shellWord } from "./text.js";
