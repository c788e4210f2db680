/** A change of one line of the product, which shows that a check can fail. */
import { resolve } from "node:path";
import type { Plugin } from "vitest/config";

export interface Mutation {
  /** The path below `provider/src`. */
  readonly file: string;
  /** A text that the file has exactly once, however its lines are broken. */
  readonly from: string;
  readonly to: string;
}

/** @throws Error if the source does not have `from` exactly once. */
export function mutated(source: string, { file, from, to }: Mutation): string {
  // A formatter breaks lines at blanks and inside brackets, and ends a broken list with a comma.
  const tokens = from.match(/\w+|[^\w\s]/g) ?? [];
  const patterns = tokens.map((token) => {
    if (/\w/.test(token)) return token;
    return /[)}\]]/.test(token) ? `,?\\s*\\${token}` : `\\${token}`;
  });
  const broken = new RegExp(patterns.join("\\s*"), "g");
  if (source.match(broken)?.length !== 1)
    throw new Error(`${file} does not hold once: ${from}`);
  return source.replace(broken, () => to);
}

/** Makes vitest load the product with the change in MUTATION (JSON). The files themselves don't change. */
export function mutating(): Plugin[] {
  const { MUTATION } = process.env;
  if (MUTATION === undefined) return [];
  const mutation = JSON.parse(MUTATION) as Mutation;
  const path = resolve(import.meta.dirname, "../../provider/src", mutation.file);
  const transform = (code: string, id: string) =>
    id.split("?", 1)[0] === path ? mutated(code, mutation) : undefined;
  // A cache of transformed modules would not have the change.
  const config = () => ({ test: { fsModuleCache: false } });
  return [{ name: "mutation", enforce: "pre", config, transform }];
}
