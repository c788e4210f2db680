/** A random life of a project's stacks: people edit, run, kill, lose disks and answer; at its end a few runs resolve everything. */
import { objectKey, parseKey } from "../../../provider/src/state/index.js";
import { seededRandom } from "../random.js";
import type { Kill } from "./machine.js";
import { Person } from "./person.js";
import type { Fault } from "./platform.js";
import type { Declared, Entry, Wanted } from "./program.js";
import {
  type Config,
  counts,
  heldIn,
  type Simulation,
  unresolvedKeys,
  Violation,
} from "./simulation.js";

const NAMES = {
  Advertiser: ["a", "b"],
  ConversionEvent: ["e", "f", "g", "h"],
  ConversionEventSet: ["s", "t"],
};

export function configOf(seed: number, random: () => number): Config {
  const isRich = random() < 0.6;
  const some = (part: number) => isRich && random() < part;
  const operations = {
    ...{ read: some(0.6), update: some(0.6), search: some(0.5), delete: some(0.4) },
  };
  // An interrupted delete leaves a dead object in the state. A refresh finds that.
  operations.delete &&= operations.read || !operations.update;
  const checkpoints = random() < 0.8;
  const draw = random();
  const isUnreadable = draw < 0.1;
  const isDiskless = checkpoints && !isUnreadable && random() < 0.35;
  // Another guess of the backend is another place: with checkpoints off only the place says whose a journal is.
  const guess = checkpoints && !isUnreadable ? random() : 1;
  const isAlike = guess < 0.25;
  const config: Omit<Config, "savesFirst"> = {
    seed,
    ...operations,
    checkpoints,
    stacks: isAlike || random() < 0.3 ? 2 : 1,
    isOfSets: random() < 0.3,
    batches: 1 + Math.floor(random() * 3),
    isDiskless,
    guesses: isAlike ? "alike" : guess < 0.45 ? "varying" : "right",
    aheadMs: random() < 0.3 ? Math.round((random() - 0.5) * 12 * 3_600_000) : 0,
    vanish: operations.read && random() < 0.4,
    refusesSaves: checkpoints && !isUnreadable && random() < 0.3,
    record: isUnreadable ? "unreadable" : draw < 0.3 ? "late" : "live",
  };
  const { record, guesses } = config;
  const mayBeFirst = checkpoints && record === "live" && guesses !== "varying";
  return { ...config, savesFirst: mayBeFirst && random() < 0.5 };
}

/** Keys that no event has or had: a former key that another event has now is a mistake in the program. */
function freeKeys(set: Declared | undefined): string[] {
  const entries = set?.events ?? {};
  const taken = [
    ...Object.keys(entries),
    ...Object.values(entries).flatMap(({ formerKey }) => formerKey ?? []),
  ];
  return ["k", "l", "m", "n", "o", "p"].filter((key) => !taken.includes(key));
}

export class Life {
  readonly #random: () => number;
  #names = 0;

  constructor(readonly simulation: Simulation) {
    this.#random = simulation.random;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[this.#below(from.length)];
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }

  async live(): Promise<void> {
    const { simulation } = this;
    simulation.platform.make("Advertiser", { advertiser_name: "Foreign" });
    for (const stack of simulation.stacks.toReversed()) {
      simulation.select(stack);
      for (let edits = 3; edits > 0; edits--) this.#edit();
    }
    const steps = 5 + this.#below(9);
    for (let step = 0; step < steps; step++) {
      const other = simulation.stacks.find((stack) => stack !== simulation.stack);
      if (other !== undefined && this.#chance(0.4)) simulation.select(other);
      await this.#step();
      simulation.check();
      await this.#expectWayOn(step);
    }
    for (const stack of simulation.stacks) {
      simulation.select(stack);
      await this.#settleDown();
    }
  }

  // Steps

  async #step(): Promise<void> {
    const draw = this.#random();
    this.simulation.wait(5);
    if (draw < 0.7) return this.#run(draw < 0.64 ? "up" : "refresh");
    if (draw < 0.8) return this.simulation.answer(this.#machine(), this.#kill());
    if (draw < 0.84) return this.#lose();
    if (draw < 0.88) return this.#colleague();
    if (draw < 0.91) return this.#renameStack();
    if (draw < 0.95) return this.#vanish();
    for (let edits = 1 + this.#below(3); edits > 0; edits--) this.#edit();
  }

  /** The machine of the next run. With checkpoints off, or if Pulumi can't be asked, only one disk knows what was sent. */
  #machine(): 0 | 1 {
    return this.simulation.isOfOneDisk || this.#chance(0.65) ? 0 : 1;
  }

  #kill(): Kill | undefined {
    if (!this.#chance(0.4)) return undefined;
    const how = this.#pick(["process", "process", "power", "engine"] as const) ?? "process";
    return { at: 1 + Math.floor(2 ** (this.#random() * 7)), how };
  }

  #faults(): Fault[] {
    if (!this.#chance(0.35)) return [];
    return Array.from({ length: 1 + this.#below(2) }, () => {
      const kinds = [
        "create",
        "create",
        "create",
        "update",
        "read",
        "search",
        "delete",
      ] as const;
      const on = this.#pick(kinds) ?? "create";
      const breaks =
        on === "create"
          ? ([
              "lost",
              "undone",
              "late",
              "refused",
              "limited",
              "not sent",
              "another's id",
            ] as const)
          : (["lost", "undone", "refused", "not sent"] as const);
      return { on, after: this.#below(3), with: this.#pick(breaks) ?? "lost" };
    });
  }

  async #run(how: "up" | "refresh"): Promise<void> {
    const { simulation } = this;
    for (
      let edits = how === "up" && this.#chance(0.6) ? 1 + this.#below(2) : 0;
      edits > 0;
      edits--
    )
      this.#edit();
    if (simulation.stack.doubts > 0 && this.#chance(0.4)) {
      simulation.stack.doubts--;
      this.#undo();
    }
    const machine = this.#machine();
    simulation.renew(machine);
    simulation.check();
    const { refusesSaves } = simulation.config;
    const wish = {
      kill: this.#kill(),
      faults: this.#faults(),
      concurrent: this.#chance(0.5),
      saves: refusesSaves && this.#chance(0.3) ? this.#below(12) : undefined,
    };
    simulation.log.push(`${how} on ${machine} ${JSON.stringify(wish)}`, ...this.#text());
    let previewed: Awaited<ReturnType<Simulation["preview"]>> | undefined;
    if (how === "up" && simulation.config.record !== "unreadable" && this.#chance(0.5)) {
      previewed = await simulation.preview(machine);
      // As Pulumi does, but for those who skip the preview.
      if (previewed.errors.length > 0 && this.#chance(0.7)) {
        simulation.stack.printed[machine] = previewed.errors.join("\n");
        return;
      }
    }
    const isPreviewed = previewed?.errors.length === 0;
    const done = await simulation.run(how, machine, { ...wish, isPreviewed });
    if (!done) simulation.stack.doubts = 2;
    const isQuiet = wish.faults.length === 0 && wish.saves === undefined;
    if (done && previewed && isQuiet) this.#expectAlike(previewed, done.errors);
    if (how === "refresh" || done?.errors.length !== 0) return;
    this.#expectOnce();
    if (this.#chance(0.4)) await simulation.clearPending(machine);
  }

  /** A preview and the `up` after it decide alike. What a search finds, only the `up` knows. */
  #expectAlike(
    { errors, hasUnknown }: Awaited<ReturnType<Simulation["preview"]>>,
    ofUp: readonly string[],
  ): void {
    if (errors.length > 0 && ofUp.length === 0)
      throw new Violation(`only the preview stops: ${errors.join("\n")}`);
    const { search, guesses } = this.simulation.config;
    // An empty program's preview asks no provider.
    const isAsked = this.simulation.stack.program.length > 0;
    // Only the guess of a backend leads to an answer that no state could keep.
    const isSure = isAsked && !hasUnknown && !search && guesses !== "varying";
    const isOurs = ofUp.some((error) =>
      /outcome of|aren't created|isn't created/.test(error),
    );
    if (errors.length === 0 && isSure && isOurs)
      throw new Violation(`only the up stops: ${ofUp.join("\n")}`);
  }

  /** Objects vanish from the platform, or come back. */
  #vanish(): void {
    const { simulation } = this;
    if (!simulation.config.vanish) return;
    const { objects } = simulation.platform;
    const vanished = objects.filter(({ gone }) => gone === "vanished");
    for (const made of vanished) made.gone = undefined;
    const held = objects.filter((made) => !made.gone && simulation.isHeld(made));
    const one = vanished.length > 0 ? undefined : this.#pick(held);
    if (one) one.gone = "vanished";
    simulation.log.push(`vanished: ${one?.id}, back: ${vanished.map(({ id }) => id)}`);
  }

  /** Everything that vanished comes back, so that people can get on. */
  #reappear(): void {
    for (const made of this.simulation.platform.objects)
      if (made.gone === "vanished") made.gone = undefined;
  }

  #text(): string[] {
    return this.simulation.stack.program.map((each) => `    | ${JSON.stringify(each)}`);
  }

  #lose(): void {
    const { simulation } = this;
    if (simulation.isOfOneDisk) return;
    const machine = this.#pick([0, 1] as const) ?? 0;
    simulation.log.push(`disk ${machine} is lost`);
    simulation.machines[machine].lose();
  }

  /** On the other machine, a person resolves the open creates, renames a resource with an alias, and runs `up`. */
  async #colleague(): Promise<void> {
    const { simulation } = this;
    if (simulation.isOfOneDisk) return;
    const machine = this.#machine();
    simulation.log.push(`a colleague on ${machine}`);
    await simulation.answer(machine);
    this.#rename(true);
    simulation.log.push(`up on ${machine}`, ...this.#text());
    await simulation.run("up", machine, { kill: this.#kill() });
    this.#add("ConversionEvent", this.#owner(), {
      platformName: this.#name(),
      value: this.#value(),
    });
  }

  async #renameStack(): Promise<void> {
    const { simulation } = this;
    const { checkpoints, guesses } = simulation.config;
    // With checkpoints off, only the place says whose a journal is.
    if (!checkpoints || guesses === "alike" || simulation.config.record === "unreadable")
      return;
    counts.stackRenames++;
    simulation.stack.rename(`${simulation.stack.id}${++this.#names}`);
    simulation.log.push(`the stack is named ${simulation.stack.name} now`);
  }

  // Edits

  #edit(): void {
    const addEvent = () =>
      this.#add("ConversionEvent", this.#owner(), {
        platformName: this.#name(),
        value: this.#value(),
      });
    const change = () => this.#change();
    const addMember = () => this.#addMember();
    const edits = [
      ...[addEvent, addEvent, addMember, addMember, change, change, change],
      ...[
        () => this.#remove(),
        () => this.#rename(),
        () => this.#copy(),
        () => this.#rekey(),
        () => this.#namesake(),
        () => this.#undo(),
        () => this.#undo(),
        () => this.#add("Advertiser", undefined, { platformName: this.#name() }),
      ],
    ];
    const ofSets = [addMember, addMember, addMember, change, () => this.#undo()];
    const { config, stack } = this.simulation;
    const { program, former } = stack;
    this.#pick(config.isOfSets && this.#chance(0.8) ? ofSets : edits)?.();
    if (stack.program !== program && stack.former === former) stack.former = program;
  }

  /** Somebody takes the last edit back, or makes it again. */
  #undo(): void {
    const { stack } = this.simulation;
    [stack.program, stack.former] = [stack.former, stack.program];
  }

  #set(former: Declared | undefined, now: Declared | undefined): void {
    const { simulation } = this;
    const others = simulation.stack.program.flatMap((each) =>
      each !== former ? [each] : now === undefined ? [] : [now],
    );
    const all = [...others, ...(former === undefined && now !== undefined ? [now] : [])];
    // Pulumi refuses an alias that is another resource's present name.
    const isTaken = (each: Declared) => (alias: string) =>
      now?.type === each.type && now !== each && now.name === alias;
    simulation.stack.program = all
      .map((each) => {
        const { aliases = [] } = each;
        return aliases.some(isTaken(each))
          ? { ...each, aliases: aliases.filter((one) => !isTaken(each)(one)) }
          : each;
      })
      .toSorted(
        (a, b) => Number(b.type === "Advertiser") - Number(a.type === "Advertiser"),
      );
  }

  /** A name on the platform. */
  #name(): string {
    return `N${++this.#names}`;
  }

  #value(): number {
    return 1 + this.#below(4);
  }

  #free(type: Declared["type"]): string | undefined {
    const { program } = this.simulation.stack;
    const used = new Set(
      program.filter((each) => each.type === type).map(({ name }) => name),
    );
    return this.#pick(NAMES[type].filter((name) => !used.has(name)));
  }

  #owner(): string {
    const own = this.simulation.stack.program
      .filter(({ type }) => type === "Advertiser")
      .map(({ name }) => name);
    return (
      this.#pick([...own, ...own, this.simulation.platform.objects[0]?.id ?? ""]) ?? ""
    );
  }

  #add(
    type: Declared["type"],
    advertiser: string | undefined,
    more: Partial<Declared>,
  ): Declared | undefined {
    const name = this.#free(type);
    if (name === undefined) return undefined;
    const added = {
      self: ++this.#names,
      type,
      name,
      ...(this.simulation.config.delete && this.#chance(0.5) && { deletes: true }),
      ...(advertiser !== undefined && { advertiser }),
      ...more,
    };
    this.#set(undefined, added);
    return added;
  }

  #addMember(): void {
    const sets = this.simulation.stack.program.filter(
      ({ type }) => type === "ConversionEventSet",
    );
    const known = this.#chance(0.8) ? this.#pick(sets) : undefined;
    const into =
      known ?? this.#add("ConversionEventSet", this.#owner(), { events: {} }) ?? sets[0];
    const key = this.#pick(freeKeys(into));
    const entry = { eventName: this.#name(), value: this.#value(), self: ++this.#names };
    if (into !== undefined && key !== undefined)
      this.#set(into, { ...into, events: { ...into.events, [key]: entry } });
  }

  /** The other stack's program is deployed here too, as people do with one program for many stacks. */
  #copy(): void {
    const { simulation } = this;
    const other = simulation.stacks.find((stack) => stack !== simulation.stack);
    if (other === undefined) return;
    simulation.stack.program = other.program.map(({ existingId: _, ...each }) => ({
      ...each,
      ...(each.events && {
        events: Object.fromEntries(
          Object.entries(each.events).map(([key, { existingId, ...entry }]) => [
            key,
            entry,
          ]),
        ),
      }),
    }));
  }

  #remove(): void {
    const { simulation } = this;
    const one = this.#pick(simulation.stack.wanted);
    const resource = one?.resource ?? this.#pick(simulation.stack.program);
    if (resource === undefined) return;
    if (one?.member !== undefined && this.#chance(0.8)) {
      const { [one.member]: _, ...events } = resource.events ?? {};
      this.#set(resource, { ...resource, events });
      return;
    }
    for (const each of simulation.stack.program)
      if (resource.type === "Advertiser" && each.advertiser === resource.name)
        this.#set(each, undefined);
    this.#set(resource, undefined);
  }

  #rename(isAliased = this.#chance(0.5)): void {
    const { simulation } = this;
    const former = this.#pick(simulation.stack.program);
    const name = former && this.#free(former.type);
    if (former === undefined || name === undefined) return;
    counts.renames++;
    const names = isAliased
      ? [former.name, ...(former.aliases ?? [])].filter((each) => each !== name)
      : [];
    this.#set(former, { ...former, name, aliases: names });
    for (const each of simulation.stack.program)
      if (former.type === "Advertiser" && each.advertiser === former.name)
        this.#set(each, { ...each, advertiser: name });
  }

  /** An event of a set gets another key, with or without `formerKey`. */
  #rekey(): void {
    const { stack } = this.simulation;
    const one = this.#pick(stack.wanted.filter(({ member }) => member !== undefined));
    if (one?.member === undefined) return;
    const { resource, member } = one;
    const key = this.#pick(freeKeys(resource));
    if (key === undefined) return;
    counts.renames++;
    const { [member]: entry, ...events } = resource.events ?? {};
    const { formerKey: _, ...others } = entry as Entry;
    const now = this.#chance(0.5) ? { ...others, formerKey: member } : others;
    this.#set(resource, { ...resource, events: { ...events, [key]: now } });
  }

  /** Adds an event with the name of an existing one. */
  #namesake(): void {
    const one = this.#pick(
      this.simulation.stack.wanted.filter(({ kind }) => kind === "ConversionEvent"),
    );
    if (one !== undefined)
      this.#add("ConversionEvent", one.resource.advertiser, {
        platformName: one.name,
        value: this.#value(),
      });
  }

  #change(): void {
    const one = this.#pick(this.simulation.stack.wanted);
    if (one === undefined) return;
    const isValue = one.kind === "ConversionEvent" && this.#chance(0.6);
    this.#entry(one, isValue ? { value: this.#value() } : { eventName: this.#name() });
  }

  #entry({ resource, member }: Wanted, change: Partial<Entry>): void {
    if (member === undefined) {
      const { eventName, ...others } = change;
      this.#set(resource, {
        ...resource,
        ...(eventName !== undefined && { platformName: eventName }),
        ...others,
      });
      return;
    }
    const entry = { ...(resource.events?.[member] as Entry), ...change };
    this.#set(resource, { ...resource, events: { ...resource.events, [member]: entry } });
  }

  /** Expects that a person with true answers would get on from here. Everything is restored afterwards. */
  async #expectWayOn(step: number): Promise<void> {
    const { simulation } = this;
    const { config } = simulation;
    if (!this.#chance(0.4)) return;
    const putBack = simulation.keep();
    const length = simulation.log.push("would somebody get on?", ...this.#text());
    const random = seededRandom(config.seed * 100 + step);
    const machine = simulation.isOfOneDisk || random() < 0.5 ? 0 : 1;
    this.#reappear();
    await new Person(simulation, machine, random).getOn();
    this.#expectDeclared();
    simulation.log.length = length - 1;
    simulation.log.push("  yes");
    putBack();
  }

  /** Three messages at most, and people who do what they say, resolve everything; another `up` sends nothing. */
  async #settleDown(): Promise<void> {
    const { simulation } = this;
    simulation.wait(1000);
    simulation.log.push("the end", ...this.#text());
    const machine = this.#machine();
    this.#reappear();
    simulation.renew(machine);
    if (simulation.config.read) await simulation.run("refresh", machine);
    await new Person(simulation, machine, simulation.random).getOn();
    this.#expectDeclared();
    const again = await simulation.run("up", machine);
    if (again?.posts !== 0 || again.errors.length > 0)
      throw new Violation(`not resolved: ${again?.posts} creates`);
    this.#expectDeclared();
  }

  #expectOnce(): void {
    const objects = heldIn(this.simulation.stack.state).flatMap(({ object, isToGo }) =>
      isToGo ? [] : [object],
    );
    if (new Set(objects).size < objects.length)
      throw new Violation(`held twice: ${objects.toSorted().join(", ")}`);
  }

  #expectDeclared(): void {
    const { simulation } = this;
    this.#expectOnce();
    const held = new Map(
      heldIn(simulation.stack.state).map(({ key, object }) => [key, object]),
    );
    if (unresolvedKeys(simulation.stack.state).size > 0)
      throw new Violation("a create is unresolved after an up without errors");
    for (const { key, keys, kind, name, value, existingId } of simulation.stack.wanted) {
      const object = held.get(key);
      if (object === undefined)
        throw new Violation(`${key} is declared, and not in the state`);
      held.delete(key);
      // Somebody was told of both, and said that it is this one.
      if (keys.some((each) => simulation.unsure.has(parseKey(each).shownName))) continue;
      if (existingId !== undefined) continue;
      const made = simulation.platform.objects.find(
        (each) => objectKey(each.kind, each.id) === object,
      );
      const there = [
        made?.fields.event_name ?? made?.fields.advertiser_name,
        made?.fields.value,
      ];
      const isSame = there[0] === name && (kind === "Advertiser" || there[1] === value);
      if (made !== undefined && isSame) simulation.changedElsewhere.delete(made);
      else if (made === undefined || !simulation.changedElsewhere.has(made))
        throw new Violation(
          `${key} is ${name} with ${value}, and ${object} is ${there.join(" with ")}`,
        );
    }
    if (held.size > 0)
      throw new Violation(`in the state, and not declared: ${[...held.keys()].join(", ")}`);
  }
}
