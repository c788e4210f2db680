/** The front door of `store/`. */
export type { Attempt, Ending, Unsent } from "./attempt.js";
export { Inventory, inventoryPath, type Live, readInventory } from "./inventory.js";
export { Journal } from "./journal.js";
export { journalPath } from "./journal-path.js";
export { readNotes } from "./notes.js";
export { placesFor } from "./our-places.js";
export { reviseNotes } from "./revise.js";
