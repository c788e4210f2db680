/**
 * The running program as a whole, and the only thing in this room that changes: all that it has declared so far, and the batch
 * of this turn. Each constructor adds its declaration and waits for its batch to be judged; so nothing of a batch is registered before all of
 * it was found good, and one error lists everything that is wrong. A program that waits for nothing outside is one batch.
 */
import * as pulumi from "@pulumi/pulumi";
import { NAMESPACE, readSettings, type SettingsReading } from "../settings/index.js";
import { aboutWhom, type Briefing, identityText, stackOf } from "../state/index.js";
import { Inventory, look, pathsIn, placesOf, type Snapshot, type StorePaths } from "../store/index.js";
import { adoptionsToNote, type Judgement, judge, judgeRemovals, wrongIn } from "./batch.js";
import { adoptionsIn, type Declaration, type Later } from "./declaration.js";
import { Declared } from "./declared.js";
import { expectNodeFits, type Finding, programError } from "./findings.js";
import { Outputs } from "./ids.js";
import {
  heardLater,
  hideStackTracesOfFailures,
  isEmbedded,
  keepAliases,
  mocksOfNow,
  onceEndedWell,
  placeOfProgram,
} from "./place.js";

interface Batch {
  readonly declarations: Declaration[];
  readonly briefings: Promise<Judgement["briefings"]>;
}

const NOTHING_DONE = "nothing was registered and nothing was sent";
/** Earlier batches were good, and what they declare may be live by now. */
const NOTHING_OF_IT_DONE = "nothing of what was declared with it was registered or sent";

class Program {
  /** Under Pulumi's mocks: a user's unit test, which needs no settings and reads nothing of this machine. */
  readonly #isUnderTest = mocksOfNow() !== undefined;
  readonly reading = readSettingsOfProgram(this.#isUnderTest);
  readonly outputs = new Outputs();
  readonly #declared = new Declared();
  /** By batch: what it may adopt, and the program does not know yet. */
  readonly #later = new Set<readonly Later[]>();
  #batch: Batch | undefined;
  #hasBegun = false;
  #isRefused = false;
  #snapshot: Snapshot | undefined;

  get context() {
    return { settings: this.reading.settings, outputs: this.outputs };
  }

  /**
   * What this machine remembers of the stack; read once. It is empty if the settings are wrong, since nobody knows then which
   * account's notes to read; a password alone does not matter for that.
   */
  get snapshot(): Snapshot {
    const isUnknown = this.reading.problems.some(({ source }) => !/password/i.test(source));
    this.#snapshot ??= this.#isUnderTest || isUnknown ? NOTHING_REMEMBERED : look(pathsOfNotes(this.reading));
    return this.#snapshot;
  }

  /**
   * Called by each constructor of a resource or a catalog.
   * @returns the briefing of the provider about it, without the identity, once its batch was judged. If anything in the program is wrong,
   *   the program ends with the one error that lists everything; and the promise is rejected with it in a process that goes on.
   * @throws pulumi.RunError in a user's unit test: a test catches what a constructor throws, and hears nothing of later errors.
   */
  add(declaration: Declaration): Promise<Omit<Briefing, "identity">> {
    this.#declared.add(declaration);
    if (this.#isUnderTest) this.#expectGood(wrongIn(declaration, this.#declared));
    this.#batch ??= this.#begin();
    this.#batch.declarations.push(declaration);
    return heardLater(this.#batch.briefings.then((all) => all.get(declaration.key ?? "") ?? {}));
  }

  #begin(): Batch {
    const declarations: Declaration[] = [];
    const briefings = new Promise<Judgement["briefings"]>((resolve, reject) => {
      // After the program's own turn, promises included: by then all of the batch was declared.
      setImmediate(() => {
        this.#batch = undefined;
        const isPreview = pulumi.runtime.isDryRun();
        const { findings, warnings, briefings: found } = judge(declarations, this.#declared, this.snapshot, isPreview);
        for (const warning of warnings) void pulumi.log.warn(warning);
        if (this.#hasBegun && !isPreview && !this.#isUnderTest) this.#noteLater();
        try {
          this.#expectGood(findings, this.#hasBegun ? NOTHING_OF_IT_DONE : NOTHING_DONE);
          this.#hasBegun = true;
          if (!isPreview && !this.#isUnderTest) this.#noteAdoptions(declarations);
          resolve(found);
        } catch (error) {
          this.#isRefused = true;
          // Each resource's wait would last for ever in a process that goes on. A process of the program's own ends with the error.
          if (isEmbedded()) reject(error);
          throw error;
        }
      });
    });
    return { declarations, briefings: heardLater(briefings) };
  }

  /**
   * What the program is about to adopt, for whatever deletes in this run: the provider is not asked about a resource that is no target
   * of the run, and hears of it from this machine's notes alone.
   */
  #noteAdoptions(declarations: readonly Declaration[]): void {
    const notes = new Inventory(pathsOfNotes(this.reading).objects);
    const { program } = this.#declared;
    const adopts = adoptionsToNote(declarations, this.snapshot);
    const later = declarations.flatMap((each) => (each.isRead ? [] : (each.later ?? [])));
    if (later.length === 0) {
      notes.noteAdopts(program, adopts);
      return;
    }
    this.#later.add(later);
    const kinds = () => [...new Set([...this.#later].flat().map(({ key }) => aboutWhom(key).kind))];
    notes.noteAdopts(program, adopts, kinds());
    pulumi.output(later.map(({ value }) => value)).apply((values: readonly unknown[]) => {
      this.#later.delete(later);
      notes.noteAdopts(program, Object.fromEntries(later.flatMap((each, n) => adoptionsIn(each, values[n]))), kinds());
    });
  }

  /** If nothing of a later batch is a target of the run, the provider hears of it from this machine's notes alone. */
  #noteLater(): void {
    const { program, resources } = this.#declared;
    new Inventory(pathsOfNotes(this.reading).objects).noteLater(program, resources);
  }

  /** @throws pulumi.RunError */
  #expectGood(findings: readonly Finding[], consequence = NOTHING_DONE): void {
    if (this.reading.problems.length + findings.length > 0) throw programError(this.reading, findings, consequence);
  }

  /** Judges what the program has removed, once it has declared all that it declares. The engine takes nothing out of the state before. */
  judgeRemovalsAtEnd(): void {
    onceEndedWell(() => {
      // What the program would have declared is not known then: a catalog with a mistake in one row declares none of them.
      if (this.#isRefused) return;
      const { findings, warnings } = judgeRemovals(this.#declared, this.snapshot, this.reading.settings);
      if (findings.length > 0) {
        const them = findings.length === 1 ? "it" : "them";
        throw programError(
          this.reading,
          findings,
          `nothing was sent for ${them}; the rest of the program goes on, but this run takes nothing out of the state`,
        );
      }
      for (const warning of warnings) void pulumi.log.warn(warning);
      if (!this.#isUnderTest && !pulumi.runtime.isDryRun()) {
        new Inventory(pathsOfNotes(this.reading).objects).noteEnded(this.#declared.program);
      }
    });
  }
}

/** Under this name a deployment's stack resource, or the mocks of a test, hold their program. */
const PROGRAM = Symbol("pulumi-advertising");
const WITHOUT_STACK = {};

/**
 * One for each deployment: the automation API may run several programs in one process, and a test as many as it sets mocks.
 * @throws pulumi.RunError the program runs on a Node.js that lacks what this package needs.
 */
export function currentProgram(): Program {
  const holder: { [PROGRAM]?: Program } = mocksOfNow() ?? pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  holder[PROGRAM] ??= begin();
  return holder[PROGRAM];
}

function begin(): Program {
  expectNodeFits();
  const program = new Program();
  for (const warning of program.reading.warnings) void pulumi.log.warn(warning);
  for (const note of program.reading.notes) void pulumi.log.info(note);
  program.judgeRemovalsAtEnd();
  hideStackTracesOfFailures();
  // A program that shares its process may load this package before its deployment begins.
  if (isEmbedded()) keepAliases();
  return program;
}

const NOTHING_REMEMBERED: Snapshot = { creates: [], objects: new Map() };

function pathsOfNotes({ settings }: SettingsReading): StorePaths {
  const stack = stackOf(identityText({ ...placeOfProgram(), parentTypes: undefined, name: "" }));
  const { journalFolder } = placesOf(settings, "", settings.cookieFile, process.cwd());
  return pathsIn(journalFolder, stack);
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
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };
