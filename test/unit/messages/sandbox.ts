/** The sandbox: its command, and its commands from another terminal. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import {
  answerCommand,
  runCommand,
  sendCommand,
} from "../../../provider/src/sandbox/commands.js";
import { type Sandbox, startSandbox } from "../../../provider/src/sandbox/index.js";
import { type Examples, rejectionOf } from "./examples.js";
import { ADVERTISER } from "./real-runs.js";

const repository = resolve(import.meta.dirname, "../../..");
const COMMAND = join(repository, "node_modules/pulumi-advertising/dist/sandbox/command.js");

/** @returns what it prints once it listens. */
async function startedIn(cwd: string) {
  const child = spawn(process.execPath, [COMMAND], { cwd });
  const ended = once(child, "close");
  child.stdout.once("data", () => child.kill());
  const output = await text(child.stdout);
  await ended;
  return output.trimEnd().replace(/node .*command\.js'?/, "node /shop/command.js");
}

/** What the command prints that ends by itself. */
function printed(...args: string[]): Promise<string> {
  return new Promise((resolved) => {
    execFile(process.execPath, [COMMAND, ...args], (_error, stdout, stderr) =>
      resolved((stdout + stderr).trimEnd()),
    );
  });
}

/** What a sandbox answers to these commands, after each of them. */
async function after(...commands: string[]): Promise<string> {
  const objects = {
    advertisers: [ADVERTISER],
    events: [{ id: 3, event_name: "Purchase", advertiser_id: 1, value: 25 }],
  };
  const sandbox: Sandbox = await startSandbox({ objects });
  const answered = (command: string) => {
    try {
      return runCommand(sandbox, command.split(" "));
    } catch (error) {
      return (error as Error).message;
    }
  };
  const lines = commands.map((command) => `$ ${command}\n${answered(command)}`);
  await sandbox.close();
  return lines.join("\n");
}

export const sandbox: Examples = {
  "advertising-sandbox --help": () => printed("--help"),
  "advertising-sandbox list, without a port": () => printed("list"),
  "an account without a password": () => printed("--account", "b@example.com"),
  "a port that is taken": async () => {
    const sandbox = await startSandbox();
    const output = await printed("--port", String(sandbox.port));
    await sandbox.close();
    return output;
  },
  "advertising-sandbox": () => startedIn(repository),
  "advertising-sandbox, in a folder without the package": () => startedIn(tmpdir()),
  "its commands": () =>
    after(
      ...["list", "edit event 3 value=30", "delete event 3", "delete advertiser 1", "list"],
      ...[
        "fail event:close-after-act:1",
        "fail event:status-503 any:close:2 read:no-answer",
      ],
      ...["fail authenticate:reset:always", "fail none", "expire"],
    ),
  "commands that are refused": () =>
    after("fail event:slow", "lsit", "edit event 4 value=1", "edit event 3 value=much"),
  "a command without a sandbox": async () => {
    const sandbox = await startSandbox();
    const { port } = sandbox;
    await sandbox.close();
    return rejectionOf(sendCommand(port, ["list"]));
  },
  "a command from a web page": async () => {
    const sandbox: Sandbox = await startSandbox({
      answer: (answer, request) => answerCommand(sandbox, request) ?? answer,
    });
    const headers = { origin: "https://example.com" };
    const init = { method: "POST", headers, body: JSON.stringify(["expire"]) };
    const response = await fetch(`${sandbox.url}/sandbox`, init);
    const body = await response.text();
    await sandbox.close();
    return body;
  },
  "a response that fails on command": async () => {
    const sandbox = await startSandbox();
    runCommand(sandbox, ["fail", "event:status-503"]);
    const response = await fetch(`${sandbox.url}/rest/event`, { method: "POST" });
    const body = await response.text();
    await sandbox.close();
    return body;
  },
};
