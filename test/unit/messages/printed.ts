/** What this package's commands print, for a stack whose state and settings come from files instead of Pulumi. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { Command } from "../../../provider/src/cli/harness.js";
import { type JournalLine, writeAnswers } from "../../../provider/src/journal/index.js";
import type { Resource } from "../../../provider/src/record/export.js";
import { newFolder } from "../../support/folder.js";

export interface Surroundings {
  /** The state's. */
  resources?: readonly Resource[];
  /** Whether a stack is selected. @default true */
  isSelected?: boolean;
  pendingOperations?: readonly object[];
  /** What a refresh leaves. @default it fails */
  refreshed?: readonly Resource[];
  /** @default all of them */
  pendingAfterwards?: readonly object[];
  /** What this machine's journal of the run `RUN` has. */
  journal?: readonly JournalLine[];
  environment?: Readonly<Record<string, string>>;
  files?: Readonly<Record<string, string>>;
}

/** An earlier run. A state that doesn't name it in a resource's inputs isn't known to be the journal's. */
export const RUN = "an-early-run";
const BACKEND = "file:///states";
const LOCKED = "error: the stack is currently locked by 1 lock(s).";

/** Answers as Pulumi does for the stack `dev` of the project `shop`, beside which the stack `test` exists. */
const PULUMI = `#!/bin/sh
cd "$(dirname "$0")"
case "$*" in
  "stack export"*) cat state.json ;;
  "stack --show-name"*) [ -f selected ] && echo organization/shop/dev ;;
  "stack ls"*) echo '[{"name":"dev"},{"name":"test"}]' ;;
  config*) echo '{}' ;;
  refresh*"--target= "*) echo "error: no resource named '' found" >&2; exit 255 ;;
  refresh*)
    echo "$*" >> refreshes
    echo "$ADVERTISING_ANSWERS" >> answers
    if [ -f next.json ]; then mv next.json state.json; else echo '${LOCKED}' >&2; exit 255; fi ;;
esac
`;

const stateOf = (resources: readonly Resource[], pending_operations: readonly object[]) => {
  const manifest = { time: "2026-03-02T10:00:00Z" };
  return JSON.stringify({
    version: 3,
    deployment: { manifest, resources, pending_operations },
  });
};

/** All that is printed by `work`, or that it throws. */
export async function printed(
  {
    resources = [],
    isSelected = true,
    pendingOperations = [],
    refreshed,
    ...given
  }: Surroundings,
  work: (folder: string) => unknown,
): Promise<string> {
  const folder = newFolder();
  const files: Record<string, string> = { ...given.files };
  files["state.json"] = stateOf(resources, pendingOperations);
  if (isSelected) files.selected = "";
  if (refreshed)
    files["next.json"] = stateOf(refreshed, given.pendingAfterwards ?? pendingOperations);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "pulumi"), PULUMI, { mode: 0o755 });
  if (given.journal) {
    const place = { backend: BACKEND, stack: "shop/dev" };
    const options = { folder: join(folder, "pulumi-advertising") };
    await writeAnswers({ place, run: RUN }, given.journal, options);
  }
  const environment = {
    PATH: `${folder}:/usr/bin:/bin`,
    XDG_CACHE_HOME: folder,
    XDG_STATE_HOME: folder,
    PULUMI_BACKEND_URL: BACKEND,
    ...given.environment,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const lines: string[] = [];
  const add = (text: unknown) => {
    lines.push(String(text).trimEnd());
    return true;
  };
  const spies = [
    vi.spyOn(console, "log").mockImplementation(add),
    vi.spyOn(console, "error").mockImplementation(add),
    vi.spyOn(process.stdout, "write").mockImplementation(add),
  ];
  try {
    await work(folder);
  } catch (error) {
    add((error as Error).message);
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
  return lines.join("\n");
}

/** The refreshes that a command has asked for, in the folder that `printed` gives: their targets, and the answers. */
export function refreshesIn(folder: string) {
  const linesOf = (name: string) =>
    readFileSync(join(folder, name), "utf8").trim().split("\n");
  const answers = linesOf("answers");
  return linesOf("refreshes").map((line, at) => ({
    targets: [...line.matchAll(/--target=(\S+)/g)].map(([, urn]) => urn),
    isClearing: line.includes("--clear-pending-creates"),
    answers: JSON.parse(answers[at] || "null"),
  }));
}

/** A command's output. @param args of which `FOLDER/` is the folder of the files. */
export const printedBy = (
  command: Command,
  args: readonly string[],
  surroundings: Surroundings = {},
) =>
  printed(surroundings, (folder) =>
    command(args.map((each) => each.replace("FOLDER", folder))),
  );
