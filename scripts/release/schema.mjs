/** The plugin's schema as a release publishes it: with the release's addresses and names. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, inRoot, readJson, run } from "../lib/base.mjs";
import { pythonEnvironment } from "./python.mjs";
import { succeed } from "./run.mjs";

/** @param facts of the release. @returns the schema as text. */
export function schemaOf(facts) {
  const { version, repository, homepage, pluginDownloadURL, goModule } = facts;
  const schema = readJson(inRoot("provider", "schema.json"));
  const { go } = schema.language;
  const released = {
    ...schema,
    version,
    homepage,
    repository,
    pluginDownloadURL,
    language: {
      ...schema.language,
      go: { ...go, importBasePath: goModule },
    },
  };
  return JSON.stringify(released);
}

const PKG = "github.com/pulumi/pulumi/pkg/v3";
/** Python writes a named group of a regular expression with a P. */
const CHECK = String.raw`
import json, re, sys
from jsonschema import validate
schema, meta = (open(file, encoding="utf-8").read() for file in sys.argv[1:])
validate(json.loads(schema), json.loads(re.sub(r"\(\?<(?=\w)", "(?P<", meta)))
`;

/**
 * Where the metaschema is, in the module of Pulumi's generators: Go fetches the module if its cache lacks it.
 * @returns `{ file }`, or `{ reason }` if there is no Go, or no network.
 */
export async function metaschema() {
  const cwd = inRoot("scripts", "cli-build", "languages");
  if (ask("go", ["version"]) === undefined)
    return { reason: "there is no Go on this machine" };
  const download = ["mod", "download", "-json", PKG];
  const { output } = await run("go", download, { cwd, capture: true });
  const [json] = /\{[\s\S]*\}/.exec(output) ?? [];
  const { Dir: folder, Error: reason = output.trim() } = json ? JSON.parse(json) : {};
  return folder ? { file: join(folder, "codegen", "schema", "pulumi.json") } : { reason };
}

/** Holds the schema against Pulumi's metaschema. */
export async function checkSchema({ schema, scratch }) {
  const { file: meta, reason } = await metaschema();
  if (reason) {
    console.log(`  schema: not held against Pulumi's metaschema: ${reason}`);
    return;
  }
  const file = join(scratch, "checked-schema.json");
  writeFileSync(file, schema);
  await succeed(await pythonEnvironment(), ["-c", CHECK, file, meta]);
}
