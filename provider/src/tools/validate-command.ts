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

const FORMATS: Readonly<Record<string, (catalog: Catalog, file: string, errors: number) => string>> = {
  text: (catalog, file, errors) => {
    const { findings } = catalog;
    const [wrong, odd] = ["error", "warning"].map((level) =>
      describeAlike(findings.filter((each) => each.level === level)),
    );
    const lines = [...(wrong ?? []).map((line) => `error: ${line}`), ...(odd ?? []).map((line) => `warning: ${line}`)];
    return [...lines, summaryOf(catalog, file, errors)].join("\n");
  },
  /** A contract: fields are only added. */
  json: ({ advertisers, events, findings }, file, errors) => {
    const listed = findings.map(({ reason, source: { file, line, column }, level, subject, property }) => {
      return { level, file, line, column, subject, property, message: reason };
    });
    const counts = { advertisers: advertisers.length, events: events.length };
    return JSON.stringify({ file, ok: errors === 0, ...counts, findings: listed }, undefined, 2);
  },
  /** As GitHub's workflow commands want them: files relative to the repository. */
  github: (catalog, file, errors) => {
    const top = process.env.GITHUB_WORKSPACE ?? process.cwd();
    const escaped = (text: string) => text.replace(/[%\r\n]/g, encodeURIComponent);
    const lines = catalog.findings.map(({ level, subject, property, reason, source }) => {
      const path = escaped(relative(top, resolve(source.file)).replaceAll("\\", "/")).replace(
        /[:,]/g,
        encodeURIComponent,
      );
      const about = [subject && `${subject}:`, property, reason].filter((part) => part !== "").join(" ");
      const column = source.column === undefined ? "" : `,col=${source.column}`;
      return `::${level} file=${path},line=${source.line}${column}::${escaped(about)}`;
    });
    return [...lines, summaryOf(catalog, file, errors)].join("\n");
  },
};

function summaryOf({ advertisers, events, findings }: Catalog, file: string, errors: number): string {
  const found = `${count(errors, "error")}, ${count(findings.length - errors, "warning")}`;
  const content = `${count(advertisers.length, "advertiser")}, ${count(events.length, "conversion event")}`;
  return errors === 0 ? `${file}: ${content}; ${found}` : withPage(`${file}: ${found}`, ArgumentsError.code);
}

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
    const errors = catalog.findings.filter(({ level }) => level === "error").length;
    return say(inFormat(catalog, file, errors), errors === 0 ? 0 : 1);
  },
});
