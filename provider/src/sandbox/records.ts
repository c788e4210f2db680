/**
 * What installations can do that have more than the documented operations: read, update, delete and search what lives
 * there. The answers have the odd shapes and dresses that were seen at services of this kind.
 */
import { type Answer, failure, json, refusal } from "./answers.js";
import type { GoneShape, RecordDress, RecordShape, SandboxObject, SandboxOptions } from "./options.js";
import type { Noun, OptionalOperation, Route } from "./routes.js";
import type { CheckedFields, FieldFault } from "./rules.js";

const PAGE = 25;

/** What became of a request that was let in. */
export interface Handled {
  readonly answer: Answer;
  readonly created?: SandboxObject;
}

/** What lives on the platform, as its operations need it. */
export interface Objects {
  /** By id. */
  objectsOf(noun: Noun): Map<number, SandboxObject>;
  /** When an object was created here: it may be found only later. */
  readonly createdMs: WeakMap<SandboxObject, number>;
  /** Holds the fields of an object against the platform's rules. */
  checkFields(noun: Noun, body: Readonly<Record<string, unknown>>): CheckedFields;
}

export function carryOutOptional(
  options: SandboxOptions,
  platform: Objects,
  route: Route & { readonly operation: OptionalOperation },
  body: Readonly<Record<string, unknown>>,
): Handled {
  const { recordShape = "payload", recordDress = "plain", goneShape = "404", clock = Date.now } = options;
  const { noun } = route;
  const objects = platform.objectsOf(noun);
  const isShown = (object: SandboxObject, lagSeconds = 0) =>
    (platform.createdMs.get(object) ?? 0) + lagSeconds * 1000 <= clock();

  if (route.operation === "search") {
    const fits = (object: SandboxObject) =>
      isShown(object, options.searchLagSeconds) && (options.ignoreFilters || matches(object, route.filters));
    const found = [...objects.values()].filter(fits).slice(0, PAGE);
    return { answer: listAnswer(recordShape, recordDress, noun, found) };
  }
  const object = objects.get(Number(route.id));
  if (object === undefined || !isShown(object, options.readLagSeconds)) {
    return { answer: goneAnswer(goneShape, noun, route.id) };
  }
  if (route.operation === "read") return { answer: recordAnswer(recordShape, recordDress, noun, object) };
  if (route.operation === "delete") objects.delete(object.id);
  else {
    const faults = change(platform, noun, object, body);
    if (faults.length > 0) return { answer: refusal(options.refusalShape ?? "406-errors", noun, faults) };
  }
  const { id } = object;
  const message = `${noun} ${route.operation}d with ID = ${id}`;
  return { answer: json(200, { success: true, message, payload: { id } }) };
}

/** @returns what does not fit the rules; nothing is changed then. */
export function change(
  platform: Objects,
  noun: Noun,
  { id, ...fields }: SandboxObject,
  body: Readonly<Record<string, unknown>>,
): readonly FieldFault[] {
  const { faults, fields: checked } = platform.checkFields(noun, { ...fields, ...body });
  if (faults.length > 0) return faults;
  // What is sent as null has its default again, or none.
  const kept = Object.entries({ ...fields, ...checked }).filter(([name]) => body[name] !== null || name in checked);
  platform.objectsOf(noun).set(id, { ...Object.fromEntries(kept), id });
  return [];
}

/** Each filter is a pattern, as in a search of a person. */
function matches(object: SandboxObject, filters: ReadonlyMap<string, string>): boolean {
  const has = (value: unknown, text: string) => String(value).toLowerCase().includes(text.toLowerCase());
  return [...filters].every(([field, text]) => has(object[field] ?? "", text));
}

function recordAnswer(shape: RecordShape, dress: RecordDress, noun: string, object: SandboxObject): Answer {
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

function listAnswer(shape: RecordShape, dress: RecordDress, noun: string, objects: readonly SandboxObject[]): Answer {
  const records = objects.map((object) => dressed(dress, noun, object));
  if (shape === "list") return json(200, records);
  return json(200, { success: true, [shape === "own-name" ? `${noun}s` : "payload"]: records });
}

function goneAnswer(shape: GoneShape, noun: string, id: string): Answer {
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
