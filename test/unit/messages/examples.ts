/** What the examples of messages have in common. */
import { tmpdir } from "node:os";
import type { OpenCreate } from "../../../provider/src/plan/index.js";
import { refOf } from "../../../provider/src/state/index.js";

/** By a title that says when the message appears: the function that returns an example of it. */
export type Examples = Readonly<Record<string, () => string | Promise<string>>>;

export const AT = "2026-01-01T00:00:00.000Z";
export const STACK = "organization/shop/dev";
export const purchase = refOf("ConversionEvent", "shop/dev::purchase");
const args = { advertiserId: 7, value: 25 };
export const open = (key: string, more: Partial<OpenCreate> = {}): OpenCreate => ({
  ...{ key, run: "r", at: AT, mark: "m", body: "b", name: "Purchase", args },
  ...more,
});
export const OLD = "ConversionEvent::old";
export const record = {
  at: AT,
  mark: "m",
  body: "b",
  name: "Purchase",
  args,
  what: "The connection ended.",
};

export function thrownBy(work: () => void): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

export async function rejectionOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "",
    (error: Error) => error.message,
  );
}

const MARK = "5b1c6d1e-0000-4000-8000-000000000000";

/** The message without what differs from run to run: times, marks, ports, folders, users and processes. */
export function withoutChance(message: string): string {
  return message
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, AT)
    .replaceAll(/(?<=[\da-f]{16}\.)[\w-]{12}(?=\.jsonl)/g, "AbCdEfGh-_12")
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, MARK)
    .replaceAll(/(127\.0\.0\.1:|localhost:|\bport )\d+/g, "$18787")
    .replaceAll(/process \d+ of [\w.-]+/g, "process 4711 of laptop")
    .replaceAll(/(?<=chown -R |uid=|you are |process )\d+/g, "1000")
    .replaceAll(tmpdir(), "/tmp")
    .replaceAll(/\/tmp\/[\w-]+/g, "/folder");
}
