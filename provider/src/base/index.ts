/**
 * `base/`: text, data and errors for every module. Nothing here uses the network, or files (except the package's
 * own), and time is an argument. A text that passed `Secrets` contains no registered secret. It knows nothing about
 * advertisers and events, and imports no other module.
 */
export * from "./clock.js";
export * from "./commands.js";
export * from "./errors.js";
export * from "./packaging.js";
export * from "./record.js";
export * from "./secrets.js";
export * from "./similar.js";
export * from "./text.js";
