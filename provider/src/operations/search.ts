/** Searches the platform for the object of a create whose outcome is unknown, by its mark. */
import {
  AdvertisingError,
  asRecord,
  count,
  enumerate,
  isoNow,
  LoginError,
  type Values,
} from "../base/index.js";
import { argumentsFrom } from "../kinds/index.js";
import { contradictingArguments, tellingAmong, visibleFromMs } from "../plan/index.js";
import { knownOperations } from "../settings/index.js";
import { type CreateRecord, pendingLine } from "../state/index.js";
import { foundOtherwiseMessage } from "./messages.js";
import type { ObjectTask } from "./outcome.js";
import type { Runtime } from "./runtime.js";

/** A create to search for. */
type Wanted = Pick<ObjectTask, "formerIds" | "kind"> & {
  label: string;
  sent: Pick<CreateRecord, "mark" | "field" | "latest" | "name" | "args">;
};

export interface FoundObject {
  id: string;
  /** In wire names. */
  record: Values;
  /** The known arguments, but for name and owner, that aren't as they were sent. */
  contradicting: readonly string[];
}

/** The growing pauses before each search, because a new object may be found only later. */
const PAUSES_S = [0, 1, 2, 4, 8, 15];

/**
 * Searches the platform for a create's object by its mark. @param wasJustSent if true, the result is never `not-made`.
 * @returns `found`: a {@link FoundObject}; `not-made`: no object has the mark, and by now none will, so the create was not
 * carried out; `open`: not known yet, with sentences about the search, its result and what follows, and with the create's
 * `latest`, to be saved: a later search counts from it.
 */
export async function searchByMark(
  { settings, clock, client }: Pick<Runtime, "settings" | "client" | "clock">,
  { kind, label, sent, formerIds }: Wanted,
  wasJustSent = false,
) {
  const { search } = knownOperations(kind, settings);
  const { field, mark } = sent;
  if (!search || field === undefined) throw new Error("no search");
  const { requestTimeoutSeconds, operations } = settings;
  const resendAfter = operations?.resendAfterSeconds ?? Number.POSITIVE_INFINITY;
  /** How long after its last sending a create that no search finds counts as not made. */
  const waitMs = visibleFromMs((requestTimeoutSeconds + resendAfter) * 1000, settings);
  const what = `Searched for ${field} = ${mark}`;
  let { latest } = sent;
  const open = (searched: string) => ({ kind: "open", searched, latest }) as const;
  let answer = "";
  for (const pause of PAUSES_S) {
    try {
      await clock.sleep(pause * 1000);
      const beganMs = clock.monotonicMs();
      const found = await client().search({ kind, operation: search, field, mark, label });
      const ids = [...found.keys()].filter((each) => !formerIds.includes(each));
      const [id] = ids;
      const now = client().platformNow();
      // This response came after the create was sent.
      latest ??= momentAfter(now);
      if (ids.length > 1)
        return open(
          `${what}: found ${count(ids.length, "object")}: ${enumerate(ids)}. Keep one of them, and remove the others on the platform.`,
        );
      if (id !== undefined) {
        const record = asRecord(found.get(id));
        const theirs = argumentsFrom(kind, settings, record);
        const differing = contradictingArguments(kind, theirs, sent);
        const contradicting = Object.keys(differing);
        const others = tellingAmong(kind, differing);
        if (others.length > 0) return open(foundOtherwiseMessage(id, others));
        return { kind: "found", id, record, contradicting } as const;
      }
      // Up to when the search began, because it may miss an object that was created in the meantime.
      const untilMs = Date.parse(now ?? "") - (clock.monotonicMs() - beganMs);
      const passedMs = untilMs - Date.parse(latest ?? "");
      if (!wasJustSent && passedMs >= waitMs) return { kind: "not-made" } as const;
      answer = "nothing found.";
    } catch (error) {
      // A failed search says nothing about the create.
      if (!(error instanceof AdvertisingError)) throw error;
      answer = error.message;
      // This run sends nothing more.
      if (error instanceof LoginError) break;
    }
  }
  const command = pendingLine(" --search");
  const searched = `${what} until ${isoNow(clock)}: ${answer} The next \`pulumi up\`, or \`${command}\`, searches again.`;
  const fromMs = Date.parse(latest ?? "") + waitMs;
  // `pending` saves nothing, so without a saved moment its next search would count from a later one.
  const isFixed = wasJustSent || sent.latest !== undefined;
  if (!isFixed || !Number.isFinite(fromMs)) return open(searched);
  const resend = `From ${new Date(fromMs).toISOString()} on, by the platform's clock, \`pulumi up\` sends the create again if it still finds nothing.`;
  return open(`${searched} ${resend}`);
}

/** Certainly after the responses so far: a `Date` has whole seconds, rounded down. @param now of the platform's clock */
export function momentAfter(now: string | undefined) {
  return now && new Date(Date.parse(now) + 1000).toISOString();
}
