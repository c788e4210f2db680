/** Begins a deployment's {@link Runtime} in the provider process. */
import { hash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { SettingsError, systemClock } from "../base/index.js";
import { Client, secretsIn, systemDependencies } from "../client/index.js";
import { type Disk, stateFolder, systemDisk } from "../files/index.js";
import {
  cookieFileFor,
  EngineNotes,
  fullStackName,
  Journal,
  passedAnswers,
  setPrintedStack,
  stackPlace,
} from "../journal/index.js";
import { startOf } from "../plan/index.js";
import {
  type EngineRun,
  type ExportedStack,
  engineOf,
  isOfProgram,
  readRecord,
  runOf,
} from "../record/index.js";
import {
  accountMatcher,
  accountOf,
  describeSettingProblems,
  readSettings,
} from "../settings/index.js";
import { forgetNames, stackOf } from "../state/index.js";
import { Deployment } from "./deployment.js";
import { tellEnd } from "./end-of-run.js";
import { RunRecord } from "./run-record.js";
import { Messages, type Runtime, type TellAt, Work } from "./runtime.js";

interface RuntimeOptions {
  disk?: Disk;
  /** The folder of the journals. */
  folder?: string;
  provider?: string;
  /** Whether `config` has a setting from the provider's arguments. */
  hasNoCommand?: (key: string) => boolean;
  /** The engine's address, `host:port`. */
  engine?: string | undefined;
  /** Reads Pulumi's record, and what the engine's command line says. @default from the engine's own process */
  pulumi?: {
    /** Tells the engine from others; undefined if it isn't known. */
    engineId?: string | undefined;
    command: EngineRun | undefined;
    folder: string;
    read(stack: string | undefined): Promise<ExportedStack>;
  };
}

/** Pulumi, as far as this process can find the engine that has started it. */
function pulumiHere() {
  const engine = engineOf();
  const { executable, folder = process.cwd() } = engine ?? {};
  const command = engine && runOf(engine.args);
  return {
    engineId: engine?.id,
    command,
    folder,
    read: (stack: string | undefined) =>
      readRecord(command?.stack ?? stack, { executable, cwd: folder }),
  };
}

const TEXT_FORM = "base64url";

/**
 * Names the engine's run for all its provider processes, so that none takes another one's creates for an earlier run's.
 * Random if the engine isn't known: then a process may ask needless questions.
 */
function nameOfEngine(id: string | undefined, address = "") {
  if (id === undefined) return randomBytes(6).toString(TEXT_FORM);
  const parts = JSON.stringify([hostname(), id, address]);
  return hash("sha256", parts, TEXT_FORM).slice(0, 8);
}

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: NodeJS.ProcessEnv,
  log: TellAt,
  options: RuntimeOptions = {},
): Runtime {
  const {
    disk = systemDisk,
    folder = stateFolder(),
    provider,
    engine,
    hasNoCommand,
  } = options;
  const readAll = (mayLackPassword: boolean) =>
    readSettings({ config, hasNoCommand, environment, mayLackPassword });
  // A preview works without a password; `client` below requires it.
  const reading = readAll(true);
  const { settings } = reading;
  const secrets = secretsIn(reading);
  const messages = new Messages(secrets, log);
  const work = new Work();
  const { clock } = work;
  const deployment = new Deployment();
  const pulumi = options.pulumi ?? pulumiHere();
  const engineName = nameOfEngine(pulumi.engineId, engine);
  const account = accountOf(settings);
  const runName = engineName + randomBytes(3).toString(TEXT_FORM);
  const hasCheckpoints = !/^(1|true)$/i.test(environment.PULUMI_SKIP_CHECKPOINTS ?? "");
  const isSameAccount = accountMatcher(settings);
  let client: Client | undefined;
  let journal: Journal | undefined;
  let stack: string | undefined;
  let ofProgram: string | undefined;
  const { stack: typed, command = "", isInline } = pulumi.command ?? {};
  const hasNotes = pulumi.engineId !== undefined && /^(up|refresh)$/.test(command);
  // Its preview's processes may have another address.
  const notesName = nameOfEngine(pulumi.engineId);
  const notes = hasNotes ? new EngineNotes(notesName, folder, disk) : undefined;
  // The state of a renamed stack has its former name.
  const printed = () => ofProgram ?? fullStackName(typed, pulumi.folder) ?? stack;
  let projectFolder: string | undefined = pulumi.folder;
  // A full name needs no project file. The one of `pending` for an inline program is gone after the refresh.
  if (typed?.split("/").length === 3) projectFolder = process.cwd();
  if (isInline) projectFolder = undefined;
  if (typed !== undefined) setPrintedStack(printed, projectFolder);
  forgetNames();
  const record = new RunRecord({
    isThisRun: (run) => run.startsWith(engineName),
    isSameAccount,
    provider,
    read: () => pulumi.read(stack),
    journal: () => journal,
    notes,
    isUp: () => deployment.isUp === true,
    hasCheckpoints,
    warn: messages.say,
    // Also at the end of a run, when nothing new may begin: what leaves is still to be named.
    clock: systemClock,
  });

  return {
    reading,
    settings,
    secrets,
    account,
    isSameAccount,
    provider,
    runName,
    deployment,
    messages,
    work,
    clock,
    record,
    command: pulumi.command,
    answers: passedAnswers(environment, disk),
    begin({ identity }, isOfProgram = false) {
      if (isOfProgram) ofProgram = stackOf(identity);
      else if (stack !== undefined) return;
      if (stack === stackOf(identity)) return;
      stack = stackOf(identity);
      setPrintedStack(printed, projectFolder);
      const place = stackPlace(stack, environment, pulumi.folder);
      journal = new Journal(
        { place, run: runName, engine: engineName, provider, hasCheckpoints },
        { folder, disk, say: messages.say },
        async () => startOf(await record.state()),
      );
      void record.state();
    },
    journal() {
      if (!journal) throw new Error("no stack");
      return journal;
    },
    client() {
      if (client) return client;
      const { problems } = readAll(false);
      if (problems.length > 0)
        throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
      const cookieFile = cookieFileFor(settings, process.cwd());
      const dependencies = systemDependencies(reading, cookieFile, secrets, messages.say);
      client = new Client({ ...dependencies, clock, assertGoesOn: work.assertGoesOn });
      return client;
    },
    platformNow: () => client?.platformNow(),
    async close() {
      await tellEnd(this);
      messages.tellCollected();
      await messages.settled();
      // A refresh and a destroy take out of the state what it has: no journal needs that any more.
      if (deployment.isUp === false && isOfProgram(pulumi.command)) return;
      journal?.closeNow();
      if (deployment.isUp) notes?.remove();
      record.closeJournals(disk);
    },
    async abandon() {
      await work.end();
      journal?.release();
    },
  };
}
