/**
 * How one create ended, as data. The engine is told of a whole resource in `failure.ts`; a resource of many objects has an
 * outcome for each of them.
 */
import type { AdvertisingError } from "../errors.js";
import type { UnresolvedMark } from "../state/unresolved.js";

export type Outcome =
  | { readonly kind: "created"; readonly id: string }
  /** Nothing was created: refused, not sent, rate limited, or the login failed. The error's class and words say which. */
  | { readonly kind: "not-created"; readonly error: AdvertisingError }
  /** Nobody knows what became of it. */
  | { readonly kind: "unresolved"; readonly mark: string; readonly unresolved: UnresolvedMark };
