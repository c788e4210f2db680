/**
 * The front door of `client/`: the platform's operations over one session.
 *
 * The room promises that a create is written at most once, that its outcome is stated plainly (created, refused, or not known), that one
 * table says what an answer proves (`judge.ts`), that refused credentials are tried once, and that no secret leaves it in a text. It may
 * import base, files, kinds, settings and store. undici and tough-cookie are loaded with the first client and its first session. The
 * program's half never imports the room, and the commands only when they need it.
 */
export { Client } from "./client.js";
export type { WireRecord } from "./judge.js";
export { logInAnew, type NewSession } from "./login.js";
export { secretsIn, systemSurroundings } from "./surroundings.js";
