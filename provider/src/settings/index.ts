/** `settings/`. It reads no files and no environment itself, and no secret value is shown. */
export * from "./operations-setting.js";
export * from "./proxy.js";
export * from "./read-settings.js";
export * from "./settings.js";
