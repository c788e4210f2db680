/**
 * `pulumi-advertising relocate`: declares that the platform and account which a stack's resources were created at are the same
 * under another address. The state then says so.
 */
import { agree, count, enumerate, UsageError } from "../base/index.js";
import { accountOf } from "../settings/index.js";
import { ACCOUNT } from "../state/index.js";
import { moveNotes } from "../store/index.js";
import { changeStack } from "./change-stack.js";
import { command, say } from "./harness.js";
import { STACK_HELP, STACK_OPTIONS } from "./pulumi.js";
import { type ExportedStack, isOurs, type Resource, stateIn, withEach } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising relocate '<host> <e-mail>' [options]

For the same platform and account under a new address or e-mail: changes '<host> <e-mail>', as the error shows it, to what
is configured now. Sends nothing. For another platform or account, make a new stack.

${STACK_HELP}

Exit codes: 0 done, 2 failed, and nothing was changed.`;

const WORDS = "'<host> <e-mail>' as the error shows them";

export const relocateCommand = command({
  help: HELP,
  options: STACK_OPTIONS,
  // Without quotes they are two arguments.
  takes: { amount: [1, 2], words: WORDS },
  run: async (choice, ...words) => {
    const from = words.join(" ");
    if (!/^\S+ \S+$/.test(from)) throw new UsageError(`expected ${WORDS}; got ${from}`);
    return changeStack(choice, (exported, journals) => {
      const to = accountOf(journals.account());
      const notes = journals.standingAt(from);
      const { stack, moved } = relocate(exported, from, to, notes.length > 0);
      return {
        stack: moved === 0 ? undefined : stack,
        // Before the state: with the notes alone moved, each run stops at the account that the state still names.
        before: () => moveNotes(notes),
        after: () =>
          say(
            `${count(moved, "resource")} of '${from}' ${agree(moved, "is", "are")} at '${to}' now. Nothing was sent.`,
          ),
      };
    });
  },
});

/**
 * Pure: an exported stack in, an exported stack out.
 * @param from @param to as messages name them: `<host>[:<port>][/<path>] <e-mail>`.
 * @param hasNotes whether notes of the former address are left on this machine, as after a kill: then there may be nothing else to do.
 * @returns the stack, and how many resources have moved.
 * @throws Error where there is nothing to move, or where the import of the state would lose something.
 */
function relocate(
  stack: ExportedStack,
  from: string,
  to: string,
  hasNotes: boolean,
): { readonly stack: ExportedStack; readonly moved: number } {
  let moved = 0;
  const changed = (properties: Resource["inputs"]) =>
    properties?.[ACCOUNT] === from ? { ...properties, [ACCOUNT]: to } : properties;
  const relocated = withEach(stack, (resource) => {
    const { inputs, outputs } = resource;
    if (!isOurs(resource) || (inputs?.[ACCOUNT] !== from && outputs?.[ACCOUNT] !== from)) return resource;
    moved++;
    return { ...resource, inputs: changed(inputs), outputs: changed(outputs) };
  });
  if (moved === 0 && !hasNotes) {
    const recorded = new Set(
      stateIn(stack).resources.flatMap(({ inputs, outputs }) => [inputs?.[ACCOUNT], outputs?.[ACCOUNT]]),
    );
    const names = [...recorded].flatMap((account) => (typeof account === "string" ? [`'${account}'`] : []));
    throw new Error(
      `no resource of this stack was created at '${from}'; ${names.length === 0 ? "none says where it was created" : `its resources were created at ${enumerate(names)}`}`,
    );
  }
  return { stack: relocated, moved };
}
