/**
 * The creates that `pending` lists, by the same decisions as a run: in the state, in Pulumi's pending operations, and in
 * this machine's journals. Pure.
 */
import type { RunJournal } from "../journal/index.js";
import {
  asUnresolved,
  finishedJournals,
  isMade,
  isOfState,
  type OpenCreate,
  openCreates,
} from "../plan/index.js";
import { type ExportedObject, inNaturalOrder, type SavedState } from "../record/index.js";
import {
  type CreateRecord,
  leftLiveIn,
  refAt,
  refOfKey,
  SINGLE,
  type Unresolved,
} from "../state/index.js";

export interface Create {
  ref: ExportedObject["ref"];
  /** With an `id` if the create is known to have made an object. */
  record: CreateRecord & Partial<OpenCreate>;
  /** Where it was found: a resource of the state, a pending operation, or only a journal. */
  knownBy: "state" | "record" | "journal";
  /** The ids that its resource or member has or had. None of them can be this create's. */
  formerIds: readonly string[];
}

export interface Facts {
  /** `<organization>/<project>/<stack>` */
  stack: string;
  saved: SavedState;
  /** Creates that need an answer, in natural order. */
  open: readonly Create[];
  /** Creates whose objects are known, and not in the state: the next `up` takes them over. */
  made: readonly Create[];
  /** This state's journals. */
  journals: readonly RunJournal[];
  /** Journals that nobody needs any more. */
  finished: readonly RunJournal[];
}

/** @param journals this machine's, of this stack. */
export function factsIn(
  saved: SavedState,
  journals: readonly RunJournal[],
  stack: string,
): Facts {
  const inState = saved.objects.flatMap(({ ref, record }): Create[] => {
    if (!record) return [];
    return [{ ref, record, knownBy: "state", formerIds: formerIdsOf(saved, ref, record) }];
  });
  const listed = new Map(saved.sent.map((create) => [create.mark, create]));
  const { open: all } = openCreates(saved, journals);
  const creates = all.map((record): Create => {
    const { urn } = listed.get(record.mark) ?? {};
    const ref = urn === undefined ? refOfKey(record.key, stack) : refAt(record.key, urn);
    const knownBy = urn === undefined ? "journal" : "record";
    return { ref, record, knownBy, formerIds: formerIdsOf(saved, ref, record) };
  });
  const isKnown = (record: Create["record"]) => isMade(record as OpenCreate);
  const openMarks = new Set(all.map(({ mark }) => mark));
  return {
    stack,
    saved,
    open: byName([...inState, ...creates.filter(({ record }) => !isKnown(record))]),
    made: byName(creates.filter(({ record }) => isKnown(record))),
    journals: journals.filter((each) => isOfState(each, saved)),
    finished: finishedJournals(journals, saved, (mark) => openMarks.has(mark)),
  };
}

function formerIdsOf({ byKey }: SavedState, ref: Create["ref"], record: CreateRecord) {
  const held = byKey.get(ref.key);
  const left = leftLiveIn(held?.resource.outputs ?? {});
  const own = left.filter(({ key = SINGLE }) => key === (ref.member ?? SINGLE));
  return [held?.id, record.replaces, ...own.map(({ id }) => id)].filter(
    (id) => id !== undefined,
  );
}

function byName(creates: Iterable<Create>) {
  return inNaturalOrder(creates, ({ ref }) => `${ref.short} ${ref.urn}`);
}

/** The creates of interrupted updates, by the set's id and by member: Pulumi's next save drops such operations. */
export function openUpdates({
  open,
  saved,
}: Facts): Record<string, Record<string, Unresolved>> {
  const byId: Record<string, Record<string, Unresolved>> = {};
  for (const { ref, record } of open) {
    const { id } = saved.resources.find(({ urn }) => urn === ref.resourceUrn) ?? {};
    if (record.isOfUpdate !== true || id === undefined || ref.member === undefined)
      continue;
    byId[id] = { ...byId[id], [ref.member]: asUnresolved(ref, record as OpenCreate) };
  }
  return byId;
}
