/** Where the files of a run stand: its session, and the journal beside it. */

import { type Places, placesOf } from "../files/index.js";
import type { Settings } from "../settings/index.js";

/** @param folder the program's, which a relative `cookieFile` begins at. */
export function placesFor(settings: Settings, folder: string): Places {
  const { keepLoggedIn, authenticatePath, cookieFile } = settings;
  // Sessions of one account that must not be taken for each other.
  return placesOf(settings, `${keepLoggedIn ? "long-lived" : "short"} ${authenticatePath}`, cookieFile, folder);
}
