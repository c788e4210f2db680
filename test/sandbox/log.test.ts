/** What the sandbox prints about each request: one line, without secrets. */
import { connect } from "node:net";
import { expect, it } from "vitest";
import type { Fault, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { useSandbox } from "../support/stack.js";

async function start(options: SandboxOptions = {}) {
  const lines: string[] = [];
  const sandbox = await useSandbox({ log: (line) => lines.push(line), ...options });
  let cookie = "";
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${sandbox.url}/${path}`, {
      method,
      headers: { cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
    return answer.text();
  };
  const post = (path: string, body: unknown) => send("POST", path, body);
  const logIn = () => post("rest/authenticate", { email: sandbox.email, password: sandbox.password });
  return { sandbox, lines, send, post, logIn, cookie: () => cookie };
}

it("one line for each request: method, path, status, and what was created", async () => {
  const { sandbox, lines, send, post, logIn } = await start();
  await post("rest/advertiser", { advertiser_name: "Acme" });
  await logIn();
  await post("rest/advertiser", { advertiser_name: "Acme" });
  await post("rest/event/strict", { event_name: "Purchase", advertiser_id: 1, value: 25 });
  await post("rest/event", {});
  await send("GET", "nowhere");
  expect(lines).toEqual([
    "POST /rest/advertiser 401",
    "POST /rest/authenticate 200, logged in",
    'POST /rest/advertiser 200, advertiser 1 "Acme"',
    'POST /rest/event/strict 200, event 2 "Purchase"',
    "POST /rest/event 406",
    "GET /nowhere 404",
  ]);
  expect(lines).toHaveLength(sandbox.requests.length);
});

it.each<[Fault, string]>([
  [{ kind: "reset-before-read" }, "POST /rest/advertiser no response (fault: reset-before-read)"],
  [
    { kind: "close-without-answer" },
    'POST /rest/advertiser no response, advertiser 1 "A" (fault: close-without-answer)',
  ],
  [{ kind: "reset" }, 'POST /rest/advertiser no response, advertiser 1 "A" (fault: reset)'],
  [{ kind: "garbage" }, 'POST /rest/advertiser no response, advertiser 1 "A" (fault: garbage)'],
  [{ kind: "half-body" }, 'POST /rest/advertiser 200, advertiser 1 "A" (fault: half-body)'],
  [{ kind: "answer", status: 503 }, 'POST /rest/advertiser 503, advertiser 1 "A" (fault: answer)'],
  [{ kind: "session-refusal" }, "POST /rest/advertiser 401 (fault: session-refusal)"],
])("with the fault %o", async (fault, line) => {
  const { sandbox, lines, post, logIn } = await start();
  await logIn();
  sandbox.fail({ on: "advertiser", act: true, with: fault });
  await post("rest/advertiser", { advertiser_name: "A" }).catch(() => undefined);
  expect(lines.slice(1)).toEqual([line]);
  expect(sandbox.advertiserPosts).toBe(1);
  expect(sandbox.requests.at(-1)?.status).toBe(Number(/\d{3}/.exec(line)?.[0] ?? 0));
});

it("a request that does not arrive whole has a line too", async () => {
  let logged: (line: string) => void;
  const line = new Promise<string>((resolve) => {
    logged = resolve;
  });
  const sandbox = await useSandbox({ log: (text) => logged(text) });
  const socket = connect(sandbox.port, "127.0.0.1");
  socket.write("POST /rest/event HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{", () => socket.destroy());
  expect(await line).toBe("POST /rest/event no response (not received whole)");
});

it("no line has a password, a cookie or a query; names are made printable and shortened", async () => {
  const { sandbox, lines, post, logIn, cookie } = await start({ password: "needle-password" });
  await logIn();
  await post("rest/authenticate", { email: "needle-mail", password: "needle-wrong" });
  await post("rest/advertiser?password=needle-query", { advertiser_name: "A" });
  await post("rest/advertiser", { advertiser_name: `\u001b[31m\u202eB\n"${"x".repeat(500)}` });
  await post(`rest/${"y".repeat(5000)}`, {});
  const text = lines.join("\n");
  expect(text).not.toMatch(/needle/);
  expect(text).not.toContain(cookie().split("=")[1]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for their absence
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(lines).toHaveLength(5);
  expect(lines[2]).toBe('POST /rest/advertiser?… 200, advertiser 1 "A"');
  expect(lines[3]).toMatch(/^POST \/rest\/advertiser 200, advertiser 2 " \[31m B "x+…"$/);
  for (const line of lines) expect(line.length).toBeLessThan(200);
  expect(sandbox.advertiserPosts).toBe(2);
});
