/** A killed run, and one thing else before the next `up`: nothing is made twice, and whatever is live is in the state or named. */
import { cpSync, mkdtempSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { struck, upAndKill, upAndSignal } from "../support/killing.js";
import { commandsIn } from "../support/printed-commands.js";
import { pendingCommand } from "../support/recovery.js";
import { type Shared, useSharedStack } from "../support/shared-stack.js";
import { newStack, program, type RunResult, useSandbox } from "../support/stack.js";

const shop = (...events: string[]) =>
  program(`
const advertiserId = new advertising.Advertiser("a", { advertiserName: "A" });
const event = (name, dependsOn, args) =>
  new advertising.ConversionEvent(name, { eventName: name.toUpperCase(), advertiserId, value: 1, ...args }, { dependsOn });
const ${events.join("\nconst ")}`);
const [E0, E1, E2] = [`e0 = event("e0", []);`, `e1 = event("e1", e0);`, `e2 = event("e2", e1);`];
const SET = `s = new advertising.ConversionEventSet("s", { advertiserId, events: { e1: { eventName: "E1", value: 1 } } });`;
const ALL = shop(E0, E1, E2);

/** Afterwards `a` is 1 and `e0` is 2; `e1` is 3, and no answer has said so; `e2` was not sent. */
async function kill({ sandbox, stack }: Shared): Promise<void> {
  stack.setEnvironment({ ADVERTISING_BASE_URL: sandbox.url.replace("127.0.0.1", "localhost") });
  const lost = sandbox.fail({ on: "event", act: true, after: 1, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  expect(sandbox.creates).toBe(3);
}

async function well(run: Promise<RunResult>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).toBe(0);
  return output;
}

/** What is live, and neither in the state nor named with its id or as a create of unknown outcome. */
async function unnamed({ sandbox, stack }: Shared, said: string): Promise<unknown[]> {
  const { deployment } = JSON.parse(await well(stack.run(["stack", "export"])));
  const saved = (deployment.resources ?? []).map(({ id }: { id?: string }) => id);
  const naming = (id: number, name: unknown) =>
    new RegExp(`named "${name}"|created it as ${id}\\.|\\w \\(${id}\\)|\\b${name} \\(outcome unknown\\)`, "i");
  const live = [...sandbox.advertisers, ...sandbox.events].filter(({ id }) => !saved.includes(String(id)));
  return live.filter(({ id, event_name }) => !naming(id, event_name).test(said));
}

type Change = (shared: Shared) => unknown;
/** What preview, up and pending say; and what was created, as is asked for: then an `up` of the program as it was ends well. */
type Expected = { readonly says: string[]; readonly codes: number[]; readonly answers?: string[] };
async function expectAll(shared: Shared, change: Change, { says, codes, answers }: Expected): Promise<void> {
  const { stack, sandbox } = shared;
  const before = sandbox.creates;
  stack.programFolder = join(stack.folder, "program");
  await change(shared);
  const runs = [await stack.preview(), await stack.up(), await pendingCommand(stack)];
  for (const [index, { code, output }] of runs.entries()) {
    expect(output).toContain(says[index]);
    expect(code).toBe(codes[index]);
    expect(commandsIn(output).join(), "commands that are alone on their lines").not.toMatch(/\[ADV|docs\//);
  }
  expect(await unnamed(shared, runs.map(({ output }) => output).join("\n"))).toEqual([]);
  expect(sandbox.creates, "creates after the change").toBe(before);
  if (answers === undefined) return;
  await well(pendingCommand(stack, ...answers.flatMap((each) => ["--created", each])));
  stack.program(ALL);
  await well(stack.up());
  expect(await unnamed(shared, "")).toEqual([]);
  expect(sandbox.creates, "e2, which was not sent").toBe(before + 1);
}

const TAKES = 'ConversionEvent "e0": an interrupted run created it as 2. `pulumi up` takes it over';
const LOOK = 'Look in the account for the ConversionEvent named "E1" (advertiserId 1, value 1), sent at 20';
const LISTS = '  e1: look in the account for the ConversionEvent named "E1"';
const NOTHING_NEW = "Nothing new is created: the program does not declare 1 create of interrupted runs";
const FORMER = "That was in the stack organization/tiny/dev";
const OPEN_THERE = "Open in the stack organization/tiny/dev: a (1), e0 (2) and e1 (outcome unknown)";
const OTHER = "[ADVERTISING_ACCOUNT_MISMATCH]";
const goesOn: Expected = { says: [TAKES, LOOK, LISTS], codes: [0, 1, 1] };
const keeps: Expected = { ...goesOn, says: [TAKES, "as 2 by an earlier run, with arguments that differ", LISTS] };
const stops: Expected = { says: [NOTHING_NEW, NOTHING_NEW, LISTS], codes: [1, 1, 1], answers: ["e1=3"] };
const asks: Expected = { says: [FORMER, FORMER, OPEN_THERE], codes: [1, 1, 0], answers: ["a=1", "e0=2", "e1=3"] };

function setting(name: string, of: (sandbox: Shared["sandbox"]) => string): Change {
  return ({ stack, sandbox }) => stack.setEnvironment({ [`ADVERTISING_${name}`]: of(sandbox) });
}
const at = (host: string, end = "") => setting("BASE_URL", ({ url }) => url.replace("127.0.0.1", host) + end);
function declaring(...events: string[]): Change {
  return ({ stack }) => stack.program(shop(...events));
}
function running(...args: string[]): Change {
  return ({ stack }) => well(stack.run(args));
}
const checkout: Change = async ({ stack }) => {
  const folder = mkdtempSync(join(dirname(stack.programFolder), "checkout-"));
  cpSync(stack.programFolder, folder, { recursive: true });
  stack.programFolder = folder;
  await stack.select();
};

describe("killed with nothing in the state, then", () => {
  const environment = { PULUMI_SKIP_CHECKPOINTS: "true" };
  const killed = useSharedStack(ALL, kill, { environment });
  it.each<[string, Change, Expected]>([
    ["a slash at the address's end", at("localhost", "/"), goesOn],
    ["capitals in the host", at("LocalHost"), goesOn],
    ["the e-mail in capitals", setting("EMAIL", ({ email }) => email.toUpperCase()), goesOn],
    ["another e-mail", setting("EMAIL", () => "me@x.example"), { says: [OTHER, OTHER, LISTS], codes: [1, 1, 1] }],
    ["another checkout", checkout, goesOn],
    ["another value of e0", declaring('e0 = event("e0", [], { value: 2 });', E1, E2), keeps],
    ["another value of e1", declaring(E0, 'e1 = event("e1", e0, { value: 2 });'), goesOn],
    ["e1 renamed without an alias", declaring(E0, 'lead = event("lead", e0, { eventName: "E1" });'), stops],
    ["e1 moved into a set", declaring(E0, SET), stops],
    ["stack rename", running("stack", "rename", "prod"), asks],
  ])("%s", (_, change, expected) => expectAll(killed(), change, expected));
  it("another cookie file", async () => {
    const sandbox = await useSandbox();
    const stack = await newStack(ALL, { sandbox, environment });
    await kill({ sandbox, stack });
    const change = setting("COOKIE_FILE", () => "other.json");
    await expectAll({ sandbox, stack }, change, goesOn);
  });
});

describe("killed with the state saved after each step, then", () => {
  const killed = useSharedStack(ALL, async (shared) => {
    shared.stack.write("older.json", await shared.stack.exported());
    await kill(shared);
  });
  it.each<[string, Change]>([
    ["destroy", running("destroy", "--yes", "--skip-preview")],
    ["an older state imported", running("stack", "import", "--file", "older.json")],
  ])("%s", (_, change) => expectAll(killed(), change, { ...goesOn, answers: ["e1=3"] }));
});

it("`pulumi cancel` beside a live run: the next one takes over what that makes", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(ALL, { sandbox });
  const answer = { kind: "answer", status: 429, headers: { "retry-after": "1" } } as const;
  const limited = sandbox.fail({ on: "event", after: 1, times: 1000, with: answer });
  const first = upAndSignal(stack, [], "process");
  await Promise.race([struck(limited), first.then(({ output }) => expect.fail(output))]);
  await well(stack.run(["cancel", "--yes"]));
  expect(await well(stack.preview())).toContain("its outcome is unknown. `pulumi up` does not send it");
  expect(await pendingCommand(stack)).toMatchObject({ code: 1, output: expect.stringContaining(LISTS) });
  const second = stack.up();
  limited.cancel();
  await well(first);
  expect(await well(second)).toMatch(/"e2" was created as 4 by an earlier run|5 unchanged/);
  expect(await unnamed({ sandbox, stack }, "")).toEqual([]);
  expect(sandbox.creates - limited.hits).toBe(4);
});
