import { onTestFinished } from "vitest";

const due = new Set<() => unknown>();
let isRegistered = false;

/**
 * Has `end` called when the test ends.
 * @returns calls it off, and lets go of all that it holds: a test of thousands of clients must not keep them. For that
 *   vitest is asked once a test, since it keeps the stack of each time, and with it whatever stands there.
 */
export function untilTestEnds(end: () => unknown): () => void {
  due.add(end);
  if (!isRegistered) {
    isRegistered = true;
    onTestFinished(async () => {
      isRegistered = false;
      const ends = [...due];
      due.clear();
      for (const each of ends) await each();
    });
  }
  return () => due.delete(end);
}
