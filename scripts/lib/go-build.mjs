import { availableParallelism, totalmem } from "node:os";
import { isModule, isPackage, lineReader, messageIn } from "./build-progress.mjs";
import { compilerMemory } from "./compiler-memory.mjs";
import { inRoot } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask, run } from "./run.mjs";

const cores = availableParallelism();
const memory = Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY); // a container's limit

/** Nothing outside the tools' folders has a say, and no C compiler is needed, as for the official release. */
const env = { ...compilerMemory({ memory, cores }), ...process.env, CGO_ENABLED: "0", GOWORK: "off" };

/** What runs a Go command for the program whose go.mod stands in tools/<name>. */
export const goOptions = (name) => ({ cwd: inRoot("tools", name), env });

/** Downloads the source of a program, `{ name, module, main, tags, versionVariable }`. */
export async function download(program, { progress, signal }) {
  const seconds = stopwatch();
  let modules = 0;
  const onOutput = lineReader((line) => {
    if (isModule(line)) progress.downloaded(program.name, ++modules);
  });
  // Go downloads as many modules at once as it has processors; waiting for a network takes none.
  const more = { GOMAXPROCS: String(Math.max(16, cores)) };
  const { exitCode, output } = await go(program, ["list", "-deps"], { more, onOutput, signal });
  if (exitCode !== 0) throw failure(`Go could not download the source of ${program.name}`, output);
  if (modules > 0) progress.done(program.name, `${modules} modules downloaded in ${seconds()} s.`);
}

/** Compiles and links a program into `file`. Go leaves its files in `temporary` where it is stopped. */
export async function compile(program, { file, temporary, progress, signal }) {
  const seconds = stopwatch();
  const packages = await countPackages(program, signal);
  let started = 0;
  const onOutput = lineReader((line) => {
    if (isPackage(line) && started < packages) progress.compiled(program.name, ++started, packages);
  });
  const more = { GOTMPDIR: temporary };
  const { exitCode, output } = await go(program, ["build", "-v", "-o", file], { more, onOutput, signal });
  if (exitCode !== 0) throw failure(`Go could not build ${program.name} ${versionOf(program)}`, output);
  progress.done(program.name, `${versionOf(program)} built in ${seconds()} s.`);
}

/** How many packages there are to compile: those that Go's build cache lacks. */
async function countPackages(program, signal) {
  const format = '{{if .Stale}}stale {{.StaleReason}}{{end}}{{"\\n"}}';
  const { output } = await go(program, ["list", "-deps", "-f", format], { signal });
  const isToCompile = (line) => line.startsWith("stale ") && !line.endsWith("available in build cache");
  return output.split("\n").filter(isToCompile).length;
}

/** Runs Go for a program's main package with the flags of the build, since its cache tells packages apart by them. */
function go(program, command, { more = {}, ...options }) {
  const { cwd, env } = goOptions(program.name);
  const args = [...command, ...buildFlags(program), `${program.module}/${program.main}`];
  return run("go", args, { capture: true, cwd, env: { ...env, ...more }, ...options });
}

function buildFlags({ tags = [], versionVariable, ...program }) {
  return [
    "-mod=readonly",
    "-trimpath",
    `-tags=${tags.join(",")}`,
    // The linker leaves debug information out (-s -w), so the compilers need not write it either: 6% less work.
    "-gcflags=all=-dwarf=false",
    `-ldflags=-s -w -X ${versionVariable}=${versionOf(program)}`,
  ];
}

const versions = new Map();
function versionOf({ name, module }) {
  if (!versions.has(name)) {
    versions.set(name, ask("go", ["list", "-m", "-f", "{{.Version}}", module], goOptions(name)));
  }
  return versions.get(name);
}

const failure = (what, output) => new Problem(`${messageIn(output)}\n${what}: see its message above.`);

function stopwatch() {
  const started = Date.now();
  return () => Math.round((Date.now() - started) / 1000);
}
