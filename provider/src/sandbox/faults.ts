/** Which requests fail, and how. */
import { json, sessionRefused } from "./answers.js";
import {
  type Fault,
  type FaultRule,
  NOUNS,
  type SandboxAnswer,
  type SandboxAnswerer,
  type SandboxOperation,
} from "./options.js";

/** All faults but the fixed answer. */
const ANSWERERS = {
  "close-without-answer": (_answer, _request, response) => {
    response.socket?.end();
    return undefined;
  },
  reset: (_answer, _request, response) => {
    response.socket?.resetAndDestroy();
    return undefined;
  },
  "no-answer": () => undefined,
  "session-refusal": sessionRefused,
} as const satisfies Record<Exclude<Fault["kind"], "answer">, SandboxAnswerer>;

export const PLAIN_FAULTS = Object.keys(ANSWERERS) as (keyof typeof ANSWERERS)[];

/** A rule, and which requests it has hit. */
export class ArmedFault {
  hits = 0;
  remaining: number;
  readonly answer: SandboxAnswerer;
  /** Whether the request is carried out all the same. */
  readonly act: boolean;
  readonly #target: FaultRule["on"];
  #toSkip: number;

  constructor(rule: FaultRule) {
    this.answer = answererOf(rule.with);
    this.act = rule.act ?? false;
    this.#target = rule.on;
    this.remaining = rule.times ?? 1;
    this.#toSkip = rule.after ?? 0;
  }

  /** Ends it. */
  cancel(): void {
    this.remaining = 0;
  }

  /** Whether it hits this request; counts it. */
  takes(operation: SandboxOperation): boolean {
    if (this.remaining <= 0 || !this.#isFor(operation)) return false;
    if (this.#toSkip-- > 0) return false;
    this.remaining--;
    this.hits++;
    return true;
  }

  #isFor(operation: SandboxOperation): boolean {
    if (this.#target === "create") return NOUNS.some((noun) => noun === operation);
    return this.#target === "any" || this.#target === operation;
  }
}

function answererOf(fault: FaultRule["with"]): SandboxAnswerer {
  if (typeof fault === "function") return fault;
  if (fault.kind !== "answer") return ANSWERERS[fault.kind];
  const answer = fixedAnswer(fault);
  return () => answer;
}

function fixedAnswer({ status, headers = {}, body = "" }: Fault & { kind: "answer" }): SandboxAnswer {
  if (typeof body === "string" || Buffer.isBuffer(body)) return { status, headers, body };
  return { ...json(status, body), headers };
}
