/**
 * A day of ad operations, typed as a person types it: the sandbox's command, `pulumi`, and the package's command. Nothing twice,
 * and each message says what a person needs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { newStack, program, runProcess } from "../support/stack.js";

const dist = resolve(import.meta.dirname, "../../provider/dist");
const sandboxCommand = resolve(dist, "sandbox/command.js");
const packageCommand = resolve(dist, "tools/command.js");

/** `npx advertising-sandbox` in another terminal. */
async function startSandboxCommand(...args: string[]) {
  const child: ChildProcess = spawn("node", [sandboxCommand, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (printed += text));
  while (!/listens on (\S+?)\.?\s/.test(printed)) await sleep(10);
  const url = String(/listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1]);
  const port = new URL(url).port;
  const type = (...words: string[]) =>
    runProcess("node", [sandboxCommand, ...words, "--port", port], dist, process.env as Record<string, string>);
  return {
    url,
    type,
    /** Lines of its log about creates. */
    posts: () => printed.split("\n").filter((line) => /POST \/rest\/(event|advertiser)/.test(line)).length,
    /** The names of what lives there. */
    names: async () => {
      const { advertisers, events } = JSON.parse((await type("list", "--json")).output) as {
        advertisers: { advertiser_name: string }[];
        events: { event_name: string; id: number }[];
      };
      return [...advertisers.map((each) => each.advertiser_name), ...events.map((each) => each.event_name)].sort();
    },
    idOf: async (name: string) => {
      const { events } = JSON.parse((await type("list", "--json")).output) as {
        events: { event_name: string; id: number }[];
      };
      return String(events.find((each) => each.event_name === name)?.id);
    },
  };
}

const shop = (...events: string[]) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const event = (name, eventName, options) => new advertising.ConversionEvent(name, { eventName, advertiserId: acme.advertiserId, value: 5 }, options);
${events.join("\n")}`);

it("sandbox, rename while unresolved, rename while live, move into a component", async () => {
  const sandbox = await startSandboxCommand();
  const stack = await newStack(shop(`event("purchase", "Purchase");`));
  const pending = (...args: string[]) =>
    runProcess("node", [packageCommand, "pending", ...args], stack.programFolder, stack.environment);

  // The sandbox, as its greeting says.
  const settings = [`baseUrl=${sandbox.url}`, "email=ops@example.com"];
  const plain = settings.flatMap((each) => ["--plaintext", `advertising:${each}`]);
  await stack.run(["config", "set-all", ...plain, "--secret", "advertising:password=sandbox-password"]);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.posts()).toBe(2);

  // An answer is lost; then the event is renamed.
  expect((await sandbox.type("fail", "event:close-after-act:1")).code).toBe(0);
  stack.program(shop(`event("purchase", "Purchase");`, `event("signup", "Signup");`));
  const lost = await stack.up();
  expect(lost.code).not.toBe(0);
  expect(lost.output).toContain(
    'Look in the account for the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at ',
  );
  const commands = ["--created 'signup=<its id>'", "--not-created 'signup'"].map(
    (answer) => `npx pulumi-advertising pending ${answer}`,
  );
  for (const line of commands) expect(lost.output).toContain(line);
  stack.program(shop(`event("purchase", "Purchase");`, `event("signup-web", "Signup");`));
  for (const run of [stack.preview, stack.up]) {
    const { code, output } = await run();
    expect(code, output).not.toBe(0);
    for (const line of ["Nothing new is created", ...commands]) expect(output).toContain(line);
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
  }
  const listed = await pending();
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain('signup: look in the account for the ConversionEvent named "Signup"');
  const settled = await pending("--created", `signup=${await sandbox.idOf("Signup")}`);
  expect(settled.code, settled.output).toBe(0);
  stack.program(
    shop(`event("purchase", "Purchase");`, `event("signup-web", "Signup", { aliases: [{ name: "signup" }] });`),
  );
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.posts()).toBe(3);

  // A live one is renamed, and another one is moved into a component: with the aliases they are the same objects.
  const changed = (renamed: string, moved: string) =>
    shop(
      `event("purchase-eu", "Purchase", { ${renamed} });`,
      `class Funnel extends pulumi.ComponentResource {
  constructor(name) {
    super("shop:Funnel", name);
    event("signup-web", "Signup", { parent: this, ${moved} });
  }
}
new Funnel("funnel");`,
    );
  stack.program(changed("", ""));
  const before = await stack.preview();
  expect(before.output).toContain(
    '"purchase" has the platform name of the new "purchase-eu": to go on with 2, add an alias or set existingId.',
  );
  stack.program(changed(`aliases: [{ name: "purchase" }]`, "aliases: [{ parent: pulumi.rootStackResource }]"));
  const renamed = await stack.up();
  expect(renamed.code, renamed.output).toBe(0);
  expect(renamed.output).toContain("unchanged");
  expect(sandbox.posts()).toBe(3);
  expect(await sandbox.names()).toEqual(["Acme", "Purchase", "Signup"]);
});
