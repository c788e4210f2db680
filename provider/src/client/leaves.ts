/**
 * Data as a flat list of its texts and numbers, each with its place. Without recursion: an answer may be nested a hundred
 * thousand times. Pure.
 */
import { isNamed, isSecretName } from "./names.js";

/** Where something stands: names from the inside out. Positions in a list are no names. */
export interface Place {
  readonly name: string;
  readonly parent: Place | undefined;
  /** Whether a name on the way sounds secret, is a person's, or is one that errors stand under. */
  readonly isSecret: boolean;
  readonly isPersonal: boolean;
  readonly isAmongErrors: boolean;
}

export interface Leaf {
  readonly place: Place | undefined;
  readonly value: string | number;
  /** The object that it is a property of. */
  readonly holder: object | undefined;
  /** Whether that object is an entry of a list. */
  readonly isInEntry: boolean;
  /** It is no value but a name that reads like a sentence. */
  readonly isName: boolean;
}

interface Frame {
  readonly container: object;
  /** Absent for a list. */
  readonly names: readonly string[] | undefined;
  readonly place: Place | undefined;
  readonly isEntry: boolean;
  /** So many more strings of JSON are read within it. */
  readonly strings: number;
  next: number;
}

/** JSON within JSON is read so often: an echo of a request may be a string. */
const STRINGS = 2;

/** `"The name is taken": true`. */
const NAME_OF_WORDS = /\S\s+\S+\s+\S/;

/** @returns strings and numbers in the order in which they stand. */
export function leavesOf(root: unknown): Generator<Leaf> {
  return walk(root, 0);
}

/** Reads what is no plain value too: names that read like sentences, and JSON in strings. */
export function everyLeafOf(root: unknown): Generator<Leaf> {
  return walk(root, STRINGS);
}

function* walk(root: unknown, within: number): Generator<Leaf> {
  const frames = [frameOf({ root }, undefined, false, within)];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, names, strings } = frame;
    const at = frame.next++;
    if (at >= (names ?? (container as unknown[])).length) {
      frames.pop();
      continue;
    }
    const name = names?.[at];
    const isRoot = frames.length === 1;
    const place = name === undefined || isRoot ? frame.place : placeBelow(frame.place, name);
    const value = (container as Record<string, unknown>)[name ?? at];
    if (within > 0 && name !== undefined && place?.isSecret !== true && NAME_OF_WORDS.test(name))
      yield { place: frame.place, value: name, holder: undefined, isInEntry: false, isName: true };
    const embedded = typeof value === "string" && strings > 0 ? containerIn(value) : undefined;
    if (embedded !== undefined) {
      frames.push(frameOf(embedded, place, false, strings - 1));
    } else if (typeof value === "object" && value !== null) {
      frames.push(frameOf(value, place, name === undefined, strings));
    } else if (typeof value === "string" || typeof value === "number") {
      yield {
        place,
        value,
        holder: name === undefined || isRoot ? undefined : container,
        isInEntry: frame.isEntry,
        isName: false,
      };
    }
  }
}

function frameOf(container: object, place: Place | undefined, isEntry: boolean, strings: number): Frame {
  return {
    container,
    names: Array.isArray(container) ? undefined : Object.keys(container),
    place,
    isEntry,
    strings,
    next: 0,
  };
}

function placeBelow(parent: Place | undefined, name: string): Place {
  return {
    name,
    parent,
    isSecret: parent?.isSecret === true || isSecretName(name),
    isPersonal: parent?.isPersonal === true || isNamed(name, "person"),
    isAmongErrors: parent?.isAmongErrors === true || isNamed(name, "errors"),
  };
}

/** The names on the way to a place, the outermost first. */
export function namesTo(place: Place | undefined): string[] {
  const names: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) names.push(at.name);
  return names.reverse();
}

/** The object or list that a string is the JSON of. */
function containerIn(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // It only began like one.
  }
}
