/** The executable `pulumi-resource-advertising`: Pulumi's engine starts it with its own address, and reads its port. */
import { versionProblem } from "../base/index.js";
import { endBySignals } from "../operations/index.js";
import { watchEngine } from "../record/index.js";
import { AdvertisingPlugin } from "./provider.js";
import { serve } from "./server.js";

async function serveEngine() {
  const plugin = new AdvertisingPlugin(process.env);
  /** With PULUMI_DEBUG_PROVIDERS this process outlives its engines, which attach one after the other. */
  const attach = (engine: string, onGone = () => {}) => {
    plugin.engine = engine;
    watchEngine(engine, () => {
      if (plugin.engine === engine) void plugin.abandon().finally(onGone);
    });
  };
  const [, , engine] = process.argv;
  if (engine !== undefined) attach(engine, () => process.exit(1));
  const port = await serve(plugin, attach);
  endBySignals(() => plugin.run, engine !== undefined);
  process.stdout.write(`${port}\n`);
}

const old = versionProblem();
if (old === undefined) void serveEngine();
else {
  console.error(`pulumi-advertising: ${old}`);
  process.exitCode = 1;
}
