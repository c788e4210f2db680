/** A search takes up to 30 seconds: `pending` writes what it found only over what it was asked about. */
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { type Resource, readExport } from "../../provider/src/cli/contents.js";
import { pendingCommand } from "../../provider/src/cli/pending.js";
import type * as pulumi from "../../provider/src/cli/pulumi.js";
import {
  backendIn,
  JournalFile,
  type JournalLine,
  journalPath,
  readJournal,
} from "../../provider/src/journal/index.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";
import { exportOf, storedEvent } from "../support/stored.js";

const pulumiCli = vi.hoisted(() => ({ state: "", refreshes: 0 }));

vi.mock("../../provider/src/cli/pulumi.js", async (original) => ({
  ...(await original<typeof pulumi>()),
  stackName: async () => "organization/shop/dev",
  stateOf: async () => readExport(pulumiCli.state),
  refresh: async () => {
    pulumiCli.refreshes++;
  },
}));

const KEY = "ConversionEvent::buy";
const SENT = {
  key: KEY,
  state: "sent",
  mark: "m",
  body: "b",
  field: "alternative_id",
  at: "2020-01-01T00:00:00.000Z",
} as const;
const SENT_AGAIN = { ...SENT, at: "2021-01-01T00:00:00.000Z" };
const { key: _, state: __, ...unresolved } = SENT;

const IN_JOURNAL = { lines: [SENT], resources: [] };
const IN_STATE = {
  lines: [],
  resources: [storedEvent("buy", "unresolved-m", { unresolved })],
};

/** `pending --search`, which finds nothing. @param act what a run does while the search is under way. */
async function searching(
  { lines, resources }: { lines: JournalLine[]; resources: Resource[] },
  act: (run: JournalFile) => Promise<void>,
) {
  const sandbox = await useSandbox({ operations: true });
  const cache = newFolder();
  const settings = {
    BASE_URL: sandbox.url,
    EMAIL: sandbox.email,
    PASSWORD: sandbox.password,
    COOKIE_FILE: "none",
    MARK_FIELD: "alternative_id",
    OPERATIONS: JSON.stringify({
      event: { search: "GET rest/event?alternative_id={mark}" },
    }),
  };
  for (const [name, value] of Object.entries(settings))
    vi.stubEnv(`ADVERTISING_${name}`, value);
  vi.stubEnv("XDG_CACHE_HOME", cache);
  vi.stubEnv("PULUMI_BACKEND_URL", "file:///states");
  vi.stubEnv("PATH", "");
  vi.spyOn(console, "log").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  Object.assign(pulumiCli, { state: exportOf(resources), refreshes: 0 });
  const folder = join(cache, "pulumi-advertising/stacks");
  const place = {
    backend: backendIn(process.env, process.cwd()),
    stack: "organization/shop/dev",
  };
  const newRun = () => new JournalFile({ ...place, folder, maxWaitMs: 0 });
  const before = newRun();
  await before.open();
  await before.append(lines);
  before.release();

  const run = newRun();
  sandbox.fail({
    on: "search",
    act: true,
    with: (answer, _request, response) => {
      void act(run).then(() =>
        response.writeHead(answer.status, answer.headers).end(answer.body),
      );
      return undefined;
    },
  });
  const code = await pendingCommand.run(["--search"]).catch(() => 2);
  run.release();
  expect(sandbox.searches).toBe(1);
  const record = readJournal(journalPath(place, folder)).records.get(KEY);
  return { code, record, refreshes: pulumiCli.refreshes };
}

const writing = (...lines: JournalLine[]) => {
  return async (run: JournalFile) => {
    await run.open();
    await run.append(lines);
  };
};
const thenKilled = (...lines: JournalLine[]) => {
  return async (run: JournalFile) => {
    await writing(...lines)(run);
    run.release();
  };
};

it("resolves what no search finds, whatever else it brings up to date", async () => {
  const seen = {
    ...SENT,
    key: "ConversionEvent::there",
    state: "created",
    id: "5",
  } as const;
  const before = { lines: [SENT, seen], resources: [storedEvent("there", 5)] };
  const noted = await searching(before, async () => {});
  expect(noted).toMatchObject({ code: 0, refreshes: 0, record: { state: "closed" } });
  const inState = await searching(IN_STATE, async () => {});
  expect(inState).toMatchObject({ refreshes: 1, record: { state: "closed" } });
});

it.each([
  ["the journal has, and a killed run has made", IN_JOURNAL, thenKilled],
  ["the journal has, and a run is making", IN_JOURNAL, writing],
  ["the state has, and a killed run has made", IN_STATE, thenKilled],
  ["the state has, and a run is making", IN_STATE, writing],
])("changes nothing about a create that %s since", async (_, before, run) => {
  const id = "7";
  const made = await searching(before, run(SENT_AGAIN, { key: KEY, state: "created", id }));
  expect(made).toMatchObject({ code: 2, refreshes: 0, record: { state: "created", id } });
  const sent = await searching(before, run(SENT_AGAIN));
  expect(sent).toMatchObject({ code: 2, refreshes: 0, record: SENT_AGAIN });
});

it("changes nothing once another machine has saved the state", async () => {
  const saved = await searching(IN_STATE, async () => {
    const state = JSON.parse(pulumiCli.state);
    state.deployment.manifest = { time: "2026-03-02T10:00:01Z" };
    pulumiCli.state = JSON.stringify(state);
  });
  expect(saved).toEqual({ code: 2, refreshes: 0, record: undefined });
});
