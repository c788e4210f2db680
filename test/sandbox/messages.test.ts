/** Each error code: the call that ends in it, what it has sent, and its section in docs/messages.md. */

import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { expect, it } from "vitest";
import { journalPath } from "../../provider/src/journal/index.js";
import { newFolder } from "../support/folder.js";
import { page } from "../support/pages.js";
import { failureOf, journalsOf, newRun, type RunOptions } from "../support/run.js";
import { useSandbox } from "../support/stack.js";
import { senderOf } from "../support/stored.js";

const IDENTITY_OF = (name: string) => `shop/dev::${name}`;
const acme = { advertiserName: "Acme Shoes", __sender: senderOf(IDENTITY_OF("acme")) };
const purchase = {
  eventName: "Purchase",
  advertiserId: 1,
  value: 25,
  countUnique: false,
  clickWindow: 604_800,
  viewWindow: 2_592_000,
  attribution: "WHITELIST",
  __sender: senderOf(IDENTITY_OF("purchase")),
};
const advertiser1 = {
  advertisers: [{ id: 1, advertiser_name: "Acme Shoes", active: true }],
  events: [],
};

async function start(options: RunOptions = {}) {
  const sandbox = await useSandbox({ objects: advertiser1, operations: true });
  const folder = newFolder();
  return { sandbox, folder, ...newRun(sandbox, folder, options) };
}

async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolved) => server.listen(0, "127.0.0.1", resolved));
  const { port } = server.address() as { port: number };
  await new Promise((resolved) => server.close(resolved));
  return `http://127.0.0.1:${port}`;
}

const failures: Readonly<Record<string, () => Promise<string>>> = {
  async ADVERTISING_LOGIN() {
    const { advertiser, sandbox } = await start({
      settings: { password: "not-the-password" },
    });
    const { message } = await failureOf(advertiser.declare(acme));
    expect(sandbox.creates).toBe(0);
    return message;
  },
  async ADVERTISING_NOT_SENT() {
    const { advertiser } = await start({
      settings: { baseUrl: await closedPort(), authMode: "basic", maxWaitSeconds: "0" },
    });
    return (await failureOf(advertiser.declare(acme))).message;
  },
  async ADVERTISING_RATE_LIMITED() {
    const { advertiser, sandbox } = await start();
    const limited = {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "600" },
    } as const;
    sandbox.fail({ on: "create", with: limited });
    const { message } = await failureOf(advertiser.declare(acme));
    expect(sandbox.creates).toBe(1);
    return message;
  },
  async ADVERTISING_REFUSED() {
    const { event, sandbox } = await start();
    const { message } = await failureOf(event.declare({ ...purchase, advertiserId: 4711 }));
    expect(sandbox).toMatchObject({ creates: 1, events: [] });
    return message;
  },
  async ADVERTISING_OUTCOME_UNKNOWN() {
    const { event, sandbox } = await start();
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    const { message } = await failureOf(event.declare(purchase));
    expect(sandbox.creates).toBe(1);
    return message;
  },
  async ADVERTISING_BAD_ANSWER() {
    const operations = JSON.stringify({ event: { read: "GET rest/event/{id}" } });
    const { event, sandbox } = await start({ settings: { operations } });
    const others = { success: true, payload: [{ id: 7, event_name: "Signup" }] };
    sandbox.fail({
      on: "any",
      after: 1,
      with: { kind: "answer", status: 200, body: others },
    });
    const { message } = await failureOf(event.read("2", {}));
    expect(sandbox.creates).toBe(0);
    return message;
  },
  async ADVERTISING_ACCOUNT_MISMATCH() {
    const { advertiser, sandbox } = await start({ settings: { email: "me@example.com" } });
    const account = `${new URL(sandbox.url).host} ops@example.com`;
    const olds = { ...acme, __sender: senderOf(IDENTITY_OF("acme"), { account }) };
    const context = { identity: IDENTITY_OF("acme") };
    const checking = advertiser.check(olds, { ...acme, __sender: context });
    const { message } = await failureOf(checking);
    expect(sandbox.requests).toEqual([]);
    return message;
  },
  async ADVERTISING_JOURNAL() {
    const { advertiser, sandbox, folder } = await start();
    const place = { stack: "shop/dev", backend: "file:///states" };
    const path = journalPath({ ...place, run: "killed" }, journalsOf(folder));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, "garbage\n");
    const { message } = await failureOf(advertiser.declare(acme));
    expect(sandbox.requests).toEqual([]);
    return message;
  },
  async ADVERTISING_UNSUPPORTED() {
    const { event, sandbox } = await start();
    const { message } = await failureOf(event.read("purchase"));
    expect(sandbox.requests).toEqual([]);
    return message;
  },
  async ADVERTISING_INTERNAL() {
    const { advertiser, sandbox } = await start({
      adapt: (runtime) => ({
        ...runtime,
        client: () => {
          throw new TypeError("Cannot read properties of undefined (reading 'id')");
        },
      }),
    });
    const { message } = await failureOf(advertiser.declare(acme));
    expect(sandbox.requests).toEqual([]);
    return message;
  },
  ADVERTISING_USAGE() {
    const command = resolve(import.meta.dirname, "../../provider/dist/cli/command.js");
    return new Promise((resolved) => {
      execFile(process.execPath, [command, "pendign"], (_error, _stdout, stderr) =>
        resolved(stderr),
      );
    });
  },
};

it.each(Object.entries(failures))("%s", async (code, fail) => {
  const message = (await fail()).trimEnd();
  const isCommand = code === "ADVERTISING_USAGE";
  const ending = isCommand
    ? `[${code}]`
    : `(node_modules/pulumi-advertising/docs/messages.md#${code.toLowerCase()}) [${code}]`;
  expect(message.slice(-ending.length)).toBe(ending);
  expect(message.split("\n").filter((line) => /^\s+at /.test(line))).toEqual(
    code === "ADVERTISING_INTERNAL" ? expect.anything() : [],
  );
});

it("docs/messages.md has a section for each of them, and no other", () => {
  const sections = [
    ...page("docs/messages.md").text.matchAll(/^## `(ADVERTISING_\w+)`$/gm),
  ].map(([, code]) => code);
  // These two are errors of a whole program: engine/first-preview.
  expect(sections.toSorted()).toEqual(
    [...Object.keys(failures), "ADVERTISING_ARGUMENTS", "ADVERTISING_SETTINGS"].toSorted(),
  );
});
