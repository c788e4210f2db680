/** Where a value was written, where that is a file. Lines and columns count from 1. */
export interface Source {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One thing to fix in one property. */
export interface Problem {
  /** Its path: `value`, or `events["purchase"].value` inside a map of members. */
  readonly property: string;
  /** What was expected and what was got, without the property's name. */
  readonly reason: string;
  readonly source?: Source;
}
