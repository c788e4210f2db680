/**
 * Connections on which an unasked `100 Continue` is ignored, as HTTP demands of every client (RFC 9110, section
 * 15.2.1) and some servers send it for each POST. undici takes it for an attack and drops the connection, which would
 * leave the outcome of a create unknown.
 */
import type { Socket } from "node:net";
import { buildConnector } from "undici";

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
/** Where the status code begins. */
const FIRST_DIGIT = "HTTP/1.1 ".length;
/** Where the status code's last digit stands. */
const LAST_DIGIT = "HTTP/1.1 10".length;
const [ONE, TWO] = ["1", "2"].map((digit) => digit.charCodeAt(0)) as [number, number];

export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[0] === null) readContinueAsProcessing(result[1]);
      callback(...result);
    });
}

/** `102 Processing` means as little, and undici waits on after it. */
export function readContinueAsProcessing(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: unknown = read(size);
    if (!Buffer.isBuffer(chunk) || chunk[FIRST_DIGIT] !== ONE) return chunk; // as nearly all are
    if (CONTINUE.test(chunk.toString("latin1", 0, LAST_DIGIT + 2))) chunk[LAST_DIGIT] = TWO;
    return chunk;
  };
}
