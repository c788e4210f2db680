/** What is stored or crosses between the two processes, and the sentences that both share. It touches no file. */
export * from "./messages.js";
export * from "./names.js";
export * from "./resource-objects.js";
export * from "./stored.js";
