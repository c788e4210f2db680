/**
 * All messages for users, each with an example, in one list that somebody can read at one sitting: `messages.txt`.
 * Other tests assert codes and data.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { setCommandTarget } from "../../provider/src/base/index.js";
import { singleSpaced, textsIn } from "../support/messages-in-source.js";
import { args } from "./messages/arguments.js";
import { client } from "./messages/client.js";
import { withoutChance } from "./messages/examples.js";
import { journal } from "./messages/journal.js";
import { operations } from "./messages/operations.js";
import { pending } from "./messages/pending.js";
import { program } from "./messages/program.js";
import { settings } from "./messages/settings.js";

const AREAS = { arguments: args, settings, program, operations, journal, client, pending };

const provider = resolve(import.meta.dirname, "../../provider/src");
const SNAPSHOT = join(import.meta.dirname, "messages.txt");

it("are these", async () => {
  const list: string[] = [];
  for (const [area, examples] of Object.entries(AREAS)) {
    list.push(`# ${area}\n`);
    for (const [when, message] of Object.entries(examples)) {
      // A real run sets its own.
      setCommandTarget(() => ({ options: ["--stack", "dev"], isInline: false }));
      list.push(`## ${when}\n\n${withoutChance(await message())}\n`);
    }
  }
  await expect(list.join("\n")).toMatchFileSnapshot(SNAPSHOT);
  setCommandTarget(() => ({ options: [], isInline: false }));
});

/** Not messages of this package to its users. By file; a reason each. */
const NO_MESSAGES: Readonly<Record<string, string>> = {
  "cli/page.ts": "HTML and CSS",
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
