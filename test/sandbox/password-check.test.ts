/** The cookie file and the password that opened its session. */
import crypto from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { replaceIn } from "../support/builtin.js";
import { messageOf, TestClient } from "../support/client.js";
import { newRun } from "../support/run.js";
import { counts, start, startWithSession } from "../support/session-file.js";
import { useSandbox } from "../support/stack.js";

vi.setConfig({ testTimeout: 120_000 });

describe("the password", () => {
  const PASSWORD = "a new s\u00ebcret & more/1+1";
  const withPassword = (password: string) => ({ settings: { password } });

  /** Counts scrypt computations until the test's end. */
  function countScrypt() {
    const computed = vi.fn(crypto.scrypt);
    replaceIn(crypto, { scrypt: computed });
    return { salts: () => computed.mock.calls.map(([, salt]) => (salt as Buffer).toString("hex")) };
  }

  it("unchanged: no login, and its verifier is computed once in a run", async () => {
    const { sandbox, file, client } = await startWithSession();
    const { verifier } = JSON.parse(readFileSync(file, "utf8")) as { verifier: unknown };
    const computed = countScrypt();
    const run = client();
    for (let round = 0; round < 3; round++) {
      expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
      if (round === 0) expect(counts(sandbox)).toEqual({ logins: 0, creates: 5 });
      sandbox.expireSessions();
    }
    expect(sandbox.logins).toBe(2);
    expect(computed.salts()).toHaveLength(1);
    // Logins with the same password keep the salt.
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ verifier });
  });

  it.each([false, true])("is computed once in a first run (long-lived: %s)", async (keepLoggedIn) => {
    const { sandbox, client } = await start({ rotation: "session" });
    const computed = countScrypt();
    const endings = await client({ settings: { keepLoggedIn } }).createMany(10);
    expect(endings.filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 10 });
    expect(computed.salts()).toHaveLength(1);
  });

  it("changed, on the platform as well: one login with the new one, which later runs do not repeat", async () => {
    const { file, client } = await startWithSession();
    const before = JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } };
    const platform = await useSandbox({ password: PASSWORD });
    const stored = JSON.stringify({ ...before, baseUrl: platform.url });
    writeFileSync(file, stored);
    const computed = countScrypt();
    const changed = () => new TestClient(platform.url, { cookieFile: file, ...withPassword(PASSWORD) });
    const run = changed();
    expect((await run.createMany(5)).filter(({ kind }) => kind !== "created")).toEqual([]);
    expect(counts(platform)).toEqual({ logins: 1, creates: 5 });
    expect(platform.requests[0]?.body).toMatchObject({ password: PASSWORD });
    expect(run.said).toEqual([]);
    expect(new Set(computed.salts()).size).toBe(computed.salts().length); // each salt is used once
    const after = JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } };
    expect(after.verifier.salt).not.toBe(before.verifier.salt);
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
    for (let runs = 0; runs < 2; runs++) {
      const endings = await client(withPassword("wrong")).createMany(5);
      expect(endings.map(({ kind }) => kind)).toEqual(Array.from({ length: 5 }, () => "LoginError"));
      expect(messageOf(endings[0])).toContain("Check advertising:email and advertising:password");
    }
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 0 });
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await client().create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 1 });
  });

  it("is in no file, in any spelling or as a fast digest, nor in a file's name", async () => {
    const { sandbox, folder, file } = await start({ password: PASSWORD });
    const run = new TestClient(sandbox.url, { cookieFile: file, ...withPassword(PASSWORD) });
    expect(await run.create()).toMatchObject({ kind: "created" });
    const { salt } = (JSON.parse(readFileSync(file, "utf8")) as { verifier: { salt: string } }).verifier;
    const written = `${readdirSync(folder).join(" ")} ${readFileSync(file, "utf8")}`;
    const bytes = Buffer.from(PASSWORD);
    const salts = [Buffer.alloc(0), Buffer.from(salt, "base64"), Buffer.from(salt), Buffer.from(run.settings.email)];
    const digests = ["md5", "sha1", "sha256", "sha512"].flatMap((name) =>
      salts.flatMap((one) => [
        crypto.createHash(name).update(one).update(bytes).digest(),
        crypto.createHash(name).update(bytes).update(one).digest(),
        crypto.createHmac(name, one).update(bytes).digest(),
      ]),
    );
    const spellings = [bytes, ...digests].flatMap((one) => [
      one.toString("hex"),
      one.toString("hex").toUpperCase(),
      one.toString("base64"),
      one.toString("base64url"),
      one.toString("hex").slice(0, 16),
    ]);
    const plain = [PASSWORD, encodeURIComponent(PASSWORD), JSON.stringify(PASSWORD).slice(1, -1), "cret & more"];
    for (const spelling of [...plain, ...spellings]) expect(written).not.toContain(spelling);
  });

  it("is not computed in a preview", async () => {
    const { sandbox, file } = await startWithSession();
    const computed = countScrypt();
    const run = newRun(sandbox, dirname(file));
    const inputs = { advertiserName: "A", __identity: "organization/shop/dev::a", __provider: "x" };
    await run.advertiser.check({}, { ...inputs });
    await run.advertiser.diff("1", { ...inputs }, { ...inputs, advertiserName: "B" });
    expect(computed.salts()).toEqual([]);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
    await run.advertiser.create({ ...inputs });
    expect(computed.salts()).toHaveLength(1);
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 1 });
  });

  it("can't be computed on this machine: the run goes on without the file, and says so", async () => {
    const { sandbox, client } = await startWithSession();
    replaceIn(crypto, {
      scrypt: (...args: unknown[]) => {
        (args.at(-1) as (error: Error) => void)(new Error("scrypt is not allowed"));
      },
    });
    const run = client();
    for (const name of ["A", "B"]) expect(await run.create(name)).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(run.said).toEqual([expect.stringContaining("its password can't be checked (scrypt is not allowed)")]);
  });

  it("is not known from a file of an earlier version: one login, without a message", async () => {
    const { sandbox, file, client } = await startWithSession();
    const { verifier: _, ...first } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...first, version: 1 }));
    for (const name of ["A", "B"]) {
      const run = client();
      expect(await run.create(name)).toMatchObject({ kind: "created" });
      expect(run.said).toEqual([]);
    }
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
  });
});
