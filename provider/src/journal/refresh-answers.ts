/** Answers about creates of unknown outcome, on their way from `pending` to the providers of the refresh that it runs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asRecord, jsonIn } from "../base/index.js";
import { type Disk, readPrivate } from "../files/index.js";

/**
 * The answers that `pending` passes to a refresh, by mark: the object (`objectKey`), or an empty text. `carrier`: the id of
 * the resource that keeps the answers about creates that no resource has.
 */
export interface RefreshAnswers {
  outcomes: Readonly<Record<string, string>>;
  carrier: string;
}

const ANSWERS = "ADVERTISING_ANSWERS";
/** One variable may have 32,767 characters on Windows, and 128 KiB on Linux. */
const MAX_VARIABLE_CHARACTERS = 30_000;

/** Hands answers to the providers of a Pulumi command: in a variable, or in a file that it names. */
export async function passAnswers<T>(
  answers: RefreshAnswers,
  command: (environment: NodeJS.ProcessEnv) => Promise<T>,
) {
  const text = JSON.stringify(answers);
  if (text.length <= MAX_VARIABLE_CHARACTERS) return command({ [ANSWERS]: text });
  // The system clears this folder, if the command is killed.
  const folder = mkdtempSync(join(tmpdir(), "pulumi-advertising-"));
  const path = join(folder, "answers.json");
  try {
    writeFileSync(path, text, { mode: 0o600 });
    return await command({ [ANSWERS]: FILE_PREFIX + path });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FILE_PREFIX = "file:";

export function passedAnswers({ [ANSWERS]: passed = "" }: NodeJS.ProcessEnv, disk: Disk) {
  const isFile = passed.startsWith(FILE_PREFIX);
  const text = isFile ? readPrivate(passed.slice(FILE_PREFIX.length), disk) : passed;
  return asRecord(jsonIn(text));
}
