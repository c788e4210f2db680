/** A real browser without a window: the Chromium that a package ships, or the system's. */
import { existsSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

const OF_THE_SYSTEM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Not those that the package proposes: with its single process, a second context ends the browser. */
const SWITCHES = ["--no-sandbox", "--disable-gpu"];

/** @returns in words why there is none, where none starts. */
export async function startBrowser(): Promise<Browser | string> {
  const reasons: string[] = [];
  const candidates = [
    ...(process.platform === "linux" ? [() => chromium.executablePath()] : []),
    ...OF_THE_SYSTEM.filter((path) => existsSync(path)).map((path) => async () => path),
  ];
  for (const find of candidates) {
    try {
      return await playwright.launch({ executablePath: await find(), args: SWITCHES });
    } catch (error) {
      reasons.push((error as Error).message.slice(0, 300));
    }
  }
  return `no browser starts here: ${reasons.join("; ") || "install Debian's chromium"}`;
}
