/**
 * The creates that `pending` lists, by the same decisions as a run: in the state, in Pulumi's pending operations, and in
 * this machine's journals. Pure.
 */
import type { RunJournal } from "../journal/index.js";
import {
  asLastSent,
  isMade,
  isOfState,
  type OpenCreate,
  openCreates,
  settledJournals,
} from "../plan/index.js";
import { type ExportedObject, inNaturalOrder, type SavedState } from "../record/index.js";
import {
  type CreateRecord,
  isOfHiddenEvents,
  leftLiveIn,
  refAt,
  refOfKey,
  SINGLE,
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

export interface StackCreates {
  /** `<organization>/<project>/<stack>` */
  stack: string;
  saved: SavedState;
  /** Creates that need an answer, in natural order. */
  open: readonly Create[];
  /** Creates whose objects are known, and not in the state: the next `up` takes them over. */
  created: readonly Create[];
  /** Creates of journals that are over by this state. A run that can't read it asks about them all the same. */
  ended: readonly Create[];
  /** This state's journals. */
  journals: readonly RunJournal[];
  /** The journals, of all, that have entries which nobody needs any more, without these. */
  settled: readonly RunJournal[];
}

/** @param journals this machine's, of this stack. */
export function stackCreatesIn(
  saved: SavedState,
  journals: readonly RunJournal[],
  stack: string,
): StackCreates {
  const { open, lastSent } = openCreates(saved, journals);
  const inState = [...saved.unresolved.values()].flat().map((sent) => {
    const { key, mark, urn = "" } = sent;
    const record = asLastSent(sent, lastSent.get(mark), saved.listed(mark));
    return { ref: refAt(key, urn), record, knownBy: "state" as const };
  });
  const openMarks = new Set(open.map(({ mark }) => mark));
  const creates = [...lastSent.values()].map((record) => {
    const { key, mark } = record;
    const listed = saved.listed(mark);
    if (listed) return { ref: refAt(key, listed.urn), record, knownBy: "record" as const };
    return { ref: refOfKey(key, stack), record, knownBy: "journal" as const };
  });
  // The creates that the state lists were sent last: since then, nothing more is sent.
  const all = [...creates, ...inState].map((create): Create => {
    const { ref, record } = create;
    const current = saved.byKey.get(ref.key);
    const left = leftLiveIn(current?.resource.outputs ?? {}).filter(
      ({ key = SINGLE }) => key === (ref.member ?? SINGLE),
    );
    const ids = [current?.id, record.replaces, ...left.map(({ id }) => id)];
    return { ...create, formerIds: ids.filter((id) => id !== undefined) };
  });
  const sorted = inNaturalOrder(all, ({ ref }) => `${ref.shownName} ${ref.urn}`);
  const isOpen = ({ record, knownBy }: Create) =>
    knownBy === "state" || openMarks.has(record.mark);
  const asking = sorted.filter(isOpen);
  const created = asking.filter(({ ref, record }) => {
    return isMade(record) && !isOfHiddenEvents(ref);
  });
  // The next run takes such an object over, and sends nothing: that resolves what other runs have sent for it.
  const made = new Set(created.map(({ ref }) => ref.urn));
  return {
    stack,
    saved,
    open: asking.filter(({ knownBy, ref }) => knownBy === "state" || !made.has(ref.urn)),
    created,
    ended: sorted.filter((each) => !isOpen(each) && each.knownBy === "journal"),
    journals: journals.filter((each) => isOfState(each, saved)),
    settled: settledJournals(journals, saved, ({ mark }) => openMarks.has(mark)),
  };
}
