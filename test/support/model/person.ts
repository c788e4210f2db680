/**
 * Somebody who reads what runs and commands print, does what it says, and answers what is true. Three messages at most
 * lie between them and an `up` without errors; each command is run as it was printed.
 */
import { objectKey, parseKey } from "../../../provider/src/state/index.js";
import type { Made } from "./platform.js";
import { type Declared, objectsOf, type Wanted } from "./program.js";
import { counts, heldIn, type Simulation, Violation } from "./simulation.js";

const MOST = 3;
const MOST_ACTS = 10;

/** The open create because of which a new object was refused. */
interface Namesake {
  readonly wanted: Wanted | undefined;
  readonly label: string;
  readonly id: string | undefined;
}

const NAMESAKE =
  /^ {2,}(\S.*?): an earlier run (?:sent|created) (.+?)(?:, and its outcome is unknown: .*| as (\d+))$/gm;

/** What the message names a command for without printing it, since the program may declare it. */
const UNDECLARED = /doesn't declare (.+): `.+ pending --help` says how to drop /g;
const COMMAND = "pulumi-advertising";

/** A former name in vain: the object that has it, and the id of the one that it names. */
const IN_VAIN =
  /^(?:error: )?(\S.*?) is in the state, and so is its former name ".+?" \((\d+)\)\. /gm;

/** An adopted object that differs: its id, and how. */
const DIFFERS = /existingId (\d+) differs from the program: (.+?)\. Nothing was changed/g;

export class Person {
  /** The number of commands and edits. */
  #commands = 0;
  /** What was run first, as a message says. */
  readonly #targeted = new Set<string>();

  constructor(
    readonly simulation: Simulation,
    readonly machine: 0 | 1,
    readonly random: () => number,
  ) {}

  /** @throws Violation if following the printed messages leads nowhere. */
  async getOn(): Promise<void> {
    this.simulation.isGuessKept = true;
    await this.#getOn();
    this.simulation.isGuessKept = false;
  }

  async #getOn(): Promise<void> {
    const { simulation, machine } = this;
    const { stack } = simulation;
    simulation.renew(machine);
    const isPreviewing = simulation.config.record !== "unreadable" && this.random() < 0.5;
    let text = "";
    let messages = 0;
    for (let ups = 0; ; ups++) {
      const before = this.#commands;
      const isEarly = text.includes(": the platform doesn't find ");
      // Also what the answer's own command lists then.
      for (let acts = 0; text !== ""; acts++) {
        if (acts === MOST_ACTS) throw new Violation(`asked again and again: ${text}`);
        text = await this.#act(text);
      }
      // A message that only says to run `up` again asks for nothing.
      if (this.#commands > before) messages++;
      // As long as a delete's error says, which may be a day by a machine's own clock.
      simulation.wait(isEarly ? 100_000 : 60);
      simulation.log.push("  (gets on) up");
      const { errors = [] } = isPreviewing ? await simulation.preview(machine) : {};
      if (errors.length === 0) {
        const done = await simulation.run("up", machine, { isPreviewed: isPreviewing });
        errors.push(...(done?.errors ?? []));
      }
      simulation.check();
      text = errors.join("\n");
      if (text === "") return this.#count();
      if (messages > MOST || ups === MOST_ACTS)
        throw new Violation(`not on after ${messages} messages and ${ups} ups`);
      const bare = commandsIn(text).find(
        (line) => !line.includes(` --stack ${stack.name}`),
      );
      if (bare !== undefined && !bare.startsWith("pulumi up"))
        throw new Violation(`${bare} does not name its stack`);
    }
  }

  #count(): void {
    const taken = this.#commands;
    counts.questions.set(taken, 1 + (counts.questions.get(taken) ?? 0));
  }

  /** Does everything that one message asks for. @returns further messages of the commands. */
  async #act(text: string): Promise<string> {
    const { simulation } = this;
    const { stack } = simulation;
    const commands = [...new Set(commandsIn(text))];
    if (/: there is no \d+\./.test(text)) {
      this.#commands++;
      simulation.log.push("  refresh");
      await simulation.run("refresh", this.machine);
    }
    if (commands.some((line) => line.startsWith("pulumi up --skip-preview"))) {
      this.#commands++;
      simulation.log.push("  up --skip-preview");
      await simulation.run("up", this.machine);
    }
    for (const [, id = "", told = ""] of text.matchAll(DIFFERS)) this.#declareAs(id, told);
    const [, , type, name] = /(\d+) already belongs to (\w+) "([^"]+)"/.exec(text) ?? [];
    if (name !== undefined) await this.#removeOnce(String(type), name);
    const objects = objectsOf(stack.program);
    const edited = new Set<string>();
    for (const [, title = "", label = "", id] of text.matchAll(NAMESAKE)) {
      const wanted = objects.find((each) => each.label === title);
      const namesake = { wanted, label, id };
      const made = this.#madeFor(namesake);
      const isSame = made !== undefined && made.self === wanted?.self;
      const isDeclared = objects.some((each) => each.label === label);
      const targeted = commands.find((line) => line.startsWith("pulumi up --target"));
      // Once, and once more with its id: what the program has undone since, that run doesn't come to.
      const isFirst = !this.#targeted.has(`${label} ${id}`);
      if (isDeclared && targeted && isFirst) {
        this.#targeted.add(`${label} ${id}`);
        return this.#runTargeted(wordsIn(targeted));
      }
      if (isSame && (id !== undefined || this.random() < 0.5) && this.#rename(namesake))
        edited.add(label);
    }
    for (const [, label = "", id = ""] of text.matchAll(IN_VAIN))
      this.#endRename(
        objects.find((each) => each.label === label),
        id,
      );
    if (edited.size > 0) return "";
    const given = new Set<Made>();
    const created = new Set<string>();
    const denied = new Set<string>();
    const truth = (name: string) => {
      if (created.has(name)) return undefined; // one message may ask twice
      const made = simulation.truthOf(name);
      // One object can't answer for two creates.
      if (made === undefined || given.has(made)) return undefined;
      const isReplaced = (line: string) =>
        line.startsWith(`  ${name}: `) && line.includes(`(not ${made.id}, the object`);
      if (text.split("\n").some(isReplaced)) return undefined;
      given.add(made);
      created.add(name);
      return `${name}=${made.id}`;
    };
    const forgotten = (name: string) => {
      const made = simulation.truthOf(name);
      if (made !== undefined && !simulation.isHeld(made)) simulation.released.add(made);
      return name;
    };
    const isNot = (name: string) => {
      if (created.has(name) || denied.has(name)) return undefined;
      denied.add(name);
      return name;
    };
    let last = "";
    for (const line of commands)
      last = (await this.#answer(line, "created", truth)) ?? last;
    for (const line of commands)
      last = (await this.#answer(line, "not-created", isNot)) ?? last;
    const declared = new Set(objects.map(({ key }) => parseKey(key).shownName));
    for (const [, names = ""] of text.matchAll(UNDECLARED))
      for (const [, name = ""] of names.matchAll(/"([^"]+)"/g))
        if (!declared.has(name))
          commands.push(`npx ${COMMAND} pending --forget '${name}' --stack ${stack.name}`);
    for (const line of commands)
      last = (await this.#answer(line, "forget", forgotten)) ?? last;
    return asking(last);
  }

  /** Runs a printed command with those of its answers that are true. @param say returns a true answer, or undefined. */
  async #answer(
    line: string,
    option: string,
    say: (name: string) => string | undefined,
  ): Promise<string | undefined> {
    if (!line.includes(` --${option} `)) return undefined;
    const words = wordsIn(line);
    const said = words.flatMap((word, index) => {
      if (words[index - 1] === `--${option}`)
        return say(word.replace("=<its id>", "")) ?? "";
      return word;
    });
    const isLeft = (word: string, index: number) =>
      word !== "" && !(word === `--${option}` && said[index + 1] === "");
    const left = said.filter(isLeft);
    return left.includes(`--${option}`) ? this.#run(left) : undefined;
  }

  /** The object that the open create made, as a person finds it in the account. */
  #madeFor({ label, id }: Namesake): Made | undefined {
    const { simulation } = this;
    const held = new Set(heldIn(simulation.stack.state).map(({ object }) => object));
    const kind = label.startsWith("Advertiser ") ? "Advertiser" : "ConversionEvent";
    return simulation.platform
      .madeFor(simulation.stack.id)
      .findLast(
        (each) =>
          each.kind === kind &&
          (id === undefined ? parseKey(each.key).label === label : each.id === id) &&
          !held.has(objectKey(each.kind, each.id)),
      );
  }

  /** Declares the former name in the program, as the message shows. */
  #rename({ wanted, label, id }: Namesake): boolean {
    const { stack } = this.simulation;
    if (wanted === undefined) return false;
    const { resource, member } = wanted;
    const [, of = "", name = ""] = /(?:^| of )(\w+) "([^"]+)"$/.exec(label) ?? [];
    const [, formerMember] = /^events\["([^"]+)"\] of /.exec(label) ?? [];
    const put = (now: Declared) => {
      stack.program = stack.program.map((each) => (each === resource ? now : each));
      this.simulation.log.push(`    | ${JSON.stringify(now)}`);
      this.#commands++;
      return true;
    };
    const isNew = resource.aliases?.includes(name) !== true;
    const isAlias =
      isNew && of === resource.type && formerMember === member && name !== resource.name;
    const isFree = !stack.program.some((each) => each.type === of && each.name === name);
    if (isAlias && isFree && (id === undefined || this.random() < 0.5))
      return put({
        ...resource,
        aliases: [...new Set([name, ...(resource.aliases ?? [])])],
      });
    const entry = resource.events?.[member ?? ""];
    if (member !== undefined && entry !== undefined) {
      const isKey =
        name === resource.name &&
        formerMember !== undefined &&
        resource.events?.[formerMember] === undefined;
      const says =
        isKey && (id === undefined || this.random() < 0.5)
          ? { formerKey: formerMember }
          : { existingId: id };
      if (says.formerKey === undefined && id === undefined) return false;
      return put({
        ...resource,
        events: { ...resource.events, [member]: { ...entry, ...(says as object) } },
      });
    }
    return id !== undefined && put({ ...resource, existingId: id });
  }

  /** A former name is in vain: adopts the object if it is this one's, and gives the former name up otherwise. */
  #endRename(wanted: Namesake["wanted"], id: string): void {
    const { stack, platform, log } = this.simulation;
    if (wanted === undefined) return;
    const { resource, member } = wanted;
    const isSame = ({ kind, id: made, self }: Made) =>
      objectKey(kind, made) === objectKey(wanted.kind, id) && self === wanted.self;
    const adopted = platform.madeFor(stack.id).some(isSame) ? { existingId: id } : {};
    const change = <T extends object>(of: T) => {
      const { formerKey: _, aliases: __, ...rest } = of as Record<string, unknown>;
      return { ...rest, ...adopted } as T;
    };
    const entry = resource.events?.[member ?? ""];
    const now =
      member === undefined || entry === undefined
        ? change(resource)
        : { ...resource, events: { ...resource.events, [member]: change(entry) } };
    stack.program = stack.program.map((each) => (each === resource ? now : each));
    log.push(`    | ${JSON.stringify(now)}`);
    this.#commands++;
  }

  /** Declares what a live object has. @param told as an error shows it: `value is 3 on the platform, and 4 here`. */
  #declareAs(id: string, told: string): void {
    const { stack } = this.simulation;
    const theirs = Object.fromEntries(
      [...told.matchAll(/(\w+) is (\S+) on the platform/g)].map(
        ([, name = "", value = ""]) => [name, JSON.parse(value)],
      ),
    );
    const { eventName, advertiserName, ...values } = theirs;
    const platformName = eventName ?? advertiserName;
    this.#commands++;
    stack.program = stack.program.map((resource) => {
      const events = Object.entries(resource.events ?? {}).map(([key, entry]) => [
        key,
        entry.existingId === id ? { ...entry, ...theirs } : entry,
      ]);
      const isIt = resource.existingId === id;
      return {
        ...resource,
        ...(resource.events && { events: Object.fromEntries(events) }),
        ...(isIt && { ...values, ...(platformName && { platformName }) }),
      };
    });
    this.simulation.log.push(`  (declares what ${id} has: ${told})`);
  }

  /** Removes one of two resources with the same object from the program for one `up`. */
  async #removeOnce(type: string, name: string): Promise<void> {
    const { simulation, machine } = this;
    const { stack } = simulation;
    const { program } = stack;
    this.#commands++;
    stack.program = program.filter((each) => each.type !== type || each.name !== name);
    simulation.log.push(`  (goes without ${name}) up`);
    await simulation.run("up", machine);
    stack.program = program;
  }

  /** Runs a printed `pulumi up` of some resources. @returns its errors. */
  async #runTargeted(words: readonly string[]): Promise<string> {
    const { simulation, machine } = this;
    this.#commands++;
    const targets = new Set(words.filter((_, index) => words[index - 1] === "--target"));
    simulation.log.push(`  up --target ${[...targets]}`);
    const done = await simulation.run("up", machine, { targets });
    return done?.errors.join("\n") ?? "";
  }

  /** Runs a printed command. @param words `npx pulumi-advertising pending …`. @returns its output. */
  async #run([, , , ...args]: readonly string[]): Promise<string> {
    const { simulation, machine } = this;
    const { stack } = simulation;
    this.#commands++;
    stack.printed[machine] = "";
    const code = await simulation.command(machine, args);
    const text = stack.printed[machine];
    const instead = /no other object, answer --not-created '?([^'\n]+)/.exec(text);
    if (code === 2 && instead !== null) {
      const answer = ["--not-created", instead[1] ?? "", "--stack", stack.name];
      return this.#run(["npx", "pulumi-advertising", "pending", ...answer]);
    }
    if (code === 2)
      throw new Violation(`a true answer was refused: ${args.join(" ")}\n${text}`);
    return text;
  }
}

/** A command's output, if it asks for more. */
function asking(text: string): string {
  return text.includes(" --created ") ? text : "";
}

function commandsIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^(?:npx|pulumi) /.test(line));
}

function wordsIn(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain = ""]) => quoted ?? plain,
  );
}
