/**
 * The control address: where commands arrive from other processes. One address that takes a command line as its body
 * serves a person with curl, a script, and `advertising-sandbox list --port …` alike.
 */
import { type IncomingMessage, request, type ServerResponse } from "node:http";

const CONTROL_PATH = "/sandbox";
/** By this header a client knows that what answers is a sandbox. */
const CONTROL_HEADER = "advertising-sandbox";

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

/** Sends a command to a sandbox that runs in another process on this machine. @throws Error where none answers at `port`. */
export function ask(port: number, line: string): Promise<Pick<ControlAnswer, "isOk" | "text">> {
  const where = `127.0.0.1:${port}`;
  return new Promise((resolve, reject) => {
    // An agent of its own: the global one may be set to use a proxy (NODE_USE_ENV_PROXY).
    const options = { host: "127.0.0.1", port, path: CONTROL_PATH, method: "POST", agent: false } as const;
    const asked = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => {
        if (response.headers[CONTROL_HEADER] === undefined) {
          reject(new Error(`what listens at ${where} is not a sandbox that takes commands`));
        } else resolve({ isOk: response.statusCode === 200, text: text.replace(/\n$/, "") });
      });
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error("no response within 10 s")));
    asked.once("error", (error) => reject(new Error(`no sandbox listens at ${where}: ${error.message}`)));
    asked.end(line);
  });
}
