import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startSandbox } from "pulumi-advertising/sandbox";
import { FIRST_ID } from "./bench-programs.mjs";

/**
 * A sandbox in a process of its own, so that neither it nor whoever measures waits for the other's event loop.
 * `received` answers what arrived since the last `reset`, and the CPU seconds that the sandbox spent on it.
 */
export async function forkSandbox() {
  const child = fork(fileURLToPath(import.meta.url), { stdio: "inherit" });
  const ask = async (question) => {
    child.send(question);
    return (await once(child, "message"))[0];
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
  const sandbox = await startSandbox({ firstId: FIRST_ID, loginLimit: { count: 1_000_000, windowSeconds: 1 } });
  let before = process.cpuUsage();
  const answers = {
    address: () => ({ url: sandbox.url, email: sandbox.email, password: sandbox.password }),
    reset: () => {
      sandbox.reset();
      before = process.cpuUsage();
      return true;
    },
    received: () => {
      const { user, system } = process.cpuUsage(before);
      return { logins: sandbox.logins, posts: sandbox.creates, cpuSeconds: (user + system) / 1e6 };
    },
  };
  process.on("message", (question) => process.send(answers[question]()));
  process.on("SIGINT", () => {}); // Ctrl-C ends whoever measures, and that ends this
  process.once("disconnect", () => void sandbox.close());
}
