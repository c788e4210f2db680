/**
 * Notices that the engine was killed: the provider's process is then left behind, and must send nothing more, since
 * nobody saves what it creates.
 */
import { connect } from "node:net";

const CHECK_EVERY_MS = 1000;

/**
 * Calls `onGone` once nothing listens at the engine's address any more. Does not keep the process alive.
 * @param address `host:port`, as Pulumi passes it to its dynamic-provider process; anything else is not watched.
 */
export function watchEngine(address: string | undefined, onGone: () => void): void {
  const [, host, port] = /^([\w.[\]:-]+):(\d+)$/.exec(address ?? "") ?? [];
  if (host === undefined || port === undefined) return;
  const timer = setInterval(() => {
    const socket = connect({ host, port: Number(port) });
    socket.unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.destroy();
      // Any other error may pass; a closed port on the own machine means that the engine's process has ended.
      if (error.code !== "ECONNREFUSED") return;
      clearInterval(timer);
      onGone();
    });
  }, CHECK_EVERY_MS);
  timer.unref();
}
