/**
 * Commands that change a stack, with a stand-in for Pulumi's CLI that keeps the state in a file: what happens if another run changes the
 * stack meanwhile, or if the command is killed between two steps.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fingerprintOf } from "../../provider/src/kinds/kind.js";
import { LEFT_LIVE } from "../../provider/src/state/properties.js";
import { Inventory } from "../../provider/src/store/inventory.js";
import { journalOf, recordsIn } from "../../provider/src/store/notes.js";
import { pathsIn, placesOf } from "../../provider/src/store/places.js";
import { StackJournals } from "../../provider/src/tools/change-stack.js";
import { newFolder } from "../support/folder.js";
import { commandsIn } from "../support/printed-commands.js";
import {
  encrypted,
  exportOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
  UNRESOLVED_OUTPUT,
  urnOf,
} from "../support/stored.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const NAME = "organization/shop/dev";

/** Before and after `stack export` and `stack import`, it runs the test's script, if there is one. */
const PULUMI = (folder: string) => `#!/bin/sh
cd "${folder}"
case "$1 $2" in
  "stack export") [ -f on-export ] && . ./on-export; cat state.json; [ -f exported ] && . ./exported; true;;
  "stack import") cat > next.json; [ -s next.json ] || exit 1; [ -f on-import ] && . ./on-import; mv next.json state.json; echo x >> imports; [ -f imported ] && . ./imported; true;;
  "stack tag") [ -f no-tags ] && exit 1; case "$3" in set) echo "$5" > tag;; get) cat tag;; esac;;
  "stack --show-name") echo "${NAME}";;
  "config --json") cat config.json;;
  *) exit 1;;
esac
`;

const unresolved = (name: string) =>
  storedEvent(name, `unresolved-${name}`, UNRESOLVED_OUTPUT, {
    inputs: { eventName: name, advertiserId: 1, value: 1 },
  });

const creating = (name: string, more: object = {}) => {
  const inputs = { eventName: name, advertiserId: 1, value: 1, __identity: `shop/dev::${name}` };
  const { id: _, outputs: __, ...resource } = storedEvent(name, 0, {}, { inputs });
  return { type: "creating", resource: { ...resource, ...more } };
};

function newStack(resources: Parameters<typeof exportOf>[0]) {
  const folder = newFolder();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "bin/pulumi"), PULUMI(folder), { mode: 0o755 });
  writeFileSync(join(folder, "state.json"), exportOf(resources));
  const settings = { baseUrl: "https://here.example", email: "me@example.com" };
  const config = Object.entries(settings).map(([key, value]) => [`advertising:${key}`, { value, secret: false }]);
  writeFileSync(join(folder, "config.json"), JSON.stringify(Object.fromEntries(config)));
  const env = { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, HOME: folder, XDG_CACHE_HOME: join(folder, "cache") };
  const node = (...args: string[]) =>
    new Promise<{ code: number | null; output: string }>((resolved) => {
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
        resolved({ code: error === null ? 0 : (error.code as number | null), output: `${stdout}${stderr}` }),
      );
    });
  /** Clearing Pulumi's list settles nothing: it is not offered while a create is pending. */
  const run = async (...args: string[]) => {
    const printed = await node(command, ...args);
    const isPending = args[0] === "pending" && printed.code === 1;
    if (isPending) expect(printed.output).not.toContain("--clear-pending-creates");
    return printed;
  };
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  return {
    folder,
    node,
    run,
    write,
    imports: () => (existsSync(join(folder, "imports")) ? readFileSync(join(folder, "imports"), "utf8").length / 2 : 0),
    ids: () => {
      const { deployment } = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
      return (deployment.resources as { id: string }[]).map(({ id }) => id);
    },
  };
}

const OTHER = exportOf([unresolved("a"), unresolved("b"), storedEvent("saved-meanwhile", 7)]);

describe("another run changes the stack between export and import", () => {
  it("once: the command starts over, and nothing of that run is lost", async () => {
    const { run, write, ids, imports } = newStack([unresolved("a"), unresolved("b")]);
    write("other.json", OTHER);
    write("on-export", "[ -f looked ] && [ -f other.json ] && mv other.json state.json; touch looked");
    const { code, output } = await run("pending", "--created", "a=5");
    expect(output).toContain(`Settled as created with id 5: ${urnOf("ConversionEvent", "a")}`);
    expect(code).toBe(1); // b
    expect(ids()).toEqual(["5", "unresolved-b", "7"]);
    expect(imports()).toBe(1);
  });

  it("each time: the command changes nothing and exits with 2", async () => {
    const { run, write, imports } = newStack([unresolved("a")]);
    write(
      "on-export",
      'sed -i "s/2026-03-02T10:00:0./2026-03-02T10:00:0$(($(wc -l < seen || echo 0) % 10))/" state.json; echo >> seen',
    );
    write("seen", "");
    const { code, output } = await run("pending", "--created", "a=5");
    expect(output).toContain("other runs kept changing the stack");
    expect(code).toBe(2);
    expect(imports()).toBe(0);
  });

  it("once, while `leftovers --done` runs: nothing of that run is lost", async () => {
    const left = [{ id: "9", name: "Old", at: "2026-03-01T00:00:00.000Z", why: "replaced", by: "8" }];
    const event = storedEvent("buy", 8, { [LEFT_LIVE]: left });
    const { run, write, ids } = newStack([event]);
    write("other.json", exportOf([event, storedEvent("saved-meanwhile", 7)]));
    write("on-export", "[ -f looked ] && [ -f other.json ] && mv other.json state.json; touch looked");
    expect((await run("leftovers", "--done", "9")).code).toBe(0);
    expect(ids()).toEqual(["8", "7"]);
  });
});

describe("with --stack and --cwd", () => {
  async function commandsAfter(stack: ReturnType<typeof newStack>, ...args: string[]): Promise<string[]> {
    const { output } = await stack.run(...args, "--stack", "dev", "--cwd", stack.folder);
    const inSentences = [...output.matchAll(/`([^`]+)`/g)].map(([, command = ""]) => command);
    const given = ` --stack dev --cwd ${stack.folder}`;
    return [...commandsIn(output), ...inSentences].flatMap((command) =>
      command.endsWith(given) ? [command.slice(0, -given.length)] : [],
    );
  }
  const A = urnOf("ConversionEvent", "a");
  const REOPEN = `npx pulumi-advertising pending --reopen '${A}'`;

  it("each printed command is about the same stack", async () => {
    const stack = newStack([unresolved("a")]);
    expect(await commandsAfter(stack, "pending")).toEqual([
      `npx pulumi-advertising pending --created '${A}=<its id>'`,
      `npx pulumi-advertising pending --not-created '${A}'`,
      "pulumi up",
    ]);
    expect(await commandsAfter(stack, "pending", "--created", "a=5")).toEqual([REOPEN]);
    expect(await commandsAfter(stack, "pending", "--created", "a=6")).toEqual([REOPEN]); // answered already
  });

  it("so are those that set what is missing in the configuration, and those that clear Pulumi's list", async () => {
    const stack = newStack([]);
    const pending_operations = [creating("a")];
    stack.write("state.json", JSON.stringify({ version: 3, deployment: { pending_operations } }));
    expect(await commandsAfter(stack, "relocate", "there.example me@example.com")).toEqual([
      "npx pulumi-advertising pending",
      "pulumi refresh --clear-pending-creates --yes",
    ]);
    stack.write("config.json", "{}");
    expect(await commandsAfter(stack, "relocate", "there.example me@example.com")).toEqual([
      "pulumi config set advertising:baseUrl https://platform.example.com",
      "pulumi config set advertising:email you@example.com",
    ]);
  });
});

it("a URN of another stack than the selected one says which stack to add", async () => {
  const { run, imports } = newStack([unresolved("a")]);
  const theirs = urnOf("ConversionEvent", "a").replace(":dev::", ":dev2::");
  for (const answer of [
    ["--created", `${theirs}=5`],
    ["--not-created", theirs],
    ["--forget", theirs],
    ["--reopen", theirs],
  ]) {
    const { code, output } = await run("pending", ...answer);
    expect(output).toContain("is of the stack dev2, and dev is selected: add --stack dev2");
    expect(code).toBe(2);
  }
  expect(imports()).toBe(0);
});

it("two commands at once: both answers are kept", async () => {
  const { run, write, ids, imports } = newStack([unresolved("a"), unresolved("b")]);
  write("on-import", "sleep 0.3"); // both are there before the first one has imported
  const both = await Promise.all([run("pending", "--created", "a=5"), run("pending", "--created", "b=6")]);
  expect(both.map(({ output }) => /Settled as created with id (\d)/.exec(output)?.[1])).toEqual(["5", "6"]);
  expect(ids()).toEqual(["5", "6"]);
  expect(imports()).toBe(2);
});

describe("a command on another machine, between the last export and the import", () => {
  /** @returns what was printed there, and the ids in the state. */
  async function meanwhile(stack: ReturnType<typeof newStack>, ...args: string[]) {
    const elsewhere = [process.execPath, command, ...args].map((word) => `"${word}"`).join(" ");
    const once = "[ -f first ] && [ ! -f there.txt ]";
    stack.write("exported", `${once} && XDG_CACHE_HOME=there ${elsewhere} > there.txt; touch first`);
    const here = await stack.run("pending", "--created", "a=5");
    return { here, there: readFileSync(join(stack.folder, "there.txt"), "utf8"), ids: stack.ids() };
  }

  it("its answer is kept: this one changes nothing, and is done when it is run again", async () => {
    const stack = newStack([unresolved("a"), unresolved("b")]);
    const { here, there, ids } = await meanwhile(stack, "pending", "--created", "b=6");
    expect(there).toContain("Settled as created with id 6");
    expect(ids).toEqual(["unresolved-a", "6"]);
    expect(here.output).toContain("another `pulumi-advertising` command is changing this stack");
    expect(here.code).toBe(2);
    expect((await stack.run("pending", "--created", "a=5")).code).toBe(0);
    expect(stack.ids()).toEqual(["5", "6"]);
  });

  it("that changes nothing stops nobody", async () => {
    const { here, there, ids } = await meanwhile(newStack([unresolved("a"), unresolved("b")]), "pending");
    expect(there).toContain("2 creates may or may not have reached the platform");
    expect(here.output).toContain("Settled as created with id 5");
    expect(ids).toEqual(["5", "unresolved-b"]);
  });
});

it.each([
  ["a command that was killed has claimed the stack", "tag"],
  ["the backend has no tags", "no-tags"],
])("%s: the command goes on", async (_, file) => {
  const { run, write, ids } = newStack([unresolved("a")]);
  write(file, "of-another-command");
  expect((await run("pending", "--created", "a=5")).code).toBe(0);
  expect(ids()).toEqual(["5"]);
});

it("while a run holds the journal, the command is refused, and nothing is changed", async () => {
  const { run, folder, write, imports } = newStack([unresolved("a")]);
  // Another command that hangs in its import holds the journal as a run does.
  write("on-import", "while [ -f hold ]; do sleep 0.05; done");
  write("hold", "");
  const first = run("pending", "--created", "a=5");
  await expect.poll(() => existsSync(join(folder, "next.json")), { timeout: 20_000 }).toBe(true);
  const second = await run("pending", "--created", "a=6");
  expect(second.output).toContain("a run of this stack is under way on this machine");
  expect(second.code).toBe(2);
  rmSync(join(folder, "hold"));
  expect((await first).code).toBe(0);
  expect(imports()).toBe(1);
});

describe("`pending --created` that is killed", () => {
  /** Two creates of unknown outcome: `a`, of which a value is secret, in the state, and `e` in Pulumi's record of an interrupted run. */
  function open() {
    const inputs = { eventName: "a", advertiserId: 1, value: encrypted };
    const a = storedEvent("a", "unresolved-a", { ...UNRESOLVED_OUTPUT, value: encrypted }, { inputs });
    const stack = newStack([a, storedEvent("kept", 7, { __at: "here.example me@example.com" })]);
    const exported = JSON.parse(readFileSync(join(stack.folder, "state.json"), "utf8"));
    exported.deployment.pending_operations = [creating("e")];
    stack.write("state.json", JSON.stringify(exported));
    vi.stubEnv("XDG_CACHE_HOME", join(stack.folder, "cache"));
    const account = { baseUrl: "https://here.example", email: "me@example.com" };
    const { journal } = pathsIn(placesOf(account, "", undefined, stack.folder).journalFolder, NAME);
    mkdirSync(join(journal, ".."), { recursive: true, mode: 0o700 });
    const notes = ["a", "e"].map((mark) => ({
      mark,
      key: `ConversionEvent::${NAME}::${mark}`,
      fingerprint: fingerprintOf({ event_name: mark, advertiser_id: 1, value: 1 }),
      at: "2026-03-01T09:00:00.000Z",
    }));
    writeFileSync(journal, journalOf(notes), { mode: 0o600 });
    return { ...stack, journal };
  }
  const ANSWERS = ["pending", "--created", "a=5", "--created", "e=6"];
  const KILL = "kill -9 $PPID";
  /** Has the command kill itself before or after one of its own changes of a file. */
  const atFile = (call: string, file: string, when: "before" | "after") => `
    const fs = require("node:fs"), { ${call} } = fs, kill = () => process.kill(process.pid, "SIGKILL");
    fs.${call} = (...paths) => {
      const isIt = paths.some((path) => String(path).endsWith(${JSON.stringify(file)}));
      if (isIt && "${when}" === "before") kill();
      ${call}(...paths);
      if (isIt) kill();
    };`;

  it.each<[string, { readonly file?: string; readonly script?: string }, string]>([
    ["after its first export", { file: "exported", script: KILL }, "open"],
    ["after its last export", { file: "exported", script: `[ -f first ] && ${KILL}; touch first` }, "open"],
    ["before it notes the answers", { script: atFile("renameSync", ".settled", "before") }, "open"],
    ["once they are noted", { script: atFile("renameSync", ".settled", "after") }, "open"],
    ["in its import, before the state is changed", { file: "on-import", script: `${KILL}; exit 1` }, "open"],
    ["in its import, after that", { file: "imported", script: KILL }, "settled"],
    ["before the journal is changed", { script: atFile("rmSync", ".jsonl", "before") }, "settled"],
    ["after that", { script: atFile("rmSync", ".jsonl", "after") }, "settled"],
  ])(
    "%s has done all or nothing to the state, and is finished when it is called again",
    async (_, { file, script = "" }, state) => {
      const { node, run, write, folder, ids, journal } = open();
      write(file ?? "kill.cjs", script);
      const preload = file === undefined ? ["--require", join(folder, "kill.cjs")] : [];
      const killed = await node(...preload, command, ...ANSWERS);
      expect(killed.output).not.toContain("Settled");
      expect(ids()).toEqual(state === "open" ? ["unresolved-a", "7"] : ["5", "7", "6"]);
      if (file !== undefined) rmSync(join(folder, file));
      const again = await run(...ANSWERS);
      expect(again.output).toContain(state === "open" ? "Settled as created with id 6" : '"e" was answered already');
      expect(ids()).toEqual(["5", "7", "6"]);
      expect(await run("pending")).toMatchObject({ code: 0, output: expect.stringContaining("Nothing is pending") });
      expect(existsSync(journal)).toBe(false);
    },
  );

  it("what was sent again since the answer stays in the journal", async () => {
    const { node, run, write, folder, journal } = open();
    write("imported", KILL);
    await node(command, "pending", "--not-created", "a", "--created", "e=6");
    rmSync(join(folder, "imported"));
    const again = recordsIn(journal).map((record) => ({ ...record, at: "2026-03-02T12:00:00.000Z" }));
    writeFileSync(journal, journalOf(again), { mode: 0o600 });
    const { code, output } = await run("pending");
    expect(output).toContain(urnOf("ConversionEvent", "a"));
    expect({ code, left: recordsIn(journal).map(({ mark }) => mark) }).toEqual({ code: 1, left: ["a", "e"] });
  });
});

/** Quotes what Pulumi printed. */
const REFUSED_IMPORT = `pulumi-advertising: nothing was changed. If Pulumi says below that the stack is locked, or that another update is in progress, let that run end, and run this again.
Only if you are sure that no run is under way (an interrupted run leaves its lock):
  pulumi cancel
\`pulumi stack import\` failed: error: the stack is locked (docs/messages.md#advertising_usage) [ADVERTISING_USAGE]
`;

it("a failure in a folder without a project says so", async () => {
  const { run, write, folder } = newStack([]);
  write("on-export", 'echo "error: pass the fully qualified name" >&2; exit 255');
  const failure = "`pulumi stack export` failed: error: pass the fully qualified name";
  const hint = `\nNeither ${folder} nor a folder above it has a Pulumi.yaml: --cwd takes the program's folder.`;
  expect((await run("leftovers")).output).not.toContain("Pulumi.yaml");
  rmSync(join(folder, "Pulumi.yaml"));
  expect((await run("leftovers")).output).toContain(`${failure}${hint}`);
});

it("a refused import: the error says what to do, and a second try finds everything as it was", async () => {
  const { run, write, ids, folder } = newStack([unresolved("a")]);
  write("on-import", 'echo "error: the stack is locked" >&2; exit 255');
  expect(await run("pending", "--created", "a=5")).toEqual({ code: 2, output: REFUSED_IMPORT });
  expect(ids()).toEqual(["unresolved-a"]);
  rmSync(join(folder, "on-import"));
  expect((await run("pending", "--created", "a=5")).code).toBe(0);
  expect(ids()).toEqual(["5"]);
});

describe("relocate", () => {
  const AT = (host: string) => ({ __at: `${host}.example me@example.com` });
  const note = {
    note: "sent",
    mark: "m",
    key: `ConversionEvent::${NAME}::x`,
    fingerprint: "f",
    at: "2026-03-01T00:00:00Z",
  };
  const JOURNAL = `${JSON.stringify({ journal: "pulumi-advertising", version: 1 })}\n${JSON.stringify(note)}\n`;

  /** A stack whose journal is filed under its former address. */
  function moving() {
    const identity = { inputs: { __identity: `${NAME}::acme` } };
    const stack = newStack([{ ...storedAdvertiser("acme", 1, "A", identity), outputs: AT("there") }]);
    const filesOf = (host: string, name = NAME) => {
      vi.stubEnv("XDG_CACHE_HOME", join(stack.folder, "cache"));
      const account = { baseUrl: `https://${host}.example`, email: "me@example.com" };
      return pathsIn(placesOf(account, "", undefined, stack.folder).journalFolder, name);
    };
    const { journal, ...others } = filesOf("there");
    mkdirSync(join(journal, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(journal, JOURNAL, { mode: 0o600 });
    for (const path of Object.values(others)) writeFileSync(path, "", { mode: 0o600 });
    const hosts = () => ({
      state: /__at":"(\w+)/.exec(readFileSync(join(stack.folder, "state.json"), "utf8"))?.[1],
      journal: ["here", "there"].filter((host) => existsSync(filesOf(host).journal)),
      others: ["here", "there"].filter((host) => {
        const { journal: _, ...beside } = filesOf(host);
        return Object.values(beside).some((path) => existsSync(path));
      }),
    });
    return { ...stack, hosts, filesOf, relocate: () => stack.run("relocate", "there.example me@example.com") };
  }

  it.each([
    ["quoted", ["there.example me@example.com"]],
    ["without quotes", ["there.example", "me@example.com"]],
  ])("moves the state and the journal: %s", async (_, call) => {
    const { run, hosts, folder } = moving();
    const { code, output } = await run("relocate", ...call);
    expect(output).toContain("1 resource of 'there.example me@example.com' is at 'here.example me@example.com' now");
    expect(code).toBe(0);
    expect(hosts()).toEqual({ state: "here", journal: ["here"], others: ["here"] });
    const locks = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith(".lock"));
    expect(locks).toEqual([]);
  });

  it.each([
    ["before its import", "on-import", "there"],
    ["right after its import", "imported", "here"],
  ])("killed %s, it finishes when it is run again", async (_, hook, state) => {
    const { relocate, hosts, write, folder } = moving();
    write(hook, "kill -9 $PPID; rm -f on-import imported; exit 1");
    expect((await relocate()).code).not.toBe(0);
    // While the state names the former account, a run at the new one stops. The journal is moved before the state, never after it.
    expect(hosts()).toEqual({ state, journal: ["here"], others: ["here"] });
    if (existsSync(join(folder, hook))) rmSync(join(folder, hook));
    const again = await relocate();
    if (state === "there") expect(again, again.output).toMatchObject({ code: 0 });
    expect(hosts()).toEqual({ state: "here", journal: ["here"], others: ["here"] });
  });

  it("keeps the notes of both journals if the new address already has one, as after an `up --target` of something new", async () => {
    const { relocate, hosts, filesOf } = moving();
    const { journal } = filesOf("here");
    const since = {
      mark: "since",
      key: `ConversionEvent::${NAME}::since`,
      fingerprint: "f",
      at: "2026-03-02T00:00:00Z",
    };
    mkdirSync(join(journal, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(journal, journalOf([since]), { mode: 0o600 });
    expect((await relocate()).code).toBe(0);
    expect(hosts()).toEqual({ state: "here", journal: ["here"], others: ["here"] });
    expect(recordsIn(journal).map(({ mark }) => mark)).toEqual(["m", "since"]);
  });

  it("moves the journals under both names of a stack that was renamed after a run", async () => {
    const { relocate, hosts, write, folder, filesOf } = moving();
    const state = readFileSync(join(folder, "state.json"), "utf8");
    write("state.json", state.replace(`${NAME}::acme`, "organization/shop/old::acme"));
    const former = (host: string) => filesOf(host, "organization/shop/old").journal;
    writeFileSync(former("there"), JOURNAL, { mode: 0o600 });
    expect((await relocate()).code).toBe(0);
    expect(hosts()).toEqual({ state: "here", journal: ["here"], others: ["here"] });
    expect(["here", "there"].filter((host) => existsSync(former(host)))).toEqual(["here"]);
  });

  it.each(["there", "here"])(
    "an answer given at %s, under the new name of a stack that was renamed, can be taken back afterwards",
    async (answeredAt) => {
      const { run, relocate, write, folder, filesOf } = moving();
      const state = readFileSync(join(folder, "state.json"), "utf8");
      write("state.json", state.replace(`${NAME}::acme`, "organization/shop/old::acme"));
      const former = (host: string) => filesOf(host, "organization/shop/old").journal;
      writeFileSync(former("there"), JOURNAL, { mode: 0o600 });
      for (const path of Object.values(filesOf("there"))) rmSync(path);
      const config = readFileSync(join(folder, "config.json"), "utf8");
      write("config.json", config.replace("https://here.", `https://${answeredAt}.`));
      expect((await run("pending", "--not-created", "x")).code).toBe(0);
      expect(existsSync(former("there"))).toBe(false);
      write("config.json", config);
      expect((await relocate()).code).toBe(0);
      const reopened = await run("pending", "--reopen", "x");
      expect(reopened.output).toContain("Reopened, as if it had not been answered");
      expect(reopened.code).toBe(1);
      expect(recordsIn(former("here")).map(({ mark }) => mark)).toEqual(["m"]);
    },
  );

  it("moves the journal alone if an earlier version was killed after the state", async () => {
    const { relocate, hosts, folder } = moving();
    const file = join(folder, "state.json");
    writeFileSync(file, readFileSync(file, "utf8").replace("there.example", "here.example"));
    expect(hosts()).toEqual({ state: "here", journal: ["there"], others: ["there"] });
    expect((await relocate()).code).toBe(0);
    expect(hosts()).toEqual({ state: "here", journal: ["here"], others: ["here"] });
    const done = await relocate();
    expect(done.output).toContain("no resource of this stack was created at 'there.example me@example.com'");
    expect(done.code).toBe(2);
  });

  it("moves the journal alone if the first run was killed and the state is empty", async () => {
    const { relocate, hosts, write } = moving();
    write("state.json", exportOf([]));
    expect((await relocate()).code).toBe(0);
    expect(hosts()).toEqual({ state: undefined, journal: ["here"], others: ["here"] });
  });

  it("leaves both where they were if the import is refused", async () => {
    const { relocate, hosts, write } = moving();
    write("on-import", 'echo "error: the stack is locked" >&2; exit 255');
    const { code, output } = await relocate();
    expect(output).toBe(REFUSED_IMPORT);
    expect(code).toBe(2);
    expect(hosts()).toEqual({ state: "there", journal: ["there"], others: ["there"] });
  });
});

describe("`pending` of a stack that was renamed", () => {
  const FORMER = "organization/shop/old";
  const AT = "2026-03-01T00:00:00Z";
  const noteOf = (name: string, mark: string, id?: string) => ({
    mark,
    key: `ConversionEvent::${FORMER}::${name}`,
    fingerprint: "f",
    at: AT,
    ...(id && { id }),
  });

  /** The state has event 7 and an unresolved create; the journal of the former name knows both, and two of a new stack of that name. */
  function renamed() {
    const inputs = (name: string) => ({
      inputs: { eventName: name, advertiserId: 1, value: 1, __identity: `shop/old::${name}` },
    });
    const lost = { unresolved: { ...UNRESOLVED_OUTPUT.unresolved, mark: "m-lost" } };
    const stack = newStack([
      storedEvent("has", 7, {}, inputs("has")),
      storedEvent("lost", "unresolved-m-lost", lost, inputs("lost")),
    ]);
    vi.stubEnv("XDG_CACHE_HOME", join(stack.folder, "cache"));
    const account = { baseUrl: "https://here.example", email: "me@example.com" };
    const { journalFolder } = placesOf(account, "", undefined, stack.folder);
    const [former, now] = [pathsIn(journalFolder, FORMER), pathsIn(journalFolder, NAME)];
    mkdirSync(journalFolder, { recursive: true, mode: 0o700 });
    const notes = [
      noteOf("has", "m-has", "7"),
      noteOf("lost", "m-lost"),
      noteOf("has", "n1"),
      noteOf("more", "n2", "8"),
    ];
    writeFileSync(former.journal, journalOf(notes), { mode: 0o600 });
    const inventory = new Inventory(former.objects);
    inventory.note(noteOf("has", "").key, { id: "7", fingerprint: "f", at: AT });
    inventory.note(noteOf("more", "").key, { id: "8", fingerprint: "f", at: AT });
    const marksIn = (path: string) => (existsSync(path) ? recordsIn(path).map(({ mark, key }) => [mark, key]) : []);
    const livesIn = ({ objects }: typeof now) =>
      [...new Inventory(objects).asItBegan].map(([key, { id, at }]) => [key, id, at]);
    return {
      ...stack,
      notes: () => ({ former: marksIn(former.journal), now: marksIn(now.journal) }),
      lives: () => ({ former: livesIn(former), now: livesIn(now) }),
    };
  }
  const LOST = `ConversionEvent::${NAME}::lost`;
  const [HAS, MORE] = ["has", "more"].map((name) => noteOf(name, "").key);

  it("leaves of the former name's notes those that the state does not have", async () => {
    const { run, notes, lives } = renamed();
    for (let turn = 0; turn < 2; turn++) {
      expect((await run("pending")).code).toBe(1);
      expect(notes()).toEqual({
        former: [
          ["n1", HAS],
          ["n2", MORE],
        ],
        now: [["m-lost", LOST]],
      });
      expect(lives()).toEqual({ former: [[MORE, "8", AT]], now: [[`ConversionEvent::${NAME}::has`, "7", AT]] });
    }
  });

  it("settles an answer under the name of now, and takes it back", async () => {
    const { run, ids, notes } = renamed();
    await run("pending", "--created", "lost=9");
    expect(ids()).toEqual(["7", "9"]);
    expect(notes()).toEqual({
      former: [
        ["n1", HAS],
        ["n2", MORE],
      ],
      now: [],
    });
    await run("pending", "--reopen", "lost");
    expect(ids()).toEqual(["7", "unresolved-m-lost"]);
    await run("pending");
    expect(notes()).toEqual({
      former: [
        ["n1", HAS],
        ["n2", MORE],
      ],
      now: [["m-lost", LOST]],
    });
  });

  it("asks about a create that only the former name's journal has: the next `up` does not see it unless it is answered", async () => {
    const { run, notes } = renamed();
    const { output, code } = await run("pending");
    expect(code).toBe(1);
    expect(output).toMatch(
      /reached the platform, and your answer is missing:\n {2}urn:pulumi:old::.*::more\n {4}was created as 8: /,
    );
    expect(output).not.toContain("takes it over");
    const answered = await run("pending", "--created", "more");
    expect(answered.output).toContain("more (8). The next `pulumi up` takes it over");
    expect(notes().now).toEqual([
      ["m-lost", LOST],
      ["n2", `ConversionEvent::${NAME}::more`],
    ]);
    await run("pending", "--reopen", "more");
    expect(notes().former).toContainEqual(["n2", MORE]);
    expect(notes().now).toEqual([["m-lost", LOST]]);
  });

  it("changes nothing if it looks at an export", async () => {
    const { run, notes, folder } = renamed();
    const before = notes();
    expect((await run("pending", "--state", join(folder, "state.json"))).code).toBe(1);
    expect(notes()).toEqual(before);
  });
});

it("`pending` names those creates of an interrupted run that this machine's journal has no note of", async () => {
  const { run, folder, write } = newStack([]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const inFlight = ["sent", "unsent"].map((name) => creating(name));
  const stack = JSON.parse(exportOf([]));
  stack.deployment.pending_operations = inFlight;
  write("state.json", JSON.stringify(stack));
  const words = "has no note of unsent: if the interrupted run was on this machine, it did not send it.";
  const elsewhere = await run("pending");
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.output).not.toContain("has no note of");
  const underWay = "A run that is still under way on another machine looks the same: let it end, then run this again.";
  expect(elsewhere.output).toContain(underWay);
  const key = "ConversionEvent::organization/shop/dev::sent";
  const note = { mark: "m", key, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
  writeFileSync(pathsIn(journals, NAME).journal, journalOf([note]), { mode: 0o600 });
  const here = await run("pending");
  expect(here.code).toBe(1);
  expect(here.output).toContain("2 creates may or may not have reached the platform");
  expect(here.output).toContain(words);
  expect(here.output).toContain(underWay);
  const all = ["sent", "unsent"].map((name) => ({ ...note, mark: name, key: note.key.replace(/sent$/, name) }));
  writeFileSync(pathsIn(journals, NAME).journal, journalOf(all), { mode: 0o600 });
  expect((await run("pending")).output).not.toContain(underWay);
});

it("a settlement names the pending creates of other packages, which the import also drops from Pulumi's list", async () => {
  const { run, write } = newStack([]);
  const bucket = "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs";
  const stack = JSON.parse(exportOf([]));
  const others = [{ type: "creating", resource: { urn: bucket, type: "aws:s3/bucket:Bucket", custom: true } }];
  stack.deployment.pending_operations = [...others, creating("e")];
  write("state.json", JSON.stringify(stack));
  const { code, output } = await run("pending", "--created", "e=5");
  expect(output).toContain(
    `Pulumi no longer lists 1 create of other packages that was in flight. Look for what it made before the next \`pulumi up\`:\n  ${bucket}\n`,
  );
  expect(code).toBe(0);
});

describe("a settlement, if no resource in the state says which account", () => {
  const killed = (state: Parameters<typeof exportOf>[0] = []) => {
    const stack = newStack(state);
    const exported = JSON.parse(exportOf(state));
    exported.deployment.pending_operations = [creating("e"), creating("other")];
    stack.write("state.json", JSON.stringify(exported));
    /** @param baseUrl of the account whose journal gets a note: the one in the settings, or another one. */
    const note = (baseUrl: string) => {
      vi.stubEnv("XDG_CACHE_HOME", join(stack.folder, "cache"));
      const { journalFolder } = placesOf({ baseUrl, email: "me@example.com" }, "", undefined, stack.folder);
      mkdirSync(journalFolder, { recursive: true, mode: 0o700 });
      const sent = { mark: "m", key: `ConversionEvent::${NAME}::e`, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
      writeFileSync(pathsIn(journalFolder, NAME).journal, journalOf([sent]), { mode: 0o600 });
    };
    const settle = () => stack.run("pending", "--created", "e=5");
    const accounts = () => {
      const { deployment } = JSON.parse(readFileSync(join(stack.folder, "state.json"), "utf8"));
      return (deployment.resources as { outputs: { __at?: string } }[]).map(({ outputs }) => outputs.__at);
    };
    return { ...stack, note, settle, accounts };
  };
  const HERE = "here.example me@example.com";

  it("records the account of the settings, also if only that account's journal has notes", async () => {
    for (const baseUrl of [undefined, "https://here.example"]) {
      const { note, settle, accounts } = killed();
      if (baseUrl !== undefined) note(baseUrl);
      expect((await settle()).output).toContain("Settled as created with id 5");
      expect(accounts()).toEqual([HERE, HERE]);
    }
  });

  it("is refused if the settings name none, or if only another account's journal has notes; an account in the state takes precedence", async () => {
    const lost = killed();
    lost.write("config.json", "{}");
    const refused = await lost.settle();
    expect(refused.output).toContain("nothing was settled: no resource in the state says which account");
    expect(refused.output).toContain("pulumi config set advertising:baseUrl");
    const moved = killed();
    moved.note("https://there.example");
    const other = await moved.settle();
    expect(other.output).toContain("nothing was settled: no resource in the state says which account");
    expect(other.output).toContain(`only a journal of another account has notes of them, not that of '${HERE}'`);
    expect(other.output).toContain(
      [
        "Set advertising:baseUrl and advertising:email back as they were in the interrupted run, and settle the creates.",
        "If the account has a new address, change the settings after that, and run `npx pulumi-advertising relocate`.",
      ].join("\n"),
    );
    // Before that, it refuses.
    expect((await moved.run("relocate", "there.example me@example.com")).output).toContain("First settle");
    for (const { code } of [refused, other]) expect(code).toBe(2);
    for (const { imports } of [lost, moved]) expect(imports()).toBe(0);
    const known = killed([storedAdvertiser("acme", 1, "A", { outputs: { __at: "there.example me@example.com" } })]);
    known.write("config.json", "{}");
    expect((await known.settle()).output).toContain("Settled as created with id 5");
    expect(new Set(known.accounts())).toEqual(new Set(["there.example me@example.com"]));
  });
});

it("a forgotten create is no longer pending: Pulumi's record of it goes with the journal's note", async () => {
  const kept = storedEvent("kept", 7, { __at: "here.example me@example.com" });
  const { run, write, folder, imports } = newStack([kept]);
  const stack = JSON.parse(exportOf([kept]));
  stack.deployment.pending_operations = [creating("e"), creating("f")];
  write("state.json", JSON.stringify(stack));
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const note = (name: string) => {
    const key = `ConversionEvent::${NAME}::${name}`;
    return { mark: name, key, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
  };
  writeFileSync(pathsIn(journals, NAME).journal, journalOf([note("e"), note("f")]), { mode: 0o600 });
  const forgot = await run("pending", "--forget", "e");
  expect(forgot.output).toContain("Forgotten: what an interrupted run noted about e");
  expect({ code: forgot.code, imports: imports() }).toEqual({ code: 1, imports: 1 });
  const { code, output } = await run("pending");
  expect(code).toBe(1);
  expect(output).toContain("1 create may or may not have reached the platform");
  expect(output).toContain(urnOf("ConversionEvent", "f"));
  expect(output).not.toContain(urnOf("ConversionEvent", "e"));
});

describe("--forget removes every record", () => {
  /** @param notes that an interrupted run left, by name, with the id from the response if there was one. */
  const killed = (operations: object[], notes: Record<string, string | undefined>) => {
    const kept = storedEvent("kept", 7, { __at: "here.example me@example.com" });
    const stack = newStack([kept]);
    const exported = JSON.parse(exportOf([kept]));
    exported.deployment.pending_operations = operations;
    stack.write("state.json", JSON.stringify(exported));
    vi.stubEnv("XDG_CACHE_HOME", join(stack.folder, "cache"));
    const account = { baseUrl: "https://here.example", email: "me@example.com" };
    const journals = placesOf(account, "", undefined, stack.folder).journalFolder;
    mkdirSync(journals, { recursive: true, mode: 0o700 });
    const sent = Object.entries(notes).map(([name, id]) => {
      const [kind, fingerprint] = name.startsWith("s[")
        ? ["ConversionEventSet", "f"]
        : ["ConversionEvent", fingerprintOf({ event_name: name, advertiser_id: 1, value: 1 })];
      const key = `${kind}::${NAME}::${name}`;
      return { mark: name, key, fingerprint, at: "2026-03-02T10:00:00.000Z", ...(id === undefined ? {} : { id }) };
    });
    if (sent.length > 0) writeFileSync(pathsIn(journals, NAME).journal, journalOf(sent), { mode: 0o600 });
    const recorded = () =>
      JSON.parse(readFileSync(join(stack.folder, "state.json"), "utf8")).deployment.pending_operations;
    return { ...stack, recorded };
  };
  const creatingSet = () => {
    const inputs = { advertiserId: 1, events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } } };
    const { id: _, outputs: __, ...resource } = storedSet("s", {}, { inputs });
    return { type: "creating", resource };
  };

  it.each([
    ["a resource", [creating("e")], { e: "501" }, "e"],
    ["a set, all of it", [creatingSet()], { 's["a"]': "501", 's["b"]': "502" }, "s"],
  ])("of %s that was created: Pulumi's record goes with the note", async (_, operations, notes, name) => {
    const { run, recorded, ids } = killed(operations, notes);
    const forgot = await run("pending", "--forget", name);
    expect(forgot.output).toContain(`Forgotten: what an interrupted run noted about ${name}\n`);
    expect(forgot.output).not.toContain("--clear-pending-creates");
    expect(forgot.code).toBe(0);
    expect(recorded()).toEqual([]);
    expect(ids()).toEqual(["7"]);
    expect(await run("pending")).toMatchObject({ code: 0 });
    const reopened = await run("pending", "--reopen", name);
    expect(reopened, reopened.output).toMatchObject({ code: 0 });
  });

  it("R7: of an event that was created again leaves another of its set, of unknown outcome, pending", async () => {
    const { run, write, ids } = killed([], { 's["a"]': "501", 's["b"]': undefined });
    const stored = storedSet("s", { events: { a: { eventName: "A", value: 1 } }, eventIds: { a: 5 } });
    const exported = JSON.parse(exportOf([stored]));
    exported.deployment.pending_operations = [{ ...creatingSet(), type: "updating" }];
    write("state.json", JSON.stringify(exported));
    const member = (key: string) => `${urnOf("ConversionEventSet", "s")}["${key}"]`;
    const listed = await run("pending");
    expect(listed.output).toContain("The state has 5 under this name.");
    expect([...listed.output.matchAll(/pending --forget '([^']+)'/g)].map(([, urn]) => urn)).toEqual([member("a")]);
    const before = ids();
    const refused = await run("pending", "--forget", "s");
    expect(refused.output).toContain(`nothing was forgotten: the outcome of "${member("b")}" is unknown; settle it`);
    expect({ code: refused.code, ids: ids() }).toEqual({ code: 2, ids: before });
    const forgot = await run("pending", "--forget", member("a"));
    expect(forgot.output).toContain("1 create may or may not have reached the platform");
    expect(forgot.output).toContain(member("b"));
    expect(forgot.output).not.toContain("501");
    expect(forgot.code).toBe(1);
  });

  it("of a create with an id: the same command settles another create and does not save the forgotten one", async () => {
    const { run, ids } = killed([creating("e"), creating("f")], { e: "501", f: undefined });
    const { code } = await run("pending", "--forget", "e", "--not-created", "f");
    expect({ code, ids: ids() }).toEqual({ code: 0, ids: ["7"] });
  });

  it("of a create that only Pulumi's record has: it says what else the import drops, and --reopen brings it back", async () => {
    const bucket = "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs";
    const others = { type: "creating", resource: { urn: bucket, type: "aws:s3/bucket:Bucket", custom: true } };
    const { run, ids, write, folder } = killed([others, creating("e")], {});
    const forgot = await run("pending", "--forget", "e");
    expect(forgot.output).toContain("Forgotten: what an interrupted run noted about e\n");
    expect(forgot.output).toContain(`Pulumi no longer lists 1 create of other packages that was in flight.`);
    expect(forgot.output).toContain("pending --reopen");
    expect({ code: forgot.code, ids: ids() }).toEqual({ code: 0, ids: ["7"] });
    // Pulumi's import drops the list.
    write(
      "state.json",
      readFileSync(join(folder, "state.json"), "utf8").replace(/"pending_operations":\[.*\]/, '"x":0'),
    );
    const reopened = await run("pending", "--reopen", "e");
    expect(reopened.output).toContain("1 create may or may not have reached the platform");
    expect(reopened.code).toBe(1);
  });

  it("of a create that a run saved with its id: it leaves the state too, and no other resource does", async () => {
    const known = { unresolved: { ...UNRESOLVED_OUTPUT.unresolved, createdAs: "501" } };
    const { run, write, ids } = killed([], { a: "501" });
    write(
      "state.json",
      exportOf([storedEvent("a", "unresolved-a", known, { inputs: { eventName: "a", value: 2 } }), unresolved("b")]),
    );
    const refused = await run("pending", "--forget", "a", "--forget", "b");
    expect(refused.output).toContain(
      `nothing was forgotten: the outcome of "${urnOf("ConversionEvent", "b")}" is unknown; settle it`,
    );
    const { output } = await run("pending", "--forget", "a");
    expect(output).toContain("Forgotten: what an interrupted run noted about a\n");
    expect(ids()).toEqual(["unresolved-b"]);
    expect((await run("pending")).output).not.toContain(urnOf("ConversionEvent", "a"));
    expect((await run("pending", "--reopen", "a")).output).toContain("was created as 501");
  });

  it("if two machines sent it and one create has an id, `pending` asks about the other one and settles only that", async () => {
    const marked = (mark: string) => {
      const { type, resource } = creating("e");
      return { type, resource: { ...resource, inputs: { ...resource.inputs, __mark: `field ${mark}` } } };
    };
    const { run, ids } = killed([marked("elsewhere"), marked("e")], { e: "501" });
    const listed = await run("pending");
    expect(listed.output).toContain("1 create may or may not have reached the platform:");
    expect(listed.output).toContain("field = elsewhere");
    expect(listed.output).toContain("1 create of interrupted runs: e (501).");
    expect(listed.code).toBe(1);
    const refused = await run("pending", "--created", "e=501");
    expect(refused.output).toContain('501 is not the id of "e": another create of the same resource made it');
    expect(refused.code).toBe(2);
    const settled = await run("pending", "--not-created", "e");
    expect(settled.output).toContain("In the state now, by what a journal on this machine has: e (501)\n");
    expect({ code: settled.code, ids: ids() }).toEqual({ code: 0, ids: ["7", "501"] });
    expect(await run("pending")).toMatchObject({ code: 0 });
    expect((await run("pending", "--reopen", "e")).output).toContain("1 create may or may not have reached");
  });

  it("is refused as a whole if one name has no note anywhere", async () => {
    const { run, imports } = killed([creating("e")], { e: undefined });
    const { code, output } = await run("pending", "--forget", "e", "--forget", "x");
    expect(output).toContain(
      'nothing was forgotten: neither Pulumi\'s record nor a journal on this machine has a note about "x"',
    );
    expect({ code, imports: imports() }).toEqual({ code: 2, imports: 0 });
  });

  it("does not say that Pulumi still lists settled creates, because the import clears its list", async () => {
    const { run, recorded } = killed([creating("e"), creating("kept", { inputs: storedEvent("kept", 7).inputs })], {
      e: undefined,
    });
    const { code, output } = await run("pending", "--forget", "e");
    expect(output).not.toContain("Pulumi still lists");
    expect({ code, left: recorded() }).toEqual({ code: 0, left: [] });
  });
});

it("`pending` prints one command for each answer that has all URNs", async () => {
  const names = ["a", "b", "c"];
  const { run, ids } = newStack(names.map((name) => unresolved(name)));
  const { output } = await run("pending");
  const [there = "", notThere = "", ...more] = commandsIn(output);
  const urns = names.map((name) => `'${urnOf("ConversionEvent", name)}'`);
  expect(there).toBe(
    `npx pulumi-advertising pending ${urns.map((urn) => `--created ${urn.replace(/'$/, "=<its id>'")}`).join(" ")}`,
  );
  expect([notThere, more]).toEqual([
    `npx pulumi-advertising pending ${urns.map((urn) => `--not-created ${urn}`).join(" ")}`,
    [],
  ]);
  const args = [...there.matchAll(/--created '([^']+)=/g)].flatMap(([, urn], at) => ["--created", `${urn}=${at + 5}`]);
  expect((await run("pending", ...args)).code).toBe(0);
  expect(ids()).toEqual(["5", "6", "7"]);
});

it("`pending` says if only this machine's journal has a create, and how to drop it if it was settled elsewhere", async () => {
  const { run, folder } = newStack([]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const key = "ConversionEvent::organization/shop/dev::p";
  const note = { mark: "m", key, fingerprint: "f", at: "2026-03-02T10:00:00.000Z", isReported: true as const };
  const others = ["q", "r"].map((name) => ({ ...note, mark: name, key: key.replace(/p$/, name) }));
  writeFileSync(pathsIn(journals, NAME).journal, journalOf([note, ...others]), { mode: 0o600 });
  const several = await run("pending");
  expect(several.output).toContain(
    `If you settled them on another machine:\n  npx pulumi-advertising pending ${["p", "q", "r"].map((name) => `--forget '${urnOf("ConversionEvent", name)}'`).join(" ")}\n`,
  );
  writeFileSync(pathsIn(journals, NAME).journal, journalOf([note]), { mode: 0o600 });
  const listed = await run("pending");
  expect(listed.code).toBe(1);
  expect(listed.output).toContain(
    "Only the journal on this machine has p: the state does not. If you settled it on another machine:",
  );
  const [, urn = ""] = /pending --forget '([^']+)'/.exec(listed.output) ?? [];
  expect(await run("pending", "--forget", urn)).toMatchObject({ code: 0 });
  expect(await run("pending")).toMatchObject({ code: 0 });
});

it("a note is forgotten by its resource's name, unless two have that name", async () => {
  const { run, folder } = newStack([]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const notes = [
    "ConversionEvent::organization/shop/dev::p",
    "Advertiser::organization/shop/dev::t",
    "ConversionEvent::organization/shop/dev::t",
  ].map((key, at) => ({ mark: `m${at}`, key, fingerprint: "f", at: "2026-03-02T10:00:00.000Z", id: String(at) }));
  writeFileSync(pathsIn(journals, NAME).journal, journalOf(notes), { mode: 0o600 });
  expect(await run("pending", "--forget", "p")).toMatchObject({
    code: 0,
    output: expect.stringContaining("Forgotten: what an interrupted run noted about p\n"),
  });
  const refused = await run("pending", "--forget", "t");
  expect(refused).toMatchObject({
    code: 2,
    output: expect.stringContaining('"t" is the name of several: give the URN'),
  });
  expect((await run("pending")).output).toContain("t (1) and t (2)");
});

it.each([
  ["--not-created", "e", "e (5)"],
  ["--created", "e=6", "e (5) and e (6)"],
])(
  "if one of a resource's two creates has an id, `pending` asks about the other one, and %s settles only that",
  async (option, answer, left) => {
    const { run, folder } = newStack([]);
    const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
    mkdirSync(journals, { recursive: true, mode: 0o700 });
    const sent = { key: `ConversionEvent::${NAME}::e`, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
    const notes = [
      { ...sent, mark: "known", id: "5" },
      { ...sent, mark: "unknown" },
    ];
    writeFileSync(pathsIn(journals, NAME).journal, journalOf(notes), { mode: 0o600 });
    const listed = await run("pending");
    expect(listed.code).toBe(1);
    expect(listed.output).toContain("1 create may or may not have reached the platform:");
    expect(listed.output).toContain("1 create of interrupted runs: e (5).");
    expect((await run("pending", option, answer)).code).toBe(0);
    expect((await run("pending")).output).toContain(`of interrupted runs: ${left}.`);
  },
);

it("what is settled is noted in the journal by its mark: an id, or nothing", async () => {
  const folder = newFolder();
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  const account = { baseUrl: "https://here.example", email: "me@example.com" };
  const { journal } = pathsIn(placesOf(account, "", undefined, folder).journalFolder, NAME);
  mkdirSync(join(journal, ".."), { recursive: true, mode: 0o700 });
  const sent = { key: `ConversionEvent::${NAME}::e`, at: "2026-03-02T10:00:00.000Z" };
  const notes = ["one", "two", "three"].map((mark) => ({ ...sent, mark, fingerprint: mark }));
  writeFileSync(journal, journalOf(notes), { mode: 0o600 });
  const journals = new StackJournals({ cookieFile: undefined, folder }, NAME);
  await journals.whileHeld(async () =>
    journals.settle(
      new Map([
        ["one", "5"],
        ["two", undefined],
      ]),
    ),
  );
  expect(recordsIn(journal)).toMatchObject([
    { mark: "one", fingerprint: "one", id: "5" },
    { mark: "three", fingerprint: "three" },
  ]);
});

it("`pending` lists a create with a known id apart from those of unknown outcome", async () => {
  const known = { unresolved: { ...UNRESOLVED_OUTPUT.unresolved, createdAs: "7" } };
  const { run } = newStack([
    storedEvent("a", "unresolved-m", known, { inputs: { eventName: "a", value: 2 } }),
    unresolved("b"),
  ]);
  const listed = await run("pending");
  expect(listed.code).toBe(1);
  expect(listed.output).toContain("1 create may or may not have reached the platform:");
  expect(listed.output).toContain("1 create reached the platform, and your answer is missing:");
  expect(listed.output).toContain("was created as 7: the ConversionEvent");
  expect((await run("pending", "--not-created", "b")).output).toContain(
    `pending --created '${urnOf("ConversionEvent", "a")}=7'`,
  );
});

it("`pending` asks about a create of an interrupted run also if another one of the resource has an id", async () => {
  const known = { unresolved: { ...UNRESOLVED_OUTPUT.unresolved, createdAs: "7" } };
  const saved = storedEvent("a", "unresolved-m", known, { inputs: { eventName: "a", value: 2 } });
  const { run, write, ids } = newStack([saved]);
  const stack = JSON.parse(exportOf([saved]));
  stack.deployment.pending_operations = [
    creating("a", { inputs: { eventName: "a", advertiserId: 1, value: 1, __mark: "field two" } }),
  ];
  write("state.json", JSON.stringify(stack));
  const { code, output } = await run("pending");
  expect(code).toBe(1);
  expect(output).toContain("1 create may or may not have reached the platform:");
  expect(output).toContain("was created as 7: the ConversionEvent");
  expect(output).toMatch(/another run sent it too, .* look in the account for the ConversionEvent .*, field = two/);
  expect((await run("pending", "--created", "a=7")).code).toBe(0);
  expect(ids()).toEqual(["7"]);
});

it.each([false, true])(
  "of a stack that was renamed, the only create is settled as not created and reopened; relocated meanwhile: %s",
  async (isRelocated) => {
    const identity = "organization/shop/old::x";
    const there = { ...UNRESOLVED_OUTPUT, __at: "there.example me@example.com" };
    const only = storedEvent("x", "unresolved-x", there, {
      inputs: { eventName: "x", advertiserId: 1, value: 1, __identity: identity },
    });
    const { run, write, folder, ids } = newStack([only]);
    const config = readFileSync(join(folder, "config.json"), "utf8");
    const journalAt = (host: string) => {
      vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
      const account = { baseUrl: `https://${host}.example`, email: "me@example.com" };
      return pathsIn(placesOf(account, "", undefined, folder).journalFolder, "organization/shop/old").journal;
    };
    mkdirSync(join(journalAt("there"), ".."), { recursive: true, mode: 0o700 });
    const note = { mark: "x", key: `ConversionEvent::${identity}`, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
    writeFileSync(journalAt("there"), journalOf([{ ...note, isReported: true }]), { mode: 0o600 });
    write("config.json", config.replace("https://here.", "https://there."));
    expect((await run("pending", "--not-created", "x")).code).toBe(0);
    expect([ids(), existsSync(journalAt("there"))]).toEqual([[], false]);
    if (isRelocated) {
      write("config.json", config);
      expect((await run("relocate", "there.example me@example.com")).code).toBe(0);
    }
    const reopened = await run("pending", "--reopen", "x");
    expect(reopened.output).toContain("Reopened, as if it had not been answered");
    expect({ code: reopened.code, ids: ids() }, reopened.output).toEqual({ code: 1, ids: ["unresolved-x"] });
    expect(recordsIn(journalAt(isRelocated ? "here" : "there"))).toHaveLength(1);
  },
);

it("--reopen changes nothing if a journal that its answer is about can't be written", async () => {
  const { run, folder, imports, ids } = newStack([unresolved("a")]);
  expect((await run("pending", "--created", "a=5")).code).toBe(0);
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  const account = { baseUrl: "https://here.example", email: "me@example.com" };
  const { settlements } = pathsIn(placesOf(account, "", undefined, folder).journalFolder, NAME);
  const answered = readFileSync(settlements, "utf8");
  const elsewhere = JSON.stringify({ [join(folder, "config.json", "gone.jsonl")]: journalOf([]) });
  writeFileSync(settlements, answered.replace(/"notes":\{\}/, `"notes":${elsewhere}`));
  const { code, output } = await run("pending", "--reopen", "a");
  expect(output).toContain("gone.jsonl can't be written, and nothing was changed");
  expect({ code, imports: imports(), ids: ids() }).toEqual({ code: 2, imports: 1, ids: ["5"] });
  writeFileSync(settlements, answered);
  expect((await run("pending", "--reopen", "a")).code).toBe(1);
  expect(ids()).toEqual(["unresolved-a"]);
});

it("--reopen is refused while its import would drop what Pulumi lists of a later run", async () => {
  const { run, folder, write, ids, imports } = newStack([unresolved("a")]);
  expect((await run("pending", "--created", "a=5")).code).toBe(0);
  const state = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
  const { id: _, outputs: __, ...resource } = storedEvent("sent", 0, {}, { inputs: { eventName: "sent", value: 1 } });
  state.deployment.pending_operations = [{ type: "creating", resource }];
  write("state.json", JSON.stringify(state));
  const refused = await run("pending", "--reopen", "a");
  expect(refused.output).toContain("Pulumi still lists unfinished operations of an interrupted run");
  expect(refused.code).toBe(2);
  expect(imports()).toBe(1);
  await run("pending", "--not-created", "sent");
  // What a killed delete was about, the state has.
  const later = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
  const [held] = later.deployment.resources;
  later.deployment.pending_operations = [{ type: "deleting", resource: held }];
  write("state.json", JSON.stringify(later));
  expect((await run("pending", "--reopen", "a")).output).toContain("Reopened");
  expect(ids()).toEqual(["unresolved-a"]);
});

it("listing and settling use the journals under both names of a stack that was renamed after a run", async () => {
  const former = "organization/shop/old";
  const { run, folder } = newStack([storedEvent("held", 7, {}, { inputs: { __identity: `${former}::held` } })]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const names = { before: former, since: NAME };
  for (const [name, stack] of Object.entries(names)) {
    const key = `ConversionEvent::${stack}::${name}`;
    const note = { mark: name, key, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
    writeFileSync(pathsIn(journals, stack).journal, journalOf([note]), { mode: 0o600 });
  }
  for (const options of [[], ["--state", "state.json"]]) {
    const { code, output } = await run("pending", ...options);
    for (const name of Object.keys(names)) expect(output).toContain(`::${name}\n`);
    expect(code).toBe(1);
  }
  const forgotten = await run("pending", ...Object.keys(names).flatMap((name) => ["--forget", name]));
  expect(forgotten, forgotten.output).toMatchObject({ code: 0 });
  expect(await run("pending")).toMatchObject({ code: 0 });
});

it("what a journal of the stack's former name has, and the state has under the new one, is not said to be taken over", async () => {
  const former = "organization/shop/old";
  const { run, folder } = newStack([storedEvent("held", 7, {}, { inputs: { __identity: `${former}::held` } })]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  const noteOf = (name: string, id: string) => {
    return {
      mark: name,
      key: `ConversionEvent::${former}::${name}`,
      fingerprint: "f",
      at: "2026-03-02T10:00:00.000Z",
      id,
    };
  };
  const { journal } = pathsIn(journals, former);
  writeFileSync(journal, journalOf([noteOf("held", "7"), noteOf("lost", "8")]), { mode: 0o600 });
  const { code, output } = await run("pending");
  expect(output).toMatch(
    /^1 create reached the platform, and your answer is missing:\n.*::lost\n {4}was created as 8: /,
  );
  expect(code).toBe(1);
});

it("a relative cookieFile starts at the program's folder, wherever the command is called", async () => {
  const { run, folder, write } = newStack([]);
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  write(
    "config.json",
    JSON.stringify({ ...config, "advertising:cookieFile": { value: "session.json", secret: false } }),
  );
  write("Pulumi.yaml", "name: shop\nruntime: nodejs\nmain: src/index.js\n");
  const account = { baseUrl: "https://here.example", email: "me@example.com" };
  const { journal } = pathsIn(placesOf(account, "", "session.json", join(folder, "src")).journalFolder, NAME);
  mkdirSync(join(journal, ".."), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, "docs"));
  const note = { mark: "m", key: `ConversionEvent::${NAME}::x`, fingerprint: "f", at: "2026-03-02T10:00:00.000Z" };
  writeFileSync(journal, journalOf([note]), { mode: 0o600 });
  for (const options of [[], ["--cwd", "docs"]]) {
    const { code, output } = await run("pending", ...options);
    expect(output).toContain("::x\n");
    expect(code).toBe(1);
  }
  expect((await run("pending", "--not-created", "x", "--cwd", "docs")).code).toBe(0);
  expect(existsSync(journal)).toBe(false);
});

it("a journal that can't be read is reported, and nothing is changed", async () => {
  const { run, folder, imports } = newStack([unresolved("a")]);
  const journals = join(folder, "cache/pulumi-advertising", `journal-${"0".repeat(16)}`);
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  writeFileSync(pathsIn(journals, NAME).journal, "no journal\n", { mode: 0o600 });
  for (const args of [[], ["--created", "a=5"]]) {
    const { code, output } = await run("pending", ...args);
    expect(output).toMatch(/the journal .*\.jsonl can't be read/);
    expect(code).toBe(2);
  }
  expect(imports()).toBe(0);
});
