/**
 * `state/`: the names of resources, the properties that are stored or passed between the program process and the
 * provider process, and the messages that both share. Touches no file.
 */
export * from "./command-names.js";
export * from "./messages.js";
export * from "./names.js";
export * from "./resource-objects.js";
export * from "./stored.js";
