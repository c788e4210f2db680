/** Where the journal of a stack is. */
import { join } from "node:path";
import { digestOf } from "../files/index.js";

/** @param stack `<organization>/<project>/<stack>`. */
export function journalPath(folder: string, stack: string): string {
  return join(folder, `${digestOf(stack)}.jsonl`);
}
