/**
 * A day of ad operations, typed as a person types it: the sandbox's command, `pulumi`, and the package's command. Nothing twice,
 * nothing at a wrong account, and each message says what a person needs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { upAndStop } from "../support/killing.js";
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

it("sandbox, rename while unresolved, rename while live, move into a component, a second stack, stop and continue", async () => {
  const sandbox = await startSandboxCommand("--latency-ms", "50");
  const stack = await newStack(shop(`event("purchase", "Purchase");`));
  const configure = async (url: string, ...more: string[]) => {
    const all = [`baseUrl=${url}`, "email=ops@example.com", ...more].flatMap((each) => [
      "--plaintext",
      `advertising:${each}`,
    ]);
    const { code, output } = await stack.run([
      "config",
      "set-all",
      ...all,
      "--secret",
      "advertising:password=sandbox-password",
    ]);
    expect(code, output).toBe(0);
  };
  const pending = (...args: string[]) =>
    runProcess("node", [packageCommand, "pending", ...args], stack.programFolder, stack.environment);

  // The sandbox, as its greeting says.
  await configure(sandbox.url);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.posts()).toBe(2);

  // An answer is lost; then the event is renamed.
  expect((await sandbox.type("fail", "event:close-after-act:1")).code).toBe(0);
  stack.program(shop(`event("purchase", "Purchase");`, `event("signup", "Signup");`));
  const lost = await stack.up();
  expect(lost.code).not.toBe(0);
  const signup = "urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::signup";
  expect(lost.output).toContain(
    'Look in the account for the ConversionEvent named "Signup" (advertiserId 1, value 5), sent at ',
  );
  expect(lost.output).toContain(`npx pulumi-advertising pending --created '${signup}=<its id>'`);
  expect(lost.output).toContain(`npx pulumi-advertising pending --not-created '${signup}'`);
  stack.program(shop(`event("purchase", "Purchase");`, `event("signup-web", "Signup");`));
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).toContain(`pending --created '${signup}=<its id>'`);
  expect(stopped.output).not.toMatch(/^\s+at .*:\d+/m);
  expect(stopped.output).toContain(
    'ConversionEvent "signup" is no longer declared, and the outcome of its create is unknown',
  );
  expect(stopped.output).toContain(
    'If ConversionEvent "signup-web" is its new name or place, add { aliases: [{ name: "signup" }] } to it.',
  );
  const listed = await pending();
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain('look in the account for the ConversionEvent named "Signup"');
  stack.program(
    shop(`event("purchase", "Purchase");`, `event("signup-web", "Signup", { aliases: [{ name: "signup" }] });`),
  );
  expect((await pending("--created", `${signup}=${await sandbox.idOf("Signup")}`)).code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.posts()).toBe(3);

  // A live one is renamed, and another one is moved into a component: the preview says so, and with the aliases they are the same objects.
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
  expect(before.output).toContain("`purchase` (2) is no longer declared and `purchase-eu` has the same arguments");
  expect(before.output).toContain('If it is a rename, add `{ aliases: [{ name: "purchase" }] }`.');
  expect(before.output).toContain("If it is a rename, add `{ aliases: [{ parent: pulumi.rootStackResource }] }`.");

  stack.program(changed(`aliases: [{ name: "purchase" }]`, "aliases: [{ parent: pulumi.rootStackResource }]"));
  const renamed = await stack.up();
  expect(renamed.code, renamed.output).toBe(0);
  expect(renamed.output).toContain("unchanged");
  expect(sandbox.posts()).toBe(3);
  expect(await sandbox.names()).toEqual(["Acme", "Purchase", "Signup"]);

  // The own account has a stack of its own; its first run is stopped in the middle, and another one is tried meanwhile.
  const own = await startSandboxCommand("--latency-ms", "300");
  await stack.run(["stack", "init", "prod"]);
  await configure(own.url, "maxConcurrentRequests=1");
  const names = Array.from({ length: 6 }, (_, index) => `E${index}`);
  stack.program(shop(...names.map((name) => `event("${name.toLowerCase()}", "${name}");`)));
  const underWay = (async () => {
    while (own.posts() < 3) await sleep(10);
  })();
  const goOn = await upAndStop(stack, underWay);
  await stack.cancel();
  const other = await stack.up();
  expect(other.code).not.toBe(0);
  expect(other.output).toContain("another run of this stack is using it");
  expect(other.output).toContain("[ADVERTISING_JOURNAL]");
  await goOn();
  // What was in flight meanwhile has timed out: a person looks for it.
  for (let attempt = 0; attempt < 3 && (await stack.up()).code !== 0; attempt++) {
    const listed = await pending();
    for (const [, name = ""] of listed.output.matchAll(/ConversionEvent named "(E\d)"/g)) {
      const id = await own.idOf(name);
      const verdict =
        id === "undefined" ? ["--not-created", name.toLowerCase()] : ["--created", `${name.toLowerCase()}=${id}`];
      expect((await pending(...verdict)).output).toContain("Settled as");
    }
  }
  expect((await pending()).code).toBe(0);
  expect(await own.names()).toEqual(["Acme", ...names]);
  expect(own.posts()).toBe(7);
  expect(sandbox.posts()).toBe(3);
});
