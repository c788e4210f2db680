/**
 * Objects as installations that can read them answer, in the odd shapes and dresses that were seen at services of this kind.
 * Pure.
 */
import { type Answer, failure, json } from "./answers.js";
import type { GoneShape, RecordDress, RecordShape, SandboxObject } from "./options.js";

export function recordAnswer(shape: RecordShape, dress: RecordDress, noun: string, object: SandboxObject): Answer {
  const record = dressed(dress, noun, object);
  switch (shape) {
    case "object":
      return json(200, record);
    case "payload":
      return json(200, { success: true, payload: record });
    case "payload-list":
      return json(200, { success: true, payload: [record] });
    case "list":
      return json(200, [record]);
    case "own-name":
      return json(200, { success: true, [noun]: record });
  }
}

export function listAnswer(
  shape: RecordShape,
  dress: RecordDress,
  noun: string,
  objects: readonly SandboxObject[],
): Answer {
  const records = objects.map((object) => dressed(dress, noun, object));
  if (shape === "list") return json(200, records);
  return json(200, { success: true, [shape === "own-name" ? `${noun}s` : "payload"]: records });
}

export function goneAnswer(shape: GoneShape, noun: string, id: string): Answer {
  switch (shape) {
    case "404":
      return failure(404, `${noun} ${id} was not found`);
    case "404-bare":
      return { status: 404, headers: {}, body: "" };
    case "410":
      return failure(410, `${noun} ${id} is gone`);
    case "empty-list":
      return json(200, []);
    case "empty-payload":
      return json(200, { success: true, payload: [] });
    case "could-not-load":
      return failure(200, `Could not load ${noun} with ID = ${id}`);
  }
}

/** @param dress `strings`: each value in another form than it was sent in, under `<noun>_id`, and beside others. */
function dressed(dress: RecordDress, noun: string, { id, ...fields }: SandboxObject): Record<string, unknown> {
  if (dress === "plain") return { id, ...fields };
  const strange = Object.entries(fields).map(([name, value]) => [name, inStrings(value)]);
  return {
    segment_id: null,
    event_type_id: null,
    ...Object.fromEntries(strange),
    [`${noun}_id`]: String(id),
    created_on: "2026-01-01 00:00:00",
    owner: { id: 1, name: "somebody" },
  };
}

function inStrings(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? `${value}.00` : String(value);
  if (typeof value === "boolean") return value ? "1" : 0;
  return value;
}
