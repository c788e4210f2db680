/**
 * Loaded first by every Node.js process that tests start: keeps what Node.js compiles, apart for the program's process and the provider's.
 * Pulumi sets a flag of V8 while it loads (`--allow-natives-syntax`), at another moment in each of the two, and V8 takes code only with
 * the flags that it was compiled with. In one folder each process rejects and rewrites the other's: 719 of 1,342 files in a run of Pulumi.
 */
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

const [, kind = "others"] = /@pulumi[\\/]pulumi[\\/]cmd[\\/]([\w-]+)/.exec(process.argv[1] ?? "") ?? [];
enableCompileCache(join(__dirname, "..", "..", ".pulumi-local", "compile-cache", kind));
