/** Which requests fail, and how; and a fault as it is typed, such as `event:close-after-act:1`. */
import { quoted } from "../base/index.js";
import {
  type Fault,
  type FaultRule,
  NOUNS,
  OPERATIONS,
  type SandboxAnswerer,
  type SandboxOperation,
} from "./options.js";
import { json } from "./platform.js";

/** A rule, and how many requests it has hit. */
export class ArmedFault {
  hits = 0;
  #passed = 0;

  constructor(readonly rule: FaultRule) {}

  /** Whether it hits this request; counts it. */
  takes(operation: SandboxOperation): boolean {
    const { on, times = 1, after = 0 } = this.rule;
    const isCreate = on === "create" && NOUNS.some((noun) => noun === operation);
    const isMeant = on === "any" || on === operation || isCreate;
    if (!isMeant || this.hits >= times || this.#passed++ < after) return false;
    this.hits++;
    return true;
  }

  /** What the client gets instead. */
  readonly answer: SandboxAnswerer = (answer, request, response) => {
    const fault = this.rule.with;
    if (typeof fault === "function") return fault(answer, request, response);
    if (fault.kind === "answer") {
      const { status, headers = {}, body = "" } = fault;
      const isText = typeof body === "string" || Buffer.isBuffer(body);
      return { status, headers, body: isText ? body : JSON.stringify(body) };
    }
    if (fault.kind === "close-without-answer") response.socket?.end();
    if (fault.kind === "reset") response.socket?.resetAndDestroy();
    return undefined;
  };
}

const TARGETS = ["any", "create", ...OPERATIONS];

const FAULTS: Readonly<Record<string, Fault>> = {
  close: { kind: "close-without-answer" },
  reset: { kind: "reset" },
  "no-answer": { kind: "no-answer" },
};
const NAMES = Object.keys(FAULTS);

const TYPED = new RegExp(
  `^(?<on>${TARGETS.join("|")}):(?:(?<name>${NAMES.join("|")})|status-(?<status>[2-5]\\d\\d))` +
    "(?<act>-after-act)?(?::(?<times>always|[1-9]\\d{0,8}))?$",
);

export const FAULT_HELP = `TARGET: ${TARGETS.join(", ")}
FAULT: ${NAMES.join(", ")}, status-<200 to 599>;
  with -after-act at the end, the request is carried out first
TIMES: a whole number from 1 up, or always; once by default`;

/** @throws Error with what there is */
export function parseFault(typed: string): FaultRule {
  const { on, name = "", status, act, times = "1" } = TYPED.exec(typed)?.groups ?? {};
  if (on === undefined)
    throw new Error(`${quoted(typed)} is no TARGET:FAULT[:TIMES]\n${FAULT_HELP}`);
  const body = {
    success: Number(status) < 400,
    message: `status ${status}, as the sandbox was asked`,
  };
  return {
    on: on as FaultRule["on"],
    with: FAULTS[name] ?? { kind: "answer", ...json(Number(status), body) },
    act: act !== undefined,
    times: times === "always" ? Number.POSITIVE_INFINITY : Number(times),
  };
}
