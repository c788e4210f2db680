/**
 * Faults as they are typed: `<target>:<fault>[:<times>]`, such as `event:close-after-act:1`. Pure.
 */
import { type Fault, type FaultRule, type FaultTarget, NOUNS } from "./options.js";
import { printable } from "./shown.js";

/** What was typed can't be carried out; the message says why, for people. */
export class NotUnderstood extends Error {}

const AFTER_ACT = "-after-act";

const TARGETS: readonly FaultTarget[] = [
  ...(["authenticate", ...NOUNS, "create"] as const),
  ...(["read", "update", "delete", "search", "any"] as const),
];

const PLAIN = [
  ...(["close-without-answer", "reset", "reset-before-read", "no-answer", "half-body", "stalled-body"] as const),
  ...(["bad-length", "bad-chunk", "garbage", "close-after", "early-hints", "continue", "session-refusal"] as const),
];

/** More than a client may take. */
const SIZED: readonly Fault[] = [
  { kind: "slow-body", msPerByte: 100 },
  { kind: "huge-body", bytes: 1024 ** 3 },
  { kind: "gzip-bomb", bytes: 64 * 1024 ** 2 },
  { kind: "huge-header", bytes: 1024 ** 2 },
  { kind: "many-headers", count: 10_000 },
];

/** What may be typed: `close` for short, and each kind but `answer`, for which `status-500` stands. */
const FAULTS = new Map<string, Fault>([
  ["close", { kind: "close-without-answer" }],
  ...[...PLAIN.map((kind) => ({ kind })), ...SIZED].map((fault) => [fault.kind, fault] as const),
]);

/** Faults after which nothing is carried out, whatever is asked for. */
const NEVER_ACT: readonly string[] = ["reset-before-read", "session-refusal"];

/** What there is, for help and complaints; in lines of 100 characters. */
export const FAULT_LANGUAGE = `targets: ${TARGETS.join(", ")}
faults: ${[...FAULTS.keys(), "status-<200 to 599>"].join(", ").replace(/(.{60,90},) /g, "$1\n  ")};
  with ${AFTER_ACT} at the end, the request is carried out first
times: a whole number from 1 up, or always; once by default`;

/** @throws NotUnderstood with what is wrong, and what there is. */
export function parseFault(text: string): FaultRule {
  const wrong = (problem: string) => {
    throw new NotUnderstood(`${quoted(text)}: ${problem}\n${FAULT_LANGUAGE}`.replaceAll("\n", "\n  "));
  };
  const [target = "", name, times = "1", ...rest] = text.split(":");
  if (name === undefined || rest.length > 0) return wrong("expected <target>:<fault>[:<times>]");
  const on = TARGETS.find((known) => known === target);
  if (on === undefined) return wrong(`there is no target ${quoted(target)}`);
  const act = name.endsWith(AFTER_ACT);
  const plain = act ? name.slice(0, -AFTER_ACT.length) : name;
  const fault = FAULTS.get(plain) ?? statusFault(plain);
  if (fault === undefined) return wrong(`there is no fault ${quoted(name)}`);
  if (act && NEVER_ACT.includes(plain)) return wrong(`${quoted(plain)} comes before a request is carried out`);
  if (times === "always") return { on, with: fault, act, times: Number.POSITIVE_INFINITY };
  if (/^[1-9]\d{0,8}$/.test(times)) return { on, with: fault, act, times: Number(times) };
  return wrong(`times is a whole number from 1 up, or "always"; got ${quoted(times)}`);
}

function statusFault(name: string): Fault | undefined {
  const [, digits] = /^status-([2-5]\d\d)$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const status = Number(digits);
  const body = { success: status < 400, message: `status ${status}, as the sandbox was asked` };
  return { kind: "answer", status, headers: { "content-type": "application/json" }, body };
}

export function quoted(text: string): string {
  return `"${printable(text, 80)}"`;
}
