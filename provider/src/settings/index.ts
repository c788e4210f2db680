/** `settings/`. It reads no files and no environment itself, and no secret value is shown. */
export {
  knownOperations,
  type Operations,
  operationsSchema,
} from "./operations-setting.js";
export type { ProxySetting } from "./proxy.js";
export {
  describeSettingProblem,
  describeSettingProblems,
  readSettings,
  type SettingsReading,
} from "./read-settings.js";
export {
  accountMatcher,
  accountOf,
  environmentNameOf,
  type IsSameAccount,
  mayBeSameAccount,
  NAMESPACE,
  type Settings,
} from "./settings.js";
