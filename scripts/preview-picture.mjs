import { readFileSync, writeFileSync } from "node:fs";
import { inRoot } from "./lib/paths.mjs";
import { withPictureStack } from "./lib/picture-stack.mjs";
import { runMain } from "./lib/problem.mjs";
import { screenOf, svgOf } from "./lib/terminal-picture.mjs";

const COLUMNS = 100;
const PICTURE = inRoot("docs", "preview.svg");

/**
 * Draws docs/preview.svg: what `pulumi preview` of the README's program really prints in a terminal, against a sandbox. Needs the
 * command `script` of util-linux, since Pulumi draws its table in a terminal only.
 *
 *   node scripts/preview-picture.mjs
 */
await runMain(async () => {
  const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(inRoot("README.md"), "utf8")) ?? [];
  const files = {
    "index.ts": program,
    "package.json": JSON.stringify({ name: "shop", private: true }),
    "Pulumi.yaml": "name: shop\nruntime: nodejs\nmain: index.ts\n",
  };
  await withPictureStack(files, async ({ succeed }) => {
    const preview = `stty cols ${COLUMNS} rows 50; pulumi preview`;
    const screen = screenOf(await succeed("script", "--quiet", "--return", "--command", preview, "/dev/null"));
    writeFileSync(PICTURE, svgOf("pulumi preview", screen));
    console.log(`Drawn: ${PICTURE}`);
  });
});
