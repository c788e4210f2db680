/** Values that depend on how the code is distributed. The plugin's archives replace this module, `scripts/release/bundle.mjs`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How users run the command. */
export const COMMAND = "npx pulumi-advertising";

/** The page that explains the messages: a path from the folder in which the package was installed, or an address. */
export const MESSAGES_PAGE = "node_modules/pulumi-advertising/docs/messages.md";

/** @param file its path in the package. */
export function readFromPackage(file: string) {
  return readFileSync(join(__dirname, "../..", file), "utf8");
}

export function packageVersion(): string {
  return JSON.parse(readFromPackage("package.json")).version;
}
