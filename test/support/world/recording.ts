/**
 * A random life as runs that Pulumi can play too: for each run the declarations and settings, the platform's objects before it, its faults
 * and its kill, and the calls and states of the model's engine.
 */
import { success } from "../../../provider/src/sandbox/answers.js";
import type { FaultRule, SandboxObject, SandboxRequest, Fault as Strike } from "../../../provider/src/sandbox/index.js";
import { routeOf } from "../../../provider/src/sandbox/routes.js";
import { type Call, type Played, type Run, recorded, timeOf } from "../both-engines.js";
import { type Life, play, randomLife, type Step } from "./life.js";
import { type Break, brokenAnswer, type Fault, isCarriedOut } from "./platform.js";
import type { Catalog, Resource } from "./program.js";
import type { Kill, World } from "./world.js";

/** All objects on a platform, by id. */
export interface Living {
  readonly advertiser: readonly SandboxObject[];
  readonly event: readonly SandboxObject[];
  /** The next free id; none was ever higher. */
  readonly nextId: number;
}

export interface RecordedRun extends Run {
  readonly resources: readonly Resource[];
  readonly catalogs: readonly Catalog[];
  readonly settings: Readonly<Record<string, string>>;
  readonly played: Played;
  readonly posts: number;
  /** The machines that had lost their disks before the run. */
  readonly lost: readonly number[];
  /** The objects at its beginning and at its end. */
  readonly before: Living;
  readonly after: Living;
}

export interface Recording {
  readonly life: Life;
  readonly runs: readonly RecordedRun[];
}

/** Breaks that are left out: rate limits take time, and a sandbox always listens. */
const NOT_PLAYED: readonly Break[] = ["lost unsent", "limited", "limited long"];

/** Leaves out what takes time or runs at the same time. An `up` is killed only at a request, and without other faults. */
function playable({ config, steps }: Life): Life {
  const dressing = { ...config.dressing, searchLagSeconds: 0, readLagSeconds: 0, isTight: true, countsTogether: true };
  return { config: { ...config, dressing }, steps: steps.flatMap(stepOf) };
}

const isPlayed = (fault: Fault) => !NOT_PLAYED.includes(fault.with);

function stepOf(step: Step): readonly Step[] {
  switch (step.do) {
    case "up": {
      const { kill: drawn, asks: _, ...more } = step;
      const kill = drawn?.at === "before" || drawn?.at === "after" ? { kill: drawn } : {};
      const faults = "kill" in kill ? [] : step.faults.filter(isPlayed);
      return [{ ...more, ...kill, faults, concurrent: false, asksAgain: false }];
    }
    case "refresh":
    case "destroy": {
      const { kill: _, ...more } = step;
      return [{ ...more, faults: step.faults.filter(isPlayed) }];
    }
    case "answer": {
      const { kill: _, ...more } = step;
      // A search waits until the request can no longer arrive, which is an hour here.
      return ["truly", "wrongly", "of another"].includes(step.how) ? [more] : [];
    }
    case "reopen":
      return [{ do: "reopen", pick: step.pick }];
    case "relocate":
    case "lag":
    case "wait":
      return [];
    default:
      return [step];
  }
}

/** @param most the number of runs, from the life's beginning. @throws Violation */
export async function recording(seed: number, most: number): Promise<Recording> {
  const life = playable(randomLife(seed));
  const runs: RecordedRun[] = [];
  await play(
    life,
    (world) => record(world, runs),
    async () => 0,
  );
  return { life, runs: runs.slice(0, most) };
}

/** Records a world's runs. Each request follows the answer to the previous one. */
function record(world: World, runs: RecordedRun[]): void {
  const { up, refresh, destroy, run, command, commandDuring, loseDisk, settingsFor } = world;
  let asked: Pick<Run, "how" | "targets"> = { how: "up" };
  world.platform.listsDeleted = () => false; // as a sandbox
  let lost: number[] = [];
  world.settingsFor = (machine) => {
    const { operations, ...settings } = settingsFor.call(world, machine);
    // 0 seconds, so that nothing depends on whether a second has passed.
    const known = operations?.replace(/"resendAfterSeconds":\d+/, '"resendAfterSeconds":0');
    return {
      ...settings,
      requestTimeoutSeconds: "3600",
      maxConcurrentRequests: "1",
      ...(known === undefined ? {} : { operations: known }),
    };
  };
  world.up = (machine, more = {}) => {
    asked = { how: more.isPreview === true ? "preview" : "up", ...targetsIn(more.targets) };
    return up.call(world, machine, { ...more, isBroken: false });
  };
  world.refresh = (machine, faults, targets, kill) => {
    asked = { how: "refresh", ...targetsIn(targets) };
    return refresh.call(world, machine, faults, targets, kill);
  };
  world.destroy = (machine, faults, targets, kill) => {
    asked = { how: "destroy", ...targetsIn(targets) };
    return destroy.call(world, machine, faults, targets, kill);
  };
  world.run = async (machine, how, more = {}) => {
    const calls: Call[] = [];
    const { backend } = world;
    const noteEnd = began(machine, asked);
    const watched: typeof how = (options, runtime) => {
      const note = (call: Omit<Call, "state">) => calls.push({ ...call, state: world.backend });
      return how({ ...options, faces: recorded(options.faces, note) }, runtime);
    };
    const ended = await run.call(world, machine, watched, more);
    const isKilled = ended === undefined;
    noteEnd({
      isKilled,
      faults: isKilled && more.kill !== undefined ? [ruleOfKill(more.kill)] : (more.faults ?? []).map(ruleOf),
      played: {
        calls,
        isWell: ended && ended.errors.length === 0,
        state: world.backend,
        isSaved: timeOf(world.backend) !== timeOf(backend),
      },
    });
    return ended;
  };
  const noted = async (machine: number, args: readonly string[], work: () => ReturnType<World["command"]>) => {
    const noteEnd = began(machine, { how: "pending", args });
    const done = await work();
    noteEnd({ played: { calls: [], isWell: done.code, state: world.backend, isSaved: false } });
    return done;
  };
  world.command = (machine, ...args) => noted(machine, args, () => command.call(world, machine, ...args));
  world.commandDuring = (machine, args, meanwhile) =>
    noted(machine, args, () => commandDuring.call(world, machine, args, meanwhile));
  world.loseDisk = (machine) => {
    lost.push(machine);
    loseDisk.call(world, machine);
  };

  /** @returns a function that records the rest at the run's end. */
  function began(machine: number, about: Run) {
    const { platform } = world;
    const { posts } = platform;
    const { baseUrl: _, email: __, password: ___, cookieFile: ____, ...settings } = world.settingsFor(machine);
    const beginning = {
      ...about,
      machine,
      resources: [...world.declared.values()],
      catalogs: [...world.catalogs.values()],
      settings,
      lost,
      before: living(world),
    };
    lost = [];
    return (rest: Partial<Run> & Pick<RecordedRun, "played">) =>
      runs.push({ ...beginning, ...rest, posts: platform.posts - posts, after: living(world) });
  }
}

function living({ platform }: World): Living {
  const of = (noun: "advertiser" | "event") => [...platform.objectsOf(noun).values()].map((each) => ({ ...each }));
  return { advertiser: of("advertiser"), event: of("event"), nextId: platform.nextId };
}

/** @param targets keys or URNs. */
function targetsIn(targets: ReadonlySet<string> | undefined): Pick<Run, "targets"> {
  const named = [...(targets ?? [])].map((text) => {
    const [, , types, nameInUrn] = text.split("::");
    const [type, name = ""] = types === undefined ? text.split(" ") : [types.split(":").at(-1), nameInUrn];
    return { type: type as Resource["type"], name };
  });
  return targets === undefined ? {} : { targets: named };
}

function ruleOfKill({ at, nth }: Kill): FaultRule {
  return { on: "any", after: nth - 1, act: at === "after", with: { kind: "no-answer" } };
}

function ruleOf({ on, after, with: broken }: Fault): FaultRule {
  // An operation that the installation does not have always answers so.
  const always = broken === "no path" ? { times: Number.MAX_SAFE_INTEGER } : { after };
  return { on, ...always, act: isCarriedOut(broken), with: strikeOf(broken) };
}

function strikeOf(broken: Break): Strike {
  if (broken === "lost" || broken === "lost undone") return { kind: "close-without-answer" };
  const { status, headers } = brokenAnswer(broken, { status: 200, headers: {}, body: "" }, undefined);
  return {
    kind: "answer",
    status,
    headers,
    body: (created: SandboxObject | undefined, { method, path }: SandboxRequest) => {
      const route = routeOf(method, path, { operations: true });
      const noun = route?.operation === "advertiser" ? "advertiser" : "event";
      const proper = created && success("payload", noun, created, []);
      return brokenAnswer(broken, proper, route).body;
    },
  };
}
