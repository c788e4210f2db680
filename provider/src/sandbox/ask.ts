/**
 * Sends a command to a sandbox that runs in another process on this machine.
 */
import { request } from "node:http";
import { CONTROL_HEADER, CONTROL_PATH, type ControlAnswer } from "./control-address.js";

/** @throws Error where no sandbox answers at `port`. */
export function ask(port: number, line: string): Promise<Pick<ControlAnswer, "isOk" | "text">> {
  const where = `127.0.0.1:${port}`;
  return new Promise((resolve, reject) => {
    // An agent of its own: the global one may have been told to go through a proxy (NODE_USE_ENV_PROXY).
    const options = { host: "127.0.0.1", port, path: CONTROL_PATH, method: "POST", agent: false } as const;
    const asked = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => {
        if (response.headers[CONTROL_HEADER] === undefined) {
          reject(new Error(`what answers at ${where} is no sandbox that takes commands`));
        } else resolve({ isOk: response.statusCode === 200, text: text.replace(/\n$/, "") });
      });
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error("no answer within 10 s")));
    asked.once("error", (error) => reject(new Error(`no sandbox answers at ${where}: ${error.message}`)));
    asked.end(line);
  });
}
