/** `pulumi-advertising report`: what a stack's state or a preview says, for the people who run the account. */
import { parseArgs } from "node:util";
import { count, enumerate } from "../base/index.js";
import { environmentNameOf } from "../settings/index.js";
import { commentOf } from "./comment.js";
import { type Contents, contentsOf } from "./contents.js";
import { pageOf } from "./page.js";
import { readPreview } from "./preview.js";
import { ID_FORMATS, idsOf } from "./report-ids.js";
import { chosen, earlierStateOf, STACK_OPTIONS, type StackChoice, stateOf, textOf, write } from "./report-input.js";
import { LEFTOVER_FORMATS, leftoversOf } from "./report-leftovers.js";
import { type ExportedStack, stackIn, stateIn } from "./stack-export.js";
import { addressesBy } from "./template.js";
import { refuseUnknownOptions } from "./unknown.js";

export const REPORT_HELP = `Usage: pulumi-advertising report ids|page|leftovers|comment [options]

Reads the selected stack's state, or a preview; sends nothing and changes nothing. Values that are secret in the state are told as
"(secret)".

  ids          the id of each advertiser and conversion event, by its name in the program
  page         one HTML file that needs no network: events, ids to copy, windows as bars, and which advertiser lacks which
               type of event
  leftovers    what is live on the platform and not managed any more: what was replaced, and what left a set;
               \`pulumi-advertising leftovers\` takes objects off the list
  comment      a preview as Markdown for a pull request, of at most 60,000 characters, with a warning of renames; from what
               \`pulumi preview --json\` printed, on standard input

  --format FORMAT        ids as json (default), csv, dotenv, or ts: a TypeScript module; leftovers as text (default), json, csv
  --before FILE          leftovers, also those of removed resources: an earlier export of the same stack, or a checkpoint
                         that a file backend keeps in .pulumi/history; may be given several times
  --template URL         ids with the address of each event's tag, as your platform documents it: {id} stands for the id;
                         {key}, {eventName}, {advertiserId}, {eventTypeId}, {segmentId} and {value} are known as well
  --preview FILE         comment, from a file instead of standard input
  --state FILE           what \`pulumi stack export\` printed, instead of the selected stack (- for standard input)
  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder
  --out FILE             writes to a file instead of standard output

Exit codes: 0 written, 2 called wrongly, or something could not be read.`;

const OPTIONS = {
  ...STACK_OPTIONS,
  format: { type: "string" },
  template: { type: "string" },
  preview: { type: "string" },
  before: { type: "string", multiple: true },
  out: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Options = StackChoice & { readonly [name in "format" | "template" | "preview" | "out"]?: string | undefined } & {
  readonly before?: readonly string[] | undefined;
};

interface Report {
  /** The options that mean something to it, beside those that all reports have. */
  readonly takes: readonly (keyof Options)[];
  readonly text: (options: Options) => Promise<string>;
}

const FROM_STATE = ["state", "stack", "cwd"] as const;

const REPORTS: Readonly<Record<string, Report>> = {
  ids: { takes: [...FROM_STATE, "format", "template"], text: ids },
  page: { takes: FROM_STATE, text: page },
  leftovers: { takes: [...FROM_STATE, "format", "before"], text: leftovers },
  comment: {
    takes: ["preview"],
    text: async ({ preview = "-" }) =>
      commentOf(readPreview(textOf(preview), process.env[environmentNameOf("operations")])),
  },
};

/** @returns the exit code. @throws Error in words, for exit code 2. */
export async function reportCommand(args: readonly string[]): Promise<number> {
  refuseUnknownOptions(args, OPTIONS);
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help) {
    console.log(REPORT_HELP);
    return 0;
  }
  const [name, ...rest] = positionals;
  if (name === undefined || rest.length > 0) {
    throw new Error(`it takes one report: ${enumerate(Object.keys(REPORTS))}; got ${positionals.join(" ") || "none"}`);
  }
  const report = chosen(REPORTS, name, "report");
  const { help: _, out, ...options } = values;
  const given = Object.keys(options) as (keyof Options)[];
  const foreign = given.filter((option) => !report.takes.includes(option));
  if (foreign.length > 0) {
    throw new Error(`\`report ${name}\` takes no ${enumerate(foreign.map((option) => `--${option}`))}`);
  }
  write(await report.text(options), out);
  return 0;
}

async function ids({ format = "json", template, ...choice }: Options): Promise<string> {
  const inFormat = chosen(ID_FORMATS, format, "format");
  const addressOf = template === undefined ? undefined : addressesBy(template);
  const found = idsOf(contentsIn(await stateOf(choice)), addressOf);
  if (found.unresolved.length > 0) {
    const keys = found.unresolved.map(({ key }) => key);
    console.error(`Warning: ${count(keys.length, "create")} of unknown outcome have no id yet: ${enumerate(keys)}`);
  }
  return inFormat(found);
}

async function page(choice: Options): Promise<string> {
  const state = await stateOf(choice);
  return pageOf(contentsIn(state), { stack: stackIn(state) ?? "", time: stateIn(state).time });
}

async function leftovers({ format = "text", before = [], ...choice }: Options): Promise<string> {
  const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
  const now = await stateOf(choice);
  const earlier = before.map((file) => {
    const state = earlierStateOf(file);
    const [stack, current] = [stackIn(state), stackIn(now)];
    if (stack !== undefined && current !== undefined && stack !== current) {
      throw new Error(`${file} is a state of the stack ${stack}, not of ${current}`);
    }
    return state;
  });
  return inFormat(leftoversOf(stateIn(now), earlier.map(stateIn)));
}

function contentsIn({ deployment }: ExportedStack): Contents {
  const contents = contentsOf(deployment.resources ?? []);
  for (const set of contents.secretSets) {
    console.error(`Warning: the ids of the set ${set} are secret in the state, so its events are left out`);
  }
  return contents;
}
