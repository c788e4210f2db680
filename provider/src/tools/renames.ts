/**
 * Creates that may be renames: their whole body is that of an object which the same run lets go of. To create it would make a
 * second live object.
 */
import { aliasFor, nameInUrn, UNKNOWN } from "../state/index.js";
import { type Change, canonical, namesOf, SECRET_TEXT } from "./preview.js";

export interface Rename {
  readonly from: Change;
  readonly to: Change;
  /** Whether all of both bodies is known: no secret, nothing that is not known yet. */
  readonly isWhole: boolean;
  /** What to do, as code. */
  readonly advice: string;
}

export function renamesIn(changes: readonly Change[]): Rename[] {
  const gone = changes.filter(({ action, id }) => (action === "let go" || action === "delete") && id !== undefined);
  const byName = Map.groupBy(gone, (change) => nameKey(change));
  const taken = new Set<Change>();
  return changes.flatMap((to): Rename[] => {
    if (to.action !== "create") return [];
    const from = (byName.get(nameKey(to)) ?? []).find((each) => !taken.has(each) && isSameBody(each, to));
    if (from === undefined) return [];
    taken.add(from);
    return [{ from, to, isWhole: isKnown(from) && isKnown(to), advice: adviceFor(from, to) }];
  });
}

function nameKey({ kind, values }: Change): string {
  return `${kind.name} ${canonical(values[kind.nameProperty])}`;
}

function isSameBody(a: Change, b: Change): boolean {
  return namesOf(a.kind).every((name) => {
    const [one, other] = [a.values[name], b.values[name]];
    return one === UNKNOWN || other === UNKNOWN || canonical(one ?? null) === canonical(other ?? null);
  });
}

function isKnown({ kind, values }: Change): boolean {
  return namesOf(kind).every((name) => {
    const text = canonical(values[name] ?? null);
    return !text.includes(UNKNOWN) && !text.includes(SECRET_TEXT);
  });
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
