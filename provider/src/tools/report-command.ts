/** `pulumi-advertising report`: what a stack's state or a preview says, for the people who run the account. */
import { count, enumerate } from "../base/index.js";
import { commentOf } from "./comment.js";
import { type Contents, contentsOf, warnOfSecretSets } from "./contents.js";
import { chosen, command, refuseForeignOptions, textOf, type Values, write } from "./harness.js";
import { pageOf } from "./page.js";
import { readPreview } from "./preview.js";
import { STACK_HELP, STACK_OPTIONS, settingInEnvironment, stateOf } from "./pulumi.js";
import { addressesBy, ID_FORMATS, idsOf } from "./report-ids.js";
import { type ExportedStack, stackIn, stateIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising report ids|page|comment [options]

Reads the selected stack's state, or a preview; sends nothing and changes nothing. Values that are secret in the state are shown
as "(secret)".

  ids          the id of each advertiser and conversion event, by its name in the program
  page         one HTML file that needs no network: events, ids to copy, windows as bars, and which advertiser lacks which
               type of event
  comment      a preview as Markdown for a pull request, of at most 60,000 characters, with a warning of renames; from what
               \`pulumi preview --json --show-sames\` printed, on standard input

  --format FORMAT        ids as json (default), csv, dotenv, or ts: a TypeScript module
  --template URL         ids with the address of each event's tag, as your platform documents it: {id} is replaced by the id;
                         {key}, {eventName}, {advertiserId}, {eventTypeId}, {segmentId} and {value} are replaced too
  --preview FILE         comment, from a file instead of standard input
  --state FILE           what \`pulumi stack export\` printed, instead of the selected stack (- for standard input)
${STACK_HELP}
  --out FILE             writes to a file instead of standard output

Exit codes: 0 written, 2 called wrongly, or something could not be read.`;

const OPTIONS = {
  state: { type: "string" },
  ...STACK_OPTIONS,
  format: { type: "string" },
  template: { type: "string" },
  preview: { type: "string" },
  out: { type: "string" },
} as const;

type Options = Omit<Values<typeof OPTIONS>, "out">;

interface Report {
  /** The options that mean something to it, beside those that all reports have. */
  readonly takes: readonly (keyof Options)[];
  readonly text: (options: Options) => Promise<string>;
}

const FROM_STATE = ["state", "stack", "cwd"] as const;

const REPORTS: Readonly<Record<string, Report>> = {
  ids: { takes: [...FROM_STATE, "format", "template"], text: ids },
  page: { takes: FROM_STATE, text: page },
  comment: {
    takes: ["preview"],
    text: async ({ preview = "-" }) => commentOf(readPreview(await textOf(preview), settingsInEnvironment())),
  },
};

/** The settings that decide what becomes of an object. A preview holds them if the stack sets them. */
function settingsInEnvironment() {
  return { operations: settingInEnvironment("operations"), markField: settingInEnvironment("markField") };
}

export const reportCommand = command({
  help: HELP,
  options: OPTIONS,
  takes: { amount: 1, words: `one report: ${enumerate(Object.keys(REPORTS))}` },
  run: async ({ out, ...options }, name = "") => {
    const report = chosen(REPORTS, name, "report");
    refuseForeignOptions(`report ${name}`, options, report.takes);
    write(await report.text(options), out);
    return 0;
  },
});

async function ids({ format = "json", template, ...choice }: Options): Promise<string> {
  const inFormat = chosen(ID_FORMATS, format, "format");
  const addressOf = template === undefined ? undefined : addressesBy(template);
  const found = idsOf(contentsIn(await stateOf(choice)), addressOf);
  if (found.unresolved.length > 0) {
    const keys = found.unresolved.map(({ key }) => key);
    console.error(
      `Warning: ${count(keys.length, "unresolved create has", "unresolved creates have")} no id yet: ${enumerate(keys)}`,
    );
  }
  return inFormat(found);
}

async function page(choice: Options): Promise<string> {
  const state = await stateOf(choice);
  return pageOf(contentsIn(state), { stack: stackIn(state) ?? "", time: stateIn(state).time });
}

function contentsIn(stack: ExportedStack): Contents {
  const contents = contentsOf(stateIn(stack).resources);
  warnOfSecretSets(contents, "so its events are left out");
  return contents;
}
