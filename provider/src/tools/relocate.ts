/**
 * `pulumi-advertising relocate`: declares that the platform and account which a stack's resources were created at are the same
 * under another address. The state then says so, and this machine's files of the stack go on under that address. Where both addresses have a
 * file, as after an `up --target` of something new, the two become one: the current one's word is the later one. A process that is killed
 * meanwhile loses nothing: a former file is removed last, and joining it once more adds nothing.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { agree, asTyped, count, enumerate, UsageError } from "../base/index.js";
import { appendNow, type Disk, readNow, removeNow, replaceNow, systemDisk } from "../files/index.js";
import { accountOf } from "../settings/index.js";
import { ACCOUNT } from "../state/index.js";
import {
  joinedInventories,
  joinedJournals,
  joinedSettlements,
  type StorePaths,
  seenAt,
  seenIn,
} from "../store/index.js";
import { changeStack, type StackJournals } from "./change-stack.js";
import { command, say } from "./harness.js";
import { STACK_HELP, STACK_OPTIONS } from "./pulumi.js";
import { atAccount, type ExportedStack, isOurs, stateIn, withEach } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising relocate '<host> <e-mail>' [options]

For the same platform and account under a new address or e-mail: changes '<host> <e-mail>', as the error shows it, to what
is configured now. Sends nothing.

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
      const up = `\`${asTyped("pulumi up")}\``;
      if (from === to)
        throw new Error(
          `nothing was changed: '${to}' is what the settings name. A plain refresh or destroy uses those of the last ${up}: run that, or add --run-program`,
        );
      const moves = movesFrom(from, journals);
      const hasNotes = moves.some((move) => Object.values(move.from).some((path) => existsSync(path)));
      const { stack, moved } = relocate(exported, from, to, hasNotes);
      return {
        stack: moved === 0 ? undefined : stack,
        // Before the state: with the notes alone moved, each run stops at the account that the state still names.
        before: () => moveNotes(moves),
        after: () =>
          say(
            `${count(moved, "resource")} of '${from}' ${agree(moved, "is", "are")} at '${to}' now. Nothing was sent. Next, run ${up}.`,
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
  const relocated = withEach(stack, (resource) => {
    const { inputs, outputs } = resource;
    if (!isOurs(resource) || (inputs?.[ACCOUNT] !== from && outputs?.[ACCOUNT] !== from)) return resource;
    moved++;
    return atAccount(resource, to);
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

/** The files of a stack under one address, and where they belong. */
interface Move {
  readonly from: StorePaths;
  readonly to: StorePaths;
}

/**
 * By each of the stack's names, files or none: answers at the new address may name a journal of the former one.
 * @param from `<host>[:<port>][/<path>] <e-mail>`.
 */
function movesFrom(from: string, journals: StackJournals): Move[] {
  const [place = "", email = ""] = from.split(" ");
  const formerly = journals.pathsAt({ baseUrl: `https://${place}`, email });
  return journals
    .pathsAt(journals.account())
    .map((to, n) => ({ from: formerly[n] ?? to, to }))
    .filter(({ from, to }) => from.journal !== to.journal);
}

type Join = (former: string, current: string | undefined, moved: (journal: string) => string) => string;

const joined: Readonly<Record<keyof StorePaths, Join>> = {
  // Alone it stays as it is: one that can't be read stops every create there, too.
  journal: (former, current) => (current === undefined ? former : joinedJournals(former, current)),
  objects: (former, current = "") => joinedInventories(former, current),
  runEnd: (former, current = "") => former + current,
  settlements: (former, current = "", moved) => joinedSettlements(former, current, moved),
};

/** Only while both journals are held. @returns what takes it back. @throws Error in words, where nothing was changed. */
export function moveNotes(moves: readonly Move[], disk: Disk = systemDisk): () => void {
  const before = new Map<string, string | undefined>();
  const added = new Map<string, string>();
  const takeBack = () => {
    for (const [path, text] of before) {
      if (text === undefined) removeNow(path, disk);
      else replaceNow(path, text, disk);
    }
    for (const [path, lines] of added) replaceNow(path, (readNow(path, disk) ?? "").replace(lines, ""), disk);
  };
  // An answer may name a journal of a name that the state no longer says.
  const folders = new Map(moves.map(({ from, to }) => [dirname(from.journal), dirname(to.journal)]));
  const moved = (journal: string) => join(folders.get(dirname(journal)) ?? dirname(journal), basename(journal));
  const failed = (from: string, to: string, error: unknown) => {
    takeBack();
    const why = (error as Error).message;
    return new Error(
      `${from} can't be joined with ${to} (${why}), and nothing was changed. If one can't be read, look in the ` +
        "account for objects that an interrupted run may have created, set existingId for those, remove that file, and run this again",
    );
  };
  // What was seen of objects is of all stacks, so the former account keeps it too; and runs of other stacks may append meanwhile.
  for (const [from, to] of [...folders].map((both) => both.map(seenIn) as [string, string])) {
    const lines = seenAt(from, disk);
    if (lines === "") continue;
    try {
      appendNow(to, lines, disk);
      added.set(to, lines);
    } catch (error) {
      throw failed(from, to, error);
    }
  }
  for (const { from, to } of moves) {
    for (const file of Object.keys(joined) as (keyof StorePaths)[]) {
      try {
        const [former, current] = [readNow(from[file], disk), readNow(to[file], disk)];
        // An answer that was given at the new address may name a journal of the former one.
        if (former === undefined && (file !== "settlements" || current === undefined)) continue;
        const text = joined[file](former ?? "", current, moved);
        before.set(from[file], former);
        if (!before.has(to[file])) before.set(to[file], current);
        disk.mkdirSync(dirname(to[file]), { recursive: true, mode: 0o700 });
        replaceNow(to[file], text, disk);
        removeNow(from[file], disk);
      } catch (error) {
        throw failed(from[file], to[file], error);
      }
    }
  }
  return takeBack;
}
