/**
 * What a comment on a preview advises where a create looks like a rename: to create it would make a second live object.
 */
import { type Rename, renamesIn } from "../decision/index.js";
import { aliasFor, nameInUrn } from "../state/index.js";
import { type Change, SECRET_TEXT } from "./preview.js";

/** A rename, and what to do about it as code. */
export function likelyRenames(changes: readonly Change[]): (Rename<Change, Change> & { readonly advice: string })[] {
  const gone = changes.filter(({ action, id }) => (action === "let go" || action === "delete") && id !== undefined);
  const fresh = changes.filter(({ action }) => action === "create");
  const isHidden = (value: unknown) => value === SECRET_TEXT;
  return renamesIn(gone, fresh, isHidden).map((rename) => ({ ...rename, advice: adviceFor(rename.from, rename.to) }));
}

/** An alias where both are resources; a member of a set is none. */
function adviceFor(from: Change, to: Change): string {
  if (from.isMember || to.isMember) return `existingId: ${from.id}`;
  return aliasFor(placeOf(from), placeOf(to)).replace(/^\{ (.*) \}$/, "$1");
}

function placeOf({ urn }: Change) {
  const types = urn.split("::")[2] ?? "";
  const end = types.lastIndexOf("$");
  return { urn, name: nameInUrn(urn), parentTypes: end < 0 ? undefined : types.slice(0, end) };
}
