/** The TypeScript programs in the resources' descriptions and on the registry's page, with the generated SDK that they import. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { RESOURCES } from "../../provider/src/kinds/index.js";
import { examplePath } from "../../scripts/lib/examples.mjs";
import { factsOf } from "../../scripts/release/facts.mjs";
import { schemaOf } from "../../scripts/release/schema.mjs";
import { writeSdks } from "../../scripts/release/sdks.mjs";
import { useTemporaryFolder } from "../support/packed.js";
import { codeBlocksOf, page } from "../support/pages.js";

const repository = resolve(import.meta.dirname, "../..");
const temporary = useTemporaryFolder();

it("each compiles", async ({ skip }) => {
  const sdks = join(temporary(), "sdks");
  try {
    await writeSdks(schemaOf(factsOf({})), sdks);
  } catch (error) {
    skip(`the generator of SDKs needs Go: ${error}`);
  }
  const overview = join(temporary(), "overview.ts");
  writeFileSync(overview, codeBlocksOf(page("docs/_index.md"))[0]?.code ?? "");
  const installed = (name: string) => [join(repository, "node_modules", name)];
  const program = ts.createProgram(
    [...RESOURCES.map(({ name }) => examplePath("typescript", name)), overview],
    {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: ["node"],
      typeRoots: installed("@types"),
      paths: {
        "pulumi-advertising-sdk": [join(sdks, "nodejs", "index.ts")],
        "@pulumi/*": installed("@pulumi/*"),
      },
    },
  );
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  expect(problems).toEqual([]);
});
