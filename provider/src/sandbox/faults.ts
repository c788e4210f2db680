/** Which requests fail, and how. */
import { sessionRefused } from "./answers.js";
import {
  type Fault,
  type FaultRule,
  NOUNS,
  type SandboxAnswerer,
  type SandboxOperation,
} from "./options.js";

type PlainFault = Exclude<Fault["kind"], "answer">;

const ANSWERERS: Readonly<Record<PlainFault, SandboxAnswerer>> = {
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
};

export const PLAIN_FAULTS = Object.keys(ANSWERERS) as PlainFault[];

/** A rule, and how many requests it has hit. */
export class ArmedFault {
  hits = 0;
  readonly answer: SandboxAnswerer;
  readonly #rule: FaultRule;
  #toSkip: number;
  #isCancelled = false;

  constructor(rule: FaultRule) {
    this.#rule = rule;
    this.answer = answererOf(rule.with);
    this.#toSkip = rule.after ?? 0;
  }

  /** Whether the request is carried out all the same. */
  get act(): boolean {
    return this.#rule.act ?? false;
  }

  /** Ends it. */
  cancel(): void {
    this.#isCancelled = true;
  }

  /** Whether it hits this request; counts it. */
  takes(operation: SandboxOperation): boolean {
    const { on, times = 1 } = this.#rule;
    const isCreate = NOUNS.some((noun) => noun === operation);
    const isMeant = on === "any" || on === operation || (on === "create" && isCreate);
    if (!isMeant || this.#isCancelled || this.hits >= times) return false;
    if (this.#toSkip-- > 0) return false;
    this.hits++;
    return true;
  }
}

function answererOf(fault: FaultRule["with"]): SandboxAnswerer {
  if (typeof fault === "function") return fault;
  if (fault.kind !== "answer") return ANSWERERS[fault.kind];
  const { status, headers = {}, body = "" } = fault;
  const isText = typeof body === "string" || Buffer.isBuffer(body);
  const answer = { status, headers, body: isText ? body : JSON.stringify(body) };
  return () => answer;
}
