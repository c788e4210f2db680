/** A change of a line of the product, by which a check shows that it can fail. */
import { resolve } from "node:path";
import type { Plugin } from "vitest/config";

export interface Mutation {
  /** Below `provider/src`. */
  readonly file: string;
  /** It stands there once. */
  readonly from: string;
  readonly to: string;
}

/** @throws Error the source does not hold once what is to be changed. */
export function mutated(source: string, { file, from, to }: Mutation): string {
  if (source.split(from).length !== 2) throw new Error(`${file} does not hold once: ${from}`);
  return source.replace(from, () => to);
}

/** Has vitest load the product with the change that MUTATION holds (JSON). The files stay as they are. */
export function mutating(): Plugin[] {
  const { MUTATION } = process.env;
  if (MUTATION === undefined) return [];
  const mutation = JSON.parse(MUTATION) as Mutation;
  const path = resolve(import.meta.dirname, "../../provider/src", mutation.file);
  const transform = (code: string, id: string) => (id.split("?", 1)[0] === path ? mutated(code, mutation) : undefined);
  // What is kept of transformed modules does not know of the change.
  const config = () => ({ test: { fsModuleCache: false } });
  return [{ name: "mutation", enforce: "pre", config, transform }];
}
