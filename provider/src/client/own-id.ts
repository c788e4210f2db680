/**
 * Where an answer holds the id of the object that it is about. Pure.
 */
import { own } from "../base/index.js";

/** The id wherever it sensibly stands, exact to the last digit; never another object's, such as an event's advertiser_id. */
export function readId(value: unknown, noun: string): string | undefined {
  for (const holder of holdersIn(soleOf(value), noun)) {
    const id = ownIdOf(soleOf(holder), noun);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** An object's own id. */
export function ownIdOf(record: unknown, noun: string): string | undefined {
  return asId(own(record, "id")) ?? asId(own(record, `${noun}_id`));
}

/** The parts of an answer that may be the object, or a list of objects: the inner ones first. */
export function* holdersIn(value: unknown, noun: string): Generator<unknown, undefined> {
  for (const name of ["payload", "result", "data"]) {
    const part = own(value, name);
    yield part;
    yield* namedIn(soleOf(part), noun);
  }
  yield value;
  yield* namedIn(value, noun);
}

const namedIn = (value: unknown, noun: string) => [own(value, noun), own(value, `${noun}s`)];

/** The object in a list with just one. */
function soleOf(value: unknown): unknown {
  return Array.isArray(value) ? (value.length === 1 ? value[0] : undefined) : value;
}

function asId(value: unknown): string | undefined {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  return typeof text === "string" && /^\d{1,30}$/.test(text.trim()) ? text.trim() : undefined;
}
