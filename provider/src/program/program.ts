/**
 * The running program, and the way from a constructor to the engine. Each constructor adds its declaration to the
 * batch of this turn of the event loop. No resource of a batch is registered before the whole batch is found valid,
 * and one error lists all its problems. A program that awaits nothing outside is one batch.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
  ArgumentsError,
  count,
  cut,
  own,
  SettingsError,
  type Values,
  versionProblem,
  withPage,
} from "../base/index.js";
import { setPrintedStack } from "../journal/index.js";
import { type AnyKind, providerReference, typeTokenOf } from "../kinds/index.js";
import { isContainer, MAX_PROBLEMS, problemMessages } from "../rules/index.js";
import {
  describeSettingProblems,
  knownOperations,
  NAMESPACE,
  readSettings,
  type SettingsReading,
  settingsIn,
} from "../settings/index.js";
import {
  identityText,
  kindOf,
  labelOf,
  PROVIDER,
  type ProgramContext,
  SECRET_ARGUMENTS,
  SENDER,
  takenAwayMessage,
} from "../state/index.js";
import {
  type Declaration,
  declare,
  type Finding,
  holdsOutput,
  optionFindings,
  readFindings,
  withDeletionPolicy,
  withIds,
} from "./declaration.js";
import { ProgramValidator } from "./program-validator.js";
import * as internals from "./pulumi-internals.js";

/** The key in `globalThis` under which all copies, of any version, list their folders: its form must not change. */
const NOTED = Symbol.for("pulumi-advertising");
const here: { [NOTED]?: Set<string> } = globalThis as object;
here[NOTED] ??= new Set();
const copies = here[NOTED];
copies.add(join(__dirname, "../.."));

/** @throws pulumi.RunError if several copies of this package are loaded. */
export function expectOneCopy() {
  if (copies.size < 2) return;
  const lines = [
    "The program and its provider load several copies of pulumi-advertising. Only one can check the whole program:",
    ...Array.from(copies, (folder) => `  ${folder}`),
    "Nothing was sent. Declare the package in the program's dependencies, and in libraries only in peerDependencies. " +
      "Then run `npm dedupe` (pnpm, yarn dedupe). See `npm ls pulumi-advertising`.",
  ];
  throw runError(withPage(lines.join("\n"), ArgumentsError));
}

class Program {
  /** In a user's unit test, the program needs no settings, and reads nothing from this machine. */
  readonly #isUnderTest = internals.currentMocks() !== undefined;
  readonly reading = readSettingsOfProgram(this.#isUnderTest);
  readonly #validator = new ProgramValidator(
    pulumi.runtime.isDryRun(),
    this.reading.inherited,
  );
  readonly #batch: Declaration[] = [];
  #validated: Promise<void> | undefined;
  #failure: unknown;
  /** The consequence, if the program stops now: a sentence. */
  #consequence = "Nothing was sent.";

  /**
   * Adds a declaration to the batch. @returns the resource's context for the provider process, once the whole batch is
   * found valid. Otherwise one error ends the program. @throws pulumi.RunError at once in a user's unit test, which
   * would not notice a later rejection.
   */
  add(declaration: Declaration): Promise<Partial<ProgramContext>> {
    const { lines, resource } = declaration;
    const conflicts = resource ? this.#validator.add(resource) : [];
    const all = { ...declaration, lines: [...lines, ...conflicts] };
    if (this.#isUnderTest) this.#assertGood([all]);
    this.#batch.push(all);
    this.#validated ??= internals.awaitLater(this.#validate());
    return internals.awaitLater(
      this.#validated.then(() => (resource ? this.#validator.contextOf(resource) : {})),
    );
  }

  /** Ends the program with this error, also if the program catches it. */
  fail(error: unknown) {
    // A unit test of a user's goes on.
    if (this.#isUnderTest) return;
    this.#failure ??= error;
    this.#validated ??= internals.awaitLater(this.#validate());
  }

  #validate() {
    return new Promise<void>((resolve, reject) => {
      // After the program's own turn, promises included: by then, all of the batch is declared.
      setImmediate(() => {
        const batch = this.#batch.splice(0);
        this.#validated = undefined;
        try {
          for (const { title, warnings = [] } of batch)
            warn(cut(warnings, MAX_PROBLEMS).map((text) => `${title}: ${text}`));
          this.#assertGood(batch);
          if (!this.#isUnderTest && !pulumi.runtime.isDryRun())
            this.#consequence = "The program stops, and nothing more is sent.";
          resolve();
        } catch (error) {
          // In a process that goes on, the resources would wait forever.
          if (internals.isEmbedded()) reject(error);
          throw error;
        }
      });
    });
  }

  #assertGood(findings: readonly Finding[]) {
    if (this.#failure) throw this.#failure;
    const wrong = findings.filter(({ lines }) => lines.length > 0);
    // Objects of earlier batches may be live by now.
    if (this.reading.problems.length + wrong.length > 0)
      throw programError(this.reading, wrong, this.#consequence);
  }
}

/** @param error of a constructor. Without its resource, nothing would tell a part of the program from the whole. */
export function stopAfter(error: unknown) {
  try {
    currentProgram().fail(error);
  } catch {
    // This package can't run here, which each constructor says.
    setImmediate(() => {
      throw error;
    });
  }
  return error;
}

function warn(warnings: readonly string[]) {
  for (const warning of warnings) void pulumi.log.warn(warning);
}

/** The property of a deployment's stack resource, or of a test's mocks, that holds the program. */
const PROGRAM = Symbol("pulumi-advertising");
const WITHOUT_STACK = {};

/**
 * The program of the current deployment; a process may run several (automation API). In unit tests, each `setMocks`
 * begins a new one. @throws pulumi.RunError if this package can't run here.
 */
export function currentProgram() {
  const holder: { [PROGRAM]?: Program } =
    internals.currentMocks() ?? pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  holder[PROGRAM] ??= begin();
  return holder[PROGRAM];
}

function begin() {
  const old = versionProblem();
  if (old !== undefined) throw runError(`pulumi-advertising: ${old}`);
  // An inline program of the automation API may run in any folder.
  if (!internals.isEmbedded()) {
    setPrintedStack(internals.stackOfProgram, pulumi.getRootDirectory());
    const found = expectFoundFrom(process.cwd());
    // The provider process loads the copy that it finds, which may differ from a library's. A bundle has no such file.
    if (existsSync(join(__dirname, "../handlers.js"))) copies.add(join(found, "../.."));
  }
  if (internals.currentMocks() === undefined) expectOneCopy();
  const program = new Program();
  warn(program.reading.warnings);
  internals.silenceFailedRegistrations();
  internals.endOnlyWithoutErrors();
  return program;
}

/**
 * The provider process loads this package from the program's folder, where it can't find the copy of a library or a
 * bundle. @returns the file that the process loads. @throws pulumi.RunError if there is none.
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

/** @param consequence what was not done: a sentence. */
export function programError(
  { problems }: SettingsReading,
  findings: readonly Finding[],
  consequence: string,
) {
  const total = findings.reduce((sum, { lines }) => sum + lines.length, problems.length);
  const sections = findings.map(({ title, lines }) =>
    [`${title}:`, ...cut(lines, MAX_PROBLEMS)].join("\n    "),
  );
  const lines = [`${count(total, "problem")}. ${consequence}`];
  if (problems.length > 0) lines.push(describeSettingProblems(problems));
  lines.push(...cut(sections, MAX_PROBLEMS).map((section) => `  ${section}`));
  const cause = findings.length > 0 ? ArgumentsError : SettingsError;
  return runError(withPage(lines.join("\n"), cause));
}

/**
 * An error without a stack, which Pulumi shows in some messages, and with a fixed message, since Pulumi would put a
 * property's name before it.
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
  return readSettings({
    config: (key) => config.get(key),
    // A unit test must have the same result on every machine.
    environment: isUnderTest ? {} : process.env,
    keys: settingsIn(pulumi.runtime.allConfig()),
    // Unit tests set secrets as plain texts.
    isSecret: (key) => (isUnderTest ? undefined : isConfigSecret(`${NAMESPACE}:${key}`)),
    mayLackPassword: pulumi.runtime.isDryRun() && !isUnderTest,
    mayLackAll: isUnderTest,
  });
}

/** Exported by Pulumi's runtime, but not in its types. */
const { isConfigSecret } = pulumi.runtime as unknown as {
  isConfigSecret(key: string): boolean;
};

/**
 * The arguments of a resource class for Pulumi's own constructor. There is no base class in between, because Pulumi
 * counts constructors to find the line in the user's program, which it stores. Outside unit tests, arguments never
 * make this throw: one error at the end of the turn lists all problems. @param args ignored for `get`.
 */
export function registrationOf(
  kind: AnyKind,
  name: string,
  args: object | undefined,
  options: pulumi.CustomResourceOptions = {},
): ConstructorParameters<typeof pulumi.CustomResource> {
  const program = currentProgram();
  const { id, parent, transformations = [] } = options;
  const given = withIds(kind, { ...args });
  const declaration =
    id === undefined
      ? declare({ kind, name, args: given, options }, program.reading.settings)
      : { title: labelOf(kind.name, name), lines: readFindings(id) };
  const context = program.add(declaration);
  // Names every output, so that the class has it even if the argument is left out.
  const outputs = Object.fromEntries(kind.outputs.map((each) => [each, undefined]));
  const properties = { ...outputs, ...given, [PROVIDER]: providerReference(kind.name) };
  const type = typeTokenOf(kind.name);
  const hidden: pulumi.Inputs = {};
  const last = internals.transformLast((transformed) => {
    const { deletedWith } = transformed.opts;
    // As the resource's own option it's refused with the arguments.
    if (deletedWith && id === undefined && !options.deletedWith) {
      const can = knownOperations(kindOf(kind), program.reading.settings);
      const { problems } = optionFindings({ deletedWith }, false, Boolean(can.delete));
      program.add({ title: declaration.title, lines: problemMessages(problems) });
    }
    // A transformation may have made them secret, and then Pulumi's record would hide who sends.
    const { props } = transformed;
    return afterTransformations(kind, { ...transformed, props: { ...props, ...hidden } });
  });
  const withLast = { ...options, transformations: [last, ...transformations] };
  if (id !== undefined) {
    // Pulumi would wait forever for what is read by an id that fails.
    const batch = context.catch(() => undefined);
    const read = pulumi.all([id, batch]).apply(([known]) => known);
    return [type, name, properties, { ...withLast, id: read }];
  }
  const identity = identityText(internals.stackOfProgram(), {
    parentTypes: internals.typesOf(parent),
    name,
  });
  // These inputs resolve only once the batch is found valid: until then, Pulumi registers nothing.
  const sender = context.then((more) => ({ identity, ...more }));
  hidden[SENDER] = internals.awaitLater(sender);
  // Only for Outputs and promises: for plain values, a promise each would cost time.
  if (holdsOutput(given))
    hidden[SECRET_ARGUMENTS] = internals.awaitLater(context.then(() => secretNames(given)));
  return [type, name, { ...properties, ...hidden }, withLast];
}

/**
 * A resource's inputs and options after all old-style transformations. One of them may keep the objects. A policy's
 * remediation runs later: a preview of a new resource shows what it leaves, and doesn't call the provider.
 * @throws pulumi.RunError if Pulumi could not find the provider.
 */
export function afterTransformations(
  kind: AnyKind,
  { resource, name, props, opts }: pulumi.ResourceTransformationArgs,
) {
  const errorOf = (input: string) =>
    runError(withPage(takenAwayMessage(labelOf(kind.name, name), input), ArgumentsError));
  if (!Object.hasOwn(props, PROVIDER)) throw errorOf(PROVIDER);
  if (pulumi.runtime.isDryRun() && internals.currentMocks() === undefined)
    internals.expectKept(resource, [PROVIDER, SENDER], errorOf);
  return withDeletionPolicy(props, opts);
}

/**
 * The names of arguments that are or contain a secret: the provider gets their plain values, and must not show them. An
 * event's `existingId` is named too, since it's refused.
 */
async function secretNames(given: Values) {
  const { events } = given;
  const entries: unknown[] = isContainer(events) ? Object.values(events) : [];
  const ids = entries.map((entry) => ["existingId", own(entry, "existingId")] as const);
  const names = new Set<string>();
  for (const [name, value] of [...Object.entries(given), ...ids])
    if (holdsOutput(value) && (await pulumi.isSecret(pulumi.output(value))))
      names.add(name);
  if (names.size > 0) return [...names];
}
