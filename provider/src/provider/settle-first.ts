/** Rule S, settle first: what an interrupted run has left open may be the same object under another name, so it stops what is new. */
import { type AdvertisingError, OutcomeUnknownError } from "../base/index.js";
import type { Member } from "../decision/index.js";
import { aboutWhom, type Ref, settleFirst } from "../state/index.js";
import type { Memory, MemoryRecord } from "../store/index.js";
import { expectSameAccount } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { openElsewhere } from "./tell.js";

/** @throws AccountMismatchError what an interrupted run sent to another account is to be settled there. */
export function expectAccountOfOpen(runtime: Runtime, memory: Memory): void {
  for (const [account, key] of memory.accountsOfOpen)
    expectSameAccount(runtime, account, `An interrupted run sent ${aboutWhom(key).label}, which no state has yet,`);
}

/**
 * Nothing new is sent while a create is open that nothing in the program declares, or that another stack of this project has: perhaps this one
 * under its former name.
 * @param body of what is to be created; none where it is not known yet.
 * @returns why not; in full once a run.
 */
export function whyNotNew(runtime: Runtime, subject: Ref, body: string | undefined): AdvertisingError | undefined {
  const { run, isSameAccount } = runtime;
  const memory = runtime.memory(subject.identity);
  const open = memory.undeclared((key) => run.isDeclared(key));
  const unclaimed = open.filter(({ key }) => run.isUnclaimed(key, memory.openMark));
  if (unclaimed.length > 0 && run.former !== undefined) {
    const text = `${subject.label} is not created yet: this run has found only now what the stack had under its former name. Nothing was sent for it. Run \`pulumi up\` again.`;
    return new OutcomeUnknownError(text, "");
  }
  if (unclaimed.length > 0) {
    const text = run.beginOnce("settle first")
      ? settleFirst(unclaimed)
      : `${subject.label} is not created: creates of interrupted runs are to be settled first (another error says which).`;
    return new OutcomeUnknownError(text, "");
  }
  const isIt = (each: MemoryRecord) => each.key === subject.key && each.body === body && isSameAccount(each.account);
  const elsewhere = runtime.openElsewhere(subject.identity).find(isIt);
  return elsewhere && new OutcomeUnknownError(openElsewhere(subject, elsewhere), elsewhere.at);
}

/** The same for a set's state: what is unresolved and no longer declared may be a new one under another key. @returns why nothing new is sent. */
export function whyNotNewIn(members: readonly Member[]): AdvertisingError | undefined {
  if (members.every(({ isDeclared, unresolved }) => isDeclared || unresolved === undefined)) return undefined;
  return new OutcomeUnknownError("events of unknown outcome are no longer declared, and it may be one of them.", "");
}
