import { onTestFinished } from "vitest";

const due = new Set<() => unknown>();
let isRegistered = false;

/**
 * Calls `end` when the test ends.
 * @returns a function that cancels it and releases what `end` refers to, so that a test with thousands of clients does
 *   not keep them all. vitest is asked once a test: it keeps each time's call stack and all that this refers to.
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
