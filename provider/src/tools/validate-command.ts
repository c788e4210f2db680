/** `pulumi-advertising validate`: checks a catalog against all rules, without Pulumi. */
import { relative, resolve } from "node:path";
import { ArgumentsError, count, withPage } from "../base/index.js";
import { type Catalog, describeAlike, readCatalog } from "../catalog/index.js";
import { environmentNameOf, readSettings } from "../settings/index.js";
import { chosen, command, say } from "./harness.js";

const HELP = `Usage: pulumi-advertising validate <file> [options]

Checks a catalog (.yaml, .yml, .json, .csv, .tsv), and lists every mistake with its place. Needs no stack, and sends
nothing. Limits come from ADVERTISING_MAX_WINDOW_SECONDS and ADVERTISING_MARK_FIELD.

  --format FORMAT        text (default), json, or github: annotations for GitHub Actions

Exit codes: 0 no errors (there may be warnings), 1 errors, 2 called wrongly.`;

type Format = (catalog: Catalog, file: string, summary: string) => string[];

const FORMATS: Readonly<Record<string, Format>> = {
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

export const validateCommand = command({
  help: HELP,
  options: { format: { type: "string" } },
  takes: "one file",
  run: async ({ format = "text" }, file) => {
    const inFormat = chosen(FORMATS, format, "format");
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
