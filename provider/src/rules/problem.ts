/**
 * What is wrong with an argument, as the public `validate` reports it. It has a file of its own, without zod: the compiler that Pulumi
 * brings along for programs that have none (TypeScript 3.8) reads this package's public types, and can't read zod's.
 */

/** The place in a file where a value was written. Lines and columns count from 1. */
export interface Source {
  readonly file: string;
  readonly line: number;
  /** None in a CSV file, where the property names the column. */
  readonly column?: number;
}

/** One thing to fix in one property. */
export interface Problem {
  /** Its path: `value`, or `events["purchase"].value` inside a map of members. */
  readonly property: string;
  /** Says what was expected and what was got, without the property's name. */
  readonly reason: string;
  readonly source?: Source;
}
