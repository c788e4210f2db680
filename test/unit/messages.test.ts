/**
 * All messages for users, each with an example, in one list that somebody can read at one sitting: `messages.txt`.
 * Other tests assert codes and data.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { setCommandTarget } from "../../provider/src/base/index.js";
import { singleSpaced, textsIn } from "../support/messages-in-source.js";
import { args } from "./messages/arguments.js";
import { catalog } from "./messages/catalog.js";
import { client } from "./messages/client.js";
import { commands } from "./messages/commands.js";
import { withoutChance } from "./messages/examples.js";
import { journal } from "./messages/journal.js";
import { login } from "./messages/login.js";
import { operations } from "./messages/operations.js";
import { pending } from "./messages/pending.js";
import { previews } from "./messages/previews.js";
import { program } from "./messages/program.js";
import { record } from "./messages/record.js";
import { refreshes } from "./messages/refreshes.js";
import { responses } from "./messages/responses.js";
import { runs } from "./messages/runs.js";
import { sandbox } from "./messages/sandbox.js";
import { settings } from "./messages/settings.js";

const AREAS = {
  arguments: args,
  settings,
  program,
  previews,
  runs,
  operations,
  refreshes,
  journal,
  record,
  client,
  responses,
  login,
  catalog,
  commands,
  pending,
  sandbox,
};

const provider = resolve(import.meta.dirname, "../../provider/src");
const SNAPSHOT = join(import.meta.dirname, "messages.txt");

it("are these", async () => {
  const list: string[] = [];
  for (const [area, examples] of Object.entries(AREAS)) {
    list.push(`# ${area}\n`);
    for (const [when, message] of Object.entries(examples)) {
      // A real run, and a command with its own options, set another one.
      setCommandTarget(() => ({ options: ["--stack", "dev"], isInline: false }));
      list.push(`## ${when}\n\n${withoutChance(await message())}\n`);
    }
  }
  await expect(list.join("\n")).toMatchFileSnapshot(SNAPSHOT);
  setCommandTarget(() => ({ options: [], isInline: false }));
});

/** Not messages of this package to its users. By file; a reason each. */
const NO_MESSAGES: Readonly<Record<string, string>> = {
  "cli/page.ts": "HTML; an example shows its words",
  "record/engine-run.ts": "options of Pulumi",
  "sandbox/platform.ts": "what the platform would say",
  "sandbox/server.ts": "what the platform would say",
  "sandbox/sessions.ts": "cookies",
};

it("are all of the source", () => {
  const snapshot = singleSpaced(readFileSync(SNAPSHOT, "utf8"));
  const missing = textsIn(provider)
    .filter(({ file, part }) => !NO_MESSAGES[file] && !snapshot.includes(part))
    .map(({ file, line, part }) => `${file}:${line}: ${part}`);
  expect(missing).toEqual([]);
});

it("call a create that needs an answer unresolved, as the pages do", () => {
  const docs = resolve(import.meta.dirname, "../../docs");
  const names = readdirSync(docs).filter((name) => name.endsWith(".md"));
  const pages = names.map((name) => readFileSync(join(docs, name), "utf8"));
  const snapshot = readFileSync(SNAPSHOT, "utf8").replaceAll(/^#.*$/gm, "");
  expect([snapshot, ...pages].join("\n")).not.toMatch(/\bopen creates?\b/);
});
