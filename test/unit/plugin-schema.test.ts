/** provider/schema.json, which the plugin answers with, is what the kinds, the settings and the doc comments say. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { conversionEvent, KINDS, SETS } from "../../provider/src/kinds/index.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";
import { EXAMPLE_LANGUAGES } from "../../scripts/lib/examples.mjs";
import { builtModules, pluginSchema } from "../../scripts/plugin-schema.mjs";
import { codeBlocksOf } from "../support/pages.js";

const repository = resolve(import.meta.dirname, "../..");
const committed = JSON.parse(
  readFileSync(join(repository, "provider/schema.json"), "utf8"),
);

it("the committed schema is up to date (`npm run schema`)", () => {
  expect(committed).toEqual(pluginSchema(builtModules()));
});

it("has each kind with each argument and output, and each setting", () => {
  const names = [...KINDS, ...SETS].map(({ name }) => `advertising:index:${name}`);
  expect(Object.keys(committed.resources)).toEqual(names);
  expect(Object.keys(committed.provider.inputProperties)).toEqual(SETTING_NAMES);
  const { inputProperties, properties } =
    committed.resources["advertising:index:ConversionEvent"];
  expect(Object.keys(inputProperties)).toEqual(
    expect.arrayContaining([...Object.keys(conversionEvent.wireNames), "existingId"]),
  );
  expect(Object.keys(properties)).toEqual(conversionEvent.outputs);
});

it("speaks no language of programs, and has numbers, booleans and named values as such", () => {
  const text = JSON.stringify(committed).replaceAll(
    /{{% examples %}}.*?{{% .examples %}}/g,
    "",
  );
  expect(text).not.toContain("```");
  const descriptions = [...text.matchAll(/"description":"((?:[^"\\\\]|\\\\.)*)"/g)];
  const prose = descriptions.map(([, description]) => description).join("\n");
  expect(prose).not.toMatch(/\b(true|false|ALL|WHITELIST)\b|or none\b/);
  expect(text).not.toMatch(
    /undefined|\bnull\b|days\(|hours\(|EventType\.|: true }`|\bInput\b|__proto__|toString|hold exactly/,
  );
  const { inputProperties } = committed.provider;
  expect(inputProperties.maxWaitSeconds.type).toBe("integer");
  expect(inputProperties.keepLoggedIn.type).toBe("boolean");
  expect(inputProperties.email.type).toBe("string");
  const enums = Object.entries(committed.types).filter(
    ([, type]) => (type as { enum?: [] }).enum,
  );
  expect(enums.map(([token]) => token)).toEqual([
    "advertising:index:EventType",
    "advertising:index:Attribution",
  ]);
});

/** Their programs are compiled or run by test/package/examples.test.ts, release.test.ts, and test/engine/languages.test.ts. */
it("each resource has an example in each language, with its own class, and YAML's arguments are the schema's", () => {
  for (const [token, { description }] of Object.entries<{ description: string }>(
    committed.resources,
  )) {
    const [name = ""] = token.split(":").slice(-1);
    const blocks = codeBlocksOf({ path: token, text: description });
    expect(blocks.map(({ language }) => language)).toEqual(EXAMPLE_LANGUAGES);
    for (const { code } of blocks) expect(code).toMatch(new RegExp(`\\b${name}\\b`));
    const { resources } = parse(blocks.at(-1)?.code ?? "");
    for (const { type, properties } of Object.values<{ type: string; properties: object }>(
      resources,
    )) {
      const { inputProperties, requiredInputs } =
        committed.resources[type.replace(":", ":index:")];
      const names = Object.keys(properties);
      expect(Object.keys(inputProperties)).toEqual(expect.arrayContaining(names));
      expect(names).toEqual(expect.arrayContaining(requiredInputs));
    }
  }
});
