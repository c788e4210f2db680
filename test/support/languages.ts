/** What tests of programs in other languages need, built when the first of them asks for it. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, type TestContext } from "vitest";
import { languagesFolder } from "../../scripts/lib/base.mjs";
import { buildLanguages } from "../../scripts/lib/cli-build.mjs";

const TWENTY_MINUTES_IN_MS = 1_200_000;

/** Builds the language hosts and the generator of SDKs before a file's tests. Without Go, these are skipped. */
export function useLanguages(): void {
  beforeAll(async () => {
    await buildLanguages().catch(({ message }: Error) => console.log(message));
  }, TWENTY_MINUTES_IN_MS);
}

/** @returns PATH with a language's host, or a test that is skipped with the reason. */
export function hostOf(language: string, { skip }: TestContext): Record<string, string> {
  const host = join(languagesFolder, `pulumi-language-${language}`);
  skip(!existsSync(host), `${host} isn't built: it needs Go`);
  return { PATH: [languagesFolder, process.env.PATH].join(delimiter) };
}
