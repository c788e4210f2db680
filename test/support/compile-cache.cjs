/**
 * Loaded first by every Node.js process that tests start, so that hundreds of runs of Pulumi start sooner. Nothing of what they do changes.
 *
 * Keeps what Node.js compiles, apart for the program's process and the provider's. Pulumi sets a flag of V8 while it loads
 * (`--allow-natives-syntax`), at another moment in each of the two, and V8 takes code only with the flags that it was compiled with. In one
 * folder each process rejects and rewrites the other's: 719 of 1,342 files in a run of Pulumi.
 */
const Module = require("node:module");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const [, kind = "others"] = /@pulumi[\\/]pulumi[\\/]cmd[\\/]([\w-]+)/.exec(process.argv[1] ?? "") ?? [];
Module.enableCompileCache(join(__dirname, "..", "..", ".pulumi-local", "compile-cache", kind));

/**
 * Where a test of the repository has its program in JavaScript: Pulumi makes ready for TypeScript all the same, and maps traces to its own
 * sources, which is two fifths of what that process does. Programs of an installed package (test/package) have it as users do.
 */
const isJavaScript = kind === "run" && process.cwd().includes(".pulumi-local") && !existsSync("tsconfig.json");
if (isJavaScript) process.env.PULUMI_NODEJS_TYPESCRIPT = "false";

/** What Pulumi loads to take functions apart, which no resource of this package asks for: a third of the provider's start. */
const RARELY_USED = /^(@npmcli\/arborist|typescript)$/;
const PULUMI = /@pulumi[\\/]pulumi[\\/]/;

const { _load: load } = Module;
Module._load = function (request, parent, ...rest) {
  const loadNow = () => load.call(this, request, parent, ...rest);
  if (request === "source-map-support/register" && isJavaScript) return {};
  if (!RARELY_USED.test(request) || !PULUMI.test(parent?.filename ?? "")) return loadNow();
  // `__esModule` is what compiled code asks for first: true, so that it takes what it gets as it is.
  return new Proxy({}, { get: (_, name) => name === "__esModule" || loadNow()[name] });
};
