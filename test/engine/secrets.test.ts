/** Needles: nothing written or printed may hold a secret, in any spelling, even where the platform echoes it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SandboxAnswerer } from "../../provider/src/sandbox/index.js";
import { senderIn } from "../../provider/src/state/index.js";
import { jsonAnswer } from "../support/installation.js";
import { eventsProgram, newStack, program, useSandbox, well } from "../support/stack.js";

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
const echo =
  (status: number): SandboxAnswerer =>
  (_, { headers, body }) => {
    const cookie = String(headers.cookie);
    const message = `bad request: ${JSON.stringify(headers)} ${JSON.stringify(body)} ${encodeURIComponent(cookie)}`;
    const errors = [
      `cookie ${cookie}`,
      Buffer.from(cookie).toString("base64"),
      `\u001b[2Jauthorization ${headers.authorization}`,
    ];
    return jsonAnswer({ message, errors }, status);
  };

it("a refusal that echoes everything, while Node.js and Pulumi log all they can", async () => {
  const sandbox = await useSandbox({ password });
  sandbox.fail({ on: "event", times: 1, with: echo(406) });
  sandbox.fail({ on: "event", times: 1, after: 1, with: echo(500) });
  const stack = await newStack(eventsProgram(3), { sandbox });
  const log = join(stack.folder, "debug.log");
  stack.setEnvironment({
    ADVERTISING_LOG: `debug:${log}`,
    NODE_DEBUG: "http,undici,net,tls",
    NODE_OPTIONS: `${stack.environment.NODE_OPTIONS} --trace-warnings`,
    PULUMI_DEBUG_PROMISE_LEAKS: "true",
  });
  const { code, output } = await stack.up(
    "--debug",
    "--continue-on-error",
    "-v=9",
    "--logtostderr",
  );
  expect(code).not.toBe(0);
  expect(output).toContain("bad request");
  expect(output).toContain("[secret]");
  expect(output).not.toContain("\u001b[2J");

  const attempts = readFileSync(log, "utf8").trim().split("\n");
  expect(attempts).toHaveLength(sandbox.requests.length);
  expect(attempts[0]).toMatch(/^\S+Z POST \/rest\/\w+ attempt 1: status 200 after \d+ ms$/);

  const sent = sandbox.requests.flatMap(({ headers }) => [
    headers.cookie,
    headers.authorization,
  ]);
  const credentials = sent.flatMap(
    (header) => String(header ?? "").match(/[^=\s]{12,}=*$/) ?? [],
  );
  expect(credentials).toHaveLength(4);
  for (const secret of credentials) expect(output).not.toContain(secret);

  const sessionFile = filesBelow(stack.cache).find((path) => path.includes("session-"));
  const cookies = /"value":"([^"]+)"/
    .exec(readFileSync(sessionFile ?? "", "utf8"))
    ?.slice(1);
  expect(cookies).toHaveLength(1);
  const texts = [
    output,
    await stack.exported(),
    ...filesBelow(stack.folder)
      .filter((path) => path !== sessionFile)
      .map((path) => readFileSync(path, "utf8")),
  ];
  for (const needle of [password, ...(cookies ?? [])].flatMap(spellings)) {
    for (const text of texts)
      expect(text.includes(needle), `${needle} in ${text.slice(0, 200)}`).toBe(false);
  }
  expect(sandbox.eventPosts).toBe(3);
  expect(sandbox.logins).toBe(1);
});

const needles = [
  "needle-name",
  "needle-field",
  "needle-default",
  "needle-single",
  "8675309",
];
const secret = (text: string) => `pulumi.secret(${text})`;
const entry = `{ eventName: ${secret('"needle-name"')}, value: ${secret("8675309")}, additionalFields: { note: ${secret('"needle-field"')} } }`;
/** @param ids what is adopted. */
const shop = (a: string, ids: { single?: unknown; a?: unknown } = {}) =>
  program(`
new advertising.Advertiser("single", { advertiserName: ${secret('"needle-single"')}, existingId: ${ids.single} });
new advertising.ConversionEventSet("funnel", {
  advertiserId: 1,
  defaults: { additionalFields: { shared: ${secret('"needle-default"')} } },
  events: { a: { ...${a}, existingId: ${ids.a} } },
});`);

it("secret arguments, alone and in a set: refused with an echo, unresolved, and adopted", async () => {
  const sandbox = await useSandbox({
    objects: { advertisers: [{ id: 1, active: true }], events: [] },
  });
  const stack = await newStack(shop(entry), { sandbox });
  const upHidden = async () => {
    const { code, output } = await stack.up("--continue-on-error", "--diff");
    const files = filesBelow(stack.folder).filter(
      (path) => !path.startsWith(stack.programFolder),
    );
    expect(files.length).toBeGreaterThan(3);
    const texts = [
      output,
      await stack.exported(),
      ...files.map((path) => readFileSync(path, "utf8")),
    ];
    for (const needle of needles) {
      for (const text of texts)
        expect(text.includes(needle), `${needle} in ${text.slice(0, 200)}`).toBe(false);
    }
    return { code, output };
  };
  const errors = ["bad name needle-name, bad note needle-field, bad value 8675309.0"];
  sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body: { errors } } });
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "reset" } });
  const refused = await upHidden();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("bad name [secret]");
  expect(refused.output).toMatch(/single: the Advertiser, sent at \S+Z\n/);
  expect(await stack.ids()).toMatchObject({ single: "?" });

  const single = sandbox.advertisers.at(-1)?.id;
  stack.program(shop(entry, { single }));
  sandbox.fail({ on: "event", act: true, with: { kind: "reset" } });
  expect((await upHidden()).output).toContain("The outcome of 1 create is unknown");
  stack.program(shop(entry, { single, a: sandbox.events.at(-1)?.id }));
  const resolved = await upHidden();
  expect(resolved.code, resolved.output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
});

it("a transformation that makes everything secret leaves plain who sends", async () => {
  const sandbox = await useSandbox();
  const all = `pulumi.runtime.registerStackTransformation(({ props, opts }) => ({
    props: Object.fromEntries(Object.entries(props).map(([name, value]) => [name, value && pulumi.secret(value)])),
    opts,
  }));`;
  const one = `new advertising.Advertiser("a", { advertiserName: "A" });`;
  const stack = await newStack(program(`${all}\n${one}`), { sandbox });
  await well(stack.up());
  const { resources = [] } = await stack.deployment();
  const { inputs } = resources.find(({ urn }) => urn.endsWith("::a")) ?? {};
  expect(senderIn(inputs ?? {})).toMatchObject({ account: expect.stringContaining(" ") });
  expect(sandbox.creates).toBe(1);
});
