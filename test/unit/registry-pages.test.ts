/** The pages that Pulumi's registry shows, checked against the plugin's schema. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { codeBlocksOf, page } from "../support/pages.js";

const schema = JSON.parse(
  readFileSync(resolve(import.meta.dirname, "../../provider/schema.json"), "utf8"),
);
const overview = page("docs/_index.md");
const configuration = page("docs/installation-configuration.md");
const reference = page("docs/reference.md").text;

it.each([overview, configuration])("$path: front matter", ({ text }) => {
  const [, matter = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  expect(parse(matter)).toEqual({
    title: expect.stringMatching(/^Advertising/),
    meta_desc: expect.stringMatching(/\.$/),
    layout: "package",
  });
});

it("has each setting, with the reference's default", () => {
  const rows = [...configuration.text.matchAll(/^\| (`.*?) \| (.*?) \| (.*?) \|$/gm)];
  const defaults = rows.flatMap(([, names = "", value = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => [name, value] as const),
  );
  expect(defaults.map(([name]) => name)).toEqual(Object.keys(schema.config.variables));
  for (const [name, value] of defaults) {
    const [row = ""] =
      new RegExp(`^\\| \`${name}\` \\| \`ADV.*$`, "m").exec(reference) ?? [];
    const inReference = row.split(" | ")[2] ?? "";
    if (/^(`.*`|required|none)$/.test(value)) expect(inReference, name).toContain(value);
  }
});

it("the chooser has a block for each of its languages, and none is left open", () => {
  const [, names = ""] = /chooser language "(.*?)"/.exec(overview.text) ?? [];
  const blocks = [...overview.text.matchAll(/choosable language (\w+)/g)];
  expect(blocks.map(([, name]) => name)).toEqual(names.split(","));
  expect(overview.text.match(/\{\{% \/choosable %\}\}/g)).toHaveLength(blocks.length);
  expect(overview.text).toContain("{{< /chooser >}}");
});

it("TypeScript: the pages name the package that the schema's examples import", () => {
  const { packageName } = schema.language.nodejs;
  expect(codeIn("ts")).toContain(`from "${packageName}";`);
  expect(configuration.text).toContain(`the npm package \`${packageName}\``);
  for (const { description } of Object.values<{ description: string }>(schema.resources))
    expect(description).toContain(`from "${packageName}";`);
});

function codeIn(language: string): string {
  return codeBlocksOf(overview).find((block) => block.language === language)?.code ?? "";
}
const snakeCase = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

it("YAML and Python: each resource's arguments are the schema's", () => {
  const { resources } = parse(codeIn("yaml"));
  const declared = Object.values(resources) as { type: string; properties: object }[];
  expect(declared).toHaveLength(2);
  for (const { type, properties } of declared) {
    const name = type.replace(":", ":index:");
    const { inputProperties, requiredInputs } = schema.resources[name];
    expect(Object.keys(inputProperties)).toEqual(
      expect.arrayContaining(Object.keys(properties)),
    );
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(requiredInputs));
    const [, args = ""] =
      new RegExp(`advertising\\.${type.split(":")[1]}\\("\\w+", (.*)\\)`).exec(
        codeIn("python"),
      ) ?? [];
    const names = [...args.matchAll(/(\w+)=/g)].map(([, each]) => each);
    expect(names).toEqual(Object.keys(properties).map(snakeCase));
  }
});
