/**
 * The provider as in one Pulumi process, with the real client and its files on the disk, called as by the engine.
 */
import { join } from "node:path";
import { expect } from "vitest";
import type { Clock } from "../../provider/src/base/index.js";
import { createProvider } from "../../provider/src/dynamic/provider.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import {
  conversionEvent,
  conversionEventSet,
} from "../../provider/src/kinds/event-kind.js";
import type { Kind, SetKind } from "../../provider/src/kinds/index.js";
import {
  applyResource,
  check,
  createRuntime,
  deleteResource,
  diffResource,
  previewResource,
  ResourceFailure,
  type Runtime,
  readResource,
} from "../../provider/src/operations/index.js";
import type { Severity } from "../../provider/src/operations/runtime.js";
import type { EngineRun } from "../../provider/src/record/index.js";
import {
  otherFormUrn,
  type ProgramContext,
  programContextIn,
  type ResourceRef,
  refOf,
  refOfUrn,
  senderIn,
} from "../../provider/src/state/index.js";
import { SavedStack } from "./saved-stack.js";
import { whenTestEnds } from "./when-test-ends.js";

export interface RunOptions {
  /** @default session.json in the folder */
  readonly cookieFile?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The stack that Pulumi's record shows. @default one of its own, without resources */
  readonly saved?: SavedStack;
  /** What the engine's command line says. @default `pulumi up` */
  readonly command?: Partial<EngineRun>;
  /** The plugin's provider. @default the dynamic provider */
  readonly provider?: string;
  /** The engine's address. */
  readonly engine?: string;
  /** Tells the engine's process, of an `up` and its preview, from others. */
  readonly engineId?: string;
  /** Replaces parts of the runtime. */
  readonly adapt?: (runtime: Runtime) => Runtime;
}

/** The folder of the journals on the machine whose files are in `folder`, which stands for `XDG_STATE_HOME`. */
export function journalsOf(folder: string): string {
  return join(folder, "pulumi-advertising");
}

const BACKEND = { PULUMI_BACKEND_URL: "file:///states" };

/** A runtime whose pauses, and moments without the platform's time, are by another clock. */
export function withClock(runtime: Runtime, clock: Clock): Runtime {
  return { ...runtime, clock, work: Object.assign(runtime.work, { clock }) };
}

/** @param platform a sandbox, in this process or another. @param folder has the cookie file and the journals. */
export function newRun(
  platform: { readonly url: string; readonly email: string; readonly password: string },
  folder: string,
  {
    cookieFile = join(folder, "session.json"),
    settings,
    environment = {},
    saved = new SavedStack("tiny/dev"),
    command,
    provider,
    engine,
    engineId,
    adapt = (runtime) => runtime,
  }: RunOptions = {},
) {
  const { url: baseUrl, email, password } = platform;
  const config: Record<string, string> = {
    baseUrl,
    email,
    password,
    cookieFile,
    ...settings,
  };
  const told: {
    readonly severity: Severity;
    readonly urn: string;
    readonly message: string;
  }[] = [];
  saved.beginRun(environment.PULUMI_SKIP_CHECKPOINTS === undefined);
  const real = createRuntime(
    (key) => config[key],
    { ...BACKEND, ...environment },
    async (severity, urn, message) => {
      told.push({ severity, urn, message });
    },
    {
      folder: journalsOf(folder),
      ...(provider !== undefined && { provider }),
      engine,
      pulumi: {
        engineId,
        command: {
          command: "up",
          stack: undefined,
          targets: [],
          excludes: [],
          hasDependents: false,
          hasPolicies: false,
          isInline: false,
          ...command,
        },
        folder,
        read: () => saved.read(),
      },
    },
  );
  const said: string[] = [];
  const { say: show } = real.messages;
  const say = (message: string, topic?: string) => {
    said.push(real.secrets.scrub(message));
    show(message, topic);
  };
  const runtime = adapt({ ...real, messages: Object.assign(real.messages, { say }) });
  const release = whenTestEnds(() => real.abandon());
  if (provider !== undefined) runtime.deployment.isUp = undefined;
  const providerOf = (resource: Kind | SetKind) => {
    const dynamic = createProvider(
      resource,
      () => runtime,
      () => undefined,
    );
    const given: RunProvider =
      provider === undefined ? dynamic : pluginOf(resource, runtime);
    /** The engine's calls for a new resource. */
    const declare = async (news: Record<string, unknown>) => {
      const context = {
        identity: senderIn(news).identity,
        run: { isUp: true, resources: 1 },
      };
      const { inputs = {}, failures = [] } = await given.check(
        {},
        { ...news, __sender: context },
      );
      if (failures.length > 0)
        throw new Error(failures.map(({ reason }) => reason).join("\n"));
      return given.create(inputs);
    };
    return { ...given, declare };
  };
  return {
    runtime,
    /** Whether it is an `up`, or the preview that belongs to one. */
    isOfUp: engineId !== undefined,
    /** Messages about the whole run, scrubbed, repetitions included. */
    said,
    /** Messages about single resources. */
    told,
    set: providerOf(conversionEventSet),
    advertiser: providerOf(advertiser),
    event: providerOf(conversionEvent),
    /** Ends the process as a kill does: the lock is released, and the journal's entries stay. */
    kill: () => {
      release();
      return real.abandon();
    },
    /** The run ends cleanly. */
    close: async () => {
      release();
      await runtime.close();
    },
  };
}

type Values = Record<string, unknown>;

/** @property preview shows what the plugin's `create` and `update` show in a preview. */
type RunProvider = ReturnType<typeof createProvider> & {
  preview?: (id: string, olds: Values, news: Values) => Promise<void>;
};

/** The engine saves what a failure says that there is. */
function withSaved(error: Error): never {
  if (!(error instanceof ResourceFailure) || !error.saved) throw error;
  const { id, properties } = error.saved;
  throw Object.assign(new Error(error.message), { id, properties });
}

/** The plugin's calls, in the form of the dynamic provider's. `plugin/provider.ts` has them in the protocol's form. */
function pluginOf(resource: Kind | SetKind, runtime: Runtime): RunProvider {
  const refIn = (inputs: Values) => {
    const { identity = "" } = programContextIn(inputs) ?? {};
    return refOfUrn(resource.name, otherFormUrn(refOf(resource.name, identity)));
  };
  const beginUp = async (ref: ResourceRef) => {
    runtime.deployment.isUp = true;
    runtime.begin(ref);
    await runtime.journal().openOnce();
  };
  return {
    configure: async () => undefined,
    check: async (olds, news) => {
      const { run: _, ...context } = news.__sender as ProgramContext;
      const { inputs, failures } = await check(runtime, refIn(news), {
        context,
        olds,
        news,
      });
      return { inputs, failures: failures.map((reason) => ({ property: "", reason })) };
    },
    diff: (id, olds, news) => diffResource(runtime, refIn(news), { id, olds, news }),
    preview: (id, olds, news) => previewResource(runtime, refIn(news), { id, olds, news }),
    create: async (news) => {
      await beginUp(refIn(news));
      const change = { id: "", olds: {}, news };
      return applyResource(runtime, refIn(news), change).catch(withSaved);
    },
    update: async (id, olds, news) => {
      await beginUp(refIn(news));
      const change = { id, olds, news };
      return applyResource(runtime, refIn(news), change).catch(withSaved);
    },
    read: async (id, properties = {}) =>
      (await readResource(resource, runtime, id, properties)) ?? { id: "", props: {} },
    delete: (id, properties) =>
      deleteResource(resource, runtime, { id, properties }).catch((error: unknown) => {
        runtime.deployment.hasFailed = true;
        throw error;
      }),
  };
}

/** The error that the engine gets for a failed create. */
export function failureOf(
  creating: Promise<unknown>,
): Promise<Error & { id?: string; properties?: unknown }> {
  return creating.then(
    () => expect.fail("it did not fail"),
    (error: Error) => error,
  );
}
