/**
 * `pulumi-advertising leftovers`: lists what is left live, and takes objects off that list once somebody has tidied them up.
 */
import { momentOf, printable, systemClock } from "../base/index.js";
import { leftLiveIn, leftLiveKind, writeLeftLive } from "../state/index.js";
import { placesOf, Seen, seenIn } from "../store/index.js";
import { changeStack } from "./change-stack.js";
import { contentsOf, objectsIn, warnOfSecretSets } from "./contents.js";
import { chosen, command, refuseForeignOptions, type StackChoice, say, type Values, write } from "./harness.js";
import {
  type DeletedAt,
  LEFTOVER_FORMATS,
  type Leftover,
  leftoversOf,
  nothingSince,
  otherStackThan,
} from "./leftovers.js";
import {
  exportIn,
  programFolder,
  STACK_HELP,
  STACK_OPTIONS,
  settingInEnvironment,
  settingsOf,
  stackName,
  stateOf,
} from "./pulumi.js";
import { accountIn, type ExportedStack, stackIn, stateIn, withEach } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising leftovers [--before EXPORT | --done ID] [options]

Lists what this stack left live: objects that were replaced, or left a set. With --before it also lists what left the state
after an earlier export by a removal or \`pulumi destroy\`. Sends nothing.

  --before EXPORT        what \`pulumi stack export\` printed earlier (- for standard input), or a checkpoint of a file
                         backend's history
  --state FILE           what \`pulumi stack export\` printed (- for standard input), instead of a stack
  --format FORMAT        text (default), json or csv
  --out FILE             writes to FILE
  --done ID              takes an object off the list, after you deactivated it by hand; ConversionEvent:ID or
                         Advertiser:ID if both kinds have this id
${STACK_HELP}

--before and --done may be given several times.

Exit codes: 0 done, 2 failed, and nothing was changed.`;

const OPTIONS = {
  done: { type: "string", multiple: true },
  before: { type: "string", multiple: true },
  state: { type: "string" },
  format: { type: "string" },
  out: { type: "string" },
  ...STACK_OPTIONS,
} as const;
type Options = Omit<Values<typeof OPTIONS>, "done">;

export const leftoversCommand = command({
  help: HELP,
  options: OPTIONS,
  run: async ({ done, ...options }) => {
    if (done === undefined) {
      write(await listed(options), options.out);
      return 0;
    }
    refuseForeignOptions("leftovers --done", options, Object.keys(STACK_OPTIONS));
    return takeOff(done, options);
  },
});

async function listed({ before = [], format = "text", out: _, ...choice }: Options): Promise<string> {
  const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
  const files = [];
  for (const file of before) files.push({ file, state: await exportIn(file) });
  const now = await stateOf(choice);
  // A state that was destroyed does not say whose it is.
  const current =
    stackIn(now) ?? (choice.state === undefined && before.length > 0 ? await stackName(choice) : undefined);
  for (const { file, state } of files) {
    const other = otherStackThan(current, state, now);
    if (other !== undefined)
      throw new Error(
        `${file} is a state of the stack ${other}, not of ${current}; give that one's later state with --state`,
      );
  }
  const earlier = files.map(({ state }) => stateIn(state));
  warnOfSecretSets(contentsOf(stateIn(now).resources), "so what is listed may be one of its events");
  for (const { resources } of earlier) warnOfSecretSets(contentsOf(resources), "so its events can't be listed");
  const nothing = earlier.length === 0 ? undefined : nothingSince(stateIn(now), earlier);
  return inFormat(leftoversOf(stateIn(now), earlier, await deletedHere(now, choice)), nothing);
}

/** What runs on this machine have deleted, of the account that the state says: an object may have been another resource's by then. */
async function deletedHere(now: ExportedStack, { state, ...choice }: Omit<Options, "before">): Promise<DeletedAt> {
  const account = accountIn(stateIn(now).resources);
  if (typeof account !== "string") return () => undefined;
  const { cookieFile } =
    state === undefined ? await settingsOf(["cookieFile"], choice) : { cookieFile: settingInEnvironment("cookieFile") }; // without Pulumi
  const [place = "", email = ""] = account.split(" ");
  const { journalFolder } = placesOf({ baseUrl: `https://${place}`, email }, "", cookieFile, programFolder(choice));
  const seen = new Seen(seenIn(journalFolder), systemClock);
  return (kind, id) => seen.deletedAt(kind, id);
}

async function takeOff(wanted: readonly string[], choice: StackChoice): Promise<number> {
  const done = await changeStack(choice, (exported) => {
    const { stack, done: marked } = markDone(exported, wanted, momentOf(systemClock));
    return { stack, after: () => marked };
  });
  const lines = done.map(({ kind, id, name, key }) => {
    const named = name === "" ? "" : ` "${printable(name)}"`;
    return `Off the list: ${kind} ${id}${named}, which ${key} had left live`;
  });
  return say(lines.join("\n"));
}

/**
 * Takes objects off the list: the state says when somebody saw to them. Pure: an exported stack in, an exported stack out.
 * @param wanted ids, or `<kind>:<id>` where an advertiser and an event have the same one. @param at ISO 8601.
 * @returns the stack, and what is on the list no more.
 * @throws Error with all that is wrong with them, or where the import of the state would lose something.
 */
export function markDone(
  stack: ExportedStack,
  wanted: readonly string[],
  at: string,
): { readonly stack: ExportedStack; readonly done: readonly Leftover[] } {
  const done = chosenOf(wanted, stack);
  const isDone = (kind: string | undefined, id: string) => done.some((each) => each.kind === kind && each.id === id);
  const marked = withEach(stack, (resource) => {
    const { type, outputs = {} } = resource;
    const [kind, left] = [leftLiveKind(type), leftLiveIn(outputs)];
    if (!left.some(({ id }) => isDone(kind, id))) return resource;
    const list = left.map((each) => (isDone(kind, each.id) ? { ...each, done: at } : each));
    return { ...resource, outputs: { ...outputs, ...writeLeftLive(list) } };
  });
  return { stack: marked, done };
}

function chosenOf(wanted: readonly string[], stack: ExportedStack): Leftover[] {
  const faults: string[] = [];
  const listed = leftoversOf(stateIn(stack), []);
  const held = objectsIn(stateIn(stack).resources);
  const chosen = [...new Set(wanted)].flatMap((text): Leftover[] => {
    const [, kind, id = ""] = /^(?:(\w+):)?(\d{1,30})$/.exec(text) ?? [];
    const found = listed.filter((each) => each.id === id && (kind === undefined || each.kind === kind));
    const [only] = found;
    const holder = held.find((each) => each.id === id && (kind === undefined || each.kind.name === kind))?.urn;
    if (id === "") faults.push(`--done takes an id of the list, such as 4711 or ConversionEvent:4711; got "${text}"`);
    else if (only === undefined && holder !== undefined)
      faults.push(`${text} is managed: the state has it as ${holder}`);
    else if (only === undefined) faults.push(`${text} is not on the list`);
    else if (found.length > 1)
      faults.push(`${text} is ${found.map((each) => `${each.kind}:${id}`).join(" or ")}: say which`);
    else if (only.at === "")
      faults.push(`${text} is still in the state: the next \`pulumi up\` takes it out; do that first`);
    else return [only];
    return [];
  });
  if (faults.length > 0) throw new Error(`nothing was taken off the list: ${faults.join("; ")}`);
  return chosen;
}
