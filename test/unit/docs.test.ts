/** What the documentation names exists: links lead somewhere, programs compile, and commands, settings and error codes are there. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, it, onTestFinished } from "vitest";
import * as errors from "../../provider/src/base/errors.js";
import { parseFault } from "../../provider/src/sandbox/fault-language.js";
import { readSettings } from "../../provider/src/settings/read-settings.js";
import { environmentNameOf, SETTING_NAMES } from "../../provider/src/settings/settings.js";
import { allPages, codeBlocksOf, errorExamples, page, proseOf } from "../support/pages.js";
import { filesIn, retiredIn, textIn } from "../support/retired-words.js";

const repository = resolve(import.meta.dirname, "../..");
const pages = allPages();
const paths = pages.map(({ path }) => path);

describe("links", () => {
  /** As GitHub makes them from headings. */
  function anchorsOf(text: string): Set<string> {
    const seen = new Map<string, number>();
    const anchors = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const slug = heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
        .replaceAll(" ", "-");
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    });
    return new Set(anchors);
  }

  it.each(paths)("%s: each relative one leads somewhere", (path) => {
    const prose = proseOf(page(path));
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)].map(
      ([, target, picture]) => target ?? picture ?? "",
    );
    const wrong = targets.filter((target) => {
      if (/^(https?|mailto):/.test(target)) return false;
      const [file = "", anchor] = target.split("#");
      const found = file === "" ? join(repository, path) : resolve(repository, dirname(path), file);
      if (!existsSync(found) || relative(repository, found).startsWith("..")) return true;
      if (anchor === undefined) return false;
      return (
        statSync(found).isDirectory() || !anchorsOf(proseOf({ path, text: readFileSync(found, "utf8") })).has(anchor)
      );
    });
    expect(wrong).toEqual([]);
  });

  it("every page in docs/ is linked in docs/README.md, and that one in the README", () => {
    const index = page("docs/README.md").text;
    const others = paths.filter((path) => path.startsWith("docs/") && path !== "docs/README.md");
    expect(others.filter((path) => !new RegExp(`\\]\\(${path.slice("docs/".length)}[)#]`).test(index))).toEqual([]);
    expect(page("README.md").text).toContain("](docs/README.md)");
  });

  it("the page on npm has none that leave the package", () => {
    expect(proseOf(page("provider/README.md"))).not.toMatch(/\]\((?!https:)/);
  });
});

const tsBlocksOf = (path: string) =>
  codeBlocksOf(page(path))
    .filter(({ language }) => language === "ts")
    .map(({ code }) => code);

const helpOf = (command: string): string => {
  const file = { "pulumi-advertising": "tools", "advertising-sandbox": "sandbox" }[command];
  const built = join(repository, "provider", "dist", String(file), "command.js");
  return execFileSync(process.execPath, [built, "--help"], { encoding: "utf8" });
};

describe("code", () => {
  it("each TypeScript block compiles", { timeout: 60_000 }, () => {
    const blocks = pages.flatMap((each) =>
      codeBlocksOf(each)
        .filter(({ language }) => language === "ts")
        .map(({ code }, index) => [join(repository, "test", `${each.path.replaceAll("/", "-")}-${index}.ts`), code]),
    );
    const files = new Map(blocks as [string, string][]);
    files.set(join(repository, "test", "index.ts"), tsBlocksOf("README.md")[0] ?? ""); // one of them imports it
    expect(files.size).toBeGreaterThan(2);
    const { options } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile).config,
      ts.sys,
      repository,
    );
    const host = ts.createCompilerHost(options);
    const { fileExists, readFile, getSourceFile } = host;
    host.fileExists = (name) => files.has(resolve(name)) || fileExists(name);
    host.readFile = (name) => files.get(resolve(name)) ?? readFile(name);
    host.getSourceFile = (name, ...rest) => {
      const text = files.get(resolve(name));
      return text === undefined
        ? getSourceFile(name, ...rest)
        : ts.createSourceFile(name, text, {
            languageVersion: ts.ScriptTarget.ES2023,
            impliedNodeFormat: ts.ModuleKind.ESNext,
          });
    };
    const program = ts.createProgram([...files.keys()], options, host);
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
    expect(problems).toEqual([]);
  });

  it("the examples of docs/testing.md run in a CommonJS project", { timeout: 60_000 }, () => {
    const [events = "", program = ""] = tsBlocksOf("docs/testing.md");
    mkdirSync(join(repository, ".pulumi-local"), { recursive: true });
    const folder = mkdtempSync(join(repository, ".pulumi-local", "docs-")); // inside the repository, so that programs find the package
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
    writeFileSync(join(folder, "events.test.mts"), events);
    writeFileSync(join(folder, "index.test.ts"), program);
    writeFileSync(join(folder, "index.ts"), tsBlocksOf("README.md")[0] ?? "");
    const run = (...args: string[]) =>
      execFileSync(process.execPath, args, {
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: "1" },
      });
    expect(run("--test", "--test-reporter=tap", "events.test.mts")).toMatch(/^# pass 2$[\s\S]*^# fail 0$/m);
    const vitest = join(repository, "node_modules", "vitest", "vitest.mjs");
    expect(run(vitest, "run", "index.test.ts")).toMatch(/Tests +1 passed/);
  });

  const shellLines = pages.flatMap((each) =>
    codeBlocksOf(each)
      .filter(({ language }) => language === "sh")
      .flatMap(({ code }) => code.split("\n").map((line) => ({ path: each.path, line }))),
  );
  it.each(["pulumi-advertising", "advertising-sandbox"])("each command and option of %s exists", (command) => {
    const help = helpOf(command);
    const called = [
      ...shellLines.map(({ line }) => line),
      ...pages.flatMap(({ text }) => text.match(/`[^`\n]+`/g) ?? []),
    ]
      .flatMap((line) => new RegExp(`(?:npx )?\\b${command} ([^\`]*)`).exec(line)?.[1] ?? [])
      .map((words) => words.replace(/\s#.*/, "").trim().split(/\s+/));
    expect(called.length).toBeGreaterThan(3);
    const unknown = called.flatMap((words) => {
      const options = words.filter((word) => word.startsWith("--"));
      const [first = ""] = words;
      const subcommand = /^[a-z]+$/.test(first) ? [first] : [];
      return [...options, ...subcommand].filter((word) => !new RegExp(`(^|[\\s|([])${word}\\b`, "m").test(help));
    });
    expect(unknown).toEqual([]);
  });

  it("docs/commands.md is what `--help` prints (npm run commands writes it)", () => {
    const writer = join(repository, "scripts", "commands-page.mjs");
    const written = execFileSync(process.execPath, [writer, "--print"], { encoding: "utf8" });
    expect(page("docs/commands.md").text).toBe(written);
  });

  it("each fault of the sandbox that is named exists", () => {
    const faults = pages.flatMap(
      ({ text }) => text.match(/\b(?:event|create|advertiser|authenticate|any):[a-z]+-[\w:-]+/g) ?? [],
    );
    expect(faults.length).toBeGreaterThan(1);
    expect(() => faults.map(parseFault)).not.toThrow();
  });

  it("each npm script that is named exists", () => {
    const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    const named = pages.flatMap(({ text }) =>
      [...text.matchAll(/\bnpm (?:run ([\w-]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short ?? ""),
    );
    expect(new Set(named).size).toBeGreaterThan(5);
    expect(named.filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
  });
});

describe("settings", () => {
  const { text } = page("docs/settings.md");
  const required = { baseUrl: "https://platform.example.com", email: "you@example.com", password: "x" };
  const { settings } = readSettings({
    config: (key) => required[key as keyof typeof required],
    environment: {},
    mayLackPassword: false,
  });

  it.each(SETTING_NAMES)("docs/settings.md has %s once, with its environment variable and its default", (key) => {
    const rows = text.split("\n").filter((line) => line.startsWith(`| \`${key}\` |`));
    expect(rows).toHaveLength(1);
    const [, , variable, byDefault] = (rows[0] ?? "").split("|").map((cell) => cell.trim());
    expect(variable).toBe(`\`${environmentNameOf(key)}\``);
    if (key in required) expect(byDefault).toBe("required");
    else if (settings[key] === undefined) expect(byDefault).not.toMatch(/^(`|required)/);
    else expect(byDefault).toBe(`\`${settings[key]}\``);
  });

  it("no page names a setting or a variable that does not exist", () => {
    const codes = classes.map(({ code }) => code);
    const known = [...SETTING_NAMES.map(environmentNameOf), "ADVERTISING_LOG", ...codes];
    const variables = pages.flatMap((each) => each.text.match(/\bADVERTISING_[A-Z_]*[A-Z]\b/g) ?? []);
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
    const keys = pages.flatMap((each) =>
      [...each.text.matchAll(/(?<!dynamic\/)\badvertising:(?!index:)([a-z]\w+)/g)].map(([, key = ""]) => key),
    );
    expect(keys.filter((key) => !(SETTING_NAMES as string[]).includes(key))).toEqual([]);
  });
});

const classes = Object.values(errors).filter(
  (each): each is typeof errors.AdvertisingError & { readonly code: string } =>
    typeof each === "function" && each.prototype instanceof errors.AdvertisingError,
);

describe("error codes", () => {
  const examples = errorExamples();

  it("docs/messages.md has a section for each class of errors.ts, and no other", () => {
    const headings = [...page("docs/messages.md").text.matchAll(/^## `(ADVERTISING_\w+)`$/gm)].map(([, code]) => code);
    expect(headings.toSorted()).toEqual(classes.map(({ code }) => code).toSorted());
  });

  it.each(classes.map(({ code }) => code))("%s has one example that ends in it", (code) => {
    expect(examples.get(code)).toEqual([expect.stringMatching(new RegExp(`\\[${code}\\]$`))]);
  });
});

describe("docs/messages.md says what the code says", () => {
  const { text } = page("docs/messages.md");
  const files = filesIn("provider/src/**/*.ts").map(textIn);
  /** The words of a text in a row, without what is between them; `X` stands for what differs from case to case. */
  const inWords = (some: string) => ` ${some.replaceAll(/[^\p{L}\p{N}']+/gu, " ").trim()} `;
  const source = inWords(
    files
      .join("\n")
      .replaceAll("\\`", "`")
      .replaceAll(/["`]\s*\+\s*["`]/g, "")
      .replaceAll(/\$\{(?!count|agree)[^}]*\}/g, " X "),
  );
  /** The parts of an example between its values. */
  const fixedParts = (example: string) =>
    example.split(/…|\d+|\(\w+\)|\badvertising:\w+|\bevents?\b/).map((part) => inWords(part).trim().split(" "));
  /** The words that are left once every run of two or more words that is in the code is removed. */
  const notInCode = (words: readonly string[]): readonly string[] => {
    if (words.length < 2) return [];
    const isKnown = (amount: number) => source.includes(` ${words.slice(0, amount).join(" ")} `);
    const most = words.map((_, index) => index + 1).findLast((amount) => amount > 1 && isKnown(amount));
    return most === undefined ? words : notInCode(words.slice(most));
  };

  it("each code's section begins with what its class says to do", () => {
    const meanings = [...text.matchAll(/^## `(ADVERTISING_\w+)`\n\n\*\*(.+?)[.,:]?\*\* /gm)];
    expect(meanings.map(([, code]) => code).toSorted()).toEqual(classes.map(({ code }) => code).toSorted());
    const errorsSource = textIn("provider/src/base/errors.ts");
    for (const [, code = "", meaning = ""] of meanings) {
      const comment = new RegExp(
        `/\\*\\* ([^\\n]*) \\*/\\nexport class \\w+ extends AdvertisingError \\{\\n[^\\n]*"${code}"`,
      );
      expect(comment.exec(errorsSource)?.[1]?.toLowerCase(), code).toContain(meaning.toLowerCase());
    }
  });

  const rows = [...text.matchAll(/^\| (".+) \| (.+) \|$/gm)];

  it.each(rows.map(([, says = ""]) => says))("%s is in the code", (says) => {
    const examples = [...says.matchAll(/"([^"]+)"/g)].map(([, example = ""]) => example);
    const parts = examples.flatMap(fixedParts);
    expect(parts.some((words) => words.length > 2)).toBe(true);
    expect(parts.flatMap(notInCode)).toEqual([]);
  });
});

describe("retired words", () => {
  const read = [...paths, ...filesIn("examples/**/*.{md,yml,yaml,ts,mts}", "bench/*.md")];

  it.each(read)("%s has none", (path) => {
    expect(retiredIn(textIn(path))).toEqual([]);
  });
});

describe("docs/how-it-works.md", () => {
  const [life = "", who = ""] = codeBlocksOf(page("docs/how-it-works.md"))
    .filter(({ language }) => language === "mermaid")
    .map(({ code }) => code);
  const sources = (...patterns: string[]) =>
    filesIn(...patterns)
      .map(textIn)
      .join("\n");

  it("the life of a create has states from the code, and commands that exist", () => {
    const states = new Set([...life.matchAll(/(?:^ +|--> )([a-z_]+)\b(?= *(?:-->|:|$))/gm)].map(([, name]) => name));
    expect([...states].toSorted()).toEqual([
      "created",
      "killed",
      "noted",
      "refused",
      "sent",
      "taken_over",
      "unresolved",
    ]);
    const code = sources("provider/src/{client,store}/*.ts");
    for (const literal of ["created", "refused"]) expect(code).toContain(`kind: "${literal}"`);
    expect(code).toContain('state: "sent"');
    const answers = [...life.matchAll(/pending (--[a-z-]+)/g)].map(([, option = ""]) => option);
    expect(answers).toEqual(["--created", "--not-created"]);
    expect(answers.filter((option) => !helpOf("pulumi-advertising").includes(`  ${option} `))).toEqual([]);
  });

  it("who talks to whom names rooms that exist, and what the engine calls", () => {
    const rooms = [...who.matchAll(/\b([a-z]+)\//g)].map(([, room = ""]) => room);
    expect(rooms.toSorted()).toEqual(["client", "decision", "program", "provider", "store", "tools"]);
    expect(rooms.filter((room) => !existsSync(join(repository, "provider/src", room, "index.ts")))).toEqual(["tools"]);
    expect(existsSync(join(repository, "provider/src/tools/command.ts"))).toBe(true);
    const calls = /engine -- "([a-z, ]+)" --> provider/.exec(who)?.[1]?.split(", ") ?? [];
    const face = textIn("provider/src/provider/dynamic.ts");
    expect(calls).toHaveLength(3);
    expect(calls.filter((name) => !new RegExp(`\\b${name}\\(`).test(face))).toEqual([]);
  });
});

describe("tests", () => {
  it("each test file that a page names exists", () => {
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\btest\/[\w/-]+\.test\.ts\b/g)].map(([file]) => ({ path, file })),
    );
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter(({ file }) => !existsSync(join(repository, file)))).toEqual([]);
  });

  it("docs/guarantees.md has a row for each rule", () => {
    const rows = [...page("docs/guarantees.md").text.matchAll(/^\| \*\*(R\d), [^*]+\*\* \|.*$/gm)];
    expect(rows.map(([, rule]) => rule)).toEqual(["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"]);
    for (const [row] of rows) expect(row.split(" | ")).toHaveLength(3);
  });
});

it("docs/preview.svg shows the README's program", () => {
  const picture = page("docs/preview.svg").text;
  const program = codeBlocksOf(page("README.md")).find(({ language }) => language === "ts")?.code ?? "";
  const declared = [...program.matchAll(/new advertising\.(\w+)\("(\w+)"/g)];
  expect(declared).toHaveLength(2);
  for (const [, kind, name] of declared) {
    expect(picture).toContain(`advertising:${kind}</tspan>`);
    expect(picture).toContain(`>${name}</tspan>`);
  }
  expect(picture).toContain(`+ ${declared.length + 1} to create`);
});

it.each(["docs/page-light.png", "docs/page-dark.png"])("%s is a picture that loads quickly", (path) => {
  const picture = readFileSync(join(repository, path));
  expect(picture.subarray(1, 4).toString()).toBe("PNG");
  expect(picture.length).toBeLessThan(200_000);
  const pictures = [...page("README.md").text.matchAll(/<img [^>]*>|<source [^>]*>/g)].map(([tag]) => tag);
  expect(pictures.filter((tag) => tag.includes(`"${path}"`))).toHaveLength(1);
  expect(pictures.filter((tag) => tag.startsWith("<img") && !/ alt="[^"]{20,}"/.test(tag))).toEqual([]);
});
