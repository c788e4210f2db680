/**
 * The setting `operations` names what an installation offers in addition to the creates, which every installation has. Each mistake
 * is reported with its path.
 */
import { z } from "zod";
import { asRecord, didYouMean, enumerate, isPlain, own } from "../base/index.js";
import {
  KINDS,
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

/**
 * Assumptions: a server has given up a request a minute after its sender has; what was created is shown everywhere five minutes later.
 */
const DEFAULTS = { resendAfterSeconds: 60, createdVisibleAfterSeconds: 300 };
const MAX_SECONDS = 86_400;

const NOUNS = KINDS.map(({ create }) => create.noun);
const NAMES = Object.keys(OPTIONAL_OPERATIONS) as OptionalOperation[];

/** @param instead a value that would be right there; without one, what stands there is to be removed. */
type Refuse = (path: readonly string[], message: string, instead?: string) => undefined;

/** Nothing where the setting is not set. Says everything that is wrong at once; an issue's `params.instead` is a value that would be right. */
export const operationsSchema = z
  .unknown()
  .optional()
  .transform((value, context): Operations | undefined => {
    if (value === undefined) return undefined;
    let isRefused = false;
    const operations = readOperations(value, (path, message, instead) => {
      isRefused = true;
      context.addIssue({ code: "custom", path: [...path], message, params: { instead } });
    });
    return isRefused ? z.NEVER : operations;
  });

function readOperations(value: unknown, refuse: Refuse): Operations {
  const of: Record<string, KnownOperations> = {};
  const seconds: { resendAfterSeconds: number | undefined; createdVisibleAfterSeconds: number } = { ...DEFAULTS };
  if (Array.isArray(value)) refuse([], `expected an object by kind; got ${show(value)}`);
  for (const [name, given] of Object.entries(asRecord(value))) {
    const kind = KINDS.find(({ create }) => create.noun === name);
    if (kind !== undefined) of[name] = readKind(kind.create, given, refuse);
    else if (name === "resendAfterSeconds" && given === "never") seconds.resendAfterSeconds = undefined;
    else if (name === "resendAfterSeconds" || name === "createdVisibleAfterSeconds") {
      const more = name === "resendAfterSeconds" ? ", or never" : "";
      const read = isPlain(given) && /^\s*\d{1,5}\s*$/.test(`${given}`) ? Number(given) : MAX_SECONDS + 1;
      if (read <= MAX_SECONDS) seconds[name] = read;
      else
        refuse(
          [name],
          `expected whole seconds from 0 to ${MAX_SECONDS}${more}; got ${show(given)}`,
          `${DEFAULTS[name]}`,
        );
    } else refuse([name], `is not a known kind; ${didYouMean(name, [...NOUNS, ...Object.keys(DEFAULTS)])}`);
  }
  return { of, ...seconds };
}

function readKind({ noun, fields }: Operation, given: unknown, refuse: Refuse): KnownOperations {
  const known: Partial<Record<OptionalOperation, Operation>> = {};
  if (typeof given !== "object" || given === null || Array.isArray(given))
    refuse([noun], `expected an object of ${enumerate(NAMES)}; got ${show(given)}`);
  for (const [typed, text] of Object.entries(asRecord(given))) {
    const name = NAMES.find((each) => each === typed);
    if (name === undefined) {
      refuse([noun, typed], `is not a known operation; ${didYouMean(typed, NAMES)}`);
      continue;
    }
    const { methods, placeholder } = OPTIONAL_OPERATIONS[name];
    const example = `${methods[0]} rest/${noun}${name === "search" ? "?alternative_id={mark}" : `/{${placeholder}}`}`;
    const [, typedMethod = "", path = ""] = /^\s*([A-Za-z]+)\s+\/?(\S+)\s*$/.exec(isPlain(text) ? `${text}` : "") ?? [];
    const method = methods.find((each) => each === typedMethod.toUpperCase());
    if (path === "")
      refuse([noun, name], `expected a method and a path, such as ${example}; got ${show(text)}`, example);
    else if (method === undefined)
      refuse([noun, name], `expected the method ${methods.join(" or ")}; got ${show(typedMethod)}`, example);
    else {
      const fault = faultIn(path, placeholder, method);
      if (fault !== undefined) refuse([noun, name], fault, example);
      known[name] = { method, path, repeatable: true, noun, fields };
    }
  }
  return known;
}

const BASE = "https://installation.invalid/base";

function faultIn(path: string, placeholder: string, method: string): string | undefined {
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name);
  const stranger = names.find((name) => name !== placeholder);
  if (stranger !== undefined) return `has the unknown placeholder {${stranger}}; known is {${placeholder}}`;
  if (names.length === 0) return `lacks the placeholder {${placeholder}}`;
  const address = `${BASE}/${path.replace(/\{[^{}]*\}/g, "1")}`;
  // What a server or an address may understand in another way: other hosts, dots, empty segments, encoded separators.
  if (/^\/|\/\/|#|%2e|%2f|%5c/i.test(path) || !URL.canParse(address) || new URL(address).href !== address)
    return "leaves the base URL, or may; expected a plain path below it, without a host, .. or #";
  // To a server that ignores queries and parameters, it would be the create.
  if (method === "POST" && !/(^|\/)\{id\}([/;]|$)/.test(path.split("?")[0] ?? ""))
    return "may be the create itself, which makes another object: expected {id} between slashes or at the end of the path";
  return undefined;
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
