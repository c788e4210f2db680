/**
 * Simulates Pulumi's engine for a stack, run after run: it checks and compares resource by resource, creates before it
 * deletes, saves before and after each step, and continues from the saved state. `test/engine/stand-in.test.ts` plays the
 * same programs with the real engine, and expects the same calls and states. It copies none of the provider's logic.
 */
import type { createProvider } from "../../../provider/src/dynamic/provider.js";
import { type ResourceName, typeTokenOf } from "../../../provider/src/kinds/index.js";
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
  /** Possible former URNs, in an operation. */
  readonly aliases?: readonly string[];
  readonly custom: true;
}

/** A pending operation. Its resource may lack id and outputs. */
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
  readonly ConversionEventSet: ReturnType<typeof createProvider>;
}

/** A program's registration of one resource. */
export interface Registration {
  readonly type: ResourceName;
  readonly urn: string;
  /** The resource's former URNs. */
  readonly aliases: readonly string[];
  readonly retainOnDelete: boolean;
  /** The URN of the resource's advertiser, if the advertiser is a resource. */
  readonly owner: string | undefined;
  inputs(advertiserId: unknown): Values;
}

export interface RunOptions {
  readonly faces: Faces;
  /** Called with each state that is saved; throws when the run dies, or if the backend refuses to save. */
  readonly save: (deployment: Deployment) => void;
  readonly now: () => string;
  /** If false, the state is saved only at the end. */
  readonly checkpoints: boolean;
  /** The URNs that a refresh reads, or that an `up` is about; undefined: all. */
  readonly targets?: ReadonlySet<string> | undefined;
  /** Whether steps of several resources run at once. */
  readonly concurrent?: boolean;
  /** Called for each resource that leaves the state, which Pulumi shows. */
  readonly leaves?: (resource: Saved) => void;
}

export interface Ended {
  readonly errors: readonly string[];
  /** The state to save at the end. */
  readonly deployment: Deployment;
}

/** Values as the engine passes them on, with sorted names. */
const carried = (values: object | undefined) =>
  JSON.parse(JSON.stringify(values ?? {}, inOrder)) as Values;

function inOrder(_name: string, value: unknown): unknown {
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

/** Adds the reference to the provider, as Pulumi's provider process does. */
const withProvider = (values: object | undefined, of: Values) =>
  carried({ ...carriedBack(values), [PROVIDER]: of[PROVIDER] });

/** One run's work on the state. */
class Work {
  readonly errors: string[] = [];
  /** The URNs that the program has registered, former ones too. */
  readonly reached = new Set<string>();
  readonly #renamed = new Map<string, string>();
  /** Resources that this run has written come before the others. */
  resources: Saved[];
  isOver = false;
  #written = 0;
  #pending: Operation[];

  constructor(
    before: Deployment,
    readonly options: RunOptions,
  ) {
    this.resources = [...before.resources];
    // The engine keeps pending creates until a command clears them.
    this.#pending = (before.pending_operations ?? []).filter(
      ({ type }) => type === "creating",
    );
  }

  get ended(): Ended {
    const nameOf = (urn: string) => this.#renamed.get(urn) ?? urn;
    const deployment = {
      manifest: { time: this.options.now() },
      resources: this.resources.map((each) => {
        const dependencies = each.dependencies?.map(nameOf);
        return {
          ...each,
          urn: nameOf(each.urn),
          ...(dependencies === undefined ? {} : { dependencies }),
        };
      }),
      ...(this.#pending.length === 0 ? {} : { pending_operations: this.#pending }),
    };
    return { errors: this.errors, deployment };
  }

  save(): void {
    const { checkpoints, save } = this.options;
    if (checkpoints) save(structuredClone(this.ended.deployment));
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
    const attempt = async (part: () => void | Promise<void>) => {
      try {
        await part();
        return true;
      } catch (error) {
        this.fail(error);
        return false;
      }
    };
    this.#pending.unshift(operation);
    // What could not be saved is not begun.
    if (await attempt(() => this.save())) await attempt(work);
    this.#pending = this.#pending.filter((each) => each !== operation);
    await attempt(() => this.save());
  }

  /** @param isLast whether no further step may begin. */
  fail(error: unknown, isLast = true): void {
    this.errors.push((error as Error).message);
    this.isOver ||= isLast;
  }
}

/** A `pulumi up`. */
export async function up(
  before: Deployment,
  program: readonly Registration[],
  options: RunOptions,
): Promise<Ended> {
  const work = new Work(before, options);
  const advertiserIds = new Map<string, unknown>();

  /** Checks and compares. @returns the step to do, if any; none after a failure. */
  const generated = async (
    resource: Registration,
  ): Promise<(() => Promise<void>) | undefined> => {
    const { type, urn, owner, retainOnDelete, aliases } = resource;
    const old = formerOf(before, resource);
    work.reached.add(urn);
    if (old !== undefined) work.reached.add(old.urn);
    if (options.targets?.has(urn) === false) {
      // Without a check, as the state has it; a new one is left out.
      if (!old) return undefined;
      return async () => {
        work.put(old, old);
        if (type === "Advertiser") advertiserIds.set(urn, old.outputs.advertiserId);
      };
    }
    const face = options.faces[type];
    const given = carried(
      resource.inputs(owner === undefined ? undefined : advertiserIds.get(owner)),
    );
    const check = async (olds: Values): Promise<Values | undefined> => {
      const { inputs, failures = [] } = await face.check(olds, { ...given });
      for (const { reason } of failures) work.fail(new Error(reason));
      return failures.length > 0 ? undefined : withProvider(inputs, given);
    };
    const dependencies = owner === undefined ? [] : [owner];
    const base = {
      urn,
      type: typeTokenOf(type),
      custom: true as const,
      retainOnDelete,
      dependencies,
    };
    const formerly = aliases.length === 0 ? {} : { aliases };
    const noteId = (outputs: Values) => {
      if (type === "Advertiser") advertiserIds.set(urn, outputs.advertiserId);
    };
    /** @param take saves what a step or its error gives. */
    const step =
      (
        kind: Operation["type"],
        inputs: Values,
        make: () => Promise<Saved>,
        take: (now: Saved) => void,
      ) =>
      () =>
        work.step({ type: kind, resource: { ...base, inputs, ...formerly } }, async () => {
          try {
            const now = await make();
            take(now);
            noteId(now.outputs);
          } catch (error) {
            const failed = partial(error);
            // New inputs that an object does not have are not saved.
            const saved =
              kind === "updating" && old?.id !== undefined
                ? { inputs: old.inputs, id: old.id }
                : { inputs };
            if (failed !== undefined) take({ ...base, ...failed, ...saved });
            throw error;
          }
        });
    const created = (inputs: Values) =>
      step(
        "creating",
        inputs,
        async () => {
          const { id, outs } = await face.create({ ...inputs });
          return { ...base, inputs, id, outputs: withProvider(outs, inputs) };
        },
        (now) => {
          if (old !== undefined) work.alter(old, { ...old, delete: true });
          work.put(undefined, now);
        },
      );
    const updated = (from: Saved, inputs: Values) =>
      step(
        "updating",
        inputs,
        async () => {
          const { outs } = await face.update(from.id ?? "", from.outputs, { ...inputs });
          return {
            ...base,
            inputs,
            id: from.id ?? "",
            outputs: withProvider(outs, inputs),
          };
        },
        (now) => work.put(from, now),
      );

    const inputs = await check(old?.inputs ?? {});
    if (inputs === undefined) return undefined;
    if (old === undefined) return created(inputs);
    const { id = "", outputs } = old;
    const plan = await face.diff(id, outputs, { ...inputs });
    if ((plan.replaces ?? []).length > 0) {
      const anew = await check({});
      return anew && created(anew);
    }
    if (plan.changes === true || old.initErrors !== undefined) return updated(old, inputs);
    return async () => {
      const now = { ...base, id, inputs, outputs };
      work.put(old, now);
      noteId(outputs);
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
    if (!work.isOver) await carryOut?.();
  };

  const registered = new Map<string, Promise<void>>();
  let last = Promise.resolve();
  for (const resource of program) {
    const owner = registered.get(resource.owner ?? "");
    last = (options.concurrent === true ? (owner ?? Promise.resolve()) : last).then(() =>
      register(resource),
    );
    registered.set(resource.urn, last);
  }
  await Promise.all(registered.values());
  if (work.isOver) return work.ended;
  try {
    await deleteUnreached(work);
  } catch (error) {
    work.fail(error);
  }
  return work.ended;
}

/** The resource in the state under one of a registration's names. */
function formerOf(before: Deployment, { urn, aliases }: Registration): Saved | undefined {
  return [urn, ...aliases]
    .map((name) =>
      before.resources.find((each) => each.urn === name && each.delete !== true),
    )
    .find(Boolean);
}

/** A `pulumi preview`, as far as the first error. @returns its errors, and whether an argument was not known yet. */
export async function preview(
  before: Deployment,
  program: readonly Registration[],
  { faces }: Pick<RunOptions, "faces">,
): Promise<{ errors: string[]; hasUnknown: boolean }> {
  const advertiserIds = new Map<string, unknown>();
  let hasUnknown = false;
  for (const resource of program) {
    const { type, urn, owner } = resource;
    const face = faces[type];
    const old = formerOf(before, resource);
    const ownerId = owner === undefined ? undefined : (advertiserIds.get(owner) ?? UNKNOWN);
    hasUnknown ||= ownerId === UNKNOWN;
    const given = carried(resource.inputs(ownerId));
    try {
      const { inputs, failures = [] } = await face.check(old?.inputs ?? {}, { ...given });
      if (failures.length > 0)
        return { errors: failures.map(({ reason }) => reason), hasUnknown };
      if (!old) continue;
      const news = withProvider(inputs, given);
      const plan = await face.diff(old.id ?? "", old.outputs, news);
      if ((plan.replaces ?? []).length > 0) {
        const { failures: ofSecond = [] } = await face.check({}, { ...given });
        if (ofSecond.length > 0)
          return { errors: ofSecond.map(({ reason }) => reason), hasUnknown };
      } else if (plan.changes !== true) advertiserIds.set(urn, old.outputs.advertiserId);
    } catch (error) {
      return { errors: [(error as Error).message], hasUnknown };
    }
  }
  return { errors: [], hasUnknown };
}

/** At the end of an `up`, deletes replaced objects and those the program has not registered, dependent ones first. */
async function deleteUnreached(work: Work): Promise<void> {
  const { targets } = work.options;
  const gone = work.resources.filter(
    (each) =>
      (each.delete === true || !work.reached.has(each.urn)) &&
      targets?.has(each.urn) !== false,
  );
  for (const resource of gone.toReversed()) {
    if (work.isOver) return;
    work.options.leaves?.(resource);
    await work.step({ type: "deleting", resource }, async () => {
      if (resource.retainOnDelete !== true)
        await faceOf(work.options.faces, resource).delete(
          resource.id ?? "",
          resource.outputs,
        );
      work.drop(resource);
    });
  }
}

function faceOf(faces: Faces, { type }: Saved) {
  return faces[type.split(":").at(-1) as keyof Faces];
}

/** Reads each resource, also those to delete, compares the result with the arguments, and saves at the end. */
export async function refresh(before: Deployment, options: RunOptions): Promise<Ended> {
  const work = new Work(before, options);
  for (const resource of before.resources.filter(
    ({ urn }) => options.targets?.has(urn) !== false,
  )) {
    const face = faceOf(options.faces, resource);
    try {
      const { id, props, inputs } = await face.read(resource.id ?? "", resource.outputs);
      if (id === "" || id === undefined) {
        work.drop(resource);
        continue;
      }
      const { initErrors: _, ...whole } = resource;
      const outputs = withProvider(props, resource.outputs);
      const found = inputs && { inputs: withProvider(inputs, resource.outputs) };
      work.alter(resource, { ...whole, ...found, id, outputs });
      await face.diff(id, outputs, resource.inputs);
    } catch (error) {
      work.fail(error, false);
    }
  }
  const urns = new Set(work.resources.map(({ urn }) => urn));
  for (const each of work.resources) {
    if (each.dependencies?.some((urn) => !urns.has(urn)))
      work.alter(each, {
        ...each,
        dependencies: each.dependencies.filter((urn) => urns.has(urn)),
      });
  }
  try {
    work.save();
  } catch (error) {
    work.fail(error);
  }
  return work.ended;
}

/** The part of a resource that the engine saves from an error. */
function partial(error: unknown): Pick<Saved, "id" | "outputs" | "initErrors"> | undefined {
  const { id, properties, reasons } = error as Error & {
    id?: string;
    properties?: Values;
    reasons?: string[];
  };
  if (id === undefined) return undefined;
  return {
    id,
    outputs: carried(carriedBack(properties)),
    ...(reasons === undefined ? {} : { initErrors: reasons }),
  };
}
