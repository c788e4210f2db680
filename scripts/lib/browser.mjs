import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

/** Not those that the package proposes: with its single process, a second context ends the browser. */
const SWITCHES = ["--no-sandbox", "--disable-gpu"];

/**
 * A real browser without a window: the Chromium that a package ships, for Linux. A `Browser` of Playwright; or a string that says why none
 * starts here.
 */
export async function startBrowser() {
  if (process.platform !== "linux")
    return `the browser of @sparticuz/chromium runs on Linux only (this is ${process.platform})`;
  try {
    return await playwright.launch({ executablePath: await chromium.executablePath(), args: SWITCHES });
  } catch (error) {
    return `no browser starts here: ${error.message.slice(0, 300)}`;
  }
}
