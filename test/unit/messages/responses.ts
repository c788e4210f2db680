/** How the platform's responses are read: refusals, rate limits, and what doesn't say clearly what happened. */
import { join } from "node:path";
import { vi } from "vitest";
import { systemDependencies } from "../../../provider/src/client/client-dependencies.js";
import { TransportFailure } from "../../../provider/src/client/transport.js";
import { conversionEvent, type Operation } from "../../../provider/src/kinds/index.js";
import { removalCure } from "../../../provider/src/operations/messages.js";
import { knownOperations } from "../../../provider/src/settings/index.js";
import { dependenciesOf } from "../../support/client-dependencies.js";
import { newFolder } from "../../support/folder.js";
import { READ } from "../../support/settings.js";
import {
  clientOf,
  createOn,
  type Dependencies,
  label,
  type Response,
  response,
  SENT,
  settings,
} from "./answered.js";
import { type Examples, rejectionOf } from "./examples.js";

const can = knownOperations(conversionEvent, settings);
const urn =
  "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEvent::purchase";

function create(responses: readonly Response[], more?: Dependencies) {
  return createOn(clientOf(responses, more));
}

const target = (
  name: "read" | "update" | "delete",
  ifAbsent = removalCure({ urn }, false),
) => {
  const kind = conversionEvent;
  return { kind, operation: can[name] as Operation, id: "42", label, ifAbsent };
};

type Answer = Parameters<typeof response>;
const created = (...answer: Answer) => create([response(...answer)]);
const read = (...answer: Answer) =>
  rejectionOf(clientOf([response(...answer)]).read(target("read")));
const updated = (...answer: Answer) =>
  rejectionOf(clientOf([response(...answer)]).update(target("update"), SENT));
const deleted = (...answer: Answer) =>
  rejectionOf(clientOf([response(...answer)]).delete(target("delete")));

function searched(...answer: Answer) {
  const operation = can.search as Operation;
  const mark = { field: "alternative_id", mark: "m-1" };
  const request = { kind: conversionEvent, operation, label, ...mark };
  return rejectionOf(clientOf([response(...answer)]).search(request));
}

/** What is said about the whole run while a create gets these responses. */
async function saidWith(...responses: readonly Response[]) {
  const said: string[] = [];
  await create(responses, { say: (message) => void said.push(message) });
  return said.join("\n");
}

const limited = (seconds: number) => response(429, "", { "retry-after": `${seconds}` });
const timedOut = new TransportFailure("UND_ERR_CONNECT_TIMEOUT", false, "Connect timeout");
const OBJECT = { id: 7, event_name: "Purchase" };

/** What is said with this ADVERTISING_LOG. */
function debugging(value: string) {
  vi.stubEnv("ADVERTISING_LOG", value);
  const said: string[] = [];
  const { secrets } = dependenciesOf();
  const tell = (message: string) => void said.push(message);
  systemDependencies(READ, undefined, secrets, tell).onAttempt?.("");
  vi.unstubAllEnvs();
  return said.join();
}

export const responses: Examples = {
  "a create is refused": () =>
    created(406, { errors: { value: ["must be below 1,000"], event_name: "is taken" } }),
  "a create is refused with an HTML page": () =>
    created(
      422,
      "<html><head><title>422</title></head><body><h1>Sorry</h1><p>The name is taken.</p></body></html>",
    ),
  "a create is refused without a reason": () => created(400),
  "a create is refused because its advertiser is inactive": () =>
    created(406, { errors: ["ERROR: advertiser with id 7 is not active"] }),
  "a create's address isn't there": () => created(404),
  "a create is refused for its Basic credentials": () =>
    create([response(401)], { settings: { ...settings, authMode: "basic" } }),
  "a create is refused for its session, and another login didn't help": () => created(401),
  "an update's address isn't there": () => updated(405),
  "an import's object isn't there": () => {
    const imported = target("read", "correct the id.");
    return rejectionOf(clientOf([response(404)]).read(imported));
  },
  "a search's address isn't there": () => searched(404),
  "a set's removed event, and a replaced object, aren't there": async () => {
    const cures = [removalCure({ urn, member: "k" }, false), removalCure({ urn }, true)];
    cures.push(removalCure({}, false, true));
    const all = cures.map((cure) => {
      return rejectionOf(clientOf([response(404)]).delete(target("delete", cure)));
    });
    return (await Promise.all(all)).join("\n");
  },
  "a delete is refused": () => deleted(400, { message: "the event has reports" }),
  "a read doesn't find its object, and this run has read no other": () =>
    read(200, { success: true, payload: [] }),
  "a create: the server fails": () =>
    created(502, "<html><title>Bad gateway</title></html>"),
  "a create: an empty response": () => created(200),
  "a create: an HTML page": () => created(200, "<html><body>Welcome</body></html>"),
  "a create: a text": () => created(200, "OK"),
  "a create: a body nested too deep": () => created(200, "[".repeat(50) + "]".repeat(50)),
  "a create: no id": () => created(200, { success: true, payload: {} }),
  "a create: two objects": () => created(200, { payload: [{ id: 7 }, { id: 8 }] }),
  "a create: another name than was sent": () =>
    created(200, { payload: { ...OBJECT, event_name: "Lead" } }),
  "a create: an id, and a status that says no": () =>
    created(200, { status: "failed", payload: OBJECT }),
  "an update: another object": () => updated(200, { success: true, payload: OBJECT }),
  "an update: no sign that it was done": () => updated(200, { payload: { id: 42 } }),
  "a read: other objects": () => read(200, { payload: OBJECT }),
  "a search: objects with other marks": () => searched(200, { payload: [OBJECT] }),
  "the platform limits the rate": () => saidWith(limited(30), response(400)),
  "the platform limits the rate for longer than the run may wait": () =>
    create([limited(600)]),
  "no response for a while": () => saidWith(timedOut),
  "the debug log: a create that times out, and its next attempt": async () => {
    const lines: string[] = [];
    await create([timedOut, response(400)], { onAttempt: (line) => void lines.push(line) });
    return lines.join("\n");
  },
  "the debug log can't be written": () =>
    debugging(`debug:${join(newFolder(), "missing", "x.log")}`),
  "the debug log: a wrong value": () => debugging("verbose"),
};
