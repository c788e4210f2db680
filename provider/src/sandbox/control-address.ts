/**
 * The control address: where commands arrive from other processes. One address that takes a command line as its body
 * serves a person with curl, a script, and `advertising-sandbox list --port …` alike.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

export const CONTROL_PATH = "/sandbox";
/** By this header a client knows that what answers is a sandbox. */
export const CONTROL_HEADER = "advertising-sandbox";

export interface ControlAnswer {
  readonly isOk: boolean;
  /** For people; JSON where that was asked for. */
  readonly text: string;
  /** Called when the answer was given. */
  readonly afterwards?: () => void;
}

export type Control = (line: string) => ControlAnswer;

export function isForControl({ method, url }: IncomingMessage): boolean {
  return method === "POST" && url === CONTROL_PATH;
}

export function answerControl(
  control: Control,
  line: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  // Browsers name the origin of each POST: no web page may reach into a sandbox on its visitor's machine.
  const { isOk, text, afterwards } =
    incoming.headers.origin === undefined
      ? control(line)
      : { isOk: false, text: "no commands from web pages", afterwards: undefined };
  const status = isOk ? 200 : incoming.headers.origin === undefined ? 400 : 403;
  const headers = { "content-type": "text/plain; charset=utf-8", [CONTROL_HEADER]: "control", connection: "close" };
  response.writeHead(status, headers);
  response.end(text === "" ? "" : `${text}\n`, afterwards);
}
