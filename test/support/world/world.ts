/**
 * A world: one platform, one stack with its backend, two machines with disks that can be lost, and people who answer `pending`. Each
 * step uses the real product. After each step the platform, the state and the disks are compared with each other.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandsTake } from "../../../provider/src/base/text.js";
import type { HttpRequest, Transport } from "../../../provider/src/client/transport.js";
import { advertiser, conversionEvent, conversionEventSet } from "../../../provider/src/kinds/index.js";
import { placeOfProgram } from "../../../provider/src/program/place.js";
import { createProvider, createSetProvider } from "../../../provider/src/provider/dynamic.js";
import { createRuntime, type Runtime } from "../../../provider/src/provider/services.js";
import { isPlatformId } from "../../../provider/src/rules/index.js";
import type { Noun } from "../../../provider/src/sandbox/routes.js";
import { readSettings, type Settings } from "../../../provider/src/settings/index.js";
import {
  aboutWhom,
  type CreateRecord,
  identityText,
  labelOf,
  memberLabel,
  memberOf,
  nameInUrn,
  readStoredSet,
  splitMember,
} from "../../../provider/src/state/index.js";
import { look, recordsIn } from "../../../provider/src/store/notes.js";
import { pathsIn, placesFor } from "../../../provider/src/store/places.js";
import { pendingCommand } from "../../../provider/src/tools/pending-command.js";
import { readPreview } from "../../../provider/src/tools/preview.js";
import { relocateCommand } from "../../../provider/src/tools/relocate.js";
import {
  type Deployment,
  destroy,
  type Ended,
  type Faces,
  type RunOptions,
  refresh,
  refused,
  type Saved,
  up,
} from "./engine.js";
import { type Dressing, type Fault, type Guard, MemoryPlatform } from "./platform.js";
import {
  allOf,
  type Catalog,
  findingsOf,
  type Program,
  type Resource,
  type Source,
  saidBy,
  urnOfResource,
} from "./program.js";
import { time } from "./time.js";
import { inProcess, type Process } from "./wire.js";

export interface Config {
  readonly seed: number;
  readonly dressing: Dressing;
  /** The operations that the users know. */
  readonly operations: Readonly<Record<string, boolean>>;
  readonly checkpoints: boolean;
}

/**
 * When a process is killed: at its nth request or nth change of a file, before or after that is carried out, or when the state is saved for
 * the nth time, or imported.
 */
export interface Kill {
  readonly at: "before" | "after" | "write" | "written" | "save";
  readonly nth: number;
}

/** A process that is killed at one moment, if it reaches that. */
class Mortal implements Guard, Process {
  readonly machine: number;
  readonly isDated: Guard["isDated"];
  isDead = false;
  readonly #kill: Kill | undefined;
  readonly #met = new Map<string, number>();
  #die: () => void = () => undefined;
  readonly death = new Promise<undefined>((resolve) => {
    this.#die = () => resolve(undefined);
  });

  constructor(machine: number, isDated: Guard["isDated"], kill?: Kill) {
    this.machine = machine;
    this.isDated = isDated;
    this.#kill = kill;
  }

  request(when: "before" | "after"): void {
    this.#count(when);
  }

  meets(moment: Kill["at"]): void {
    if (!this.isDead) this.#count(moment);
    if (this.isDead) throw new Error("killed");
  }

  #count(moment: Kill["at"]): void {
    const times = (this.#met.get(moment) ?? 0) + 1;
    this.#met.set(moment, times);
    if (this.#kill?.at !== moment || times < this.#kill.nth) return;
    this.isDead = true;
    this.#die();
  }
}

export class Violation extends Error {}

const EMPTY: Deployment = { manifest: { time: "2026-01-01T00:00:00.000Z" }, resources: [] };

const COMMANDS = { pending: pendingCommand, relocate: relocateCommand };

/** The exit code of a command that was killed. */
const KILLED = 137;

/** What happens during a command. */
interface Meanwhile {
  readonly kill?: Kill | undefined;
  readonly atFirstRequest?: () => Promise<void>;
  /** After its second export, which showed no change. */
  readonly afterLastLook?: () => Promise<void>;
}

/** A run that ended, and what it said at its resources. */
interface Ran extends Ended {
  readonly told: readonly string[];
}

/** An object in a state, and the resource that has it. */
interface Held {
  readonly noun: Noun;
  readonly id: string;
  /** The resource's label, followed by the key for a member. */
  readonly label: string;
  readonly resource: Saved;
}

export class World {
  readonly platform: MemoryPlatform;
  readonly config: Config;
  program: Program = new Map();
  catalogs: ReadonlyMap<string, Catalog> = new Map();
  /** The programs of the runs that may have sent anything. */
  readonly #sent: Source[] = [];
  backend: Deployment = EMPTY;
  operations: Record<string, boolean>;
  /** The machine with the notes of an interrupted run that is not settled, if there is one. */
  killedOn: number | "nowhere" | undefined;
  readonly counts = {
    ups: 0,
    clean: 0,
    kills: 0,
    failed: 0,
    previews: 0,
    refreshes: 0,
    destroys: 0,
    answers: 0,
    refused: 0,
    reopened: 0,
    together: 0,
    killedCommands: 0,
    commented: 0,
  };
  /** A log of the steps, for people. */
  readonly log: string[] = [];
  /** The folder of its disks. */
  readonly root: string;
  readonly #place = placeOfProgram();
  readonly #stack = Object.values(this.#place).join("/");
  #host = "platform.example";
  readonly #said = new Set<string>();
  /** Objects for which the product is not to blame: a person gave a wrong answer, or threw the only notes away. */
  readonly #excused = new Set<string>();
  #lastRunOn: number | undefined;
  /** Whether the last `up` was of the whole program and succeeded. */
  #isClean = true;
  /** Unresolved creates that only a journal has, because a `destroy` removed them from the state. */
  readonly #notedAlone = new Set<string>();
  /** Labels of one resource under several names. */
  readonly #family = new Map<string, string>();

  /** A cache of `declared`, as long as neither program nor catalogs change. */
  #declared: { readonly of: Source; readonly all: Program } | undefined;
  /** How many processes run on each machine. */
  readonly #begun: Mortal[] = [];
  readonly #processes = new Map<number, number>();
  /** How many runs in progress change the state. */
  #updating = 0;
  /** What was deleted before the latest run began. */
  #deletedBefore: ReadonlySet<string> = new Set();
  /** The state that a command imported last. */
  #imported: Deployment | undefined;
  /** The stack's tag, and the machine that set it. */
  #tag: { readonly machine: number; readonly value: string } | undefined;
  /** Violations in places that can't throw. */
  readonly #wrong: string[] = [];

  constructor(config: Config) {
    this.config = config;
    this.operations = { ...config.operations };
    this.platform = new MemoryPlatform(config.dressing);
    // Without a known read, nobody can tell what is listed and was deleted.
    this.platform.listsDeleted = () => config.seed % 3 === 0 && this.operations.read === true;
    const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
    this.root = mkdtempSync(join(memory, "advertising-world-"));
    for (const machine of [0, 1]) mkdirSync(this.folderOf(machine));
    process.env.XDG_CACHE_HOME = join(this.root, "cache");
  }

  /** Whatever is still under way dies, so that it does nothing in another world. */
  end(): void {
    for (const each of this.#begun) each.isDead = true;
    rmSync(this.root, { recursive: true, force: true });
  }

  #newProcess(machine: number, kill: Kill | undefined): Mortal {
    commandsTake([]); // what another process was given is nothing to this one
    const begun = new Mortal(machine, this.#isDated, kill);
    this.#begun.push(begun);
    return begun;
  }

  get source(): Source {
    return { program: this.program, catalogs: this.catalogs };
  }

  set source({ program, catalogs }: Source) {
    this.program = program;
    this.catalogs = catalogs;
  }

  /** What the program declares, its catalogs included. */
  get declared(): Program {
    const { program, catalogs } = this;
    if (this.#declared?.of.program !== program || this.#declared.of.catalogs !== catalogs)
      this.#declared = { of: this.source, all: allOf(this.source) };
    return this.#declared.all;
  }

  folderOf(machine: number): string {
    return join(this.root, `machine-${machine}`);
  }

  settingsFor(machine: number): Record<string, string> {
    const { read, update, search, mark } = this.operations;
    const known = (noun: Noun) => ({
      ...(read ? { read: `GET rest/${noun}/{id}` } : {}),
      ...(update ? { update: `PUT rest/${noun}/{id}` } : {}),
      ...(this.operations.delete && noun === "event" ? { delete: `DELETE rest/${noun}/{id}` } : {}),
      ...(search && mark && noun === "event" ? { search: `GET rest/${noun}?alternative_id={mark}` } : {}),
    });
    const some = (["event", "advertiser"] as const).filter((noun) => Object.keys(known(noun)).length > 0);
    const { isTight, searchLagSeconds, readLagSeconds } = this.platform.dressing;
    const operations = {
      ...Object.fromEntries(some.map((noun) => [noun, known(noun)])),
      ...(isTight
        ? { resendAfterSeconds: 1, createdVisibleAfterSeconds: Math.max(searchLagSeconds, readLagSeconds) }
        : {}),
    };
    return {
      baseUrl: `https://${this.#host}`,
      email: "ops@example.com",
      password: "sandbox-password",
      authMode: "basic",
      cookieFile: join(this.folderOf(machine), "session.json"),
      ...(some.length === 0 ? {} : { operations: JSON.stringify(operations) }),
      ...(mark ? { markField: "alternative_id" } : {}),
    };
  }

  /** Whether no create is pending. */
  get isCalm(): boolean {
    return this.killedOn === undefined && this.openRecords().length === 0;
  }

  /** The ids of objects that the program adopted as they were. */
  readonly adopted = new Set<string>();
  /** The ids that people answered. These objects may differ from the declared arguments in ways that the state does not show. */
  readonly settled = new Set<string>();
  /** The ids of objects that a refresh found gone. */
  readonly foundGone = new Set<string>();
  /** The ids in wrong answers. */
  readonly mistaken = new Set<string>();
  /** The wrong answers themselves. */
  readonly wrongAnswers: {
    readonly urn: string;
    readonly machine: number;
    readonly noun: Noun;
    readonly denied: string | undefined;
    readonly other?: string;
    /** When it was given. */
    readonly at: number;
  }[] = [];

  rename(type: Resource["type"], from: string, to: string, { events = {} }: Pick<Resource, "events">): void {
    this.#join(labelOf(type, from), labelOf(type, to));
    for (const key of Object.keys(events))
      this.#join(memberLabel(labelOf(type, from), key), memberLabel(labelOf(type, to), key));
  }

  #join(a: string, b: string): void {
    this.#family.set(this.familyOf(b), this.familyOf(a));
  }

  familyOf(label: string): string {
    const above = this.#family.get(label);
    return above === undefined || above === label ? label : this.familyOf(above);
  }

  excuse(noun: Noun, id: string): void {
    this.#excused.add(`${noun} ${id}`);
  }

  /** Undoes `excuse`, after a wrong answer was taken back. */
  blame(noun: Noun, id: string): void {
    this.#excused.delete(`${noun} ${id}`);
  }

  /** Since when each machine remembers what its runs did. */
  readonly #diskSince = new Map<number, number>();

  loseDisk(machine: number): void {
    this.#diskSince.set(machine, time.clock.wallMs());
    // The engine no longer has a record of resources that are not declared any more.
    const declared = this.#labels();
    // The next run drops the engine's record of a set, even if it does not reach each of its events.
    const inState = new Set(this.backend.resources.map(({ urn }) => urn));
    const inFlight = new Set(
      (this.backend.pending_operations ?? []).flatMap(({ type, resource: { urn } }) =>
        type === "creating" && inState.has(urn) ? [] : [urn],
      ),
    );
    for (const { key } of this.#notes(machine)) {
      const { label, urn, member } = aboutWhom(key);
      const isOutOfRecord = member !== undefined && !inFlight.has(splitMember(urn).of);
      if (!declared.has(label) || isOutOfRecord) this.#notedAlone.add(this.familyOf(label));
    }
    rmSync(this.folderOf(machine), { recursive: true, force: true });
    mkdirSync(this.folderOf(machine));
    if (this.killedOn === machine) this.killedOn = "nowhere";
    for (const { noun, id, label = "" } of this.platform.made)
      if (this.#notedAlone.has(this.familyOf(label))) this.excuse(noun, id);
  }

  /** What a run took out of the state, because the program did not declare it, is in a machine's notes alone. */
  #noteOutOfRecord(): void {
    const declared = this.#labels();
    const inState = new Set(unresolvedIn(this.backend).map(({ label }) => label));
    for (const { label } of this.openRecords())
      if (!declared.has(label) && !inState.has(label)) this.#notedAlone.add(this.familyOf(label));
  }

  /** One run of the engine on a machine. @returns how it ended; none if it was killed. */
  async run(
    machine: number,
    how: (
      options: Pick<RunOptions, "faces" | "save" | "now" | "checkpoints" | "isPreview">,
      runtime: Runtime,
    ) => Promise<Ended>,
    {
      kill,
      isPreview = false,
      faults = [],
    }: { kill?: Kill | undefined; isPreview?: boolean; faults?: readonly Fault[] } = {},
  ): Promise<Ran | undefined> {
    const guard = this.#newProcess(machine, kill);
    this.platform.arm(faults);
    this.#deletedBefore = new Set(this.platform.deleted);
    this.#freeLocks(machine);
    const told: string[] = [];
    const runtime = this.#runtime(machine, guard, told);
    const faces: Faces = {
      Advertiser: createProvider(
        advertiser,
        () => runtime,
        () => undefined,
      ),
      ConversionEvent: createProvider(
        conversionEvent,
        () => runtime,
        () => undefined,
      ),
      ConversionEventSet: createSetProvider(
        conversionEventSet,
        () => runtime,
        () => undefined,
      ),
    };
    const save = (deployment: Deployment) => {
      guard.meets("save");
      this.backend = deployment;
      time.clock.advance(1); // so that later requests have a later time
    };
    const now = () => new Date(time.clock.wallMs()).toISOString();
    const { checkpoints } = this.config;
    const transport = () => this.platform.transport(guard);
    const options = { faces, save, now, checkpoints, isPreview };
    this.#countProcess(machine, 1);
    if (!isPreview) this.#updating++;
    const work = async () => {
      const done = await how(options, runtime);
      if (!guard.isDead) runtime.closeNow();
      return done;
    };
    const ended = await Promise.race([inProcess({ process: guard, transport }, work), guard.death]);
    this.#countProcess(machine, -1);
    if (!isPreview) this.#updating--;
    this.platform.arm([]);
    if (guard.isDead) {
      await turn(); // whatever was in flight fails
      runtime.journal(identityText({ ...this.#place, parentTypes: undefined, name: "any" })).release();
      this.counts.kills++;
      this.#noteGone();
      if (!isPreview) this.killedOn = machine;
      return undefined;
    }
    if (!isPreview && ended !== undefined) this.backend = ended.deployment;
    for (const error of ended?.errors ?? []) this.say(error);
    if (!isPreview && ended !== undefined) this.#expectTrueReports(told, ended);
    return ended && { ...ended, told };
  }

  /** Whether an operation other than create is known. */
  #isDated = (noun: Noun): boolean => {
    const { read, update, delete: deletes } = this.operations;
    return read === true || update === true || (deletes === true && noun === "event");
  };

  #countProcess(machine: number, more: number): void {
    this.#processes.set(machine, (this.#processes.get(machine) ?? 0) + more);
  }

  /** Removes the locks of killed processes. */
  #freeLocks(machine: number): void {
    if ((this.#processes.get(machine) ?? 0) !== 0) return;
    const folder = this.folderOf(machine);
    for (const name of readdirSync(folder, { recursive: true }).map(String)) {
      if (/\.lock(\.|$)/.test(name)) rmSync(join(folder, name), { force: true });
    }
  }

  #runtime(machine: number, guard: Pick<Guard, "isDead">, told: string[]): Runtime {
    const config = this.settingsFor(machine);
    const environment = {
      PULUMI_BACKEND_URL: "file://backend",
      ...(this.config.checkpoints ? {} : { PULUMI_SKIP_CHECKPOINTS: "true" }),
    };
    const sayNow = (message: string) => {
      if (!guard.isDead) this.say(message);
    };
    const log = async (_severity: string, _urn: string, message: string) => {
      told.push(message);
      sayNow(message);
    };
    const real = createRuntime((key) => config[key], environment, log, time.clock.wallMs());
    return { ...real, say: (message) => sayNow(real.secrets.scrub(message)) };
  }

  /** Notes that a message was printed, and the ids in it. */
  say(said: string): void {
    this.log.push(`    | ${said.replaceAll("\n", "\n    | ")}`);
    // An adopted id may be that of an object of the other kind. And an object that is taken over, or that the state has, is
    // not reported as left over.
    const text = said.replaceAll(/(advertiserId|adopts) \d+|^.*(takes?|taken) (it|them) over.*$|has it as \d+/gm, "");
    for (const [id] of text.matchAll(/\b\d{4,}\b/g)) this.#noteSaid(id);
    for (const [range] of text.matchAll(/\b\d{4,}–\d{4,}\b/g)) for (const id of idsIn(range)) this.#noteSaid(id);
    for (const [, label = ""] of text.matchAll(/^(.+?): an interrupted run .* shows a second one/gm)) {
      this.#noteSaidOf(label);
    }
  }

  /** Notes a message that a resource may have made an object with an unknown id. */
  #noteSaidOf(label: string): void {
    const family = this.familyOf(label);
    for (const made of this.platform.made) {
      if (made.label !== undefined && this.familyOf(made.label) === family) this.#noteSaid(made.id);
    }
  }

  /** For both kinds, because people know the kind from the words. */
  #noteSaid(id: string): void {
    for (const noun of ["advertiser", "event"]) this.#said.add(`${noun} ${id}`);
  }

  async up(
    machine: number,
    more: {
      kill?: Kill | undefined;
      faults?: readonly Fault[];
      isPreview?: boolean;
      concurrent?: boolean;
      asksAgain?: boolean;
      targets?: ReadonlySet<string> | undefined;
      /** The program fails half way. */
      isBroken?: boolean;
    } = {},
  ): Promise<Ran | undefined> {
    const { isPreview = false, concurrent = false, asksAgain = false, targets, isBroken = false } = more;
    const settings = this.#settingsOf(machine);
    const before = this.backend;
    const paths = pathsIn(placesFor(settings, this.folderOf(machine)).journalFolder, this.#stack);
    const remembered = () => new Set([...look(paths).objects].map(([key, { id }]) => `${aboutWhom(key).label} ${id}`));
    const known = remembered();
    const noted = this.#notes(machine);
    const ended = await this.run(
      machine,
      async (options) => {
        const all = [...this.declared];
        const program = new Map(isBroken ? all.slice(0, Math.ceil(all.length / 2)) : all);
        const said = saidBy(program, settings, paths, isPreview, findingsOf(this.source));
        for (const warning of said.warnings) {
          this.say(warning);
          this.#expectTrue(warning, program);
        }
        if (said.findings.length > 0) {
          const errors = said.findings.map(({ title, lines }) => [title, ...lines].join("\n"));
          return refused(before, errors, options);
        }
        const last = this.#sent.at(-1);
        if (!isPreview && (last?.program !== this.program || last.catalogs !== this.catalogs))
          this.#sent.push(this.source);
        for (const { existingId, events = {} } of program.values()) {
          for (const id of [existingId, ...Object.values(events).map((entry) => entry.existingId)])
            if (id !== undefined) this.adopted.add(id);
        }
        // Printed before the engine removes anything from the state, so also by a run that is killed then.
        const atEnd = () => {
          const judged = said.atEnd();
          for (const warning of judged.warnings) this.say(warning);
          return judged;
        };
        return up(before, program, { ...said, atEnd }, { ...options, concurrent, asksAgain, targets, isBroken });
      },
      more,
    );
    this.log.push(
      `  ${ended === undefined ? "killed" : [...ended.ops].map(([urn, op]) => `${op} ${urn.split("::").at(-1)}`).join(", ")}`,
    );
    if (isPreview) this.counts.previews++;
    else this.#count(ended);
    if (isPreview) return ended;
    const wasClean = this.#isClean && this.#lastRunOn === machine;
    this.#isClean = ended?.errors.length === 0 && targets === undefined;
    const mustSay = this.#lastRunOn === machine && targets === undefined;
    this.#listRemoved(before, mustSay ? known : new Set(), noted);
    this.#lastRunOn = machine;
    if (ended !== undefined) this.#noteOutOfRecord();
    const hasFailed = ended !== undefined && targets === undefined && !this.#isClean;
    if (isBroken || (hasFailed && wasClean)) this.#expectRemembered(known, remembered());
    if (ended !== undefined) this.#expectOwnDeletes(before, ended);
    this.#expectAdoptedKept();
    if (ended?.errors.length === 0) this.#expectLive(before);
    this.#expectSettled(before);
    if (this.#isClean) this.#expectTakenOver(machine, noted, before);
    if (this.#isClean) this.#expectNotDeletedHere(machine);
    return ended;
  }

  /** A set's unresolved create stays in the state until a resource has its object, because another machine knows it only from there. */
  #expectSettled(before: Deployment): void {
    const { resources } = this.backend;
    const after = new Set(unresolvedIn(this.backend).map(({ label }) => label));
    const held = new Set(heldIn(this.backend).map(({ noun, id }) => `${noun} ${id}`));
    const left = this.#leftIn(this.backend);
    for (const { urn, label } of unresolvedIn(before)) {
      const isWhole = !label.startsWith("events[") || !resources.some((each) => each.urn === urn);
      if (isWhole || after.has(label) || this.wrongAnswers.length > 0) continue;
      const lost = this.platform.made.find(
        ({ noun, id, label: by }) =>
          by === label &&
          this.platform.isLive(noun, id) &&
          !held.has(`${noun} ${id}`) &&
          !left.has(`${noun} ${id}`) &&
          // As an earlier one that a `destroy` took out of the state.
          !this.#said.has(`${noun} ${id}`),
      );
      if (lost !== undefined && !this.#isExcused(lost.noun, lost.id))
        throw new Violation(
          `${label} is not unresolved in the state any more, and nothing has ${lost.noun} ${lost.id}`,
        );
    }
  }

  /** A failed run must not forget objects that it did not remove. @param before what the machine remembered, as labels with ids. */
  #expectRemembered(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    const isLost = (text: string) => before.has(text) && !after.has(text);
    const current = heldIn(this.backend).filter(({ resource }) => resource.delete !== true);
    // What the failed run itself found to be gone may be forgotten.
    const lost = current.find(({ noun, label, id }) => isLost(`${label} ${id}`) && this.platform.isLive(noun, id));
    if (lost !== undefined) throw new Violation(`a run failed, and ${lost.label} (${lost.id}) was forgotten`);
  }

  /** An object that an interrupted run noted as created is taken over, not created again. */
  #expectTakenOver(machine: number, noted: readonly CreateRecord[], before: Deployment): void {
    const creating = this.#labels(true);
    const still = new Set(this.#notes(machine).map(({ mark }) => mark));
    // With checkpoints off, objects in the state stay noted until the next run has seen them there.
    const held = new Set([before, this.backend].flatMap(heldIn).map(({ noun, id }) => `${noun} ${id}`));
    for (const { key, id, mark } of noted) {
      const { kind, label } = aboutWhom(key);
      const noun = nounOf(kind);
      if (id === undefined || still.has(mark) || !creating.has(label) || held.has(`${noun} ${id}`)) continue;
      if (this.platform.isLive(noun, id) && !this.mistaken.has(id))
        throw new Violation(`an interrupted run made ${noun} ${id} for ${label}, and the up made another one`);
    }
  }

  /**
   * The engine removes what the program no longer declares without naming ids. A machine that did not run the stack last can't name them
   * either, nor does a targeted run name what a resource outside of its targets seems to replace: there, a step of the pipeline lists what
   * left the state.
   */
  #listRemoved(before: Deployment, known: ReadonlySet<string>, noted: readonly CreateRecord[]): void {
    const declared = this.#declaredUrns();
    for (const { resource, label, id } of heldIn(before)) {
      if (!declared.has(resource.urn) && resource.delete !== true && !known.has(`${label} ${id}`)) this.#noteSaid(id);
    }
    const isNoted = new Set(noted.map(({ key }) => aboutWhom(key).label));
    for (const { urn, label } of unresolvedIn(before)) {
      if (!declared.has(urn) && !isNoted.has(label)) this.#noteSaidOf(label);
    }
  }

  /** A warning must be true. */
  #expectTrue(warning: string, program: Program): void {
    const [, amount] = /have the same arguments: that makes (\d+) live objects/.exec(warning) ?? [];
    // Rows of a catalog are compared by their text.
    if (amount === undefined || warning.includes("/")) return;
    const own = [...program.values()].filter(({ name }) => !name.includes("/"));
    const objects = own.flatMap(({ type, platformName, value, advertiser, existingId, events }) =>
      type === "ConversionEventSet"
        ? Object.values(events ?? {}).map((entry) => [entry.existingId, entry.eventName, entry.value, advertiser])
        : [[existingId, platformName, value, advertiser]],
    );
    const fresh = objects.filter(([adopts]) => adopts === undefined);
    const groups = [...Map.groupBy(fresh, String).values()];
    if (!groups.some((those) => those.length === Number(amount))) throw new Violation(`untrue: ${warning}`);
  }

  /** What a run says about a set must be true. */
  #expectTrueReports(told: readonly string[], { deployment, errors }: Ended): void {
    const held = heldIn(deployment).filter(({ noun, resource }) => noun === "event" && resource.delete !== true);
    const isHeld = new Set(held.map(({ id }) => id));
    const expectAll = (ids: readonly string[], message: string, is: { live: boolean; held: boolean }) => {
      for (const id of ids) {
        if (this.platform.meddled.has(id) || this.mistaken.has(id)) continue;
        if (this.platform.isLive("event", id) !== is.live || isHeld.has(id) !== is.held)
          throw new Violation(`untrue of ${id}: ${message}`);
      }
    };
    for (const message of told) {
      const [, deleted] = /^Deleted on the platform, .*: \d+ events?, (.*)\.$/m.exec(message) ?? [];
      if (deleted !== undefined) expectAll(idsIn(deleted), message, { live: false, held: false });
      if (message.includes("No longer managed after this run")) {
        const left = [...message.matchAll(/^ {2}(\d+)[,:]/gm)].map(([, id = ""]) => id);
        expectAll(left, message, { live: true, held: false });
      }
      const [, taken] =
        /: an (?:interrupted|earlier) run had created .*; now taken over, [^:]*: (.*)$/m.exec(message) ?? [];
      const ids = [...(taken ?? "").matchAll(/ \((\d+)\)(?=,|$)/g)].map(([, id = ""]) => id);
      expectAll(ids, message, { live: true, held: true });
    }
    for (const [, label = "", inState, all] of errors
      .join("\n")
      .matchAll(/^(ConversionEventSet ".*"): (\d+) of (\d+) declared events? (?:is|are) in the state/gm)) {
      const set = [...this.declared.values()].find((each) => labelOf(each.type, each.name) === label);
      const keys = Object.keys(set?.events ?? {});
      const those = keys.filter((key) => held.some((each) => each.label === memberLabel(label, key)));
      if (those.length !== Number(inState) || keys.length !== Number(all))
        throw new Violation(`untrue: ${label}: ${inState} of ${all}, and it is ${those.length} of ${keys.length}`);
    }
  }

  #count(ended: Ended | undefined): void {
    this.counts.ups++;
    if (ended?.errors.length === 0) this.counts.clean++;
    else if (ended !== undefined) this.counts.failed++;
  }

  async destroy(
    machine: number,
    faults: readonly Fault[] = [],
    targets?: ReadonlySet<string>,
    kill?: Kill,
  ): Promise<void> {
    const before = this.backend;
    for (const { label } of this.openRecords()) this.#notedAlone.add(this.familyOf(label));
    const unresolved = this.unresolvedInState();
    const ended = await this.run(machine, (options) => destroy(before, { ...options, targets }), { faults, kill });
    this.counts.destroys++;
    // A step of the pipeline lists what left the state.
    for (const { id } of heldIn(before)) this.#noteSaid(id);
    for (const { label } of unresolved) this.#noteSaidOf(label);
    if (ended === undefined) return;
    this.#expectOwnDeletes(before, ended);
    if (ended.errors.length > 0) this.#noteGone();
  }

  async refresh(
    machine: number,
    faults: readonly Fault[] = [],
    targets?: ReadonlySet<string>,
    kill?: Kill,
  ): Promise<void> {
    const before = heldIn(this.backend);
    await this.run(machine, (options) => refresh(this.backend, { ...options, targets }), { faults, kill });
    this.counts.refreshes++;
    const after = new Set(heldIn(this.backend).map(({ noun, id }) => `${noun} ${id}`));
    for (const { noun, id, label } of before) {
      if (!after.has(`${noun} ${id}`)) this.foundGone.add(id);
      if (!after.has(`${noun} ${id}`) && this.platform.isLive(noun, id) && !this.#isUndated(noun, id, machine)) {
        throw new Violation(`a refresh let go of ${label}, ${noun} ${id}, which is live`);
      }
    }
  }

  /** Notes objects that a run deleted without saving it. A refresh finds them if a read is known. */
  #noteGone(): void {
    for (const { noun, id } of heldIn(this.backend)) if (!this.platform.isLive(noun, id)) this.platform.meddled.add(id);
  }

  /** Whether an object is new, was created without another known operation, and is in no note of this machine (docs/guarantees.md). */
  #isUndated(noun: Noun, id: string, machine: number): boolean {
    const made = this.platform.made.find((each) => each.noun === noun && each.id === id);
    if (made === undefined || made.isDated === true || made.atMs + 300_000 <= time.clock.wallMs()) return false;
    return made.machine !== machine || made.atMs < (this.#diskSince.get(machine) ?? 0);
  }

  /** @returns the exit code and what was printed. */
  async command(machine: number, ...args: string[]): Promise<{ code: number; output: string }> {
    return this.#command("pending", machine, args);
  }

  async commandDuring(machine: number, args: readonly string[], meanwhile: Meanwhile) {
    return this.#command("pending", machine, args, meanwhile);
  }

  /** Gives the platform another address, and runs `relocate` on each machine. @param before a run at the new address before that. */
  async relocate(kill?: Kill, before?: () => Promise<unknown>): Promise<void> {
    const former = this.#host;
    this.#host = former === "platform.example" ? "new.example" : "platform.example";
    await before?.();
    for (const machine of [0, 1]) {
      const args = [`${former} ops@example.com`];
      const first = await this.#command("relocate", machine, args, { kill });
      // A second call finishes it.
      const { output } = first.code === KILLED ? await this.#command("relocate", machine, args) : first;
      // Creates of an interrupted run have to be settled first.
      if (output.includes("Nothing was changed.")) this.#host = former;
      if (this.#host === former) return;
    }
  }

  async #command(name: keyof typeof COMMANDS, machine: number, args: readonly string[], meanwhile: Meanwhile = {}) {
    const printed: string[] = [];
    let looks = 0;
    let firstRequest: Promise<void> | undefined;
    const guard = this.#newProcess(machine, meanwhile.kill);
    this.#freeLocks(machine);
    let seen = this.backend;
    let claimed: string | undefined;
    const cli = {
      settings: this.settingsFor(machine),
      stack: this.#stack,
      exported: async () => {
        await turn();
        seen = this.backend;
        const text = JSON.stringify({ version: 3, deployment: seen });
        await turn();
        if (++looks === 2) await meanwhile.afterLastLook?.();
        return text;
      },
      setTag: async (value: string) => {
        await takesUpTo(200);
        if (!guard.isDead) this.#tag = { machine, value };
        claimed = value;
        return true;
      },
      tag: async () => {
        await takesUpTo(200);
        if (this.#tag?.machine === machine && this.#tag.value !== claimed)
          this.#wrong.push("two commands of one machine changed the stack at once");
        return this.#tag?.value;
      },
      imported: async (text: string) => {
        await takesUpTo(250);
        if (this.#updating > 0) throw new Error("the stack is currently locked");
        if (seen !== this.backend) {
          if (this.#imported === this.backend) this.#wrong.push("two commands changed the stack at once");
          // Only Pulumi's own lock keeps a run on another machine apart; it does so here.
          throw new Error("the stack is currently locked");
        }
        // Pulumi drops every pending operation when a stack is imported.
        const { pending_operations: _, ...deployment } = (JSON.parse(text) as { deployment: Deployment }).deployment;
        const urns = deployment.resources.filter((each) => each.delete !== true).map(({ urn }) => urn);
        const twice = urns.find((urn, index) => urns.indexOf(urn) !== index);
        if (twice !== undefined) throw new Error(`duplicate resource ${twice}`); // Pulumi does so too
        guard.meets("save");
        this.backend = deployment;
        this.#imported = deployment;
      },
    };
    let code = 2;
    this.#countProcess(machine, 1);
    try {
      const transport = (): Transport => {
        const { send, close } = this.platform.transport(guard);
        const later = async (request: HttpRequest) => {
          firstRequest ??= meanwhile.atFirstRequest?.();
          await firstRequest;
          return send(request);
        };
        return { send: later, close };
      };
      const run = () => COMMANDS[name].run([...args, "--cwd", this.folderOf(machine)]);
      code = (await Promise.race([inProcess({ process: guard, transport, cli, printed }, run), guard.death])) ?? KILLED;
    } catch (thrown) {
      printed.push((thrown as Error).message);
    } finally {
      this.#countProcess(machine, -1);
    }
    if (guard.isDead) {
      await turn(); // whatever was in flight fails
      this.counts.killedCommands++;
      code = KILLED;
    }
    const output = printed.join("\n");
    this.log.push(`  ${name} ${args.join(" ")} on ${machine}: ${code}`);
    this.say(output);
    return { code, output };
  }

  /** What `pending` lists as open, by URN. */
  async pending(machine: number): Promise<string[]> {
    const { output } = await this.command(machine);
    return [...output.matchAll(/^ {2}(urn:pulumi:.*)$/gm)].map(([, urn = ""]) => urn);
  }

  /** The object that a create listed by `pending` really made, if any: the last one of several, all of which a person sees. */
  truthAbout(urn: string): string | undefined {
    const seen = this.#inAccount(urn);
    for (const id of seen.slice(0, -1)) this.#noteSaid(id);
    return seen.at(-1);
  }

  #inAccount(urn: string): string[] {
    const { kind, label } = aboutUrn(urn);
    const noun = nounOf(kind);
    const held = new Set(heldIn(this.backend).map((each) => `${each.noun} ${each.id}`));
    return this.platform.made
      .filter(
        (each) => each.noun === noun && each.label !== undefined && this.familyOf(each.label) === this.familyOf(label),
      )
      .filter(
        (each) =>
          this.platform.isLive(noun, each.id) && !held.has(`${noun} ${each.id}`) && !this.#isExcused(noun, each.id),
      )
      .filter((each) => !this.#leftIn(this.backend).has(`${noun} ${each.id}`) && !this.#said.has(`${noun} ${each.id}`))
      .map(({ id }) => id);
  }

  #isExcused(noun: Noun, id: string): boolean {
    return this.#excused.has(`${noun} ${id}`);
  }

  /** A person looks in the account, and answers for all listed creates. */
  async answerTruly(machine: number, says: string[] = [], kill?: Kill): Promise<void> {
    const open = await this.pending(machine);
    if (open.length === 0 || (await this.answer(machine, open, says, { kill }))) this.killedOn = undefined;
  }

  /** @returns whether these answers counted. */
  async answer(
    machine: number,
    urns: readonly string[],
    says: string[] = [],
    meanwhile: Meanwhile = {},
  ): Promise<boolean> {
    if (urns.length === 0) return true;
    const args = urns.flatMap((urn) => {
      const id = this.truthAbout(urn);
      return id === undefined ? ["--not-created", urn] : ["--created", `${urn}=${id}`];
    });
    this.counts.answers += urns.length;
    const { code, output } = await this.commandDuring(machine, args, meanwhile);
    if (code === KILLED) return false;
    if (code === 2) {
      this.counts.refused++;
      says.push(output);
      return false;
    }
    this.expectKept(machine, args);
    return true;
  }

  /** A wrong answer is taken back, if that is still possible. */
  async reopen(pick: number, kill?: Kill): Promise<void> {
    const found = this.wrongAnswers[Math.floor(pick * this.wrongAnswers.length)];
    if (found === undefined) return;
    const { urn, machine, denied, noun, other } = found;
    const isAtOnce = found === this.wrongAnswers.at(-1) && found.at === time.clock.wallMs();
    const { code, output } = await this.commandDuring(machine, ["--reopen", urn], { kill });
    if (code === KILLED) return;
    if (code === 2) {
      if (isAtOnce) throw new Violation(`an answer was not taken back before the next up: ${output}`);
      return;
    }
    this.counts.reopened++;
    this.wrongAnswers.splice(this.wrongAnswers.indexOf(found), 1);
    if (denied !== undefined) this.blame(noun, denied);
    if (other !== undefined) this.mistaken.delete(other);
    if (!(await this.pending(machine)).includes(urn)) throw new Violation(`reopened, and not listed: ${urn}`);
  }

  /** `pulumi state delete` of a resource on which none depends. */
  deleteFromState(urn: string): void {
    this.log.push(`  pulumi state delete ${urn}`);
    this.backend = { ...this.backend, resources: this.backend.resources.filter((each) => each.urn !== urn) };
  }

  /** Whether the state's resource has an object that is live. */
  isLive(urn: string): boolean {
    return heldIn(this.backend).some(
      ({ resource, noun, id }) => resource.urn === urn && this.platform.isLive(noun, id),
    );
  }

  /** Goes back to a program that ran before. */
  checkOut(pick: number): void {
    const found = this.#sent[Math.floor(pick * this.#sent.length)];
    if (found !== undefined) this.source = found;
    this.log.push(`  program: ${JSON.stringify([...this.program.values(), ...this.catalogs.values()])}`);
  }

  /** Expects the answers in the state, or on the disk of the machine where they were given. */
  expectKept(machine: number, args: readonly string[]): void {
    for (const arg of args) {
      const [, urn, id] = /^(.*)=(\d+)$/.exec(arg) ?? [];
      if (urn === undefined || id === undefined) continue;
      const { label } = aboutUrn(urn);
      const isHeld = heldIn(this.backend).some((each) => each.label === label && each.id === id);
      if (!isHeld && this.notedAs(machine, id) === undefined)
        throw new Violation(`settled as created with id ${id}, and nothing has it: ${urn}`);
    }
  }

  /** The objects that the state lists as left live, by their kind and id. */
  #leftIn({ resources }: Deployment): Set<string> {
    return new Set(
      resources.flatMap(({ urn, outputs }) =>
        ((outputs.__left ?? []) as { id: string }[]).map(({ id }) => `${nounOf(aboutUrn(urn).kind)} ${id}`),
      ),
    );
  }

  /** All recorded creates that are unresolved, or created and not yet in the state. */
  openRecords(): { readonly label: string; readonly id?: string | undefined; readonly ofSet: boolean }[] {
    const inState = this.unresolvedInState();
    const inFlight = (this.backend.pending_operations ?? [])
      .filter(({ type, resource }) => type !== "deleting" && !this.#isHistory(resource))
      .map(({ resource: { urn, type } }) => ({
        label: aboutUrn(urn).label,
        ofSet: type.endsWith(":ConversionEventSet"),
      }));
    return [...inState, ...inFlight, ...this.#noted(0), ...this.#noted(1)];
  }

  /** Whether the state already has a create that the engine still lists as pending. */
  #isHistory({ urn, type, inputs }: Pick<Saved, "urn" | "type" | "inputs">): boolean {
    const plain = (values: object) =>
      JSON.stringify(Object.entries(values).filter(([name]) => !name.startsWith("__") && name !== "existingId"));
    const held = this.backend.resources.find((each) => each.urn === urn && each.delete !== true);
    if (held === undefined || type.endsWith(":ConversionEventSet")) return false;
    return isPlatformId(held.id) && plain(held.inputs) === plain(inputs);
  }

  #noted(machine: number): { readonly label: string; readonly id?: string | undefined; readonly ofSet: boolean }[] {
    return this.#notes(machine).map(({ key, id }) => ({ label: aboutWhom(key).label, id, ofSet: false }));
  }

  /** The objects that interrupted runs noted as created. */
  notedIds(): { readonly noun: Noun; readonly id: string }[] {
    return [0, 1].flatMap((machine) =>
      this.#notes(machine).flatMap(({ key, id }) =>
        id === undefined ? [] : [{ noun: nounOf(aboutWhom(key).kind), id }],
      ),
    );
  }

  /** The labels of creates that may have been carried out. */
  openLabels(): ReadonlySet<string> {
    return new Set(this.openRecords().flatMap(({ label, id }) => (id === undefined ? [label] : [])));
  }

  /** The ids of objects that creates at other URNs made, if notes or people know them. */
  madeForOthers(machine: number, urn: string, open: readonly string[]): string[] {
    const noun = nounOf(aboutUrn(urn).kind);
    const noted = this.#notes(machine).flatMap(({ key, id }) => {
      const about = aboutWhom(key);
      return id === undefined || about.urn === urn || nounOf(about.kind) !== noun ? [] : [id];
    });
    const ofOpen = open.flatMap((other) =>
      other === urn || nounOf(aboutUrn(other).kind) !== noun ? [] : (this.truthAbout(other) ?? []),
    );
    return [...noted, ...ofOpen];
  }

  /** The keys of the resources in the state that the program does not declare. */
  undeclaredKeys(): string[] {
    const declared = this.#declaredUrns();
    const gone = this.backend.resources.filter((each) => each.delete !== true && !declared.has(each.urn));
    return gone.map(({ urn }) => `${aboutUrn(urn).kind} ${nameInUrn(urn)}`);
  }

  /** The key of the last declared resource that is not in the state and depends only on resources that are. */
  newest(): string | undefined {
    const inState = new Set(this.backend.resources.map(({ urn }) => urn));
    const open = this.openLabels();
    return [...this.program].findLast(([, { type, name, advertiser: owner = "" }]) => {
      const owners = isPlatformId(owner) ? [] : [urnOfResource({ type: "Advertiser", name: owner })];
      const isNew = type === "ConversionEvent" && !inState.has(urnOfResource({ type, name }));
      return isNew && !open.has(labelOf(type, name)) && owners.every((each) => inState.has(each));
    })?.[0];
  }

  #notes(machine: number): CreateRecord[] {
    return recordsIn(this.#journalOf(machine));
  }

  /** The labels of what the program declares. @param created without what it adopts. */
  #labels(created = false): Set<string> {
    const isMeant = ({ existingId }: { readonly existingId?: string | undefined }) =>
      !created || existingId === undefined;
    return new Set(
      [...this.declared.values()].flatMap((resource) => {
        const { type, name, events = {} } = resource;
        const label = labelOf(type, name);
        const members = Object.entries(events).filter(([, entry]) => isMeant(entry));
        return [...(isMeant(resource) ? [label] : []), ...members.map(([key]) => memberLabel(label, key))];
      }),
    );
  }

  unresolvedInState(): { readonly label: string; readonly ofSet: boolean }[] {
    return unresolvedIn(this.backend).map(({ label }) => ({ label, ofSet: false }));
  }

  /** The URN under which a machine's journal has an object. */
  notedAs(machine: number, id: string): string | undefined {
    const record = this.#notes(machine).find((each) => each.id === id);
    return record === undefined ? undefined : aboutWhom(record.key).urn;
  }

  /** The journal that a run on this machine uses, which is not one under a former address. */
  #journalOf(machine: number): string {
    return pathsIn(placesFor(this.#settingsOf(machine), this.folderOf(machine)).journalFolder, this.#stack).journal;
  }

  #settingsOf(machine: number): Settings {
    return readSettings({
      config: (key) => this.settingsFor(machine)[key],
      environment: {},
      mayLackPassword: true,
    }).settings;
  }

  /** Checks what must be true after each step. */
  check(): void {
    if (this.#wrong.length > 0) throw new Violation(this.#wrong.join("; "));
    const held = heldIn(this.backend);
    // Resources that are no longer declared leave the state in the next successful run.
    const declared = this.#labels();
    const byObject = Map.groupBy(
      held.filter(({ resource, label }) => resource.delete !== true && declared.has(label)),
      ({ noun, id }) => `${noun} ${id}`,
    );
    for (const [object, those] of byObject) {
      // The run that was to remove it from its former resource failed or was killed (docs/guarantees.md).
      const isHandedOn = !this.#isClean && this.adopted.has(those[0]?.id ?? "");
      if (those.length > 1 && !isHandedOn)
        throw new Violation(`${object} is held by ${those.map(({ label }) => label).join(" and ")}`);
    }
    for (const { noun, id, resource } of held) if (resource.delete !== true) this.#said.delete(`${noun} ${id}`);
    const isHeld = new Set(held.map(({ noun, id }) => `${noun} ${id}`));
    const left = this.#leftIn(this.backend);
    const records = this.openRecords();
    const noted = new Set(records.flatMap(({ id }) => id ?? []));
    const named = this.#namedIds();
    // After a wrong answer that was not taken back, nothing is certain about the create.
    const misled = new Set(this.wrongAnswers.map(({ urn }) => this.familyOf(aboutUrn(urn).label)));
    const orphans = this.platform.made.filter(
      ({ noun, id, label }) =>
        label !== undefined &&
        !misled.has(this.familyOf(label)) &&
        this.platform.isLive(noun, id) &&
        !isHeld.has(`${noun} ${id}`) &&
        !left.has(`${noun} ${id}`) &&
        !noted.has(id) &&
        !named.has(`${noun} ${id}`) &&
        !this.#said.has(`${noun} ${id}`) &&
        !this.#isExcused(noun, id),
    );
    for (const [family, those] of Map.groupBy(orphans, ({ label = "" }) => this.familyOf(label))) {
      const about = records.filter(
        ({ label, id, ofSet }) =>
          id === undefined &&
          (ofSet ? those.some((each) => each.label?.endsWith(` of ${label}`)) : this.familyOf(label) === family),
      );
      if (those.length > about.length) {
        const ids = those.map(({ noun, id }) => `${noun} ${id}`).join(", ");
        throw new Violation(
          `${family} made ${ids}: live, nothing manages it, nothing says so (${about.length} open records)`,
        );
      }
    }
  }

  /** An object that a run deleted must not be in the state afterwards, and must not have been retained. */
  #expectOwnDeletes(before: Deployment, { errors, deployment }: Ended): void {
    // Objects that an earlier run deleted without saving it do not count.
    const deleted = new Set([...this.platform.deleted].filter((object) => !this.#deletedBefore.has(object)));
    if (deleted.size === 0) return;
    const had = new Map(heldIn(before).map((each) => [`${each.noun} ${each.id}`, each]));
    for (const object of deleted) {
      const was = had.get(object);
      if (was === undefined) continue;
      const declared = [...this.declared.values()].find((each) =>
        [each.name, ...(each.aliases ?? [])].some((name) => urnOfResource({ ...each, name }) === was.resource.urn),
      );
      if (was.resource.retainOnDelete === true && declared?.deletes !== true && was.resource.inputs.__delete !== true) {
        throw new Violation(`${object} of ${was.label} was deleted, and is retained`);
      }
    }
    if (errors.length === 0) {
      for (const each of heldIn(deployment)) {
        const isUnseen = this.platform.meddled.has(each.id) && this.operations.read !== true;
        if (deleted.has(`${each.noun} ${each.id}`) && each.resource.delete !== true && !isUnseen) {
          throw new Violation(`${each.noun} ${each.id} was deleted, and ${each.label} holds it`);
        }
      }
    }
  }

  /** An `up` deletes nothing that its program adopts. */
  #expectAdoptedKept(): void {
    for (const { type, existingId, events = {} } of this.declared.values()) {
      for (const id of [existingId, ...Object.values(events).map((entry) => entry.existingId)]) {
        const object = `${nounOf(type)} ${id}`;
        if (this.platform.deleted.has(object) && !this.#deletedBefore.has(object))
          throw new Violation(`${object} was deleted, and the program adopts it`);
      }
    }
  }

  /** An object that an `up` puts into the state is live, if a read can find that out and its absence proves something. */
  #expectLive(before: Deployment): void {
    if (this.operations.read !== true) return;
    const had = new Set(heldIn(before).map(({ noun, id }) => `${noun} ${id}`));
    for (const { noun, id, label, resource } of heldIn(this.backend)) {
      if (had.has(`${noun} ${id}`) || resource.delete === true || this.platform.isLive(noun, id)) continue;
      const made = this.platform.made.find((each) => each.noun === noun && each.id === id);
      if (made !== undefined && made.atMs + 600_000 <= time.clock.wallMs() && !this.mistaken.has(id))
        throw new Violation(`${label} has ${noun} ${id} since this up, which was deleted before`);
    }
  }

  /** A run of this machine that goes through does not go on with what a run of this machine deleted, unless the program names it. */
  #expectNotDeletedHere(machine: number): void {
    const since = this.#diskSince.get(machine) ?? 0;
    for (const { noun, id, label, resource } of heldIn(this.backend)) {
      const by = this.platform.deletedBy.get(`${noun} ${id}`);
      if (by?.machine !== machine || by.atMs < since || resource.delete === true) continue;
      if (!this.platform.isLive(noun, id) && !this.adopted.has(id) && !this.mistaken.has(id))
        throw new Violation(`${label} has ${noun} ${id}, which a run of this machine deleted`);
    }
  }

  /** The URNs of what is declared, former ones included. */
  #declaredUrns(): Set<string> {
    return new Set(
      [...this.declared.values()].flatMap((each) =>
        [each.name, ...(each.aliases ?? [])].map((name) => urnOfResource({ ...each, name })),
      ),
    );
  }

  /** The objects that the program names, which its next run adopts, by noun and id. */
  #namedIds(): Set<string> {
    const idsOf = ({ type, existingId, events = {} }: Resource) => [
      `${nounOf(type)} ${existingId}`,
      ...Object.values(events).map((entry) => `event ${entry.existingId}`),
    ];
    return new Set([...this.declared.values()].flatMap(idsOf));
  }

  /** Whether a declared resource adopts an object that does not exist. */
  adoptsNothing(): boolean {
    return [...this.declared.values()].some(({ type, existingId, events = {} }) =>
      [existingId, ...Object.values(events).map((entry) => entry.existingId)].some(
        (id) => id !== undefined && !this.platform.isLive(nounOf(type), id),
      ),
    );
  }

  /** Whether a declared resource adopts an object that another declared one has, which a preview shows. */
  adoptsHeld(): boolean {
    const urns = this.#declaredUrns();
    const held = heldIn(this.backend).filter(({ resource }) => urns.has(resource.urn));
    const isHeld = (id: string | undefined, label: string, noun: Noun = "event") =>
      id !== undefined && held.some((each) => each.noun === noun && each.id === id && each.label !== label);
    return [...this.declared.values()].some(({ type, name, existingId, events = {} }) => {
      const label = labelOf(type, name);
      return (
        isHeld(existingId, label, nounOf(type)) ||
        Object.entries(events).some(([key, entry]) => isHeld(entry.existingId, memberLabel(label, key)))
      );
    });
  }

  /** Corrects what the messages say is wrong with the program. @returns whether something was. */
  correct(said: readonly string[]): boolean {
    const before = this.#asText();
    this.#correct(said);
    return this.#asText() !== before;
  }

  #asText(): string {
    return JSON.stringify([[...this.program], [...this.catalogs]]);
  }

  #correct(said: readonly string[]): void {
    const differing = new Set([...said.join("\n").matchAll(/existingId (\d+) differs/g)].map(([, id]) => id));
    const held = heldIn(this.backend).filter(({ resource }) => resource.delete !== true);
    const urns = this.#declaredUrns();
    const isWrong = (id: string | undefined, label: string, noun: Noun) =>
      id !== undefined &&
      (differing.has(id) ||
        !this.platform.isLive(noun, id) ||
        held.some(
          (each) => each.noun === noun && each.id === id && each.label !== label && urns.has(each.resource.urn),
        ));
    const program = new Map(this.program);
    const isProtected = said.some((text) => /(it|which) is protected$/.test(text));
    /** Whether another resource has the same object in the state, so that this one is to be removed. */
    const isExtra = (label: string) =>
      said.some((text) => text.startsWith(`${label} and `) && text.includes(" in the state: one object can't be two"));
    if (isProtected) this.#unprotect();
    const doubtful = said.join("\n").matchAll(/has sent a delete of ([\d–, ]+), which may/g);
    const looked = new Set([...doubtful].flatMap(([, ids = ""]) => idsIn(ids)));
    const heldBy = (label: string) => held.find((each) => each.label === label && looked.has(each.id));
    const adopted = new Set<string>();
    const without = (id: string | undefined, label: string, noun: Noun = "event") => {
      const isTwice = id !== undefined && adopted.has(`${noun} ${id}`);
      if (id !== undefined) adopted.add(`${noun} ${id}`);
      return isTwice || isWrong(id, label, noun) ? undefined : id;
    };
    for (const [key, resource] of program) {
      const { type, name, existingId, events } = resource;
      const label = labelOf(type, name);
      if (isExtra(label)) {
        program.delete(key);
        continue;
      }
      const entries = Object.entries(events ?? {}).flatMap(([member, entry]) => {
        const own = memberLabel(label, member);
        const doubted = heldBy(own);
        if (isExtra(own) || (doubted !== undefined && !this.platform.isLive("event", doubted.id))) return [];
        return [[member, { ...entry, existingId: doubted?.id ?? without(entry.existingId, own) }]];
      });
      program.set(key, {
        ...resource,
        existingId: this.#seenLive(heldBy(label)) ?? without(existingId, label, nounOf(type)),
        ...(events === undefined ? {} : { events: Object.fromEntries(entries) }),
        deletes: resource.deletes === true && this.operations.delete === true,
        protect: resource.protect === true && !isProtected,
      });
    }
    this.program = program;
    this.catalogs = new Map(
      [...this.catalogs].flatMap(([name, catalog]) => {
        const rows = catalog.rows.flatMap((row) => {
          const place = [name, row.advertiser].join("/");
          const label = catalog.sets
            ? memberLabel(labelOf("ConversionEventSet", place), row.key)
            : labelOf("ConversionEvent", [place, row.key].join("/"));
          const doubted = heldBy(label);
          if (isExtra(label) || (catalog.sets && doubted !== undefined && this.#seenLive(doubted) === undefined))
            return [];
          return { ...row, existingId: this.#seenLive(doubted) ?? without(row.existingId, label) };
        });
        // Without rows a catalog is refused.
        return rows.length === 0 ? [] : [[name, { ...catalog, rows }] as const];
      }),
    );
  }

  /** Its id, if people see it in the account. */
  #seenLive(held: { readonly noun: Noun; readonly id: string } | undefined): string | undefined {
    return held !== undefined && this.platform.isLive(held.noun, held.id) ? held.id : undefined;
  }

  /** `pulumi state unprotect` of what is no longer declared. */
  #unprotect(): void {
    const urns = new Set([...this.declared.values()].map((each) => urnOfResource(each)));
    const resources = this.backend.resources.map((each) => (urns.has(each.urn) ? each : { ...each, protect: false }));
    this.backend = { ...this.backend, resources };
  }

  /** The program of the last run that may have sent something; at the next call, of the one before. */
  goBack(): Source {
    return this.#sent.pop() ?? this.source;
  }

  /** The situation before a run, for {@link expectAsCommented}. */
  standing() {
    const held = new Map<string, number>();
    for (const { noun, id } of heldIn(this.backend)) held.set(`${noun} ${id}`, (held.get(`${noun} ${id}`) ?? 0) + 1);
    const { posts, asked } = this.platform;
    return { held, posts, asked: new Set(asked) };
  }

  /** The run after a preview must do what the comment on that preview said. */
  expectAsCommented(shown: Ended, before: ReturnType<World["standing"]>): void {
    const { operations, markField } = this.settingsFor(0);
    const config = {
      ...(operations === undefined ? {} : { "advertising:operations": operations }),
      ...(markField === undefined ? {} : { "advertising:markField": markField }),
    };
    this.counts.commented++;
    const { changes } = readPreview(JSON.stringify({ config, steps: shown.steps, diagnostics: [] }));
    const after = this.standing();
    const announced = changes.flatMap(({ kind, former, action }) =>
      former === undefined
        ? []
        : [{ object: `${nounOf(kind.name)} ${former.id}`, ...former, isPerhaps: action === "perhaps replace" }],
    );
    const gone = [...before.held.keys()].filter((object) => !after.held.has(object));
    for (const object of gone) {
      if (!announced.some((each) => each.object === object))
        throw new Violation(`the comment did not say that ${object} leaves the state`);
    }
    for (const { object, isPerhaps } of announced) {
      if (!isPerhaps && after.held.has(object)) throw new Violation(`the comment said that ${object} leaves the state`);
    }
    for (const object of after.asked) {
      if (!before.asked.has(object) && !announced.some((each) => each.object === object && each.isDeleted))
        throw new Violation(`the comment did not say that ${object} is deleted`);
    }
    const sends = ["create", "replace", "perhaps replace", "look for"];
    const most = changes.filter(({ action }) => sends.includes(action)).length;
    if (after.posts - before.posts > most)
      throw new Violation(`the comment said ${most} creates, and ${after.posts - before.posts} were sent`);
  }

  /** What is declared but missing in the state or on the platform, in words. */
  lacking(): string[] {
    const held = heldIn(this.backend);
    const faults: string[] = [];
    const isAt = (noun: Noun, label: string) =>
      held.filter((each) => each.noun === noun && each.label === label && each.resource.delete !== true);
    const expectOne = (noun: Noun, label: string, fields: Record<string, unknown> | undefined) => {
      const [only, ...more] = isAt(noun, label);
      if (only !== undefined && this.mistaken.has(only.id)) return undefined;
      const object = only === undefined ? undefined : this.platform.objectsOf(noun).get(Number(only.id));
      if (only === undefined || more.length > 0)
        return void faults.push(`${label}: held ${more.length + (only ? 1 : 0)} times`);
      const isElsewhere = this.platform.meddled.has(only.id) || this.adopted.has(only.id);
      if (object === undefined && isElsewhere && !this.operations.read) return undefined;
      if (object === undefined) return void faults.push(`${label}: ${only.id} is not live`);
      if (this.platform.meddled.has(only.id) && !(this.operations.read && this.operations.update)) return undefined;
      if (this.adopted.has(only.id) || this.settled.has(only.id)) return undefined;
      for (const [name, value] of Object.entries(fields ?? {})) {
        if (object[name] !== value)
          faults.push(`${label}: ${only.id} has ${name} ${String(object[name])} instead of ${String(value)}`);
      }
      return undefined;
    };
    const idOf = (name = "") =>
      Number(isPlatformId(name) ? name : isAt("advertiser", labelOf("Advertiser", name))[0]?.id);
    for (const resource of this.program.values()) {
      const { type, name, platformName, value, existingId, events = {} } = resource;
      const label = labelOf(type, name);
      if (type === "Advertiser")
        expectOne("advertiser", label, existingId === undefined ? { advertiser_name: platformName } : undefined);
      const advertiser_id = idOf(resource.advertiser);
      if (type === "ConversionEvent") {
        expectOne(
          "event",
          label,
          existingId === undefined ? { event_name: platformName, value, advertiser_id } : undefined,
        );
      }
      for (const [key, entry] of Object.entries(events)) {
        const fields = { event_name: entry.eventName, value: entry.value, advertiser_id };
        expectOne("event", memberLabel(label, key), entry.existingId === undefined ? fields : undefined);
      }
    }
    const declared = [...this.declared.values()].map((each) => urnOfResource(each));
    for (const { urn } of this.backend.resources) if (!declared.includes(urn)) faults.push(`${urn} is not declared`);
    return faults;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const takesUpTo = (ms: number) => time.clock.sleep(Math.random() * ms);

/** @param text ids and ranges of ids, separated by commas. */
function idsIn(text: string): string[] {
  return text.split(", ").flatMap((range) => {
    const [first = "", last = first] = range.split("–");
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, more) => String(Number(first) + more));
  });
}

function nounOf(kind: string): Noun {
  return kind === "Advertiser" ? "advertiser" : "event";
}

/** The kind and label of the resource or member at a URN. */
function aboutUrn(urn: string) {
  const { of, key } = splitMember(urn);
  const type = of.split("::")[2]?.split(":").at(-1) ?? "";
  const isSet = type === "ConversionEventSet";
  const whole = labelOf(type, isSet ? nameInUrn(of) : nameInUrn(urn));
  return { kind: type, label: isSet && key !== undefined ? memberLabel(whole, key) : whole };
}

/** Every unresolved create in a state, with the URN of its resource. */
function unresolvedIn({ resources }: Deployment): { readonly urn: string; readonly label: string }[] {
  return resources.flatMap(({ urn, type, id, outputs }) => {
    if (!type.endsWith(":ConversionEventSet")) return isPlatformId(id) ? [] : [{ urn, label: aboutUrn(urn).label }];
    const keys = [...readStoredSet(outputs).unresolved.keys()];
    return keys.map((key) => ({ urn, label: aboutUrn(memberOf(urn, key)).label }));
  });
}

/** Every object in a state. */
export function heldIn({ resources }: Deployment): Held[] {
  return resources.flatMap((resource): Held[] => {
    const { urn, type, id, outputs } = resource;
    const { label } = aboutUrn(urn);
    if (type.endsWith(":ConversionEventSet")) {
      return [...readStoredSet(outputs).eventIds].map(([key, held]) => ({
        noun: "event",
        id: held,
        label: memberLabel(label, key),
        resource,
      }));
    }
    const noun = type.endsWith(":Advertiser") ? "advertiser" : "event";
    return isPlatformId(id) && id !== undefined ? [{ noun, id, label, resource }] : [];
  });
}
