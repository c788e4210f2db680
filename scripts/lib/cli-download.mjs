import { spawn, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { cliVersion, inRoot, isWindows } from "./paths.mjs";
import { Problem } from "./problem.mjs";

/** What the npm package `pulumi` fetches first. */
const INSTALLER = isWindows ? "https://get.pulumi.com/install.ps1" : "https://get.pulumi.com/install.sh";
const TWO_SECONDS_IN_MS = 2_000;
const ONE_MINUTE_IN_MS = 60_000;

/**
 * Whether `downloadCli` may succeed. Only a failure says that it cannot: a slow answer may still come, and a proxy that NODE_USE_ENV_PROXY
 * speaks of is one that this Node.js may not know yet.
 */
export async function canDownload() {
  if (process.env.NODE_USE_ENV_PROXY) return true;
  let reason;
  const asked = fetch(INSTALLER)
    .then((answer) => {
      if (!answer.ok) reason = `HTTP ${answer.status}`;
      return answer.body?.cancel();
    })
    .catch((error) => {
      reason = error.cause?.code ?? error.message;
    });
  await Promise.race([asked, sleep(TWO_SECONDS_IN_MS, undefined, { ref: false })]);
  if (reason) tellUnreachable(reason);
  return !reason;
}

/**
 * Has the npm package `pulumi` fetch the official release into the folder where it looks for it. Answers nothing: the caller looks
 * whether a CLI is there now. Ends within a minute where the download cannot be reached: a firewall may swallow packets silently.
 */
export async function downloadCli(node) {
  console.log(`Pulumi CLI: downloading the official release ${cliVersion} …`);
  const child = spawn(node, [inRoot("node_modules", "pulumi", "run.js"), "version"], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: !isWindows, // a process group of its own, so that its installer and that one's download can be ended with it
    windowsHide: true,
    env: { ...process.env, PULUMI_VERSION: cliVersion, PULUMI_SKIP_UPDATE_CHECK: "true" },
  });
  let reason = "it ended without a word";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    reason = text
      .trim()
      .split("\n")
      .at(-1)
      .replace(/^pulumi: /, "");
  });
  // The installer prints a line once it runs, which proves that the site is reached, and then nothing until it has fetched it all.
  let patience = setTimeout(giveUp, ONE_MINUTE_IN_MS);
  child.stdout.on("data", () => {
    clearTimeout(patience);
    patience = setTimeout(giveUp, 10 * ONE_MINUTE_IN_MS);
  });
  function giveUp() {
    stop(child);
    reason = "no answer for too long";
  }

  let interrupted = false;
  const onSignal = () => {
    interrupted = true;
    stop(child);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const exitCode = await new Promise((resolve) => child.once("error", () => resolve(1)).once("exit", resolve));
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  clearTimeout(patience);
  if (interrupted) throw new Problem("Interrupted.", { exitCode: 130 });
  if (exitCode !== 0) tellUnreachable(reason);
}

function tellUnreachable(reason) {
  console.log(`Pulumi CLI: the download of the official release is not reachable (${reason}).`);
}

/** Ends the program with all that it started. */
function stop({ pid, exitCode }) {
  if (exitCode !== null) return;
  if (isWindows) spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"], { stdio: "ignore" });
  else process.kill(-pid, "SIGTERM");
}
