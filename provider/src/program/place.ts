/**
 * Where a program and its resources stand, as Pulumi's Node.js SDK knows it: in which stack a resource is, below which parents, and where
 * its aliases say that it stood before; whose process the program runs in. All of it is known before anything is registered. Here this
 * room relies on how that SDK works inside (3.259): also for what stack traces cost, and how a resource that failed is printed.
 */
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { NAMESPACE } from "../settings/index.js";
import { type Identity, identityText, journalKeyOf, placeInUrn } from "../state/index.js";

/** A name below parents of these types; `ANY` if only the engine will know. */
export interface Place {
  readonly name: string | typeof ANY;
  readonly parentTypes: string | undefined | typeof ANY;
  /** Its own, if an alias says that it was another one. */
  readonly type?: string | undefined | typeof ANY;
}

export const ANY: unique symbol = Symbol("any");
const ANYWHERE: Place = { name: ANY, parentTypes: ANY };

const STACK_TYPE = "pulumi:pulumi:Stack";

export function placeOfProgram(): Pick<Identity, "organization" | "project" | "stack"> {
  return { organization: organization(), project: pulumi.getProject(), stack: pulumi.getStack() };
}

/** Pulumi throws if there is none, and the mocks of users' tests leave it out. */
function organization(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return "organization";
  }
}

/**
 * The identity that the state keeps of a resource, which the provider's process learns in no other way. It is as unique as the
 * URN and built like it, so that equal names below different components stay apart.
 */
export async function identityOf(name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const parentTypes = parent === undefined ? undefined : typesInUrn(await settled(parent.urn));
  return identityText({ ...placeOfProgram(), parentTypes, name });
}

/** The types in urn:pulumi:<stack>::<project>::<types>::<name>. The root stack is every resource's parent and says nothing. */
function typesInUrn(urn: string): string | undefined {
  const types = urn.split("::", 3)[2];
  return types === STACK_TYPE ? undefined : types;
}

/** An Output's value without its dependencies: a resource must not wait for its parent's other children. */
function settled<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => {
    output.apply(resolve);
  });
}

export function journalKeyIn(kind: Kind | SetKind, name: string, parent: pulumi.Resource | undefined): string {
  return journalKeyOf(kind.name, identityText({ ...placeOfProgram(), parentTypes: typesOf(parent), name }));
}

/** These names are Pulumi's own, and the same in every copy of it. */
interface Linked extends pulumi.Resource {
  readonly __name: string;
  readonly __pulumiType: string;
  readonly __aliases?: readonly unknown[];
  readonly __parentResource?: Linked;
}

/** The types of `parent` and of its parents, as a URN has them; `undefined` for the stack itself. */
export function typesOf(parent: pulumi.Resource | undefined): string | undefined {
  const types: string[] = [];
  for (let each = parent as Linked | undefined; each !== undefined; each = each.__parentResource) {
    if (each.__pulumiType !== STACK_TYPE) types.unshift(each.__pulumiType);
  }
  return types.length === 0 ? undefined : types.join("$");
}

/** Whether the engine refuses to remove the resource, by its own options or those of a parent; a transformation may say otherwise. */
export function isProtected({ protect, parent }: pulumi.CustomResourceOptions): boolean {
  return (protect ?? (parent as { readonly __protect?: boolean } | undefined)?.__protect) === true;
}

/** The aliases of a component as the program gives them: Pulumi itself keeps Outputs, which are known only later. */
const ALIASES = new WeakMap<pulumi.Resource, readonly unknown[]>();

/** From now on the aliases of what the program makes are kept. Before Pulumi has begun a deployment, nothing can be. */
export function keepAliases(): void {
  if (pulumi.runtime.getStackResource() === undefined) return;
  pulumi.runtime.registerStackTransformation(({ resource, opts: { aliases } }) => {
    if (aliases !== undefined) ALIASES.set(resource, aliases);
    return undefined;
  });
}

// A component may be the first that a program makes.
keepAliases();

interface Aliased {
  readonly aliases?: unknown;
  readonly parent?: pulumi.Resource | undefined;
}

/** The places at which a resource was before, as its aliases and those of its parents say: what Pulumi calls `allAliases`. */
export function formerPlaces(name: string, { aliases = [], parent }: Aliased): Place[] {
  const own = Array.isArray(aliases) ? aliases.map((alias: unknown) => placeIn(alias, name, parent)) : [ANYWHERE];
  const [now, ...before] = placesOf(parent as Linked | undefined);
  const inherited = before.flatMap((former) =>
    [{ name }, ...own].map(
      (each): Place => ({
        ...each,
        name: nameBelow(former.name, each.name, now?.name),
        parentTypes: former.types,
      }),
    ),
  );
  return [...own, ...inherited];
}

/** Pulumi takes a name that begins with the parent's for one that is made of it, so it was another one below the parent's former name. */
function nameBelow(former: Place["name"], name: Place["name"], parentName: Place["name"] = ANY): Place["name"] {
  if (name === ANY || parentName === ANY || !name.startsWith(parentName)) return name;
  return former === ANY ? ANY : former + name.slice(parentName.length);
}

/** Where a parent is now and, after that, where it was before, each with the types that what is in it has before its own. */
function placesOf(
  parent: Linked | undefined,
): { readonly name: Place["name"]; readonly types: Place["parentTypes"] }[] {
  if (parent === undefined || parent.__pulumiType === STACK_TYPE) return [];
  const { __name: name, __pulumiType: own, __parentResource, __aliases } = parent;
  const given = ALIASES.get(parent);
  // A transformation of the program's own may have added some.
  const aliases = given?.length === __aliases?.length ? given : __aliases;
  const now: Place = { name, parentTypes: typesOf(__parentResource) };
  return [now, ...formerPlaces(name, { aliases, parent: __parentResource })].map(
    ({ name, parentTypes, type = own }) => ({
      name,
      types: parentTypes === ANY || type === ANY ? ANY : [parentTypes ?? [], type].flat().join("$"),
    }),
  );
}

function placeIn(alias: unknown, name: string, parent: pulumi.Resource | undefined): Place {
  if (typeof alias === "string") return { ...placeInUrn(alias), type: typesInUrn(alias)?.split("$").at(-1) };
  if (!isPlainAlias(alias)) return ANYWHERE;
  // pulumi.rootStackResource is undefined.
  const above = Object.hasOwn(alias, "parent") ? alias.parent : parent;
  return {
    name: knownOr(name, alias.name),
    type: knownOr(undefined, alias.type),
    parentTypes:
      above === undefined || pulumi.Resource.isInstance(above)
        ? typesOf(above)
        : typeof above === "string"
          ? typesInUrn(above)
          : ANY,
  };
}

function knownOr<Default>(otherwise: Default, given: unknown): string | Default | typeof ANY {
  if (given === undefined) return otherwise;
  return typeof given === "string" ? given : ANY;
}

/** Compares a place that an alias names with that of a resource which an earlier run knew. */
export function isAt(place: Place, name: string, parentTypes: string | undefined): boolean {
  return (
    (place.name === ANY || place.name === name) && (place.parentTypes === ANY || place.parentTypes === parentTypes)
  );
}

function isPlainAlias(alias: unknown): alias is Readonly<Record<string, unknown>> {
  return typeof alias === "object" && alias !== null && !("__pulumiOutput" in alias) && !(alias instanceof Promise);
}

/** Pulumi's runtime exports these, but its types do not name them. */
const { getStore, getLocalStore } = state as unknown as {
  getStore(): { settings: { options: { monitorAddr?: string }; monitor?: object } };
  getLocalStore(): unknown;
};

/** The address that Pulumi's mocks set in place of the engine's. */
const MOCK_MONITOR = "mock";

/**
 * Whether the program shares its process, as an inline program of the automation API and a user's unit test do. Under the CLI it has
 * a process of its own.
 */
export function isEmbedded(): boolean {
  return getLocalStore() !== undefined || mocksOfNow() !== undefined;
}

/** Pulumi's mocks, which stand for the engine in a user's unit test. Each `setMocks` makes other ones. */
export function mocksOfNow(): object | undefined {
  const { options, monitor } = getStore().settings;
  return options.monitorAddr === MOCK_MONITOR ? monitor : undefined;
}

/**
 * The resource classes call this around Pulumi's own constructor. Pulumi takes a stack trace for each promise that it makes for
 * a resource, four for each property, to name promises that are never settled. Behind ts-node's source maps these cost more than
 * all else that the program does for a resource (`npm run bench`). Pulumi finds the line of the user's program in another way,
 * so the state goes on naming it. No promise may be awaited before `resume`.
 */
export function pauseStackTraces(): PausedTraces {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return {
    resume() {
      Error.stackTraceLimit = limit;
    },
    retrace(error, from) {
      Error.stackTraceLimit = limit;
      if (error instanceof Error) Error.captureStackTrace(error, from);
      return error;
    },
  };
}

interface PausedTraces {
  resume(): void;
  /** Gives an error that was thrown meanwhile the trace that it would have had, up to the caller of `from`. */
  retrace(error: unknown, from: new (...args: never) => unknown): unknown;
}

/** The same promise. Pulumi listens to it only later: until then Node.js would warn of a rejection that nobody handles. */
export function heardLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/**
 * Calls `then` once the program has come to its end, timers and other waits included, and nothing in it has failed: otherwise the
 * engine takes nothing out of the state. A process of the program's own runs out of work then, and has not ended yet for the engine.
 */
export function onceEndedWell(then: () => void): void {
  if (isEmbedded()) {
    pulumi.runtime.getStackResource()?.outputs.apply(() => setImmediate(then));
    return;
  }
  let hasFailed = false;
  const noteFailure = () => {
    hasFailed = true;
  };
  // Neither changes what becomes of the error.
  process.once("uncaughtExceptionMonitor", noteFailure);
  process.once("unhandledRejection", noteFailure);
  process.once("beforeExit", (code) => {
    if (!hasFailed && code === 0) then();
  });
}

/** Pulumi's words for a resource that failed to register, perhaps behind the names of the properties that wait for it. */
const FAILED = new RegExp(`resource .+ \\[pulumi-nodejs:dynamic/${NAMESPACE}:\\w+\\] failed to register$`, "s");

/**
 * With `--continue-on-error` Pulumi's Node.js side prints an error of its own for each resource that failed to register, with a
 * stack trace of places in Pulumi alone; the reason stands at the resource itself. This leaves such an error just its message.
 * Other errors, and those of other packages' resources, stay as they are. The program calls it once, when it begins.
 */
export function hideStackTracesOfFailures(): void {
  // In a process of somebody else's, a listener would keep Node.js from ending at a rejection that nobody handles.
  if (isEmbedded()) return;
  // This must come before Pulumi's own listener, which prints the stack trace if there is one.
  process.prependListener("unhandledRejection", (reason) => {
    if (reason instanceof Error && FAILED.test(reason.message)) reason.stack = "";
  });
}
