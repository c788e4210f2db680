/**
 * Loaded first by every Node.js process that tests start, so that hundreds of runs of Pulumi start faster. What they do does not change.
 *
 * Keeps what Node.js compiles, in separate folders for the program's process and the provider's. While Pulumi loads it sets a flag of V8
 * (`--allow-natives-syntax`), at a different moment in each of the two, and V8 accepts code only with the flags that it was compiled with.
 * In a common folder each process rejects and rewrites the other's files: 719 of 1,342 in a run of Pulumi.
 */
const Module = require("node:module");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const [, kind = "others"] = /@pulumi[\\/]pulumi[\\/]cmd[\\/]([\w-]+)/.exec(process.argv[1] ?? "") ?? [];
Module.enableCompileCache(join(__dirname, "..", "..", ".pulumi-local", "compile-cache", kind));

/**
 * Whether a test of the repository has its program in JavaScript. Pulumi prepares for TypeScript even then, and maps traces to its own
 * sources: two fifths of that process's work. Programs of an installed package (test/package) run as users' programs do.
 */
const isJavaScript = kind === "run" && process.cwd().includes(".pulumi-local") && !existsSync("tsconfig.json");
if (isJavaScript) process.env.PULUMI_NODEJS_TYPESCRIPT = "false";

/** Pulumi loads these to serialise functions, which no resource of this package needs: a third of the provider's start. */
const RARELY_USED = /^(@npmcli\/arborist|typescript)$/;
const PULUMI = /@pulumi[\\/]pulumi[\\/]/;

const { _load: load } = Module;
Module._load = function (request, parent, ...rest) {
  const loadNow = () => load.call(this, request, parent, ...rest);
  if (request === "source-map-support/register" && isJavaScript) return {};
  if (!RARELY_USED.test(request) || !PULUMI.test(parent?.filename ?? "")) return loadNow();
  // Compiled code first asks for `__esModule`: with true it uses the object as it is.
  return new Proxy({}, { get: (_, name) => name === "__esModule" || loadNow()[name] });
};
