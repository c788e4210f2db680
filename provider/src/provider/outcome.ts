/**
 * How one create ended, as data. The engine is told of a whole resource in `failure.ts`; a resource of many objects has an
 * outcome for each of them.
 */
import type { AdvertisingError } from "../base/index.js";
import type { CreateRecord } from "../state/index.js";

export type Outcome =
  /** Somebody has named the live object; nothing was sent. */
  | { readonly kind: "adopted"; readonly id: string }
  | {
      readonly kind: "created";
      readonly id: string;
      /** In the journal. */
      readonly mark: string;
      /** By an earlier run, which was interrupted: no create was sent. */
      readonly isTakenOver: boolean;
      /** Taken over, and given arguments that it did not have. */
      readonly isUpdated?: boolean;
    }
  /** Nothing was created: refused, not sent, rate limited, or the login failed. The error's class and words say which. */
  | { readonly kind: "not-created"; readonly error: AdvertisingError }
  /** Nobody knows what became of it. */
  | { readonly kind: "unresolved"; readonly record: CreateRecord };
