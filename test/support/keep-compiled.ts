import { join } from "node:path";

/** `NODE_OPTIONS` for processes that keep what they compile, between runs too. */
export const keepCompiled = `--require ${JSON.stringify(join(import.meta.dirname, "compile-cache.cjs"))}`;
