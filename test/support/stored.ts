/** Resources as in an exported stack, in the form that `pulumi stack export` of engine 3.259 printed. */

import { SIGNATURE_KEY } from "../../provider/src/base/index.js";
import type { Resource } from "../../provider/src/record/export.js";
import { senderText } from "../../provider/src/state/index.js";

/** A text that must never be shown. */
export const CIPHERTEXT = "v1:c2VjcmV0:never-shown";
export const encrypted = {
  [SIGNATURE_KEY]: "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: CIPHERTEXT,
};

export const urnOf = (kind: string, name: string) =>
  `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:${kind}::${name}`;

function stored(kind: string, name: string, values: Partial<Resource>): Resource {
  const urn = urnOf(kind, name);
  const type = `pulumi-nodejs:dynamic/advertising:${kind}`;
  return { urn, type, inputs: {}, retainOnDelete: true, ...values };
}

export function storedAdvertiser(
  name: string,
  id: number | string,
  advertiserName: unknown = name,
  rest: object = {},
) {
  const outputs = { advertiserName, advertiserId: id };
  return stored("Advertiser", name, { id: String(id), outputs, ...rest });
}

/** The hidden input that names a resource, and who has sent it. */
export function senderOf(
  identity: string,
  more: Partial<Parameters<typeof senderText>[0]> = {},
) {
  return senderText({ identity, account: "", run: "", canUpdate: false, ...more });
}

/** An event's arguments, completed by the rules. */
export const EVENT = {
  value: 1,
  countUnique: false,
  clickWindow: 2_592_000,
  viewWindow: 2_592_000,
  attribution: "ALL",
} as const;

/** An event's inputs as this run has sent them. */
export function sentInputs(eventName: string, run: string, more: object = {}) {
  const __sender = senderOf("", { run });
  return { eventName, advertiserId: 1, ...EVENT, __sender, ...more };
}

/** The same for a set. */
export function sentSetInputs(events: object, run: string, more: object = {}) {
  const { value: _, ...defaults } = EVENT;
  return { advertiserId: 1, defaults, events, __sender: senderOf("", { run }), ...more };
}

export function storedEvent(
  name: string,
  id: number | string,
  outputs: object = {},
  rest: object = {},
) {
  const values = { eventName: name, advertiserId: 1, ...EVENT, eventId: id, ...outputs };
  return stored("ConversionEvent", name, { id: String(id), outputs: values, ...rest });
}

export function storedSet(name: string, outputs: object, rest: object = {}) {
  const { value: _, ...defaults } = EVENT;
  const values = { advertiserId: 1, defaults, events: {}, ...outputs };
  return stored("ConversionEventSet", name, { id: "set-x", outputs: values, ...rest });
}

/** The output of `pulumi stack export` for these resources. */
export function exportOf(
  resources: readonly Resource[],
  time = "2026-03-02T10:00:00Z",
): string {
  return JSON.stringify({ version: 3, deployment: { manifest: { time }, resources } });
}

/** The outputs of a resource whose create has an unknown outcome. */
export const UNRESOLVED_OUTPUT = {
  unresolved: {
    at: "2026-03-01T09:00:00.000Z",
    mark: "m",
    body: "",
    what: "It was sent, and the connection ended.",
  },
};
