import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  argumentsOf,
  calledFrom,
  expectInstalled,
  inRoot,
  Problem,
  run,
  runMain,
} from "./lib/base.mjs";
import { PLATFORMS } from "./release/executables.mjs";
import { factsOf } from "./release/facts.mjs";
import { expectReplaceable, replaceFolder, uncommittedWarning } from "./release/folder.mjs";
import { arrange } from "./release/layout.mjs";
import { packPackage } from "./release/npm-package.mjs";
import { writeReadme } from "./release/readme.mjs";
import { checkSchema, schemaOf } from "./release/schema.mjs";
import { packDotnet, packNode, packPython, writeGo } from "./release/sdks.mjs";
import { SUMS, writeSums } from "./release/sums.mjs";

/**
 * Makes all that a release publishes, and checks it: `npm run release -- --out DIR`. For tests and other systems'
 * runners, `--parts` and `--platforms` make only some of it: `--parts plugin --platforms darwin-arm64`.
 */
const PARTS = ["npm", "plugin", "python", "nodejs", "go", "dotnet"];
const USAGE = `Usage: npm run release -- [options]

Makes all that a release publishes, and checks it.

  --out DIR          where it's written: a new folder, or one with an earlier release,
                     which is replaced once all is made (default: release)
  --flat             all files in one folder, as a release's page has them
  --parts LIST       only these of ${PARTS.join()}
  --platforms LIST   the plugin's archives only for these of
                     ${Object.keys(PLATFORMS).join()}`;

await runMain(async () => {
  const { values } = argumentsOf(USAGE, {
    options: {
      out: { type: "string", default: inRoot("release") },
      flat: { type: "boolean", default: false },
      parts: { type: "string", default: PARTS.join() },
      platforms: { type: "string", default: Object.keys(PLATFORMS).join() },
    },
  });
  const parts = chosen("parts", values.parts, PARTS);
  const platforms = chosen("platforms", values.platforms, Object.keys(PLATFORMS));
  const folder = resolve(calledFrom, values.out);
  expectReplaceable(folder);
  expectInstalled("rolldown");
  const { writeArchives } = await import("./release/archives.mjs");
  const warning = uncommittedWarning();
  if (warning) console.warn(warning);
  mkdirSync(dirname(folder), { recursive: true });
  const beside = mkdtempSync(`${folder}-`);
  const scratch = mkdtempSync(join(tmpdir(), "advertising-release-"));
  try {
    const out = join(beside, "made");
    mkdirSync(out);
    await compile();
    const facts = factsOf(process.env);
    const schema = schemaOf(facts);
    const makers = {
      npm: packPackage,
      plugin: writeArchives,
      python: packPython,
      nodejs: packNode,
      go: writeGo,
      dotnet: packDotnet,
    };
    await checkSchema({ schema, scratch });
    for (const part of parts) {
      console.log(`${part} …`);
      await makers[part]({ platforms, facts, schema, out, scratch });
    }
    if (!values.flat) await arrange(out);
    writeReadme({ facts, out, isFlat: values.flat });
    writeSums(out);
    replaceFolder(folder, out, beside);
    console.log(`\n${readFileSync(join(folder, SUMS), "utf8")}\nAll is in ${folder}.`);
    if (warning) console.warn(`\n${warning}`);
  } finally {
    for (const own of [beside, scratch]) rmSync(own, { recursive: true, force: true });
  }
});

function chosen(option, text, known) {
  const names = text.split(",");
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new Problem(`--${option}: there is no ${wrong}; expected ${known.join(", ")}.`);
  return names;
}

async function compile() {
  const { exitCode } = await run(
    process.execPath,
    [inRoot("node_modules", "typescript", "bin", "tsc"), "--build", "provider"],
    { cwd: inRoot() },
  );
  if (exitCode !== 0)
    throw new Problem("The package doesn't compile. Run `npm run setup` first.");
}
