/** Runs as the engine asks for them, with the real client, journal and sandbox, for the messages that come of them. */
import type { Runtime } from "../../../provider/src/operations/runtime.js";
import type { Fault } from "../../../provider/src/sandbox/index.js";
import { FakeClock } from "../../support/clock.js";
import { newFolder } from "../../support/folder.js";
import type { InstallationOptions } from "../../support/installation.js";
import { eventOperations, operatedSandbox } from "../../support/operated.js";
import { type RunOptions, withClock } from "../../support/run.js";
import { SavedStack } from "../../support/saved-stack.js";
import { EventEngine, runProgram, SetEngine, wordsOf } from "../../support/set-engine.js";

export type Values = Record<string, unknown>;

export const LOST: Fault = { kind: "close-without-answer" };
export const ADVERTISER = { id: 1, advertiser_name: "Acme", active: true };
export const PURCHASE = { eventName: "Purchase", advertiserId: 1, value: 25 };
/** The identity of the event `purchase`. */
export const IDENTITY = "shop/dev::purchase";

/** The settings for some operations on events. */
export function knowing(
  names: readonly (keyof typeof eventOperations)[],
  more: Values = {},
): Record<string, string> {
  const event = Object.fromEntries(names.map((name) => [name, eventOperations[name]]));
  const operations = { createdVisibleAfterSeconds: 0, ...more, event };
  return { operations: JSON.stringify(operations), markField: "alternative_id" };
}

/** A stack `dev` of a shop: an event `purchase`, a set `funnel`, and an installation with the advertiser 1. */
export async function startShop(
  settings: Record<string, string> = {},
  installation: InstallationOptions = {},
) {
  const clock = new FakeClock(Date.now());
  const objects = { advertisers: [ADVERTISER], events: [] };
  const options = { objects, clock: () => clock.wallMs(), ...installation };
  const sandbox = await operatedSandbox(options);
  const folder = newFolder();
  // All examples are one test, so the test's stack would be the same in each.
  const saved = new SavedStack("shop/dev");
  const inShop = <T extends EventEngine | SetEngine>(engine: T): T =>
    Object.assign(engine, { stack: saved.name, backend: saved });
  const known: RunOptions = {
    settings: { maxWaitSeconds: "0", ...settings },
    adapt: (runtime: Runtime) => withClock(runtime, clock),
  };
  const event = (name = "purchase") => inShop(new EventEngine(sandbox, folder, name));
  const set = (name = "funnel") => inShop(new SetEngine(sandbox, folder, name));
  const newRun = (more: RunOptions = {}) => event().newRun({ ...known, ...more });
  /** A run of a whole program. @returns all that it says, and its errors. */
  const run = async (program: Parameters<typeof runProgram>[1], isUp = true) => {
    const now = newRun();
    const errors = await runProgram(now, program, isUp);
    await now.close();
    return [wordsOf(now), ...errors].filter(Boolean).join("\n");
  };
  return { sandbox, folder, clock, known, event, set, newRun, run };
}
