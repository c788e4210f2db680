/**
 * The front door of `settings/`: the settings of a stack as a table, and the reading of them. It promises that everything that is
 * wrong is reported at once, each with a command that fixes it, and that no secret value is shown. It reads no files and no
 * environment itself. It may import `base/`, `rules/` and `kinds/`.
 */
export { knownOperations, type Operations, operationsSchema } from "./operations-setting.js";
export {
  describeSettingProblem,
  describeSettingProblems,
  readSettings,
  type SettingsReading,
} from "./read-settings.js";
export { accountOf, environmentNameOf, NAMESPACE, type ProxySetting, type Settings } from "./settings.js";
