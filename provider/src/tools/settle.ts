/**
 * Carries answers out: what the state has as unresolved by a refresh of just those resources, whose `read` the answers are handed to; what only
 * this machine's memory or Pulumi's record has by lines of the memory, which the next `up` here goes by. Pulumi's own lock and save are the only
 * ones: no state is written here.
 */
import { asTyped, momentOf, systemClock } from "../base/index.js";
import { type Line, memoryFolder, type StackPlace, writeAnswers } from "../store/index.js";
import type { StackChoice } from "./harness.js";
import type { Answer } from "./pending-answers.js";
import { type Facts, factsIn } from "./pending-facts.js";
import { accountIn, exportOf, refresh } from "./pulumi.js";

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/** As many as fit into one variable of the environment, of which Linux takes 128 KiB. */
const AT_ONCE = 1000;

interface Settled {
  /** The answers that count now. */
  readonly settled: readonly Answer[];
  /** In words, why others do not. */
  readonly failed: string | undefined;
}

/** @param place where this machine's memory is. @throws Error if none counts; with Pulumi's words, if a run is under way or a passphrase is wrong. */
export async function settle(
  answers: readonly Answer[],
  { notes }: Facts,
  place: StackPlace | undefined,
  choice: StackChoice,
): Promise<Settled> {
  const others = answers.filter(({ create }) => create.known !== "state");
  const { settled, failed } = await settleInState(
    answers.filter(({ create }) => create.known === "state"),
    choice,
  );
  const at = momentOf(systemClock);
  const isNew = others.some(({ create, id }) => create.known === "record" && id !== undefined);
  const account = isNew ? await accountIn(choice) : undefined;
  const noted = settled.filter(({ create }) => notes?.get(create.ref.key)?.record.state === "sent");
  const lines = [...others, ...noted].flatMap(({ create: { ref, record, known }, id }): Line[] => {
    const { key } = ref;
    const { replaces } = record;
    // What the create was to replace is still live: the next run says so.
    if (id === undefined && known === "state" && replaces !== undefined)
      return [{ key, state: "live", id: replaces, at }];
    if (id === undefined) return [{ key, state: "none", at }];
    const sent = { ...record, key, state: "sent", at, ...(account === undefined ? {} : { account }) } as const;
    return [...(known === "record" ? [sent] : []), { key, state: "made", id }];
  });
  await note(lines, place);
  return { settled: [...others, ...settled], failed };
}

/** Writes into this machine's memory. */
export async function note(lines: readonly Line[], place: StackPlace | undefined): Promise<void> {
  if (lines.length === 0) return;
  if (place === undefined) throw new Error("`pulumi stack --show-name` does not say whose memory this is");
  await writeAnswers(place, lines, { folder: memoryFolder() });
}

async function settleInState(answers: readonly Answer[], choice: StackChoice): Promise<Settled> {
  if (answers.length === 0) return { settled: [], failed: undefined };
  let said = "Pulumi's refresh has not changed them";
  for (let from = 0; from < answers.length; from += AT_ONCE) {
    const some = answers.slice(from, from + AT_ONCE);
    const urns = [...new Set(some.map(({ create }) => create.ref.resourceUrn))];
    const byMark = Object.fromEntries(some.map(({ create, id }) => [create.record.mark, id ?? null]));
    await refresh(urns, { [ANSWERS]: JSON.stringify(byMark) }, choice).catch((error: Error) => {
      said = error.message;
    });
  }
  const { open } = factsIn(await exportOf(choice), undefined, undefined);
  const still = new Set(open.flatMap(({ known, record }) => (known === "state" ? record.mark : [])));
  const settled = answers.filter(({ create }) => !still.has(create.record.mark));
  if (settled.length === answers.length) return { settled, failed: undefined };
  const unlock = `If Pulumi says that the stack is locked, let that run end. Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel")}`;
  const failed = `${said}\n${unlock}`;
  if (settled.length === 0) throw new Error(`nothing was settled: ${failed}`);
  return { settled, failed };
}
