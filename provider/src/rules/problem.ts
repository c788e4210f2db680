/**
 * What is wrong with one property, as the public `validate` reports it. In its own file, without zod: the compiler that
 * Pulumi brings for programs that have none (TypeScript 3.8) reads this package's public types, and can't read zod's.
 */
export interface Problem {
  /** Its path: `value`, or `events["purchase"].value` inside a map of members. */
  readonly property: string;
  /** Says what was expected and what was got, without the property's name. */
  readonly reason: string;
}
