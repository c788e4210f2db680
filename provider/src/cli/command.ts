#!/usr/bin/env node
/**
 * `pulumi-advertising`: what is needed beside `pulumi up`, and those commands that read no state, `login` and
 * `validate`. The module promises that none of them sends anything that creates, and that only `pending` resolves creates:
 * in the state by `pulumi refresh`, and in this machine's journal. It may import every other module but `program`;
 * whatever loads an HTTP or cookie library is loaded when a command needs it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  AdvertisingError,
  ArgumentsError,
  count,
  LoginError,
  type Secrets,
  SettingsError,
  UsageError,
  versionProblem,
  withCode,
  withPage,
} from "../base/index.js";
import { type CatalogContent, describeAlike, readCatalog } from "../catalog/index.js";
import { cookieFileFor } from "../journal/index.js";
import { describeSettingProblems, readSettings } from "../settings/index.js";
import { type Command, chosen, command, jsonOf, say } from "./harness.js";
import { leftoversCommand as leftovers } from "./leftovers.js";
import { pendingCommand as pending } from "./pending.js";
import {
  type CommandSettings,
  programFolder,
  readingOf,
  STACK_HELP,
  STACK_OPTIONS,
} from "./pulumi.js";
import { reportCommand as report } from "./report-command.js";

const LOGIN_HELP = `Usage: pulumi-advertising login [options]

Logs in with the settings of the selected stack, or of the environment if no stack is selected,
and keeps the session in the cookie file: to check the credentials, or for many machines.

${STACK_HELP}

Exit codes: 0 logged in or not needed, 1 no session for later runs, 2 failed.`;

/** This loads the HTTP library, which no other command needs. */
const http = () => import("../client/index.js");

const login = command({
  help: LOGIN_HELP,
  options: STACK_OPTIONS,
  run: async (choice) => {
    const found = await readingOf(choice);
    const secrets = (await http()).secretsIn(found.reading);
    try {
      for (const warning of found.reading.warnings)
        console.error(`Warning: ${secrets.scrub(warning)}`);
      return say(secrets.scrub(await logInOnce(found, programFolder(choice), secrets)));
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      console.error(withPage(secrets.scrub(error.message), error.code));
      return 1;
    }
  },
});

/** @param folder the program's. @returns what to tell. @throws LoginError, SettingsError */
async function logInOnce(
  { reading, origin }: CommandSettings,
  folder: string,
  secrets: Secrets,
): Promise<string> {
  const { settings, credentials, problems } = reading;
  if (problems.length > 0)
    throw new SettingsError(
      `Nothing was sent (settings ${origin}):\n${describeSettingProblems(problems)}`,
    );
  if (settings.authMode === "basic")
    return "No login is needed: advertising:authMode is basic. Only a create checks the credentials.";
  const { logInAnew, systemDependencies } = await http();
  const cookieFile = cookieFileFor(settings, folder);
  const dependencies = systemDependencies(reading, {
    cookieFile,
    tell: (message) => console.error(message),
    secrets,
  });
  try {
    const { cure, endsAtMs } = await logInAnew(dependencies);
    const { email, baseUrl, keepLoggedIn } = settings;
    const loggedIn = `Logged in as ${email} at ${baseUrl} (settings ${origin}), with ${credentials}.`;
    if (cookieFile === undefined)
      return `${loggedIn}\nThe session is not kept, since advertising:cookieFile is none.`;
    if (cure !== undefined)
      throw new LoginError(
        `${loggedIn} But the session could not be kept in ${cookieFile}. ${cure}, ` +
          "or name another place with advertising:cookieFile.",
      );
    const end = new Date(endsAtMs).toISOString();
    const kept = `The session is likely good until ${end}.\nIt is kept in ${cookieFile}`;
    const advice = keepLoggedIn ? "\nUse the file on one machine at a time." : "";
    return `${loggedIn}\n${kept}${advice}`;
  } finally {
    await dependencies.transport.close();
  }
}

const VALIDATE_HELP = `Usage: pulumi-advertising validate <file> [options]

Checks a catalog (.yaml, .yml, .json, .csv, .tsv), and lists every mistake with its place.
Needs no stack, and sends nothing. Limits come from ADVERTISING_MAX_WINDOW_SECONDS and
ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default) or json

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 called wrongly.`;

type FindingsFormat = (catalog: CatalogContent, file: string, errors: number) => string;

const FINDINGS: Readonly<Record<string, FindingsFormat>> = {
  text: ({ advertisers, events, findings }, file, errors) => {
    const lines = ["error", "warning"].flatMap((level) => {
      const alike = findings.filter((finding) => finding.level === level);
      return describeAlike(alike).map((line) => `${level}: ${line}\n`);
    });
    const counts = [
      count(advertisers.length, "advertiser"),
      count(events.length, "conversion event"),
      count(errors, "error"),
      count(findings.length - errors, "warning"),
    ];
    let summary = `${file}: ${counts.join(", ")}`;
    if (errors > 0) summary = withPage(summary, ArgumentsError.code);
    return `${lines.join("")}${summary}\n`;
  },
  /** A contract: fields are only added. */
  json: ({ advertisers, events, findings }, file, errors) => {
    const amounts = { advertisers: advertisers.length, events: events.length };
    const listed = findings.map(({ source, level, subject, property, reason }) => {
      return { level, ...source, subject, property, message: reason };
    });
    return jsonOf({ file, ok: errors === 0, ...amounts, findings: listed });
  },
};

const validateCommand = command({
  help: VALIDATE_HELP,
  options: { format: { type: "string", default: "text" } },
  takes: "one file",
  run: async ({ format }, file) => {
    const inFormat = chosen(FINDINGS, format, "format");
    const { settings, problems } = readSettings({
      config: () => undefined,
      environment: process.env,
      mayLackPassword: true,
      mayLackAll: true,
    });
    if (problems.length > 0)
      throw new SettingsError(
        problems.map(({ source, reason }) => `${source} ${reason}`).join("; "),
      );
    const catalog = readCatalog(file, process.cwd(), settings);
    const errors = catalog.findings.filter(({ level }) => level === "error").length;
    process.stdout.write(inFormat(catalog, file, errors));
    return Math.min(errors, 1);
  },
});

const COMMANDS = { leftovers, login, pending, report, validate: validateCommand };

async function main([name = "", ...rest]: readonly string[]): Promise<number> {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw new Error(old);
  if (["--help", "-h"].includes(name)) {
    const helps = Object.values(COMMANDS).map(({ help }) => help);
    return say([...helps, "Usage: pulumi-advertising --help | --version"].join("\n\n"));
  }
  // The package's own, two folders above the compiled file.
  if (name === "--version")
    return say(
      JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")).version,
    );
  return chosen<Command>(COMMANDS, name, "command").run(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const text = `pulumi-advertising: ${error.message}`;
    if (error instanceof UsageError)
      console.error(withCode(`${text}\nSee \`npx pulumi-advertising --help\``, error.code));
    else if (error instanceof AdvertisingError) console.error(withPage(text, error.code));
    else console.error(withPage(text, UsageError.code));
    process.exitCode = 2;
  },
);
