/** The executable `pulumi-resource-advertising`: Pulumi's engine starts it with its own address, and reads its port. */
import { engineLog, watchEngine } from "../dynamic/index.js";
import { AdvertisingPlugin } from "./provider.js";
import { serve } from "./server.js";

async function serveEngine(): Promise<void> {
  const [, , engine = ""] = process.argv;
  const plugin = new AdvertisingPlugin(process.env, engine);
  const log = engineLog(engine);
  // In a destroy, the engine shows a plugin's log messages, but not its stderr.
  console.warn = (message: string) => void log("warn", "", message);
  const port = await serve(plugin);
  watchEngine(engine, () => void plugin.runtime.abandon().finally(() => process.exit(1)));
  // The engine ends the process with this signal, after it has saved the state.
  process.once("SIGINT", () => void plugin.close().finally(() => process.exit(0)));
  process.stdout.write(`${port}\n`);
}

void serveEngine();
