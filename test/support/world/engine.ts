/**
 * What Pulumi's engine does with a stack, run after run: it checks and compares one resource after the other, creates before it deletes,
 * saves before and after each step, and goes on from what is saved. `test/engine/stand-in.test.ts` plays the same programs with the real
 * engine, and expects the same calls and states. None of the provider's logic is copied here.
 */

import { typeTokenOf } from "../../../provider/src/kinds/index.js";
import type { createProvider, createSetProvider } from "../../../provider/src/provider/dynamic.js";
import { exactId, isPlatformId } from "../../../provider/src/rules/index.js";
import { PROVIDER, UNKNOWN } from "../../../provider/src/state/index.js";
import { carriedBack } from "../carried.js";
import { keyOf, type Program, type Resource, type Said, urnOfResource } from "./program.js";

type Values = Record<string, unknown>;

export interface Saved {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs: Values;
  readonly outputs: Values;
  readonly delete?: boolean;
  readonly pendingReplacement?: boolean;
  readonly retainOnDelete?: boolean;
  readonly protect?: boolean;
  readonly initErrors?: readonly string[];
  readonly dependencies?: readonly string[];
  /** In an operation: possible former URNs. */
  readonly aliases?: readonly string[];
  readonly custom: true;
}

interface Operation {
  readonly type: "creating" | "updating" | "deleting";
  /** For a create or an update without id and outputs. */
  readonly resource: Omit<Saved, "outputs"> & { readonly outputs?: Values };
}

/** A stack's state, as `pulumi stack export` prints it. */
export interface Deployment {
  readonly manifest: { readonly time: string };
  readonly resources: readonly Saved[];
  readonly pending_operations?: readonly Operation[];
}

export interface Faces {
  readonly Advertiser: ReturnType<typeof createProvider>;
  readonly ConversionEvent: ReturnType<typeof createProvider>;
  readonly ConversionEventSet: ReturnType<typeof createSetProvider>;
}

/** A step as `pulumi preview --json --show-sames` prints it. */
export interface Step {
  readonly op: Op;
  readonly urn: string;
  readonly oldState?: Saved | undefined;
  readonly newState?: object | undefined;
}

export type Op = "same" | "create" | "update" | "replace" | "delete";

export interface RunOptions {
  readonly faces: Faces;
  /** Called with each state that is saved; throws when the run dies. */
  readonly save: (deployment: Deployment) => void;
  readonly now: () => string;
  /** If false, the state is saved only at the end. */
  readonly checkpoints: boolean;
  readonly isPreview?: boolean;
  /** Keys of the program's resources, or URNs in a refresh and a destroy; absent for all. */
  readonly targets?: ReadonlySet<string> | undefined;
  /** The program fails half way, after it has declared these resources. */
  readonly isBroken?: boolean;
  /** Includes what depends on the targets. */
  readonly targetDependents?: boolean;
  /** Whether steps of several resources run at once. */
  readonly concurrent?: boolean;
  /** Whether it repeats each failed call once, as error hooks do. */
  readonly asksAgain?: boolean;
}

export interface Ended {
  readonly errors: readonly string[];
  /** The operations that were done, or would be, by URN. */
  readonly ops: ReadonlyMap<string, Op>;
  /** In the engine's order. */
  readonly steps: readonly Step[];
  /** The state to save at the end. */
  readonly deployment: Deployment;
}

/** Values as the engine passes them on, with sorted names. */
const carried = (values: object | undefined) => JSON.parse(JSON.stringify(values ?? {}), inOrder) as Values;

function inOrder(_name: string, value: unknown): unknown {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
}

/** Adds the reference to the provider, as Pulumi's provider process does. */
const withProvider = (values: object | undefined, of: Values) =>
  carried({ ...carriedBack(values), [PROVIDER]: of[PROVIDER] });

/** One run's work on the state. */
class Work {
  readonly errors: string[] = [];
  readonly ops = new Map<string, Op>();
  readonly steps: Step[] = [];
  /** The URNs that the program has registered, former ones too. */
  readonly reached = new Set<string>();
  readonly #options: RunOptions;
  readonly #renamed = new Map<string, string>();
  /** Resources that this run has written come before the others. */
  resources: Saved[];
  #written = 0;
  #pending: Operation[];
  #isOver = false;

  constructor(before: Deployment, options: RunOptions) {
    this.#options = options;
    this.resources = [...before.resources];
    // The engine keeps pending creates until a command clears them.
    this.#pending = (before.pending_operations ?? []).filter(({ type }) => type === "creating");
  }

  get deployment(): Deployment {
    const nameOf = (urn: string) => this.#renamed.get(urn) ?? urn;
    return {
      manifest: { time: this.#options.now() },
      resources: this.resources.map((each) => {
        const dependencies = each.dependencies?.map(nameOf);
        return { ...each, urn: nameOf(each.urn), ...(dependencies === undefined ? {} : { dependencies }) };
      }),
      ...(this.#pending.length === 0 ? {} : { pending_operations: this.#pending }),
    };
  }

  get ended(): Ended {
    return { errors: this.errors, ops: this.ops, steps: this.steps, deployment: this.deployment };
  }

  save(): void {
    if (this.#options.checkpoints && this.#options.isPreview !== true)
      this.#options.save(structuredClone(this.deployment));
  }

  put(old: Saved | undefined, now: Saved): void {
    if (old !== undefined) this.drop(old);
    if (old !== undefined && old.urn !== now.urn) this.#renamed.set(old.urn, now.urn);
    this.resources.splice(this.#written++, 0, now);
  }

  drop(resource: Saved): void {
    const place = this.resources.indexOf(resource);
    if (place < 0) return;
    this.resources.splice(place, 1);
    if (place < this.#written) this.#written--;
  }

  /** Replaces a resource in its place. */
  alter(resource: Saved, now: Saved): void {
    this.resources = this.resources.map((each) => (each === resource ? now : each));
  }

  /** Whether a failure prevents further steps. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs one step: its operation is saved before, and its result after. */
  async step(operation: Operation, work: () => Promise<void>): Promise<void> {
    this.#pending.unshift(operation);
    this.save();
    try {
      await work();
    } catch (error) {
      this.fail(error);
    } finally {
      this.#pending = this.#pending.filter((each) => each !== operation);
      this.save();
    }
  }

  /** @param isLast whether no further step may begin. */
  fail(error: unknown, isLast = true): void {
    this.errors.push((error as Error).message);
    this.#isOver ||= isLast;
  }
}

/** A run whose program registers nothing: it saves the state without pending updates and deletes. */
export function refused(before: Deployment, errors: readonly string[], options: RunOptions): Ended {
  return { ...new Work(before, options).ended, errors };
}

/** A `pulumi up`, or a preview of one. */
export async function up(before: Deployment, program: Program, said: Said, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  const { isPreview = false, concurrent = false, targetDependents = false } = options;
  const named = options.targets && new Set([...options.targets].map(urnOfKey));
  const targets = named && new Set(named);
  const skipped = new Set<string>();
  const advertiserIds = new Map<string, unknown>();

  const asked = <T>(ask: () => Promise<T>) => (options.asksAgain === true ? ask().catch(ask) : ask());

  const oldOf = (resource: Resource): Saved | undefined => {
    const names = [resource.name, ...(resource.aliases ?? [])];
    const urns = names.map((name) => urnOfResource({ type: resource.type, name }));
    return urns.map((urn) => before.resources.find((each) => each.urn === urn && each.delete !== true)).find(Boolean);
  };

  /** Keeps a resource that is not a target as it was, after those that it depends on. */
  const untouched = (old: Saved): void => {
    work.reached.add(old.urn);
    for (const urn of old.dependencies ?? []) {
      const needed = before.resources.find((each) => each.urn === urn && each.delete !== true);
      if (needed !== undefined && !work.reached.has(urn)) untouched(needed);
    }
    work.put(old, { ...old });
  };

  /** Checks and compares. @returns the step to do, if any; none after a failure. */
  const generated = async (resource: Resource): Promise<(() => Promise<void>) | undefined> => {
    const { type, name } = resource;
    const urn = urnOfResource(resource);
    const old = oldOf(resource);
    const owner = resource.advertiser;
    const ownerUrn = owner === undefined || isPlatformId(owner) ? undefined : urnOfKey(`Advertiser ${owner}`);
    const dependencies = ownerUrn === undefined ? [] : [ownerUrn];
    const noteId = (outputs: Values | undefined) => {
      if (type === "Advertiser") advertiserIds.set(name, outputs === undefined ? UNKNOWN : outputs.advertiserId);
    };
    if (targetDependents && dependencies.some((each) => targets?.has(each))) targets?.add(urn);
    if (targets?.has(urn) === false) {
      if (old === undefined) skipped.add(urn);
      else untouched(old);
      noteId(old === undefined && isPreview ? undefined : (old?.outputs ?? {}));
      return undefined;
    }
    work.reached.add(urn);
    if (old !== undefined) work.reached.add(old.urn);
    const face = options.faces[type];
    const given = carried(said.inputsOf(resource, ownerUrn === undefined ? owner : advertiserIds.get(owner ?? "")));
    const check = async (olds: Values): Promise<Values | undefined> => {
      const { inputs, failures = [] } = await face.check(olds, { ...given });
      for (const { reason } of failures) work.fail(new Error(reason));
      return failures.length > 0 ? undefined : withProvider(inputs, given);
    };
    const base = {
      urn,
      type: typeTokenOf(type),
      custom: true as const,
      retainOnDelete: resource.deletes !== true,
      ...(resource.protect === true ? { protect: true } : {}),
      dependencies,
    };

    const aliases = (resource.aliases ?? []).map((former) => urnOfResource({ type, name: former }));
    const formerly = aliases.length === 0 ? {} : { aliases };

    const plan = (op: Op, inputs: Values) => {
      work.ops.set(urn, op);
      const { replaceOnChanges } = resource;
      work.steps.push({ op, urn, oldState: old, newState: { ...base, inputs, replaceOnChanges } });
    };

    const created = (op: "create" | "replace", inputs: Values) => {
      plan(op, inputs);
      if (isPreview) noteId(undefined);
      const next = { ...base, inputs };
      const take = (now: Saved) => {
        // An object that `deleteBeforeReplace` or a person's answer removed does not have to be deleted.
        if (old?.pendingReplacement === true) return work.put(old, now);
        if (old !== undefined) work.alter(old, { ...old, delete: true });
        work.put(undefined, now);
      };
      return () =>
        work.step({ type: "creating", resource: { ...next, ...formerly } }, async () => {
          try {
            const { id, outs } = await asked(() => face.create({ ...inputs }));
            take({ ...next, id, outputs: withProvider(outs, inputs) });
            noteId(outs);
          } catch (error) {
            const failed = partial(error);
            if (failed !== undefined) take({ ...next, ...failed });
            throw error;
          }
        });
    };

    const updated = (from: Saved, inputs: Values) => {
      plan("update", inputs);
      const { id = "" } = from;
      // The program reads it from the id, which the engine has in a preview too.
      if (isPreview) noteId(isPlatformId(id) ? { advertiserId: exactId(id) } : undefined);
      return () =>
        work.step({ type: "updating", resource: { ...base, inputs, ...formerly } }, async () => {
          try {
            const { outs } = await asked(() => face.update(id, from.outputs, { ...inputs }));
            work.put(from, { ...base, id, inputs, outputs: withProvider(outs, inputs) });
            noteId(outs);
          } catch (error) {
            const failed = partial(error);
            // New inputs that the object does not have are not saved.
            if (failed !== undefined) work.put(from, { ...base, inputs: from.inputs, ...failed, id });
            throw error;
          }
        });
    };

    const inputs = await check(old?.inputs ?? {});
    if (inputs === undefined) return undefined;
    // Outside of a preview its check has failed, because the owner's id is missing.
    if (skipped.has(ownerUrn ?? "")) work.fail(new Error(`${urn} needs ${owner}, which is new and no target`), false);
    if (old === undefined || old.pendingReplacement === true) return created("create", inputs);
    const { id = "", outputs } = old;
    const { changes, replaces = [] } = await face.diff(id, outputs, { ...inputs });
    if (replaces.length > 0) {
      const isProtected = old.protect === true && resource.protect === true;
      if (isProtected) work.fail(new Error(`unable to replace ${urn}, which is protected`), !isPreview);
      if (isProtected && !isPreview) return undefined;
      const anew = await check({});
      return anew === undefined ? undefined : created("replace", anew);
    }
    if (changes === true || old.initErrors !== undefined) return updated(old, inputs);
    plan("same", inputs);
    if (isPreview) noteId(outputs);
    return async () => {
      const now = { ...base, id, inputs, outputs };
      work.put(old, now);
      noteId(outputs);
      if (differ(old, now)) work.save();
    };
  };

  let generating: Promise<unknown> = Promise.resolve();
  const register = async (resource: Resource): Promise<void> => {
    const turn = generating.then(async () => {
      try {
        return work.isOver ? undefined : await generated(resource);
      } catch (error) {
        work.fail(error);
        return undefined;
      }
    });
    generating = turn;
    const carryOut = await turn;
    if (!isPreview && !work.isOver) await carryOut?.();
  };

  const registered = new Map<string, Promise<void>>();
  let last = Promise.resolve();
  for (const resource of program.values()) {
    const owner = registered.get(`Advertiser ${resource.advertiser}`);
    last = (concurrent ? (owner ?? Promise.resolve()) : last).then(() => register(resource));
    registered.set(keyOf(resource), last);
  }
  await Promise.all(registered.values());

  if (options.isBroken === true) work.fail(new Error("the program has failed"));
  if (work.isOver) return work.ended;
  const { findings } = said.atEnd();
  for (const { title, lines } of findings) work.fail(new Error([title, ...lines].join("\n")));
  if (work.isOver) return work.ended;
  try {
    await deleteUnreached(work, before, named, options);
  } catch (error) {
    work.fail(error);
  }
  return work.ended;
}

/** At the end of an `up`, deletes replaced objects and those that the program has not registered, if they are targets. */
async function deleteUnreached(
  work: Work,
  { resources }: Deployment,
  targets: ReadonlySet<string> | undefined,
  options: RunOptions,
): Promise<void> {
  const isUnreached = ({ urn }: Saved) => !work.reached.has(urn);
  const allowed = targets && withDependents(resources, targets);
  await askDependents(resources.filter(isUnreached), targets, options.faces);
  const gone = work.resources.filter((each) => each.delete === true || isUnreached(each));
  const condemned = gone.filter(({ urn }) => allowed?.has(urn) !== false);
  for (const { urn } of options.targetDependents === true ? [] : condemned) {
    if (targets?.has(urn) === false)
      work.fail(new Error(`${urn} would be deleted, and is no target`), options.isPreview !== true);
  }
  if (work.isOver) return;
  for (const each of gone) if (!condemned.includes(each) && isUnreached(each)) work.put(each, { ...each });
  await deleteThose(work, condemned, options);
}

/** Asks whether each would be replaced with the target that it depends on. */
async function askDependents(
  resources: readonly Saved[],
  targets: ReadonlySet<string> | undefined,
  faces: Faces,
): Promise<void> {
  for (const each of resources) {
    if (each.dependencies?.some((urn) => targets?.has(urn)) !== true) continue;
    const inputs = { ...each.inputs, advertiserId: UNKNOWN };
    await faceOf(faces, each).diff(each.id ?? "", each.outputs, inputs);
  }
}

function urnOfKey(key: string): string {
  const [type, name = ""] = key.split(" ") as [Resource["type"], string?];
  return urnOfResource({ type, name });
}

/** Whether an unchanged resource is written, because what is saved of it differs. */
function differ(old: Saved, now: Saved): boolean {
  const textOf = ({ urn, retainOnDelete = false, protect = false, inputs, dependencies = [] }: Saved) =>
    JSON.stringify([urn, retainOnDelete, protect, Object.entries(inputs).toSorted(), dependencies.toSorted()]);
  return textOf(old) !== textOf(now);
}

/** These URNs, and those of all resources that depend on them. */
function withDependents(resources: readonly Saved[], urns: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(urns);
  for (const { urn, dependencies = [] } of resources) if (dependencies.some((each) => all.has(each))) all.add(urn);
  return all;
}

/** Deletes dependent resources first; those that do not depend on each other are deleted at the same time. */
async function deleteThose(work: Work, gone: readonly Saved[], options: RunOptions): Promise<void> {
  const all = [...work.resources];
  const neededBy = (one: Saved) =>
    all.slice(0, all.indexOf(one)).filter(({ urn }) => one.dependencies?.includes(urn) === true);
  const levelOf = (one: Saved): number =>
    Math.max(0, ...neededBy(one).map((each) => (gone.includes(each) ? 1 + levelOf(each) : 0)));
  const levels = Map.groupBy(gone.toReversed(), levelOf);
  const spared = new Set<Saved>();
  const remove = async (resource: Saved) => {
    if (work.isOver || spared.has(resource)) return;
    if (resource.delete !== true) work.ops.set(resource.urn, "delete");
    work.steps.push({ op: "delete", urn: resource.urn, oldState: resource });
    const isProtected = resource.protect === true && resource.delete !== true;
    if (isProtected) for (const each of neededBy(resource)) spared.add(each);
    if (isProtected) work.fail(new Error(`${resource.urn} cannot be deleted: it is protected`), false);
    if (options.isPreview === true) return;
    await work.step({ type: "deleting", resource }, async () => {
      if (isProtected) return;
      if (resource.retainOnDelete !== true)
        await faceOf(options.faces, resource).delete(resource.id ?? "", resource.outputs);
      work.drop(resource);
    });
  };
  for (const [, level] of [...levels].toSorted(([a], [b]) => b - a)) {
    if (options.concurrent === true) await Promise.all(level.map(remove));
    else for (const resource of level) await remove(resource);
  }
}

function faceOf(faces: Faces, { type }: Saved) {
  return faces[type.split(":").at(-1) as keyof Faces];
}

export async function destroy(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  const { targets, targetDependents = false, faces } = options;
  try {
    await askDependents(before.resources, targets, faces);
  } catch (error) {
    work.fail(error);
    return work.ended;
  }
  const allowed = targets && withDependents(before.resources, targets);
  const condemned = work.resources.filter(({ urn }) => allowed?.has(urn) !== false);
  for (const { urn } of targetDependents ? [] : condemned)
    if (targets?.has(urn) === false) work.fail(new Error(`${urn} would be deleted, and is no target`));
  await deleteThose(work, condemned, options);
  return work.ended;
}

/** Reads each resource, also those to delete, compares the result with the arguments, and saves at the end. */
export async function refresh(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  const readOne = async (resource: Saved) => {
    const face = faceOf(options.faces, resource);
    try {
      const { id, props } = await face.read(resource.id ?? "", resource.outputs);
      if (id === "" || id === undefined) return work.drop(resource);
      const { initErrors: _, ...whole } = resource;
      const outputs = withProvider(props, resource.outputs);
      work.alter(resource, { ...whole, id, outputs });
      await face.diff(id, outputs, resource.inputs);
    } catch (error) {
      work.fail(error, false);
    }
  };
  const targets = before.resources.filter(({ urn }) => options.targets?.has(urn) !== false);
  if (options.concurrent === true) await Promise.all(targets.map(readOne));
  else for (const resource of targets) await readOne(resource);
  const urns = new Set(work.resources.map(({ urn }) => urn));
  for (const each of work.resources) {
    if (each.dependencies?.some((urn) => !urns.has(urn)))
      work.alter(each, { ...each, dependencies: each.dependencies.filter((urn) => urns.has(urn)) });
  }
  work.save();
  return work.ended;
}

/** What an error gives the engine to save. */
function partial(error: unknown): Pick<Saved, "id" | "outputs" | "initErrors"> | undefined {
  const { id, properties, reasons } = error as Error & { id?: string; properties?: Values; reasons?: string[] };
  if (id === undefined) return undefined;
  return { id, outputs: carried(carriedBack(properties)), ...(reasons === undefined ? {} : { initErrors: reasons }) };
}
