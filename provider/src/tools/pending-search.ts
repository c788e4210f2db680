/**
 * Looks on the platform for creates of unknown outcome.
 */

import { count } from "../base/index.js";
import { connect, systemSurroundings } from "../client/index.js";
import { abilitiesOf } from "../decision/index.js";
import { type Kind, kindNamed } from "../kinds/index.js";
import { lookFor, resendDueMs } from "../provider/index.js";
import type { SettingsReading } from "../settings/index.js";
import { placesFor } from "../store/index.js";
import { sentUntil } from "./pending.js";
import type { PendingCreate } from "./pending-sets.js";
import type { ExportedStack } from "./stack-export.js";

export interface Searched {
  readonly found: readonly { readonly urn: string; readonly id: string }[];
  /** URNs of what was certainly not carried out. */
  readonly notMade: readonly string[];
  /** Of the others, in words. */
  readonly told: readonly string[];
}

interface Left {
  readonly create: PendingCreate;
  /** What was asked, and what came back. */
  readonly words: string;
}

/** @param folder the program's. */
export async function searchFor(
  open: readonly PendingCreate[],
  reading: SettingsReading,
  folder: string,
  stack: ExportedStack,
): Promise<Searched> {
  const { cookieFile } = placesFor(reading.settings, folder);
  const surroundings = systemSurroundings(reading, cookieFile, (message) => console.error(message));
  const { transport, clock, secrets } = surroundings;
  const client = connect(reading.settings, surroundings);
  const searcher = { reading, clock, client: () => client };
  const startedMs = clock.wallMs();
  const startedAt = new Date(startedMs).toISOString();
  const found: { urn: string; id: string }[] = [];
  const notMade: string[] = [];

  const look = async (create: PendingCreate): Promise<Left[]> => {
    const { urn, record } = create;
    const kind = kindNamed(create.kind);
    if (!abilitiesOf(kind, reading.settings).search(record.field))
      return [{ create, words: `can't be searched for: ${whyNot(record.field, kind)}.` }];
    const isOnce = record.isEarliest === true;
    const at = isOnce ? startedAt : record.at || sentUntil(stack, reading.settings.maxWaitSeconds, startedMs);
    const finding = await lookFor(kind, searcher, urn, { ...record, at }, { wasJustSent: false, isOnce });
    if (finding.kind === "found") found.push({ urn, id: finding.id });
    else if (finding.kind === "not-made") notMade.push(urn);
    else return [{ create, words: secrets.scrub(finding.words) }];
    return [];
  };
  const lookForAll = async (creates: readonly PendingCreate[]) => (await Promise.all(creates.map(look))).flat();

  try {
    let left = await lookForAll(open);
    const dueMs = resendDueMs({ at: startedAt }, searcher);
    const again = left.filter(isLookedForAgain);
    if (again.length > 0 && dueMs !== undefined) {
      console.error(
        `${count(again.length, "event")} of sets, which may have been sent until just now, can't be found yet: ` +
          `looking again at ${new Date(dueMs).toISOString()} …`,
      );
      await clock.sleep(Math.max(0, dueMs - clock.wallMs()));
      const others = left.filter((each) => !isLookedForAgain(each));
      left = [...others, ...(await lookForAll(again.map(({ create }) => create)))];
    }
    return { found, notMade, told: left.map(({ create, words }) => `${create.urn}\n  ${words}`) };
  } finally {
    await transport.close();
  }
}

function isLookedForAgain({ create: { record } }: Left): boolean {
  return record.isEarliest === true && record.field !== undefined;
}

function whyNot(field: string | undefined, kind: Kind): string {
  return field === undefined
    ? "it was sent without a mark"
    : `it holds its mark in ${field}; check advertising:traceField and advertising:operations.${kind.create.noun}.search`;
}
