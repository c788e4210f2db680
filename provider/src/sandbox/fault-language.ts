/**
 * Faults as they are typed: `<target>:<fault>[:<times>]`, such as `event:close-after-act:1`. Pure.
 */
import type { Fault, FaultRule, FaultTarget } from "./options.js";
import { didYouMean, printable } from "./text.js";

/** What was typed can't be carried out; the message says why, for people. */
export class NotUnderstood extends Error {}

const AFTER_ACT = "-after-act";

const TARGETS: readonly FaultTarget[] = [
  "authenticate",
  "advertiser",
  "event",
  "create",
  "read",
  "update",
  "delete",
  "search",
  "any",
];

/** Each kind but `answer`, which needs words of its own: `status-500` stands for it. Sizes beyond what a client may take. */
const KINDS = {
  "close-without-answer": { kind: "close-without-answer" },
  reset: { kind: "reset" },
  "reset-before-read": { kind: "reset-before-read" },
  "no-answer": { kind: "no-answer" },
  "half-body": { kind: "half-body" },
  "stalled-body": { kind: "stalled-body" },
  "slow-body": { kind: "slow-body", msPerByte: 100 },
  "huge-body": { kind: "huge-body", bytes: 1024 ** 3 },
  "gzip-bomb": { kind: "gzip-bomb", bytes: 64 * 1024 ** 2 },
  "huge-header": { kind: "huge-header", bytes: 1024 ** 2 },
  "many-headers": { kind: "many-headers", count: 10_000 },
  "bad-length": { kind: "bad-length" },
  "bad-chunk": { kind: "bad-chunk" },
  garbage: { kind: "garbage" },
  "close-after": { kind: "close-after" },
  "early-hints": { kind: "early-hints" },
  continue: { kind: "continue" },
  "session-refusal": { kind: "session-refusal" },
} as const satisfies Record<Exclude<Fault["kind"], "answer">, Fault>;

/** What may be typed; `close` for short, as in `close-after-act`. */
const FAULTS = new Map<string, Fault>([["close", KINDS["close-without-answer"]], ...Object.entries(KINDS)]);

/** Faults after which nothing is carried out, whatever is asked for. */
const NEVER_ACT: readonly string[] = ["reset-before-read", "session-refusal"];

/** What there is, for help and complaints; in lines of 100 characters. */
export const FAULT_LANGUAGE = `targets: ${TARGETS.join(", ")}
faults: ${wrapped([...FAULTS.keys(), "status-<200 to 599>"])};
  with ${AFTER_ACT} at the end, the request is carried out first
times: a whole number from 1 up, or always; once by default`;

/** @throws NotUnderstood with all that is wrong in any of them. */
export function parseFaults(texts: readonly string[]): FaultRule[] {
  const complaints: string[] = [];
  const rules = texts.flatMap((text) => {
    const problems: string[] = [];
    const rule = parseFault(text, problems);
    if (problems.length > 0) complaints.push(`${quoted(text)}: ${problems.join("; ")}`);
    return rule ?? [];
  });
  if (complaints.length === 0) return rules;
  throw new NotUnderstood([...complaints, FAULT_LANGUAGE].join("\n").replaceAll("\n", "\n  "));
}

function parseFault(text: string, problems: string[]): FaultRule | undefined {
  const [target, name, times = "1", ...rest] = text.split(":");
  if (target === undefined || name === undefined || rest.length > 0) {
    problems.push("expected <target>:<fault>[:<times>]");
    return undefined;
  }
  const on = TARGETS.find((known) => known === target);
  if (on === undefined) problems.push(`there is no target ${quoted(target)}${didYouMean(target, TARGETS)}`);

  const act = name.endsWith(AFTER_ACT);
  const plain = act ? name.slice(0, -AFTER_ACT.length) : name;
  const fault = FAULTS.get(plain) ?? statusFault(plain);
  if (fault === undefined) {
    const known = [...FAULTS.keys(), "status-429", "status-500", "status-503"].flatMap((each) => [
      each,
      `${each}${AFTER_ACT}`,
    ]);
    problems.push(`there is no fault ${quoted(name)}${didYouMean(name, known)}`);
  } else if (act && NEVER_ACT.includes(plain)) {
    problems.push(`${quoted(plain)} comes before a request is carried out`);
  }

  if (times !== "always" && !/^[1-9]\d{0,8}$/.test(times)) {
    problems.push(`times is a whole number from 1 up, or "always"; got ${quoted(times)}`);
  }
  if (on === undefined || fault === undefined) return undefined;
  return { on, with: fault, act, times: times === "always" ? Number.POSITIVE_INFINITY : Number(times) };
}

function statusFault(name: string): Fault | undefined {
  const [, digits] = /^status-([2-5]\d\d)$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const status = Number(digits);
  const body = { success: status < 400, message: `status ${status}, as the sandbox was asked` };
  return { kind: "answer", status, headers: { "content-type": "application/json" }, body };
}

function quoted(text: string): string {
  return `"${printable(text, 80)}"`;
}

function wrapped(names: readonly string[]): string {
  return names.join(", ").replace(/(.{60,90},) /g, "$1\n  ");
}
