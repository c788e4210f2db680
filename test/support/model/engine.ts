/**
 * What Pulumi's engine does with a stack, run after run: it checks and compares one resource after the other, creates before it deletes, saves
 * before and after each step, and goes on from what is saved. `test/engine/stand-in.test.ts` plays the same programs with the real engine, and
 * expects the same calls and states. None of the provider's logic is copied here.
 */
import { type ResourceName, typeTokenOf } from "../../../provider/src/kinds/index.js";
import type { createProvider, createSetProvider } from "../../../provider/src/provider/dynamic.js";
import { exactId, isPlatformId } from "../../../provider/src/rules/index.js";
import { PROVIDER, UNKNOWN } from "../../../provider/src/state/index.js";
import { carriedBack } from "../carried.js";

export type Values = Record<string, unknown>;

export interface Saved {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs: Values;
  readonly outputs: Values;
  readonly delete?: boolean;
  readonly retainOnDelete?: boolean;
  readonly initErrors?: readonly string[];
  readonly dependencies?: readonly string[];
  /** In an operation: possible former URNs. */
  readonly aliases?: readonly string[];
  readonly custom: true;
}

/** Of a create or an update without id and outputs. */
interface Operation {
  readonly type: "creating" | "updating" | "deleting";
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

/** What a program registers for one resource. */
export interface Registration {
  readonly type: ResourceName;
  readonly urn: string;
  /** URNs that it had. */
  readonly aliases: readonly string[];
  readonly retainOnDelete: boolean;
  /** The URN of its advertiser, if that is a resource. */
  readonly owner: string | undefined;
  inputs(advertiserId: unknown): Values;
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
  /** URNs; absent for all. */
  readonly targets?: ReadonlySet<string> | undefined;
  /** URNs that are replaced whatever has changed. */
  readonly replace?: ReadonlySet<string> | undefined;
  /** Whether steps of several resources run at once. */
  readonly concurrent?: boolean;
  /** Ctrl-C once so many steps have begun: no other one begins. */
  readonly stopAfter?: number | undefined;
  /** The program has ended well, and nothing is deleted yet. */
  readonly programEnded?: () => void;
  /** Pulumi shows which resource leaves the state. */
  readonly leaves?: (resource: Saved) => void;
}

export interface Ended {
  readonly errors: readonly string[];
  /** The operations that were done, or would be, by URN. */
  readonly ops: ReadonlyMap<string, Op>;
  /** The state to save at the end. */
  readonly deployment: Deployment;
}

/** Values as the engine passes them on, with sorted names. */
const carried = (values: object | undefined) => JSON.parse(JSON.stringify(values ?? {}, inOrder)) as Values;

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
  /** The URNs that the program has registered, former ones too. */
  readonly reached = new Set<string>();
  readonly #renamed = new Map<string, string>();
  /** Resources that this run has written come before the others. */
  resources: Saved[];
  isOver = false;
  #written = 0;
  #steps = 0;
  #pending: Operation[];

  constructor(
    before: Deployment,
    readonly options: RunOptions,
  ) {
    this.resources = [...before.resources];
    // The engine keeps pending creates until a command clears them.
    this.#pending = (before.pending_operations ?? []).filter(({ type }) => type === "creating");
  }

  get ended(): Ended {
    const nameOf = (urn: string) => this.#renamed.get(urn) ?? urn;
    const deployment = {
      manifest: { time: this.options.now() },
      resources: this.resources.map((each) => {
        const dependencies = each.dependencies?.map(nameOf);
        return { ...each, urn: nameOf(each.urn), ...(dependencies === undefined ? {} : { dependencies }) };
      }),
      ...(this.#pending.length === 0 ? {} : { pending_operations: this.#pending }),
    };
    return { errors: this.errors, ops: this.ops, deployment };
  }

  save(): void {
    const { checkpoints, isPreview, save } = this.options;
    if (checkpoints && isPreview !== true) save(structuredClone(this.ended.deployment));
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

  /** Runs one step: its operation is saved before, and its result after. */
  async step(operation: Operation, work: () => Promise<void>): Promise<void> {
    if (++this.#steps > (this.options.stopAfter ?? Number.POSITIVE_INFINITY)) return this.fail(new Error("Ctrl-C"));
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
    this.isOver ||= isLast;
  }
}

/** A `pulumi up`, or a preview of one. */
export async function up(before: Deployment, program: readonly Registration[], options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  const { isPreview = false, concurrent = false, targets, faces } = options;
  const skipped = new Set<string>();
  const advertiserIds = new Map<string, unknown>();

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
  const generated = async (resource: Registration): Promise<(() => Promise<void>) | undefined> => {
    const { type, urn, owner, retainOnDelete } = resource;
    const old = [urn, ...resource.aliases]
      .map((name) => before.resources.find((each) => each.urn === name && each.delete !== true))
      .find(Boolean);
    const dependencies = owner === undefined ? [] : [owner];
    const noteId = (outputs: Values | undefined) => {
      if (type === "Advertiser") advertiserIds.set(urn, outputs === undefined ? UNKNOWN : outputs.advertiserId);
    };
    if (targets?.has(urn) === false) {
      if (old === undefined) skipped.add(urn);
      else untouched(old);
      noteId(old === undefined && isPreview ? undefined : (old?.outputs ?? {}));
      return undefined;
    }
    work.reached.add(urn);
    if (old !== undefined) work.reached.add(old.urn);
    const face = faces[type];
    const given = carried(resource.inputs(owner === undefined ? undefined : advertiserIds.get(owner)));
    const check = async (olds: Values): Promise<Values | undefined> => {
      const { inputs, failures = [] } = await face.check(olds, { ...given });
      for (const { reason } of failures) work.fail(new Error(reason));
      return failures.length > 0 ? undefined : withProvider(inputs, given);
    };
    const base = { urn, type: typeTokenOf(type), custom: true as const, retainOnDelete, dependencies };
    const formerly = resource.aliases.length === 0 ? {} : { aliases: resource.aliases };

    const created = (op: "create" | "replace", inputs: Values) => {
      work.ops.set(urn, op);
      if (isPreview) noteId(undefined);
      const next = { ...base, inputs };
      const take = (now: Saved) => {
        if (old !== undefined) work.alter(old, { ...old, delete: true });
        work.put(undefined, now);
      };
      return () =>
        work.step({ type: "creating", resource: { ...next, ...formerly } }, async () => {
          try {
            const { id, outs } = await face.create({ ...inputs });
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
      work.ops.set(urn, "update");
      const { id = "" } = from;
      // The program reads it from the id, which the engine has in a preview too.
      if (isPreview) noteId(isPlatformId(id) ? { advertiserId: exactId(id) } : undefined);
      return () =>
        work.step({ type: "updating", resource: { ...base, inputs, ...formerly } }, async () => {
          try {
            const { outs } = await face.update(id, from.outputs, { ...inputs });
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

    const isAsked = options.replace?.has(urn) === true;
    const inputs = await check(isAsked ? {} : (old?.inputs ?? {}));
    if (inputs === undefined) return undefined;
    // Outside of a preview its check has failed, because the owner's id is missing.
    if (skipped.has(owner ?? "")) work.fail(new Error(`${urn} needs ${owner}, which is new and no target`), false);
    if (old === undefined) return created("create", inputs);
    if (isAsked) return created("replace", inputs);
    const { id = "", outputs } = old;
    const plan = await face.diff(id, outputs, { ...inputs });
    if ((plan.replaces ?? []).length > 0) {
      const anew = await check({});
      return anew === undefined ? undefined : created("replace", anew);
    }
    if (plan.changes === true || old.initErrors !== undefined) return updated(old, inputs);
    work.ops.set(urn, "same");
    if (isPreview) noteId(outputs);
    return async () => {
      const now = { ...base, id, inputs, outputs };
      work.put(old, now);
      noteId(outputs);
      if (differ(old, now)) work.save();
    };
  };

  let generating: Promise<unknown> = Promise.resolve();
  const register = async (resource: Registration): Promise<void> => {
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
  for (const resource of program) {
    const owner = registered.get(resource.owner ?? "");
    last = (concurrent ? (owner ?? Promise.resolve()) : last).then(() => register(resource));
    registered.set(resource.urn, last);
  }
  await Promise.all(registered.values());
  if (work.isOver) return work.ended;
  options.programEnded?.();
  try {
    await deleteUnreached(work, before);
  } catch (error) {
    work.fail(error);
  }
  return work.ended;
}

/** At the end of an `up`, deletes replaced objects and those that the program has not registered, if they are targets. */
async function deleteUnreached(work: Work, { resources }: Deployment): Promise<void> {
  const { targets, isPreview, faces } = work.options;
  const isUnreached = ({ urn }: Saved) => !work.reached.has(urn);
  const allowed = targets && withDependents(resources, targets);
  await askDependents(resources.filter(isUnreached), targets, faces);
  const gone = work.resources.filter((each) => each.delete === true || isUnreached(each));
  const condemned = gone.filter(({ urn }) => allowed?.has(urn) !== false);
  for (const { urn } of condemned) {
    if (targets?.has(urn) === false)
      work.fail(new Error(`${urn} would be deleted, and is no target`), isPreview !== true);
  }
  if (work.isOver) return;
  for (const each of gone) if (!condemned.includes(each) && isUnreached(each)) work.put(each, { ...each });
  await deleteThose(work, condemned);
}

/** Asks whether each would be replaced with the target that it depends on. */
async function askDependents(resources: readonly Saved[], targets: RunOptions["targets"], faces: Faces): Promise<void> {
  for (const each of resources) {
    if (each.dependencies?.some((urn) => targets?.has(urn)) !== true) continue;
    const inputs = { ...each.inputs, advertiserId: UNKNOWN };
    await faceOf(faces, each).diff(each.id ?? "", each.outputs, inputs);
  }
}

/** Whether an unchanged resource is written, because what is saved of it differs. */
function differ(old: Saved, now: Saved): boolean {
  const textOf = ({ urn, retainOnDelete = false, inputs, dependencies = [] }: Saved) =>
    JSON.stringify([urn, retainOnDelete, Object.entries(inputs).toSorted(), dependencies.toSorted()]);
  return textOf(old) !== textOf(now);
}

/** These URNs, and those of all resources that depend on them. */
function withDependents(resources: readonly Saved[], urns: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(urns);
  for (const { urn, dependencies = [] } of resources) if (dependencies.some((each) => all.has(each))) all.add(urn);
  return all;
}

/** Deletes dependent resources first. */
async function deleteThose(work: Work, gone: readonly Saved[]): Promise<void> {
  const { faces, isPreview } = work.options;
  const all = [...work.resources];
  const levelOf = (one: Saved): number => {
    const needing = all.slice(0, all.indexOf(one)).filter(({ urn }) => one.dependencies?.includes(urn) === true);
    return Math.max(0, ...needing.map((each) => (gone.includes(each) ? 1 + levelOf(each) : 0)));
  };
  const levels = Map.groupBy(gone.toReversed(), levelOf);
  for (const resource of [...levels].toSorted(([a], [b]) => b - a).flatMap(([, level]) => level)) {
    if (work.isOver) return;
    if (resource.delete !== true) work.ops.set(resource.urn, "delete");
    work.options.leaves?.(resource);
    if (isPreview === true) continue;
    await work.step({ type: "deleting", resource }, async () => {
      if (resource.retainOnDelete !== true) await faceOf(faces, resource).delete(resource.id ?? "", resource.outputs);
      work.drop(resource);
    });
  }
}

function faceOf(faces: Faces, { type }: Saved) {
  return faces[type.split(":").at(-1) as keyof Faces];
}

export async function destroy(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  try {
    await deleteThose(work, work.resources);
  } catch (error) {
    work.fail(error);
  }
  return work.ended;
}

/** Reads each resource, also those to delete, compares the result with the arguments, and saves at the end. */
export async function refresh(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  for (const resource of before.resources.filter(({ urn }) => options.targets?.has(urn) !== false)) {
    const face = faceOf(options.faces, resource);
    try {
      const { id, props } = await face.read(resource.id ?? "", resource.outputs);
      if (id === "" || id === undefined) {
        work.drop(resource);
        continue;
      }
      const { initErrors: _, ...whole } = resource;
      const outputs = withProvider(props, resource.outputs);
      work.alter(resource, { ...whole, id, outputs });
      await face.diff(id, outputs, resource.inputs);
    } catch (error) {
      work.fail(error, false);
    }
  }
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
