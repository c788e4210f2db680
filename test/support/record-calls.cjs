/**
 * Loaded first by the processes of a recorded run (`test/engine/stand-in.test.ts`). In the provider process it notes each call of the engine, with the
 * state on the disk at that moment; in the program's it registers one resource after the other, in the order of `resources.json`.
 */
const Module = require("node:module");
const { appendFileSync, readFileSync } = require("node:fs");

const { RECORD_TO = "", RECORD_STATE = "" } = process.env;

const { _load: load } = Module;
Module._load = function (request, ...rest) {
  const loaded = load.call(this, request, ...rest);
  if (request === "pulumi-advertising/handlers") return recorded(loaded);
  if (request.endsWith("/resource_grpc_pb"))
    registerInTurn(loaded.ResourceMonitorClient.prototype);
  return loaded;
};

function recorded(handlers) {
  const calls = (handler, provider) =>
    ["check", "diff", "create", "read", "update", "delete"].map((call) => [
      call,
      (...given) => {
        const { latest } = JSON.parse(readFileSync(RECORD_STATE, "utf8")).checkpoint;
        appendFileSync(
          RECORD_TO,
          `${JSON.stringify({ call, handler, given, state: latest ?? {} })}\n`,
        );
        return provider[call](...given);
      },
    ]);
  return Object.fromEntries(
    Object.entries(handlers).map(([handler, provider]) => [
      handler,
      { ...provider, ...Object.fromEntries(calls(handler, provider)) },
    ]),
  );
}

let isPatched = false;

function registerInTurn(client) {
  if (isPatched) return;
  isPatched = true;
  const { registerResource } = client;
  const order = JSON.parse(readFileSync("resources.json", "utf8")).map(
    ({ type, name }) => `${type} ${name}`,
  );
  const waiting = new Map();
  const sendNext = () => {
    const send = waiting.get(order[0]);
    waiting.delete(order[0]);
    send?.();
  };
  client.registerResource = function (request, answered) {
    const name = `${request.getType().split(":").at(-1)} ${request.getName()}`;
    const send = () =>
      registerResource.call(this, request, (...answer) => {
        answered(...answer);
        if (order[0] === name) order.shift();
        sendNext();
      });
    if (!order.includes(name)) return void send();
    waiting.set(name, send);
    if (order[0] === name) sendNext();
  };
}
