/** The plugin's server, called as the engine calls it: over its protocol, with a sandbox as the platform. */
import { setTimeout as sleep } from "node:timers/promises";
import { credentials, type Metadata, type ServiceError } from "@grpc/grpc-js";
import { PluginAttach, type PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import {
  ResourceProviderClient,
  ResourceProviderService,
} from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as protocol from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { expect, it, vi } from "vitest";
import type { Values } from "../../provider/src/base/index.js";
import { readProperties } from "../../provider/src/plugin/properties.js";
import { AdvertisingPlugin } from "../../provider/src/plugin/provider.js";
import { serve } from "../../provider/src/plugin/server.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { whenTestEnds } from "../support/when-test-ends.js";

const STACK = "urn:pulumi:dev::shop::";
const PROVIDER = `${STACK}pulumi:providers:advertising::default_0_1_0`;
const urnOf = (type: string) => `${STACK}advertising:index:${type}::it`;
const struct = (values: Values) =>
  Struct.fromJavaScript(values as Record<string, JavaScriptValue>);

type Answer<Response> = (error: ServiceError | null, response: Response) => void;

async function start() {
  vi.stubEnv("XDG_STATE_HOME", newFolder());
  vi.stubEnv("XDG_CACHE_HOME", newFolder());
  vi.stubEnv("PATH", "");
  const warned: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    warned.push(String(text));
    return true;
  });
  const plugin = new AdvertisingPlugin({ PULUMI_BACKEND_URL: "file:///states" });
  const attached: string[] = [];
  const port = await serve(plugin, (engine) => attached.push(engine));
  const address = `127.0.0.1:${port}`;
  const client = new ResourceProviderClient(address, credentials.createInsecure());
  whenTestEnds(async () => {
    client.close();
    await plugin.abandon();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  /** Calls a method of the protocol. Rejects with the error that the engine gets. */
  const call = <Response>(
    name: keyof typeof ResourceProviderService,
    request: object,
  ): Promise<Response> =>
    new Promise((resolve, reject) => {
      const answer: Answer<Response> = (error, response) => {
        if (error) reject(error);
        else resolve(response);
      };
      client[name as "read"](request as never, answer as never);
    });
  const configure = ({ url, email, password }: Sandbox, more: Values = {}) => {
    const args = { baseUrl: url, email, password, cookieFile: "none", ...more };
    const request = new protocol.ConfigureRequest().setUrn(PROVIDER).setArgs(struct(args));
    return call("configure", request);
  };
  const check = async (type: string, news: Values, olds: Values = {}) => {
    const request = new protocol.CheckRequest().setUrn(urnOf(type)).setNews(struct(news));
    return call<protocol.CheckResponse>("check", request.setOlds(struct(olds)));
  };
  return { call, attached, warned, configure, check };
}

/** What the engine saves although a call has failed. */
function savedBeside(error: unknown) {
  const { metadata } = error as { metadata: Metadata };
  const [packed] = metadata.get("grpc-status-details-bin");
  const [detail] = Status.deserializeBinary(packed as Buffer).getDetailsList();
  const saved = protocol.ErrorResourceInitFailed.deserializeBinary(
    detail?.getValue_asU8() as never,
  );
  return { id: saved.getId(), values: readProperties(saved.getProperties()).values };
}

it("each call of the protocol has an answer: what the package doesn't have is named", async () => {
  const { call, attached } = await start();
  const unsupported = {
    invoke: [new protocol.InvokeRequest(), "functions"],
    call: [new protocol.CallRequest(), "methods"],
    construct: [new protocol.ConstructRequest(), "components"],
    parameterize: [new protocol.ParameterizeRequest(), "parameters"],
  } as const;
  for (const [name, [request, what]] of Object.entries(unsupported)) {
    await expect(call(name as "call", request)).rejects.toThrow(
      `has no ${what}. Nothing was sent. (node_modules/pulumi-advertising/docs/messages.md#advertising_unsupported)`,
    );
  }
  await call("attach", new PluginAttach().setAddress("127.0.0.1:9"));
  expect(attached).toEqual(["127.0.0.1:9"]);
  const info = await call<PluginInfo>("getPluginInfo", new Empty());
  expect(info.getVersion()).toMatch(/^\d/);
  // The engine takes gRPC's "unimplemented" to these as "none".
  const byGrpc = ["list", "getMapping", "getMappings"];
  const answered = [...Object.keys(unsupported), ...ANSWERED, ...byGrpc];
  expect(Object.keys(ResourceProviderService).toSorted()).toEqual(answered.toSorted());
});

/** The calls that this file or a real run makes. */
const ANSWERED = [
  ...["handshake", "getSchema", "getPluginInfo", "attach", "checkConfig", "diffConfig"],
  ...["configure", "check", "diff", "create", "update", "read", "delete", "cancel"],
];

it("an asset is refused by name", async () => {
  const sandbox = await operatedSandbox();
  const { configure, check } = await start();
  await configure(sandbox);
  const logo = {
    "4dabf18193072939515e22adb298388d": "0def7320c3a5731c473e5ecbe6d01bc7",
    assets: {},
  };
  const answer = await check("Advertiser", {
    advertiserName: "A",
    additionalFields: { logo },
  });
  const [failure] = answer.getFailuresList();
  expect(failure?.getReason()).toMatch(/^additionalFields expected .*: "logo"/);
  expect(sandbox.requests).toHaveLength(0);
});

it("a secret existingId is refused, also in an event of a set", async () => {
  const sandbox = await operatedSandbox();
  const { configure, check } = await start();
  await configure(sandbox);
  const secret = (value: number) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    value,
  });
  const event = { eventName: "A", value: 1 };
  const events = { a: { ...event, existingId: secret(8) } };
  for (const [type, args] of Object.entries({
    Advertiser: { advertiserName: "A", existingId: secret(7) },
    ConversionEvent: { advertiserId: 1, ...event, existingId: secret(7) },
    ConversionEventSet: { advertiserId: 1, events },
  })) {
    const answer = await check(type, args);
    const reasons = answer.getFailuresList().map((failure) => failure.getReason());
    expect(reasons, type).toEqual([expect.stringMatching(/^existingId can't be secret/)]);
  }
  expect(sandbox.requests).toHaveLength(0);
});

it("Cancel ends a set gently: what is in flight ends and is saved, nothing new begins, and the next run sends the rest", async () => {
  const sandbox = await operatedSandbox({ latencyMs: 20 });
  const { call, configure, check, warned } = await start();
  const names = Array.from({ length: 20 }, (_, at) => `e${at}`);
  const events = Object.fromEntries(
    names.map((eventName) => [eventName, { eventName, value: 1 }]),
  );
  const type = "ConversionEventSet";
  const inputsOf = async (olds?: Values) => {
    await configure(sandbox, { maxConcurrentRequests: "2", ...operatedSettings() });
    const answer = await check(type, { advertiserId: 1, events }, olds);
    expect(answer.getFailuresList()).toEqual([]);
    return answer.getInputs();
  };
  const inputs = await inputsOf();
  const create = new protocol.CreateRequest().setUrn(urnOf(type)).setProperties(inputs);
  const creating = call("create", create.setTimeout(60)).catch((error) => error);
  while (sandbox.eventPosts < 6) await sleep(1);
  await call("cancel", new Empty());
  const error = (await creating) as Error;
  expect(error.message).toContain("this run was cancelled");
  const sent = sandbox.eventPosts;
  expect(sent).toBeLessThan(names.length);
  const saved = savedBeside(error);
  const idsByName = () =>
    Object.fromEntries(sandbox.events.map((each) => [String(each.event_name), each.id]));
  expect(saved.values.eventIds).toEqual(idsByName());
  expect(warned.join("\n")).toContain("customTimeouts is ignored");

  // An engine that attaches to this process begins another run in it.
  const olds = struct(saved.values);
  const news = await inputsOf(readProperties(inputs).values);
  const update = new protocol.UpdateRequest().setUrn(urnOf(type)).setId(saved.id);
  const updated = await call<protocol.UpdateResponse>(
    "update",
    update.setOlds(olds).setNews(news),
  );
  expect(readProperties(updated.getProperties()).values.eventIds).toEqual(idsByName());
  expect(sandbox.eventPosts).toBe(names.length);
  expect(Object.keys(idsByName())).toHaveLength(names.length);
});
