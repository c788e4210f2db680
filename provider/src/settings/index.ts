/** The front door of `settings/`. */
export { accountOf } from "./account.js";
export { knownOperations, type Operations, operationsSchema } from "./operations-setting.js";
export { readSettings, type SettingsReading } from "./read-settings.js";
export { describeSettingProblem, describeSettingProblems } from "./setting-problems.js";
export { environmentNameOf, NAMESPACE, type Settings } from "./settings.js";
