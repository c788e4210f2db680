/**
 * Looks on the platform for creates of unknown outcome.
 */
import type { SettingsReading } from "../../config/read-settings.js";
import type { Kind } from "../../kinds/kind.js";
import { kindNamed } from "../../kinds/registry.js";
import { isSearchable, lookFor } from "../../lifecycle/known/search.js";
import { connect, systemSurroundings } from "../../process/connect.js";
import { placesFor } from "../../session/place.js";
import type { ExportedStack } from "../stack-export.js";
import type { OpenCreate } from "./pending.js";

export interface Searched {
  readonly found: readonly { readonly urn: string; readonly id: string }[];
  /** URNs of what was certainly not carried out. */
  readonly notMade: readonly string[];
  /** Of the others, in words. */
  readonly told: readonly string[];
}

/** @param folder the program's. */
export async function searchFor(
  open: readonly OpenCreate[],
  reading: SettingsReading,
  folder: string,
  stack: ExportedStack,
): Promise<Searched> {
  const { cookieFile } = placesFor(reading.settings, folder);
  const surroundings = systemSurroundings(reading, cookieFile, (message) => console.error(message));
  const { transport, clock, secrets } = surroundings;
  const client = connect(reading.settings, surroundings);
  const found: { urn: string; id: string }[] = [];
  const notMade: string[] = [];
  const told: string[] = [];
  const searcher = { reading, clock, client: () => client };
  try {
    await Promise.all(
      open.map(async ({ urn, sought }) => {
        const kind = kindNamed(sought.kind as Kind["name"]);
        const { field: trace, value: mark = "" } = sought.trace ?? {};
        if (!isSearchable(kind, searcher, { trace })) {
          told.push(`${urn}\n  can't be searched for: ${whyNot(trace, kind)}.`);
          return;
        }
        const at = sought.sentAt ? sought.sentAt : sentBefore(stack, reading);
        const finding = await lookFor(kind, searcher, urn, { mark, at, trace }, { wasJustSent: false });
        if (finding.kind === "found") found.push({ urn, id: finding.id });
        else if (finding.kind === "not-made") notMade.push(urn);
        else told.push(`${urn}\n  ${secrets.scrub(finding.words)}`);
      }),
    );
  } finally {
    await transport.close();
  }
  return { found, notMade, told };
}

function whyNot(trace: string | undefined, kind: Kind): string {
  return trace === undefined
    ? "it was sent without a mark"
    : `it holds its mark in ${trace}; check advertising:traceField and advertising:operations.${kind.create.noun}.search`;
}

/** The engine notes a create before it asks for it, and not when it was sent: at the latest after its last wait. */
function sentBefore({ deployment }: ExportedStack, { settings }: SettingsReading): string {
  const notedMs = Date.parse(deployment.manifest?.time ?? "");
  return Number.isNaN(notedMs) ? "" : new Date(notedMs + settings.maxWaitSeconds * 1000).toISOString();
}
