/**
 * The setting `operations`: what an installation has besides the three operations that every one is known to have.
 */
import { z } from "zod";
import { asRecord, didYouMean, enumerate, own } from "../base/index.js";
import {
  addressOf,
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
   * How many seconds after its time limit a request can't be carried out any more: a create that a search does not find then
   * was not carried out, and is sent again. Absent where nothing is ever sent again.
   */
  readonly resendAfterSeconds: number | undefined;
}

/** Assumption: whoever handles a request has given it up a minute after its sender has. */
const RESEND_AFTER_SECONDS = 60;
const MAX_RESEND_AFTER_SECONDS = 86_400;

const NOUNS = KINDS.map(({ create }) => create.noun);
const NAMES = Object.keys(OPTIONAL_OPERATIONS) as OptionalOperation[];
const RESEND_AFTER = "resendAfterSeconds";

interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Nothing where the setting is not set. Says everything that is wrong at once, with its path. */
export const operationsSchema = z
  .unknown()
  .optional()
  .transform((value, context): Operations | undefined => {
    if (value === undefined) return undefined;
    const problems: Problem[] = [];
    const operations = readOperations(value, problems);
    for (const { path, message } of problems) context.addIssue({ code: "custom", path: [...path], message });
    return problems.length > 0 ? z.NEVER : operations;
  });

function readOperations(value: unknown, problems: Problem[]): Operations {
  const of: Record<string, KnownOperations> = {};
  let resendAfterSeconds: number | undefined = RESEND_AFTER_SECONDS;
  if (Array.isArray(value)) problems.push({ path: [], message: `expected an object by kind; got ${show(value)}` });
  for (const [name, given] of Object.entries(asRecord(value))) {
    const kind = KINDS.find(({ create }) => create.noun === name);
    if (name === RESEND_AFTER) resendAfterSeconds = readResendAfter(given, problems);
    else if (kind === undefined)
      problems.push({ path: [name], message: unknown("kind", name, [...NOUNS, RESEND_AFTER]) });
    else of[name] = readKind(kind.create, given, problems);
  }
  return { of, resendAfterSeconds };
}

function readResendAfter(given: unknown, problems: Problem[]): number | undefined {
  if (given === "never") return undefined;
  const seconds = typeof given === "string" && /^\s*\d{1,6}\s*$/.test(given) ? Number(given) : given;
  if (Number.isInteger(seconds) && (seconds as number) >= 0 && (seconds as number) <= MAX_RESEND_AFTER_SECONDS) {
    return seconds as number;
  }
  const message = `expected whole seconds from 0 to ${MAX_RESEND_AFTER_SECONDS}, or never; got ${show(given)}`;
  problems.push({ path: [RESEND_AFTER], message });
  return undefined;
}

function readKind(create: Operation, given: unknown, problems: Problem[]): KnownOperations {
  const { noun } = create;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    problems.push({ path: [noun], message: `expected an object of ${enumerate(NAMES)}; got ${show(given)}` });
    return {};
  }
  const known: Partial<Record<OptionalOperation, Operation>> = {};
  for (const [name, text] of Object.entries(given)) {
    if (!isName(name)) {
      problems.push({ path: [noun, name], message: unknown("operation", name, NAMES) });
      continue;
    }
    const { methods, placeholder } = OPTIONAL_OPERATIONS[name];
    const example = `${methods[0]} rest/${noun}${name === "search" ? "?alternative_id={mark}" : `/{${placeholder}}`}`;
    const [, method, path] = (typeof text === "string" ? /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(text) : undefined) ?? [];
    const faults =
      method === undefined || path === undefined
        ? [`expected a method and a path, such as ${example}; got ${show(text)}`]
        : [...methodFaults(method, methods), ...pathFaults(path, placeholder)];
    const operation: Operation = {
      method: (method ?? "").toUpperCase() as Operation["method"],
      path: (path ?? "").replace(/^\//, ""),
      repeatable: true,
      noun,
      fields: create.fields,
    };
    if (faults.length === 0 && wouldCreate(operation, create))
      faults.push("is the create itself, which makes another object");
    for (const message of faults) problems.push({ path: [noun, name], message });
    if (faults.length === 0) known[name] = operation;
  }
  return known;
}

function methodFaults(method: string, methods: readonly string[]): string[] {
  return methods.includes(method.toUpperCase())
    ? []
    : [`expected the method ${methods.join(" or ")}; got ${show(method)}`];
}

/** What a path may hold besides placeholders: what an address may, without a fragment. */
const PATH = /^[\w.~!$&'()*+,;=:@%/?[\]-]*$/;
const BASE = "https://installation.invalid/base";

function pathFaults(path: string, placeholder: string): string[] {
  const faults: string[] = [];
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const strangers = [...new Set(names.filter((name) => name !== placeholder))];
  for (const name of strangers) faults.push(`has the unknown placeholder {${name}}; known is {${placeholder}}`);
  if (!names.includes(placeholder)) faults.push(`lacks the placeholder {${placeholder}}`);
  const plain = path.replace(/\{[^{}]*\}/g, "1");
  if (!PATH.test(plain))
    faults.push("expected a path of letters, digits and what an address may hold, without a fragment");
  else if (leavesBase(plain))
    faults.push("leaves the base URL; expected a path below it, without a host and without ..");
  return faults;
}

function leavesBase(path: string): boolean {
  if (/^\/\/|^[A-Za-z][\w+.-]*:|\\/.test(path)) return true;
  const segments = (path.split("?")[0] ?? "").split("/").map((segment) => segment.replaceAll(/%2e/gi, "."));
  if (segments.some((segment) => segment === "." || segment === "..") || /%2f|%5c/i.test(path.split("?")[0] ?? ""))
    return true;
  return !URL.canParse(`${BASE}/${path}`) || !new URL(`${BASE}/${path}`).href.startsWith(`${BASE}/`);
}

/** A server that does not know the query would make another object. */
function wouldCreate(operation: Operation, create: Operation): boolean {
  const pathOf = (each: Operation) => addressOf(each, BASE, { id: "1" }).pathname.replace(/\/+$/, "");
  return operation.method === create.method && pathOf(operation) === pathOf(create);
}

function isName(name: string): name is OptionalOperation {
  return (NAMES as string[]).includes(name);
}

function unknown(what: string, name: string, known: readonly string[]): string {
  return `is not a known ${what}; ${didYouMean(name, known)}`;
}

/** What the installation is known to have for a kind, besides its create. */
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
