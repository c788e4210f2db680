/** Files that this user alone reads and writes, and a lock between processes. Nothing here knows what a file is for. */
export * from "./lock.js";
export * from "./private-file.js";
