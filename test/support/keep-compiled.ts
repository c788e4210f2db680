import { join } from "node:path";

/** `NODE_OPTIONS` for processes that keep compiled code, also between runs. */
export const keepCompiled = `--require ${JSON.stringify(join(import.meta.dirname, "compile-cache.cjs"))}`;
