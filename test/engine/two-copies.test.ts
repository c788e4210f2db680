/** A library that brings its own copy of the package: refused before anything is registered, because neither copy knows the whole program. */
import { cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const built = resolve(import.meta.dirname, "../../provider");

it("a program with two copies sends nothing and names both, with the cure; with one of them it runs", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const { Tracking } = require("./library");
const web = new Tracking("web");
new advertising.ConversionEvent("buy", { eventName: "Buy", advertiserId: web.advertiser, value: 2 });`),
    { sandbox },
  );
  mkdirSync(join(stack.programFolder, "library"));
  stack.write("library/index.js", LIBRARY);
  const copyIn = (folder: string, version: string) => {
    const copy = join(stack.programFolder, folder, "node_modules", "pulumi-advertising");
    mkdirSync(copy, { recursive: true });
    cpSync(join(built, "dist"), join(copy, "dist"), { recursive: true });
    const manifest = { name: "pulumi-advertising", version, main: "dist/index.js", exports: EXPORTS };
    writeFileSync(join(copy, "package.json"), JSON.stringify(manifest));
    return realpathSync(copy);
  };
  const own = copyIn(".", "0.2.0");
  const nested = copyIn("library", "0.1.0");
  for (const { code, output } of [await stack.preview(), await stack.up()]) {
    expect(code).not.toBe(0);
    // Once in the list of messages.
    expect(
      output.split("Diagnostics:")[1]?.match(/1 problem; nothing was registered and nothing was sent\./g),
    ).toHaveLength(1);
    expect(output).toContain(`  ${own}\n`);
    expect(output).toContain(`  ${nested}\n`);
    expect(output).toContain("npm dedupe");
    expect(output).not.toMatch(/^\s+at /m);
  }
  expect(sandbox.requests).toEqual([]);
  expect(await stack.resources()).toEqual([]);
  rmSync(nested, { recursive: true });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect([sandbox.advertisers.length, sandbox.events.length]).toEqual([1, 1]);
});

const EXPORTS = { ".": "./dist/index.js", "./handlers": "./dist/handlers.js" };

const LIBRARY = `
const pulumi = require("@pulumi/pulumi");
const advertising = require("pulumi-advertising");
exports.Tracking = class extends pulumi.ComponentResource {
  constructor(name) {
    super("acme:tracking:Tracking", name);
    this.advertiser = new advertising.Advertiser(name, { advertiserName: "Web" }, { parent: this });
    this.registerOutputs({});
  }
};`;
