/**
 * The running program: all that it has declared so far, and the way from a constructor to the engine. Each constructor
 * adds its declaration to this turn's batch, and waits for it to be judged: nothing of a batch is registered before all
 * of it was found good, and one error lists all that is wrong. A program that waits for nothing outside is one batch.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
  ArgumentsError,
  count,
  cut,
  SettingsError,
  saidOnce,
  type Values,
  versionProblem,
  withPage,
} from "../base/index.js";
import { appendHints } from "../files/index.js";
import {
  backendIn,
  endedPath,
  journalPath,
  printCommandsFor,
  readJournal,
} from "../journal/index.js";
import { handlerOf, type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import {
  accountMatcher,
  describeSettingProblems,
  NAMESPACE,
  readSettings,
  type SettingsReading,
} from "../settings/index.js";
import {
  IDENTITY,
  identityText,
  PROVIDER,
  type ProgramContext,
  SECRET_ARGUMENTS,
} from "../state/index.js";
import {
  type Declaration,
  declare,
  type Finding,
  holdsOutput,
  idsOf,
} from "./declaration.js";
import { ProgramValidator } from "./program-validator.js";
import * as internals from "./pulumi-internals.js";

/** Where any copy finds the folders of the others, whatever its version: so this form is a contract. */
const NOTED: unique symbol = Symbol.for("pulumi-advertising");
const here: { [NOTED]?: Set<string> } = globalThis as object;
here[NOTED] ??= new Set();
const copies = here[NOTED];
copies.add(join(__dirname, "../.."));

/** @throws pulumi.RunError */
export function expectOneCopy(): void {
  if (copies.size < 2) return;
  const lines = [
    "The program and its provider load several copies of pulumi-advertising, but only one copy can check the whole program:",
    ...[...copies].map((folder) => `  ${folder}`),
    "Nothing was sent. Declare the package in the program's dependencies, and in libraries only in peerDependencies. " +
      "Then run `npm dedupe` (pnpm, yarn dedupe). To see what brings each copy: `npm ls pulumi-advertising` (pnpm why, yarn why).",
  ];
  throw runError(withPage(lines.join("\n"), ArgumentsError.code));
}

class Program {
  /** Then it needs no settings, and reads nothing of this machine. */
  readonly #isUnderTest = internals.currentMocks() !== undefined;
  readonly reading = readSettingsOfProgram(this.#isUnderTest);
  readonly #validator = new ProgramValidator(pulumi.runtime.isDryRun());
  readonly #batch: Declaration[] = [];
  #validated: Promise<void> | undefined;
  #isRefused = false;

  /**
   * @returns the provider's context, once its batch was judged. If anything is wrong, the one error ends the program.
   * @throws pulumi.RunError in a user's unit test, which hears nothing of later errors.
   */
  add(declaration: Declaration): Promise<Partial<ProgramContext>> {
    const { lines, resource } = declaration;
    const conflicts = resource ? this.#validator.add(resource) : [];
    const all = { ...declaration, lines: [...lines, ...conflicts] };
    if (this.#isUnderTest) this.#assertGood([all]);
    this.#batch.push(all);
    this.#validated ??= internals.heardLater(this.#validate());
    const context = this.#validated.then(() => {
      return resource ? this.#validator.contextOf(resource) : {};
    });
    return internals.heardLater(context);
  }

  #validate() {
    return new Promise<void>((resolve, reject) => {
      // After the program's own turn, promises included: by then all of the batch was declared.
      setImmediate(() => {
        const batch = this.#batch.splice(0);
        this.#validated = undefined;
        try {
          const all = batch.flatMap(({ title, warnings }) =>
            warnings.map((text) => ({ title, text })),
          );
          // A warning that several resources share is printed once.
          warn(
            saidOnce(
              all,
              ({ title, text }) => `${title}: ${text}`,
              ({ title }) => title,
              ({ text }) => text,
            ),
          );
          this.#assertGood(batch);
          resolve();
        } catch (error) {
          this.#isRefused = true;
          // Each resource's wait would last forever in a process that goes on.
          if (internals.isEmbedded()) reject(error);
          throw error;
        }
      });
    });
  }

  #assertGood(findings: readonly Finding[]) {
    const wrong = findings.filter(({ lines }) => lines.length > 0);
    // What earlier batches declare may be live by now.
    const consequence = "nothing declared at the same time was registered or sent";
    if (this.reading.problems.length + wrong.length > 0)
      throw programError(this.reading, wrong, consequence);
  }

  /** What a program that was refused would have declared is not known: a catalog with one mistake declares nothing. */
  end(): void {
    if (this.#isRefused || this.#isUnderTest) return;
    try {
      const stack = internals.stackOfProgram();
      const path = journalPath({ stack, backend: backendIn(process.env, process.cwd()) });
      // Several programs may share the process.
      printCommandsFor(stack);
      const isSame = accountMatcher(this.reading.settings);
      const records = [...readJournal(path).records.values()];
      warn(this.#validator.atEnd(records.filter(({ account }) => isSame(account))));
      if (!pulumi.runtime.isDryRun()) appendHints(endedPath(path), "well\n");
    } catch {
      // The backend is not known, or the journal can't be read: the provider says so, and creates nothing.
    }
  }
}

function warn(warnings: readonly string[]) {
  for (const warning of warnings) void pulumi.log.warn(warning);
}

/** The name under which a deployment's stack resource, or the mocks of a test, hold their program. */
const PROGRAM = Symbol("pulumi-advertising");
const WITHOUT_STACK = {};

/** One per deployment: a process may run several (automation API), tests one per `setMocks`. @throws pulumi.RunError */
export function currentProgram(): Program {
  const holder: { [PROGRAM]?: Program } =
    internals.currentMocks() ?? pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  holder[PROGRAM] ??= begin();
  return holder[PROGRAM];
}

function begin(): Program {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw runError(`pulumi-advertising: ${old}`);
  // An inline program of the automation API may run in any folder.
  if (!internals.isEmbedded()) {
    printCommandsFor(internals.stackOfProgram());
    const found = expectFoundFrom(process.cwd());
    // Beside a library's copy, the provider process would run another one. A bundle has no file of its own.
    if (existsSync(join(__dirname, "../handlers.js"))) copies.add(join(found, "../.."));
  }
  if (internals.currentMocks() === undefined) expectOneCopy();
  const program = new Program();
  warn(program.reading.warnings);
  for (const note of program.reading.notes) void pulumi.log.info(note);
  // The engine takes nothing out of the state before the program ends.
  internals.onceEndedWell(() => program.end());
  return program;
}

/**
 * The reference in a state is evaluated in the program's folder, by another process: what a library or a bundle brings
 * along is not found there. @returns the file that it loads. @throws pulumi.RunError
 */
function expectFoundFrom(folder: string) {
  try {
    return createRequire(join(folder, "index.js")).resolve("pulumi-advertising/handlers");
  } catch {
    throw runError(
      `Pulumi's provider process can't find pulumi-advertising from ${folder}. Nothing was sent. ` +
        "Install it there: `npm install pulumi-advertising`. A library that uses it declares it in peerDependencies.",
    );
  }
}

/** A program makes thousands of events in a loop, and a catalog has thousands of rows. */
const MAX_LINES = 100;

/** @param consequence what was not done, such as `nothing was sent`. */
export function programError(
  { problems }: SettingsReading,
  findings: readonly Finding[],
  consequence: string,
): pulumi.RunError {
  const total = findings.reduce((sum, { lines }) => sum + lines.length, problems.length);
  const sections = findings.map(({ title, lines }) =>
    [`${title}:`, ...cut(lines, MAX_LINES)].join("\n    "),
  );
  const lines = [`${count(total, "problem")}; ${consequence}.`];
  if (problems.length > 0) lines.push(describeSettingProblems(problems));
  lines.push(...cut(sections, MAX_LINES).map((section) => `  ${section}`));
  const { code } = findings.length > 0 ? ArgumentsError : SettingsError;
  return runError(withPage(lines.join("\n"), code));
}

/**
 * Pulumi would put a property's name before the message, and shows an error's stack trace in some of its own messages.
 */
function runError(message: string) {
  const error = Object.assign(new pulumi.RunError(message), { stack: "" });
  return Object.defineProperty(error, "message", {
    get: () => message,
    set: () => undefined,
  });
}

function readSettingsOfProgram(isUnderTest: boolean) {
  const config = new pulumi.Config(NAMESPACE);
  const prefix = `${NAMESPACE}:`;
  const all = Object.keys(pulumi.runtime.allConfig());
  return readSettings({
    config: (key) => config.get(key),
    // A test has the same result on every machine.
    environment: isUnderTest ? {} : process.env,
    keys: all.flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])),
    // Tests set plain texts.
    isSecret: (key) => isUnderTest || isConfigSecret(`${prefix}${key}`),
    mayLackPassword: pulumi.runtime.isDryRun() && !isUnderTest,
    mayLackAll: isUnderTest,
  });
}

/** Pulumi's runtime exports it, but its types do not name it. */
const { isConfigSecret } = pulumi.runtime as unknown as {
  isConfigSecret(key: string): boolean;
};

/**
 * What a resource class hands to Pulumi's own constructor. No base class is in between: Pulumi counts constructors to
 * find the line in a user's program, which the state holds. A deployment throws nothing: all problems end it together.
 * @param args ignored where an existing resource is read (`get`).
 */
export function registrationOf(
  kind: Kind | SetKind,
  name: string,
  args: object | undefined,
  options: pulumi.CustomResourceOptions | undefined,
): ConstructorParameters<typeof pulumi.CustomResource> {
  const program = currentProgram();
  // The platform keeps what it can't delete: previews then show Pulumi's own [retain].
  const merged = pulumi.mergeOptions({ retainOnDelete: true }, options ?? {});
  const { id, parent } = merged;
  const given = idsOf(kind, { ...args });
  let declaration: Declaration = { title: "", lines: [], warnings: [] };
  // Of what is only read, the provider checks the id.
  if (id === undefined)
    declaration = declare(
      { kind, name, args: given, options: merged },
      program.reading.settings,
    );
  const context = program.add(declaration);
  // Every output, so that it is there even if the argument is left to its default.
  const outputs = Object.fromEntries(kind.outputs.map((each) => [each, undefined]));
  // Stored instead of code, and evaluated in the program's folder: the package's version and place change no stack.
  const reference = `exports.handler=()=>require("pulumi-advertising/handlers").${handlerOf(kind.name)}`;
  const properties = { ...outputs, ...given, [PROVIDER]: reference };
  const type = typeTokenOf(kind.name);
  if (id !== undefined) return [type, name, properties, merged];
  const identity = identityText(internals.stackOfProgram(), {
    parentTypes: internals.typesOf(parent),
    name,
  });
  // These settle only once the whole program was found good: until then Pulumi registers nothing.
  const hidden: pulumi.Inputs = {
    [IDENTITY]: internals.heardLater(context.then((more) => ({ identity, ...more }))),
  };
  // Most values are plain: to wait for each would cost a promise.
  if (holdsOutput(given))
    hidden[SECRET_ARGUMENTS] = internals.heardLater(context.then(() => secretNames(given)));
  return [type, name, { ...properties, ...hidden }, merged];
}

/** Arguments that are or hold a secret: the provider gets their values in clear, and must not quote them. */
async function secretNames(given: Values) {
  const names: string[] = [];
  for (const [name, value] of Object.entries(given))
    if (holdsOutput(value) && (await pulumi.isSecret(pulumi.output(value))))
      names.push(name);
  return names.length === 0 ? undefined : names;
}
