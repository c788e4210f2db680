/** A sandbox in a separate process, for tests that measure their own. Its options are JSON in the first argument. */
import { startSandbox } from "../../provider/dist/sandbox/index.js";

const sandbox = await startSandbox(JSON.parse(process.argv[2] ?? "{}"));
process.on("message", () => {
  const { logins, creates, maxOpenConnections, advertisers } = sandbox;
  process.send({ logins, creates, maxOpenConnections, objects: advertisers.length });
  sandbox.requests.length = 0;
});
process.on("disconnect", () => process.exit());
process.send({ url: sandbox.url });
