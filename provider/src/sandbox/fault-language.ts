/** Faults as they are typed: `<target>:<fault>[:<times>]`, such as `event:close-after-act:1`. Pure. */
import { quoted } from "../base/index.js";
import { PLAIN_FAULTS } from "./faults.js";
import { type Fault, type FaultRule, type FaultTarget, OPERATIONS } from "./options.js";

/** What was typed can't be carried out; the message says why. */
export class SandboxUsageError extends Error {}

const TARGETS: readonly FaultTarget[] = ["any", "create", ...OPERATIONS];

const FAULTS = new Map<string, Fault>(PLAIN_FAULTS.map((kind) => [kind, { kind }]));
FAULTS.set("close", { kind: "close-without-answer" });

const AFTER_ACT = "-after-act";

export const FAULT_HELP = `TARGET: ${TARGETS.join(", ")}
FAULT: ${[...FAULTS.keys()].join(", ")}, status-<200 to 599>;
  with ${AFTER_ACT} at the end, the request is carried out first
TIMES: a whole number from 1 up, or always; once by default`;

/** @throws SandboxUsageError */
export function parseFault(typed: string): FaultRule {
  const [target = "", name = "", times = "1", ...rest] = typed.split(":");
  const on = TARGETS.find((known) => known === target);
  const act = name.endsWith(AFTER_ACT);
  const fault = faultOf(name.replace(AFTER_ACT, ""));
  const isAlways = times === "always";
  const isNumber = /^[1-9]\d{0,8}$/.test(times);

  const isComplete = rest.length === 0 && (isAlways || isNumber);
  if (on === undefined || fault === undefined || !isComplete) {
    throw new SandboxUsageError(`${quoted(typed)} is no TARGET:FAULT[:TIMES]\n${FAULT_HELP}`);
  }
  return { on, with: fault, act, times: isAlways ? Number.POSITIVE_INFINITY : Number(times) };
}

function faultOf(name: string): Fault | undefined {
  const status = Number(/^status-([2-5]\d\d)$/.exec(name)?.[1]);
  if (Number.isNaN(status)) return FAULTS.get(name);
  const body = { success: status < 400, message: `status ${status}, as the sandbox was asked` };
  return { kind: "answer", status, headers: { "content-type": "application/json" }, body };
}
