/**
 * Long-lived sessions in several processes, on a platform that only accepts recent session cookies: a process that loses one,
 * or goes on with an old one, is refused and has to log in again.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "../../provider/src/base/clock.js";
import { SessionJar } from "../../provider/src/client/session-file.js";
import { SessionStore } from "../../provider/src/client/session-store.js";
import { acquireLock } from "../../provider/src/files/lock.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { seededRandom } from "../support/random.js";
import { replaceInFs } from "../support/session-file.js";
import { settingsOf } from "../support/settings.js";
import { useSandbox } from "../support/stack.js";
import { surroundingsOf } from "../support/surroundings.js";

vi.setConfig({ testTimeout: 60_000 });

const script = resolve(import.meta.dirname, "shared-store-process.mjs");
const PROCESSES = 6;
/** How many requests each of them has in flight at most. */
const AT_ONCE = 4;

interface Report {
  readonly endings: readonly { readonly id?: string; readonly failure?: string }[];
  readonly said: readonly string[];
}

/** A process that creates the names in its messages; it ends with the test. */
async function startProcess(baseUrl: string, cookieFile: string) {
  const task = JSON.stringify({ baseUrl, cookieFile, keepLoggedIn: true });
  const child = fork(script, [task], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((_, fail) => {
    child.once("exit", (code) => fail(new Error(`the process ended with ${code}`)));
  });
  ended.catch(() => undefined); // it is not awaited at the test's end
  const message = () => Promise.race([new Promise((done) => child.once("message", done)), ended]);
  expect(await message()).toBe("ready");
  return async (...names: string[]): Promise<void> => {
    const answer = message();
    child.send(names);
    const { endings, said } = (await answer) as Report;
    expect(endings.flatMap(({ failure }) => failure ?? [])).toEqual([]);
    expect(said).toEqual([]);
  };
}

async function start(maxCookieAge: number) {
  const folder = newFolder();
  const file = join(folder, "session.json");
  const sandbox = await useSandbox({ rotation: "strict", maxCookieAge });
  const newProcess = () => startProcess(sandbox.url, file);
  return { sandbox, file, newProcess, processes: await Promise.all(Array.from({ length: PROCESSES }, newProcess)) };
}

/** The value of the session cookie in the file. */
function storedIn(file: string): string {
  const { jar } = JSON.parse(readFileSync(file, "utf8")) as { jar: { cookies: { key: string; value: string }[] } };
  const stored = jar.cookies.filter(({ key }) => key.endsWith("_service_cookie"));
  expect(stored).toHaveLength(1);
  return stored[0]?.value ?? "";
}

/** How many session cookies were issued after the one in the file. */
function ageOfStored(file: string, sandbox: Sandbox): number {
  const age = sandbox.youngCookies.indexOf(storedIn(file));
  expect(age, "the file's cookie is one that the platform takes").toBeGreaterThanOrEqual(0);
  return age;
}

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`six processes that take turns: each uses the newest cookie, whichever process got it (SEED=${seed})`, async () => {
  console.log(`newest cookie: SEED=${seed}`);
  const random = seededRandom(seed);
  const { sandbox, file, processes } = await start(0);
  const TURNS = 30;
  for (let turn = 0; turn < TURNS; turn++) {
    await processes[Math.floor(random() * PROCESSES)]?.(`A${turn}`);
    expect(ageOfStored(file, sandbox), `SEED=${seed}, turn ${turn}`).toBe(0);
  }
  expect(sandbox.logins).toBe(1);
  expect(sandbox.creates).toBe(TURNS);
  expect(sandbox.advertisers).toHaveLength(TURNS);
});

it("six processes with four creates in flight each: at the end the file has a cookie of the last answers", async () => {
  // A request's cookie is at most as old as the file's, plus those that the others in flight have got since.
  const inFlight = PROCESSES * AT_ONCE;
  const { sandbox, file, processes, newProcess } = await start(2 * inFlight - 1);
  const ROUNDS = 4;
  for (let round = 0; round < ROUNDS; round++) {
    const names = (process: number) => Array.from({ length: AT_ONCE }, (_, index) => `r${round}-p${process}-${index}`);
    await Promise.all(processes.map((create, process) => create(...names(process))));
    expect(ageOfStored(file, sandbox), `round ${round}`).toBeLessThan(inFlight);
  }
  // Then one after the other, and a new process that starts with the file.
  const turns = [...processes, await newProcess()];
  for (const [turn, create] of turns.entries()) {
    const stored = storedIn(file);
    await create(`turn ${turn}`);
    expect(sandbox.requests.at(-1)?.headers.cookie, `turn ${turn}`).toContain(stored);
    expect(ageOfStored(file, sandbox), `turn ${turn}`).toBe(0);
  }
  expect(sandbox.logins).toBe(1);
  expect(sandbox.creates).toBe(ROUNDS * inFlight + turns.length);
  expect(sandbox.advertisers).toHaveLength(ROUNDS * inFlight + turns.length);
});

/** Two runs that share a cookie file. The first one's answer came before the second one's, and is to be written after it. */
async function twoRuns(clock: FakeClock) {
  const folder = newFolder();
  const file = join(folder, "session.json");
  const url = new URL("http://127.0.0.1/rest/event");
  // The first run waits at the lock until `turn` is resolved.
  const turn = Promise.withResolvers<void>();
  const sleeping: Clock = {
    wallMs: () => clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    // A promise alone would not do: the waiting run checks the lock in a loop, which would let nothing else run.
    sleep: () => turn.promise.then(() => systemClock.sleep(1)),
  };
  const newRun = (clock: Clock) =>
    new SessionStore(
      settingsOf({ baseUrl: "http://127.0.0.1", keepLoggedIn: true }),
      surroundingsOf({ cookieFile: file, clock }),
    );
  const logIn = async () => {
    const jar = new SessionJar();
    jar.store(["x_service_cookie=first; Path=/"], url);
    return jar;
  };
  const open = async (run: SessionStore) => ({ run, session: await run.open(undefined, logIn, async () => true) });
  const [early, late] = [await open(newRun(sleeping)), await open(newRun(clock))];
  const keep = ({ run, session }: typeof early, value: string) =>
    run.keep(session, [`x_service_cookie=${value}; Path=/`], url);
  const lock = await acquireLock(`${file}.lock`, { clock: systemClock, unique: "test", maxWaitMs: 0 });
  const kept = keep(early, "early");
  const begin = async () => {
    turn.resolve();
    await kept;
  };
  return { file, early, late, keep, lock, begin, url };
}

it("an answer that had to wait for the lock does not overwrite one that came after it", async () => {
  const clock = new FakeClock();
  const { file, early, late, keep, lock, begin, url } = await twoRuns(clock);
  clock.advance(1000);
  await lock.release();
  await keep(late, "late");
  await begin();
  expect(storedIn(file)).toBe("late");
  expect((await early.run.newest(early.session)).header(url)).toBe("x_service_cookie=late");
});

it("a cookie that was read before a newer answer was written is not used after it", async () => {
  const clock = new FakeClock();
  const { file, late, keep, lock, begin, url } = await twoRuns(clock);
  await lock.release();
  await begin();
  clock.advance(1000);
  // The next read of the file gets its present content, but is delayed.
  const goOn = Promise.withResolvers<void>();
  const { open } = fsp;
  let isFirst = true;
  replaceInFs({
    open: async (path: string, ...rest: [number, number]) => {
      const handle = await open(path, ...rest);
      if (path !== file || !isFirst) return handle;
      isFirst = false;
      const content = await handle.readFile();
      return Object.assign(handle, { readFile: () => goOn.promise.then(() => content) });
    },
  });
  const reading = late.run.newest(late.session);
  const kept = keep(late, "newer");
  // Long enough for a write that does not wait for the read.
  await Promise.race([kept, systemClock.sleep(500)]);
  goOn.resolve();
  await Promise.all([reading, kept]);
  expect(late.session.jar.header(url)).toBe("x_service_cookie=newer");
  expect(storedIn(file)).toBe("newer");
});

it("a late answer of an ended login does not overwrite the next login's", async () => {
  const clock = new FakeClock();
  const { file, early, lock, begin, url } = await twoRuns(clock);
  await lock.release();
  const logIn = async () => {
    const jar = new SessionJar();
    jar.store(["x_service_cookie=second; Path=/"], url);
    return jar;
  };
  // The same process logs in again while the answer of the first login still waits for its turn.
  const opening = early.run.open(early.session.loginId, logIn, async () => true);
  await begin();
  const second = await opening;
  await early.run.keep(early.session, ["x_service_cookie=late; Path=/"], url);
  expect(storedIn(file)).toBe("second");
  await early.run.keep(second, ["x_service_cookie=newest; Path=/"], url);
  expect(storedIn(file)).toBe("newest");
});

it("a file with a time in the future, as after a clock was set back, is overwritten", async () => {
  const clock = new FakeClock();
  const { file, late, keep, lock, begin } = await twoRuns(clock);
  await lock.release();
  await begin();
  clock.jumpWall(-86_400_000);
  await keep(late, "after the jump");
  expect(storedIn(file)).toBe("after the jump");
});
