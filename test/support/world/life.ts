/**
 * Random lives of a stack: a changing program, runs that fail and are killed, disks that are lost, other clients, and people who answer. A
 * life is data, so that it replays exactly, and can be played with steps left out.
 */
import { seededRandom } from "../random.js";
import { type EditText, runEdit } from "./edits.js";
import type { Break, Dressing, Fault } from "./platform.js";
import { type Draws, lastSceneOf, resentSceneOf, sceneOf } from "./scenes.js";
import { beginTime, time } from "./time.js";
import { type Config, type Kill, Violation, World } from "./world.js";

export type Step =
  | { readonly do: "edit"; readonly edits: readonly EditText[] }
  | {
      readonly do: "up";
      readonly machine: number;
      readonly preview: boolean;
      readonly concurrent: boolean;
      readonly asksAgain?: boolean;
      readonly faults: readonly Fault[];
      readonly kill?: Kill;
      readonly target?: number;
      /** The target is a resource that the program no longer declares. */
      readonly removes?: boolean;
      /** All are targets but this one. */
      readonly allBut?: boolean;
      /** The program fails half way. */
      readonly isBroken?: boolean;
      /** How `pending` is used before it, if an interrupted run's notes are elsewhere. */
      readonly asks?: "search" | undefined;
    }
  | {
      readonly do: "refresh" | "destroy";
      readonly machine: number;
      readonly faults: readonly Fault[];
      readonly target?: number;
      readonly allBut?: boolean;
      readonly kill?: Kill;
    }
  | {
      readonly do: "answer";
      readonly machine: number;
      /**
       * `both`: two people at once. `while up`: a search and a run at once. `of another`: with the id of another create's object.
       * `beside up`: a run elsewhere begins and ends during a search. `within`: a second answer comes before the first one's import.
       */
      readonly how: "truly" | "wrongly" | "search" | "both" | "while up" | "of another" | "beside up" | "within";
      readonly pick: number;
      /** For a true answer and for a search. */
      readonly kill?: Kill;
    }
  /** A wrong answer is taken back. */
  | { readonly do: "reopen"; readonly pick: number; readonly kill?: Kill }
  /** Somebody goes on with an older state of the repository. */
  | { readonly do: "check out"; readonly pick: number }
  /** `runs`: somebody already creates something new at the new address. */
  | { readonly do: "relocate"; readonly runs?: Step & { readonly do: "up" }; readonly kill?: Kill }
  /** From now on the platform's searches find later what was made, and the users' settings wait no longer. */
  | { readonly do: "lag"; readonly seconds: number }
  | { readonly do: "lose"; readonly machine: number }
  | { readonly do: "meddle"; readonly pick: number; readonly deletes: boolean }
  | { readonly do: "operations"; readonly name: string; readonly on: boolean }
  | { readonly do: "wait"; readonly seconds: number };

export interface Life {
  readonly config: Config;
  readonly steps: readonly Step[];
}

const OPERATIONS = ["read", "update", "delete", "search"];
const CREATE_BREAKS: Break[] = [
  "lost",
  "lost undone",
  "500",
  "500 undone",
  "refused",
  "html",
  "202",
  "limited",
  "limited long",
  "lost unsent",
  "no",
  "202 undone",
];
const OTHER_BREAKS: Break[] = [
  "lost",
  "lost undone",
  "lost unsent",
  "500",
  "500 undone",
  "refused",
  "odd",
  "odd",
  "no",
  "207 undone",
  "in use",
  "empty no",
  "another",
  "retired",
  "not allowed",
  "pixel",
  "no path",
];

/** The operations of an `up`. */
const OF_AN_UP: Fault["on"][] = ["advertiser", "event", "event", "event", "read", "update", "delete", "search"];

const ANSWERS = ["truly", "wrongly", "wrongly", "search", "both", "while up"] as const;

export function randomLife(seed: number): Life {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const chance = (of: number) => random() < of;
  const isRich = chance(0.8);
  const dressing: Dressing = {
    gone: pick(["404", "410", "could-not-load"]),
    dress: pick(["plain", "strings"]),
    searchLagSeconds: pick([0, 0, 3, 40]),
    readLagSeconds: pick([0, 0, 5, 60]),
    isTight: chance(0.4),
  };
  const names = [...OPERATIONS, "mark"];
  const operations = Object.fromEntries(names.map((name) => [name, isRich && (name === "mark" || chance(0.7))]));
  const config: Config = { seed, dressing, operations, checkpoints: chance(0.8) };

  const fault = (of: readonly Fault["on"][]): Fault => {
    const on = pick(of);
    const isCreate = on === "advertiser" || on === "event";
    return { on, after: below(3), with: pick(isCreate ? CREATE_BREAKS : OTHER_BREAKS) };
  };
  const faults = (...of: Fault["on"][]) =>
    Array.from({ length: chance(0.45) ? 1 + below(2) : 0 }, () => fault(of.length === 0 ? OF_AN_UP : of));
  const kill = (): Kill => ({ at: pick(["before", "after", "after", "save"]), nth: 1 + below(5) });
  const edits = () => Array.from({ length: 1 + below(3) }, () => Array.from({ length: 6 }, random));
  const step = (): Step => {
    const machine = below(2);
    const one = random();
    if (one < 0.5) {
      return {
        do: "up",
        machine,
        preview: chance(0.3),
        concurrent: chance(0.4),
        ...(chance(0.1) ? { asksAgain: true } : {}),
        faults: faults(),
        ...(chance(0.35) ? { kill: kill() } : {}),
        ...(chance(0.07) ? { target: random() } : {}),
        ...(chance(0.3) ? { asks: "search" } : {}),
      };
    }
    if (one < 0.7) return { do: "edit", edits: edits() };
    const target = () => (chance(0.3) ? { target: random() } : {});
    if (one < 0.76) return { do: "refresh", machine, faults: faults("read"), ...target() };
    if (one < 0.78) return { do: "destroy", machine, faults: faults("delete"), ...target() };
    if (one < 0.86) return { do: "answer", machine, how: pick(ANSWERS), pick: random() };
    if (one < 0.87) return { do: "reopen", pick: random() };
    if (one < 0.88) return { do: "check out", pick: random() };
    if (one < 0.91) return { do: "lose", machine };
    if (one < 0.94) return { do: "meddle", pick: random(), deletes: chance(0.5) };
    if (one < 0.97) return { do: "operations", name: pick(OPERATIONS), on: chance(0.6) };
    if (one < 0.98) return { do: "relocate" };
    return { do: "wait", seconds: below(900) };
  };
  const beginning = { do: "edit", edits: Array.from({ length: 4 }, () => Array.from({ length: 6 }, random)) } as const;
  /** A runner is killed twice and then thrown away, and `pending` is used on the next one. */
  const storm = (): Step[] => {
    const machine = below(2);
    const killed = (): Step[] => [
      { do: "edit", edits: edits() },
      { do: "up", machine, preview: false, concurrent: chance(0.4), faults: faults(), kill: kill() },
    ];
    const next: Step = chance(0.5)
      ? { do: "answer", machine: 1 - machine, how: "search", pick: 0 }
      : { do: "up", machine: 1 - machine, preview: false, concurrent: false, asks: "search", faults: [] };
    return [...killed(), ...(chance(0.7) ? killed() : []), { do: "lose", machine }, next];
  };
  const some = () => Array.from({ length: 2 + below(6) }, step);
  const lived = [beginning, ...some(), ...(chance(0.25) ? storm() : []), ...some()];
  // Drawn last, so that the same seed still gives the same steps before it.
  const machine = config.checkpoints ? below(2) : 0;
  const draws = { machine, checkpoints: config.checkpoints, random, below, chance, pick };
  const steps = [...lived, ...(chance(0.7) ? sceneOf(draws) : [])];
  const killed = steps.map((each) => killedAnywhere(each, draws));
  const isWhole = (each: Step) => each.do !== "up" || each.kill !== undefined || each.target !== undefined;
  const all = killed.map((each) => (isWhole(each) || !chance(0.06) ? each : { ...each, isBroken: true }));
  const whole = [...all, ...(chance(0.1) ? lastSceneOf(draws) : [])];
  const isTargeted = (each: Step) => "target" in each && each.target !== undefined && !("removes" in each);
  const targeted = whole.map((each) => (isTargeted(each) && chance(0.5) ? { ...each, allBut: true } : each));
  // Drawn last of all, for the same reason.
  return { config, steps: [...targeted, ...(chance(0.15) ? resentSceneOf(draws) : [])] };
}

/** Kills the step at any change of a file. */
function killedAnywhere(step: Step, { below, chance, pick }: Draws): Step {
  const nth = () => 1 + Math.floor(2 ** (below(40) / 8));
  switch (step.do) {
    case "up": {
      const isKilled = chance(step.kill === undefined ? 0.06 : 0.3);
      return isKilled ? { ...step, kill: { at: pick(["write", "written"]), nth: nth() } } : step;
    }
    case "refresh":
    case "destroy":
      return chance(0.2) ? { ...step, kill: { at: pick(["before", "after", "written"]), nth: nth() } } : step;
    case "answer":
    case "reopen":
    case "relocate": {
      if (step.do === "answer" && step.how !== "truly" && step.how !== "search") return step;
      const at = pick(["write", "written", "written", "save", "before", "after"] as const);
      return chance(0.5) ? { ...step, kill: { at, nth: at === "save" ? 1 : nth() } } : step;
    }
    default:
      return step;
  }
}

export interface Played {
  readonly world: World;
  /** How many `up`s it took at the end. */
  readonly ups: number;
}

/** @param end runs after the steps, and returns the number of `up`s. @throws Violation */
export async function play(
  { config, steps }: Life,
  told: (world: World) => void = () => undefined,
  end: (world: World) => Promise<number> = settleDown,
): Promise<Played> {
  beginTime(config.seed);
  const world = new World(config);
  told(world);
  try {
    for (const step of steps) {
      world.log.push(JSON.stringify(step));
      await playStep(world, step);
      world.check();
      time.clock.advance(5_000);
    }
    return { world, ups: await end(world) };
  } finally {
    world.end();
  }
}

async function playStep(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case "edit":
      for (const edit of step.edits) runEdit(world, edit);
      return;
    case "up":
      return upStep(world, step);
    case "refresh":
      await beforeRun(world, step.machine);
      return world.refresh(machineFor(world, step.machine), step.faults, targetsOf(world, step), step.kill);
    case "destroy":
      await beforeRun(world, step.machine);
      return world.destroy(machineFor(world, step.machine), step.faults, targetsOf(world, step), step.kill);
    case "answer":
      return answerStep(world, step);
    case "reopen":
      return world.reopen(step.pick, step.kill);
    case "check out":
      return world.checkOut(step.pick);
    case "lose":
      // With checkpoints off, only the disk knows about an interrupted run.
      if (world.config.checkpoints) world.loseDisk(step.machine);
      return;
    case "meddle":
      return meddle(world, step.pick, step.deletes);
    case "operations":
      // Without reads, changes by other clients and adopted ids without an object stay unnoticed.
      if (step.name !== "read" || (world.platform.meddled.size === 0 && !world.adoptsNothing()))
        world.operations[step.name] = step.on;
      return;
    case "relocate":
      return world.relocate(step.kill, () => (step.runs === undefined ? Promise.resolve() : upStep(world, step.runs)));
    case "lag":
      world.platform.dressing = { ...world.platform.dressing, isTight: true, searchLagSeconds: step.seconds };
      return;
    case "wait":
      time.clock.advance(step.seconds * 1000);
  }
}

/** With checkpoints off, only its own machine can go on after an interrupted run, so such stacks stay on one. */
function machineFor(world: World, machine: number): number {
  return world.config.checkpoints ? machine : 0;
}

/** Does what the pipelines do: if an interrupted run's notes are on another disk, or on none, `pending` comes first. */
async function beforeRun(world: World, machine: number, asks?: "search"): Promise<void> {
  if (world.killedOn === undefined || world.killedOn === machineFor(world, machine)) return;
  if (asks === "search") await world.command(machineFor(world, machine), "--search");
  await world.answerTruly(machineFor(world, machine));
}

/** Among the resources in the state, by their URNs. */
function targetsOf({ backend }: World, step: Targeted): ReadonlySet<string> | undefined {
  return targetsAmong([...new Set(backend.resources.map(({ urn }) => urn))], step);
}

interface Targeted {
  readonly target?: number;
  readonly allBut?: boolean;
}

/** @returns one of them or all others, or nothing: for everything. */
function targetsAmong(all: readonly string[], { target, allBut = false }: Targeted): ReadonlySet<string> | undefined {
  const found = target === undefined ? undefined : all[Math.floor(target * all.length)];
  const targets = found === undefined ? [] : allBut ? all.filter((each) => each !== found) : [found];
  return targets.length === 0 ? undefined : new Set(targets);
}

async function upStep(world: World, step: Step & { do: "up" }): Promise<void> {
  const machine = machineFor(world, step.machine);
  await beforeRun(world, machine, step.asks);
  const { concurrent, faults, asksAgain = false, isBroken = false } = step;
  if (isBroken) {
    await world.up(machine, { concurrent, isPreview: step.preview, isBroken });
    return;
  }
  if (world.adoptsHeld()) {
    // People do not go on after a failed preview.
    const shown = await world.up(machine, { isPreview: true });
    if (shown === undefined || shown.errors.length > 0) return;
  }
  if (!step.preview) {
    const declared = step.removes === true ? [] : [...world.declared.keys()];
    const removed = step.removes === true || step.allBut === true ? world.undeclaredKeys() : [];
    const targets = targetsAmong([...declared, ...removed], step);
    await world.up(machine, { concurrent, asksAgain, faults, kill: step.kill, targets });
    return;
  }
  const shown = await world.up(machine, { concurrent, isPreview: true });
  world.check();
  const standing = world.standing();
  const done = await world.up(machine, { concurrent, asksAgain, faults, kill: step.kill });
  if (
    shown === undefined ||
    done === undefined ||
    done.errors.length > 0 ||
    shown.errors.length > 0 ||
    faults.length > 0
  )
    return;
  const [before, after] = [shown, done].map(({ ops }) =>
    [...ops]
      .map(([urn, op]) => `${op} ${urn}`)
      .toSorted()
      .join("\n"),
  );
  if (before !== after) throw new Violation(`a preview showed\n${before}\nand the up did\n${after}`);
  world.expectAsCommented(shown, standing);
}

async function answerStep(world: World, { how, pick, kill, ...step }: Step & { do: "answer" }): Promise<void> {
  const machine = machineFor(world, step.machine);
  if (how === "truly") return world.answerTruly(machine, [], kill);
  if (how === "search") {
    await world.commandDuring(machine, ["--search"], { kill });
    return;
  }
  const second = pick < 0.6 ? machine : machineFor(world, 1 - machine);
  if (how === "both") return bothAnswer(world, machine, second);
  if (how === "while up") {
    const elsewhere = machineFor(world, pick < 0.5 ? machine : 1 - machine);
    await beforeRun(world, elsewhere);
    await Promise.all([world.command(machine, "--search"), world.up(elsewhere)]);
    return;
  }
  if (how === "beside up") return upBesideSearch(world, machine, machineFor(world, 1 - machine));
  if (how === "within") return answerWithin(world, machine, second);
  const open = await world.pending(machine);
  const urn = open[Math.floor(pick * open.length)];
  // A wrong advertiser would affect every event for ever.
  if (urn === undefined || nounIn(urn) === "advertiser") return;
  const truth = world.truthAbout(urn);
  const others = world.platform.made.filter(({ noun }) => noun === nounIn(urn));
  const [ofAnother] = how === "of another" ? world.madeForOthers(machine, urn, open) : [];
  if (how === "of another" && ofAnother === undefined) return;
  const other = ofAnother ?? others[Math.floor(pick * others.length * 2)]?.id ?? "9999";
  const isMade = truth === undefined || pick < 0.5 || ofAnother !== undefined;
  const { code } = await world.command(
    machine,
    ...(isMade ? ["--created", `${urn}=${other}`] : ["--not-created", urn]),
  );
  if (code === 2) return;
  const noun = nounIn(urn);
  if (isMade && other === truth) return;
  // The person who denied it is responsible for this object.
  if (truth !== undefined) world.excuse(noun, truth);
  if (isMade) world.mistaken.add(other);
  const at = time.clock.wallMs();
  world.wrongAnswers.push({ urn, machine, denied: truth, noun, at, ...(isMade ? { other } : {}) });
  if ((pick * 7) % 1 < 0.4) await world.reopen(0.999);
}

/** Two people look in the account at the same time. If there are several creates, each answers for some of them. */
async function bothAnswer(world: World, one: number, other: number): Promise<void> {
  const open = await world.pending(one);
  const [mine, theirs] =
    open.length === 1 ? [open, open] : [open.filter((_, at) => at % 2 === 0), open.filter((_, at) => at % 2 === 1)];
  if (open.length > 0) world.counts.together++;
  await Promise.all([world.answer(one, mine ?? []), world.answer(other, theirs ?? [])]);
}

/** While `pending --search` waits for its first answer, a run of something new begins and ends elsewhere. */
async function upBesideSearch(world: World, machine: number, elsewhere: number): Promise<void> {
  if (machine === elsewhere) return;
  const target = world.newest();
  if (target === undefined) return;
  const work = async () => void (await world.up(elsewhere, { targets: new Set([target]) }));
  await world.commandDuring(machine, ["--search"], { atFirstRequest: work });
}

/** A second person answers between the last export of another one's command and its import. */
async function answerWithin(world: World, machine: number, second: number): Promise<void> {
  const open = await world.pending(machine);
  if (open.length === 0) return;
  world.counts.together++;
  const [mine, theirs] = open.length === 1 ? [open, open] : [open.slice(0, 1), open.slice(1)];
  const work = async () => void (await world.answer(second, theirs));
  await world.answer(machine, mine, [], { afterLastLook: work });
}

function nounIn(urn: string) {
  return urn.includes(":Advertiser::") ? "advertiser" : "event";
}

function meddle(world: World, pick: number, deletes: boolean): void {
  const events = [...world.platform.objectsOf("event").values()];
  const event = events[Math.floor(pick * events.length)];
  if (event === undefined) return;
  // Without a known read, an update of a deleted object can't tell that it is gone.
  if (deletes && world.operations.update && !world.operations.read) return;
  world.platform.meddled.add(String(event.id));
  if (deletes) world.platform.objectsOf("event").delete(event.id);
  else world.platform.objectsOf("event").set(event.id, { ...event, value: 77 });
}

/**
 * A preview shows what stops an up, except what only the up finds out: the id of a new advertiser. So one up may stop at what an interrupted run
 * created for a former one.
 */
const MOST_UPS = 2;
/** One up, or preview, may stop at a mistake in the program before it sees the next one. */
const MOST_MISTAKES = 6;

/** Faults end and people answer truthfully, so the stack must become what is declared. @returns the number of `up`s. */
async function settleDown(world: World): Promise<number> {
  const machine = machineFor(world, world.killedOn === 1 ? 1 : 0);
  let said: readonly string[] = [];
  for (let ups = 1, mistakes = 0; ups <= MOST_UPS; ) {
    await previewUntilWell(world, machine, said);
    world.log.push(`up at the end, on ${machine}`);
    const ended = await world.up(machine);
    world.check();
    said = ended?.errors ?? [];
    if (said.length === 0 && world.lacking().length === 0) return ups;
    await mend(world, machine, said);
    // A program that contradicts the platform has to be changed, so it declares something else now.
    if (world.correct(said) && mistakes < MOST_MISTAKES) mistakes++;
    else ups++;
  }
  throw new Violation(`after ${MOST_UPS} ups without a fault: ${[...said, ...world.lacking()].join("\n")}`);
}

/** People do not go on after a preview that fails, or that says that the up will fail. @param before what the last up said. */
async function previewUntilWell(world: World, machine: number, before: readonly string[]): Promise<void> {
  let said = before;
  for (let previews = 1; previews <= MOST_MISTAKES; previews++) {
    time.clock.advance(600_000);
    const refused: string[] = [];
    await world.answerTruly(machine, refused);
    world.check();
    world.correct(said);
    if (world.operations.read) await world.refresh(machine);
    world.check();
    const shown = await world.up(machine, { isPreview: true });
    const failing = shown?.told.filter((text) => /`pulumi up` (will send|sends) nothing for .* fails?\b/.test(text));
    said = [...refused, ...(shown?.errors ?? []), ...(failing ?? [])];
    if (said.length === 0) return;
    await mend(world, machine, said);
  }
}

/** People do what the messages advise. */
async function mend(world: World, machine: number, said: readonly string[]): Promise<void> {
  const all = said.join("\n");
  for (const [, urn = ""] of all.matchAll(/ --forget '([^']+)'/g)) await world.command(machine, "--forget", urn);
  const gone = [...all.matchAll(/there is no object (\d+) /g)].map(([, id = ""]) => id);
  for (const id of [...gone, ...world.foundGone]) {
    const noted = world.notedAs(machine, id);
    if (noted !== undefined) await world.command(machine, "--forget", noted);
  }
  for (const [, urn = ""] of all.matchAll(/ --not-created '([^']+)'/g)) await followed(world, machine, urn);
  for (const [, urn = ""] of all.matchAll(/pulumi state delete '([^']+)'/g)) {
    if (!world.isLive(urn)) world.deleteFromState(urn);
  }
  if (all.includes("has a new name or place")) {
    world.log.push("  the former program");
    world.source = world.goBack();
  }
}

/** Follows a message's advice about one create truthfully. */
async function followed(world: World, machine: number, urn: string): Promise<void> {
  const id = world.truthAbout(urn);
  if (id !== undefined) world.settled.add(id);
  const { code } = await world.command(
    machine,
    ...(id === undefined ? ["--not-created", urn] : ["--created", `${urn}=${id}`]),
  );
  if (code === 2) await world.command(machine, "--forget", urn);
}

/** Leaves out steps as long as the rest still shows a violation. */
export async function shrunken(
  life: Life,
  mostPlays = 400,
): Promise<{ life: Life; why: string; log: readonly string[] }> {
  let plays = 0;
  const fails = async (steps: readonly Step[]) => {
    plays++;
    let log: readonly string[] = [];
    try {
      await play({ ...life, steps }, (world) => {
        log = world.log;
      });
      return undefined;
    } catch (error) {
      return { why: (error as Error).message, log };
    }
  };
  let steps = life.steps;
  let found = await fails(steps);
  for (let size = Math.ceil(steps.length / 2); size >= 1; ) {
    let isSmaller = false;
    for (let at = 0; at < steps.length && plays < mostPlays; ) {
      const fewer = steps.toSpliced(at, size);
      const failure = await fails(fewer);
      if (failure === undefined) at += size;
      else [steps, found, isSmaller] = [fewer, failure, true];
    }
    if (size === 1 && !isSmaller) break;
    size = size === 1 ? 1 : Math.floor(size / 2);
    if (plays >= mostPlays) break;
  }
  steps = await withFewerParts(steps, async (fewer) => {
    const failure = plays < mostPlays ? await fails(fewer) : undefined;
    if (failure !== undefined) found = failure;
    return failure !== undefined;
  });
  return { life: { ...life, steps }, why: found?.why ?? "", log: found?.log ?? [] };
}

/** Does the same with edits, faults, kills and previews. */
async function withFewerParts(
  all: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let steps = all;
  for (let at = 0; at < steps.length; at++) {
    for (const part of ["edits", "faults"] as const) {
      for (let index = 0; ; ) {
        const step = steps[at] as Record<string, unknown>;
        const list = step[part] as unknown[] | undefined;
        if (list === undefined || index >= list.length) break;
        const fewer = steps.with(at, { ...step, [part]: list.toSpliced(index, 1) } as unknown as Step);
        if (await fails(fewer)) steps = fewer;
        else index++;
      }
    }
    for (const more of [
      { kill: undefined },
      { preview: false },
      { concurrent: false },
      { asksAgain: false },
      { asks: undefined },
      { allBut: undefined },
      { target: undefined },
      { machine: 0 },
    ]) {
      const step = steps[at] as Record<string, unknown>;
      const [name = "", value] = Object.entries(more)[0] ?? [];
      if (!(name in step) || step[name] === value) continue;
      const fewer = steps.with(at, { ...step, ...more } as unknown as Step);
      if (await fails(fewer)) steps = fewer;
    }
  }
  return steps;
}
