/**
 * `base/`: text, data and errors that every module uses. It promises functions without network, and without files but for
 * the place of an error's page, and time as an argument; a text that passed `Secrets` holds no registered secret. It knows
 * nothing of advertisers and events, and imports no other module.
 */
export * from "./clock.js";
export * from "./commands.js";
export * from "./errors.js";
export * from "./record.js";
export * from "./secrets.js";
export * from "./similar.js";
export * from "./text.js";
