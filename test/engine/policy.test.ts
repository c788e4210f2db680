/** examples/policy, a pack on this package's classes: it stops a real preview, before anything is sent. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { newStack, program, type TestStack, UNCHECKED, useSandbox } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
/** Comes with Pulumi's releases, beside the CLI. */
const starter = spawnSync("which", ["pulumi-analyzer-policy"], { encoding: "utf8" }).stdout.trim();

/**
 * The pack, started by Pulumi's own starter for policy packs. The engine asks the language host for it by itself, and the one that the
 * set-up builds from source is older and can't; for a runtime without a language host it looks for a starter of that name.
 */
function startedByStarter(): { readonly pack: string; readonly path: string } {
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pack = join(folder, "pack");
  cpSync(join(repository, "examples/policy"), pack, { recursive: true });
  const file = join(pack, "PulumiPolicy.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("runtime: nodejs", "runtime: starter"));
  symlinkSync(starter, join(folder, "pulumi-analyzer-policy-starter"));
  return { pack, path: `${folder}:${process.env.PATH}` };
}

const declaring = (eventName: string, window: number) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
new advertising.ConversionEvent("buy", { eventName: ${JSON.stringify(eventName)}, advertiserId: acme, value: 1,
  clickWindow: advertising.days(${window}), viewWindow: 60 });
new advertising.ConversionEventSet("set", { advertiserId: acme, defaults: { clickWindow: advertising.days(${window}), viewWindow: 60 },
  events: { land: { eventName: ${JSON.stringify(eventName)}, value: 0 } } });`);

describe.skipIf(starter === "")("examples/policy", () => {
  const preview = (stack: TestStack, ...args: string[]) => {
    const { pack, path } = startedByStarter();
    stack.setEnvironment({ PATH: path });
    return stack.preview("--policy-pack", pack, ...args);
  };

  it("stops a preview at wrong names and windows, in sets too, and in production at what is not protected, which is all it says there", async () => {
    const sandbox = await useSandbox();
    const stack = await newStack(declaring("Purchase", 30), { sandbox, environment: UNCHECKED });
    const wrong = await preview(stack);
    expect(wrong.code).not.toBe(0);
    expect(wrong.output).toContain('eventName "Purchase" does not fit');
    expect(wrong.output).toContain("clickWindow is 2592000 seconds; at most 1209600 are allowed");
    expect(wrong.output).toContain('events["land"]: eventName "Purchase" does not fit');
    expect(wrong.output).toContain('events["land"]: clickWindow is 2592000 seconds');
    expect(wrong.output).not.toContain("production-protected");

    stack.program(declaring("Purchase | shop", 7));
    await stack.run(["stack", "init", "production"]);
    const unprotected = await preview(stack, "--stack", "production");
    expect(unprotected.code).not.toBe(0);
    expect(unprotected.output).not.toMatch(/does not fit|are allowed/);
    expect(unprotected.output.match(/add the option \{ protect: true \}/g)).toHaveLength(3);
    expect(unprotected.output).toContain("advertising@v");
    expect(sandbox.requests).toEqual([]);
  });
});
