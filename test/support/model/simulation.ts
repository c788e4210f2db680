/**
 * A project's stacks, two machines, a platform, and the people who work with them. Every run, kill and answer is checked:
 * nothing is created twice, and no created id is lost without having been said.
 */
import { isDeepStrictEqual } from "node:util";
import { own } from "../../../provider/src/base/index.js";
import {
  type ExportedStack,
  objectsIn,
  readExport,
} from "../../../provider/src/cli/contents.js";
import { pendingCommand } from "../../../provider/src/cli/pending.js";
import { type Facts, factsIn } from "../../../provider/src/cli/pending-facts.js";
import { createProvider } from "../../../provider/src/dynamic/provider.js";
import {
  backendIn,
  everyJournal,
  isOpen,
  type JournalEntry,
  type StackPlace,
} from "../../../provider/src/journal/index.js";
import {
  advertiser,
  conversionEvent,
  conversionEventSet,
  type Kind,
} from "../../../provider/src/kinds/index.js";
import { createRuntime } from "../../../provider/src/operations/runtime.js";
import { readSettings } from "../../../provider/src/settings/index.js";
import {
  keyOfUrn,
  objectKey,
  parseKey,
  refOfKey,
  resolvedIn,
  resourceKeyIn,
  sendingId,
} from "../../../provider/src/state/index.js";
import { seededRandom } from "../random.js";
import {
  type Deployment,
  type Ended,
  type Faces,
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
  now,
  Process,
  time,
} from "./machine.js";
import { acting } from "./mocks.js";
import { type Fault, LATE_MS, MARK_FIELD, type Made, Platform } from "./platform.js";
import { type Declared, objectsOf, PROJECT, programHalf, type Wanted } from "./program.js";

export interface Config {
  readonly seed: number;
  readonly read: boolean;
  readonly update: boolean;
  readonly search: boolean;
  readonly checkpoints: boolean;
  /** The number of the project's stacks, which share machines and account. */
  readonly stacks: number;
  /** The number of turns of the event loop in which a program declares its resources. */
  readonly batches: number;
}

export class Violation extends Error {}

export interface RunWish extends Pick<RunOptions, "targets" | "concurrent"> {
  readonly kill?: Kill | undefined;
  readonly faults?: readonly Fault[];
  /** People's answers for unresolved creates, by mark. */
  readonly answers?: string;
}

export interface Done {
  readonly errors: readonly string[];
  readonly posts: number;
}

const ENVIRONMENT = { PULUMI_BACKEND_URL: "file:///backend" };
const BACKEND = backendIn(ENVIRONMENT, "/");
const STACKS = ["dev", "prod"];

function placeNamed(name: string): StackPlace {
  return { backend: BACKEND, stack: `organization/${PROJECT}/${name}` };
}

function putBack<T>(set: Set<T>, items: readonly T[]): void {
  set.clear();
  for (const item of items) set.add(item);
}

/** One stack of the project: its program and state, and what people know of its runs. */
class Stack {
  /** The stack's places under all its names, the present one last. */
  places: readonly StackPlace[];
  state: Deployment = { manifest: { time: "" }, resources: [] };
  program: readonly Declared[] = [];
  /** The machine that knows of an interrupted run; `nobody` if its disk is lost. */
  knowing: 0 | 1 | "nobody" | undefined;
  /** The only machine that knows the creates that the state has lost. */
  onlyOn: 0 | 1 | undefined;
  /** The keys of creates of unknown outcome that left the state with their resources, as Pulumi showed. */
  readonly letGo = new Set<string>();
  /** The output on each machine since the last answer. */
  readonly printed: [string, string] = ["", ""];

  constructor(
    readonly id: string,
    public name: string = id,
  ) {
    this.places = [placeNamed(name)];
  }

  get place(): StackPlace {
    return this.places.at(-1) as StackPlace;
  }

  /** `pulumi stack rename` changes the URNs of the state, and nothing else. */
  rename(name: string): void {
    const text = JSON.stringify(this.state).replaceAll(
      `"urn:pulumi:${this.name}::`,
      `"urn:pulumi:${name}::`,
    );
    this.state = JSON.parse(text) as Deployment;
    this.name = name;
    this.places = [...this.places, placeNamed(name)];
  }

  /** @returns what puts everything back as it is now. */
  keep(): () => void {
    const { places, name, state, program, knowing, onlyOn } = this;
    const letGo = [...this.letGo];
    const printed = [...this.printed];
    return () => {
      Object.assign(this, { places, name, state, program, knowing, onlyOn });
      Object.assign(this.printed, printed);
      putBack(this.letGo, letGo);
    };
  }

  get wanted(): readonly Wanted[] {
    return objectsOf(this.program);
  }

  get exported(): ExportedStack {
    return readExport(JSON.stringify({ version: 3, deployment: this.state }));
  }
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
  readonly machines = [new Machine(), new Machine()] as const;
  readonly platform = new Platform();
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
  /** Objects that only a lost disk knew. */
  readonly #lost = new Set<Made>();

  constructor(readonly config: Config) {
    beginTime();
    this.random = seededRandom(config.seed);
    this.stacks = STACKS.slice(0, config.stacks).map((name) => new Stack(name));
    this.stack = this.stacks[0] as Stack;
  }

  /** `pulumi stack select` */
  select(stack: Stack): void {
    this.stack = stack;
    this.log.push(`stack ${stack.name}`);
  }

  get #settings(): Record<string, string> {
    const { config } = this;
    const ways = (noun: string) => ({
      ...(config.read ? { read: `GET rest/${noun}/{id}` } : {}),
      ...(config.update ? { update: `PUT rest/${noun}/{id}` } : {}),
      ...(config.search ? { search: `GET rest/${noun}?${MARK_FIELD}={mark}` } : {}),
    });
    const operations = {
      event: ways("event"),
      advertiser: ways("advertiser"),
      createdVisibleAfterSeconds: 0,
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

  /** Of which two creates with different arguments may have made the object. */
  readonly unsure = new Set<string>();

  say(text: string): void {
    this.log.push(text);
    // Without a name or a value, two that differ may have been sent (recover.md).
    for (const [, short = ""] of text.matchAll(
      /^ {2}(\S+): look in the account for the (?:\w+(?! named)|ConversionEvent named "[^"]*")(?:,|;|$)/gm,
    ))
      this.unsure.add(short);
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
    const { stack } = this;
    const { kill, faults = [], answers = "{}", ...options } = wish;
    counts.runs++;
    const machine = this.machines[machineNumber];
    const process = new Process(machine, kill);
    this.#act(process);
    const { config } = this;
    const { program, state: before } = stack;
    const tell = (text: string) => {
      if (process.isDead) return;
      this.say(`    ${text}`);
    };
    const records = this.recordsOn(machineNumber);
    const elsewhere = this.#openElsewhere(machineNumber, stack);
    const labels = new Map(objectsOf(program).map(({ label, key }) => [label, key]));
    const runtime = this.#runtime(process, answers, tell, {
      process,
      faults,
      stack: stack.id,
      place: stack.place.stack,
      selfOf: (key: string) => objectsOf(program).find((each) => each.key === key)?.self,
      keyOf: (label: string) => labels.get(label) ?? label,
      knownOther: (kind: Kind["name"], key: string) =>
        [...records.values()].find(
          (each) => each.key !== key && isHolding(each) && parseKey(each.key).kind === kind,
        )?.id,
      validator: (key: string, kind: Kind["name"], fields: Values) =>
        this.#classifyCreate(key, kind, fields, {
          stack,
          before,
          program,
          records,
          elsewhere,
        }),
    });
    let saves = 0;
    const save = (deployment: Deployment) => {
      if (process.isOver) throw new Killed("killed");
      saves++;
      process.moment();
      this.#save(stack, before, deployment, machine);
      process.moment();
    };
    const posts = this.platform.posts;
    const leaves: RunOptions["leaves"] = (resource) =>
      this.say(
        `    - ${resource.urn} ${heldIn({ resources: [resource] }).map(({ object }) => object)}`,
      );
    const faces = facesOf(runtime, process);
    const run: RunOptions = {
      ...options,
      faces,
      save,
      now,
      checkpoints: config.checkpoints,
      leaves,
    };
    const ending =
      how === "refresh"
        ? refresh(before, run)
        : this.#up(program, records, before, run, tell);
    const ended = await Promise.race([process.death, ending]);
    ending.catch(() => undefined);
    let isKilled = ended === "killed";
    if (ended !== "killed") {
      for (const error of ended.errors) tell(`error: ${error}`);
      if (how === "up") stack.printed[machineNumber] = ended.errors.join("\n");
      try {
        if (!config.checkpoints) runtime.closeNow();
        save(ended.deployment);
        if (config.checkpoints) runtime.closeNow();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      isKilled = process.isOver;
    } else if (kill?.how === "engine") await runtime.abandon();
    process.isDead = true;
    this.assertGood();
    // A run that saves drops Pulumi's record of an interrupted update: only this machine knows of it from now on.
    const isCleared =
      before.pending_operations?.some(({ type }) => type === "updating") === true &&
      saves > 0;
    const isWell = how === "up" && ended !== "killed" && ended.errors.length === 0;
    if (isCleared && !isWell) stack.onlyOn = machineNumber;
    if (isWell) this.#releaseSaid(records);
    if (!isKilled) {
      const { errors } = ended as Ended;
      return { errors, posts: this.platform.posts - posts };
    }
    counts.kills++;
    for (const made of this.platform.objects)
      if (made.changedBy === process) this.changedElsewhere.add(made);
    this.log.push(`    killed (${kill?.how})`);
    machine.after(
      kill?.how === "power"
        ? () => Math.min(1, Math.floor(this.random() * 4) / 3)
        : undefined,
    );
    stack.knowing = machineNumber;
    return undefined;
  }

  async #up(
    program: readonly Declared[],
    records: ReadonlyMap<string, JournalEntry>,
    before: Deployment,
    run: RunOptions,
    tell: (text: string) => void,
  ): Promise<Ended> {
    const half = programHalf(
      program,
      this.stack.name,
      this.settings,
      records,
      this.config.batches,
    );
    half.warnings.forEach(tell);
    if (half.findings.length > 0)
      throw new Error(`the model's program is wrong: ${half.findings.join("\n")}`);
    return up(before, half.registrations, {
      ...run,
      programEnded: () => half.atEnd().forEach(tell),
    });
  }

  #runtime(
    process: Process,
    answers: string,
    tell: (text: string) => void,
    sender: Parameters<Platform["client"]>[0],
  ) {
    const skips = this.config.checkpoints ? {} : { PULUMI_SKIP_CHECKPOINTS: "true" };
    const environment = { ...ENVIRONMENT, ...skips, ADVERTISING_ANSWERS: answers };
    const given = this.#settings;
    const log = async (_severity: string, _urn: string, message: string) => tell(message);
    const runtime = createRuntime((key) => given[key], environment, log, {
      disk: process.disk,
      folder: FOLDER,
    });
    const client = this.platform.client(sender);
    return { ...runtime, clock: time.clock, client: () => client, say: tell };
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
  #act({ disk }: Process): void {
    acting.here = { folder: FOLDER, disk, clock: time.clock };
  }

  recordsOn(machine: 0 | 1): ReadonlyMap<string, JournalEntry> {
    return this.machines[machine].records(this.stack.place);
  }

  #openElsewhere(machine: 0 | 1, stack: Stack): JournalEntry[] {
    const places = this.stacks
      .flatMap((each) => each.places)
      .filter((place) => place !== stack.place);
    const all = places.flatMap((place) => [
      ...this.machines[machine].records(place).values(),
    ]);
    return all.filter(({ state }) => state === "sent" || state === "created");
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
      readonly records: ReadonlyMap<string, JournalEntry>;
      readonly elsewhere: readonly JournalEntry[];
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
    for (const made of this.platform.madeFor(stack.id)) {
      // What the stack's journal has under its former name is open elsewhere.
      if (
        made.kind !== kind ||
        adopted.has(made.id) ||
        this.released.has(made) ||
        made.place !== stack.place.stack
      )
        continue;
      const holders = held.filter(({ object }) => object === objectKey(kind, made.id));
      if (holders.some(({ isToGo }) => isToGo)) continue;
      if (holders.length === 0 && isOurs(made.key))
        this.#wrong(
          `${key} is created again: ${this.platform.textOf(made)} is not in the state`,
        );
      if (isOurs(holders[0]?.key) && isSame(made.fields, fields))
        this.#wrong(
          `${key} is created again with the same arguments as ${this.platform.textOf(made)}`,
        );
    }
    const own = run.records.get(key);
    if ((own !== undefined && isOpen(own)) || [...unresolvedKeys(run.before)].some(isOurs))
      return;
    const declared = new Set(objects.flatMap((each) => each.keys));
    const marks = marksIn(run.before);
    const isNamesake = ({
      key: other,
      name: its,
      facts = {},
    }: Pick<JournalEntry, "key" | "name" | "facts">) =>
      parseKey(other).kind === kind && its === nameIn(fields) && hasOwner(facts, fields);
    const isSeen = (record: JournalEntry) =>
      (record.id !== undefined && adopted.has(record.id)) ||
      marks.has(record.mark) ||
      marks.has(sendingId(record)) ||
      held.some(({ object }) => object === objectKey(kind, record.id ?? "")) ||
      // Its own resource has an object, and not the one that it was to replace.
      held.some(
        (each) =>
          each.key === record.key && each.object !== objectKey(kind, record.replaces ?? ""),
      );
    for (const record of run.records.values())
      if (
        isOpen(record) &&
        isNamesake(record) &&
        !isOurs(record.key) &&
        !declared.has(record.key) &&
        !isSeen(record)
      )
        this.#wrong(
          `${key} is created, while ${record.key} (${record.state}) of its name is open and not declared`,
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
    for (const record of run.elsewhere)
      if (isNamesake(record) && !isSeen(record))
        this.#wrong(
          `${key} is created, while another stack has ${record.key} (${record.state}) of its name open`,
        );
  }

  /** A lost journal may have been the only one with what a set of an interrupted run made and a later run left out. */
  releaseOfSavedSets(): void {
    for (const { id, state, place } of this.stacks) {
      const held = new Set(heldIn(state).map(({ object }) => object));
      const urns = new Set(state.resources?.map(({ urn }) => urn));
      for (const made of this.platform.madeFor(id)) {
        const { member, resourceUrn } = refOfKey(made.key, place.stack);
        const isLeftOut = member !== undefined && urns.has(resourceUrn);
        if (isLeftOut && !held.has(objectKey(made.kind, made.id))) {
          this.released.add(made);
          this.#lost.add(made);
        }
      }
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
  #releaseSaid(records: ReadonlyMap<string, JournalEntry>): void {
    const held = new Set(heldIn(this.stack.state).map(({ object }) => object));
    const declared = new Set(this.stack.wanted.map(({ key }) => key));
    for (const { key, id = "" } of records.values()) {
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
    const left = new Set(state.resources.flatMap(({ outputs }) => leftIn(outputs)));
    const open = unresolvedKeys(state);
    const pending = new Set(
      (state.pending_operations ?? []).flatMap(({ resource }) => keysOfOperation(resource)),
    );
    const journals = this.machines.flatMap((machine) =>
      stack.places.flatMap((place) => [...machine.records(place).values()]),
    );
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
        this.#said.has(`${parseKey(key).short} (outcome unknown)`);
      const isKnown = isHeld || isNoted || left.has(id) || this.#said.has(id) || isUnknown;
      if (!isKnown && !this.#lost.has(made))
        throw new Violation(`${this.platform.textOf(made)} is lost, and was never said`);
      // Its resource has another one, and people know of it.
      if (!isHeld && !isNoted && held.some((each) => each.key === key))
        this.released.add(made);
    }
  }

  // What people do

  facts(machine: 0 | 1): Facts {
    const journals = everyJournal(FOLDER, this.machines[machine].disk);
    return factsIn(this.stack.exported, journals, this.stack.place);
  }

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
    const entry = this.machines.flatMap((machine) =>
      stack.places.flatMap((place) =>
        [...machine.records(place).values()].filter(({ key }) => isCalled(key)),
      ),
    );
    const there = this.platform
      .madeFor(stack.id)
      .filter(
        (each) => !held.has(objectKey(each.kind, each.id)) && !this.released.has(each),
      );
    const called = there.filter(({ key }) => isCalled(key));
    const sent = [...unresolved, ...entry];
    // A create that was sent again keeps its mark, which the message shows.
    const isSent = ({ at, fields }: Made) =>
      sent.some(
        ({ field, mark, ...each }) =>
          (field !== undefined && fields[field] === mark) ||
          (each.at === at &&
            each.name === nameIn(fields) &&
            each.facts?.value === fields.value),
      );
    // What only Pulumi's record of an interrupted run has, a message describes by that.
    const recorded = (stack.state.pending_operations ?? []).map(
      ({ resource }) => resource.inputs,
    );
    const isRecorded = ({ fields }: Made) =>
      recorded.some(
        (each) => each?.eventName === nameIn(fields) && each?.value === fields.value,
      );
    // Another event may have its key by now, while a message describes the one that was sent.
    const described = there.filter(isSent);
    const isWanted = (made: Made) => stack.wanted.some(({ key }) => key === made.key);
    const sole =
      described.length === 1 && !described.some(isWanted) ? described[0] : undefined;
    const meant = stack.wanted.find(({ key }) => isCalled(key))?.self;
    const isMeant = ({ self }: Made) => meant === undefined || self === meant;
    return (
      called.findLast(isSent) ??
      described.findLast(isMeant) ??
      sole ??
      called.findLast(isMeant) ??
      called.findLast(isRecorded) ??
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
    const isNamed = ({ places }: Stack) =>
      places.some(({ stack }) => stack.endsWith(`/${name}`));
    return this.stacks.find(isNamed) ?? this.stack;
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
    let inner: Promise<unknown> = Promise.resolve();
    const pulumi: typeof acting.pulumi = {
      refresh: async (urns, environment) => {
        process.moment();
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
      stateOf: async () => this.stack.exported,
      stackName: async () => this.stack.place.stack,
      accountComparer: async () => () => true,
      existingStacks: async () => this.stacks.map(({ place }) => place.stack),
    };
    const { log, error } = console;
    console.log = console.error = (text: string) => this.#tellOn(machine, process, text);
    const here = { folder: FOLDER, disk: process.disk, clock: time.clock };
    const running = acting
      .within({ here, pulumi }, () => pendingCommand.run(args))
      .catch(({ message }: Error) => {
        this.#tellOn(machine, process, message);
        return 2;
      });
    const code = await Promise.race([running, process.death]);
    await inner; // Pulumi's own process goes on
    Object.assign(console, { log, error });
    process.isDead = true;
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
    if (code === 2)
      throw new Violation(`an answer was refused: ${this.stack.printed[machine]}`);
    if (code === undefined) return;
    if (this.stack.knowing !== undefined) this.stack.knowing = machine;
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

  /** `pulumi refresh --clear-pending-creates`, once all is answered. */
  clearPending(): void {
    const { pending_operations: _, ...state } = this.stack.state;
    this.stack.state = state;
  }

  /** @returns what puts everything back as it is now, but for what has been logged. */
  keep(): () => void {
    const kept = [this.platform, ...this.machines, ...this.stacks].map((each) =>
      each.keep(),
    );
    const { released, unsure, changedElsewhere } = this;
    const sets = [this.#said, released, unsure, changedElsewhere] as Set<unknown>[];
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

function isHolding({ id, state }: JournalEntry): boolean {
  return id !== undefined && state !== "closed";
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
    ...state.resources.flatMap(({ outputs }) => resolvedIn(outputs)),
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
    ref.short === called || (called.startsWith("urn:") && place(ref.urn) === place(called))
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
