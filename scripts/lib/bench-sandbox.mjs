import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startSandbox } from "pulumi-advertising/sandbox";
import { FIRST_ID } from "./bench-programs.mjs";

/** A sandbox in a process of its own, so that neither it nor whoever measures waits for the other's event loop. */
export async function forkSandbox() {
  const child = fork(fileURLToPath(import.meta.url), { stdio: "inherit" });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the sandbox ended with ${code}: see its message above`);
  });
  ended.catch(() => {}); // where nobody asks any more, that is its proper end
  /** Resets the sandbox. */
  const reset = async () => {
    child.send("reset");
    const [address] = await Promise.race([once(child, "message"), ended]);
    return address;
  };
  /** @param fault a rule of the sandbox's; until the next reset. */
  const fail = (fault) => child.send(fault);
  return { address: await reset(), reset, fail, close: () => child.disconnect() };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  // Each round of the client logs in; that the platform limits logins is not what is measured.
  const objects = { advertisers: [{ id: FIRST_ID - 1, advertiser_name: "before" }] };
  const begin = (port) => startSandbox({ port, objects, loginsPerMinute: 1_000_000 });
  let sandbox = await begin(0);
  process.on("message", async (message) => {
    if (message !== "reset") {
      sandbox.fail(message);
      return;
    }
    const { port, url, email, password } = sandbox;
    await sandbox.close();
    sandbox = await begin(port);
    process.send({ url, email, password });
  });
  process.on("SIGINT", () => {}); // Ctrl-C ends whoever measures, and that ends this
  process.once("disconnect", () => void sandbox.close());
}
