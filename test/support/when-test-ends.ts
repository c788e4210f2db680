import { onTestFinished } from "vitest";

const due = new Set<() => unknown>();
let isRegistered = false;

/**
 * Calls `end` when the test ends.
 * @returns a function that cancels the call and releases everything that `end` refers to, so that a test with thousands
 *   of clients doesn't keep them all. vitest's own hook is set once a test, because it keeps each caller's stack.
 */
export function whenTestEnds(end: () => unknown): () => void {
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
