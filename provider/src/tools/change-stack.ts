/**
 * The one way in which a command changes a stack. It holds the lock of the stack's journals on this machine from beginning to end,
 * judges what it finds, and looks again right before it changes anything: where the state is not the one that was judged, it begins
 * again. So two commands at once are done one after the other, and what a run saved meanwhile is not overwritten.
 *
 * What a command does apart from the import (in the journals) stands in `before` or `after`, such that it can be killed between any
 * two steps and finishes when it is called again.
 */
import { exportOf, pulumi, type StackChoice, stackName } from "./pulumi.js";
import { type ExportedStack, readExport, stackIn } from "./stack-export.js";
import { journalsOf, type StackJournals } from "./stack-journals.js";

/** What a command has decided to do with the stack that it was shown. */
export interface Decided<T> {
  /** The state as it is to be; none where it stays as it is. */
  readonly stack?: ExportedStack | undefined;
  /** Done before the state is imported. @returns what takes it back, for an import that fails. */
  readonly before?: () => () => void;
  /** Done once the state is imported. @returns what the command goes on with. */
  readonly after: () => T;
}

const MAX_TURNS = 3;

/**
 * @param judge shown the stack and the journals of this machine; asked again where the stack is another one by then.
 * @throws Error in words; then nothing was changed, unless `after` threw.
 */
export async function changeStack<T>(
  choice: StackChoice,
  judge: (stack: ExportedStack, journals: StackJournals) => Promise<Decided<T>> | Decided<T>,
): Promise<T> {
  const name = await stackName(choice);
  const journals = await journalsOf(name, choice);
  const turn = (text: string, left: number): Promise<T> => {
    const stack = readExport(text);
    // A stack that was renamed since its last run has its journals under its former name, as its resources have it.
    return journals.whileHeld(stackIn(stack), async () => {
      const decided = await judge(stack, journals);
      const now = await exportOf(choice);
      if (now === text) return carryOut(choice, decided);
      if (left > 1) return turn(now, left - 1);
      throw new Error(
        "other runs kept changing the stack, so nothing was changed here; wait until they end, and run this again",
      );
    });
  };
  return journals.whileHeld(name, async () => turn(await exportOf(choice), MAX_TURNS));
}

async function carryOut<T>(choice: StackChoice, { stack, before, after }: Decided<T>): Promise<T> {
  const takeBack = before?.();
  if (stack !== undefined) {
    try {
      await pulumi(["stack", "import"], choice, JSON.stringify(stack));
    } catch (error) {
      takeBack?.();
      throw error;
    }
  }
  return after();
}
