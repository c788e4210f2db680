/** `pulumi-advertising validate`: checks a catalog against all rules, without Pulumi. */
import { relative, resolve } from "node:path";
import { ArgumentsError, count, withPage } from "../base/index.js";
import { type Catalog, describeAlike, readCatalog } from "../catalog/index.js";
import type { Limits } from "../kinds/index.js";
import { environmentNameOf, readSettings } from "../settings/index.js";
import { chosen, command, say } from "./harness.js";

const HELP = `Usage: pulumi-advertising validate <file> [options]

Checks a catalog (.yaml, .yml, .json, .csv, .tsv), and lists every mistake with its place. Needs no stack, and sends
nothing. Limits come from ADVERTISING_MAX_WINDOW_SECONDS and ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default), json, or github: annotations for GitHub Actions

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 called wrongly.`;

const FORMATS: Readonly<Record<string, (file: string, catalog: Catalog) => string>> = {
  text: asText,
  json: asJson,
  github: asAnnotations,
};

export const validateCommand = command({
  help: HELP,
  options: { format: { type: "string" } },
  takes: "one file",
  run: async ({ format = "text" }, file) => {
    const inFormat = chosen(FORMATS, format, "format");
    const catalog = readCatalog(file, process.cwd(), limitsInEnvironment());
    return say(inFormat(file, catalog), errorsIn(catalog).length === 0 ? 0 : 1);
  },
});

/** @throws Error where one of them is wrong; the settings that only a run needs are not looked at. */
function limitsInEnvironment(): Limits {
  const { maxWindowSeconds, markField } = LIMITS;
  const environment = { [maxWindowSeconds]: process.env[maxWindowSeconds], [markField]: process.env[markField] };
  const { settings, problems } = readSettings({ config: () => undefined, environment, mayLackPassword: true });
  const wrong = problems.filter(({ source }) => Object.hasOwn(environment, source));
  if (wrong.length > 0) throw new Error(wrong.map(({ source, reason }) => `${source} ${reason}`).join("; "));
  return settings;
}

const LIMITS: Readonly<Record<keyof Limits, string>> = {
  maxWindowSeconds: environmentNameOf("maxWindowSeconds"),
  markField: environmentNameOf("markField"),
};

function asText(file: string, catalog: Catalog): string {
  const lines = (["error", "warning"] as const).flatMap((level) =>
    describeAlike(catalog.findings.filter((finding) => finding.level === level)).map((line) => `${level}: ${line}`),
  );
  return [...lines, summaryOf(file, catalog)].join("\n");
}

function summaryOf(file: string, catalog: Catalog): string {
  const errors = errorsIn(catalog).length;
  const found = `${count(errors, "error")}, ${count(catalog.findings.length - errors, "warning")}`;
  return errors === 0 ? `${file}: ${contentOf(catalog)}; ${found}` : withPage(`${file}: ${found}`, ArgumentsError.code);
}

function contentOf({ advertisers, events }: Catalog): string {
  return `${count(advertisers.length, "advertiser")}, ${count(events.length, "conversion event")}`;
}

/** A contract: fields are only added. */
function asJson(file: string, catalog: Catalog): string {
  const { advertisers, events, findings } = catalog;
  const content = {
    file,
    ok: errorsIn(catalog).length === 0,
    advertisers: advertisers.length,
    events: events.length,
    findings: findings.map(({ level, subject, property, reason, source }) => ({
      level,
      file: source.file,
      line: source.line,
      column: source.column,
      subject,
      property,
      message: reason,
    })),
  };
  return JSON.stringify(content, undefined, 2);
}

/** As GitHub's workflow commands want them: files relative to the repository. */
function asAnnotations(file: string, catalog: Catalog): string {
  const top = process.env.GITHUB_WORKSPACE ?? process.cwd();
  const lines = catalog.findings.map(({ level, subject, property, reason, source }) => {
    const path = relative(top, resolve(source.file)).replaceAll("\\", "/");
    const place = `file=${inProperty(path)},line=${source.line},col=${source.column}`;
    const about = [subject === "" ? "" : `${subject}:`, property, reason].filter((part) => part !== "");
    return `::${level} ${place}::${inMessage(about.join(" "))}`;
  });
  return [...lines, summaryOf(file, catalog)].join("\n");
}

function inMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function inProperty(text: string): string {
  return inMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function errorsIn({ findings }: Catalog): Catalog["findings"] {
  return findings.filter(({ level }) => level === "error");
}
