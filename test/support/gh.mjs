#!/usr/bin/env node
/**
 * A stand-in for GitHub's command `gh`, which can't be installed with npm: `gh api` as examples/starter uses it, for
 * the server that GH_TEST_API names. Its `--jq` runs the command `jq`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    method: { type: "string" },
    field: { type: "string", short: "F" },
    jq: { type: "string" },
    paginate: { type: "boolean" },
  },
});
const [command, endpoint = ""] = positionals;
if (command !== "api")
  throw new Error(`this stands in for \`gh api\` only, not for \`gh ${command}\``);
const [, name, file] = /^(\w+)=@(.+)$/.exec(values.field ?? "") ?? [];
const body =
  file === undefined
    ? {}
    : { body: JSON.stringify({ [name]: readFileSync(file, "utf8") }) };
const method = values.method ?? (file === undefined ? "GET" : "POST");

for (let url = new URL(endpoint, `${process.env.GH_TEST_API}/`).href; url !== undefined; ) {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `token ${process.env.GH_TOKEN}` },
    ...body,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  process.stdout.write(
    values.jq === undefined
      ? text
      : execFileSync("jq", ["--raw-output", values.jq], { input: text }),
  );
  url = values.paginate
    ? /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1]
    : undefined;
}
