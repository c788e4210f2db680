/**
 * A catalog as it was written, whichever format the file has, and what is found in it.
 */
import type { Values } from "../base/index.js";
import type { Problem, Source } from "../rules/index.js";

/** One object of a file. */
export interface Written {
  /** As people know it: `acme/purchase`, `acme defaults`, `rules.errors`. */
  readonly subject: string;
  /** By property in camelCase, as far as the file says. */
  readonly given: Values;
  /** Where a property stands: its value, or its name. Without a property, or without that one, where the object does. */
  readonly sourceOf: (property?: string, part?: "value" | "name") => Source;
}

export interface WrittenEvent extends Written {
  /** Properties whose absence is told already. */
  readonly told?: ReadonlySet<string>;
  readonly key: string;
  /** The key of its advertiser, or the id of a live one. */
  readonly advertiser: string;
}

export interface WrittenAdvertiser extends Written {
  readonly key: string;
  readonly defaults: Written | undefined;
}

export interface WrittenCatalog {
  readonly file: string;
  readonly defaults: Written | undefined;
  readonly rules: { readonly errors: Written | undefined; readonly warnings: Written | undefined };
  /** None where the file declares none: the events' own texts name them. */
  readonly advertisers: readonly WrittenAdvertiser[] | undefined;
  readonly events: readonly WrittenEvent[];
  readonly findings: readonly Finding[];
}

/** Something to fix in a file, or to look at. */
export interface Finding extends Problem {
  readonly level: "error" | "warning";
  readonly subject: string;
  readonly source: Source;
}

/** An error that stands in a file, about no property. */
export function errorAt(source: Source, subject: string, reason: string): Finding {
  return { level: "error", subject, property: "", reason, source };
}

/** `catalog.yaml:12:9 acme/purchase: value expected a finite number; …` */
export function describeFinding({ source: { file, line, column }, subject, property, reason }: Finding): string {
  const about = subject === "" ? "" : ` ${subject}:`;
  return `${file}:${line}:${column}${about}${property === "" ? "" : ` ${property}`} ${reason}`;
}
