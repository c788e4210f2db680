/** A sandbox with a client, and a check of the client's creates. */
import { expect } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Ending, messageOf, TestClient, type TestClientOptions } from "./client.js";
import { type InstallationOptions, useSandbox } from "./installation.js";

export async function start(
  options: InstallationOptions = {},
  client: TestClientOptions = {},
) {
  const sandbox = await useSandbox(options);
  return { sandbox, client: new TestClient(sandbox.url, client) };
}

export const counts = ({ logins, creates }: Sandbox) => ({ logins, creates });

/** Expects that each create's object exists exactly once, with the reported id. */
export function expectEachOnce(sandbox: Sandbox, endings: readonly Ending[]): void {
  expect(endings.filter(({ kind }) => kind !== "created").map(messageOf)).toEqual([]);
  const ids = endings.map((ending) => ("id" in ending ? ending.id : ""));
  expect(new Set(ids).size).toBe(endings.length);
  expect(sandbox.advertisers.map(({ id }) => String(id)).sort()).toEqual([...ids].sort());
  expect(
    new Set(sandbox.advertisers.map((advertiser) => advertiser.advertiser_name)).size,
  ).toBe(endings.length);
}
