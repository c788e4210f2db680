/**
 * Loaded first by every Node.js process that tests start, so that hundreds of runs of Pulumi start faster. What they do does not change.
 *
 * Keeps what Node.js compiles, in separate folders for the program process and the provider's. V8 accepts code only with the flags that
 * it was compiled with, and Pulumi may set one (`--allow-natives-syntax`): in a common folder a process rejects and rewrites the other's
 * files.
 */
const Module = require("node:module");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const [, kind = "others"] =
  /@pulumi[\\/]pulumi[\\/]cmd[\\/]([\w-]+)/.exec(process.argv[1] ?? "") ?? [];
Module.enableCompileCache(
  join(__dirname, "..", "..", ".pulumi-local", "compile-cache", kind),
);

/**
 * Whether a test of the repository has its program in JavaScript. Pulumi prepares for TypeScript even then, and maps traces to its own
 * sources. Programs of an installed package (test/package) run as users' programs do.
 */
const isOfProgram = kind === "run" || kind === "dynamic-provider";
const isJavaScript =
  isOfProgram && process.cwd().includes(".pulumi-local") && !existsSync("tsconfig.json");
if (isJavaScript) process.env.PULUMI_NODEJS_TYPESCRIPT = "false";

const PULUMI = /[\\/]@pulumi[\\/]pulumi[\\/]/;
/** Modules that each process loads at its start and no run of this package needs. They are loaded when something of them is used. */
const RARELY_USED = [
  { by: PULUMI, what: /^(@npmcli\/arborist|typescript|\.\/automation)$/ },
  { by: /[\\/]zod[\\/]/, what: /^\.\.\/locales\/index\.cjs$/ }, // its messages in other languages
];
/** The same for tracing and for serialising functions. Their functions and classes are read at once, but not called. */
const RARELY_CALLED = {
  by: PULUMI,
  what: /^(@opentelemetry\/(?!api$).+|\.\/closure\/(codePaths|serializeClosure))$/,
};
/** Has an inspector report every script that is loaded, in case a function is serialised later. */
const SCRIPT_REPORTS = "../../runtime/closure/v8Hooks";

const { _load: load } = Module;
Module._load = function (request, parent, ...rest) {
  const loadNow = () => load.call(this, request, parent, ...rest);
  const matches = ({ by, what }) => what.test(request) && by.test(parent?.filename ?? "");
  if (request === "source-map-support/register" && isJavaScript) return {};
  if (request === SCRIPT_REPORTS && kind === "run")
    return { isInitializedAsync: async () => undefined };
  if (RARELY_USED.some(matches)) return lazyModule((name) => loadNow()[name]);
  if (matches(RARELY_CALLED))
    return lazyModule((name) => lazyFunction(() => loadNow()[name]));
  return loadNow();
};

/** Compiled code first asks a module for `__esModule`: with true it uses the object as it is. */
const lazyModule = (get) =>
  new Proxy({}, { get: (_, name) => name === "__esModule" || get(name) });

/** Stands for a function or a class. */
const lazyFunction = (get) =>
  new Proxy(class {}, {
    apply: (_, self, args) => Reflect.apply(get(), self, args),
    construct: (_, args) => Reflect.construct(get(), args),
  });
