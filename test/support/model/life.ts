/** A random life of a stack: people edit, run, kill, lose disks and answer; at its end a few runs settle everything. */
import { objectKey } from "../../../provider/src/state/index.js";
import type { Kill } from "./machine.js";
import type { Fault, Made } from "./platform.js";
import { type Declared, type Entry, refIn, type Wanted } from "./program.js";
import { type Config, type Done, heldIn, type RunWish, unresolvedKeys, Violation, type World } from "./world.js";

type Steps = Record<string, () => Promise<void> | void>;

export function configOf(seed: number, random: () => number): Config {
  const isRich = random() < 0.6;
  const some = (part: number) => isRich && random() < part;
  return {
    seed,
    read: some(0.6),
    update: some(0.6),
    delete: some(0.6),
    search: some(0.5),
    checkpoints: random() < 0.8,
    readLagSeconds: random() < 0.3 ? 40 : 0,
    searchLagSeconds: random() < 0.3 ? 25 : 0,
    sharesIds: random() < 0.5,
  };
}

export class Life {
  readonly #random: () => number;
  #names = 0;

  constructor(readonly world: World) {
    this.#random = world.random;
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

  async live(): Promise<number> {
    const { world } = this;
    world.platform.make("Advertiser", { advertiser_name: "Foreign" }, undefined);
    for (let edits = 3; edits > 0; edits--) this.#edit();
    const steps = 5 + this.#below(9);
    for (let step = 0; step < steps; step++) {
      await this.#step();
      world.check();
    }
    return this.#settleDown();
  }

  // Steps

  async #step(): Promise<void> {
    const { world } = this;
    const draw = this.#random();
    world.wait(5);
    if (draw < 0.62) return this.#up();
    if (draw < 0.66) return this.#refresh();
    if (draw < 0.74) return this.#answer();
    if (draw < 0.78) return this.#lose();
    if (draw < 0.8) return this.#destroy();
    if (draw < 0.83) return this.#renameStack();
    if (draw < 0.85) return this.#checkOut();
    for (let edits = 1 + this.#below(3); edits > 0; edits--) this.#edit();
  }

  /** Where the next run may be: with checkpoints off, what an interrupted run knew is on its own disk alone. */
  #machine(): 0 | 1 {
    const { world } = this;
    // What was deleted on the other machine is not known here before a refresh.
    if (!world.config.checkpoints || world.config.delete) return 0;
    return world.onlyOn ?? (this.#chance(0.65) ? 0 : 1);
  }

  #kill(): Kill | undefined {
    if (!this.#chance(0.4)) return undefined;
    const how = this.#pick(["process", "process", "power", "engine"] as const) ?? "process";
    return { at: 1 + Math.floor(2 ** (this.#random() * 7)), how };
  }

  #faults(): Fault[] {
    if (!this.#chance(0.35)) return [];
    return Array.from({ length: 1 + this.#below(2) }, () => {
      const on = this.#pick(["create", "create", "create", "update", "delete", "read", "search"] as const) ?? "create";
      const breaks =
        on === "create"
          ? (["lost", "undone", "late", "refused", "limited", "not sent", "another's id"] as const)
          : (["lost", "undone", "refused", "not sent"] as const);
      return { on, after: this.#below(3), with: this.#pick(breaks) ?? "lost" };
    });
  }

  /** Does what pipelines do: if an interrupted run's memory is elsewhere, or lost, `pending` comes first. */
  async #before(machine: 0 | 1): Promise<void> {
    const { knowing } = this.world;
    if (knowing !== undefined && knowing !== machine) await this.world.answer(machine);
    this.world.check();
  }

  async #up(): Promise<void> {
    const { world } = this;
    for (let edits = this.#chance(0.6) ? 1 + this.#below(2) : 0; edits > 0; edits--) this.#edit();
    const machine = this.#machine();
    await this.#before(machine);
    const kill = this.#kill();
    const faults = this.#faults();
    const urns = world.program.map((each) => refIn(world.stack, each).urn);
    const some = () => new Set(urns.filter(() => this.#chance(0.4)));
    const wish: RunWish = {
      kill,
      faults,
      concurrent: this.#chance(0.5),
      ...(this.#chance(0.07) && urns.length > 0 ? { targets: some() } : {}),
      ...(this.#chance(0.06) ? this.#replacing(machine) : {}),
      ...(this.#chance(0.05) ? { stopAfter: 1 + this.#below(4) } : {}),
      ...(this.#chance(0.04) && world.config.checkpoints ? { lastSave: this.#below(8) } : {}),
    };
    const isPlain =
      kill === undefined && faults.length === 0 && wish.lastSave === undefined && wish.stopAfter === undefined;
    const { targets, replace } = wish;
    const shown = this.#chance(0.35) ? await world.run("preview", machine, { targets, replace }) : undefined;
    if (isPlain && wish.targets === undefined && this.#chance(0.1)) return this.#besides(machine);
    const isSettled = world.facts(machine).open.length === 0;
    this.#tell("up", machine, wish);
    const done = await world.run("up", machine, wish);
    if (shown !== undefined && done !== undefined && isPlain) this.#compare(shown, done, isSettled);
    if (done?.errors.length === 0 && targets === undefined && wish.lastSave === undefined) this.#wholeEnd(machine);
  }

  /** `--replace` of what this machine knows: it asks for no `diff`. */
  #replacing(machine: 0 | 1): Pick<RunWish, "replace"> {
    const { world } = this;
    const records = world.recordsOn(machine);
    const held = heldIn(world.state);
    const one = this.#pick(
      world.wanted.filter(({ key, kind, member }) => {
        const { id = "", state } = records.get(key) ?? {};
        const isHeld = held.some((each) => each.key === key && each.object === objectKey(kind, id));
        return member === undefined && isHeld && (state === "live" || state === "handed");
      }),
    );
    return one === undefined ? {} : { replace: new Set([refIn(world.stack, one.resource).urn]) };
  }

  #tell(how: string, machine: number, wish: RunWish): void {
    const { kill, faults = [], targets, replace, concurrent, stopAfter, lastSave } = wish;
    const told = { kill, faults, targets: targets && [...targets], replace: replace && [...replace] };
    this.world.log.push(
      `${how} on ${machine} ${JSON.stringify({ ...told, concurrent, stopAfter, lastSave })}`,
      ...this.world.program.map((each) => `    | ${JSON.stringify(each)}`),
    );
  }

  #wholeEnd(machine: 0 | 1): void {
    const { world } = this;
    world.checkWhole();
    world.onlyOn = undefined;
    if (world.facts(machine).open.length === 0) {
      world.knowing = undefined;
      if (this.#chance(0.5)) world.clearPending();
    }
  }

  /** What a preview says is what the next `up` does. @param isSettled whether no create was open before. */
  #compare(shown: Done, done: Done, isSettled: boolean): void {
    const { readLagSeconds, searchLagSeconds } = this.world.config;
    if (!isSettled || readLagSeconds + searchLagSeconds > 0) return;
    const isTakingOver = shown.texts.some((text) => text.includes("`pulumi up` "));
    if (isTakingOver) return;
    if (shown.errors.length > 0 !== done.errors.length > 0)
      throw new Violation(`a preview ended with ${shown.errors.length} errors, and the up with ${done.errors.length}`);
    if (done.errors.length > 0) return;
    const [before, after] = [shown, done].map(({ ops }) =>
      [...ops]
        .map((each) => each.join(" "))
        .toSorted()
        .join("\n"),
    );
    if (before !== after) throw new Violation(`a preview showed\n${before}\nand the up did\n${after}`);
    if (shown.texts.some((text) => text.includes("not known yet"))) return;
    const planned = createsIn(shown, this.world);
    if (planned !== done.posts)
      throw new Violation(`a preview showed ${planned} creates, and the up sent ${done.posts}`);
  }

  /** `pulumi cancel` of a run that goes on, and another one beside it. */
  async #besides(machine: 0 | 1): Promise<void> {
    const { world } = this;
    let second: Promise<Done | undefined> = Promise.resolve(undefined);
    const begin = () => {
      world.log.push("  pulumi cancel, and another up beside it");
      second = world.run("up", machine, { beside: { after: Number.NaN, begin } });
    };
    const beside = { after: this.#below(6), begin };
    this.#tell("up", machine, {});
    await world.run("up", machine, { beside, concurrent: this.#chance(0.5) });
    await second;
    world.onlyOn = machine;
    world.knowing = machine;
  }

  async #refresh(): Promise<void> {
    const machine = this.#machine();
    await this.#before(machine);
    const wish = { kill: this.#kill(), faults: this.#faults() };
    this.#tell("refresh", machine, wish);
    await this.world.run("refresh", machine, wish);
  }

  async #answer(): Promise<void> {
    const machine = this.#machine();
    await this.world.answer(machine, this.#kill());
  }

  #lose(): void {
    const { world } = this;
    const machine = this.#pick([0, 1] as const) ?? 0;
    if (!world.config.checkpoints || world.onlyOn === machine) return;
    world.log.push(`disk ${machine} is lost`);
    world.machines[machine].lose();
    if (world.knowing === machine) world.knowing = "nobody";
  }

  async #destroy(): Promise<void> {
    const machine = this.#machine();
    if (this.world.isRenamed || this.world.config.search) return;
    await this.#before(machine);
    this.world.wait(30); // what is under way has arrived
    // Without a read, nobody learns what a killed run has deleted.
    const wish = { kill: this.world.config.read ? this.#kill() : undefined, faults: this.#faults() };
    this.#tell("destroy", machine, wish);
    let done = await this.world.run("destroy", machine, wish);
    // Of a set that was deleted in part, the state says nothing: it is tried again.
    while (done?.errors.length !== 0) {
      this.world.wait(100);
      done = await this.world.run("destroy", machine);
    }
  }

  #renameStack(): void {
    const { world } = this;
    // Only the state tells which name it had, and what an interrupted run has sent may not be in it.
    if (
      world.onlyOn !== undefined ||
      world.knowing !== undefined ||
      world.state.resources.length === 0 ||
      world.isRenamed
    )
      return;
    const before = world.stack;
    const next = `dev${++this.#names}`;
    world.log.push(`pulumi stack rename ${next}`);
    world.stack = next;
    world.state = JSON.parse(
      JSON.stringify(world.state).replaceAll(`urn:pulumi:${before}::`, `urn:pulumi:${next}::`),
    ) as typeof world.state;
    world.history.length = 0;
  }

  /** Somebody imports an older state, and accepts what Pulumi says then: all its objects are live. */
  #checkOut(): void {
    const { world } = this;
    const older = this.#pick(world.history);
    if (older === undefined || world.knowing !== undefined || world.onlyOn !== undefined) return;
    const has = new Set(heldIn(older).map(({ object }) => object));
    const isLive = [...has].every((object) => world.platform.isLive(...(object.split(" ") as [Made["kind"], string])));
    if (!isLive || unresolvedKeys(older).size > 0 || unresolvedKeys(world.state).size > 0) return;
    world.log.push("an older state is imported");
    world.say([...heldIn(world.state)].map(({ object }) => object).join(", "));
    const { pending_operations: _, ...state } = older;
    world.state = state;
    for (const made of world.platform.objects)
      if (has.has(objectKey(made.kind, made.id))) world.released.delete(made);
      else world.released.add(made);
  }

  // Edits

  #edit(): void {
    const edits: Steps = {
      addAdvertiser: () => this.#addAdvertiser(),
      addEvent: () => this.#addEvent(),
      addEventToo: () => this.#addEvent(),
      addMember: () => this.#addMember(),
      addMemberToo: () => this.#addMember(),
      remove: () => this.#remove(),
      rename: () => this.#rename(),
      change: () => this.#change(),
      changeToo: () => this.#change(),
      adopt: () => this.#adopt(),
      answerInProgram: () => this.#answerInProgram(),
      move: () => this.#move(),
      plain: () => this.#plain(),
      deletes: () => this.#deletes(),
    };
    const name = this.#pick(Object.keys(edits)) ?? "";
    void edits[name]?.();
  }

  #set(former: Declared | undefined, now: Declared | undefined): void {
    const { world } = this;
    const others = world.program.flatMap((each) => (each !== former ? [each] : now === undefined ? [] : [now]));
    // An alias that another resource's name is now would be Pulumi's error.
    const isTaken = (each: Declared) => (alias: string) =>
      now?.type === each.type && now !== each && now.name === alias;
    const all = [...others, ...(former === undefined && now !== undefined ? [now] : [])].map((each) =>
      each.aliases?.some(isTaken(each))
        ? { ...each, aliases: each.aliases.filter((alias) => !isTaken(each)(alias)) }
        : each,
    );
    world.program = all.toSorted((a, b) => Number(b.type === "Advertiser") - Number(a.type === "Advertiser"));
  }

  #name(): string {
    return `N${++this.#names}`;
  }

  #value(): number {
    return 1 + this.#below(4);
  }

  /** With a search, a name is not used again: its new create would have the mark of its old object. */
  #free(type: Declared["type"], names: readonly string[]): string | undefined {
    if (this.world.config.search)
      return this.world.program.length < 9 ? `${this.#pick(names)}${++this.#names}` : undefined;
    const used = new Set(this.world.program.filter((each) => each.type === type).map(({ name }) => name));
    return this.#pick(names.filter((name) => !used.has(name)));
  }

  #addAdvertiser(): void {
    const name = this.#free("Advertiser", ["a", "b"]);
    if (name !== undefined) this.#set(undefined, { type: "Advertiser", name, platformName: this.#name() });
  }

  #owner(): string {
    const own = this.world.program.filter(({ type }) => type === "Advertiser").map(({ name }) => name);
    return this.#pick([...own, ...own, this.world.platform.objects[0]?.id ?? ""]) ?? "";
  }

  #addEvent(): void {
    const name = this.#free("ConversionEvent", ["e", "f", "g", "h"]);
    if (name === undefined) return;
    const event = { name, advertiser: this.#owner(), platformName: this.#name(), value: this.#value() };
    this.#set(undefined, { type: "ConversionEvent", ...event });
  }

  #setOfEvents(): Declared {
    const sets = this.world.program.filter(({ type }) => type === "ConversionEventSet");
    const known = this.#chance(0.8) ? this.#pick(sets) : undefined;
    const name = this.#free("ConversionEventSet", ["s", "t"]);
    if (known !== undefined || name === undefined) return known ?? (sets[0] as Declared);
    const added: Declared = { type: "ConversionEventSet", name, advertiser: this.#owner(), events: {} };
    this.#set(undefined, added);
    return added;
  }

  #addMember(entry: Entry = { eventName: this.#name(), value: this.#value() }, into = this.#setOfEvents()): void {
    const free = ["k", "l", "m", "n"].filter((each) => into.events?.[each] === undefined);
    const key = this.world.config.search && free.length > 0 ? `k${++this.#names}` : this.#pick(free);
    if (key !== undefined) this.#set(into, { ...into, events: { ...into.events, [key]: entry } });
  }

  #remove(): void {
    const { world } = this;
    const one = this.#pick(world.wanted);
    if (one !== undefined) this.#without(one);
    else this.#set(this.#pick(world.program), undefined);
  }

  #without({ resource, member }: Wanted): void {
    if (member === undefined || this.#chance(0.2)) {
      for (const each of this.world.program)
        if (resource.type === "Advertiser" && each.advertiser === resource.name) this.#set(each, undefined);
      this.#set(resource, undefined);
      return;
    }
    const { [member]: _, ...events } = resource.events ?? {};
    this.#set(resource, { ...resource, events });
  }

  #rename(): void {
    const { world } = this;
    const former = this.#pick(world.program);
    if (former === undefined) return;
    const { type } = former;
    const names = { Advertiser: ["a", "b"], ConversionEvent: ["e", "f", "g", "h"], ConversionEventSet: ["s", "t"] };
    const name = this.#free(type, names[type]);
    if (name === undefined) return;
    // What a run has made, and its state was not saved, is not found under a new name.
    const aliases =
      this.#chance(0.5) && world.onlyOn === undefined
        ? [former.name, ...(former.aliases ?? [])].filter((each) => each !== name)
        : [];
    this.#set(former, { ...former, name, aliases });
    for (const each of world.program)
      if (type === "Advertiser" && each.advertiser === former.name) this.#set(each, { ...each, advertiser: name });
  }

  #entry({ resource, member }: Wanted, change: Partial<Entry>): void {
    const { eventName: platformName, ...others } = change;
    if (member === undefined) {
      this.#set(resource, { ...resource, ...(platformName === undefined ? {} : { platformName }), ...others });
      return;
    }
    const entry = { ...(resource.events?.[member] as Entry), ...change };
    this.#set(resource, { ...resource, events: { ...resource.events, [member]: entry } });
  }

  #holds({ kind, key, existingId }: Wanted): boolean {
    const object = objectKey(kind, existingId ?? "");
    return heldIn(this.world.state).some(
      (each) => each.key === key && (existingId === undefined || each.object === object),
    );
  }

  #change(): void {
    const one = this.#pick(this.world.wanted);
    if (one === undefined || (one.existingId !== undefined && !this.#holds(one))) return;
    const plain = { existingId: undefined };
    if (one.kind === "ConversionEvent" && this.#chance(0.6)) this.#entry(one, { ...plain, value: this.#value() });
    else this.#entry(one, { ...plain, eventName: this.#name() });
  }

  /** `existingId` is taken away again. */
  #plain(): void {
    const one = this.#pick(this.world.wanted.filter((each) => each.existingId !== undefined && this.#holds(each)));
    if (one !== undefined) this.#entry(one, { existingId: undefined });
  }

  #deletes(): void {
    const one = this.#pick(this.world.program);
    if (one !== undefined && this.world.config.delete) this.#set(one, { ...one, deletes: one.deletes !== true });
  }

  /** Who has looked in the account adopts an object that nobody manages, with the arguments that it has. */
  #adopt(): void {
    const { world } = this;
    const isUsed = ({ kind, id }: Made) =>
      heldIn(world.state).some(({ object }) => object === objectKey(kind, id)) ||
      world.wanted.some((each) => each.kind === kind && each.existingId === id);
    const isNobodys = (each: Made) => each.key === undefined || world.released.has(each);
    const free = world.platform.objects.filter(
      (each) => each.isLive && each.kind === "ConversionEvent" && !isUsed(each) && isNobodys(each),
    );
    const made = this.#pick(free);
    const name = this.#free("ConversionEvent", ["e", "f", "g", "h"]);
    if (made === undefined || name === undefined) return;
    const entry = entryOf(made);
    const owner = String(made.fields.advertiser_id);
    world.log.push(`  somebody adopts ${objectKey(made.kind, made.id)}`);
    this.#set(undefined, {
      type: "ConversionEvent",
      name,
      advertiser: this.#ownerNamed(owner) ?? owner,
      platformName: entry.eventName,
      value: entry.value,
      existingId: made.id,
    });
  }

  /** The resource of the program that has this advertiser. */
  #ownerNamed(id: string): string | undefined {
    const { world } = this;
    const isIt = ({ object, isToGo }: { object: string; isToGo: boolean }) =>
      !isToGo && object === objectKey("Advertiser", id);
    const key = heldIn(world.state).find(isIt)?.key;
    return world.wanted.find((each) => each.kind === "Advertiser" && each.key === key)?.resource.name;
  }

  /** An open create is answered by `existingId`. */
  #answerInProgram(): void {
    const { world } = this;
    const machine = this.#machine();
    for (const create of world.facts(machine).open) {
      const one = world.wanted.find(({ key }) => key === create.ref.key);
      const made = world.truthOf(create.ref.short);
      if (one === undefined || made === undefined || one.existingId !== undefined) continue;
      const isUsed = world.wanted.some((each) => each.kind === one.kind && each.existingId === made.id);
      if (isUsed || !this.#hasSameOwner(one, made)) continue;
      world.log.push(`  somebody sets existingId ${made.id} at ${one.key}`);
      this.#entry(one, { ...entryOf(made), existingId: made.id });
      return;
    }
  }

  #hasSameOwner({ resource }: Wanted, { fields }: Made): boolean {
    const owner = String(fields.advertiser_id ?? "");
    return fields.advertiser_id === undefined || [owner, this.#ownerNamed(owner)].includes(resource.advertiser ?? "");
  }

  /** A single event becomes one of a set, or the other way round, by its id. */
  #move(): void {
    const { world } = this;
    const held = new Map(heldIn(world.state).map(({ key, object }) => [key, object]));
    const one = this.#pick(world.wanted.filter((each) => each.kind === "ConversionEvent" && held.has(each.key)));
    const id = held.get(one?.key ?? "")?.split(" ")[1];
    if (one === undefined || id === undefined) return;
    if (world.wanted.some((each) => each.kind === one.kind && each.existingId === id && each !== one)) return;
    const made = world.platform.get("ConversionEvent", id);
    if (made === undefined || !made.isLive || !this.#hasSameOwner(one, made)) return;
    const entry = { ...entryOf(made), existingId: id };
    const owner = one.resource.advertiser ?? "";
    if (one.member === undefined) {
      const into = world.program.find((each) => each.type === "ConversionEventSet" && each.advertiser === owner);
      if (into === undefined || Object.keys(into.events ?? {}).length === 4) return;
      this.#addMember(entry, into);
    } else {
      const name = this.#free("ConversionEvent", ["e", "f", "g", "h"]);
      if (name === undefined) return;
      const moved = { name, advertiser: owner, platformName: entry.eventName, value: entry.value, existingId: id };
      this.#set(undefined, { type: "ConversionEvent", ...moved });
    }
    const now = world.wanted.find(({ key, existingId }) => key === one.key && existingId === one.existingId);
    if (now !== undefined) this.#withoutOne(now);
  }

  #withoutOne({ resource, member }: Wanted): void {
    const { [member ?? ""]: _, ...events } = resource.events ?? {};
    this.#set(resource, member === undefined ? undefined : { ...resource, events });
  }

  // The end

  /** At most three more `up`s with people who answer settle everything. */
  async #settleDown(): Promise<number> {
    const { world } = this;
    world.wait(1000);
    world.log.push("the end");
    const machine = this.#machine();
    for (let ups = 1; ups <= 3; ups++) {
      await world.answer(machine);
      if (world.config.read) await world.run("refresh", machine);
      await world.forget(machine);
      this.#correct();
      this.#tell("up", machine, {});
      const done = await world.run("up", machine);
      world.check();
      world.wait(1000);
      if (done?.errors.length !== 0) continue;
      world.checkWhole();
      this.#expectDeclared();
      const again = await world.run("preview", machine);
      const changes = [...(again?.ops ?? [])].filter(([, op]) => op !== "same");
      if (changes.length > 0 || again?.errors.length !== 0) throw new Violation(`not settled: ${changes.join("; ")}`);
      return ups;
    }
    throw new Violation("three more ups have not settled everything");
  }

  /** People correct an `existingId` that names nothing, or that two have; and of two that have one object they remove one. */
  #correct(): void {
    const { world } = this;
    const seen = new Set<string>();
    for (const { object, key, isToGo } of heldIn(world.state)) {
      const one = world.wanted.find((each) => each.key === key);
      if (one !== undefined && !isToGo && seen.has(object)) this.#withoutOne(one);
      if (one !== undefined && !isToGo) seen.add(object);
    }
    const held = new Map(heldIn(world.state).map(({ key, object }) => [object, key]));
    for (const one of world.wanted) {
      if (one.existingId === undefined) continue;
      const holder = held.get(objectKey(one.kind, one.existingId));
      const isTaken = holder !== undefined && holder !== one.key && world.wanted.some(({ key }) => key === holder);
      const made = world.platform.get(one.kind, one.existingId);
      if (isTaken || made?.isLive !== true || !this.#hasSameOwner(one, made))
        this.#entry(one, { existingId: undefined });
    }
  }

  #expectDeclared(): void {
    const { world } = this;
    const held = new Map(heldIn(world.state).map(({ key, object }) => [key, object]));
    if (unresolvedKeys(world.state).size > 0) throw new Violation("a create is unresolved after an up without errors");
    for (const { key, kind, name, value } of world.wanted) {
      const object = held.get(key);
      if (object === undefined) throw new Violation(`${key} is declared, and not in the state`);
      held.delete(key);
      const made = world.platform.get(kind, object.split(" ")[1] ?? "");
      const there = [made?.fields.event_name ?? made?.fields.advertiser_name, made?.fields.value];
      if (there[0] !== name || (kind === "ConversionEvent" && there[1] !== value))
        throw new Violation(`${key} is ${name} with ${value}, and ${object} is ${there.join(" with ")}`);
    }
    if (held.size > 0) throw new Violation(`in the state, and not declared: ${[...held.keys()].join(", ")}`);
  }
}

function entryOf({ fields }: Made): Entry {
  return { eventName: String(fields.event_name ?? fields.advertiser_name), value: Number(fields.value) };
}

/** How many objects a preview says are created. */
function createsIn({ ops, texts }: Done, world: World): number {
  const singles = world.wanted.filter(({ member, existingId, resource }) => {
    const op = ops.get(refIn(world.stack, resource).urn) ?? "";
    return member === undefined && existingId === undefined && ["create", "replace"].includes(op);
  });
  const ofSets = texts.flatMap((text) => /^events: .*/m.exec(text)?.[0] ?? []).join(" ");
  const members = [...ofSets.matchAll(/(\d+) (to create|to replace)\b/g)].reduce((sum, [, n]) => sum + Number(n), 0);
  return singles.length + members;
}
