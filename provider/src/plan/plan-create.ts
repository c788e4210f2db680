/**
 * Decides what happens to a create, right before it would be sent. `createOnce` carries the decision out, and a preview
 * shows it, so they never differ. Pure.
 *
 * | facts | decision |
 * |---|---|
 * | the saved state has an object of this resource, which the engine doesn't know | keep |
 * | an earlier run's create of this resource made an object | take over |
 * | its outcome is unknown, it is the only one, and the platform can be searched | search |
 * | its outcome is unknown otherwise | blocked |
 * | an open create of another resource may have made this object | refused |
 * | another object of this run was refused | not sent |
 * | none of these | send |
 */
import type { CreateRecord, Unresolved } from "../state/index.js";
import { type Abilities, canSearch } from "./decide.js";
import { isMade, type OpenCreate } from "./open-creates.js";

type MadeCreate = CreateRecord & { id: string };

export interface CreateFacts {
  /** The object that the saved state has of this resource. */
  saved: MadeCreate | undefined;
  /** This resource's open creates. */
  own: readonly OpenCreate[];
  /** This resource's create of unknown outcome, from the state or the open creates. */
  unresolved: Unresolved | undefined;
  /** The id of the object that the create is to replace: it can't be the new one. */
  replaces: string | undefined;
  can: Abilities;
  /** The open create of another resource that may have made this object. */
  namesake: OpenCreate | undefined;
  /** The label of the first object that this run has refused to create. */
  firstRefused: string | undefined;
}

export type CreatePlan =
  | { do: "keep" | "take over"; create: MadeCreate }
  | { do: "search" | "blocked"; record: Unresolved }
  | { do: "refused"; namesake: OpenCreate }
  | { do: "not sent"; refused: string }
  | { do: "send" };

export function planCreate(facts: CreateFacts): CreatePlan {
  const { saved, own, unresolved, replaces, can, namesake, firstRefused } = facts;
  if (saved && saved.id !== replaces) return { do: "keep", create: saved };
  const made = own.filter(isMade).find(({ id }) => id !== replaces);
  if (made) return { do: "take over", create: made };
  if (unresolved) {
    // A search by one mark says nothing about another create of this resource.
    const isOnly = own.every(({ mark }) => mark === unresolved.mark);
    const isSearched = isOnly && canSearch(can, unresolved);
    return { do: isSearched ? "search" : "blocked", record: unresolved };
  }
  if (namesake) return { do: "refused", namesake };
  if (firstRefused !== undefined) return { do: "not sent", refused: firstRefused };
  return { do: "send" };
}
