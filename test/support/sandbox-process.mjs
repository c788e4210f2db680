/**
 * A sandbox in a separate process, for tests that measure their own process. The first argument has its options as JSON,
 * and `sessionRequests`: the number of creates after which its sessions end.
 */
import { startSandbox } from "../../provider/dist/sandbox/index.js";

const { sessionRequests = Number.POSITIVE_INFINITY, ...options } = JSON.parse(
  process.argv[2] ?? "{}",
);
let open = 0;
let maxOpenConnections = 0;
let requestsLeft = sessionRequests;
const sandbox = await startSandbox({
  ...options,
  answer: (answer, { created }) => {
    if (created !== undefined && --requestsLeft === 0) {
      sandbox.expireSessions();
      requestsLeft = sessionRequests;
    }
    return answer;
  },
});
sandbox.server.on("connection", (socket) => {
  maxOpenConnections = Math.max(maxOpenConnections, ++open);
  socket.once("close", () => open--);
});
process.on("message", () => {
  const { logins, creates, advertisers } = sandbox;
  process.send({ logins, creates, maxOpenConnections, objects: advertisers.length });
  sandbox.requests.length = 0;
});
process.on("disconnect", () => process.exit());
process.send({ url: sandbox.url });
