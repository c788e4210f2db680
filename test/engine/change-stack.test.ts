/**
 * R3 with Pulumi's own CLI: a command that changes a stack beside another one, beside a run of another machine, and killed between its steps.
 * `test/unit/change-stack.test.ts` has the finer moments, with a stand-in for the CLI.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { pathsIn, placesOf } from "../../provider/src/store/places.js";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { eventsProgram, newStack, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

afterEach(() => {
  vi.unstubAllEnvs();
});

const idsIn = async (stack: TestStack) => (await stack.resources()).map(({ id }) => id).sort();

/** Has a shell script take the place of Pulumi's CLI, which is at `$pulumi`. @returns what undoes it. */
function wrapPulumi(stack: TestStack, script: string): () => void {
  const path = stack.environment.PATH ?? "";
  const places = path.split(delimiter).map((folder) => join(folder, "pulumi"));
  const folder = join(stack.folder, "bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\npulumi="${places.find(existsSync)}"\n${script}\n`, { mode: 0o755 });
  stack.setEnvironment({ PATH: [folder, path].join(delimiter) });
  return () => stack.setEnvironment({ PATH: path });
}

it("two answers at the same moment: both are kept, or one is refused and nothing of it done", async () => {
  const sandbox = await useSandbox();
  const lost = () => sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  lost();
  lost();
  const stack = await newStack(eventsProgram(2), { sandbox });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  const answers = sandbox.events.map(({ event_name, id }) => `${String(event_name).toLowerCase()}=${id}`);
  const answered = await Promise.all(answers.map((answer) => pendingCommand(stack, "--created", answer)));
  const kept = answered.filter(({ code }) => code !== 2);
  expect(kept.length, JSON.stringify(answered)).toBeGreaterThan(0);
  for (const { output } of kept) expect(output).toContain("Settled as created");
  const isOpen = (await idsIn(stack)).filter((id) => id?.startsWith("unresolved-"));
  expect(isOpen).toHaveLength(answers.length - kept.length);
  for (const [index, { code, output }] of answered.entries()) {
    if (code !== 2) continue;
    expect(output).toContain("nothing was changed");
    expect((await pendingCommand(stack, "--created", answers[index] ?? "")).output).toContain("Settled as created");
  }
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(await idsIn(stack)).toEqual(["1", "2", "3"]);
  expect(sandbox.eventPosts).toBe(2);
});

it("an answer that is given on another machine right before this one's import is kept: this one is refused", async () => {
  const sandbox = await useSandbox();
  for (const _ of [1, 2]) sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const stack = await newStack(eventsProgram(2), { sandbox });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  const other = await stack.onAnotherMachine();
  const [here, there] = ["E0", "E1"].map((name) => {
    const { id } = sandbox.events.find(({ event_name }) => event_name === name) ?? {};
    return `${name.toLowerCase()}=${id}`;
  });
  const files = ["waits", "goes"].map((name) => join(stack.folder, name));
  const [waits = "", goes = ""] = files;
  const script = `[ "$1 $2 $3" = "stack tag get" ] && { touch "${waits}"; until [ -f "${goes}" ]; do sleep 0.1; done; }`;
  const unwrap = wrapPulumi(stack, `${script}\nexec "$pulumi" "$@"`);
  const answering = pendingCommand(stack, "--created", here ?? "");
  await vi.waitUntil(() => existsSync(waits), { timeout: 60_000 });
  expect((await pendingCommand(other, "--created", there ?? "")).output).toContain("Settled as created");
  writeFileSync(goes, "");
  const refused = await answering;
  expect(refused.output).toContain("another `pulumi-advertising` command is changing this stack");
  expect(refused.code).toBe(2);
  unwrap();
  expect((await pendingCommand(stack, "--created", here ?? "")).code).toBe(0);
  for (const machine of [stack, other]) expect((await machine.up()).output).toContain("4 unchanged");
  expect(await idsIn(stack)).toEqual(["1", "2", "3"]);
  expect(sandbox.eventPosts).toBe(2);
});

it("an `up` of another machine that begins and ends while `pending --search` looks is not overwritten", async () => {
  const sandbox = await useSandbox({ operations: true });
  const environment = {
    ADVERTISING_MARK_FIELD: "alternative_id",
    ADVERTISING_OPERATIONS: JSON.stringify({ event: { search: "GET rest/event?alternative_id={mark}" } }),
  };
  const stack = await newStack(eventsProgram(1), { sandbox, environment });
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  stack.program(eventsProgram(2));
  const other = await stack.onAnotherMachine();

  const answer = sandbox.fail({ on: "search", act: true, with: { kind: "slow-body", msPerByte: 1 } });
  const searching = spawn("node", [command, "pending", "--search"], {
    cwd: stack.programFolder,
    env: stack.environment,
    stdio: "ignore",
  });
  const ended = once(searching, "exit");
  await struck(answer);
  searching.kill("SIGSTOP");
  const e1 = "urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::e1";
  const overtaking = await other.up("--target", e1);
  expect(overtaking.code, overtaking.output).toBe(0);
  searching.kill("SIGCONT");
  expect(await ended).toEqual([0, null]);

  expect(await idsIn(stack)).toEqual(["1", "2", "3"]);
  for (const machine of [stack, other]) expect((await machine.up()).output).toContain("4 unchanged");
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
});

it("`relocate` that is killed right after its import has moved the journal with the state, and can be called again", async () => {
  const old = await useSandbox();
  old.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const stack = await newStack(eventsProgram(1), { sandbox: old });
  expect((await stack.up()).code).not.toBe(0);
  const moved = await useSandbox({ objects: old.snapshot() });
  const unwrap = wrapPulumi(
    stack,
    '"$pulumi" "$@"; code=$?; [ "$1 $2" = "stack import" ] && kill -9 $PPID; exit $code',
  );
  stack.setEnvironment({ ADVERTISING_BASE_URL: moved.url });
  const relocate = () => {
    const from = `${old.url.replace("http://", "")} ops@example.com`;
    return runProcess("node", [command, "relocate", from], stack.programFolder, stack.environment);
  };
  expect((await relocate()).code).toBe(null);
  unwrap();
  const again = await relocate();
  expect(again.output).toContain(`its resources were created at '${moved.url.replace("http://", "")} ops@example.com'`);

  vi.stubEnv("XDG_CACHE_HOME", stack.cache);
  const hasJournal = ({ url }: { readonly url: string }) => {
    const { journalFolder } = placesOf({ baseUrl: url, email: "ops@example.com" }, "", undefined, stack.folder);
    return existsSync(pathsIn(journalFolder, "organization/tiny/dev").journal);
  };
  expect([old, moved].map(hasJournal)).toEqual([false, true]);
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).toContain("Its outcome is unknown, so it is not sent again");
  expect((await pendingCommand(stack, "--created", `e0=${moved.events[0]?.id}`)).code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect([old.eventPosts, moved.creates]).toEqual([1, 0]);
});

it("`pending --created` that is killed right before or right after its import is finished when it is called again", async () => {
  const sandbox = await useSandbox();
  for (const _ of [1, 2]) sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const stack = await newStack(eventsProgram(2), { sandbox });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  const answers = sandbox.events.flatMap(({ event_name, id }) => [
    "--created",
    `${String(event_name).toLowerCase()}=${id}`,
  ]);
  const kill = (when: string) =>
    `[ "$1 $2" = "stack import" ] && { ${when} kill -9 $PPID; exit 1; }\nexec "$pulumi" "$@"`;
  for (const [when, isDone] of [
    ["", false],
    ['"$pulumi" "$@";', true],
  ] as const) {
    const unwrap = wrapPulumi(stack, kill(when));
    expect((await pendingCommand(stack, ...answers)).code).toBe(null);
    unwrap();
    expect((await idsIn(stack)).filter((id) => id?.startsWith("unresolved-"))).toHaveLength(isDone ? 0 : 2);
  }
  expect((await pendingCommand(stack, ...answers)).output).toContain("was answered already");
  expect((await pendingCommand(stack)).output).toContain("Nothing is pending");
  for (const machine of [stack, await stack.onAnotherMachine()])
    expect((await machine.up()).output).toContain("4 unchanged");
  expect(await idsIn(stack)).toEqual(["1", "2", "3"]);
  expect(sandbox.eventPosts).toBe(2);
});
