/**
 * What Pulumi's engine does with a stack, run after run, as docs and tests of the real one have it: it checks, compares, creates before it
 * deletes, saves before and after each step, and goes on from what is saved. Nothing of the provider's is copied here.
 */

import { typeTokenOf } from "../../../provider/src/kinds/index.js";
import type { createProvider, createSetProvider } from "../../../provider/src/provider/dynamic.js";
import { isPlatformId } from "../../../provider/src/rules/index.js";
import { UNKNOWN } from "../../../provider/src/state/index.js";
import { keyOf, type Program, type Resource, type Said, urnOfResource } from "./program.js";

type Values = Record<string, unknown>;

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
  readonly custom: true;
}

interface Operation {
  readonly type: "creating" | "updating" | "deleting";
  readonly resource: Saved;
}

/** What a backend keeps, as `pulumi stack export` prints it. */
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

export type Op = "same" | "create" | "update" | "replace" | "delete";

export interface RunOptions {
  readonly faces: Faces;
  /** Called with what is saved; throws where the run dies. */
  readonly save: (deployment: Deployment) => void;
  readonly now: () => string;
  /** Without it the state is saved at the end alone. */
  readonly checkpoints: boolean;
  readonly isPreview?: boolean;
  /** Keys of the program's resources; absent for all. */
  readonly targets?: ReadonlySet<string> | undefined;
  readonly concurrent?: boolean;
}

export interface Ended {
  readonly errors: readonly string[];
  /** What was done, or would be, by URN. */
  readonly ops: ReadonlyMap<string, Op>;
  /** The state as it is to be saved at last. */
  readonly deployment: Deployment;
}

/** As it comes through the engine. */
const carried = (values: object | undefined) => JSON.parse(JSON.stringify(values ?? {})) as Values;

class Failed extends Error {}

/** One run's work on the state. */
class Work {
  readonly errors: string[] = [];
  readonly ops = new Map<string, Op>();
  readonly seen = new Set<Saved>();
  readonly #options: RunOptions;
  resources: Saved[];
  #pending: Operation[];

  constructor(before: Deployment, options: RunOptions) {
    this.#options = options;
    this.resources = [...before.resources];
    // The engine keeps what was being created until it is told to clear it.
    this.#pending = (before.pending_operations ?? []).filter(({ type }) => type === "creating");
  }

  get deployment(): Deployment {
    return {
      manifest: { time: this.#options.now() },
      resources: this.resources,
      ...(this.#pending.length === 0 ? {} : { pending_operations: this.#pending }),
    };
  }

  save(): void {
    if (this.#options.checkpoints && this.#options.isPreview !== true)
      this.#options.save(structuredClone(this.deployment));
  }

  put(old: Saved | undefined, now: Saved): void {
    const place = old === undefined ? -1 : this.resources.indexOf(old);
    if (place < 0) this.resources.push(now);
    else this.resources[place] = now;
    this.seen.add(now);
  }

  /** Does one step, with its operation saved before and its result after. */
  async step(operation: Operation, work: () => Promise<void>): Promise<void> {
    this.#pending.push(operation);
    this.save();
    try {
      await work();
    } finally {
      this.#pending = this.#pending.filter((each) => each !== operation);
      this.save();
    }
  }

  fail(error: unknown): void {
    this.errors.push((error as Error).message);
  }
}

/** A `pulumi up`, or a preview of one. */
export async function up(before: Deployment, program: Program, said: Said, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  const { isPreview = false, targets } = options;
  const advertiserIds = new Map<string, unknown>();
  const isTarget = (resource: Resource) => targets === undefined || targets.has(keyOf(resource));
  const all = [...program.values()];

  const register = async (resource: Resource): Promise<void> => {
    if (work.errors.length > 0) return;
    const old = oldOf(resource);
    if (!isTarget(resource)) {
      if (old === undefined) return;
      work.seen.add(old);
      if (resource.type === "Advertiser") advertiserIds.set(resource.name, old.outputs.advertiserId);
      return;
    }
    const owner = resource.advertiser;
    const isNamed = owner !== undefined && !isPlatformId(owner);
    if (isNamed && !advertiserIds.has(owner)) {
      work.errors.push(`${keyOf(resource)} depends on ${owner}, which is new and no target`); // the engine refuses that
      return;
    }
    const dependencies = isNamed ? [urnOfResource({ type: "Advertiser", name: owner })] : [];
    try {
      const given = said.inputsOf(resource, isNamed ? advertiserIds.get(owner) : owner);
      await registered(resource, old, carried(given), dependencies);
    } catch (error) {
      if (!(error instanceof Failed)) work.fail(error);
    }
  };

  const oldOf = (resource: Resource): Saved | undefined => {
    const names = [resource.name, ...(resource.aliases ?? [])];
    const urns = names.map((name) => urnOfResource({ type: resource.type, name }));
    return urns
      .map((urn) => work.resources.find((each) => each.urn === urn && each.delete !== true && !work.seen.has(each)))
      .find(Boolean);
  };

  const registered = async (
    resource: Resource,
    old: Saved | undefined,
    given: Values,
    dependencies: readonly string[],
  ) => {
    const { type, name } = resource;
    const face = options.faces[type];
    const urn = urnOfResource(resource);
    const noteId = (outputs: Values | undefined) => {
      if (type === "Advertiser") advertiserIds.set(name, outputs === undefined ? UNKNOWN : outputs.advertiserId);
    };
    const check = async (olds: Values) => {
      const { inputs, failures = [] } = await face.check(olds, carried(given));
      if (failures.length === 0) return carried(inputs);
      for (const { reason } of failures) work.errors.push(reason);
      throw new Failed();
    };
    const base = {
      urn,
      type: typeTokenOf(type),
      custom: true as const,
      retainOnDelete: resource.deletes !== true,
      dependencies,
    };
    let inputs = await check(old?.inputs ?? {});
    if (old === undefined) {
      await created("create", inputs);
      return;
    }
    work.seen.add(old);
    const { changes, replaces = [] } = await face.diff(old.id ?? "", old.outputs, inputs);
    if (replaces.length > 0) {
      inputs = await check({});
      await created("replace", inputs);
      return;
    }
    if (changes !== true && old.initErrors === undefined) {
      work.ops.set(urn, "same");
      noteId(old.outputs);
      if (isPreview) return;
      const { id, outputs } = old;
      work.put(old, { ...base, ...(id === undefined ? {} : { id }), inputs, outputs });
      work.save();
      return;
    }
    work.ops.set(urn, "update");
    noteId(undefined);
    if (isPreview) return;
    const { id = "", outputs } = old;
    const next = { ...base, id, inputs };
    await work.step({ type: "updating", resource: { ...next, outputs } }, async () => {
      try {
        const { outs } = await face.update(id, outputs, inputs);
        work.put(old, { ...next, outputs: carried(outs) });
        noteId(outs);
      } catch (error) {
        const failed = partial(error, next);
        if (failed !== undefined) work.put(old, failed);
        throw error;
      }
    });

    async function created(op: "create" | "replace", checked: Values): Promise<void> {
      work.ops.set(urn, op);
      noteId(undefined);
      if (isPreview) return;
      const next = { ...base, inputs: checked };
      const take = (now: Saved) => {
        if (old !== undefined) work.put(old, { ...old, delete: true });
        work.put(undefined, now);
      };
      await work.step({ type: "creating", resource: { ...next, outputs: {} } }, async () => {
        try {
          const { id, outs } = await face.create(checked);
          take({ ...next, id, outputs: carried(outs) });
          noteId(outs);
        } catch (error) {
          const failed = partial(error, next);
          if (failed !== undefined) take(failed);
          throw error;
        }
      });
    }
  };

  const inTurns = async (resources: readonly Resource[]) => {
    if (options.concurrent === true) await Promise.all(resources.map(register));
    else for (const resource of resources) await register(resource);
  };
  await inTurns(all.filter(({ type }) => type === "Advertiser"));
  await inTurns(all.filter(({ type }) => type !== "Advertiser"));
  if (work.errors.length === 0) {
    const { findings } = said.atEnd();
    for (const { title, lines } of findings) work.errors.push([title, ...lines].join("\n"));
  }
  const targetUrns = targets && new Set([...targets].map(urnOfKey));
  const gone = work.resources.filter(
    (each) => each.delete === true || (!work.seen.has(each) && targetUrns?.has(each.urn) !== false),
  );
  if (work.errors.length === 0)
    await deleteThose(work, targetUrns === undefined ? gone : gone.filter(({ urn }) => targetUrns.has(urn)), options);
  return { errors: work.errors, ops: work.ops, deployment: work.deployment };
}

function urnOfKey(key: string): string {
  const [type, name = ""] = key.split(" ") as [Resource["type"], string?];
  return urnOfResource({ type, name });
}

/** In reverse order, as the engine does at the end. */
async function deleteThose(work: Work, gone: readonly Saved[], options: RunOptions): Promise<void> {
  for (const resource of gone.toReversed()) {
    if (resource.delete !== true) work.ops.set(resource.urn, "delete");
    if (options.isPreview === true) continue;
    try {
      await work.step({ type: "deleting", resource }, async () => {
        if (resource.retainOnDelete !== true)
          await faceOf(options.faces, resource).delete(resource.id ?? "", resource.outputs);
        work.resources = work.resources.filter((each) => each !== resource);
      });
    } catch (error) {
      work.fail(error);
      return;
    }
  }
}

function faceOf(faces: Faces, { type }: Saved) {
  return faces[type.split(":").at(-1) as keyof Faces];
}

export async function destroy(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  await deleteThose(work, [...work.resources], options);
  return { errors: work.errors, ops: work.ops, deployment: work.deployment };
}

export async function refresh(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  for (const resource of [...work.resources]) {
    if (resource.delete === true) continue;
    try {
      const { id, props } = await faceOf(options.faces, resource).read(resource.id ?? "", resource.outputs);
      const { initErrors: _, ...whole } = resource;
      if (id === "" || id === undefined) work.resources = work.resources.filter((each) => each !== resource);
      else work.put(resource, { ...whole, id, outputs: carried(props) });
    } catch (error) {
      work.fail(error);
    }
  }
  work.save();
  return { errors: work.errors, ops: work.ops, deployment: work.deployment };
}

/** What is saved beside an error. */
function partial(error: unknown, next: Omit<Saved, "outputs">): Saved | undefined {
  const { id, properties, message } = error as Error & { id?: string; properties?: Values };
  return id === undefined ? undefined : { ...next, id, outputs: carried(properties), initErrors: [message] };
}
