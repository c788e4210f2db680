import { spawn } from "node:child_process";
import { lineReader } from "./build-progress.mjs";
import { Problem } from "./problem.mjs";

/**
 * Starts a server and answers when it has printed a line that fits `ready`: `{ match, close }`. It ends with this process at the latest.
 * @param {string} program
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions & { ready: RegExp, signal?: NodeJS.Signals }} options `signal`: what ends it, SIGTERM by default
 */
export async function startServer(program, args, { ready, signal = "SIGTERM", ...options }) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill(signal);
  process.once("exit", end);
  const ended = new Promise((resolve) => child.once("close", resolve));
  let output = "";
  try {
    const match = await new Promise((resolve, reject) => {
      const read = lineReader((line) => {
        output += `${line}\n`;
        const found = ready.exec(line);
        if (found !== null) resolve(found);
      });
      // Read to its end: a server whose pipe is full stops.
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
      child.once("error", reject);
      ended.then((code) => reject(new Problem(`${output}\n${program} ended with ${code} before it was ready.`)));
    });
    const close = async () => {
      process.off("exit", end);
      end();
      await ended;
    };
    return { match, close };
  } catch (error) {
    process.off("exit", end);
    end();
    throw error;
  }
}
