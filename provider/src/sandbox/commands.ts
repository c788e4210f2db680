/** Commands to a running sandbox from another terminal: a POST with the command's words as JSON. */
import { jsonIn, printable, quoted } from "../base/index.js";
import {
  COUNTERS,
  type Fault,
  type FaultRule,
  NOUNS,
  type Noun,
  type SandboxObject,
  type SandboxRequest,
} from "./options.js";
import { json } from "./platform.js";
import { objectName, type Sandbox } from "./server.js";

const CONTROL_PATH = "/sandbox";

export const CONTROL_HELP = `  fail TARGET:FAULT[:TIMES] …   such as event:close-after-act (created, response lost)
  fail none
  list [--json]
  edit event|advertiser ID FIELD=VALUE …
  delete event|advertiser ID
  expire                        ends every session`;

const TARGETS = ["any", "create", ...Object.keys(COUNTERS)];

const FAULTS: Readonly<Record<string, Fault>> = {
  close: { kind: "close-without-answer" },
  reset: { kind: "reset" },
  "no-answer": { kind: "no-answer" },
};

const TYPED = new RegExp(
  `^(?<on>${TARGETS.join("|")}):(?:(?<name>${Object.keys(FAULTS).join("|")})|status-(?<status>[2-5]\\d\\d))` +
    "(?<act>-after-act)?(?::(?<times>always|[1-9]\\d{0,8}))?$",
);

export const FAULT_HELP = `TARGET: ${TARGETS.join(", ")}
FAULT: close (without a response), reset, no-answer, or status-N (200 to 599)
  With -after-act, the request is carried out first.
TIMES: a whole number from 1 up, or always; once by default`;

/** Parses a fault as typed. @throws Error that lists the known faults */
export function parseFault(typed: string) {
  const { on, name = "", status, act, times = "1" } = TYPED.exec(typed)?.groups ?? {};
  if (!on) throw new Error(`${quoted(typed)} isn't TARGET:FAULT[:TIMES]\n${FAULT_HELP}`);
  const body = { success: Number(status) < 400, message: `status ${status}` };
  return {
    on: on as FaultRule["on"],
    with: FAULTS[name] ?? { kind: "answer", ...json(Number(status), body) },
    act: act !== undefined,
    times: times === "always" ? Number.POSITIVE_INFINITY : Number(times),
  };
}

const REQUESTS: Partial<Record<FaultRule["on"], string>> = {
  any: "request",
  authenticate: "login",
  advertiser: "advertiser create",
  event: "event create",
};

/** A sentence about what a fault does. */
function describeFault({ on, with: fault, act, times }: ReturnType<typeof parseFault>) {
  const noun = REQUESTS[on] ?? on;
  let which = `The next ${noun}`;
  if (times > 1)
    which = Number.isFinite(times) ? `${which} (${times} times)` : `Every ${noun}`;
  const status = "status" in fault && `gets status ${fault.status}`;
  if (act) return `${which} is carried out, and ${status || "its response is lost"}.`;
  return `${which} ${status || "gets no response"}, and isn't carried out.`;
}

/** Each command returns the text to print, or `undefined` if the words don't fit HELP. @throws Error */
const COMMANDS: Readonly<
  Record<string, (sandbox: Sandbox, words: readonly string[]) => string | undefined>
> = {
  fail(sandbox, words) {
    if (words.length === 0) return undefined;
    if (words.join() === "none") {
      sandbox.endFaults();
      return "Requests no longer fail.";
    }
    const rules = words.map(parseFault);
    for (const rule of rules) sandbox.fail(rule);
    return rules.map(describeFault).join("\n");
  },

  list(sandbox, words) {
    if (words.join() === "--json") return JSON.stringify(sandbox.snapshot(), undefined, 2);
    if (words.length > 0) return undefined;
    const lines = NOUNS.flatMap((noun) =>
      sandbox[`${noun}s`].map((object) => objectLine(noun, object)),
    );
    return lines.join("\n") || "There are no objects.";
  },

  edit(sandbox, [noun, id, ...assignments]) {
    if (!isNoun(noun) || assignments.length === 0) return undefined;
    const object = sandbox.find(noun, Number(id));
    const changes: Record<string, unknown> = {};
    for (const assignment of assignments) {
      const [, field = "", value = ""] = /^(\w+)=(.*)$/s.exec(assignment) ?? [];
      if (field === "") return undefined;
      // A field whose value is a text gets a text.
      const isText = typeof object[field] === "string" && value !== "null";
      const data = jsonIn(value);
      changes[field] = isText || data === undefined ? value : data;
    }
    return objectLine(noun, sandbox.edit(noun, object.id, changes));
  },

  delete(sandbox, [noun, id, ...rest]) {
    if (!isNoun(noun) || rest.length > 0) return undefined;
    sandbox.delete(noun, Number(id));
    return `Deleted ${noun} ${id}.`;
  },

  expire(sandbox) {
    sandbox.expireSessions();
    return "Every session has ended.";
  },
};

function objectLine(noun: Noun, object: SandboxObject) {
  const { id: _, [`${noun}_name`]: _name, ...others } = object;
  return `${objectName(noun, object)} ${printable(JSON.stringify(others))}`;
}

function isNoun(word: string | undefined): word is Noun {
  return NOUNS.some((noun) => noun === word);
}

/** @throws Error for a command that can't be carried out. */
export function runCommand(sandbox: Sandbox, [name = "", ...words]: readonly string[]) {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const message = command?.(sandbox, words);
  if (message !== undefined) return message;
  throw new Error(`${quoted([name, ...words].join(" "))} isn't a command\n${CONTROL_HELP}`);
}

/** Carries out a request that is a command. @returns `undefined` for any other request. */
export function answerCommand(
  sandbox: Sandbox,
  { method, path, headers, body }: SandboxRequest,
) {
  if (method !== "POST" || path !== CONTROL_PATH) return undefined;
  const plain = { headers: { "content-type": "text/plain; charset=utf-8" } };
  try {
    // Only browsers send `Origin`: a web page must not control a sandbox on its visitor's machine.
    if (headers.origin !== undefined) throw new Error("no commands from web pages");
    return { ...plain, status: 200, body: runCommand(sandbox, body as string[]) };
  } catch (error) {
    return { ...plain, status: 400, body: (error as Error).message };
  }
}

/** Sends a command to a sandbox in another process on this machine. @throws Error */
export async function sendCommand(port: number, words: readonly string[]) {
  const response = await fetch(`http://127.0.0.1:${port}${CONTROL_PATH}`, {
    method: "POST",
    body: JSON.stringify(words),
  }).catch(() => {
    throw new Error(`no sandbox answers on port ${port}`);
  });
  const message = await response.text();
  if (!response.ok) throw new Error(message);
  return message;
}
