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
import { type CatalogContent, describeAlike, readCatalog } from "../catalog/index.js";
import { cookieFileFor } from "../journal/index.js";
import { describeSettingProblems, environmentNameOf, readSettings } from "../settings/index.js";
import { type Command, chosen, command, say } from "./harness.js";
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

Exit codes: 0 logged in, or no login is needed; 1 no session for later runs, or wrong settings;
2 the stack could not be read.`;

/** This loads the HTTP library, which no other command needs. */
const http = () => import("../client/index.js");

const login = command({
  help: LOGIN_HELP,
  options: STACK_OPTIONS,
  run: async (choice) => {
    const found = await readingOf(choice);
    const { secretsIn } = await http();
    const secrets = secretsIn(found.reading);
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

const NO_LOGIN =
  "No login is needed: with advertising:authMode basic, e-mail and password go with each request. " +
  "They can't be checked without creating something.";

const NOT_KEPT =
  "The session is not kept, since advertising:cookieFile is none: each run logs in for itself.";

/** @param folder the program's. @returns what to tell. @throws LoginError, SettingsError */
async function logInOnce(
  found: CommandSettings,
  folder: string,
  secrets: Secrets,
): Promise<string> {
  const { reading, origin } = found;
  const { settings, credentials, problems } = reading;
  if (problems.length > 0) {
    const problemsText = describeSettingProblems(problems);
    throw new SettingsError(`Nothing was sent (settings ${origin}):\n${problemsText}`);
  }
  if (settings.authMode === "basic") return NO_LOGIN;
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
    if (cookieFile === undefined) return `${loggedIn}\n${NOT_KEPT}`;
    if (cure !== undefined) {
      const failure = `${loggedIn} But the session could not be kept in ${cookieFile}.`;
      throw new LoginError(
        `${failure} ${cure}, or name another place with advertising:cookieFile.`,
      );
    }
    const end = `The session is likely good until ${new Date(endsAtMs).toISOString()}.`;
    let advice = "Other machines may have a copy, which they only read. Keep it secret.";
    if (keepLoggedIn)
      advice = "Its cookies change with each request: use the file on one machine at a time.";
    return [loggedIn, end, `It is kept in ${cookieFile}`, advice].join("\n");
  } finally {
    await dependencies.transport.close();
  }
}

const VALIDATE_HELP = `Usage: pulumi-advertising validate <file> [options]

Checks a catalog (.yaml, .yml, .json, .csv, .tsv), and lists every mistake with its place.
Needs no stack, and sends nothing. Limits come from ADVERTISING_MAX_WINDOW_SECONDS and
ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default), json, or github: annotations for GitHub Actions

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 called wrongly.`;

interface Validated {
  readonly file: string;
  readonly catalog: CatalogContent;
  /** A sentence. */
  readonly summary: string;
}

const FINDINGS: Readonly<Record<string, (validated: Validated) => string[]>> = {
  text: ({ catalog, summary }) => {
    const lines = ["error", "warning"].flatMap((level) => {
      const alike = catalog.findings.filter((finding) => finding.level === level);
      return describeAlike(alike).map((line) => `${level}: ${line}`);
    });
    return [...lines, summary];
  },
  /** A contract: fields are only added. */
  json: ({ catalog: { advertisers, events, findings }, file }) => {
    const listed = findings.map(({ source, level, subject, property, reason }) => {
      const place = { file: source.file, line: source.line, column: source.column };
      return { level, ...place, subject, property, message: reason };
    });
    const ok = !findings.some(({ level }) => level === "error");
    const amounts = { advertisers: advertisers.length, events: events.length };
    return [JSON.stringify({ file, ok, ...amounts, findings: listed }, undefined, 2)];
  },
  /** As GitHub's workflow commands want them: files relative to the repository. */
  github: ({ catalog, summary }) => [...catalog.findings.map(annotationOf), summary],
};

function annotationOf({
  level,
  subject,
  property,
  reason,
  source,
}: CatalogContent["findings"][number]) {
  const top = process.env.GITHUB_WORKSPACE ?? process.cwd();
  const path = relative(top, resolve(source.file)).replaceAll("\\", "/");
  const places = [
    `file=${path.replace(/[%\r\n:,]/g, encodeURIComponent)}`,
    `line=${source.line}`,
  ];
  if (source.column !== undefined) places.push(`col=${source.column}`);
  const about = [subject && `${subject}:`, property, reason].filter((part) => part !== "");
  const text = about.join(" ").replace(/[%\r\n]/g, encodeURIComponent);
  return `::${level} ${places.join(",")}::${text}`;
}

const validateCommand = command({
  help: VALIDATE_HELP,
  options: { format: { type: "string", default: "text" } },
  takes: "one file",
  run: async ({ format }, file) => {
    const inFormat = chosen(FINDINGS, format, "format");
    const names = [environmentNameOf("maxWindowSeconds"), environmentNameOf("markField")];
    const reading = {
      config: () => undefined,
      environment: process.env,
      mayLackPassword: true,
    };
    const { settings, problems } = readSettings(reading);
    // The settings that only a run needs may be wrong.
    const wrong = problems.filter(({ source }) => names.includes(source));
    if (wrong.length > 0)
      throw new Error(wrong.map(({ source, reason }) => `${source} ${reason}`).join("; "));
    const catalog = readCatalog(file, process.cwd(), settings);
    const { advertisers, events, findings } = catalog;
    const errors = findings.filter(({ level }) => level === "error").length;
    const found = `${count(errors, "error")}, ${count(findings.length - errors, "warning")}`;
    const content = [
      count(advertisers.length, "advertiser"),
      count(events.length, "conversion event"),
    ];
    let summary = `${file}: ${content.join(", ")}; ${found}`;
    if (errors > 0) summary = withPage(`${file}: ${found}`, ArgumentsError.code);
    console.log(inFormat({ file, catalog, summary }).join("\n"));
    return Math.min(errors, 1);
  },
});

const COMMANDS: Readonly<Record<string, Command>> = {
  leftovers,
  login,
  pending,
  report,
  validate: validateCommand,
};

const HELPS = [
  ...Object.values(COMMANDS).map(({ help }) => help),
  "Usage: pulumi-advertising --help | --version",
];

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
    else if (error instanceof AdvertisingError) console.error(withPage(text, error.code));
    else console.error(withPage(text, UsageError.code));
    process.exitCode = 2;
  },
);
