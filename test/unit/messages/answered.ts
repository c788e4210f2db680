/** The real client, with responses instead of a platform. */
import { Client } from "../../../provider/src/client/client.js";
import type {
  HttpResponse,
  Transport,
  TransportFailure,
} from "../../../provider/src/client/transport.js";
import { conversionEvent } from "../../../provider/src/kinds/index.js";
import { operationsSchema } from "../../../provider/src/settings/operations-setting.js";
import { dependenciesOf } from "../../support/client-dependencies.js";
import { eventOperations } from "../../support/operated.js";
import { settingsOf } from "../../support/settings.js";
import { rejectionOf } from "./examples.js";

/** Of an installation with sessions and all operations. */
export const settings = settingsOf({
  baseUrl: "https://ads.example",
  operations: operationsSchema.parse({ event: eventOperations }),
  markField: "alternative_id",
});
export const label = 'ConversionEvent "purchase"';
export const SENT = { event_name: "Purchase", advertiser_id: 7, value: 25 };

export type Response = HttpResponse | TransportFailure;

/** @param body a text is used as it is, anything else as JSON. */
export function response(
  status: number,
  body: unknown = "",
  headers: HttpResponse["headers"] = {},
): HttpResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, setCookies: [], body: text };
}

export const LOGGED_IN: HttpResponse = {
  ...response(200, { success: true }),
  setCookies: ["x_service_cookie=1; Path=/"],
};
export const CREATED = response(200, { success: true, payload: { id: 1 } });

export type Dependencies = Partial<Parameters<typeof dependenciesOf>[0]>;

/** A transport that returns these responses, the last one again and again. */
export function transportOf(
  responses: readonly Response[],
  login: readonly Response[] = [LOGGED_IN],
): Transport {
  const next = (of: Response[]) => (of.length > 1 ? of.shift() : of[0]) as Response;
  const [logins, others] = [[...login], [...responses]];
  return {
    send: async ({ url }) => next(url.pathname.endsWith("authenticate") ? logins : others),
    close: async () => undefined,
  };
}

export function clientOf(responses: readonly Response[], more?: Dependencies): Client {
  const transport = transportOf(responses);
  return new Client(dependenciesOf({ settings, transport, say: () => undefined, ...more }));
}

export function createOn(client: Client): Promise<string> {
  const creating = client.create({
    kind: conversionEvent,
    operation: conversionEvent.create,
    fields: SENT,
    label,
    beforeSend: async () => undefined,
    onCreated: async () => undefined,
  });
  return rejectionOf(creating);
}
