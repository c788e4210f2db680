/** Shows messages through the engine. Pulumi's SDK can too, but it is ten times as large as the rest of the plugin. */
import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb.js";
import type { TellAt } from "../operations/index.js";

const SEVERITIES = { info: LogSeverity.INFO, warn: LogSeverity.WARNING };

/** @param address the engine's, `host:port`. If there is no engine, messages go to standard error. */
export function logThroughEngine(address: string): TellAt {
  const engine = new EngineClient(address, credentials.createInsecure());
  /** Messages arrive in the order in which they were sent. */
  let last = Promise.resolve();
  return (severity, urn, message) => {
    const request = new LogRequest()
      .setSeverity(SEVERITIES[severity])
      .setUrn(urn)
      .setMessage(message);
    const send = (resolve: () => void) =>
      engine.log(request, (error) => {
        if (error) process.stderr.write(`${message}\n`);
        resolve();
      });
    last = last.then(() => new Promise(send));
    return last;
  };
}
