/** Searches the platform for the object of a create of unknown outcome, by the mark that it was sent with. */
import {
  AdvertisingError,
  count,
  enumerate,
  momentOf,
  type Values,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { visibleFromMs } from "../plan/index.js";
import { knownOperations } from "../settings/index.js";
import {
  type CreateRecord,
  keyOf,
  MARK,
  markIn,
  markOf,
  markOfCreate,
  type ResourceRef,
} from "../state/index.js";
import type { Runtime } from "./runtime.js";

type SearchContext = Pick<Runtime, "reading" | "clock" | "client">;

type SearchResult =
  | { readonly kind: "found"; readonly id: string }
  /** There is none, and by now there won't be: it was not carried out. */
  | { readonly kind: "not-made" }
  /** Not known yet. @param words what was asked and what came back, and what happens next. */
  | { readonly kind: "open"; readonly words: string };

/** The growing pauses before each search, because a new object may be found only later. */
const PAUSES_S = [0, 1, 2, 4, 8, 15];

/** A create to search for. */
interface Wanted {
  readonly kind: Kind;
  readonly label: string;
  readonly sent: Pick<CreateRecord, "mark" | "at" | "field">;
  /** Ids its resource has or had, not from this create. */
  readonly formerIds: readonly string[];
}

/** @param wasJustSent if so, never `not-made`. */
export async function searchByMark(
  searchContext: SearchContext,
  { kind, label, sent, formerIds }: Wanted,
  wasJustSent = false,
): Promise<SearchResult> {
  const { search } = knownOperations(kind, searchContext.reading.settings);
  if (search === undefined || sent.field === undefined)
    throw new Error("search without the operation");
  const wanted = {
    kind,
    operation: search,
    field: sent.field,
    mark: sent.mark,
    label,
  };
  const dueMs = resendDueMs(sent.at, searchContext);
  const searched = `Searched for ${sent.field} = ${sent.mark}`;
  let answer = "";
  for (const pause of PAUSES_S) {
    try {
      if (pause > 0) await searchContext.clock.sleep(pause * 1000);
      // Determined before the search: an object that is created meanwhile must not count as not made.
      const isDue =
        !wasJustSent && dueMs !== undefined && searchContext.clock.wallMs() >= dueMs;
      const ids = (await searchContext.client().search(wanted)).filter(
        (id) => !formerIds.includes(id),
      );
      const [id] = ids;
      if (ids.length > 1) {
        const found = `${searched}: found ${count(ids.length, "object")}: ${enumerate(ids)}.`;
        const words = `${found} Keep one of them, and remove the others on the platform.`;
        return { kind: "open", words };
      }
      if (id !== undefined) return { kind: "found", id };
      if (isDue) return { kind: "not-made" };
      answer = "there is none.";
    } catch (error) {
      // A failed search says nothing about the create.
      if (!(error instanceof AdvertisingError)) throw error;
      answer = error.message;
    }
  }
  const until = momentOf(searchContext.clock);
  let words = `${searched} until ${until}: ${answer} The next \`pulumi up\`, or \`pulumi-advertising pending --search\`, looks again.`;
  if (dueMs !== undefined)
    words += ` From ${new Date(dueMs).toISOString()} on, \`pulumi up\` sends it again if there is none.`;
  return { kind: "open", words };
}

/** From when a create that no search finds counts as not made; none if never. Its last sending, if unknown, is now. */
export function resendDueMs(
  at: string,
  { reading: { settings }, clock }: SearchContext,
): number | undefined {
  const after = settings.operations?.resendAfterSeconds;
  if (after === undefined) return undefined;
  const lastMs = Date.parse(at) || clock.wallMs();
  return visibleFromMs(lastMs + (settings.requestTimeoutSeconds + after) * 1000, settings);
}

/** The object whose place a create takes. Under `--replace` the engine calls no `diff`: the journal alone knows it. */
export function replacedBy(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
): string | undefined {
  const entry = runtime.journal(ref.identity).of(ref.key);
  if (held !== undefined || entry?.state !== "confirmed") return held;
  return entry.id;
}

/**
 * A resource's mark for its inputs, and so for the engine's record of an interrupted run; none without a field for it.
 * @param olds its inputs in the state: what it has stays, so that a run without changes changes nothing.
 */
export function markInput(
  runtime: Runtime,
  ref: ResourceRef,
  olds: Values,
): string | undefined {
  const { markField: field } = runtime.reading.settings;
  if (field === undefined) return undefined;
  if (markIn(olds)?.field === field) return String(olds[MARK]);
  const held = runtime.deployment.plannedSingles.get(ref.key)?.object.id;
  return `${field} ${markFor(runtime, ref, replacedBy(runtime, ref, held))}`;
}

/** @param inputs of its resource, whose mark goes before: another machine may spell the backend in another way. */
export function markFor(
  runtime: Runtime,
  ref: ResourceRef,
  replaces: string | undefined,
  inputs: Values = {},
): string {
  const given = markIn(inputs);
  const isOurs = given?.field === runtime.reading.settings.markField;
  const { backend, stack } = runtime.placeOf(ref.identity);
  const ofResource = markOf(backend, stack, keyOf(ref.resource, ref));
  return markOfCreate(isOurs ? given?.mark : undefined, ofResource, ref.member, replaces);
}
