/** The lock between processes that crash while they hold it: never two holders, and a dead one keeps no other out. */
import { fork } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { newFolder } from "../support/folder.js";
import { seededRandom } from "../support/random.js";

const script = resolve(import.meta.dirname, "lock-process.mjs");
const PROCESSES = 8;
const TURNS = 20;

interface Life {
  readonly lock: string;
  readonly log: string;
  readonly turns: number;
  readonly pauses: readonly number[];
  readonly dies?: "exit" | "kill";
}

/** Starts a process that runs its turns after the message `begin`. */
function start(life: Life) {
  const child = fork(script, [JSON.stringify(life)], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const ended = new Promise<void>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => {
      if (code === 0 || (signal === "SIGKILL" && life.dies === "kill")) done();
      else fail(new Error(`the process ended with ${code ?? signal}: ${complaint}`));
    });
  });
  const ready = new Promise<void>((done) => child.once("message", () => done()));
  return { ready: Promise.race([ready, ended]), begin: () => child.send("begin"), ended };
}

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`L1, L3, L6: one holder at a time among ${PROCESSES} processes, some of which die as holders (SEED=${seed})`, {
  timeout: 120_000,
}, async () => {
  console.log(`lock stress: SEED=${seed}`);
  const random = seededRandom(seed);
  const folder = newFolder();
  const lock = join(folder, "the.lock");
  const log = join(folder, "log");
  writeFileSync(log, "");

  /** The processes of one slot, one after the other. Each except the last one dies while it holds the lock. */
  const livesOf = (place: number): Life[] =>
    [...Array.from({ length: place % 4 }, () => (random() < 0.5 ? "exit" : "kill")), undefined].map((dies) => ({
      lock,
      log,
      turns: TURNS,
      pauses: Array.from({ length: TURNS }, () => Math.floor(random() * 4)),
      ...(dies === undefined ? {} : { dies }),
    }));
  const places = Array.from({ length: PROCESSES }, (_, place) => livesOf(place));
  const first = places.map(([life]) => start(life as Life));
  await Promise.all(first.map(({ ready }) => ready));
  for (const { begin } of first) begin();
  await Promise.all(
    places.map(async ([, ...later], place) => {
      await first[place]?.ended;
      for (const life of later) {
        const next = start(life);
        await next.ready;
        next.begin();
        await next.ended;
      }
    }),
  );

  const lives = places.flat();
  let holder: string | undefined;
  const waiting = new Set<string>();
  const counted = { holds: 0, leaves: 0, dies: 0, waitedFor: 0 };
  for (const [index, line] of readFileSync(log, "utf8").trim().split("\n").entries()) {
    const [pid = "", step = "", mode] = line.split(" ");
    const what = `SEED=${seed}, line ${index + 1}: ${line}`;
    if (step === "wants") {
      waiting.add(pid);
    } else if (step === "holds") {
      expect(holder, what).toBeUndefined();
      expect(mode, what).toBe("600");
      holder = pid;
      waiting.delete(pid);
      counted.holds++;
      if (waiting.size > 0) counted.waitedFor++;
    } else {
      expect(["leaves", "dies"], what).toContain(step);
      expect(pid, what).toBe(holder);
      holder = undefined;
      counted[step as "leaves" | "dies"]++;
    }
  }
  const deaths = lives.filter(({ dies }) => dies !== undefined).length;
  expect(deaths).toBe(12);
  expect(counted).toMatchObject({ holds: lives.length * TURNS, leaves: lives.length * TURNS - deaths, dies: deaths });
  // A run in which hardly any process had to wait would prove little.
  expect(counted.waitedFor).toBeGreaterThan(PROCESSES);
  expect(readdirSync(folder)).toEqual(["log"]);
});
