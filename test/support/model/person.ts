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

type Stack = Simulation["stack"];

/** The open create because of which a new object was refused. */
interface Namesake {
  readonly wanted: Wanted | undefined;
  readonly label: string;
  readonly stack: string | undefined;
  readonly id: string | undefined;
}

const NAMESAKE =
  /^ {2}(.+?): an earlier run(?: of the stack (\S+))? (?:sent|created) (.+?)(?:, and its outcome is unknown: .*| as (\d+))$/gm;

export class Person {
  /** The number of commands and edits. */
  #commands = 0;

  constructor(
    readonly simulation: Simulation,
    readonly machine: 0 | 1,
    readonly random: () => number,
    private readonly isVisiting = false,
  ) {}

  /** @throws Violation if following the printed messages leads nowhere. */
  async getOn(): Promise<void> {
    const { simulation, machine } = this;
    const { stack } = simulation;
    // As pipelines do: if an interrupted run's journal is elsewhere, or lost, `pending` comes first.
    const isElsewhere = stack.knowing !== undefined && stack.knowing !== machine;
    let text = isElsewhere ? await this.#run(["npx", "pulumi-advertising", "pending"]) : "";
    let messages = 0;
    for (let ups = 0; ; ups++) {
      const before = this.#commands;
      // Also what the answer's own command lists then.
      for (let acts = 0; text !== ""; acts++) {
        if (acts === MOST_ACTS) throw new Violation(`asked again and again: ${text}`);
        text = await this.#act(text);
      }
      // A message that only says to run `up` again asks for nothing.
      if (this.#commands > before) messages++;
      simulation.wait(60);
      simulation.log.push("  (gets on) up");
      const done = await simulation.run("up", machine);
      simulation.check();
      text = done?.errors.join("\n") ?? "";
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
    const former = stack.places.slice(0, -1).map((place) => place.stack.split("/").at(-1));
    const isOurs = (line: string) =>
      former.some((name) => line.includes(` --take-over ${name}`));
    const taking = commands.find(isOurs);
    if (taking !== undefined) {
      return asking(await this.#run(wordsIn(taking)));
    }
    const [, , type, name] = /(\d+) already belongs to (\w+) "([^"]+)"/.exec(text) ?? [];
    if (name !== undefined) await this.#removeOnce(String(type), name);
    const objects = objectsOf(stack.program);
    const edited = new Set<string>();
    let visits: string | undefined;
    for (const [, title = "", there, label = "", id] of text.matchAll(NAMESAKE)) {
      const wanted = objects.find((each) => each.label === title);
      const namesake = { wanted, label, stack: there, id };
      const made = this.#madeFor(namesake);
      const isSame = made !== undefined && made.self === wanted?.self;
      if (there !== undefined) visits ??= this.#visited(namesake);
      else if (
        isSame &&
        (id !== undefined || this.random() < 0.5) &&
        this.#rename(namesake)
      )
        edited.add(label);
    }
    if (edited.size > 0) return "";
    if (visits !== undefined && !this.isVisiting) {
      await this.#visit(visits, text);
      return "";
    }
    const given = new Set<Made>();
    const created = new Set<string>();
    const denied = new Set<string>();
    const truth = (name: string) => {
      if (created.has(name)) return undefined; // one message may ask twice
      const made = simulation.truthOf(name);
      // One object can't answer for two creates.
      if (made === undefined || given.has(made)) return undefined;
      if (text.includes(`(not ${made.id}, the object that it replaces)`)) return undefined;
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
  #madeFor({ label, stack: there, id }: Namesake): Made | undefined {
    const { simulation } = this;
    const stack = there === undefined ? simulation.stack : this.#stackAt(there);
    const held = new Set(heldIn(simulation.stack.state).map(({ object }) => object));
    return simulation.platform
      .madeFor(stack?.id ?? "")
      .findLast(
        (each) =>
          (id === undefined ? parseKey(each.key).label === label : each.id === id) &&
          !held.has(objectKey(each.kind, each.id)),
      );
  }

  #stackAt(place: string): Stack | undefined {
    return this.simulation.stacks.find(({ places }) =>
      places.some(({ stack }) => stack === place),
    );
  }

  /** The other stack, if its program declares this. */
  #visited({ label, stack: there = "" }: Namesake): string | undefined {
    const other = this.#stackAt(there);
    if (other?.place.stack !== there) return undefined;
    return other.wanted.some((each) => each.label === label) ? other.name : undefined;
  }

  async #visit(name: string, text: string): Promise<void> {
    const { simulation, machine, random } = this;
    const { stack } = simulation;
    if (!text.includes(`pulumi up --stack ${name}`))
      throw new Violation(`nothing says to run the stack ${name}`);
    const other = simulation.stacks.find((each) => each.name === name);
    if (other === undefined) return;
    simulation.select(other);
    await new Person(simulation, machine, random, true).getOn();
    simulation.select(stack);
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

  /** Runs a printed command. @param words `npx pulumi-advertising pending …`. @returns its output. */
  async #run([, , , ...args]: readonly string[]): Promise<string> {
    const { simulation, machine } = this;
    const { stack } = simulation;
    this.#commands++;
    stack.printed[machine] = "";
    const code = await simulation.command(machine, args);
    const text = stack.printed[machine];
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
