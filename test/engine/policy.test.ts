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
 * The pack, started by Pulumi's own starter for policy packs. The engine asks the language host for it by itself, and
 * the one built from source is older and can't; for a runtime without one it looks for a starter of that name.
 */
function startedByStarter(): { readonly pack: string; readonly folder: string } {
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pack = join(folder, "pack");
  cpSync(join(repository, "examples/policy"), pack, { recursive: true });
  const file = join(pack, "PulumiPolicy.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("runtime: nodejs", "runtime: starter"),
  );
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
