import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startSandbox } from "pulumi-advertising/sandbox";
import { FIRST_ID } from "./bench-programs.mjs";

/**
 * A sandbox in a process of its own, so that neither it nor whoever measures waits for the other's event loop.
 * `received` answers what arrived since the last `reset`.
 * @param latencyMs before each answer
 */
export async function forkSandbox({ latencyMs = 0 } = {}) {
  const child = fork(fileURLToPath(import.meta.url), [String(latencyMs)], { stdio: "inherit" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the sandbox ended with ${code}: see its message above`);
  });
  ended.catch(() => {}); // where nobody asks any more, that is its proper end
  const ask = async (question) => {
    child.send(question);
    const [answer] = await Promise.race([once(child, "message"), ended]);
    return answer;
  };
  const address = await ask("address");
  return {
    address,
    reset: () => ask("reset"),
    received: () => ask("received"),
    close: () => child.disconnect(),
  };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  // The documented way logs in for each create; that the platform limits logins is not what is measured.
  const latencyMs = Number(process.argv[2]);
  const sandbox = await startSandbox({
    latencyMs,
    firstId: FIRST_ID,
    loginLimit: { count: 1_000_000, windowSeconds: 1 },
  });
  const answers = {
    address: () => ({ url: sandbox.url, email: sandbox.email, password: sandbox.password }),
    reset: () => {
      sandbox.reset();
      return true;
    },
    received: () => ({ logins: sandbox.logins, posts: sandbox.creates }),
  };
  process.on("message", (question) => process.send(answers[question]()));
  process.on("SIGINT", () => {}); // Ctrl-C ends whoever measures, and that ends this
  process.once("disconnect", () => void sandbox.close());
}
