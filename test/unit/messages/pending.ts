/** The command `pending`. */
import {
  heldMessage,
  listing,
  resolvedMessage,
} from "../../../provider/src/cli/pending.js";
import { type Examples, elsewhere, purchase, record } from "./examples.js";

const openCreate = {
  ref: purchase,
  record,
  knownBy: "journal",
  journal: elsewhere,
} as const;
const FACTS = { open: [], elsewhere: [], made: [] } as unknown as Parameters<
  typeof listing
>[0];

export const pending: Examples = {
  "pending: nothing": () => listing(FACTS).join("\n"),
  "pending: an unresolved create": () =>
    listing({ ...FACTS, open: [openCreate] } as typeof FACTS).join("\n"),
  "pending: answered": () =>
    ["42", undefined]
      .map((id) => resolvedMessage({ create: openCreate, id } as never))
      .join("\n"),
  "pending: ended": () =>
    resolvedMessage({
      create: { ...openCreate, record: { ...record, id: "42" } },
      isForgotten: true,
    }),
  "pending: the state has another one": () =>
    heldMessage({ ref: purchase, record, held: "42" } as never),
};
