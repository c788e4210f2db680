/** A search takes up to 30 seconds: an answer of `pending` never undoes what a run has made since. */
import { rmSync } from "node:fs";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import { pendingCommand } from "../../provider/src/cli/pending.js";
import type * as pulumi from "../../provider/src/cli/pulumi.js";
import { aheadBy } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { withClock } from "../support/run.js";
import { EventEngine, journalLines } from "../support/set-engine.js";

const acting = vi.hoisted(() => ({
  engine: undefined as unknown,
  refreshes: 0,
  /** What happens before the refresh gets Pulumi's lock. */
  before: async (): Promise<unknown> => undefined,
}));

vi.mock("../../provider/src/cli/pulumi.js", async (original) => {
  const { pulumiOf } = await import("../support/pulumi-command.js");
  const stand = pulumiOf(() => acting.engine as EventEngine);
  return {
    ...(await original<typeof pulumi>()),
    ...stand,
    refresh: async (...call: Parameters<typeof stand.refresh>) => {
      await acting.before();
      acting.refreshes++;
      await stand.refresh(...call);
    },
  };
});

const E = { eventName: "E", advertiserId: 1, value: 1 };
const OTHER = { ...E, eventName: "Other" };
/** A create that was sent so long before can't arrive any more. */
const LATER_MS = 3_600_000;
const settings = operatedSettings();

/** Where the create of `e` is known. The state's has not arrived. */
const PLACES = ["the state", "Pulumi's record", "a journal"] as const;

async function start(place: (typeof PLACES)[number]) {
  let nowMs = Date.now();
  const sandbox = await operatedSandbox({ clock: () => nowMs });
  const here = newFolder();
  const on = (folder: string, name = "e") => new EventEngine(sandbox, folder, name);
  const options = {
    settings,
    adapt: (runtime: Parameters<typeof withClock>[0]) =>
      withClock(runtime, { ...aheadBy(0, systemClock), sleep: async () => undefined }),
  };
  const e = on(here);
  await on(newFolder(), "other").up(OTHER);
  const isInState = place === "the state";
  sandbox.fail({ on: "event", act: !isInState, with: { kind: "close-without-answer" } });
  // A killed run doesn't search.
  const noSearch = {
    on: "search",
    with: { kind: "answer", status: 404 },
    times: 50,
  } as const;
  if (!isInState) sandbox.fail(noSearch);
  if (isInState) await e.up(E, options);
  else await e.upAndKill(E, undefined, options);
  if (place === "a journal") e.saved.clearCreates();
  sandbox.endFaults();
  nowMs += LATER_MS;
  rmSync(`${here}/session.json`, { force: true }); // it has ended by then
  Object.assign(acting, { engine: e, refreshes: 0, before: async () => undefined });
  const environment = {
    ADVERTISING_BASE_URL: sandbox.url,
    ADVERTISING_EMAIL: sandbox.email,
    ADVERTISING_PASSWORD: sandbox.password,
    ADVERTISING_COOKIE_FILE: "none",
    ADVERTISING_MARK_FIELD: settings.markField,
    ADVERTISING_OPERATIONS: settings.operations,
    XDG_STATE_HOME: here,
    PULUMI_BACKEND_URL: "file:///states",
    PATH: "",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.spyOn(console, "log").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(systemClock, "sleep").mockResolvedValue();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const pending = (...args: string[]) =>
    pendingCommand(args).catch(({ message }: Error) => message);
  /** `pending --search`, which finds nothing. @param act what happens while the search is under way. */
  const searching = async (act: () => Promise<unknown>) => {
    sandbox.fail({
      on: "search",
      act: true,
      with: (answer, _request, response) => {
        void act().then(() =>
          response.writeHead(answer.status, answer.headers).end(answer.body),
        );
        return undefined;
      },
    });
    const { searches } = sandbox;
    const code = await pending("--search");
    expect(sandbox.searches).toBeGreaterThan(searches);
    return code;
  };
  /** All that is saved about creates. */
  const saved = () => [e.saved.exported(), journalLines(here)];
  /** Each object is managed, and further runs on any machine change nothing. */
  const expectKept = async (posts: number) => {
    for (const each of [e, on(newFolder())]) {
      expect((await each.up(E, options)).error).toBeUndefined();
      const made = sandbox.events.filter(({ event_name }) => event_name === "E");
      expect(made.map(({ id }) => String(id))).toEqual([each.state?.id]);
      expect(sandbox.eventPosts).toBe(posts);
    }
  };
  return { sandbox, e, options, pending, searching, saved, expectKept };
}

describe.each(PLACES)("a create that %s has: an answer", (place) => {
  it.each([
    ["--created", "e=3"],
    ["--not-created", "e"],
  ])("%s is refused while a run goes on, and changes nothing", async (...answer) => {
    const { sandbox, pending, saved } = await start(place);
    acting.before = () => {
      throw new Error("the stack is currently locked by 1 lock(s)");
    };
    const before = [...saved(), sandbox.eventPosts];
    expect(await pending(...answer)).toMatch(/^not resolved: e: .*currently locked/);
    expect([...saved(), sandbox.eventPosts]).toEqual(before);
  });

  it("undoes nothing that a run has made since it was asked", async () => {
    const { sandbox, e, options, pending, expectKept } = await start(place);
    acting.before = async () => {
      expect((await e.up(E, options)).error).toBeUndefined();
    };
    const posts = sandbox.eventPosts + (place === "the state" ? 1 : 0);
    expect(await pending("--not-created", "e")).toBe(0);
    expect(acting.refreshes).toBe(1);
    await expectKept(posts);
  });
});

describe("a search that finds nothing", () => {
  it("resolves the create, which is sent again once", async () => {
    const { sandbox, searching, expectKept } = await start("the state");
    expect([await searching(async () => {}), acting.refreshes]).toEqual([0, 1]);
    await expectKept(sandbox.eventPosts + 1);
  });

  it("changes nothing if a killed run has sent the create again meanwhile", async () => {
    const { sandbox, e, options, searching, saved, expectKept } = await start("the state");
    let after: unknown;
    const code = await searching(async () => {
      await e.upAndKill(E, undefined, options);
      after = saved();
    });
    // The state still lists it.
    expect([code, acting.refreshes, saved()]).toEqual([1, 0, after]);
    await expectKept(sandbox.eventPosts);
  });
});
