/**
 * A problem with one property. In its own file, without zod: TypeScript 3.8, which Pulumi bundles for programs that
 * bring no compiler, reads this package's public types, and can't read zod's.
 */
export interface Problem {
  /** Its path: `value`, or `events["purchase"].value` inside a map of members. */
  readonly property: string;
  /** Says what was expected and what was got, without the property's name. */
  readonly reason: string;
  /** `"warning"`: the value is accepted, but probably a mistake. @default "error" */
  readonly level?: "error" | "warning";
}
