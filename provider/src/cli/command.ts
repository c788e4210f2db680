#!/usr/bin/env node
/**
 * `pulumi-advertising`: what is needed beside `pulumi up`, and those commands that read no state, `login` and
 * `validate`. The module promises that none of them sends anything that creates, and that only `pending` resolves creates:
 * in the state by `pulumi refresh`, and in this machine's journal. It may import every other module but `program`;
 * whatever loads an HTTP or cookie library is loaded when a command needs it.
 */
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
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
import { type Catalog, describeAlike, readCatalog } from "../catalog/index.js";
import { cookieFileFor } from "../journal/index.js";
import { describeSettingProblems, environmentNameOf, readSettings, type SettingsReading } from "../settings/index.js";
import { type Command, chosen, command, say } from "./harness.js";
import { leftoversCommand as leftovers } from "./leftovers.js";
import { pendingCommand as pending } from "./pending.js";
import { programFolder, readingOf, STACK_HELP, STACK_OPTIONS } from "./pulumi.js";
import { reportCommand as report } from "./report-command.js";

const LOGIN_HELP = `Usage: pulumi-advertising login [options]

Logs in with the settings of the selected stack, or of the environment if no stack is selected, and keeps the session in
the cookie file. Checks the credentials before a run, or logs in for many machines (without keepLoggedIn).

${STACK_HELP}

Exit codes: 0 logged in, or no login is needed; 1 no session for later runs, or wrong settings; 2 the stack could not be read.`;

/** This loads the HTTP library, which no other command needs. */
const http = () => import("../client/index.js");

const login = command({
  help: LOGIN_HELP,
  options: STACK_OPTIONS,
  run: async (choice) => {
    const { reading, origin } = await readingOf(choice);
    const { secretsIn } = await http();
    const secrets = secretsIn(reading);
    try {
      for (const warning of reading.warnings) console.error(`Warning: ${secrets.scrub(warning)}`);
      if (reading.problems.length > 0)
        throw new SettingsError(`Nothing was sent (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
      return say(secrets.scrub(await logIn(reading, programFolder(choice), secrets, origin)));
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      console.error(withPage(secrets.scrub(error.message), error.code));
      return 1;
    }
  },
});

/** @param folder the program's. @param origin of the settings, in words. @returns what to tell. @throws LoginError */
async function logIn(reading: SettingsReading, folder: string, secrets: Secrets, origin: string): Promise<string> {
  const { logInAnew, systemDependencies } = await http();
  const { settings, credentials } = reading;
  if (settings.authMode === "basic")
    return "No login is needed: with advertising:authMode basic, e-mail and password go with each request. They can't be checked without creating something.";
  const cookieFile = cookieFileFor(settings, folder);
  const dependencies = systemDependencies(reading, cookieFile, (message) => console.error(message), secrets);
  try {
    const { cure, endsAtMs } = await logInAnew(settings, dependencies);
    const loggedIn = `Logged in as ${settings.email} at ${settings.baseUrl} (settings ${origin}), with ${credentials}.`;
    if (cookieFile === undefined)
      return `${loggedIn}\nThe session is not kept, since advertising:cookieFile is none: each run logs in for itself.`;
    if (cure !== undefined)
      throw new LoginError(
        `${loggedIn} But the session could not be kept in ${cookieFile}. ${cure}, or name another place with ` +
          "advertising:cookieFile.",
      );
    const advice = settings.keepLoggedIn
      ? "Its cookies change with each request: use the file on one machine at a time."
      : "Other machines may have a copy, which they only read. Keep it secret.";
    const end = `The session is likely good until ${new Date(endsAtMs).toISOString()}.`;
    return [loggedIn, end, `It is kept in ${cookieFile}`, advice].join("\n");
  } finally {
    await dependencies.transport.close();
  }
}

const VALIDATE_HELP = `Usage: pulumi-advertising validate <file> [options]

Checks a catalog (.yaml, .yml, .json, .csv, .tsv), and lists every mistake with its place. Needs no stack, and sends
nothing. Limits come from ADVERTISING_MAX_WINDOW_SECONDS and ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default), json, or github: annotations for GitHub Actions

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 called wrongly.`;

const FINDINGS: Readonly<Record<string, (catalog: Catalog, file: string, summary: string) => string[]>> = {
  text: ({ findings }, _, summary) => {
    const alike = ["error", "warning"].flatMap((level) =>
      describeAlike(findings.filter((each) => each.level === level)).map((line) => `${level}: ${line}`),
    );
    return [...alike, summary];
  },
  /** A contract: fields are only added. */
  json: ({ advertisers, events, findings }, file) => {
    const listed = findings.map(({ reason, source: { file, line, column }, level, subject, property }) => {
      return { level, file, line, column, subject, property, message: reason };
    });
    const ok = !findings.some(({ level }) => level === "error");
    const report = { file, ok, advertisers: advertisers.length, events: events.length, findings: listed };
    return [JSON.stringify(report, undefined, 2)];
  },
  /** As GitHub's workflow commands want them: files relative to the repository. */
  github: ({ findings }, _, summary) => {
    const top = process.env.GITHUB_WORKSPACE ?? process.cwd();
    const escaped = (text: string, special: RegExp) => text.replace(special, encodeURIComponent);
    const lines = findings.map(({ level, subject, property, reason, source: { file, line, column } }) => {
      const path = escaped(relative(top, resolve(file)).replaceAll("\\", "/"), /[%\r\n:,]/g);
      const about = [subject && `${subject}:`, property, reason].filter((part) => part !== "").join(" ");
      const at = column === undefined ? "" : `,col=${column}`;
      return `::${level} file=${path},line=${line}${at}::${escaped(about, /[%\r\n]/g)}`;
    });
    return [...lines, summary];
  },
};

const validate = command({
  help: VALIDATE_HELP,
  options: { format: { type: "string" } },
  takes: "one file",
  run: async ({ format = "text" }, file) => {
    const inFormat = chosen(FINDINGS, format, "format");
    const names = [environmentNameOf("maxWindowSeconds"), environmentNameOf("markField")];
    const reading = { config: () => undefined, environment: process.env, mayLackPassword: true };
    const { settings, problems } = readSettings(reading);
    // The settings that only a run needs may be wrong.
    const wrong = problems.filter(({ source }) => names.includes(source));
    if (wrong.length > 0) throw new Error(wrong.map(({ source, reason }) => `${source} ${reason}`).join("; "));
    const catalog = readCatalog(file, process.cwd(), settings);
    const { advertisers, events, findings } = catalog;
    const errors = findings.filter(({ level }) => level === "error").length;
    const found = `${count(errors, "error")}, ${count(findings.length - errors, "warning")}`;
    const content = `${count(advertisers.length, "advertiser")}, ${count(events.length, "conversion event")}`;
    const summary = errors === 0 ? `${file}: ${content}; ${found}` : withPage(`${file}: ${found}`, ArgumentsError.code);
    return say(inFormat(catalog, file, summary).join("\n"), errors === 0 ? 0 : 1);
  },
});

const COMMANDS: Readonly<Record<string, Command>> = { leftovers, login, pending, report, validate };

const HELPS = [...Object.values(COMMANDS).map(({ help }) => help), "Usage: pulumi-advertising --help | --version"];

async function main([name, ...rest]: readonly string[]): Promise<number> {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw new Error(old);
  if (name === undefined) throw new UsageError("a command is missing");
  if (["--help", "-h", "help"].includes(name)) return say(HELPS.join("\n\n"));
  if (["--version", "-v"].includes(name)) {
    // The package's own, two folders above the compiled file.
    return say(JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")).version);
  }
  return chosen(COMMANDS, name, "command").run(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const text = `pulumi-advertising: ${error.message}`;
    if (error instanceof UsageError)
      console.error(withCode(`${text}\nSee \`npx pulumi-advertising --help\``, error.code));
    else console.error(withPage(text, error instanceof AdvertisingError ? error.code : UsageError.code));
    process.exitCode = 2;
  },
);
