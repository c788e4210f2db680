/**
 * `client/`: the platform's operations over one session. undici and tough-cookie are loaded with the
 * first client and session: the program process never imports the module, and the commands only when they need it.
 */
export * from "./client.js";
export * from "./client-dependencies.js";
export * from "./login.js";
