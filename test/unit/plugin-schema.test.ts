/** provider/schema.json, which the plugin answers with, is what the kinds, the settings and the doc comments say. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { conversionEvent, KINDS, SETS } from "../../provider/src/kinds/index.js";
import { SETTING_NAMES } from "../../provider/src/settings/settings.js";
import { builtModules, pluginSchema } from "../../scripts/plugin-schema.mjs";

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
  const text = JSON.stringify(committed);
  expect(text).not.toMatch(
    /undefined|\bnull\b|days\(|hours\(|EventType\.|: true }`|\bInput\b/,
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
