import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inRoot } from "./lib/paths.mjs";
import { withPictureStack } from "./lib/picture-stack.mjs";
import { Problem, runMain } from "./lib/problem.mjs";

const EXAMPLE = inRoot("examples", "catalog");

/** In CSS pixels: the least at which the page shows its rows side by side, so that the text is large where the picture is small. */
const WIDTH = 1201;

/**
 * Takes docs/page-light.png and docs/page-dark.png: `report page` of the stack that examples/catalog makes on a sandbox, as a browser
 * shows it. Linux only.
 *
 *   node scripts/page-picture.mjs
 */
await runMain(async () => {
  const names = readdirSync(EXAMPLE).filter((name) => /\.(ts|yaml|csv)$/.test(name));
  const files = {
    ...Object.fromEntries(names.map((name) => [name, readFileSync(join(EXAMPLE, name))])),
    "package.json": JSON.stringify({ name: "catalog", private: true }),
  };
  await withPictureStack(files, async ({ folder, succeed, advertising }) => {
    await succeed("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
    const page = join(folder, "page.html");
    await advertising("report", "page", "--out", page);
    const { startBrowser } = await import("./lib/browser.mjs");
    const browser = await startBrowser();
    if (typeof browser === "string") throw new Problem(browser);
    try {
      for (const colorScheme of ["light", "dark"]) await takePicture(browser, page, colorScheme);
    } finally {
      await browser.close();
    }
  });
});

async function takePicture(browser, page, colorScheme) {
  const tab = await browser.newPage({
    colorScheme,
    viewport: { width: WIDTH, height: 600 },
  });
  await tab.goto(pathToFileURL(page).href);
  const picture = inRoot("docs", `page-${colorScheme}.png`);
  await tab.screenshot({ path: picture, fullPage: true });
  console.log(`Taken: ${picture}`);
}
