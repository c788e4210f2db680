/**
 * Loaded first by every Node.js process that tests start, so that hundreds of runs of Pulumi start sooner. Nothing of what they do changes.
 *
 * Keeps what Node.js compiles, apart for the program's process and the provider's. Pulumi sets a flag of V8 while it loads
 * (`--allow-natives-syntax`), at another moment in each of the two, and V8 takes code only with the flags that it was compiled with. In one
 * folder each process rejects and rewrites the other's: 719 of 1,342 files in a run of Pulumi.
 */
const Module = require("node:module");
const { join } = require("node:path");

const [, kind = "others"] = /@pulumi[\\/]pulumi[\\/]cmd[\\/]([\w-]+)/.exec(process.argv[1] ?? "") ?? [];
Module.enableCompileCache(join(__dirname, "..", "..", ".pulumi-local", "compile-cache", kind));

/** What Pulumi loads to take functions apart, which no resource of this package asks for: a third of the provider's start. */
const RARELY_USED = /^(@npmcli\/arborist|typescript)$/;
const PULUMI = /@pulumi[\\/]pulumi[\\/]/;

const { _load: load } = Module;
Module._load = function (request, parent, ...rest) {
  const loadNow = () => load.call(this, request, parent, ...rest);
  if (!RARELY_USED.test(request) || !PULUMI.test(parent?.filename ?? "")) return loadNow();
  // `__esModule` is what compiled code asks for first: true, so that it takes what it gets as it is.
  return new Proxy({}, { get: (_, name) => name === "__esModule" || loadNow()[name] });
};
