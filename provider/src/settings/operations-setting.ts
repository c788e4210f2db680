/**
 * The setting `operations` names the operations that an installation offers beside the creates, which all installations
 * have. It is checked by the same kind of rules as arguments, so that each mistake is reported with its path.
 */
import { z } from "zod";
import { mapValues } from "../base/index.js";
import {
  KINDS,
  type Kind,
  type KnownOperations,
  OPTIONAL_OPERATIONS,
  type Operation,
  type OptionalOperation,
} from "../kinds/index.js";
import { expecting, validate, withUnit } from "../rules/index.js";

export interface Operations {
  /** The known operations by the kind's name on the wire, such as `event`. */
  of: Readonly<Record<string, KnownOperations>>;
  /**
   * Once this many seconds have passed since a create's time limit, a search that finds nothing proves that the create
   * wasn't carried out, and it is sent again. `undefined`: never.
   */
  resendAfterSeconds: number | undefined;
  /** Seconds for which a new object may be missing from reads and searches: until then its absence proves nothing. */
  createdVisibleAfterSeconds: number;
}

/** A day. A longer time is probably a mistake in the unit. */
export const MAX_SECONDS = 86_400;
const EXPECTED_SECONDS = `whole seconds from 0 to ${withUnit(MAX_SECONDS)}`;
const seconds = z
  .union([z.int(), z.string().regex(/^\d+$/).transform(Number)])
  .pipe(z.int().min(0).max(MAX_SECONDS));

const operationsOfKind = expecting(
  `an object of ${Object.keys(OPTIONAL_OPERATIONS).join(", ")}`,
  z.strictObject(
    mapValues(OPTIONAL_OPERATIONS, (_, name) => operationRule(name).optional()),
  ),
);

const rules = z.strictObject({
  ...Object.fromEntries(KINDS.map(({ noun }) => [noun, operationsOfKind.optional()])),
  // Assumptions: a server gives up within a minute of its client; a new object is visible everywhere after 5 minutes.
  resendAfterSeconds: expecting(
    `${EXPECTED_SECONDS}, or never`,
    z.union([seconds, z.literal("never")]),
  ).default(60),
  createdVisibleAfterSeconds: expecting(EXPECTED_SECONDS, seconds).default(300),
});

/** The first dot in a problem's path below a kind. */
const AFTER_NOUN = new RegExp(`(?<=^(?:${KINDS.map(({ noun }) => noun).join("|")}))\\.`);

/** Parses the setting; `undefined` if it is not set. */
export const operationsSchema = z
  .looseObject({})
  .transform((setting, context): Operations => {
    const { values, problems } = validate(setting, rules);
    for (const { property, reason: message } of problems) {
      // An unknown name may contain dots.
      const path = property.split(AFTER_NOUN);
      context.addIssue({ code: "custom", path, message });
    }
    const { resendAfterSeconds, createdVisibleAfterSeconds, ...of } = values as z.output<
      typeof rules
    >;
    const resend = resendAfterSeconds === "never" ? undefined : resendAfterSeconds;
    return { of, resendAfterSeconds: resend, createdVisibleAfterSeconds };
  })
  .optional();

function operationRule(name: OptionalOperation) {
  const { methods, placeholder } = OPTIONAL_OPERATIONS[name];
  return expecting(
    `${methods.join(" or ")} and a path with {${placeholder}}`,
    z.string().transform((text, context): Operation => {
      const [, typed = "", path = ""] = /^\s*([A-Za-z]+)\s+\/?(\S+)\s*$/.exec(text) ?? [];
      const method = methods.find((known) => known === typed.toUpperCase());
      const filled = path.replaceAll(`{${placeholder}}`, "1");
      const message = faultIn(path, filled, method);
      if (method !== undefined && filled !== path && message === undefined)
        return { method, path, idempotent: true };
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }),
  );
}

const BASE = "https://installation.invalid/base";

/** @param filled the path with a value in its placeholder. */
function faultIn(path: string, filled: string, method: string | undefined) {
  const address = `${BASE}/${filled}`;
  const isPlain = URL.parse(address)?.href === address;
  // Refuses what a server may read differently: other hosts, dots, empty segments, encoded separators.
  if (!isPlain || /^\/|\/\/|[#{}]|%2e|%2f|%5c/i.test(filled))
    return "might point outside the base URL; expected a plain path below it, without a host, .. or #";
  // A server that ignores queries and parameters would take such a POST for the create.
  if (method === "POST" && !/(^|\/)\{id\}([/;]|$)/.test(path.split("?")[0] ?? ""))
    return "could be the path of a create: it needs {id} between slashes or at its end";
}

export function knownOperations(
  { noun }: Kind,
  settings: { operations: Operations | undefined; markField: string | undefined },
) {
  const { operations, markField } = settings;
  return { ...operations?.of[noun], markField };
}
