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
  text: (file, catalog) => {
    const lines = (["error", "warning"] as const).flatMap((level) =>
      describeAlike(catalog.findings.filter((finding) => finding.level === level)).map((line) => `${level}: ${line}`),
    );
    return [...lines, summaryOf(file, catalog)].join("\n");
  },
  /** A contract: fields are only added. */
  json: (file, catalog) => {
    const [advertisers, events] = [catalog.advertisers.length, catalog.events.length];
    const findings = catalog.findings.map(({ level, subject, property, reason, source }) => {
      const { file, line, column } = source;
      return { level, file, line, column, subject, property, message: reason };
    });
    return JSON.stringify({ file, ok: errorsIn(catalog) === 0, advertisers, events, findings }, undefined, 2);
  },
  /** As GitHub's workflow commands want them: files relative to the repository. */
  github: (file, catalog) => {
    const top = process.env.GITHUB_WORKSPACE ?? process.cwd();
    const lines = catalog.findings.map(({ level, subject, property, reason, source }) => {
      const path = inMessage(relative(top, resolve(source.file)).replaceAll("\\", "/"));
      const inProperty = path.replaceAll(":", "%3A").replaceAll(",", "%2C");
      const about = [subject === "" ? "" : `${subject}:`, property, reason].filter((part) => part !== "").join(" ");
      const column = source.column === undefined ? "" : `,col=${source.column}`;
      return `::${level} file=${inProperty},line=${source.line}${column}::${inMessage(about)}`;
    });
    return [...lines, summaryOf(file, catalog)].join("\n");
  },
};

function inMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function summaryOf(file: string, catalog: Catalog): string {
  const [errors, { advertisers, events, findings }] = [errorsIn(catalog), catalog];
  const found = `${count(errors, "error")}, ${count(findings.length - errors, "warning")}`;
  const content = `${count(advertisers.length, "advertiser")}, ${count(events.length, "conversion event")}`;
  return errors === 0 ? `${file}: ${content}; ${found}` : withPage(`${file}: ${found}`, ArgumentsError.code);
}

function errorsIn({ findings }: Catalog): number {
  return findings.filter(({ level }) => level === "error").length;
}

export const validateCommand = command({
  help: HELP,
  options: { format: { type: "string" } },
  takes: "one file",
  run: async ({ format = "text" }, file) => {
    const inFormat = chosen(FORMATS, format, "format");
    const catalog = readCatalog(file, process.cwd(), limitsInEnvironment());
    return say(inFormat(file, catalog), errorsIn(catalog) === 0 ? 0 : 1);
  },
});

/** @throws Error where one of them is wrong; the settings that only a run needs are not looked at. */
function limitsInEnvironment(): Limits {
  const names = (["maxWindowSeconds", "markField"] as const satisfies (keyof Limits)[]).map(environmentNameOf);
  const environment = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const { settings, problems } = readSettings({ config: () => undefined, environment, mayLackPassword: true });
  const wrong = problems.filter(({ source }) => names.includes(source));
  if (wrong.length > 0) throw new Error(wrong.map(({ source, reason }) => `${source} ${reason}`).join("; "));
  return settings;
}
