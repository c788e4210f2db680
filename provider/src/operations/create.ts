/**
 * Sends one create, at most once over all runs. These promises hold whatever fails, and whenever the process is killed:
 * - C1. A create is sent only if no open create of the resource is known, from Pulumi's record or this machine's
 *   journals, and no open create of the same platform name and advertiser (`namesakeOf`); and only after the
 *   create's own entry is on the disk.
 * - C2. An object that an earlier run made for the resource is taken over. An earlier create of unknown outcome is
 *   searched for by its mark, or stays unresolved; it is sent again only if a search proves that nothing was made.
 * - C3. A create that is sent again keeps its mark, so that a search finds the object of either sending.
 * - C4. Once a byte may have left, only a response that says so makes the create "not created". Otherwise it is
 *   unresolved, even if this package has a defect in reading the response.
 * - C5. The outcome is noted before the engine gets it. If the note fails, a message says so; the outcome stands.
 * - C6. If the engine asks again for a create that failed with something to save (error hooks), it gets the same answer;
 *   nothing is sent.
 * - C7. An id that another resource has or had proves nothing: the create is unresolved. So each object has one
 *   resource.
 */
import {
  AdvertisingError,
  BlockedCreateError,
  NotSentError,
  OutcomeUnknownError,
  withoutUndefined,
} from "../base/index.js";
import { bodyOf, differencesIn, fingerprintOfBody } from "../kinds/index.js";
import { canSearch, changeMessages, sentAsOf } from "../plan/index.js";
import { accountIn } from "../record/index.js";
import { knownOperations } from "../settings/index.js";
import {
  type CreateRecord,
  identifyingIn,
  markOf,
  parseKey,
  type Unresolved,
} from "../state/index.js";
import { assertAccountOfOpen, differsFromSent, planOfCreate } from "./decide-create.js";
import {
  foundDifferentNotice,
  namesakesMessage,
  refusedBeforeMessage,
  unknownSendingNotice,
  warnOfPlatform,
} from "./messages.js";
import {
  describeDefect,
  type ObjectTask,
  type Outcome,
  type RunningTask,
  replacedBy,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { type FoundObject, searchByMark } from "./search.js";

/**
 * Creates an object, at most once. @param ifNotMade what to do instead of sending a create again that a search has ruled
 * out. @throws AdvertisingError if nothing was created.
 */
export async function createOnce(
  runtime: Runtime,
  task: RunningTask,
  ifNotMade?: () => Promise<Outcome>,
): Promise<Outcome> {
  const { ref } = task;
  // Throws if the settings are incomplete, before anything begins.
  runtime.client();
  const open = await runtime.record.open();
  await runtime.journal().assertUsable();
  assertAccountOfOpen(runtime, open, task.keys);
  const asked = runtime.deployment.failed.get(ref.key);
  if (asked) return asked;
  const plan = planOfCreate(runtime, task, open);
  switch (plan.do) {
    case "keep":
      // Under `up --replace`, the engine deletes the resource's former state.
      runtime.deployment.staying.add(task.kind, plan.create.id);
      return takeOver(runtime, task, plan.create);
    case "take over":
      return takeOver(runtime, task, plan.create);
    case "search": {
      const { record } = plan;
      const outcome = (await recover(runtime, task, record)) ?? (await ifNotMade?.());
      if (outcome) return outcome;
      runtime.messages.say(
        `${ref.label}: a search finds no object of the create that an earlier run sent. This run sends it again.`,
      );
      return sendCreate(runtime, { ...task, mark: record.mark });
    }
    case "blocked":
      return { kind: "unresolved", record: plan.record };
    case "refused":
      runtime.deployment.firstRefused ??= ref.label;
      throw new BlockedCreateError(namesakesMessage([{ ref, open: plan.namesake }]));
    case "not sent":
      throw new BlockedCreateError(refusedBeforeMessage(ref, plan.refused));
    case "send":
      if (task.mark !== markOf(runtime.runName, ref.key))
        throw new NotSentError(
          `${ref.label} was not sent: this run has resolved an earlier create of it. Run this again.`,
        );
      return sendCreate(runtime, task);
  }
}

/** Searches for a create of unknown outcome. @returns undefined if it certainly wasn't carried out. */
async function recover(
  runtime: Runtime,
  task: ObjectTask,
  open: Unresolved,
): Promise<Outcome | undefined> {
  const finding = await search(runtime, task, open);
  if (finding.kind === "unresolved") return finding;
  if (finding.kind === "found") {
    const { what: _, searched: __, ...sent } = open;
    // The program has the object that the create was to replace. Taking the new one over would replace it once more.
    if (task.action.do === "same")
      return {
        kind: "unresolved",
        record: { ...open, searched: `A search found ${finding.id}.` },
      };
    const other = otherThanSent(runtime, task, open, finding);
    const made = { ...sent, ...other, key: task.ref.key, id: finding.id };
    await runtime.journal().recordCreated(open.mark, finding.id, made);
    return takeOver(runtime, task, made, other !== undefined);
  }
}

/**
 * Why an id can't be this create's object, as a clause that follows "which"; undefined if no resource has or had it.
 */
function ownershipConflict(
  runtime: Runtime,
  { kind, ref, formerIds }: ObjectTask,
  id: string,
) {
  if (formerIds.includes(id)) return "this resource had before";
  const inRun = runtime.deployment.holderOf(kind, id);
  const saved = runtime.record.arrived?.allWith(kind.name, id).find((each) => {
    const isOther = each.ref.key !== ref.key || each.resource.delete;
    return isOther && runtime.isSameAccount(accountIn(each.resource));
  });
  const holder = inRun ?? saved?.ref.key;
  if (holder !== undefined && inRun !== ref.key)
    return `already belongs to ${parseKey(holder).label}`;
  if (runtime.deployment.deleted.has(kind, id)) return "was deleted before";
}

/**
 * Describes an object that isn't as its create was sent, and says how it differs from the program; undefined if nothing
 * in the search's answer shows that.
 */
function otherThanSent(
  { settings, messages }: Runtime,
  { kind, ref, values, secret }: ObjectTask,
  { body }: CreateRecord,
  { id, record, contradicting }: FoundObject,
) {
  const differences = differencesIn(kind, settings, values, record);
  const isChanged = body !== "" && body !== fingerprintOfBody(kind, values);
  const names = Object.keys(differences);
  if (names.length === 0 || (isChanged && contradicting.length === 0)) return undefined;
  const theirs = withoutUndefined({ ...values, ...differences });
  const changes = changeMessages(names, values, theirs, secret);
  messages.tellEach(
    foundDifferentNotice({ ...ref, label: `${ref.label} (${id})` }, changes),
  );
  return {
    // If the program has changed since, what the answer lacks isn't known.
    body: isChanged ? "" : fingerprintOfBody(kind, theirs, secret),
    ...identifyingIn(kind, theirs, secret),
  };
}

/**
 * Takes over an object that an earlier run made; whether it still exists, a refresh finds out.
 * @param isOther whether it is known to differ from the program's arguments.
 * @throws ArgumentsError if another resource has the object.
 */
function takeOver(
  runtime: Runtime,
  task: ObjectTask,
  made: CreateRecord & { id: string },
  isOther = false,
) {
  const { kind, ref, values } = task;
  const { id, mark } = made;
  runtime.deployment.assertClaim(kind, id, ref);
  const outcome = { kind: "created", id, mark, isTakenOver: true } as const;
  const differs = isOther ? "certainly" : differsFromSent(runtime, task, made);
  if (!differs) {
    if (made.body === "") runtime.messages.tellEach(unknownSendingNotice(ref, id));
    return outcome;
  }
  let sentAs = sentAsOf(kind, made);
  if (differs === "perhaps")
    sentAs = {
      ...sentAsOf(kind, { body: fingerprintOfBody(kind, values), args: values }),
      isUnsure: true,
    };
  return failAs(runtime, ref.key, { ...outcome, sentAs });
}

/** Keeps an outcome with which the engine's call fails, since the engine may ask for it again. */
function failAs(runtime: Runtime, key: string, outcome: Outcome) {
  runtime.deployment.failed.set(key, outcome);
  return outcome;
}

async function sendCreate(runtime: Runtime, task: RunningTask) {
  const { kind, ref, values, secret, mark } = task;
  const { key, label } = ref;
  const { account, deployment, settings, messages, runName: run } = runtime;
  const { markField: field } = settings;
  const record = {
    mark,
    body: fingerprintOfBody(kind, values, secret),
    field,
    replaces: replacedBy(task),
    ...identifyingIn(kind, values, secret),
  };
  const fields = bodyOf(kind, values);
  const journal = runtime.journal();
  let sentAt: string | undefined;
  let conflict: string | undefined;
  // After the create was sent, nothing may throw: a note that can't be written is only reported.
  const noteOrSay = (writing: Promise<void>, before = "") =>
    writing.catch((error: Error) => messages.say(`${before}${error.message}`));
  const noteCreated = (id: string, made?: object) =>
    noteOrSay(journal.recordCreated(mark, id, made), `${label} was created as ${id}. `);
  const created = (id: string) => {
    deployment.claim(kind, id, key);
    return { kind: "created", id, mark } as const;
  };
  let what: string | undefined;
  try {
    const answer = await runtime.client().create({
      kind,
      operation: kind.create,
      fields: field === undefined ? fields : { ...fields, [field]: mark },
      label,
      beforeSend: async (at) => {
        task.assertMaySend();
        await journal.recordSending({ ...record, key, run, account, at });
        sentAt = at;
      },
      onCreated: async (id) => {
        conflict = ownershipConflict(runtime, task, id);
        if (conflict === undefined) await noteCreated(id);
      },
    });
    warnOfPlatform(runtime, label, answer.warnings);
    if (conflict === undefined) return created(answer.id);
    what = `${label} was sent at ${sentAt}. The response names ${answer.id}, which ${conflict}.`;
  } catch (error) {
    what = doubtFrom(error, label, sentAt);
    if (what === undefined) {
      if (sentAt !== undefined) await noteOrSay(journal.recordNotCarriedOut(mark));
      throw error;
    }
  }
  let open: Unresolved = withoutUndefined({
    ...record,
    at: sentAt ?? "",
    what: runtime.secrets.scrub(what),
  });
  if (conflict === undefined && canSearch(knownOperations(kind, settings), open)) {
    const finding = await search(runtime, task, open, true);
    if (finding.kind === "found") {
      const { id } = finding;
      const other = otherThanSent(runtime, task, open, finding);
      await noteCreated(id, other);
      messages.say(
        `${label} was created as ${id}: its response was lost, but a search found it.`,
      );
      if (!other) return created(id);
      return failAs(runtime, key, { ...created(id), sentAs: sentAsOf(kind, other) });
    }
    if (finding.kind === "unresolved") open = finding.record;
  }
  return failAs(runtime, key, { kind: "unresolved", record: open });
}

/** Searches for an open create by its mark. An object that a resource has or had does not count. */
async function search(
  runtime: Runtime,
  task: ObjectTask,
  open: Unresolved,
  wasJustSent = false,
) {
  const { kind, ref, formerIds } = task;
  const unresolved = (searched: string, latest = open.latest) => {
    const record = { ...open, latest, searched: runtime.secrets.scrub(searched) };
    return { kind: "unresolved", record: withoutUndefined(record) } as const;
  };
  const wanted = { kind, label: ref.label, sent: open, formerIds };
  const finding = await searchByMark(runtime, wanted, wasJustSent);
  if (finding.kind === "not-made") return finding;
  if (finding.kind === "open") return unresolved(finding.searched, finding.latest);
  const conflict = ownershipConflict(runtime, task, finding.id);
  if (conflict === undefined) return finding;
  return unresolved(`A search found object ${finding.id}, which ${conflict}.`);
}

/** A sentence about the unknown outcome of a create that failed; undefined if certainly nothing was created. */
function doubtFrom(error: unknown, label: string, sentAt?: string) {
  if (error instanceof OutcomeUnknownError) return error.message;
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect in reading the response: sending the create again could make a second object.
  return `${label} was sent at ${sentAt}, and its response could not be classified. ${describeDefect(error)}`;
}
