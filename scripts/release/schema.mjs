/** The plugin's schema as a release publishes it: with the release's addresses and names. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, inRoot, readJson } from "../lib/base.mjs";
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

/** Holds the schema against the metaschema in the module of Pulumi's generators. */
export async function checkSchema({ schema, scratch }) {
  const cwd = inRoot("scripts", "cli-build", "languages");
  const folder = ask("go", ["list", "-m", "-f", "{{.Dir}}", PKG], { cwd });
  if (!folder) {
    console.log("  schema: not held against Pulumi's metaschema, which comes with Go");
    return;
  }
  const file = join(scratch, "checked-schema.json");
  writeFileSync(file, schema);
  const meta = join(folder, "codegen", "schema", "pulumi.json");
  await succeed(await pythonEnvironment(), ["-c", CHECK, file, meta]);
}
