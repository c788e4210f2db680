/**
 * Serves Pulumi's provider protocol: translates between its messages and {@link AdvertisingPlugin}. Pulumi's own server
 * for TypeScript (`@pulumi/pulumi/provider`) is no base: its provider isn't told whether it's a preview, gets no inputs
 * in `read`, and gets secrets as their wire form (3.259).
 */
import { promisify } from "node:util";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import {
  type IResourceProviderServer,
  ResourceProviderService,
} from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as protocol from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { Any } from "google-protobuf/google/protobuf/any_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { packageVersion, readFromPackage, UnsupportedError } from "../base/index.js";
import { ResourceFailure } from "../operations/index.js";
import { SETTING_NAMES, SETTINGS } from "../settings/index.js";
import { readProperties, writeProperties } from "./properties.js";
import type { AdvertisingPlugin } from "./provider.js";

/** A message with a set of 10,000 events has several megabytes. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/** Listens on loopback only. @param attach is given the address of an engine that hasn't started this process. */
export async function serve(plugin: AdvertisingPlugin, attach: (engine: string) => void) {
  const server = new Server({ "grpc.max_receive_message_length": MAX_MESSAGE_BYTES });
  server.addService(
    ResourceProviderService,
    serviceOf(plugin, attach) as IResourceProviderServer,
  );
  const bind = promisify(server.bindAsync).bind(server);
  return bind("127.0.0.1:0", ServerCredentials.createInsecure());
}

function serviceOf(
  plugin: AdvertisingPlugin,
  attach: (engine: string) => void,
): Partial<IResourceProviderServer> {
  const call = <Request, Response>(
    work: (request: Request) => Response | Promise<Response>,
  ) => {
    return async (
      { request }: ServerUnaryCall<Request, Response>,
      respond: sendUnaryData<Response>,
    ) => {
      try {
        respond(null, await work(request));
      } catch (error) {
        respond(failureOf(plugin, error));
      }
    };
  };
  const unsupported = (what: string) =>
    call(() => {
      throw notInPackage(what);
    });
  return {
    // With PULUMI_DEBUG_PROVIDERS.
    attach: call((request) => {
      attach(request.getAddress());
      return new Empty();
    }),
    handshake: call(() => new protocol.ProviderHandshakeResponse().setAcceptSecrets(true)),
    getPluginInfo: call(() => new PluginInfo().setVersion(packageVersion())),
    getSchema: call(() =>
      new protocol.GetSchemaResponse().setSchema(readFromPackage("schema.json")),
    ),
    checkConfig: call((request) => {
      const { values, secret } = readProperties(request.getNews());
      // A program that declares the provider by its token has no SDK that would mark the password.
      const hidden = SETTING_NAMES.filter((name) => SETTINGS[name].secret);
      return new protocol.CheckResponse()
        .setInputs(writeProperties({ values, secret: secret.union(new Set(hidden)) }))
        .setFailuresList(plugin.checkConfig(values, request.getUrn()).map(checkFailure));
    }),
    // A changed account replaces nothing: each resource compares its account itself.
    diffConfig: call(() => new protocol.DiffResponse()),
    configure: call((request) => {
      plugin.configure(readProperties(request.getArgs()), request.getUrn() ?? "");
      return new protocol.ConfigureResponse()
        .setAcceptsecrets(true)
        .setSupportspreview(true);
    }),
    check: call(async (request) => {
      const olds = readProperties(request.getOlds()).values;
      const news = readProperties(request.getNews());
      const { inputs, failures } = await plugin.check(request.getUrn(), olds, news);
      return new protocol.CheckResponse()
        .setInputs(writeProperties({ values: inputs, secret: news.secret }))
        .setFailuresList(failures.map(checkFailure));
    }),
    diff: call(async (request) => {
      const { changes, replaces } = await plugin.diff(
        request.getUrn(),
        changeIn(request).change,
      );
      const { DIFF_NONE, DIFF_SOME } = protocol.DiffResponse.DiffChanges;
      return new protocol.DiffResponse()
        .setChanges(changes ? DIFF_SOME : DIFF_NONE)
        .setReplacesList([...replaces]);
    }),
    create: call(async (request) => {
      const inputs = readProperties(request.getProperties());
      plugin.noteTimeout(request.getUrn(), request.getTimeout());
      const saved = request.getPreview()
        ? await plugin.previewCreate(request.getUrn(), inputs)
        : await plugin.create(request.getUrn(), inputs);
      return new protocol.CreateResponse()
        .setId(saved.id)
        .setProperties(writeProperties(saved));
    }),
    update: call(async (request) => {
      const { change, secret } = changeIn(request);
      plugin.noteTimeout(request.getUrn(), request.getTimeout());
      const saved = request.getPreview()
        ? await plugin.previewUpdate(request.getUrn(), change, secret)
        : await plugin.update(request.getUrn(), change);
      return new protocol.UpdateResponse().setProperties(writeProperties(saved));
    }),
    read: call(async (request) => {
      const found = await plugin.read(
        request.getUrn(),
        request.getId(),
        readProperties(request.getProperties()).values,
        readProperties(request.getInputs()).values,
      );
      if (!found) return new protocol.ReadResponse();
      return new protocol.ReadResponse()
        .setId(found.id)
        .setProperties(writeProperties(found))
        .setInputs(writeProperties({ ...found, values: found.inputs }));
    }),
    delete: call(async (request) => {
      const { values } = readProperties(request.getProperties());
      plugin.noteTimeout(request.getUrn(), request.getTimeout());
      await plugin.delete(request.getUrn(), request.getId(), values);
      return new Empty();
    }),
    cancel: call(() => {
      plugin.cancel();
      return new Empty();
    }),
    // The engine takes gRPC's own answer, "unimplemented", to `list`, `getMapping` and `getMappings`.
    invoke: unsupported("functions"),
    call: unsupported("methods"),
    construct: unsupported("components"),
    parameterize: unsupported("parameters"),
  };
}

/** A resource's change, and its secret arguments. */
function changeIn(request: protocol.DiffRequest | protocol.UpdateRequest) {
  const { values: news, secret } = readProperties(request.getNews());
  const { values: olds } = readProperties(request.getOlds());
  return { change: { id: request.getId(), olds, news }, secret };
}

export function notInPackage(what: string) {
  return new UnsupportedError(`The package advertising has no ${what}. Nothing was sent.`);
}

/** Without the property: the engine would print its value, which may be secret. */
function checkFailure(reason: string) {
  return new protocol.CheckFailure().setReason(reason);
}

/** An error as the engine expects it, with the properties that it must save in spite of the error. */
function failureOf(plugin: AdvertisingPlugin, error: unknown) {
  const message = plugin.fail(error);
  const metadata = new Metadata();
  const saved = error instanceof ResourceFailure ? error.saved : undefined;
  if (saved) {
    const { id, properties, secret } = saved;
    const detail = new protocol.ErrorResourceInitFailed()
      .setId(id)
      .setProperties(writeProperties({ values: properties, secret }))
      .setReasonsList([message]);
    const packed = new Any();
    packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const details = new Status().setCode(status.UNKNOWN).setMessage(message);
    details.addDetails(packed);
    metadata.add("grpc-status-details-bin", Buffer.from(details.serializeBinary()));
  }
  return { code: status.UNKNOWN, message, metadata };
}
