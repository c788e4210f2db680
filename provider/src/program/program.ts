/**
 * The running program: all that it has declared so far, and the way from a constructor to the engine. Each constructor
 * adds its declaration to this turn's batch, and waits for it to be judged: nothing of a batch is registered before all
 * of it was found good, and one error lists all that is wrong. A program that waits for nothing outside is one batch.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { commandsTake, type Values } from "../base/index.js";
import { appendHints } from "../files/index.js";
import {
  backendIn,
  commandTargetOf,
  endedPath,
  type JournalEntry,
  journalPath,
  readJournal,
  type StackPlace,
} from "../journal/index.js";
import { handlerOf, type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import {
  accountMatcher,
  NAMESPACE,
  readSettings,
  type SettingsReading,
} from "../settings/index.js";
import { IDENTITY, PROVIDER, SECRET_ARGUMENTS } from "../state/index.js";
import { type Declaration, declare } from "./declaration.js";
import {
  expectFoundFrom,
  expectNodeFits,
  type Finding,
  noteCopy,
  programError,
  severalCopies,
} from "./findings.js";
import { holdsOutput, idsOf, readIdProblem } from "./ids.js";
import { ProgramValidator, type ResourceContext } from "./program-validator.js";
import * as place from "./pulumi-internals.js";

noteCopy(join(__dirname, "../.."));

const NOTHING_DONE = "nothing was registered and nothing was sent";
/** Earlier batches were good, and what they declare may be live by now. */
const NOTHING_OF_IT_DONE =
  "nothing that was declared together with these was registered or sent";

class Program {
  /** Then it needs no settings, and reads nothing of this machine. */
  readonly #isUnderTest = place.mocksOfNow() !== undefined;
  readonly reading = readSettingsOfProgram(this.#isUnderTest);
  readonly #validator = new ProgramValidator();
  readonly #batch: Declaration[] = [];
  #contexts: Promise<ReadonlyMap<string, ResourceContext>> | undefined;
  #hasBegun = false;
  #isRefused = false;

  /**
   * @returns the provider's context, once its batch was judged. If anything is wrong, the one error ends the program.
   * @throws pulumi.RunError in a user's unit test, which hears nothing of later errors.
   */
  add(declaration: Declaration): Promise<ResourceContext> {
    this.#validator.add(declaration);
    if (this.#isUnderTest) this.#assertGood(this.#validator.wrongIn(declaration));
    this.#batch.push(declaration);
    this.#contexts ??= place.heardLater(this.#validated());
    return place.heardLater(
      this.#contexts.then((all) => all.get(declaration.resource?.key ?? "") ?? {}),
    );
  }

  #validated(): Promise<ReadonlyMap<string, ResourceContext>> {
    return new Promise((resolve, reject) => {
      // After the program's own turn, promises included: by then all of the batch was declared.
      setImmediate(() => {
        const batch = this.#batch.splice(0);
        this.#contexts = undefined;
        try {
          const { findings, warnings, contexts } = this.#validator.validate(
            batch,
            pulumi.runtime.isDryRun(),
          );
          warn(warnings);
          const copies = this.#isUnderTest ? [] : severalCopies();
          this.#assertGood(
            [...copies, ...findings],
            this.#hasBegun ? NOTHING_OF_IT_DONE : NOTHING_DONE,
          );
          this.#hasBegun = true;
          resolve(contexts);
        } catch (error) {
          this.#isRefused = true;
          // Each resource's wait would last forever in a process that goes on.
          if (place.isEmbedded()) reject(error);
          throw error;
        }
      });
    });
  }

  #assertGood(findings: readonly Finding[], consequence = NOTHING_DONE): void {
    if (this.reading.problems.length + findings.length > 0)
      throw programError(this.reading, findings, consequence);
  }

  /** What a program that was refused would have declared is not known: a catalog with one mistake declares nothing. */
  sayWhatLeaves(): void {
    if (this.#isRefused || this.#isUnderTest) return;
    const place = placeOfJournal();
    if (place === undefined) return;
    // Several programs may share the process.
    commandsTake(() => commandTargetOf(place.stack, process.cwd()));
    const isSame = accountMatcher(this.reading.settings);
    const records = recordsAt(place).filter(({ account }) => isSame(account));
    warn(this.#validator.atEnd(records, pulumi.runtime.isDryRun()));
    if (!pulumi.runtime.isDryRun()) appendHints(endedPath(journalPath(place)), "well\n");
  }
}

function warn(warnings: readonly string[]): void {
  for (const warning of warnings) void pulumi.log.warn(warning);
}

/** Undefined if the backend is not known, which the provider process says. */
function placeOfJournal(): StackPlace | undefined {
  try {
    return { backend: backendIn(process.env, process.cwd()), stack: place.stackOfProgram() };
  } catch {
    return undefined;
  }
}

/** Only for messages. If it can't be read, the provider says so, and creates nothing. */
function recordsAt(place: StackPlace): JournalEntry[] {
  try {
    return [...readJournal(journalPath(place)).records.values()];
  } catch {
    return [];
  }
}

/** The name under which a deployment's stack resource, or the mocks of a test, hold their program. */
const PROGRAM = Symbol("pulumi-advertising");
const WITHOUT_STACK = {};

/** One per deployment: a process may run several (automation API), tests one per `setMocks`. @throws pulumi.RunError */
export function currentProgram(): Program {
  const holder: { [PROGRAM]?: Program } =
    place.mocksOfNow() ?? pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  holder[PROGRAM] ??= begin();
  return holder[PROGRAM];
}

function begin(): Program {
  expectNodeFits();
  // An inline program of the automation API may run in any folder.
  if (!place.isEmbedded()) {
    const stack = place.stackOfProgram();
    commandsTake(() => commandTargetOf(stack, process.cwd()));
    const found = expectFoundFrom(process.cwd());
    // Beside a library's copy, the provider process would run another one. A bundle has no file of its own.
    if (existsSync(join(__dirname, "../handlers.js"))) noteCopy(join(found, "../.."));
  }
  const program = new Program();
  warn(program.reading.warnings);
  for (const note of program.reading.notes) void pulumi.log.info(note);
  // The engine takes nothing out of the state before.
  place.onceEndedWell(() => program.sayWhatLeaves());
  place.hideStackTracesOfFailures();
  return program;
}

function readSettingsOfProgram(isUnderTest: boolean): SettingsReading {
  const config = new pulumi.Config(NAMESPACE);
  const prefix = `${NAMESPACE}:`;
  const all = Object.keys(pulumi.runtime.allConfig());
  return readSettings({
    config: (key) => config.get(key),
    // A test has the same result on every machine.
    environment: isUnderTest ? {} : process.env,
    keys: all.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
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
): [
  type: string,
  name: string,
  properties: pulumi.Inputs,
  options: pulumi.CustomResourceOptions,
] {
  const program = currentProgram();
  // The platform keeps what it can't delete: previews then show Pulumi's own [retain].
  const merged = pulumi.mergeOptions({ retainOnDelete: true }, options ?? {});
  const isRead = options?.id !== undefined;
  const given = idsOf(kind, { ...args });
  const call = { kind, name, args: isRead ? undefined : given, options: merged };
  const context = program.add(declare(call, program.reading.settings));
  const hidden = isRead
    ? {}
    : hiddenInputs(context, given, place.identityOf(name, merged.parent));
  // Every output, so that it is there even if the argument is left to its default.
  const outputs = Object.fromEntries(kind.outputs.map((each) => [each, undefined]));
  // Stored instead of code, and evaluated in the program's folder: the package's version and place change no stack.
  const reference = `exports.handler=()=>require("pulumi-advertising/handlers").${handlerOf(kind.name)}`;
  const properties = { ...outputs, ...given, ...hidden, [PROVIDER]: reference };
  // The program ends with the error that names it; the engine would read it first, and fail without the name.
  const isWrong = readIdProblem(merged).length > 0;
  const later = isWrong ? { id: place.heardLater(context.then(() => String(merged.id))) } : {};
  return [typeTokenOf(kind.name), name, properties, { ...merged, ...later }];
}

/** These settle only once the whole program was found good: until then Pulumi registers nothing. */
function hiddenInputs(
  context: Promise<ResourceContext>,
  given: Values,
  identity: string,
): pulumi.Inputs {
  return {
    [IDENTITY]: place.heardLater(context.then((more) => ({ identity, ...more }))),
    // Most values are plain: to wait for each would cost a promise.
    ...(holdsOutput(given) && {
      [SECRET_ARGUMENTS]: place.heardLater(context.then(() => secretNames(given))),
    }),
  };
}

/** Arguments that are or hold a secret: the provider gets their values in clear, and must not quote them. */
async function secretNames(given: Values): Promise<string[] | undefined> {
  const unknown = Object.entries(given).filter(([, value]) => holdsOutput(value));
  const found = unknown.map(async ([name, value]) =>
    (await pulumi.isSecret(pulumi.output(value))) ? [name] : [],
  );
  const names = (await Promise.all(found)).flat();
  return names.length === 0 ? undefined : names;
}
