/**
 * Commands to a running sandbox from another terminal: a POST with the command line as its body. That serves a person
 * with curl, a script and `advertising-sandbox list --port …` alike.
 */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { NotUnderstood, parseFault, quoted } from "./fault-language.js";
import type { FaultRule } from "./options.js";
import { NOUNS, type Noun } from "./options.js";
import { readText, type Sandbox } from "./server.js";
import { printable, tableOf } from "./shown.js";

const CONTROL_PATH = "/sandbox";
/** By this header a client knows that what answers is a sandbox. */
const CONTROL_HEADER = "advertising-sandbox";

/** @returns what the person reads. */
type Command = (sandbox: Sandbox, words: readonly string[]) => string;

const COMMANDS = new Map<string, Command>([
  ["fail", fail],
  ["list", list],
  ["edit", edit],
  ["delete", deleteObject],
  ["expire", (sandbox, words) => done(words, "Every session has ended.", () => sandbox.expireSessions())],
  ["reset", (sandbox, words) => done(words, "Nothing lives here any more.", () => sandbox.reset())],
]);

export const CONTROL_HELP = `fail TARGET:FAULT[:TIMES] …   makes the next requests fail; \`fail none\` ends that
list [--json]                 what lives there
edit event|advertiser ID FIELD=VALUE …
                              changes an object, as people do in the platform's interface
delete event|advertiser ID    deletes an object, in the same way
expire                        ends every session
reset                         forgets what lives there, and faults, sessions and counts`;

/** @param line one command with its words. @throws NotUnderstood with words for people. */
export function carryOut(sandbox: Sandbox, line: string): string {
  const [name = "", ...words] = line.split(/\s+/).filter((word) => word !== "");
  const command = COMMANDS.get(name);
  if (command !== undefined) return command(sandbox, words);
  throw new NotUnderstood(`there is no command ${quoted(name)}; known: ${[...COMMANDS.keys()].join(", ")}`);
}

function fail(sandbox: Sandbox, words: readonly string[]): string {
  if (words.length === 1 && words[0] === "none") {
    sandbox.endFaults();
    return "No request fails any more.";
  }
  const rules = (words.length === 0 ? [""] : words).map(parseFault); // before any is armed
  for (const rule of rules) sandbox.fail(rule);
  return rules.map(faultMessage).join("\n");
}

/** A rule of the fault language, as a sentence. */
export function faultMessage({ on, with: fault, times = 1, act }: FaultRule): string {
  const several = Number.isFinite(times) ? `The next ${times} requests` : "All requests";
  const requests = times === 1 ? "The next request" : several;
  const name = fault.kind === "answer" ? `status-${fault.status}` : fault.kind;
  return `${requests} to ${on}: ${name}${act ? ", after it was carried out" : ""}.`;
}

function list(sandbox: Sandbox, words: readonly string[]): string {
  if (words.length === 1 && words[0] === "--json") return JSON.stringify(sandbox.snapshot(), undefined, 2);
  return done(words, tableOf(sandbox.snapshot()));
}

function edit(sandbox: Sandbox, [noun = "", digits = "", ...words]: readonly string[]): string {
  // A word without its own field belongs to the value before it: shells have taken away what held the value together.
  const assignments = words.join(" ").split(/ (?=\w+=)/);
  if (!isObject(noun, digits) || !assignments.every((each) => /^\w+=/.test(each)))
    throw expected("edit event|advertiser ID FIELD=VALUE …", [noun, digits, ...words]);
  const id = Number(digits);
  const before = sandbox.find(noun, id);
  const fields: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const end = assignment.indexOf("=");
    const field = assignment.slice(0, end);
    fields[field] = readValue(assignment.slice(end + 1), before[field]);
  }
  sandbox.edit(noun, id, fields);
  const after = sandbox.find(noun, id);
  const changed = Object.keys(fields).filter((field) => inText(before[field]) !== inText(after[field]));
  const changes = changed.map((field) => `${field} ${inText(before[field])} → ${inText(after[field])}`);
  return `Changed ${noun} ${id}: ${changes.join(", ") || "nothing, as it has these values"}.`;
}

function deleteObject(sandbox: Sandbox, words: readonly string[]): string {
  const [noun = "", digits = "", ...more] = words;
  if (!isObject(noun, digits) || more.length > 0) throw expected("delete event|advertiser ID", words);
  const id = Number(digits);
  const name = sandbox.find(noun, id)[`${noun}_name`];
  sandbox.delete(noun, id);
  return `Deleted ${noun} ${id} ${inText(name)}.`;
}

function isObject(noun: string, digits: string): noun is Noun {
  return NOUNS.some((known) => known === noun) && /^\d+$/.test(digits);
}

function expected(usage: string, words: readonly string[]): NotUnderstood {
  const given = words.filter((word) => word !== "").join(" ");
  return new NotUnderstood(`expected ${usage}; got ${given === "" ? "nothing" : quoted(given)}`);
}

/** As JSON where it is that; the text itself for a field that holds one. */
function readValue(text: string, current: unknown): unknown {
  if (text === "null") return null;
  if (typeof current === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function inText(value: unknown): string {
  return value === undefined ? "none" : printable(JSON.stringify(value), 60);
}

function done(words: readonly string[], text: string, act?: () => void): string {
  if (words.length > 0) throw new NotUnderstood(`unexpected ${quoted(words.join(" "))}`);
  act?.();
  return text;
}

/** Answers a request to the control address. @returns false for any other request. */
export function answersCommand(sandbox: Sandbox, incoming: IncomingMessage, response: ServerResponse): boolean {
  if (incoming.method !== "POST" || incoming.url !== CONTROL_PATH) return false;
  readText(incoming, (line) => {
    let [status, text] = [200, ""];
    try {
      // Browsers name the origin of each POST: no web page may reach into a sandbox on its visitor's machine.
      if (incoming.headers.origin !== undefined) throw new NotUnderstood("no commands from web pages");
      text = carryOut(sandbox, line);
    } catch (error) {
      [status, text] = [400, (error as Error).message];
    }
    const headers = { "content-type": "text/plain; charset=utf-8", [CONTROL_HEADER]: "control", connection: "close" };
    response.writeHead(status, headers);
    response.end(`${text}\n`);
  });
  return true;
}

/** Sends a command to a sandbox that runs in another process on this machine. @throws Error in words for people. */
export function ask(port: number, line: string): Promise<string> {
  const where = `127.0.0.1:${port}`;
  return new Promise((resolve, reject) => {
    // An agent of its own: the global one may be set to use a proxy (NODE_USE_ENV_PROXY).
    const options = { host: "127.0.0.1", port, path: CONTROL_PATH, method: "POST", agent: false } as const;
    const asked = request(options, (response) =>
      readText(response, (text) => {
        const said = text.replace(/\n$/, "");
        if (response.headers[CONTROL_HEADER] === undefined) {
          reject(new Error(`what listens at ${where} is not a sandbox that takes commands`));
        } else if (response.statusCode === 200) resolve(said);
        else reject(new NotUnderstood(said));
      }),
    );
    asked.setTimeout(10_000, () => asked.destroy(new Error("no response within 10 s")));
    asked.once("error", (error) => reject(new Error(`no sandbox listens at ${where}: ${error.message}`)));
    asked.end(line);
  });
}
