/** The front door of `client/`. */
export { Client } from "./client.js";
export type { WireRecord } from "./judgement.js";
export type { AttemptReport } from "./patient.js";
export type { NewSession } from "./renew.js";
export { connect, logInAnew, secretsIn, systemSurroundings, transportFor } from "./wiring.js";
