/** examples/policy, a pack on this package's classes: it stops a real preview, before anything is sent. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { newStack, program, UNCHECKED, useSandbox } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
/** Comes with Pulumi's releases, beside the CLI. */
const starter = spawnSync("which", ["pulumi-analyzer-policy"], {
  encoding: "utf8",
}).stdout.trim();

/**
 * The pack, with this code if there is some, started by Pulumi's own starter for policy packs. The engine asks the language host for it by itself, and
 * the one built from source is older and can't; for a runtime without one it looks for a starter of that name.
 */
function startedByStarter(code?: string): {
  readonly pack: string;
  readonly folder: string;
} {
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pack = join(folder, "pack");
  cpSync(join(repository, "examples/policy"), pack, { recursive: true });
  const file = join(pack, "PulumiPolicy.yaml");
  const manifest = readFileSync(file, "utf8").replace(
    "runtime: nodejs",
    "runtime: starter",
  );
  writeFileSync(
    file,
    code === undefined ? manifest : manifest.replace("index.ts", "index.js"),
  );
  if (code !== undefined) writeFileSync(join(pack, "index.js"), code);
  symlinkSync(starter, join(folder, "pulumi-analyzer-policy-starter"));
  return { pack, folder };
}

const shop = program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const wrong = { clickWindow: advertising.days(30), viewWindow: 60 };
new advertising.ConversionEvent("buy", { eventName: "Purchase", advertiserId: acme, value: 1, ...wrong });
new advertising.ConversionEventSet("set", { advertiserId: acme, defaults: wrong, events: { land: { eventName: "Purchase", value: 0 } } });
const right = { clickWindow: advertising.days(7), viewWindow: 60 };
new advertising.ConversionEvent("right", { eventName: "Purchase | shop", advertiserId: acme, value: 1, ...right });`);

describe.skipIf(starter === "")("examples/policy", () => {
  it("stops a preview at wrong names and windows, in sets too, and in production at what is not protected, which is all it says of what is right", async () => {
    const sandbox = await useSandbox();
    const stack = await newStack(shop, { sandbox, environment: UNCHECKED });
    const stacks = join(stack.folder, "backend/.pulumi/stacks/tiny");
    writeFileSync(
      join(stacks, "production.json"),
      readFileSync(join(stacks, "dev.json"), "utf8").replace("/dev", "/production"),
    );
    cpSync(
      join(stack.programFolder, "Pulumi.dev.yaml"),
      join(stack.programFolder, "Pulumi.production.yaml"),
    );
    const { pack, folder } = startedByStarter();
    stack.setEnvironment({ PATH: `${folder}:${stack.environment.PATH}` });
    const { code, output } = await stack.preview(
      "--policy-pack",
      pack,
      "--stack",
      "production",
    );
    expect(code).not.toBe(0);
    expect(output).toContain('eventName "Purchase" does not fit');
    expect(output).toContain("clickWindow is 30 days; at most 14 are allowed");
    expect(output).toContain('events["land"]: eventName "Purchase" does not fit');
    expect(output).toContain('events["land"]: clickWindow is 30 days');
    expect(output).not.toMatch(/Purchase \| shop" does not fit|604800/);
    expect(output.match(/add the option \{ protect: true \}/g)).toHaveLength(4);
    expect(output).toContain("advertising@v");
    expect(sandbox.requests).toEqual([]);
  });
});

/**
 * A pack whose only policy remediates what this package's resources get; in JavaScript, as Pulumi takes 3 s to check
 * the types of one. @param made a function of their inputs.
 */
const remediating = (made: string) => `const { PolicyPack } = require("@pulumi/policy");
const without = (values, start) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith(start)));
const made = ${made};
new PolicyPack("advertising", { policies: [{
  name: "plain",
  description: "A remediation",
  enforcementLevel: "remediate",
  remediateResource: ({ type, props }) => type.includes("advertising:") ? made(props) : undefined,
}] });`;

describe.skipIf(starter === "")("a remediation", () => {
  it("that takes away all hidden inputs: an error of ours, in the preview of new resources too", async () => {
    const sandbox = await useSandbox();
    const stack = await newStack(shop, { sandbox });
    const { pack, folder } = startedByStarter(
      remediating('(values) => without(values, "__")'),
    );
    stack.setEnvironment({ PATH: `${folder}:${stack.environment.PATH}` });
    const { code, output } = await stack.preview("--policy-pack", pack);
    expect(code).not.toBe(0);
    expect(output).toMatch(/error: Advertiser "acme" lacks inputs .*\(__provider\)/);
    expect(sandbox.requests).toEqual([]);
  });

  it("that takes away the run's name, without which nobody could tell after a kill what was created; or that changes an argument, which a replacement would lose", async () => {
    const sandbox = await useSandbox();
    const events = (value: number) => `
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const args = { eventName: "E", advertiserId: acme, value: ${value}, clickWindow: advertising.days(30) };
const buy = new advertising.ConversionEvent("buy", args);`;
    const stack = await newStack(
      program(`${events(1)}
new advertising.Advertiser("nameless", { advertiserName: "Nameless" }, { dependsOn: buy });`),
      { sandbox },
    );
    const days = 14 * 24 * 3600;
    const { pack, folder } = startedByStarter(
      remediating(`(values) => {
        if (values.advertiserName === "Nameless") return without(values, "__sender");
        if (values.advertiserName === "Plain") return without(values, "__");
        return Number(values.clickWindow) > ${days} ? { ...values, clickWindow: ${days} } : values;
      }`),
    );
    stack.setEnvironment({ PATH: `${folder}:${stack.environment.PATH}` });
    const preview = await stack.preview("--policy-pack", pack);
    expect(preview.code).not.toBe(0);
    expect(preview.output).toMatch(
      /error: Advertiser "nameless" lacks inputs .*\(__sender\)/,
    );
    const { code, output } = await stack.up("--skip-preview", "--policy-pack", pack);
    expect(code).not.toBe(0);
    expect(output).toMatch(/error: This Advertiser lacks inputs .*\(__sender\)/);
    expect(sandbox.events).toMatchObject([{ click_window: days }]);
    expect(sandbox.creates).toBe(2);
    stack.program(
      program(`${events(2)}
new advertising.Advertiser("plain", { advertiserName: "Plain" });`),
    );
    const options = ["--skip-preview", "--continue-on-error", "--policy-pack", pack];
    const changed = await stack.up(...options);
    expect(changed.code).not.toBe(0);
    // Without a preview, Pulumi itself fails, before anything is sent.
    expect(changed.output).toContain("resource plain [");
    expect(changed.output).toMatch(/"buy": a policy changes clickWindow, but Pulumi drops/);
    expect(sandbox.creates).toBe(2);
  });
});
