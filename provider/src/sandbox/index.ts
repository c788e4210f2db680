/** The sandbox's public names: a local stand-in for the platform, for trying out and for tests. */
import type { SandboxOptions } from "./options.js";
import { Sandbox } from "./server.js";

export type {
  Fault,
  FaultRule,
  SandboxAnswer,
  SandboxAnswerer,
  SandboxObject,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
} from "./options.js";
export type { Sandbox };

/**
 * Starts a sandbox on 127.0.0.1.
 * @returns the listening sandbox; end it with `close()`.
 * @throws the system's error if the port is taken.
 * @example
 * const sandbox = await startSandbox();
 * // Run a program with ADVERTISING_BASE_URL, _EMAIL and _PASSWORD set to sandbox.url, .email and .password
 * console.log(sandbox.creates, sandbox.events);
 * await sandbox.close();
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return new Sandbox(options).listen();
}
