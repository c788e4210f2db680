/** Needles: nothing that is written or printed may hold a secret, in any spelling, even where the platform echoes it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SandboxRequest } from "../../provider/src/sandbox/index.js";
import { eventsProgram, newStack, program, useSandbox } from "../support/stack.js";

const password = 'needle/p"ss wörd+&=';

/** Every spelling of a secret that could be found in texts. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    Buffer.from(`ops@example.com:${secret}`).toString("base64"),
    bytes.toString("hex"),
  ];
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** An answer that repeats all that it was sent, as some frameworks' error pages do. */
const echo = (_: unknown, { headers, body }: SandboxRequest) => ({
  message: `bad request: ${JSON.stringify(headers)} ${JSON.stringify(body)} ${encodeURIComponent(String(headers.cookie))}`,
  errors: [
    `cookie ${headers.cookie}`,
    Buffer.from(String(headers.cookie)).toString("base64"),
    `\u001b[2Jauthorization ${headers.authorization}`,
  ],
});

it.each(["session", "basic"] as const)(
  "%s: a refusal that echoes everything, while Node.js and Pulumi log all they can",
  async (authMode) => {
    const sandbox = await useSandbox({ password, authMode });
    sandbox.fail({ on: "event", times: 1, with: { kind: "answer", status: 406, body: echo } });
    sandbox.fail({ on: "event", times: 1, after: 1, with: { kind: "answer", status: 500, body: echo } });
    const stack = await newStack(eventsProgram(3), { sandbox, config: { "advertising:authMode": authMode } });
    const log = join(stack.folder, "debug.log");
    stack.setEnvironment({
      ADVERTISING_LOG: `debug:${log}`,
      NODE_DEBUG: "http,undici,net,tls",
      NODE_OPTIONS: `${stack.environment.NODE_OPTIONS} --trace-warnings`,
      PULUMI_DEBUG_PROMISE_LEAKS: "true",
    });
    const { code, output } = await stack.up("--debug", "--continue-on-error", "-v=9", "--logtostderr");
    expect(code).not.toBe(0);
    expect(output).toContain("bad request");
    expect(output).toContain("[secret]");
    expect(output).not.toContain("\u001b[2J");

    const attempts = readFileSync(log, "utf8").trim().split("\n");
    expect(attempts).toHaveLength(sandbox.requests.length);
    expect(attempts[0]).toMatch(/^\S+Z POST \/rest\/\w+ attempt 1: status 200 after \d+ ms$/);

    const sent = sandbox.requests.flatMap(({ headers }) => [headers.cookie, headers.authorization]);
    const credentials = sent.flatMap((header) => String(header ?? "").match(/[^=\s]{12,}=*$/) ?? []);
    expect(credentials).toHaveLength(4);
    for (const secret of credentials) expect(output).not.toContain(secret);

    const sessionFile = filesBelow(stack.cache).find((path) => path.includes("session-"));
    const cookies =
      authMode === "session" ? /"value":"([^"]+)"/.exec(readFileSync(sessionFile ?? "", "utf8"))?.slice(1) : [];
    expect(cookies).toHaveLength(authMode === "session" ? 1 : 0);
    const texts = [
      output,
      await stack.exported(),
      ...filesBelow(stack.folder)
        .filter((path) => path !== sessionFile)
        .map((path) => readFileSync(path, "utf8")),
    ];
    for (const needle of [password, ...(cookies ?? [])].flatMap(spellings)) {
      for (const text of texts) expect(text.includes(needle), `${needle} in ${text.slice(0, 200)}`).toBe(false);
    }
    expect(sandbox.eventPosts).toBe(3);
    expect(sandbox.logins).toBe(authMode === "session" ? 1 : 0);
  },
);

const needles = ["needle-name", "needle-field", "needle-default", "8675309"];
const secretEntry = `{ eventName: pulumi.secret("needle-name"), value: pulumi.secret(8675309), additionalFields: { note: pulumi.secret("needle-field") } }`;
const setWith = (a: string) =>
  program(`
new advertising.ConversionEventSet("funnel", {
  advertiserId: 1,
  defaults: { additionalFields: { shared: pulumi.secret("needle-default") } },
  events: { a: ${a}, plain: { eventName: "plain words", value: 2 } },
});`);

it("secret arguments of a set's events: refused with an echo, unresolved, adopted, and no longer secret", async () => {
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const stack = await newStack(setWith(secretEntry), { sandbox });
  const upHidden = async () => {
    const { code, output } = await stack.up();
    const files = filesBelow(stack.folder).filter((path) => !path.startsWith(stack.programFolder));
    expect(files.length).toBeGreaterThan(3);
    const texts = [output, await stack.exported(), ...files.map((path) => readFileSync(path, "utf8"))];
    for (const needle of needles) {
      for (const text of texts) expect(text.includes(needle), `${needle} in ${text.slice(0, 200)}`).toBe(false);
    }
    return { code, output };
  };
  const refuse = (times: number, ...errors: string[]) =>
    sandbox.fail({ on: "event", times, with: { kind: "answer", status: 406, body: { errors } } });
  refuse(2, "bad name needle-name, bad note needle-field, bad value 8675309.0");
  const refused = await upHidden();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("[secret]");

  sandbox.fail({ on: "event", times: 2, act: true, with: { kind: "reset" } });
  const unresolved = await upHidden();
  expect(unresolved.output).toContain("The outcome of 2 events is unknown");
  expect(unresolved.output).toContain('events["plain"]: the ConversionEvent');
  const ids = sandbox.events.map(({ event_name, id }) => [event_name === "needle-name" ? "a" : "plain", id]);
  const { a, plain } = Object.fromEntries(ids) as Record<string, number>;
  const named = (text: string) =>
    text.replace("a: {", `a: { existingId: ${a},`).replace("plain: {", `plain: { existingId: ${plain},`);
  stack.program(named(setWith(secretEntry)));
  const settled = await upHidden();
  expect(settled.code, settled.output).toBe(0);

  // What was refused leaves the values of then in the state, which are still secret.
  stack.program(named(setWith(secretEntry.replace("8675309", "2"))).replace(`existingId: ${a},`, ""));
  refuse(1, "no");
  expect((await upHidden()).code).not.toBe(0);
  // The entry of now is not secret, and could not be created: that of then stays out of the state.
  stack.program(setWith(`{ eventName: "public", value: 1 }`).replace("plain: {", `plain: { existingId: ${plain},`));
  refuse(1, "no");
  expect((await upHidden()).code).not.toBe(0);
  const last = await upHidden();
  expect(last.code, last.output).toBe(0);
  expect(sandbox.eventPosts).toBe(7);
});
