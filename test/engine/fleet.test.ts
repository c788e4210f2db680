/** examples/fleet: real stacks from one data file, in one run; and as its files are, as the jobs of examples/ci/fleet.yml. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { newFolder } from "../support/folder.js";
import { runProcess, TestStack, UNCHECKED, useSandbox } from "../support/stack.js";

const example = resolve(import.meta.dirname, "../../examples/fleet");
/** Of the file's twelve, in the run of all. */
const CHOSEN = ["at", "be", "cz", "fr"];
const STACKS = CHOSEN.length;
/** One advertiser and two events. */
const OBJECTS = 3;

/** Not what developers' own runs leave there. */
const isOwn = (path: string) => !/^(Pulumi\..+\.yaml|node_modules|logs)$/.test(basename(path));

it("preview, Ctrl-C, apply with one failing stack, apply that one again, wrong password", {
  timeout: 900_000,
}, async () => {
  const sandbox = await useSandbox();
  const stack = new TestStack("", { file: "index.ts", sandbox, environment: UNCHECKED });
  onTestFinished(() => stack.remove());
  const { programFolder: folder, environment } = stack;
  cpSync(example, folder, {
    recursive: true,
    filter: (path) => !/^(Pulumi\..+\.yaml|node_modules|logs)$/.test(basename(path)),
  });
  const data = join(folder, "fleet.json");
  const declared = JSON.parse(readFileSync(data, "utf8")) as { stacks: Record<string, object> };
  const stacks = Object.fromEntries(CHOSEN.map((name) => [name, declared.stacks[name]]));
  const whole = JSON.stringify({ ...declared, stacks });
  writeFileSync(data, whole);
  const fleet = (args: readonly string[], more: Record<string, string> = {}) =>
    runProcess("node", ["fleet.mts", ...args], folder, { ...environment, ...more });

  /** Ctrl-C reaches it and all that it has started, as soon as something was sent. */
  async function untilCtrlC(args: readonly string[]) {
    const child = spawn("node", ["fleet.mts", ...args], { cwd: folder, env: environment, detached: true });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const ended = new Promise<number | null>((done) => child.once("close", done));
    while (sandbox.creates === 0 && child.exitCode === null) await sleep(10);
    if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
    return { code: await ended, output };
  }

  const preview = await fleet(["--preview", "--only", "be"], { ADVERTISING_PASSWORD: "" });
  expect(preview.output).toMatch(/Of 1: 1 done, 0 failed, 0 not begun\.\n$/);
  expect(preview.output).toMatch(/^ {2}1\/1 {2}be {2}done +[\d.]+ s {2}4 create$/m);
  expect(preview.code).toBe(0);
  expect(sandbox.requests).toEqual([]);

  const interrupted = await untilCtrlC(["--parallel", "1", "--only", "at,be"]);
  expect(interrupted.output).toMatch(/^be {2}not begun$/m);
  expect(interrupted.output).toMatch(/^at {2}(done|stopped) /m);
  expect(interrupted.code).toBe(1);
  expect(sandbox.advertisers.length + sandbox.events.length, "what was sent is finished").toBe(sandbox.creates);

  writeFileSync(data, whole.replace("Acme France", " "));
  expect(sandbox.logins).toBe(1);
  const most = await fleet(["--parallel", "3"]);
  expect(most.output).toContain(`Logged in as ${sandbox.email}`);
  expect(most.output).toMatch(/^fr {2}failed +[\d.]+ s {2}.*advertiserName/m);
  expect(most.output).toContain(`Of ${STACKS}: ${STACKS - 1} done, 1 failed, 0 not begun.`);
  expect(most.output.match(/^ *\d+\/4 /gm)).toHaveLength(STACKS);
  expect(most.code).toBe(1);
  expect(sandbox).toMatchObject({ logins: 2, creates: (STACKS - 1) * OBJECTS });
  expect(readFileSync(join(folder, "logs", "fr.log"), "utf8")).toContain("[ADVERTISING_ARGUMENTS]");
  expect(readFileSync(join(folder, "logs", "cz.log"), "utf8")).toContain("4 created");

  writeFileSync(data, whole);
  const rest = await fleet(["--only", "fr"]);
  expect(rest.output).toMatch(/^fr {2}done +[\d.]+ s {2}.*\d create/m);
  expect(rest.code).toBe(0);
  expect(sandbox).toMatchObject({ logins: 3, creates: STACKS * OBJECTS });
  const events = sandbox.events.map(({ advertiser_id, event_name, value }) => [advertiser_id, event_name, value]);
  expect(new Set(events.map(String)).size).toBe(STACKS * (OBJECTS - 1));
  const valueIn = (name: string) => {
    const advertiser = sandbox.advertisers.find(({ advertiser_name }) => advertiser_name === name);
    return events.find(([id, event]) => id === advertiser?.id && event === "Purchase")?.[2];
  };
  expect([valueIn("Acme Czechia"), valueIn("Acme France")]).toEqual([270, 25]);

  const refused = await fleet([], { ADVERTISING_PASSWORD: "not-this-one" });
  expect(refused.output).toMatch(/\[ADVERTISING_LOGIN\]\n$/);
  expect(refused.output).not.toMatch(/^ *\d+\/4 /m);
  expect(refused.code).toBe(1);
  expect(sandbox).toMatchObject({ logins: 4, creates: STACKS * OBJECTS });
});

it("what is typed wrongly stops before anything runs", async () => {
  const stack = new TestStack("", {});
  onTestFinished(() => stack.remove());
  const { folder, environment } = stack;
  for (const [args, said] of [
    [["--only", "de, atlantis,"], 'fleet.json has no stack atlantis, ""; it has at, be, '],
    [["--parallel", "0"], "--parallel takes a whole number from 1 up"],
    [["--preveiw"], "--preveiw"],
  ] as const) {
    const { code, output } = await runProcess("node", [join(example, "fleet.mts"), ...args], folder, environment);
    expect(output).toContain(said);
    expect(output).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
  }
});

interface Workflow {
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<"login" | "up", { readonly steps: readonly { readonly run?: string; readonly with?: object }[] }>
  >;
}

const missing = ["openssl", "jq"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);

describe.skipIf(missing.length > 0)(
  `examples/ci/fleet.yml${missing.map((tool) => `, without ${tool}`).join("")}`,
  () => {
    it("its steps, with a machine for each job: one login for all", async () => {
      const sandbox = await useSandbox();
      const workflow = parse(readFileSync(resolve(example, "../ci/fleet.yml"), "utf8")) as Workflow;
      const backend = newFolder();
      const tools = {
        "pulumi-advertising": resolve("node_modules/.bin/pulumi-advertising"),
        pulumi: execFileSync("which", ["pulumi"], { encoding: "utf8" }).trim(),
      };

      /** A fresh runner, which has what the actions bring. */
      async function run(job: "login" | "up", carried: string | undefined, more: Record<string, string> = {}) {
        const machine = new TestStack("", { file: "index.ts", sandbox, environment: UNCHECKED });
        onTestFinished(() => machine.remove());
        const folder = machine.programFolder;
        cpSync(example, folder, { recursive: true, filter: isOwn });
        mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
        // npx looks here first, and for `pulumi` as well.
        for (const [name, file] of Object.entries(tools)) symlinkSync(file, join(folder, "node_modules", ".bin", name));
        if (carried !== undefined) copyFileSync(carried, join(folder, "session.enc"));
        const environment = {
          ...machine.environment,
          ADVERTISING_COOKIE_FILE: workflow.env.ADVERTISING_COOKIE_FILE ?? "",
          PULUMI_BACKEND_URL: `file://${backend}?metadata=skip`,
          SESSION_KEY: "a key of a test",
          GITHUB_OUTPUT: join(folder, "output"),
          GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
          ...more,
        };
        for (const { run: script } of workflow.jobs[job].steps) {
          if (script === undefined || script === "npm ci") continue;
          const { code, output } = await runProcess(
            "bash",
            ["-e", "-o", "pipefail", "-c", script],
            folder,
            environment,
          );
          if (code !== 0) throw new Error(`${script}: ${output}`);
        }
        return folder;
      }

      const login = await run("login", undefined);
      const encrypted = join(login, "session.enc");
      expect(readFileSync(encrypted, "latin1")).not.toContain("service_cookie");
      const names = JSON.parse(readFileSync(join(login, "output"), "utf8").replace(/^names=/, "")) as string[];
      expect(names).toHaveLength(12);
      for (const STACK of ["at", "be"]) {
        const folder = await run("up", encrypted, { STACK });
        const summary = readFileSync(join(folder, "summary.md"), "utf8");
        expect(summary).toMatch(
          new RegExp(`^### ${STACK}: left live\n\`\`\`\nNothing that is live on the platform has left the state`, "m"),
        );
      }
      expect(sandbox).toMatchObject({ logins: 1, creates: 2 * OBJECTS });
    });
  },
);
