/**
 * What is known of the running program as a whole: its settings, all that it has declared so far, and what earlier runs
 * noted about its stack.
 */
import * as pulumi from "@pulumi/pulumi";
import { NAMESPACE, readSettings, type SettingsReading } from "../settings/index.js";
import { identityText, stackOf } from "../state/index.js";
import { Declarations } from "./declarations.js";
import { mocksOfNow } from "./embedding.js";
import { type History, readHistory } from "./history.js";
import { placeOfProgram } from "./resource-identity.js";
import { Comparison } from "./same-arguments.js";

export class Program {
  /** Under Pulumi's mocks: a user's unit test, which needs no settings and reads nothing of this machine. */
  readonly isUnderTest = mocksOfNow() !== undefined;
  readonly reading = readSettingsOfProgram(this.isUnderTest);
  readonly comparison = new Comparison();
  readonly declarations = new Declarations();
  #history: History | undefined;

  /** Read once. Empty where the settings are wrong: it is not known then which account's notes to read. */
  get history(): History {
    if (this.isUnderTest || this.reading.problems.some(({ source }) => !/password/i.test(source)))
      return { open: [], live: new Map() };
    this.#history ??= readHistory(
      this.reading.settings,
      stackOf(identityText({ ...placeOfProgram(), parentTypes: undefined, name: "" })),
    );
    return this.#history;
  }
}

/** One a deployment: the automation API may run several programs in one process, and a test as many as it sets mocks. */
const programs = new WeakMap<object, Program>();
const WITHOUT_STACK = {};

/** @param begin called with a program that is asked for the first time. */
export function currentProgram(begin: (program: Program) => void): Program {
  const key = mocksOfNow() ?? pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  const known = programs.get(key);
  if (known !== undefined) return known;
  const program = new Program();
  programs.set(key, program);
  begin(program);
  return program;
}

/** The settings of a program that has declared something. */
export function currentReading(): SettingsReading {
  return currentProgram(() => undefined).reading;
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

/** Exported by Pulumi's runtime, but not in its types. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };
