/** The cookie file: how it is written, which runs use it, which wait for it, and what makes a run go on without it. */

import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs, {
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { NotSentError } from "../../provider/src/base/index.js";
import { sessionStore } from "../../provider/src/client/session-file.js";
import { SessionJar } from "../../provider/src/client/session-jar.js";
import type { Sandbox, SandboxAnswerer } from "../../provider/src/sandbox/index.js";
import { replaceIn } from "../support/builtin.js";
import { type Ending, messageOf, TestClient } from "../support/client.js";
import { dependenciesOf } from "../support/client-dependencies.js";
import { FakeClock, RealTime } from "../support/clock.js";
import { deadPid, foreignLock, lockText, takeOver } from "../support/lock.js";
import { newRun } from "../support/run.js";
import { counts } from "../support/session.js";
import {
  beside,
  failing,
  modeOf,
  start,
  startWithSession,
  userRun,
} from "../support/session-file.js";
import { settingsOf } from "../support/settings.js";
import { useSandbox } from "../support/stack.js";
import { senderOf } from "../support/stored.js";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;
const long = { settings: { keepLoggedIn: true } } as const;
/** Settings with which a lock is waited for as long as its holder may take. */
const waitingAMinute = { maxWaitSeconds: 40, requestTimeoutSeconds: 20 };

function expectCreated(endings: readonly Ending[]): void {
  expect(endings.filter(({ kind }) => kind !== "created").map(messageOf)).toEqual([]);
}

describe("the file", () => {
  it("is written at the login, private to its owner, as are its folders, and saves the next run a login", async () => {
    const { sandbox, folder, client } = await start();
    const file = join(folder, "new", "folders", "session.json");
    chmodSync(folder, 0o777);
    const before = process.umask(0);
    expect(await client({ cookieFile: file }).create()).toMatchObject({ kind: "created" });
    process.umask(before);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect([file, dirname(file), join(folder, "new")].map(modeOf)).toEqual([
      0o600, 0o700, 0o700,
    ]);
    expect(beside(file)).toEqual([]); // neither lock nor temporary file
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      session: "pulumi-advertising",
      version: 2,
    });
    const next = client({ cookieFile: file });
    expectCreated(await next.createMany(20));
    expect([counts(sandbox), next.said]).toEqual([{ logins: 1, creates: 21 }, []]);
  });

  it("is written only at a login: creates change neither its bytes nor its times, and take no lock", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = { bytes: readFileSync(file, "utf8"), ...statSync(file) };
    const headers = { "set-cookie": ["sandbox_service_cookie=other; Path=/"] };
    const withCookie: SandboxAnswerer = (answer, { created }) => {
      expect(existsSync(`${file}.lock`)).toBe(false);
      return { ...answer, headers, body: JSON.stringify(created) };
    };
    sandbox.fail({ on: "create", times: 5, act: true, with: withCookie });
    expectCreated(await client().createMany(10));
    expect({ bytes: readFileSync(file, "utf8"), ...statSync(file) }).toEqual({
      ...before,
      atimeMs: expect.anything(),
    });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 10 });
  });

  it.each(["401", "403"] as const)(
    "with an ended session (%s): it meets one create; one login for all",
    async (way) => {
      const { sandbox, file, client } = await startWithSession({ sessionRefusal: way });
      const before = readFileSync(file, "utf8");
      sandbox.expireSessions();
      expectCreated(await client().createMany(10));
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 11 });
      expect(sandbox.advertisers).toHaveLength(11);
      expect(readFileSync(file, "utf8")).not.toBe(before);
      expect(await client().create()).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 12 });
    },
  );

  it("two runs at once share one login, and its cookies are masked in both", async () => {
    const { sandbox, file, client } = await start({ latencyMs: 5 });
    const runs = [client({ clock: new RealTime() }), client({ clock: new RealTime() })];
    expectCreated((await Promise.all(runs.map((run) => run.createMany(10)))).flat());
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 20 });
    const cookie = String(sandbox.requests.at(-1)?.headers.cookie).split("=")[1] ?? "";
    expect(readFileSync(file, "utf8")).toContain(cookie);
    for (const { secrets } of runs)
      expect(secrets.scrub(`x ${cookie} y`)).toBe("x [secret] y");
  });

  it("of another mode: a separate login", async () => {
    const { sandbox, client } = await startWithSession();
    expect(await client(long).create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });
});

describe("the lock", () => {
  /** A live process that holds it, without a heartbeat, until `untilMs` on the clock. */
  function heldBy(
    clock: FakeClock,
    lock: string,
    untilMs: number,
    release: () => void,
  ): void {
    writeFileSync(lock, lockText(process.pid));
    clock.beforeWaking = (nowMs) => {
      if (existsSync(lock) && nowMs >= untilMs) release();
    };
  }

  it("of a process that died is taken over at once", async () => {
    const { sandbox, file, client } = await start();
    writeFileSync(`${file}.lock`, lockText(deadPid()));
    const run = client();
    expect(await run.create()).toMatchObject({ kind: "created" });
    expect([counts(sandbox), run.said, beside(file)]).toEqual([
      { logins: 1, creates: 1 },
      [],
      [],
    ]);
    expect(run.clock.monotonicMs()).toBeLessThan(1000);
  });

  it("of a live process that is paused: waited for within limits, then the run goes on without the file", async () => {
    const { sandbox, file, client } = await start();
    const clock = new FakeClock(Date.now());
    heldBy(clock, `${file}.lock`, Number.POSITIVE_INFINITY, () => undefined);
    const run = client({ clock, settings: waitingAMinute });
    expectCreated(await run.createMany(5));
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 5 });
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(MINUTE);
    expect(clock.monotonicMs()).toBeLessThan(MINUTE + 5000);
    expect(run.said).toEqual([
      expect.stringContaining(`the lock ${file}.lock is held by another run`),
    ]);
    expect(beside(file)).toEqual(["session.json.lock"]); // it is the holder's
  });

  it("released in time by a process that has logged in: its session is used", async () => {
    const { sandbox, file, client } = await startWithSession();
    const text = readFileSync(file, "utf8");
    rmSync(file);
    const clock = new FakeClock(Date.now());
    heldBy(clock, `${file}.lock`, 40_000, () => {
      writeFileSync(file, text, { mode: 0o600 });
      rmSync(`${file}.lock`);
    });
    const run = client({ clock, settings: waitingAMinute });
    expectCreated(await run.createMany(5));
    expect([counts(sandbox), run.said]).toEqual([{ logins: 0, creates: 5 }, []]);
  });

  it("lost to another machine during the login: the newer file stays, and the run goes on without it", async () => {
    const { sandbox, file, client } = await start();
    const { requests } = sandbox;
    const push = requests.push.bind(requests);
    requests.push = (...received) => {
      if (received[0]?.path.endsWith("/authenticate")) {
        takeOver(`${file}.lock`);
        writeFileSync(file, "newer", { mode: 0o600 });
      }
      return push(...received);
    };
    const run = client();
    for (const name of ["A", "B", "C"])
      expect(await run.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
    expect(run.said).toEqual([
      expect.stringContaining(`another run took over the lock ${file}.lock`),
    ]);
    expect([readFileSync(file, "utf8"), readFileSync(`${file}.lock`, "utf8")]).toEqual([
      "newer",
      foreignLock,
    ]);
    expect(beside(file)).toEqual(["session.json.lock"]);
  });

  it.each([false, true])(
    "is never held across a create (long-lived: %s)",
    async (keepLoggedIn) => {
      const { sandbox, file, client } = await start();
      const atCreates: boolean[] = [];
      const looking: SandboxAnswerer = (answer) => {
        atCreates.push(existsSync(`${file}.lock`));
        return answer;
      };
      sandbox.fail({ on: "create", times: 10, act: true, with: looking });
      const run = client({ settings: { keepLoggedIn } });
      for (let index = 0; index < 10; index++)
        expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
      expect(atCreates).toEqual(Array.from({ length: 10 }, () => false));
    },
  );
});

describe("a file that can't be used is left alone, and the run goes on without it, with one message", () => {
  /** @returns the message. */
  async function goesOn(sandbox: Sandbox, client: TestClient): Promise<string> {
    for (const name of ["A", "B"])
      expect(await client.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(client.said).toEqual([
      expect.stringMatching(
        /The cookie file .* is not used: .*\. This run keeps its session in memory\./,
      ),
    ]);
    return client.said[0] ?? "";
  }

  it.each<[string, (file: string) => void, RegExp]>([
    [
      "a link that leads nowhere",
      (file) => fs.symlinkSync("/nowhere/at/all", file),
      /it isn't a regular file/,
    ],
    ["a link", (file) => fs.symlinkSync("/etc/hostname", file), /it isn't a regular file/],
    ["a folder", (file) => fs.mkdirSync(file), /it isn't a regular file/],
    ["a pipe", (file) => execFileSync("mkfifo", [file]), /it isn't a regular file/],
    [
      "1 GB",
      (file) => fs.ftruncateSync(fs.openSync(file, "w"), 1024 ** 3),
      /it's larger than 67108864 bytes/,
    ],
  ])("%s", async (_, make, words) => {
    const { sandbox, file, client } = await start();
    make(file);
    const before = fs.lstatSync(file);
    expect(await goesOn(sandbox, client())).toMatch(words);
    expect(fs.lstatSync(file)).toMatchObject({
      ino: before.ino,
      mode: before.mode,
      size: before.size,
    });
    expect(beside(file)).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ["/dev/null", /it isn't a regular file/],
    ["/etc/hostname/session.json", /ENOTDIR|EEXIST/],
  ])("%s", async (cookieFile, words) => {
    const { sandbox, client } = await start();
    expect(await goesOn(sandbox, client({ cookieFile }))).toMatch(words);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "a file of another user (needs root to make one)",
    async () => {
      const { sandbox, file, client } = await startWithSession();
      fs.chownSync(file, 12_345, 12_345);
      const words = `it belongs to the user 12345, and you are 0. Make ${file} and its folder yours, and writable for you alone. This run keeps`;
      expect(await goesOn(sandbox, client())).toContain(words);
    },
  );

  it("in a folder where everybody may write, unless it is sticky, as /tmp", async () => {
    const { sandbox, folder, client } = await startWithSession();
    chmodSync(folder, 0o777);
    const words = `other users can write to its folder (mode 777). Make ${folder} yours, and writable for you alone. `;
    expect(await goesOn(sandbox, client())).toContain(words);
    expect(statSync(folder).mode & 0o777).toBe(0o777); // the user's own folder is left as it is
    chmodSync(folder, 0o1777);
    const later = client();
    expect([await later.create(), later.said]).toMatchObject([{ kind: "created" }, []]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it.each([{ email: "other@example.com" }, { baseUrl: "https://other.example" }])(
    "another account's: %o",
    async (other) => {
      const { sandbox, file, client } = await startWithSession();
      const text = JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...other });
      writeFileSync(file, text);
      const foreign = /"value":"([^"]+)"/.exec(text)?.[1] ?? "no cookie";
      expect(await goesOn(sandbox, client())).toContain("another account's session");
      expect(readFileSync(file, "utf8")).toBe(text);
      expect(JSON.stringify(sandbox.requests)).not.toContain(foreign);
    },
  );

  it.each(["EACCES", "EROFS", "ENOSPC", "EMFILE"])(
    "%s while it is locked",
    async (code) => {
      const { sandbox, file, client } = await start();
      failing("openSync", ".lock", code);
      expect(await goesOn(sandbox, client())).toContain(`${code}: injected`);
      expect(existsSync(file)).toBe(false);
    },
  );

  it.each(["openSync", "writeFileSync", "fsyncSync", "renameSync"] as const)(
    "%s fails while it is written: the old file stays whole, and nothing is left beside it",
    async (step) => {
      const { sandbox, file, client } = await startWithSession();
      sandbox.expireSessions();
      const before = readFileSync(file, "utf8");
      const hits = failing(step, "session.json.", "ENOSPC", /json\.[^.]*\.tmp$/);
      const run = client();
      expectCreated(await run.createMany(5));
      expect([hits(), sandbox.logins]).toEqual([1, 1]);
      expect(run.said).toEqual([expect.stringMatching(/is not used: ENOSPC/)]);
      expect([readFileSync(file, "utf8"), beside(file)]).toEqual([before, []]);
    },
  );

  it("scrypt is not allowed on this machine", async () => {
    const { sandbox, client } = await startWithSession();
    const scryptSync = () => {
      throw new Error("scrypt is not allowed");
    };
    replaceIn(crypto, { scryptSync });
    expect(await goesOn(sandbox, client())).toContain("is not used: scrypt is not allowed");
  });
});

it("a file of a later version is refused: nothing is sent, and the file does not change", async () => {
  const { sandbox, file, client } = await start();
  const text = JSON.stringify({
    session: "pulumi-advertising",
    version: 3,
    more: "than is known here",
  });
  writeFileSync(file, text, { mode: 0o600 });
  const endings = await client().createMany(5);
  expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["LoginError"]));
  expect(messageOf(endings[0])).toMatch(
    /Nothing was sent: the cookie file .*session\.json was written by a later version.*\(format 3\).*Use that version, or remove the file/,
  );
  expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
  expect([readFileSync(file, "utf8"), beside(file)]).toEqual([text, []]);
});

describe("a file that is repaired", () => {
  it("readable by others: it is made private, and used", async () => {
    const { sandbox, file, client } = await startWithSession();
    chmodSync(file, 0o644);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect([modeOf(file), counts(sandbox)]).toEqual([0o600, { logins: 0, creates: 1 }]);
  });

  it.each<[string, (whole: string) => string | Buffer]>([
    ["empty", () => ""],
    ["truncated", (whole) => whole.slice(0, whole.length / 2)],
    [
      "binary",
      () => Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 37) % 256)),
    ],
    ["deep", () => "[".repeat(500_000)],
    ["without a jar", (whole) => JSON.stringify({ ...JSON.parse(whole), jar: undefined })],
    [
      "with an invalid jar",
      (whole) => JSON.stringify({ ...JSON.parse(whole), jar: { cookies: "none" } }),
    ],
    [
      "without a verifier",
      (whole) => JSON.stringify({ ...JSON.parse(whole), verifier: undefined }),
    ],
    ["with version 0", (whole) => JSON.stringify({ ...JSON.parse(whole), version: 0 })],
    ["another program's", () => JSON.stringify({ session: "other", version: 2 })],
  ])("%s: one login, one message, and the file is rewritten", async (_, damage) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    const run = userRun(sandbox, file);
    for (const name of ["A", "B"])
      expect(await run.create(name)).toMatchObject({ outs: { advertiserName: name } });
    expect(run.seen()).toEqual([
      `The cookie file ${file} is damaged; the next login replaces it.`,
    ]);
    expect(await client().create("C")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it.each<[string, (whole: string) => string]>([
    ["with a byte-order mark", (whole) => `\ufeff${whole}`],
    [
      "with CRLF",
      (whole) => JSON.stringify(JSON.parse(whole), undefined, 2).replaceAll("\n", "\r\n"),
    ],
  ])("%s: is read", async (_, change) => {
    const { sandbox, file, client } = await startWithSession();
    writeFileSync(file, change(readFileSync(file, "utf8")));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it.each<[string, object]>([
    ["expired", { expires: "2020-01-01T00:00:00.000Z" }],
    ["for another domain", { domain: "elsewhere.example" }],
    ["empty, which is how services end a session", { value: "" }],
  ])("with a cookie that is %s: a login before the create", async (_, change) => {
    const { sandbox, file, client } = await startWithSession();
    const stored = JSON.parse(readFileSync(file, "utf8")) as { jar: { cookies: object[] } };
    for (const cookie of stored.jar.cookies) Object.assign(cookie, change);
    writeFileSync(file, JSON.stringify(stored));
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it("a login removes temporary files of killed processes, except recent ones", async () => {
    const { file, client } = await start();
    for (const name of ["a", "b"]) writeFileSync(`${file}.${name}.tmp`, "half a jar");
    writeFileSync(join(dirname(file), "other.json.a.tmp"), "not ours");
    fs.utimesSync(`${file}.a.tmp`, Date.now() / 1000 - 600, Date.now() / 1000 - 600);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(beside(file).sort()).toEqual(["other.json.a.tmp", "session.json.b.tmp"]);
  });
});

describe("the password", () => {
  const PASSWORD = "a new s\u00ebcret & more/1+1";
  const withPassword = (password: string) => ({ settings: { password } });

  it("changed, on the platform as well: one login with the new one, which later runs do not repeat", async () => {
    const { file, client } = await startWithSession();
    const platform = await useSandbox({ password: PASSWORD });
    writeFileSync(
      file,
      JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), baseUrl: platform.url }),
    );
    const changed = () =>
      new TestClient(platform.url, { cookieFile: file, ...withPassword(PASSWORD) });
    const run = changed();
    expectCreated(await run.createMany(5));
    expect([counts(platform), run.said]).toEqual([{ logins: 1, creates: 5 }, []]);
    expect(await changed().create()).toMatchObject({ kind: "created" });
    expect(counts(platform)).toEqual({ logins: 1, creates: 6 });
    // A run with the old password is refused, instead of using a session of the new one.
    const old = new TestClient(platform.url, { cookieFile: file, clock: client().clock });
    expect(await old.create()).toMatchObject({ kind: "LoginError" });
    expect(counts(platform)).toEqual({ logins: 2, creates: 6 });
  });

  it("changed, and wrong: a login error, nothing is sent, and the session stays for runs with the right one", async () => {
    const { sandbox, file, client } = await startWithSession();
    const before = readFileSync(file, "utf8");
    const endings = await client(withPassword("wrong")).createMany(5);
    expect(endings.map(({ kind }) => kind)).toEqual(
      Array.from({ length: 5 }, () => "LoginError"),
    );
    expect(messageOf(endings[0])).toContain(
      "Check advertising:email and advertising:password",
    );
    expect([counts(sandbox), readFileSync(file, "utf8")]).toEqual([
      { logins: 1, creates: 0 },
      before,
    ]);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it("is not in the file, in any spelling or as a fast digest", async () => {
    const { sandbox, folder, file } = await start({ password: PASSWORD });
    const run = new TestClient(sandbox.url, {
      cookieFile: file,
      ...withPassword(PASSWORD),
    });
    expect(await run.create()).toMatchObject({ kind: "created" });
    const written = `${fs.readdirSync(folder).join(" ")} ${readFileSync(file, "utf8")}`;
    const { salt } = (
      JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } }
    ).verifier;
    const salts = [
      Buffer.alloc(0),
      Buffer.from(salt, "base64"),
      Buffer.from(run.settings.email),
    ];
    const digests = ["md5", "sha1", "sha256", "sha512"].flatMap((name) =>
      salts.flatMap((one) => [
        crypto.createHash(name).update(one).update(PASSWORD).digest(),
        crypto.createHash(name).update(PASSWORD).update(one).digest(),
        crypto.createHmac(name, one).update(PASSWORD).digest(),
      ]),
    );
    const encodings = ["hex", "base64", "base64url"] as const;
    const spellings = [Buffer.from(PASSWORD), ...digests].flatMap((one) =>
      encodings.map((each) => one.toString(each)),
    );
    const plain = [
      PASSWORD,
      encodeURIComponent(PASSWORD),
      JSON.stringify(PASSWORD).slice(1, -1),
      "cret & more",
    ];
    for (const spelling of [...plain, ...spellings])
      expect(written).not.toContain(spelling);
  });

  it("is not computed in a preview, and once for a run", async () => {
    const { sandbox, file } = await startWithSession();
    const computed = vi.fn(crypto.scryptSync);
    replaceIn(crypto, { scryptSync: computed });
    const run = newRun(sandbox, dirname(file));
    const inputs = {
      advertiserName: "A",
      __sender: senderOf("organization/shop/dev::a"),
      __provider: "x",
    };
    const changed = { ...inputs, advertiserName: "B" };
    await run.advertiser.check({ ...inputs }, { ...changed });
    await run.advertiser.diff("1", { ...inputs }, { ...changed });
    expect([computed.mock.calls.length, counts(sandbox)]).toEqual([
      0,
      { logins: 0, creates: 0 },
    ]);
    await run.advertiser.declare({ ...changed });
    expect([computed.mock.calls.length, counts(sandbox)]).toEqual([
      1,
      { logins: 0, creates: 1 },
    ]);
  });
});

describe("long-lived sessions", () => {
  const lastCookie = (sandbox: Sandbox) => String(sandbox.requests.at(-1)?.headers.cookie);

  it.each([false, true])(
    "single-use cookies %s: the file has the newest cookie, and the next run sends it",
    async (isSingleUse) => {
      const { sandbox, file, client } = await start({ isSingleUse });
      const run = client(long);
      for (let index = 0; index < 5; index++)
        expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
      const before = lastCookie(sandbox);
      const text = readFileSync(file, "utf8");
      expect(await client(long).create("next")).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 6 });
      expect(lastCookie(sandbox)).not.toBe(before);
      for (const pair of lastCookie(sandbox).split("; "))
        expect(text).toContain(`"${pair.slice(pair.indexOf("=") + 1)}"`);
      expect([modeOf(file), beside(file)]).toEqual([0o600, []]);
    },
  );

  it("two runs that take turns use each other's cookies, single-use ones too", async () => {
    const { sandbox, client } = await start({ isSingleUse: true });
    const runs = [client(long), client(long)];
    for (let index = 0; index < 10; index++)
      expect(await runs[index % 2]?.create(`A${index}`)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
  });

  it("25 creates at once in two runs: one login", async () => {
    const { sandbox, client } = await start({ latencyMs: 2 });
    const runs = [
      client({ ...long, clock: new RealTime() }),
      client({ ...long, clock: new RealTime() }),
    ];
    expectCreated((await Promise.all(runs.map((run) => run.createMany(25)))).flat());
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 50 });
  });

  it("a later version writes the file while a create is in flight: the create is reported, and the file left alone", async () => {
    const { sandbox, file, client } = await start();
    const run = client(long);
    expect(await run.create("A")).toMatchObject({ kind: "created" });
    const text = JSON.stringify({ session: "pulumi-advertising", version: 3 });
    const headers = { "set-cookie": "sandbox_service_cookie=newer; Path=/" };
    const meanwhile: SandboxAnswerer = (answer) => {
      writeFileSync(file, text, { mode: 0o600 });
      return { ...answer, headers };
    };
    sandbox.fail({ on: "create", act: true, with: meanwhile });
    expect(await run.create("B")).toMatchObject({ kind: "created", id: "2" });
    expect(run.said).toEqual([
      expect.stringContaining("was changed meanwhile and is left as it is"),
    ]);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it.each(["ENOSPC", "EROFS", "EACCES"])(
    "%s while a cookie is stored: one message, the create is reported, and the cookie is used",
    async (code) => {
      const { sandbox, file, client } = await start({ isSingleUse: true });
      const run = client(long);
      expect(await run.create("first")).toMatchObject({ kind: "created" });
      failing("openSync", ".tmp", code);
      for (let index = 0; index < 5; index++)
        expect(await run.create(`A${index}`)).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 6 });
      expect(run.said).toEqual([expect.stringContaining(`${code}: injected`)]);
      expect(beside(file)).toEqual([]);
    },
  );

  it("the file is removed meanwhile, and then its folder", async () => {
    const { sandbox, file, client } = await start({ isSingleUse: true });
    const run = client(long);
    expect(await run.create("A")).toMatchObject({ kind: "created" });
    rmSync(file);
    expect(await run.create("B")).toMatchObject({ kind: "created" });
    rmSync(dirname(file), { recursive: true });
    expect(await run.create("C")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
  });

  it("a login that ends with its cancelled run isn't the file's fault, and no other follows", async () => {
    const { file } = await start();
    const url = new URL("http://127.0.0.1/rest/event");
    const settings = settingsOf({ baseUrl: "http://127.0.0.1" });
    const logIn = vi.fn(async () => {
      throw new NotSentError("Not sent: this run was cancelled.");
    });
    const say = vi.fn();
    const store = sessionStore(dependenciesOf({ settings, cookieFile: file, say }), logIn);
    await expect(store.open(url)).rejects.toThrow(NotSentError);
    expect([logIn.mock.calls.length, say.mock.calls]).toEqual([1, []]);
  });

  it("a late answer of an ended login changes nothing of the next one", async () => {
    const { file } = await start();
    const url = new URL("http://127.0.0.1/rest/event");
    const settings = settingsOf({ baseUrl: "http://127.0.0.1", keepLoggedIn: true });
    const values = ["first", "second"];
    const logIn = async () => {
      const jar = new SessionJar();
      jar.store(
        { setCookies: [`x_service_cookie=${values.shift()}; Path=/`], headers: {} },
        url,
      );
      return jar;
    };
    const store = sessionStore(dependenciesOf({ settings, cookieFile: file }), logIn);
    const [first, second] = [await store.open(url), await store.open(url)];
    await first.storeCookies(
      { setCookies: ["x_service_cookie=late; Path=/"], headers: {} },
      url,
    );
    expect(await second.headers(url)).toEqual({ cookie: "x_service_cookie=second" });
    expect(readFileSync(file, "utf8")).toContain('"second"');
  });
});
