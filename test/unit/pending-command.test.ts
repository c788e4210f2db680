/** What `pending` does with answers: which refresh it asks Pulumi for, what a journal keeps, and what `--clear` refuses. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { pendingCommand } from "../../provider/src/cli/pending.js";
import { systemDisk } from "../../provider/src/files/index.js";
import {
  type JournalLine,
  passAnswers,
  passedAnswers,
  readJournal,
} from "../../provider/src/journal/index.js";
import type { Resource } from "../../provider/src/record/export.js";
import { markOf } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { EVENT, senderOf, storedEvent, storedSet, urnOf } from "../support/stored.js";
import { printed, RUN, refreshesIn, type Surroundings } from "./messages/printed.js";

const inputsOf = (name: string) => ({ eventName: name, advertiserId: 1, ...EVENT });
const event = (name: string, id: number | string, outputs: object = {}): Resource =>
  storedEvent(name, id, outputs, {
    inputs: { ...inputsOf(name), __sender: senderOf("", { run: RUN }) },
  });
const ROOT: Resource = {
  urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
  type: "pulumi:pulumi:Stack",
};
const creating = (name: string) => ({ type: "creating", resource: event(name, "") });
const keyOf = (name: string) => `ConversionEvent::${name}`;
const markOfName = (name: string) => markOf(RUN, keyOf(name));
const noted = (name: string, state: JournalLine["state"], id?: string): JournalLine => {
  const line = { key: keyOf(name), run: RUN, mark: markOfName(name), at: "", body: "b" };
  return { ...line, state, ...(id && { id }) };
};
const open = (mark: string) => ({
  unresolved: { at: "", mark, body: "b", what: "It was sent.", name: "Open" },
});
const E = (name: string) => urnOf("ConversionEvent", name);

/** @param left the journal's entries after it, by file. */
async function pending(surroundings: Surroundings, ...args: string[]) {
  let code: number | undefined;
  let refreshes: ReturnType<typeof refreshesIn> = [];
  let journals: string[][] = [];
  const output = await printed({ resources: [ROOT], ...surroundings }, async (folder) => {
    try {
      code = await pendingCommand(["--stack", "dev", ...args]);
    } finally {
      if (readdirSync(folder).includes("refreshes")) refreshes = refreshesIn(folder);
      journals = journalsIn(join(folder, "pulumi-advertising"));
    }
  });
  return { code, output, refreshes, journals };
}

function journalsIn(folder: string) {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    // There is none.
  }
  return names.map((name) =>
    [...(readJournal(join(folder, name))?.entries.values() ?? [])].map(
      ({ key, state, id }) => [key.split("::")[1], state, id].filter(Boolean).join(" "),
    ),
  );
}

it("thousands of answers fit no variable: a private file has them, until the refresh has ended", async () => {
  const folder = newFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const all = Array.from({ length: 5000 }, (_, at) => [markOf(RUN, String(at)), ""]);
  for (const outcomes of [all, all.slice(0, 5)].map((some) => Object.fromEntries(some))) {
    const answers = { outcomes, carrier: "7" };
    const seen = await passAnswers(answers, async (environment) => {
      expect(String(environment.ADVERTISING_ANSWERS).length).toBeLessThan(30_000);
      return passedAnswers(environment, systemDisk);
    });
    expect(seen).toEqual(answers);
    expect(readdirSync(folder)).toEqual([]);
  }
  const failing = passAnswers({ outcomes: Object.fromEntries(all), carrier: "" }, () =>
    Promise.reject(new Error("no")),
  );
  await expect(failing).rejects.toThrow("no");
  expect(readdirSync(folder)).toEqual([]);
});

describe("a listing", () => {
  it("writes nothing, and asks for no refresh; the exit code says whether something is open", async () => {
    const some = await pending({ pendingOperations: [creating("buy")] });
    expect(some).toMatchObject({ code: 1, refreshes: [], journals: [] });
    expect(some.output).toContain("--not-created 'buy'");
    expect(await pending({})).toMatchObject({
      code: 0,
      output: "No create is unresolved.",
    });
  });

  it("names `--clear` once all is accounted for, unless it would be refused", async () => {
    const outcome = { __resolved: { [markOfName("buy")]: "ConversionEvent 7" } };
    const resources = [ROOT, event("buy", 7, outcome)];
    const listed = async (...pendingOperations: object[]) =>
      (await pending({ resources, pendingOperations })).output.includes("pending --clear");
    const theirs = { type: "creating", resource: { urn: "urn:x", type: "aws:x:Y" } };
    expect(await listed()).toBe(false);
    expect(await listed(creating("buy"))).toBe(true);
    expect(await listed(creating("buy"), creating("open"))).toBe(false);
    expect(await listed(creating("buy"), theirs)).toBe(false);
  });

  it("of one resource's creates of several runs has each, and one option in the commands", async () => {
    const other = { ...creating("buy"), resource: event("buy", "") };
    other.resource.inputs = {
      ...other.resource.inputs,
      __sender: senderOf("", { run: "another-run" }),
    };
    const { output } = await pending({ pendingOperations: [creating("buy"), other] });
    expect(output.match(/^ {2}buy: look in the account/gm)).toHaveLength(2);
    expect(output).toContain("pending --created 'buy=<its id>' --stack dev\n");
  });
});

describe("an answer", () => {
  it.each([
    ["--created", "nope=5"],
    ["--not-created", "typo"],
    ["--forget", "typo"],
  ])("%s about nothing that is open is a failure: %s", async (option, value) => {
    const { code, output, refreshes } = await pending({}, option, value);
    expect({ code, refreshes }).toEqual({ code: 1, refreshes: [] });
    expect(output).toMatch(/^(nope|typo) was resolved before, or never sent, /);
    expect(output).toContain("No create is unresolved.");
  });

  const UNRESOLVED = event("open", "unresolved-m", open("m"));

  it("about what the state has as unresolved is the answer of its refresh", async () => {
    const { code, output, refreshes, journals } = await pending(
      { resources: [ROOT, UNRESOLVED], refreshed: [ROOT, event("open", 7)] },
      "--created",
      "open=7",
    );
    expect([code, journals]).toEqual([0, []]);
    expect(output).toBe("Resolved as created with id 7: open\nNo create is unresolved.");
    expect(refreshes).toEqual([
      {
        targets: [E("open")],
        isClearing: false,
        answers: { outcomes: { m: "ConversionEvent 7" }, carrier: "unresolved-m" },
      },
    ]);
  });

  it("about what only the record has is kept by another resource of the state, for each machine", async () => {
    const { refreshes, journals } = await pending(
      {
        resources: [ROOT, event("kept", 5)],
        pendingOperations: [creating("buy"), creating("sale")],
        refreshed: [
          ROOT,
          event("kept", 5, {
            __resolved: {
              [markOfName("buy")]: "ConversionEvent 7",
              [markOfName("sale")]: "",
            },
          }),
        ],
      },
      ...["--created", "buy=7", "--not-created", "sale"],
    );
    expect(journals).toEqual([]);
    expect(refreshes).toMatchObject([
      {
        targets: [E("kept")],
        answers: {
          outcomes: { [markOfName("buy")]: "ConversionEvent 7", [markOfName("sale")]: "" },
          carrier: "5",
        },
      },
    ]);
  });

  it.each<[string, Resource]>([
    ["another package's", { urn: "urn:x", type: "aws:s3/bucket:Bucket", id: "b" }],
    ["one that is only read", { ...event("kept", 5), external: true }],
    ["one that awaits its removal", { ...event("kept", 5), delete: true }],
    ["one that awaits its replacement", { ...event("kept", 5), pendingReplacement: true }],
    ["one that is unresolved itself", UNRESOLVED],
  ])("is kept by the journal if no resource can: %s", async (_, resource) => {
    const resources = [ROOT, resource];
    const { refreshes, journals, output } = await pending(
      { resources, refreshed: resources, pendingOperations: [creating("buy")] },
      ...["--created", "buy=7"],
    );
    expect(output).toContain("Resolved as created with id 7: buy");
    expect(journals).toEqual([["buy created 7"]]);
    // Pulumi refuses it while a run is going on.
    expect(refreshes).toMatchObject([{ targets: [ROOT.urn], answers: { outcomes: {} } }]);
  });

  it("about what only this machine's journal has is kept by a journal too", async () => {
    const resources = [ROOT, event("kept", 5)];
    const { journals, output, refreshes } = await pending(
      {
        resources,
        refreshed: resources,
        journal: [noted("buy", "sent"), noted("sale", "sent")],
      },
      ...["--created", "buy=7", "--not-created", "sale"],
    );
    expect(output).toContain("Resolved as not created: sale");
    expect(journals.toSorted()).toEqual([["buy created 7", "sale closed"], ["buy sent"]]);
    expect(refreshes).toMatchObject([{ targets: [E("kept")], answers: { outcomes: {} } }]);
  });

  it("--forget also works for what is over by the state, as a run that can't read that prints it", async () => {
    const resources = [ROOT, { ...event("buy", 5), inputs: inputsOf("buy") }];
    const { journals, output } = await pending(
      { resources, refreshed: resources, journal: [noted("buy", "created", "5")] },
      ...["--forget", "buy"],
    );
    expect(output).toContain("Forgotten: buy (id 5).");
    expect(journals).toEqual([["buy closed"]]);
  });

  it("is kept by a journal too if the state no longer proves that a journal is its own", async () => {
    const named = { inputs: inputsOf("open") };
    const { journals } = await pending(
      {
        resources: [ROOT, { ...UNRESOLVED, ...named }],
        refreshed: [ROOT, { ...event("open", 7), ...named }],
        journal: [{ ...noted("open", "sent"), mark: "m" }],
      },
      ...["--created", "open=7"],
    );
    expect(journals.toSorted()).toEqual([["open created 7"], ["open sent"]]);
  });

  it.each([false, true])(
    "refreshes each set with an interrupted update: the set keeps its other open creates (renamed by it: %s)",
    async (isRenamed) => {
      const events = Object.fromEntries(
        ["a", "b"].map((key) => [key, { eventName: key, value: 1 }]),
      );
      const inputs = {
        advertiserId: 1,
        defaults: {},
        events,
        __sender: senderOf("", { run: RUN }),
      };
      const funnel = storedSet("funnel", {}, { inputs });
      const updated = isRenamed ? "new" : "funnel";
      const resource = { ...storedSet(updated, {}, { inputs }), aliases: [funnel.urn] };
      const update = { type: "updating", resource };
      const kept = event("kept", 5);
      const mark = markOf(RUN, `ConversionEventSet::${updated}["a"]`);
      const { refreshes } = await pending(
        {
          resources: [ROOT, kept, funnel],
          pendingOperations: [update],
          refreshed: [
            ROOT,
            kept,
            storedSet("funnel", { __resolved: { [mark]: "" } }, { inputs }),
          ],
        },
        ...["--not-created", `${updated}/a`],
      );
      const outcomes = { [mark]: "" };
      expect(refreshes).toMatchObject([
        { targets: [kept.urn, funnel.urn], answers: { outcomes, carrier: "5" } },
      ]);
    },
  );

  it("refreshes what an interrupted run may have updated, so that the state keeps that", async () => {
    const [kept, buy] = [event("kept", 5), event("buy", 6)];
    const { refreshes } = await pending(
      {
        resources: [ROOT, kept, buy],
        pendingOperations: [{ type: "updating", resource: buy }, creating("sale")],
        refreshed: [
          ROOT,
          event("kept", 5, { __resolved: { [markOfName("sale")]: "" } }),
          buy,
        ],
      },
      ...["--not-created", "sale"],
    );
    expect(refreshes).toMatchObject([{ targets: [kept.urn, buy.urn] }]);
  });

  it("during a run is refused by Pulumi, and changes nothing", async () => {
    const given = { resources: [ROOT], pendingOperations: [creating("buy")] };
    const { code, output, journals } = await pending(given, "--created", "buy=7");
    expect([code, journals]).toEqual([undefined, []]);
    expect(output).toMatch(/^not resolved: buy: .*currently locked/s);
  });

  it("about a state without any resource, which Pulumi refreshes as a whole: it is refused during a run too", async () => {
    const given = { resources: [], journal: [noted("a", "sent"), noted("b", "sent")] };
    const { code, output, journals, refreshes } = await pending(
      { ...given, refreshed: [] },
      ...["--created", "a=55", "--not-created", "b"],
    );
    expect([code, refreshes]).toMatchObject([0, [{ targets: [] }]]);
    expect(output).toContain("Resolved as created with id 55: a");
    expect(journals.flat().toSorted()).toEqual([...["a created 55", "a sent", "b closed"]]);
    const during = await pending(given, "--created", "a=55");
    expect(during.output).toMatch(/^not resolved: a: .*currently locked/s);
  });

  it("that the refresh hasn't saved is not reported, and the create is listed again", async () => {
    const resources = [ROOT, UNRESOLVED];
    const { code, output } = await pending(
      { resources, refreshed: resources },
      ...["--not-created", "open"],
    );
    expect(code).toBe(1);
    expect(output).toMatch(
      /^1 create is unresolved, and may or may not have reached the platform:\n {2}open: look/,
    );
  });
});

describe("--clear", () => {
  const cleared = (surroundings: Surroundings, ...args: string[]) =>
    pending(
      { refreshed: surroundings.resources ?? [ROOT], ...surroundings },
      "--clear",
      ...args,
    );
  const THEIRS = {
    type: "creating",
    resource: { urn: "urn:theirs", type: "aws:s3/bucket:Bucket" },
  };

  it("takes accounted creates out of Pulumi's record", async () => {
    const outcome = { __resolved: { [markOfName("buy")]: "ConversionEvent 7" } };
    const resources = [ROOT, event("buy", 7, outcome)];
    const { code, output, refreshes } = await cleared({
      resources,
      pendingOperations: [creating("buy"), { ...creating("x"), type: "deleting" }],
    });
    expect([code, refreshes]).toMatchObject([
      0,
      [{ targets: [ROOT.urn], isClearing: true }],
    ]);
    expect(output).toMatch(/^Cleared from Pulumi's record: 1 create\.\n/);
  });

  it.each<[string, Surroundings, string[]]>([
    ["an open one", { pendingOperations: [creating("buy")] }, [E("buy")]],
    [
      "one that the next `up` takes over",
      {
        pendingOperations: [creating("buy")],
        journal: [noted("buy", "created", "7")],
      },
      [E("buy")],
    ],
    [
      "another package's, and an open one",
      { pendingOperations: [THEIRS, creating("buy")] },
      ["urn:theirs", E("buy")],
    ],
  ])("refuses %s, and changes nothing", async (_, surroundings, against) => {
    const { code, output, refreshes } = await cleared(surroundings);
    expect([code, refreshes]).toEqual([undefined, []]);
    expect(output).toMatch(/^nothing was cleared: the state doesn't have these\./);
    expect(output).toContain("pending --help` says how to drop those that the program no");
    expect(output.split("\n  ").slice(1)).toEqual(against);
  });

  it("is nothing without interrupted creates", async () => {
    const { code, output, refreshes } = await cleared({});
    expect([code, refreshes]).toEqual([0, []]);
    expect(output).toBe("Pulumi's record has nothing to clear.\nNo create is unresolved.");
  });

  it("doesn't deny the creates that it then lists, which only the state has", async () => {
    const { code, output, refreshes } = await cleared({
      resources: [ROOT, event("open", "unresolved-m", open("m"))],
    });
    expect([code, refreshes]).toEqual([1, []]);
    expect(output).toMatch(
      /^Pulumi's record has nothing to clear\.\n1 create is unresolved/,
    );
  });
});

it("--state only lists", async () => {
  for (const option of ["--search", "--clear"])
    expect((await pending({}, "--state", "x.json", option)).output).toContain(
      "--state only lists; to resolve, leave it out",
    );
});
