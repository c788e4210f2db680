/**
 * The checks in the program's process. The engine stops at the first resource whose `check` fails, when others are
 * perhaps created already; so everything that is known in the program is checked here first, for the whole program.
 */
import * as pulumi from "@pulumi/pulumi";
import { describeSettingProblems, NAMESPACE, readSettings, type SettingsReading } from "../config/settings.js";
import { ArgumentsError, SettingsError, withCode } from "../errors.js";
import type { Kind } from "../kinds/kind.js";
import { writeDeclared } from "../state/declared.js";
import { identityText, journalKeyOf, labelOf, stackOf } from "../state/identity.js";
import { count, enumerate } from "../text.js";
import { type Problem, validate } from "../validation/validate.js";
import { Comparison } from "./compare.js";
import { isEmbedded } from "./embedding.js";
import { type History, readHistory } from "./history.js";
import { identityOf, placeOfProgram } from "./identity.js";
import { formerPlaces, typesOf } from "./place.js";
import { type DeclaredHere, type Open, removalWarnings, undeclaredIn } from "./undeclared.js";

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  readonly problems: number;
}

/** The resources of one turn of the program: all of it, but for what comes after a wait for a timer, a file or the like. */
interface Turn {
  readonly sections: Section[];
  readonly declared: DeclaredHere[];
  /** Settles once all resources of the turn were looked at: rejected where anything was wrong. */
  readonly admitted: Promise<Admission>;
}

/** What the whole turn tells each of its resources. */
interface Admission {
  readonly first: DeclaredHere | undefined;
  /** How many resources the turn declares. */
  readonly resources: number;
  /** By journal key: what is no longer declared and may have got this new name. */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
}

interface Program {
  readonly reading: SettingsReading;
  readonly comparison: Comparison;
  /** All that was declared so far. */
  readonly declared: DeclaredHere[];
  readonly warned: Set<string>;
  turn: Turn | undefined;
  history: History | undefined;
}

/** One a deployment: the automation API may run several programs in one process. */
const programs = new WeakMap<object, Program>();
const WITHOUT_STACK = {};

/** A resource as the program declares it. */
export interface Examined {
  readonly kind: Kind;
  readonly name: string;
  /** None where it is only read. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  /** The same before resources were replaced by their ids. */
  readonly asGiven: Readonly<Record<string, unknown>>;
  readonly options: pulumi.CustomResourceOptions;
}

/**
 * Looks at one resource.
 * @returns what the provider is told of it, once the whole program was looked at: its registration waits for that. Where
 *   anything in the program is wrong, it is rejected with the one `pulumi.RunError` that lists everything, and with which
 *   the program ends.
 */
export function examine({ kind, name, args, asGiven, options }: Examined): Promise<unknown> {
  const program = currentProgram();
  program.turn ??= beginTurn(program);
  const { turn } = program;
  const parentTypes = typesOf(options.parent);
  const declared: DeclaredHere = {
    kind,
    name,
    parentTypes,
    key: journalKeyOf(kind.name, identityText({ ...placeOfProgram(), parentTypes, name })),
    platformName: args?.[kind.nameProperty],
    adopts: args?.existingId !== undefined,
    isRead: args === undefined,
    formerly: formerPlaces(name, options),
  };
  turn.declared.push(declared);
  program.declared.push(declared);
  if (args !== undefined) {
    const { values, problems } = validate(args, kind.rules(program.reading.settings), { isUnknown: isNotPlain });
    const all = [
      ...problems,
      ...optionProblems(options),
      ...program.comparison.add({ kind, name, args: asGiven, values, fits: problems.length === 0 }),
    ];
    if (all.length > 0) turn.sections.push(sectionOf(labelOf(kind.name, name), all));
    for (const { property, reason } of kind.warnings(values)) {
      warn(`${labelOf(kind.name, name)}: ${property} ${reason}`);
    }
  }
  const told = turn.admitted.then(async ({ first, resources, formerly }) => {
    const maybe = formerly.get(declared.key);
    return writeDeclared({
      identity: await identityOf(name, options.parent),
      ...(first === declared ? { run: { isUp: !pulumi.runtime.isDryRun(), resources } } : {}),
      ...(maybe === undefined ? {} : { formerly: maybe }),
    });
  });
  // Pulumi listens only later: Node would warn of a rejection that nobody handles.
  told.catch(() => undefined);
  return told;
}

function optionProblems(options: pulumi.CustomResourceOptions): Problem[] {
  return [
    // Pulumi's dynamic providers can't import: they are not told which provider the id belongs to.
    ...(options.import === undefined
      ? []
      : [{ property: "import", reason: "is an option that does not work here: name the live object with existingId" }]),
    ...(options.retainOnDelete === false
      ? [
          {
            property: "retainOnDelete",
            reason:
              "can't be false: the platform has no known way to delete, so a removal or a replacement would fail half-way. " +
              "Leave the option out: whatever is removed stays live on the platform",
          },
        ]
      : []),
  ];
}

function currentProgram(): Program {
  const key = pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  const known = programs.get(key);
  if (known !== undefined) return known;
  const reading = settingsOfProgram();
  for (const warning of reading.warnings) warn(warning);
  const program: Program = {
    reading,
    comparison: new Comparison(),
    declared: [],
    warned: new Set(),
    turn: undefined,
    history: undefined,
  };
  programs.set(key, program);
  lookAtEnd(program);
  return program;
}

function beginTurn(program: Program): Turn {
  const sections: Section[] = [];
  const declared: DeclaredHere[] = [];
  const admitted = new Promise<Admission>((resolve, reject) => {
    // After the program's own turn, promises included: all its resources have been looked at by then.
    setImmediate(() => {
      program.turn = undefined;
      warnOfDuplicates(program);
      const { open, formerly } = undeclaredIn(historyOf(program), program.declared, program.reading.settings);
      const all = [...sections, ...open.filter(({ isAboutToBeSent }) => isAboutToBeSent).map(sectionOfOpen)];
      if (program.reading.problems.length === 0 && all.length === 0) {
        const own = declared.filter(({ isRead }) => !isRead);
        return resolve({ first: own[0], resources: own.length, formerly });
      }
      const error = failureOf(program, all, "nothing was registered and nothing was sent");
      // Each resource's wait would last for ever in a process that goes on. One of the program's own ends with the error, and
      // there a rejection that Pulumi listens for only later is a warning of Node's.
      if (isEmbedded()) reject(error);
      throw error;
    });
  });
  admitted.catch(() => undefined); // each resource listens for itself
  return { sections, declared, admitted };
}

function historyOf(program: Program): History {
  const { reading } = program;
  // Where the settings are wrong, it is not known which account's notes to read.
  if (reading.problems.some(({ source }) => !/password/i.test(source))) return { open: [], live: new Map() };
  program.history ??= readHistory(
    reading.settings,
    stackOf(identityText({ ...placeOfProgram(), parentTypes: undefined, name: "" })),
  );
  return program.history;
}

/**
 * What is removed can only be known when the whole program has been run, timers and other waits included: a process of its
 * own then runs out of work, and has not ended yet for the engine, which takes nothing out of the state before.
 */
function lookAtEnd(program: Program): void {
  if (!isEmbedded()) {
    process.once("beforeExit", () => judgeRemovals(program));
    return;
  }
  const stack = pulumi.runtime.getStackResource();
  stack?.outputs.apply(() => setImmediate(() => judgeRemovals(program)));
}

/** @throws pulumi.RunError where a create of unknown outcome has lost its resource. */
function judgeRemovals(program: Program): void {
  const { open } = undeclaredIn(historyOf(program), program.declared, program.reading.settings);
  if (open.length > 0) {
    throw failureOf(program, open.map(sectionOfOpen), "nothing was sent for it, and it stays in the state");
  }
  for (const warning of removalWarnings(historyOf(program), program.declared)) warn(warning);
}

function warnOfDuplicates(program: Program): void {
  for (const { kind, names } of program.comparison.duplicates) {
    const quoted = names.slice(0, MAX_NAMES).map((name) => `"${name}"`);
    const more = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
    const text = `${kind} ${enumerate([...quoted, ...more])} have the same arguments: that makes ${names.length} live objects.`;
    if (!program.warned.has(text)) warn(text);
    program.warned.add(text);
  }
}

const MAX_NAMES = 5;

function settingsOfProgram(): SettingsReading {
  const config = new pulumi.Config(NAMESPACE);
  const prefix = `${NAMESPACE}:`;
  const all = Object.keys(pulumi.runtime.allConfig());
  return readSettings({
    config: (key) => config.get(key),
    environment: process.env,
    keys: all.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
    isSecret: (key) => isConfigSecret(`${prefix}${key}`),
    mayLackPassword: pulumi.runtime.isDryRun(),
  });
}

/** Pulumi puts a property's name in front of an error's message, and shows an error that comes for each resource once. */
function unchanging(error: pulumi.RunError): pulumi.RunError {
  const { message } = error;
  error.stack = ""; // some of its ways to the user show the stack where there is one
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}

/** Exported by Pulumi's runtime, but not in its types. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

function sectionOf(title: string, problems: readonly Problem[]): Section {
  return { title, lines: problems.map(({ property, reason }) => `${property} ${reason}`), problems: problems.length };
}

function sectionOfOpen({ title, lines }: Open): Section {
  return { title, lines, problems: 1 };
}

function failureOf({ reading }: Program, sections: readonly Section[], consequence: string): pulumi.RunError {
  return unchanging(new pulumi.RunError(describeProblems(reading, sections, consequence)));
}

function describeProblems(reading: SettingsReading, sections: readonly Section[], consequence: string): string {
  const total = sections.reduce((sum, { problems }) => sum + problems, reading.problems.length);
  const text = [
    `${count(total, "problem")}; ${consequence}.`,
    ...(reading.problems.length > 0 ? [describeSettingProblems(reading.problems)] : []),
    ...sections.map(({ title, lines }) => [`  ${title}:`, ...lines.map((line) => `    ${line}`)].join("\n")),
  ].join("\n");
  return withCode(text, sections.length > 0 ? ArgumentsError.code : SettingsError.code);
}

function warn(message: string): void {
  void pulumi.log.warn(message);
}

/** Outputs and promises, or anything that holds one: not known in the program yet. */
export function isNotPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  // Deeper than any request field: a value that holds itself ends here and is refused by its rule.
  return depth < 20 && Object.values(value).some((entry) => isNotPlain(entry, depth + 1));
}
