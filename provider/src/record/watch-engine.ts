/** Notices when the engine is gone. */
import { connect } from "node:net";

const CHECK_EVERY_MS = 1000;

/** Calls `onGone` once nothing listens at the engine's address, `host:port`. Doesn't keep the process alive. */
export function watchEngine(address: string | undefined, onGone: () => void) {
  const [, host, port] = /^([\w.[\]:-]+):(\d+)$/.exec(address ?? "") ?? [];
  if (host === undefined) return;
  const timer = setInterval(() => {
    const socket = connect({ host, port: Number(port) });
    socket.unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.destroy();
      // Any other error may be temporary; a closed port on this machine means that the engine's process has ended.
      if (error.code !== "ECONNREFUSED") return;
      clearInterval(timer);
      onGone();
    });
  }, CHECK_EVERY_MS);
  timer.unref();
}
