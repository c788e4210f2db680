/** Needles: nothing that is written or printed may hold a secret, in any spelling, even where the platform echoes it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SandboxRequest } from "../../provider/src/sandbox/index.js";
import { eventsProgram, newStack, useSandbox } from "../support/stack.js";

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
  "row 81, %s: a refusal that echoes everything, while Node.js and Pulumi log all they can",
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
