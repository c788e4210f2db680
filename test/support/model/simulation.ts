/**
 * A project's stacks, two machines, a platform, and the people who work with them. Every run, kill and answer is checked:
 * nothing is created twice, no created id is lost without having been said, and nothing is deleted that something has.
 */
import { isDeepStrictEqual } from "node:util";
import { joined, own } from "../../../provider/src/base/index.js";
import { pendingCommand } from "../../../provider/src/cli/pending.js";
import { createProvider } from "../../../provider/src/dynamic/provider.js";
import type { JournalEntry } from "../../../provider/src/journal/journal-entry.js";
import {
  advertiser,
  conversionEvent,
  conversionEventSet,
  type Kind,
} from "../../../provider/src/kinds/index.js";
import { createRuntime } from "../../../provider/src/operations/create-runtime.js";
import type { Runtime } from "../../../provider/src/operations/runtime.js";
import {
  type ExportedStack,
  objectsIn,
  readExport,
} from "../../../provider/src/record/export.js";
import { savedStateOf } from "../../../provider/src/record/saved-state.js";
import { readSettings } from "../../../provider/src/settings/index.js";
import {
  keyOfUrn,
  objectKey,
  parseKey,
  refOfKey,
  resolvedIn,
  resourceKeyIn,
} from "../../../provider/src/state/index.js";
import { seededRandom } from "../random.js";
import {
  type Deployment,
  type Ended,
  type Faces,
  preview,
  type RunOptions,
  refresh,
  up,
  type Values,
} from "./engine.js";
import {
  beginTime,
  FOLDER,
  type Kill,
  Killed,
  keepTime,
  Machine,
  nowHere,
  Process,
  SaveRefused,
  time,
} from "./machine.js";
import { acting, random } from "./mocks.js";
import { type Fault, LATE_MS, MARK_FIELD, type Made, Platform } from "./platform.js";
import { type Declared, objectsOf, PROJECT, programHalf, type Wanted } from "./program.js";

export interface Config {
  readonly seed: number;
  readonly read: boolean;
  readonly update: boolean;
  readonly search: boolean;
  readonly delete: boolean;
  readonly checkpoints: boolean;
  /** The number of stacks, which share machines and account. */
  readonly stacks: number;
  /** Whether people mostly change a set, which interrupted updates are about. */
  readonly isOfSets: boolean;
  /** The number of turns of the event loop in which a program declares its resources. */
  readonly batches: number;
  /** Whether each run and each person has a new machine, with nothing on its disk. */
  readonly isDiskless: boolean;
  /**
   * The product's guess of the backend. `alike`: two stacks of one name in two backends, with the same guess. `varying`:
   * one backend, guessed differently in each run.
   */
  readonly guesses: "right" | "alike" | "varying";
  /** How far the second machine's clock is ahead of the platform's. Then reads and searches find new objects late. */
  readonly aheadMs: number;
  /** Whether objects vanish from the platform and come back. */
  readonly vanish: boolean;
  /** Whether a backend may refuse to save from the middle of a run on. */
  readonly refusesSaves: boolean;
  /**
   * What `pulumi stack export` shows. `late`: during a run the state of its start, as Pulumi Cloud may. `unreadable`: in
   * some runs Pulumi can't be asked; all of them are on one disk.
   */
  readonly record: "live" | "late" | "unreadable";
  /** Whether Pulumi saves, for another package, before an `up` comes to this one; its preview has read the record. */
  readonly savesFirst: boolean;
}

export class Violation extends Error {}

export interface RunWish extends Pick<RunOptions, "targets" | "concurrent"> {
  readonly kill?: Kill | undefined;
  readonly faults?: readonly Fault[];
  /** What `pending` passes to a refresh. */
  readonly answers?: string;
  /** After so many saves the backend refuses. */
  readonly saves?: number | undefined;
  /** Whether it comes after its own preview, by the same engine. */
  readonly isPreviewed?: boolean;
}

export interface Done {
  readonly errors: readonly string[];
  readonly posts: number;
}

const STACKS = ["dev", "prod"];
/** Reads and searches find new objects only then, if the machines' clocks differ. */
const LAG_MS = 20_000;

/** The limits that are named (guarantees.md), with how often lives have come to them. */
export const limits = { forgottenUpdates: 0 };

/** A state after a save by which nothing of this package has changed. */
function withoutUpdates({ pending_operations = [], ...state }: Deployment): Deployment {
  const creating = pending_operations.filter(({ type }) => type === "creating");
  return creating.length === 0 ? state : { ...state, pending_operations: creating };
}

function putBack<T>(set: Set<T>, items: readonly T[]): void {
  set.clear();
  for (const item of items) set.add(item);
}

/** One stack of the project: its program and state, and what people know of its runs. */
class Stack {
  state: Deployment = { manifest: { time: "" }, resources: [] };
  program: readonly Declared[] = [];
  /** The program before its last edit. */
  former: readonly Declared[] = [];
  /** After a kill, how often people are still likely to take the last edit back, or to make it again. */
  doubts = 0;
  /** The runs, and the answers, whose journals are about this stack. */
  readonly runs = new Set<string>();
  /** The keys of creates of unknown outcome that left the state with their resources, as Pulumi showed. */
  readonly letGo = new Set<string>();
  /** The output on each machine since the last answer. */
  readonly printed: [string, string] = ["", ""];
  /** Whether journals lie under its former name: only Pulumi's record leads to them. */
  isRenamed = false;

  constructor(
    readonly id: string,
    public name: string = id,
  ) {}

  /** `<organization>/<project>/<stack>` */
  get place(): string {
    return `organization/${PROJECT}/${this.name}`;
  }

  /** `pulumi stack rename` changes the URNs of the state, and nothing else. */
  rename(name: string): void {
    const text = JSON.stringify(this.state).replaceAll(
      `"urn:pulumi:${this.name}::`,
      `"urn:pulumi:${name}::`,
    );
    this.state = JSON.parse(text) as Deployment;
    this.name = name;
    this.isRenamed = true;
  }

  /** @returns what puts everything back as it is now. */
  keep(): () => void {
    const { name, state, program, former } = this;
    const letGo = [...this.letGo];
    const printed = [...this.printed];
    return () => {
      Object.assign(this, { name, state, program, former });
      Object.assign(this.printed, printed);
      putBack(this.letGo, letGo);
    };
  }

  get wanted(): readonly Wanted[] {
    return objectsOf(this.program);
  }

  get exported(): ExportedStack {
    return exportOf(this.state);
  }
}

function exportOf(deployment: Deployment): ExportedStack {
  return readExport(JSON.stringify({ version: 3, deployment }));
}

/** Counts of events in all lives so far. */
export const counts = {
  runs: 0,
  kills: 0,
  commands: 0,
  renames: 0,
  stackRenames: 0,
  questions: new Map<number, number>(),
};

export class Simulation {
  readonly machines: readonly [Machine, Machine];
  readonly platform: Platform;
  readonly log: string[] = [];
  readonly random: () => number;
  readonly stacks: readonly Stack[];
  /** The selected stack. */
  stack: Stack;
  readonly #violations: string[] = [];
  /** The ids, and the names on the platform, in all output so far. */
  readonly #said = new Set<string>();
  /** Objects that left the state, or that nobody manages, as people know. */
  readonly released = new Set<Made>();
  /** Objects of interrupted updates that Pulumi's record has dropped before a run came to them. */
  readonly #forgotten = new Set<Made>();

  constructor(readonly config: Config) {
    beginTime();
    random.names = 0;
    this.random = seededRandom(config.seed);
    this.machines = [new Machine(), new Machine(config.aheadMs)];
    this.platform = new Platform(this.#lagMs, config.seed % 2 === 1);
    const ofName = (id: string) => new Stack(id, config.guesses === "alike" ? "dev" : id);
    this.stacks = STACKS.slice(0, config.stacks).map(ofName);
    this.stack = this.stacks[0] as Stack;
  }

  /** `pulumi stack select` */
  select(stack: Stack): void {
    this.stack = stack;
    this.log.push(`stack ${stack.name}`);
  }

  get #lagMs(): number {
    return this.config.aheadMs === 0 ? 0 : LAG_MS;
  }

  /** Whether all runs and commands guess alike for now, as those of one person do. */
  isGuessKept = false;

  /** The backend, as the product guesses it in one run. */
  get #guess(): string {
    if (this.isGuessKept) return "file:///backend";
    const isOther = this.config.guesses === "varying" && this.random() < 0.5;
    return isOther ? "file:///elsewhere" : "file:///backend";
  }

  get #settings(): Record<string, string> {
    const { config } = this;
    const ways = (noun: string) => ({
      ...(config.read ? { read: `GET rest/${noun}/{id}` } : {}),
      ...(config.update ? { update: `PUT rest/${noun}/{id}` } : {}),
      ...(config.search ? { search: `GET rest/${noun}?${MARK_FIELD}={mark}` } : {}),
      ...(config.delete ? { delete: `DELETE rest/${noun}/{id}` } : {}),
    });
    const operations = {
      event: ways("event"),
      advertiser: ways("advertiser"),
      createdVisibleAfterSeconds: this.#lagMs / 1000,
    };
    return {
      baseUrl: "https://platform.example",
      email: "a@example.com",
      password: "not-a-secret",
      authMode: "basic",
      cookieFile: "none",
      requestTimeoutSeconds: "10",
      operations: JSON.stringify({ ...operations, resendAfterSeconds: 30 }),
      ...(config.search ? { markField: MARK_FIELD } : {}),
    };
  }

  get settings() {
    return readSettings({
      config: (key) => this.#settings[key],
      environment: {},
      mayLackPassword: true,
    }).settings;
  }

  /**
   * Taken over on a machine that can't know what another one has changed, or changed by a run that was killed: the state
   * may have its former arguments (guarantees.md).
   */
  readonly changedElsewhere = new Set<Made>();

  #engines = 0;
  #addresses = 0;

  /** Of which two creates with different arguments may have made the object. */
  readonly unsure = new Set<string>();

  say(text: string): void {
    this.log.push(text);
    // Without a name or a value, two that differ may have been sent.
    for (const [, short = ""] of text.matchAll(
      /^ {2}(\S+): look in the account for the (?:\w+(?! named)|ConversionEvent named "[^"]*")(?:,|;|$)/gm,
    ))
      this.unsure.add(short);
    for (const [, member, name = ""] of text.matchAll(
      /^ *(?:events\["(.*)"\] of )?\w+ "(.*)" is \d+, but nothing shows/gm,
    ))
      this.unsure.add(joined("/", name, member));
    for (const [word] of text.matchAll(/N\d+|\S+ \(outcome unknown\)/g))
      this.#said.add(word);
    for (const id of this.idsIn(text)) this.#said.add(id);
  }

  /** The ids in a text, with all ids of ranges. */
  idsIn(text: string): Set<string> {
    const ids = new Set<string>();
    for (const [, from = "", to = from] of text.matchAll(/(\d{4,})(?:–(\d{4,}))?/g))
      for (let id = Number(from); id <= Math.min(Number(to), Number(from) + 1000); id++)
        ids.add(String(id));
    return ids;
  }

  /** Runs Pulumi on the selected stack. @returns nothing if the run was killed. */
  async run(
    how: "up" | "refresh",
    machineNumber: 0 | 1,
    wish: RunWish = {},
  ): Promise<Done | undefined> {
    const { stack, config } = this;
    const { kill, faults = [], answers, saves: maxSaves, isPreviewed, ...options } = wish;
    if (!isPreviewed) this.#engines++;
    counts.runs++;
    const machine = this.machines[machineNumber];
    const process = new Process(machine, kill);
    this.#act(process);
    const { program, state: before } = stack;
    /** The ids that this run names. */
    const named = new Set<string>();
    const tell = (text: string) => {
      if (process.isDead) return;
      for (const id of this.idsIn(text)) named.add(id);
      this.say(`    ${text}`);
    };
    const isReadable = config.record !== "unreadable" || this.random() < 0.5;
    const known = this.#knownOpen(stack, isReadable ? before : undefined, machine);
    this.#noteUnsure(before);
    const labels = new Map(objectsOf(program).map(({ label, key }) => [label, key]));
    const isLate = config.record === "late";
    if (isPreviewed && config.savesFirst && program.length > 0 && maxSaves === undefined)
      stack.state = withoutUpdates(before);
    const runtime = this.#runtime(process, tell, {
      command: how,
      targets: [...(options.targets ?? [])],
      isReadable,
      answers,
      read: () => exportOf(isLate ? before : stack.state),
      sender: {
        process,
        faults,
        stack: stack.id,
        selfOf: (key: string) => objectsOf(program).find((each) => each.key === key)?.self,
        keyOf: (label: string) => labels.get(label) ?? label,
        // Without Pulumi's record, a run knows only what it has come to.
        knownOther: (kind: Kind["name"], key: string) =>
          config.record === "unreadable"
            ? undefined
            : heldIn(before)
                .find((each) => each.key !== key && parseKey(each.key).kind === kind)
                ?.object.split(" ")
                .at(-1),
        validator: (key: string, kind: Kind["name"], fields: Values) =>
          this.#classifyCreate(key, kind, fields, {
            ...{ stack, before, program, known, machine },
          }),
        deletes: (made: Made) => this.#classifyDelete(made, stack, program),
      },
    });
    stack.runs.add(runtime.runName);
    let saves = 0;
    const save = (deployment: Deployment) => {
      if (process.isOver) throw new Killed("killed");
      if (maxSaves !== undefined && saves >= maxSaves)
        throw new SaveRefused("the backend refuses to save");
      saves++;
      process.moment();
      this.#save(stack, before, deployment, machine);
      process.moment();
    };
    const posts = this.platform.posts;
    const run: RunOptions = {
      ...options,
      faces: facesOf(runtime, process),
      save,
      now: nowHere,
      checkpoints: config.checkpoints,
      // As Pulumi itself shows it.
      leaves: (resource) =>
        this.say(
          `    - ${resource.urn} ${heldIn({ resources: [resource] }).map(({ object }) => object)}`,
        ),
    };
    const ending = how === "refresh" ? refresh(before, run) : this.#up(program, run);
    const ended = await Promise.race([process.death, ending]);
    ending.catch(() => undefined);
    let isKilled = ended === "killed";
    const errors: string[] = [];
    if (ended !== "killed") {
      errors.push(...ended.errors);
      try {
        if (!config.checkpoints) await Promise.race([process.death, runtime.close()]);
        save(ended.deployment);
      } catch (error) {
        if (error instanceof SaveRefused) errors.push(error.message);
        else if (!(error instanceof Killed)) throw error;
      }
      for (const error of errors) tell(`error: ${error}`);
      if (how === "up") stack.printed[machineNumber] = errors.join("\n");
      if (config.checkpoints && !process.isOver)
        await Promise.race([process.death, runtime.close()]);
      isKilled = process.isOver;
    } else if (kill?.how === "engine") await runtime.abandon();
    process.isDead = true;
    this.assertGood();
    const isWell = how === "up" && !isKilled && errors.length === 0;
    // A program without a resource of this package starts no provider before Pulumi's first save.
    const isBlind = how === "up" && program.length === 0;
    // A whole refresh comes to each set, and saves what an interrupted update has sent.
    const isRefreshed = how === "refresh" && !isKilled && errors.length === 0;
    const isWhole = !options.targets && !stack.isRenamed;
    const isSeen = isRefreshed ? isWhole : isWell && !isBlind;
    if (!isSeen) this.#noteForgotten(stack, before);
    if (isWell) {
      this.#releaseSaid(machine);
      // A program without a resource of this package starts no provider.
      if (isReadable && !options.targets && program.length > 0)
        this.#expectNamed(before, stack.state, named);
    }
    if (how === "refresh" && !answers) this.#expectFound(before, stack.state, named);
    const isSaved = errors.every((error) => !error.includes("refuses to save"));
    if ((isKilled && this.isOfOneDisk) || !isSaved)
      for (const made of this.platform.objects)
        if (made.changedBy === process) this.changedElsewhere.add(made);
    if (!isKilled) return { errors, posts: this.platform.posts - posts };
    counts.kills++;
    this.log.push(`    killed (${kill?.how})`);
    machine.after(
      kill?.how === "power"
        ? () => Math.min(1, Math.floor(this.random() * 4) / 3)
        : undefined,
    );
    return undefined;
  }

  /** A preview of the selected stack's `up`. Nothing may change by it. @returns its errors. */
  async preview(machineNumber: 0 | 1): Promise<{ errors: string[]; hasUnknown: boolean }> {
    const { stack, platform } = this;
    const machine = this.machines[machineNumber];
    const process = new Process(machine);
    this.#act(process);
    this.#engines++;
    const tell = (text: string) => this.say(`    ${text}`);
    const never = () => {
      throw new Violation("a preview sends");
    };
    const runtime = this.#runtime(process, tell, {
      command: "up",
      targets: [],
      isReadable: true,
      answers: undefined,
      read: () => stack.exported,
      sender: {
        ...{ process, faults: [], stack: stack.id, validator: never, deletes: never },
        ...{ knownOther: never, keyOf: never, selfOf: never },
      },
    });
    const before = JSON.stringify([machine.journals().length, platform.posts]);
    const { registrations } = this.#program(stack.program, true);
    const run = { faces: facesOf(runtime, process) };
    const ended = await preview(stack.state, registrations, run);
    for (const error of ended.errors) tell(`error: ${error}`);
    await runtime.close();
    process.isDead = true;
    const after = JSON.stringify([machine.journals().length, platform.posts]);
    if (before !== after) throw new Violation("a preview has changed something");
    return ended;
  }

  #program(program: readonly Declared[], isPreview: boolean) {
    const { batches } = this.config;
    const options = { batches, isPreview };
    const half = programHalf(program, this.stack.name, this.settings, options);
    if (half.findings.length > 0)
      throw new Error(`the model's program is wrong: ${half.findings.join("\n")}`);
    return half;
  }

  async #up(program: readonly Declared[], run: RunOptions): Promise<Ended> {
    const half = this.#program(program, false);
    return up(this.stack.state, half.registrations, run);
  }

  #runtime(
    process: Process,
    tell: (text: string) => void,
    of: {
      readonly command: string;
      readonly targets: readonly string[];
      readonly isReadable: boolean;
      readonly answers: string | undefined;
      readonly read: () => ExportedStack;
      readonly sender: Parameters<Platform["client"]>[0];
    },
  ): Runtime {
    const { command, targets, answers = "{}" } = of;
    const skips = this.config.checkpoints ? {} : { PULUMI_SKIP_CHECKPOINTS: "true" };
    const environment = {
      ...skips,
      PULUMI_BACKEND_URL: this.#guess,
      ADVERTISING_ANSWERS: answers,
    };
    const given = this.#settings;
    const log = async (_severity: string, _urn: string, message: string) => tell(message);
    const runtime = createRuntime((key) => given[key], environment, log, {
      disk: process.disk,
      folder: FOLDER,
      engine: `127.0.0.1:${++this.#addresses}`,
      pulumi: {
        engineId: String(this.#engines),
        folder: "/",
        command: {
          ...{ command, stack: undefined, targets, excludes: [] },
          ...{ hasDependents: false, hasPolicies: false, isInline: false },
        },
        read: async () => {
          process.expectAlive();
          if (!of.isReadable) throw new Error("`pulumi` is not on the PATH");
          return of.read();
        },
      },
    });
    const { work } = runtime;
    work.clock.sleep = async (ms) => {
      await time.clock.sleep(ms);
      work.assertGoesOn();
    };
    const client = this.platform.client(of.sender);
    const platformNow = () => client.platformNow();
    return Object.assign(runtime, { client: () => client, platformNow });
  }

  #save(stack: Stack, before: Deployment, deployment: Deployment, machine: Machine): void {
    const [had, has] = [heldIn(before), heldIn(deployment)].map(
      (all) => new Set(all.map(({ object }) => object)),
    );
    const urns = new Set(deployment.resources.map(({ urn }) => urn));
    const left = { resources: before.resources.filter(({ urn }) => !urns.has(urn)) };
    for (const made of this.platform.objects) {
      const object = objectKey(made.kind, made.id);
      const isTakenOver = heldIn(deployment).some(
        (now) =>
          now.object === object &&
          !heldIn(before).some((then) => then.object === object && then.key === now.key),
      );
      if (isTakenOver && made.changedOn !== undefined && made.changedOn !== machine)
        this.changedElsewhere.add(made);
      if (has?.has(object) === true) this.released.delete(made);
      else if (had?.has(object) === true) this.released.add(made);
    }
    for (const key of unresolvedKeys(left)) stack.letGo.add(key);
    stack.state = deployment;
  }

  /** Makes this process the acting one. */
  #act({ machine }: Process): void {
    time.aheadMs = machine.aheadMs;
  }

  /** Whether only the first machine's disk knows what was sent. */
  get isOfOneDisk(): boolean {
    return !this.config.checkpoints || this.config.record === "unreadable";
  }

  /** A new machine, if nobody keeps one. */
  renew(machine: 0 | 1): void {
    if (this.config.isDiskless) this.machines[machine].lose();
  }

  /** With a search, a repeated run may have sent either of two operations' arguments with one mark. */
  #noteUnsure(state: Deployment): void {
    if (!this.config.search) return;
    const byMark = Map.groupBy(savedStateOf(exportOf(state)).sent, ({ mark }) => mark);
    for (const [first, ...others] of byMark.values())
      if (others.some(({ body }) => body !== first?.body))
        this.unsure.add(parseKey(first?.key ?? "").shownName);
  }

  /** What a machine's journals have of a stack. */
  #entriesOn(machine: Machine, { runs }: Stack): JournalEntry[] {
    const journals = machine.journals().filter(({ run }) => runs.has(run));
    return journals.flatMap(({ entries }) => [...entries.values()]);
  }

  /** The creates of earlier runs that a run knows to be open. @param state what Pulumi shows. */
  #knownOpen(stack: Stack, state: Deployment | undefined, machine: Machine): KnownCreate[] {
    const runs = stack.isRenamed && state ? savedStateOf(exportOf(state)).runs : undefined;
    const entries = this.#entriesOn(machine, stack).filter(
      // An answer names no run.
      ({ run, state: each }) => each === "closed" || runs?.has(run) !== false,
    );
    const closed = new Set(
      entries.flatMap(({ state: each, mark }) => (each === "closed" ? [mark] : [])),
    );
    const marks = state ? marksIn(state) : new Set();
    const marked = new Set(entries.map(({ mark }) => mark));
    const noted = new Set(machine.journals().map(({ run }) => run));
    // A run whose journal is here, without the create, has not sent it.
    const listed = (state ? savedStateOf(exportOf(state)).sent : []).filter(
      ({ run, mark }) => marked.has(mark) || !noted.has(run),
    );
    return [...listed, ...entries].filter(
      ({ mark }) => !closed.has(mark) && !marks.has(mark),
    );
  }

  // What must always hold

  /** Notes a violation, to be thrown after the run: the product would take it for its own error. */
  #wrong(what: string): void {
    this.#violations.push(what);
    this.log.push(`!!! ${what}`);
  }

  /** @throws Violation */
  assertGood(): void {
    const [what] = this.#violations;
    if (what !== undefined) throw new Violation(what);
  }

  /** Invariant 1, right before an object is made. */
  #classifyCreate(
    key: string,
    kind: Kind["name"],
    fields: Values,
    run: {
      readonly stack: Stack;
      readonly before: Deployment;
      readonly program: readonly Declared[];
      readonly known: readonly KnownCreate[];
      readonly machine: Machine;
    },
  ): void {
    const { stack } = run;
    const objects = objectsOf(run.program);
    const wanted = objects.find((each) => each.key === key);
    if (wanted === undefined) {
      this.#wrong(`${key} is created, and the program does not declare it`);
      return;
    }
    const held = [...heldIn(stack.state), ...heldIn(run.before)];
    // An alias counts only where the state has nothing under the name itself.
    const isThere = run.before.resources.some(
      ({ urn, type }) => keyOf(type, urn) === resourceKeyIn(key),
    );
    const named = isThere
      ? wanted.keys.filter((each) => resourceKeyIn(each) === resourceKeyIn(key))
      : wanted.keys;
    // So does a former key.
    const same = named.filter((each) => parseKey(each).member === wanted.member);
    const stored = new Set([
      ...heldIn(run.before).map((each) => each.key),
      ...unresolvedKeys(run.before),
    ]);
    const keys = same.some((each) => stored.has(each)) ? same : named;
    const isOurs = (other: string | undefined) =>
      other !== undefined && keys.includes(other);
    this.#releaseLetGo(stack, held);
    stack.letGo.delete(key);
    const adopted = new Set(objects.map(({ existingId }) => existingId));
    // Under an alias, another resource may have taken over what was sent under this name.
    const ofOthers = objectsOfState(run.before).flatMap(({ ref, record }) => {
      return record && !isOurs(ref.key) ? [record] : [];
    });
    // A run that was killed had renamed the event, and this program has another one under the former key.
    const isAnsweredElsewhere = (object: string) => {
      const { sent, resolved } = savedStateOf(exportOf(run.before));
      return sent.some((each) => resolved.get(each.mark) === object && !isOurs(each.key));
    };
    for (const made of this.platform.madeFor(stack.id)) {
      if (made.kind !== kind || adopted.has(made.id) || this.released.has(made)) continue;
      // The journal of a run that the record has forgotten is only found by its place.
      const isFound = this.config.guesses !== "varying";
      const isKnown = isFound && run.known.some(({ key: other }) => other === made.key);
      if (this.#forgotten.has(made) && !isKnown) {
        limits.forgottenUpdates++;
        this.released.add(made);
        continue;
      }
      const holders = held.filter(({ object }) => object === objectKey(kind, made.id));
      if (holders.some(({ isToGo }) => isToGo)) continue;
      const isOfOther = ofOthers.some((record) => isLike(record, made.fields));
      const isGone = holders.length === 0 && isOurs(made.key) && !isOfOther;
      if (isGone && !isAnsweredElsewhere(objectKey(kind, made.id)))
        this.#wrong(
          `${key} is created again: ${this.platform.textOf(made)} is not in the state`,
        );
      if (isOurs(holders[0]?.key) && isSame(made.fields, fields))
        this.#wrong(
          `${key} is created again with the same arguments as ${this.platform.textOf(made)}`,
        );
    }
    const isOwn = run.known.some((each) => each.key === key);
    if (isOwn || [...unresolvedKeys(run.before)].some(isOurs)) return;
    const declared = new Set(objects.flatMap((each) => each.keys));
    const marks = marksIn(run.before);
    const isNamesake = ({
      key: other,
      name: its,
      args = {},
    }: Pick<KnownCreate, "key" | "name" | "args">) =>
      parseKey(other).kind === kind && its === nameIn(fields) && hasOwner(args, fields);
    // One journal may have the create, and another one its id.
    const idOf = ({ mark, id }: KnownCreate) =>
      id ?? run.known.find((each) => each.mark === mark && each.id !== undefined)?.id ?? "";
    const isSeen = (record: KnownCreate) =>
      adopted.has(idOf(record)) ||
      marks.has(record.mark) ||
      held.some(({ object }) => object === objectKey(kind, idOf(record))) ||
      // Its own resource has an object, and not the one that it was to replace.
      held.some(
        (each) =>
          each.key === record.key && each.object !== objectKey(kind, record.replaces ?? ""),
      );
    for (const record of run.known)
      if (
        isNamesake(record) &&
        !isOurs(record.key) &&
        !declared.has(record.key) &&
        !isSeen(record)
      )
        this.#wrong(
          `${key} is created, while ${record.key} of its name is open and not declared`,
        );
    // What its own set has under a key that it does not declare. Other resources that leave the state no call is about.
    const resources = new Set(wanted.keys.map(resourceKeyIn));
    for (const { record, ref } of objectsOfState(run.before).filter(({ ref }) =>
      resources.has(resourceKeyIn(ref.key)),
    ))
      if (
        record !== undefined &&
        isNamesake({ ...record, key: ref.key }) &&
        !declared.has(ref.key)
      )
        this.#wrong(
          `${key} is created, while ${ref.key} of its name is unresolved in the state and not declared`,
        );
  }

  /** Nothing is deleted that anything has, or is to have. */
  #classifyDelete(made: Made, stack: Stack, program: readonly Declared[]): void {
    const object = objectKey(made.kind, made.id);
    const text = this.platform.textOf(made);
    for (const other of this.stacks)
      if (other !== stack && heldIn(other.state).some((each) => each.object === object))
        this.#wrong(`${text} is deleted, and the stack ${other.id} has it`);
    if (made.stack !== stack.id) this.#wrong(`${text} is deleted by the stack ${stack.id}`);
    const wanted = objectsOf(program);
    if (wanted.some(({ existingId }) => existingId === made.id))
      this.#wrong(`${text} is deleted, and the program adopts it`);
    const keeps = heldIn(stack.state).find(
      ({ key, isToGo, object: its }) =>
        its === object && !isToGo && wanted.some((each) => each.key === key),
    );
    const holders = heldIn(stack.state).filter((each) => each.object === object);
    if (keeps && holders.length > 1)
      this.#wrong(`${text} is deleted, and ${keeps.key} has it`);
  }

  /** An update's creates that no run has come to before Pulumi's record dropped it. */
  #noteForgotten(stack: Stack, before: Deployment): void {
    const updatesIn = ({ pending_operations = [] }: Deployment) =>
      pending_operations.flatMap(({ type, resource }) =>
        type === "updating" ? [resource] : [],
      );
    // The set's interrupted creation stays in the record.
    const left = new Set(updatesIn(stack.state).map(({ urn }) => urn));
    const dropped = updatesIn(before).filter(({ urn }) => !left.has(urn));
    const keys = new Set(dropped.flatMap(keysOfOperation));
    const held = new Set(heldIn(stack.state).map(({ object }) => object));
    const open = unresolvedKeys(stack.state);
    for (const made of this.platform.madeFor(stack.id)) {
      const isDropped = keys.has(resourceKeyIn(made.key)) && !open.has(made.key);
      if (isDropped && !held.has(objectKey(made.kind, made.id))) this.#forgotten.add(made);
    }
  }

  /** An `up` names each id that leaves the state and stays live. */
  #expectNamed(before: Deployment, after: Deployment, named: ReadonlySet<string>): void {
    const has = new Set(heldIn(after).map(({ object }) => object));
    for (const { object, isToGo } of heldIn(before)) {
      const made = this.platform.objects.find(
        ({ kind, id }) => objectKey(kind, id) === object,
      );
      if (made && !made.gone && !isToGo && !has.has(object) && !named.has(made.id))
        throw new Violation(`${object} leaves the state, and is not named`);
    }
  }

  /** A refresh drops only what is gone, or what a take-over replaces: it names that. */
  #expectFound(before: Deployment, after: Deployment, named: ReadonlySet<string>): void {
    const has = new Set(heldIn(after).map(({ object }) => object));
    for (const { object, isToGo } of heldIn(before)) {
      const made = this.platform.objects.find(
        ({ kind, id }) => objectKey(kind, id) === object,
      );
      if (made && !made.gone && !isToGo && !has.has(object) && !named.has(made.id))
        throw new Violation(`${object} left the state, and is live`);
    }
  }

  #releaseLetGo({ id, letGo }: Stack, held: readonly Held[]): void {
    for (const made of this.platform.madeFor(id))
      if (
        letGo.has(made.key) &&
        !held.some(({ object }) => object === objectKey(made.kind, made.id))
      )
        this.released.add(made);
  }

  /** What a whole up has said, and the program does not declare, is people's to look after. */
  #releaseSaid(machine: Machine): void {
    const held = new Set(heldIn(this.stack.state).map(({ object }) => object));
    const declared = new Set(this.stack.wanted.map(({ key }) => key));
    for (const { key, id = "" } of this.#entriesOn(machine, this.stack)) {
      const made = this.platform.get(parseKey(key).kind, id);
      if (
        made !== undefined &&
        !declared.has(key) &&
        !held.has(objectKey(made.kind, id)) &&
        this.#said.has(id)
      )
        this.released.add(made);
    }
  }

  /** Invariant 2, after each step. */
  check(): void {
    this.assertGood();
    for (const stack of this.stacks) this.#checkStack(stack);
  }

  #checkStack(stack: Stack): void {
    const { state, letGo } = stack;
    const held = heldIn(state);
    this.#releaseLetGo(stack, held);
    const others = this.platform.objects.filter(
      (made) => made.stack !== undefined && made.stack !== stack.id,
    );
    for (const made of others)
      if (held.some(({ object }) => object === objectKey(made.kind, made.id)))
        throw new Violation(
          `${this.platform.textOf(made)} is in the state ${stack.id}, and made for ${made.stack}`,
        );
    const left = new Set(state.resources.flatMap(({ outputs }) => leftIn(outputs)));
    const open = unresolvedKeys(state);
    const pending = new Set(
      (state.pending_operations ?? []).flatMap(({ resource }) => keysOfOperation(resource)),
    );
    const journals = this.machines.flatMap((machine) => this.#entriesOn(machine, stack));
    for (const made of this.platform.madeFor(stack.id)) {
      const { kind, id, key } = made;
      const name = String(made.fields.event_name ?? made.fields.advertiser_name);
      const isHeld = held.some(({ object }) => object === objectKey(kind, id));
      const isNoted =
        open.has(key) ||
        pending.has(resourceKeyIn(key)) ||
        journals.some(
          (each) =>
            each.state !== "closed" &&
            // An alias may have moved its record to another key.
            (each.id === undefined
              ? each.key === key
              : each.id === id && parseKey(each.key).kind === kind),
        );
      const isUnknown =
        letGo.has(key) ||
        this.#said.has(name) ||
        this.#said.has(`${parseKey(key).shownName} (outcome unknown)`);
      const isKnown = isHeld || isNoted || left.has(id) || this.#said.has(id) || isUnknown;
      if (!isKnown && !this.#forgotten.has(made) && made.gone !== "deleted")
        throw new Violation(`${this.platform.textOf(made)} is lost, and was never said`);
      // Its resource has another one, and people know of it.
      if (!isHeld && !isNoted && held.some((each) => each.key === key))
        this.released.add(made);
    }
  }

  // What people do

  /** A create's object, as somebody who looks in the account sees it. @param name the resource in commands. */
  truthOf(name: string): Made | undefined {
    const stack = this.stackCalled(name);
    const held = new Set(
      this.stacks.flatMap(({ state }) => heldIn(state)).map(({ object }) => object),
    );
    const isCalled = (key: string) => calls(key, name);
    const unresolved = objectsOfState(stack.state).flatMap(({ ref, record }) =>
      record && isCalled(ref.key) ? [record] : [],
    );
    const entry = this.machines
      .flatMap((machine) => this.#entriesOn(machine, stack))
      .filter(({ key }) => isCalled(key));
    const there = this.platform
      .madeFor(stack.id)
      .filter(
        (each) => !held.has(objectKey(each.kind, each.id)) && !this.released.has(each),
      );
    const aliases = stack.wanted.find(({ key }) => isCalled(key))?.keys ?? [];
    const called = there.filter(({ key }) => isCalled(key) || aliases.includes(key));
    const sent = [...unresolved, ...entry];
    // A create that was sent again keeps its mark, which the message shows.
    const isSent = ({ at, fields }: Made) =>
      sent.some(
        ({ field, mark, ...each }) =>
          (field !== undefined && fields[field] === mark) ||
          (each.at === at && isLike(each, fields)),
      );
    // What only Pulumi's record of an interrupted run has had, without a moment.
    const isListed = ({ fields }: Made) =>
      sent.some((each) => each.at === "" && isLike(each, fields));
    // What only Pulumi's record of an interrupted run has, a message describes by that.
    const recorded = (stack.state.pending_operations ?? []).flatMap(({ resource }) => {
      const { type, urn, inputs = {} } = resource;
      const key = keyOf(type, urn);
      if (inputs.events === undefined) return [{ key, sent: inputs }];
      return Object.entries(inputs.events as Record<string, Values>).map(
        ([member, sent]) => {
          return { key: `${key}["${member}"]`, sent };
        },
      );
    });
    const isOneOf =
      (creates: typeof recorded) =>
      ({ fields }: Made) =>
        creates.some(
          ({ sent: { eventName, advertiserName, value } }) =>
            (eventName ?? advertiserName) === nameIn(fields) && value === fields.value,
        );
    const isRecorded = isOneOf(recorded);
    // Sent again under a new name.
    const isRecordedSo = isOneOf(recorded.filter(({ key }) => isCalled(key)));
    // Another event may have its key by now, while a message describes the one that was sent.
    const described = there.filter(isSent);
    const isWanted = (made: Made) => stack.wanted.some(({ key }) => key === made.key);
    const sole =
      described.length === 1 && !described.some(isWanted) ? described[0] : undefined;
    const listed = there.filter(isListed);
    const meant = stack.wanted.find(({ key }) => isCalled(key))?.self;
    const isMeant = ({ self }: Made) => meant === undefined || self === meant;
    return (
      called.findLast(isSent) ??
      described.findLast(isMeant) ??
      called.findLast(isListed) ??
      there.findLast(
        (made) => meant !== undefined && made.self === meant && isListed(made),
      ) ??
      sole ??
      called.findLast(isMeant) ??
      called.findLast(isRecorded) ??
      there.findLast(isRecordedSo) ??
      // Created under a name that the program has changed since.
      (listed.length === 1 ? listed[0] : undefined) ??
      this.#heldAs(stack, isCalled)
    );
  }

  /** Somebody else has answered. */
  #heldAs({ state }: Stack, isCalled: (key: string) => boolean): Made | undefined {
    const held = heldIn(state).find(({ key, isToGo }) => isCalled(key) && !isToGo);
    return this.platform.objects.find(
      ({ kind, id }) => objectKey(kind, id) === held?.object,
    );
  }

  isHeld({ kind, id }: Made): boolean {
    return this.stacks.some(({ state }) =>
      heldIn(state).some(({ object }) => object === objectKey(kind, id)),
    );
  }

  /** The stack in a URN; without one, the selected one. */
  stackCalled(called: string): Stack {
    const [, name = this.stack.name] = /^urn:pulumi:([^:]+)::/.exec(called) ?? [];
    if (name === this.stack.name) return this.stack;
    return this.stacks.find((stack) => stack.name === name) ?? this.stack;
  }

  /** Runs the command `pending`. @returns its exit code; nothing if it was killed. */
  async command(
    machine: 0 | 1,
    args: readonly string[],
    kill?: Kill,
  ): Promise<number | undefined> {
    counts.commands++;
    this.say(`  pending ${args.join(" ")} on ${machine}`);
    // A command has no engine beside it.
    const process = new Process(
      this.machines[machine],
      kill && { ...kill, how: "process" },
    );
    const act = () => this.#act(process);
    act();
    const { stack } = this;
    let inner: Promise<unknown> = Promise.resolve();
    const pulumi: typeof acting.pulumi = {
      refresh: async (urns, environment, _, creates) => {
        process.moment();
        if (creates === "clear") {
          const { pending_operations: _, ...state } = stack.state;
          stack.state = state;
          return;
        }
        const answers = String(own(environment, "ADVERTISING_ANSWERS"));
        const refreshing = this.run("refresh", machine, {
          answers,
          targets: new Set(urns),
        });
        inner = refreshing;
        const done = await refreshing;
        act();
        process.moment();
        if (done?.errors.length !== 0) throw new Error(done?.errors.join("\n"));
      },
      stateOf: async () => stack.exported,
      stackName: async () => stack.place,
    };
    Object.assign(globalThis.process.env, { PULUMI_BACKEND_URL: this.#guess });
    const { log, error } = console;
    console.log = console.error = (text: string) => this.#tellOn(machine, process, text);
    const here = { folder: FOLDER, disk: process.disk, clock: time.clock };
    const running = acting
      .within({ here, pulumi }, () => pendingCommand(args))
      .catch(({ message }: Error) => {
        this.#tellOn(machine, process, message);
        return 2;
      });
    const code = await Promise.race([running, process.death]);
    await inner; // Pulumi's own process goes on
    Object.assign(console, { log, error });
    process.isDead = true;
    // The answers are about this stack, whatever else has their place.
    const others = this.stacks.flatMap((each) => [...each.runs]);
    for (const { run } of this.machines[machine].journals())
      if (!others.includes(run)) stack.runs.add(run);
    if (code !== "killed") return code;
    counts.kills++;
    this.log.push("    killed");
    this.machines[machine].after(undefined);
    return undefined;
  }

  #tellOn(machine: 0 | 1, { isDead }: Process, text: string): void {
    if (isDead) return;
    this.say(`    ${text}`);
    this.stack.printed[machine] += `\n${text}`;
  }

  /**
   * Somebody looks in the account some time later, and says of each create that output has asked for what is true.
   * @param forgets what stops others, and the program does not declare, is let go, as output says.
   */
  async answer(machine: 0 | 1, kill?: Kill, forgets = false): Promise<void> {
    this.renew(machine);
    this.wait(this.random() < 0.5 ? 600 : LATE_MS / 1000 + 5);
    const errors = this.stack.printed[machine];
    this.stack.printed[machine] = "";
    if ((await this.command(machine, [])) === 2) throw new Violation("`pending` failed");
    const listed = this.#answers(this.stack.printed[machine]);
    // What an error has asked for may be answered on the other machine by now.
    const more = this.#answers(errors).filter(
      (each) => !listed.some(([, name]) => each.includes(name ?? "")),
    );
    let code = await this.command(machine, [...listed, ...more].flat(), kill);
    if (code === 2 && more.length > 0) code = await this.command(machine, listed.flat());
    const instead = /no other object, answer --not-created '?([^'\n]+)/.exec(
      this.stack.printed[machine],
    );
    // What was asked about is in the state already.
    if (code === 2 && instead !== null) return;
    if (code === 2)
      throw new Violation(`an answer was refused: ${this.stack.printed[machine]}`);
    if (code === undefined) return;
    // Also what an `up` asks for and `pending` does not list: resolved by another machine, and no longer declared.
    const stopping = [...errors.matchAll(/--(?:forget|not-created) '([^']+)'/g)].map(
      ([, short = ""]) => short,
    );
    for (const short of forgets ? new Set(stopping) : []) {
      if (listed.some(([, name]) => name?.split("=")[0] === short)) continue;
      const made = this.truthOf(short);
      if ((await this.command(machine, ["--forget", short])) !== 2 && made !== undefined)
        this.released.add(made);
    }
  }

  /** What is true of the creates that output asks for. */
  #answers(text: string): string[][] {
    const asked = new Set(
      [...text.matchAll(/--created '?([^=\s']+)=/g)].map(([, short = ""]) => short),
    );
    const given = new Set<Made>();
    return [...asked].map((short) => {
      const made = this.truthOf(short);
      const isNone =
        made === undefined ||
        given.has(made) ||
        text.includes(`(not ${made.id}, the object that it replaces)`);
      if (made !== undefined) given.add(made);
      return isNone ? ["--not-created", short] : ["--created", `${short}=${made.id}`];
    });
  }

  /** Once all is answered, Pulumi's record of the interrupted runs goes. */
  async clearPending(machine: 0 | 1): Promise<void> {
    const { stack } = this;
    stack.printed[machine] = "";
    const code = await this.command(machine, ["--clear"]);
    const text = stack.printed[machine];
    stack.printed[machine] = "";
    if (code === 2 && !text.includes("nothing was cleared")) throw new Violation(text);
  }

  /** @returns what puts everything back as it is now, but for what has been logged. */
  keep(): () => void {
    const kept = [this.platform, ...this.machines, ...this.stacks].map((each) =>
      each.keep(),
    );
    const { released, unsure, changedElsewhere } = this;
    const sets = [
      ...[this.#said, released, unsure, changedElsewhere],
      this.#forgotten,
    ] as Set<unknown>[];
    const items = sets.map((set) => [...set]);
    const { stack } = this;
    kept.push(keepTime());
    return () => {
      for (const putAll of kept) putAll();
      for (const [index, set] of sets.entries()) putBack(set, items[index] ?? []);
      this.stack = stack;
    };
  }

  wait(seconds: number): void {
    time.clock.advance(seconds * 1000);
  }
}

/** A create of an earlier run, as a pending operation or a journal has it. */
type KnownCreate = Pick<JournalEntry, "key" | "mark" | "name" | "args" | "replaces" | "id">;

function isLike({ name, args }: Pick<KnownCreate, "name" | "args">, fields: Values) {
  return name === nameIn(fields) && args?.value === fields.value;
}

interface Held {
  readonly object: string;
  readonly key: string;
  readonly isToGo: boolean;
}

/** The objects in a state. */
export function heldIn({ resources }: Pick<Deployment, "resources">): Held[] {
  return objectsOfState({ resources }).flatMap(({ kind, id, ref, resource }) =>
    id === undefined
      ? []
      : [
          {
            object: objectKey(kind.name, id),
            key: ref.key,
            isToGo: resource.delete === true,
          },
        ],
  );
}

function objectsOfState({ resources }: Pick<Deployment, "resources">) {
  return objectsIn(resources as unknown as Parameters<typeof objectsIn>[0]);
}

export function unresolvedKeys(state: Pick<Deployment, "resources">): Set<string> {
  return new Set(
    objectsOfState(state).flatMap(({ record, ref }) =>
      record === undefined ? [] : [ref.key],
    ),
  );
}

/** The marks of creates in a state, unresolved or with a known outcome. */
function marksIn(state: Pick<Deployment, "resources">): Set<string> {
  const unresolved = objectsOfState(state).flatMap(({ record }) => record?.mark ?? []);
  return new Set([
    ...unresolved,
    ...state.resources.flatMap(({ outputs }) => [...resolvedIn(outputs).keys()]),
  ]);
}

const nameIn = (fields: Values) => fields.event_name ?? fields.advertiser_name;

function hasOwner(
  { advertiserId }: Readonly<Record<string, unknown>>,
  fields: Values,
): boolean {
  return (
    advertiserId === undefined || String(advertiserId) === String(fields.advertiser_id)
  );
}

/** Whether a command may use this name for a key. */
export function calls(key: string, called: string): boolean {
  const ref = refOfKey(key, "organization/any/any");
  const place = (urn: string) => urn.split("::").slice(2).join("::");
  return (
    ref.shownName === called ||
    (called.startsWith("urn:") && place(ref.urn) === place(called))
  );
}

function leftIn({ __left: left }: Values): string[] {
  return Array.isArray(left) ? left.map(({ id }) => String(id)) : [];
}

const keyOf = (type: string, urn: string) =>
  keyOfUrn(type.split(":").at(-1) as Declared["type"], urn);

function keysOfOperation(resource: {
  type: string;
  urn: string;
  aliases?: readonly string[];
}): string[] {
  return [resource.urn, ...(resource.aliases ?? [])].map((each) =>
    keyOf(resource.type, each),
  );
}

function isSame(made: Values, fields: Values): boolean {
  const without = ({ [MARK_FIELD]: _, ...others }: Values) => others;
  return isDeepStrictEqual(without(made), without(fields));
}

/** The provider of one process. Whoever asks a process that is over gets no answer. */
function facesOf(
  runtime: Parameters<typeof createProvider>[1] extends () => infer R ? R : never,
  process: Process,
): Faces {
  const given = () => runtime;
  const none = () => undefined;
  const answering = <T extends object>(face: T): T =>
    new Proxy(face, {
      get:
        (_, name) =>
        async (...args: unknown[]) => {
          if (process.isOver) await new Promise(() => undefined);
          const result = await (
            face[name as keyof T] as (...all: unknown[]) => Promise<unknown>
          )(...args);
          if (process.isOver) await new Promise(() => undefined);
          return result;
        },
    });
  return {
    Advertiser: answering(createProvider(advertiser, given, none)),
    ConversionEvent: answering(createProvider(conversionEvent, given, none)),
    ConversionEventSet: answering(createProvider(conversionEventSet, given, none)),
  };
}
