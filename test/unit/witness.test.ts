/** What is not found counts as gone only if the same operation has found another object in the run. */
import { expect, it } from "vitest";
import { Client } from "../../provider/src/client/client.js";
import type { HttpResponse } from "../../provider/src/client/transport.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { dependenciesOf } from "../support/client-dependencies.js";
import { settingsOf } from "../support/settings.js";

const FOUND = { status: 200, body: '{"id":7,"event_name":"E"}' };
const DONE = { status: 200, body: '{"success":true}' };
const NOT_FOUND = { status: 404, body: "" };

type Response = Pick<HttpResponse, "status" | "body">;

/** @param respond is given the method and the last part of the path. */
function clientOf(respond: (request: string) => Response | Promise<Response>): Client {
  const send = async ({ method, url }: { readonly method: string; readonly url: URL }) => {
    const response = await respond(`${method} ${url.pathname.split("/").at(-1)}`);
    return { headers: {}, setCookies: [], ...response };
  };
  const transport = { send, close: async () => undefined };
  const settings = settingsOf({ baseUrl: "https://platform.example", authMode: "basic" });
  return new Client(dependenciesOf({ settings, transport }));
}

function target(method: "GET" | "DELETE", id: string) {
  const operation = {
    method,
    path: "rest/event/{id}",
    idempotent: true,
  };
  return { kind: conversionEvent, operation, id, label: "E" };
}

it("a read that has found nothing yet proves nothing; afterwards it does", async () => {
  const client = clientOf((request) => (request.endsWith("7") ? FOUND : NOT_FOUND));
  await expect(client.read(target("GET", "8"))).rejects.toMatchObject({
    code: "ADVERTISING_REFUSED",
  });
  expect(await client.read(target("GET", "7"))).toMatchObject({ id: 7 });
  expect(await client.read(target("GET", "8"))).toBeUndefined();
});

it("an empty list without a witness is an error too", async () => {
  const client = clientOf((request) =>
    request.endsWith("7") ? FOUND : { status: 200, body: "[]" },
  );
  await expect(client.read(target("GET", "8"))).rejects.toMatchObject({
    code: "ADVERTISING_BAD_ANSWER",
  });
  await client.read(target("GET", "7"));
  expect(await client.read(target("GET", "8"))).toBeUndefined();
});

it("a read is no witness of a delete", async () => {
  const client = clientOf((request) => {
    if (request === "GET 7") return FOUND;
    return request === "DELETE 7" ? DONE : NOT_FOUND;
  });
  await client.read(target("GET", "7"));
  await expect(client.delete(target("DELETE", "8"))).rejects.toMatchObject({
    code: "ADVERTISING_REFUSED",
  });
  expect(await client.delete(target("DELETE", "7"))).toBe(true);
  expect(await client.delete(target("DELETE", "8"))).toBe(false);
});

it.each([
  ["found", FOUND, undefined],
  ["not found either", NOT_FOUND, "ADVERTISING_REFUSED"],
])(
  "one that is not found waits for another one in flight, which is %s",
  async (_, response, code) => {
    const slow = Promise.withResolvers<Response>();
    const client = clientOf((request) => {
      if (request.startsWith("DELETE")) return DONE;
      return request.endsWith("7") ? slow.promise : NOT_FOUND;
    });
    // The session lets no more requests be in flight than it has accepted.
    for (const id of ["1", "2"]) await client.delete(target("DELETE", id));
    const found = client.read(target("GET", "7")).catch(() => undefined);
    const missing = client.read(target("GET", "8")).then(
      (record) => record,
      (error) => error.code,
    );
    expect(
      await Promise.race([
        missing,
        new Promise((resolve) => setImmediate(resolve, "waits")),
      ]),
    ).toBe("waits");
    slow.resolve(response);
    await found;
    expect(await missing).toBe(code);
  },
);
