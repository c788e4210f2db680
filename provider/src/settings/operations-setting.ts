/**
 * The setting `operations` names what an installation offers in addition to the creates, which every installation has. Each mistake
 * is reported with its path and with the edits that correct it.
 */
import { z } from "zod";
import { asRecord, didYouMean, enumerate, nearest, own, type Values } from "../base/index.js";
import {
  KINDS,
  type Kind,
  type KnownOperations,
  OPTIONAL_OPERATIONS,
  type Operation,
  type OptionalOperation,
} from "../kinds/index.js";
import { show } from "../rules/index.js";

export interface Operations {
  /** By the kind's name on the wire, such as `event`. */
  readonly of: Readonly<Record<string, KnownOperations>>;
  /**
   * So many seconds after its time limit a request can no longer be carried out: a create that a search does not find then was not
   * carried out, and is sent again. Absent where nothing is ever sent again.
   */
  readonly resendAfterSeconds: number | undefined;
  /**
   * So many seconds after its create, reads and searches show an object: before, that one is not there proves nothing, unless it was
   * read already.
   */
  readonly createdVisibleAfterSeconds: number;
}

/** One step of what makes a structured setting right. Without a value, what stands at the path is removed. */
export interface Edit {
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** Assumption: a server has given up a request a minute after its sender has. */
const RESEND_AFTER_SECONDS = 60;
/** Assumption: what was created is shown everywhere five minutes later. */
const CREATED_VISIBLE_AFTER_SECONDS = 300;
const MAX_SECONDS = 86_400;

const NOUNS = KINDS.map(({ create }) => create.noun);
const NAMES = Object.keys(OPTIONAL_OPERATIONS) as OptionalOperation[];
const RESEND_AFTER = "resendAfterSeconds";
const CREATED_VISIBLE_AFTER = "createdVisibleAfterSeconds";

type Refuse = (path: readonly string[], message: string, fix: readonly Edit[]) => void;

/** Nothing where the setting is not set. Says everything that is wrong at once; an issue's `params.fix` holds the edits. */
export const operationsSchema = z
  .unknown()
  .optional()
  .transform((value, context): Operations | undefined => {
    if (value === undefined) return undefined;
    let isRefused = false;
    const operations = readOperations(value, (path, message, fix) => {
      isRefused = true;
      context.addIssue({ code: "custom", path: [...path], message, params: { fix } });
    });
    return isRefused ? z.NEVER : operations;
  });

function readOperations(value: unknown, refuse: Refuse): Operations {
  const of: Record<string, KnownOperations> = {};
  let resendAfterSeconds: number | undefined = RESEND_AFTER_SECONDS;
  let createdVisibleAfterSeconds = CREATED_VISIBLE_AFTER_SECONDS;
  if (Array.isArray(value)) refuse([], `expected an object by kind; got ${show(value)}`, [{ path: [] }]);
  for (const [name, given] of Object.entries(asRecord(value))) {
    const kind = KINDS.find(({ create }) => create.noun === name);
    if (name === RESEND_AFTER) {
      resendAfterSeconds =
        given === "never" ? undefined : readSeconds(name, given, RESEND_AFTER_SECONDS, refuse, ", or never");
    } else if (name === CREATED_VISIBLE_AFTER) {
      createdVisibleAfterSeconds = readSeconds(name, given, CREATED_VISIBLE_AFTER_SECONDS, refuse);
    } else if (kind === undefined) {
      refuseName([], name, given, "kind", [...NOUNS, RESEND_AFTER, CREATED_VISIBLE_AFTER], refuse);
    } else of[name] = readKind(kind, given, refuse);
  }
  return { of, resendAfterSeconds, createdVisibleAfterSeconds };
}

/** @param usual what corrects a wrong one. @param more in words, what else it may be. */
function readSeconds(name: string, given: unknown, usual: number, refuse: Refuse, more = ""): number {
  const seconds = typeof given === "string" && /^\s*\d{1,6}\s*$/.test(given) ? Number(given) : given;
  if (Number.isInteger(seconds) && (seconds as number) >= 0 && (seconds as number) <= MAX_SECONDS) {
    return seconds as number;
  }
  const message = `expected whole seconds from 0 to ${MAX_SECONDS}${more}; got ${show(given)}`;
  refuse([name], message, [{ path: [name], value: usual }]);
  return usual;
}

function readKind(kind: Kind, given: unknown, refuse: Refuse): KnownOperations {
  const { noun, fields } = kind.create;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    refuse([noun], `expected an object of ${enumerate(NAMES)}; got ${show(given)}`, [{ path: [noun] }]);
    return {};
  }
  const known: Partial<Record<OptionalOperation, Operation>> = {};
  for (const [typed, text] of Object.entries(given)) {
    const name = NAMES.find((each) => each === typed);
    if (name === undefined) {
      refuseName([noun], typed, text, "operation", NAMES, refuse);
      continue;
    }
    const [, method, path] = (typeof text === "string" ? /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(text) : undefined) ?? [];
    const example = exampleOf(noun, name);
    const faults =
      method === undefined || path === undefined
        ? [`expected a method and a path, such as ${example}; got ${show(text)}`]
        : faultsIn(kind, name, method, path);
    for (const message of faults) refuse([noun, name], message, [{ path: [noun, name], value: example }]);
    const operation = { method: method?.toUpperCase() as Operation["method"], path: path?.replace(/^\//, "") ?? "" };
    if (faults.length === 0) known[name] = { ...operation, repeatable: true, noun, fields };
  }
  return known;
}

/** Refuses a name that is not known. The fix moves its content to the nearest known name, or removes it. */
function refuseName(
  within: readonly string[],
  name: string,
  content: unknown,
  what: string,
  known: readonly string[],
  refuse: Refuse,
): void {
  const meant = nearest(name, known);
  const there = meant === undefined ? [] : editsFor([...within, meant], content);
  refuse([...within, name], `is not a known ${what}; ${didYouMean(name, known)}`, [
    { path: [...within, name] },
    ...there,
  ]);
}

/** Sets each value of a content, at its place below a path. */
export function editsFor(path: readonly string[], content: unknown): Edit[] {
  if (typeof content !== "object" || content === null) return [{ path, value: content }];
  return Object.entries(content).flatMap(([name, value]) => editsFor([...path, name], value));
}

function exampleOf(noun: string, name: OptionalOperation): string {
  const { methods, placeholder } = OPTIONAL_OPERATIONS[name];
  return `${methods[0]} rest/${noun}${name === "search" ? "?alternative_id={mark}" : `/{${placeholder}}`}`;
}

/** @param method as it was typed, as is the path. */
function faultsIn(kind: Kind, name: OptionalOperation, method: string, path: string): string[] {
  const { methods, placeholder } = OPTIONAL_OPERATIONS[name];
  const isMethod = (methods as readonly string[]).includes(method.toUpperCase());
  const faults = isMethod ? [] : [`expected the method ${methods.join(" or ")}; got ${show(method)}`];
  faults.push(...pathFaults(path, placeholder));
  if (faults.length > 0) return faults;
  const segments = segmentsOf(path);
  const isCreate = KINDS.some(({ create }) => segmentsOf(create.path).join("/") === segments.join("/"));
  if (method.toUpperCase() === "POST" && isCreate) return ["is the create itself, which makes another object"];
  // An object stands at the last kind that its path names; at none at all is fine.
  const named = segments.findLast((segment) => NOUNS.some((noun) => [noun, `${noun}s`].includes(segment)));
  const other = NOUNS.find((noun) => named === noun || named === `${noun}s`);
  return other === undefined || other === kind.create.noun
    ? []
    : [`has the path of another kind, ${other}; expected one such as ${exampleOf(kind.create.noun, name)}`];
}

/** A path holds what an address may hold, without a fragment; placeholders are taken out before. */
const PATH = /^[\w.~!$&'()*+,;=:@%/?[\]-]*$/;
const BASE = "https://installation.invalid/base";

function pathFaults(path: string, placeholder: string): string[] {
  const faults: string[] = [];
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const strangers = [...new Set(names.filter((name) => name !== placeholder))];
  for (const name of strangers) faults.push(`has the unknown placeholder {${name}}; known is {${placeholder}}`);
  // A misspelt one is there already, under another name.
  if (names.length === 0) faults.push(`lacks the placeholder {${placeholder}}`);
  const plain = withoutPlaceholders(path);
  if (!PATH.test(plain))
    faults.push("expected a path of letters, digits and what an address may hold, without a fragment");
  else if (leavesBase(plain))
    faults.push("leaves the base URL; expected a path below it, without a host and without ..");
  return faults;
}

function withoutPlaceholders(path: string): string {
  return path.replace(/\{[^{}]*\}/g, "1");
}

function leavesBase(path: string): boolean {
  if (/^\/\/|^[A-Za-z][\w+.-]*:|\\/.test(path)) return true;
  const [plain = ""] = path.split("?");
  const dots = plain.split("/").map((segment) => segment.replaceAll(/%2e/gi, "."));
  if (dots.includes(".") || dots.includes("..") || /%2f|%5c/i.test(plain)) return true;
  return !URL.canParse(`${BASE}/${path}`) || !new URL(`${BASE}/${path}`).href.startsWith(`${BASE}/`);
}

/**
 * A path as the most tolerant server may understand it: decoded, in any case, without a query, without parameters behind `;`
 * and without empty segments. Such a server would take `rest//event`, `rest/%65vent` and `rest/event;v=1` for `rest/event`.
 */
function segmentsOf(path: string): string[] {
  let plain = withoutPlaceholders(path).split("?")[0] ?? "";
  for (let decoded = decode(plain); decoded !== plain; decoded = decode(plain)) plain = decoded;
  const segments = plain.split("/").map((segment) => (segment.split(";")[0] ?? "").trim().toLowerCase());
  return segments.filter((segment) => segment !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The operations that the installation is known to have for a kind, in addition to its create. */
export function knownOperations(
  { create }: { readonly create: Operation },
  { operations }: { readonly operations: Operations | undefined },
): KnownOperations {
  return operations?.of[create.noun] ?? {};
}

/** The kinds that a search is given for. @param operations as they stand there, right or wrong. */
export function searchedNouns(operations: unknown): string[] {
  return NOUNS.filter((noun) => own(own(operations, noun), "search") !== undefined);
}

export function edited(value: object, edits: readonly Edit[]): Values {
  const copy = structuredClone(asRecord(value)) as Record<string, unknown>;
  for (const { path, value: content } of edits) {
    let at = copy;
    for (const name of path.slice(0, -1)) at = at[name] = { ...asRecord(at[name]) };
    const last = path.at(-1);
    if (last !== undefined && content === undefined) delete at[last];
    else if (last !== undefined) at[last] = content;
  }
  return copy;
}
