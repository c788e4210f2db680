/** Says once that nothing has come back for a while, and for how long it is tried. */
import type { Settings } from "../settings/index.js";
import type { ClientDependencies } from "./client-dependencies.js";
import type { Attempt } from "./decide-retry.js";
import { type HttpRequest, TransportFailure } from "./transport.js";

const SILENT_MS = 5000;

export class Silence {
  /** Absent while something comes back. */
  #cancel: (() => void) | undefined;
  #isConnected = false;
  /** Why the last attempt found no connection. */
  #code = "";

  constructor(
    private readonly settings: Settings,
    private readonly dependencies: ClientDependencies,
  ) {}

  async during(request: HttpRequest): Promise<Attempt> {
    const { clock, say, transport } = this.dependencies;
    this.#cancel ??= clock.alarm(SILENT_MS, () => say(this.#message(request.url.host)));
    const onStart = () => {
      this.#isConnected = true;
    };
    const attempt = await transport.send({ ...request, onStart });
    if (attempt instanceof TransportFailure) this.#code = attempt.code;
    else this.end();
    return attempt;
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isConnected = false;
    this.#code = "";
  }

  #message(host: string): string {
    const { requestTimeoutSeconds, maxWaitSeconds } = this.settings;
    const after = `after ${SILENT_MS / 1000} s`;
    if (this.#isConnected) {
      const end = `The limit is ${requestTimeoutSeconds} s (advertising:requestTimeoutSeconds)`;
      return `No response from ${host} ${after}. ${end}.`;
    }
    const cause = this.#code === "" ? "" : ` (${this.#code})`;
    return (
      `No connection to ${host} ${after}${cause}. Retries end after ${maxWaitSeconds} s ` +
      "(advertising:maxWaitSeconds). Check advertising:baseUrl, the network and the proxy."
    );
  }
}
