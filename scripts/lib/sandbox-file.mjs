import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { localFolder, readJson } from "./paths.mjs";

// The sandbox ends with each run, the stack's state stays: so what the state speaks of is kept beside it.
const file = join(localFolder, "sandbox.json");

/** The objects that the sandbox had when it was saved last; undefined the first time. */
export const loadObjects = () => (existsSync(file) ? readJson(file) : undefined);

export function saveObjects(objects) {
  writeFileSync(`${file}.new`, JSON.stringify(objects, null, 2));
  renameSync(`${file}.new`, file); // whole or not at all
}
