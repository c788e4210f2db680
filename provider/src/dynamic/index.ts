/** `dynamic/`: Pulumi's dynamic providers in front of `operations/`. Nothing else there knows Pulumi. */
export { engineLog, watchEngine } from "./engine.js";
export { createProvider, silenceShown } from "./provider.js";
