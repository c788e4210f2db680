/** What must hold for how the installed package is loaded: by `require`, by `import` and by the TypeScript compiler. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import type { InstalledProject, Manager } from "../support/packed.js";

/** What `npm test` checks in the repository, here against the installed package. */
const TYPED = readFileSync(resolve(import.meta.dirname, "../types/programs.ts"), "utf8");

const NAMES = [
  "Advertiser",
  "Attribution",
  "Catalog",
  "ConversionEvent",
  "ConversionEventSet",
  "EventType",
  "days",
  "hours",
  "validate",
];

export function describeLoading(manager: Manager, projectOf: () => InstalledProject): void {
  /** What a script in the project prints as JSON. It has to end by itself. */
  async function answerOf(file: string, text: string): Promise<unknown> {
    const { code, output } = await projectOf().node(file, text);
    expect(output).not.toMatch(/warning|error/i);
    expect(code).toBe(0);
    return JSON.parse(output);
  }

  it("by require: the public names and nothing else, without anything that sends requests", async () => {
    const script = `
const advertising = require("pulumi-advertising");
const values = { days: advertising.days(7), hours: advertising.hours(1), purchase: advertising.EventType.Purchase,
  landingPage: advertising.EventType.LandingPage, whitelist: advertising.Attribution.Whitelist };
const loaded = [...Object.keys(require.cache), ...process.moduleLoadList];
console.log(JSON.stringify({ names: Object.keys(advertising).sort(), values, count: loaded.length,
  heavy: loaded.filter((name) => /undici|tough-cookie|node_modules.(yaml|csv-parse)|pulumi-advertising.dist.(handlers|client|provider|sandbox|tools)/.test(name)) }));`;
    expect(await answerOf("required.js", script)).toEqual({
      names: NAMES,
      values: { days: 604_800, hours: 3_600, purchase: 0, landingPage: 1, whitelist: "WHITELIST" },
      count: expect.any(Number),
      heavy: [],
    });
  });

  it("by import: each name, and the same classes as by require", async () => {
    const script = `
import { createRequire } from "node:module";
import { ${NAMES.join(", ")} } from "pulumi-advertising";
const required = createRequire(import.meta.url)("pulumi-advertising");
const imported = { ${NAMES.join(", ")} };
console.log(JSON.stringify(Object.entries(imported).map(([name, value]) => [name, typeof value, value === required[name]])));`;
    const kinds = { Attribution: "object", EventType: "object" } as Record<string, string>;
    expect(await answerOf("imported.mjs", script)).toEqual(
      NAMES.map((name) => [name, kinds[name] ?? "function", true]),
    );
  });

  it.each([
    [
      "required",
      "catalog.js",
      `const { Catalog } = require("pulumi-advertising"); const pulumi = require("@pulumi/pulumi");`,
    ],
    [
      "imported",
      "catalog.mjs",
      `import { Catalog } from "pulumi-advertising"; import * as pulumi from "@pulumi/pulumi";`,
    ],
  ])("a catalog's libraries are found where the package was %s", async (_how, file, loading) => {
    projectOf().write("events.csv", "key,advertiser,eventName,value\nbuy,4711,Buy,1\n");
    const script = `${loading}
process.env.ADVERTISING_PASSWORD = "x";
pulumi.runtime.setMocks({ newResource: ({ inputs }) => ({ id: "7", state: { ...inputs, eventId: 7 } }), call: () => ({}) });
pulumi.runtime.setAllConfig({ "advertising:baseUrl": "http://127.0.0.1:1", "advertising:email": "a@example.com" });
new Catalog("shop", { file: "events.csv" }).eventIds.apply((ids) => console.log(JSON.stringify(ids)));`;
    expect(await answerOf(file, script)).toEqual({ buy: 7 });
  });

  it.each([
    ["required", "handlers.js", `const { advertiser, conversionEvent } = require("pulumi-advertising/handlers");`],
    ["imported", "handlers.mjs", `import { advertiser, conversionEvent } from "pulumi-advertising/handlers";`],
  ])("the handlers can be %s, and leave nothing running", async (_how, file, loading) => {
    const script = `${loading}
console.log(JSON.stringify([advertiser, conversionEvent].map((provider) => typeof provider.create)));`;
    expect(await answerOf(file, script)).toEqual(["function", "function"]);
  });

  it.each([
    ["required", "sandbox.js", `const { startSandbox } = require("pulumi-advertising/sandbox");`],
    ["imported", "sandbox.mjs", `import { startSandbox } from "pulumi-advertising/sandbox";`],
  ])("the sandbox can be %s, and ends with close()", async (_how, file, loading) => {
    const script = `${loading}
startSandbox().then(async (sandbox) => {
  const { status } = await fetch(sandbox.url);
  await sandbox.close();
  console.log(JSON.stringify({ status, creates: sandbox.creates }));
});`;
    expect(await answerOf(file, script)).toEqual({ status: expect.any(Number), creates: 0 });
  });

  it.each([
    [
      "required",
      "testing.js",
      `const { outputOf, setMocks } = require("pulumi-advertising/testing"); const { Advertiser } = require("pulumi-advertising");`,
    ],
    [
      "imported",
      "testing.mjs",
      `import { outputOf, setMocks } from "pulumi-advertising/testing"; import { Advertiser } from "pulumi-advertising";`,
    ],
  ])("the mocks can be %s", async (_how, file, loading) => {
    const script = `${loading}
setMocks().then(async () => {
  console.log(JSON.stringify(await outputOf(new Advertiser("acme", { advertiserName: "Acme" }).advertiserId)));
});`;
    expect(await answerOf(file, script)).toBe(1);
  });

  it("nothing else of it can be loaded", async () => {
    const script = `
const results = ["dist/index.js", "session", "provider/single.js"].map((path) => {
  try { return typeof require("pulumi-advertising/" + path); } catch (error) { return error.code; }
});
console.log(JSON.stringify([...results, require("pulumi-advertising/package.json").name]));`;
    const refused = "ERR_PACKAGE_PATH_NOT_EXPORTED";
    expect(await answerOf("inner.js", script)).toEqual([refused, refused, refused, "pulumi-advertising"]);
  });

  // A compiler run is slow: pnpm's layout is the strict one, and the other ways of resolving are published.test.ts's (attw).
  if (manager === "pnpm") {
    it("type-checks strictly, its declarations too", async () => {
      const files = ["typed.ts", "typed.mts"];
      for (const file of files) projectOf().write(file, TYPED);
      const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--types", "node"];
      const how = ["--noEmit", "--target", "es2023", "--moduleResolution", "nodenext", "--module", "nodenext"];
      const { code, output } = await projectOf().run(projectOf().command("tsc"), ...strict, ...how, ...files);
      expect(output).toBe("");
      expect(code).toBe(0);
    });
    return;
  }

  it("type-checks with the compiler that Pulumi brings along for programs that have none", async () => {
    expect(await answerOf("old-compiler.js", WITH_PULUMIS_COMPILER)).toEqual({ version: "3.8.3", faults: [] });
  });
}

/** What that old compiler finds wrong in a program, and in what it reads of this package; others' declarations are newer than it. */
const WITH_PULUMIS_COMPILER = `
const { writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const pulumi = dirname(require.resolve("@pulumi/pulumi/package.json"));
const { devDependencies } = require("@pulumi/pulumi/package.json");
const ts = require(join(pulumi, "vendor", "typescript@" + devDependencies.typescript, "typescript.js"));
writeFileSync("old.ts", \`
import * as pulumi from "@pulumi/pulumi";
import * as advertising from "pulumi-advertising";
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const args: advertising.ConversionEventArgs = { eventName: "P", advertiserId: acme, value: 25, eventTypeId: advertising.EventType.Purchase };
export const eventId: pulumi.Output<number> = new advertising.ConversionEvent("purchase", args).eventId;
\`);
const program = ts.createProgram(["old.ts"], {
  noEmit: true, strict: true, types: [], target: ts.ScriptTarget.ES2020, module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.NodeJs,
});
const ours = program.getSourceFiles().filter(({ fileName }) => fileName === "old.ts" || /[\\\\/]pulumi-advertising[\\\\/]/.test(fileName));
const faults = ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
  .map(({ file, messageText }) => file.fileName + ": " + ts.flattenDiagnosticMessageText(messageText, " "));
console.log(JSON.stringify({ version: ts.version, faults }));`;
