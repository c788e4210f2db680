/** The commands but for `pending`: what a user reads when calling them. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { vi } from "vitest";
import { logInAndReport } from "../../../provider/src/cli/platform.js";
import { leftovers, report } from "../../../provider/src/cli/reports.js";
import { UNKNOWN } from "../../../provider/src/state/stored.js";
import { folderWith } from "../../support/catalogs.js";
import { keepCompiled } from "../../support/keep-compiled.js";
import { useSandbox } from "../../support/stack.js";
import {
  EVENT,
  exportOf,
  senderOf,
  storedAdvertiser,
  storedEvent,
  urnOf,
} from "../../support/stored.js";
import { AT, type Examples, record } from "./examples.js";
import { printed, printedBy, type Surroundings } from "./printed.js";

const COMMAND = resolve(import.meta.dirname, "../../../provider/dist/cli/command.js");

/** As a process of the built package, without Pulumi on the PATH. */
function runAsProcess(...args: readonly string[]) {
  const cwd = folderWith(FILES);
  const env = { PATH: "", NODE_OPTIONS: keepCompiled };
  return new Promise<string>((resolved) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd, env }, (_, stdout, stderr) =>
      resolved(`${stdout}${stderr}`),
    );
  });
}

const FILES = {
  "catalog.csv": "key,advertiser,eventName,value\na,Acme,A,10%\nb,Acme,B,2\n",
  "state.json": exportOf([]),
  "preview.json": "[]",
};

/** Wrong calls, with what each of them says. */
async function wrongCalls(calls: readonly string[]) {
  const all = await Promise.all(
    calls.map(
      async (call) =>
        `$ pulumi-advertising ${call}\n${await runAsProcess(...call.split(" "))}`,
    ),
  );
  return all.join("");
}

async function logIn(settings: object = {}, surroundings: Surroundings = {}) {
  const sandbox = await useSandbox();
  const all = { baseUrl: sandbox.url, email: sandbox.email, password: sandbox.password };
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...all, ...settings }))
    environment[`ADVERTISING_${name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`] = value;
  return printed({ ...surroundings, environment }, async (folder) =>
    console.log(await logInAndReport({ cwd: folder, stack: "dev" })),
  );
}

const side = (urn: string, id: string | undefined, inputs: object) => ({
  ...{ type: urn.split("::")[2], id, inputs, outputs: inputs, retainOnDelete: true },
});
const step = (op: string, urn: string, id?: string, olds?: object, news?: object) => ({
  ...{ op, urn, oldState: olds && side(urn, id, olds) },
  newState: news && side(urn, op === "replace" ? undefined : id, news),
});
const E = (name: string) => urnOf("ConversionEvent", name);
const SET = urnOf("ConversionEventSet", "funnel");
const event = (eventName: string, more: object = {}) => ({
  ...{ eventName, advertiserId: 1, ...EVENT, ...more },
});
const OPEN = { unresolved: { ...record, field: "alternative_id" } };
const deleting = ({ oldState, ...rest }: ReturnType<typeof step>) => {
  const inputs = { ...oldState?.inputs, deletionPolicy: "delete" };
  return { ...rest, oldState: oldState && { ...oldState, retainOnDelete: false, inputs } };
};

const UNRESOLVED = step(
  "replace",
  E("sent"),
  "unresolved-m",
  event("Sent", OPEN),
  event("Sent"),
);
const REMOVAL = step("delete", E("buy"), "6", event("Buy"));
const STEPS = [
  step("create", E("new"), undefined, undefined, event("New")),
  step("create", E("bought"), undefined, undefined, event("Buy")),
  step("create", E("paid"), undefined, undefined, event("Pay", { value: 2 })),
  step("delete", E("pay"), "5", event("Pay")),
  REMOVAL,
  step("replace", E("lead"), "7", event("Lead"), event("Lead 2")),
  step("replace", E("view"), "8", event("View"), event("[secret]")),
  step("create", E("own"), undefined, undefined, event("Own", { existingId: 9 })),
  step(
    "update",
    E("kept"),
    "10",
    event("Kept", { existingId: 10 }),
    event("Kept", { existingId: 10, value: 2 }),
  ),
  UNRESOLVED,
  step("delete", E("open"), "unresolved-m", event("Open", OPEN)),
  step(
    "update",
    E("otherwise"),
    "11",
    event("Otherwise", { __sentAs: { body: "of other arguments", owner: "1" } }),
    event("Otherwise"),
  ),
  step(
    "update",
    SET,
    "set-x",
    {
      advertiserId: 1,
      events: { a: event("A"), b: event("B") },
      eventIds: { a: 20, b: 21 },
    },
    {
      advertiserId: 1,
      events: { a2: event("A", { formerKey: "a" }), b: event("B", { value: UNKNOWN }) },
    },
  ),
  step("update", urnOf("ConversionEventSet", "shop"), "set-y", {}, { events: "[secret]" }),
];
const SEARCHED = {
  search: "GET rest/event?alternative_id={mark}",
  delete: "DELETE rest/event/{id}",
};
const DIAGNOSTICS = [
  {
    severity: "error",
    urn: E("lead"),
    message: 'ConversionEvent "lead": eventName is required',
  },
  { severity: "warning", message: "<{%reset%}>The stack has 2 warnings<{%reset%}>" },
];

/** The comment with its entities as a browser shows them, and with long rows of ! shortened. */
async function comment(preview: object, operations?: object) {
  const text = await printedBy(report, ["comment", "--preview", "FOLDER/p.json"], {
    files: { "p.json": JSON.stringify(preview) },
    environment: {
      ADVERTISING_MARK_FIELD: "alternative_id",
      ADVERTISING_OPERATIONS: JSON.stringify({ event: operations }),
    },
  });
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/!{9,}/g, "!!!");
}

const left = { __left: [{ id: "30", at: AT, name: "Old" }] };

export const commands: Examples = {
  "--help": () => runAsProcess("--help"),
  "wrong calls": () =>
    wrongCalls([
      "pendign",
      "validate",
      "validate catalog.csv --format jsn",
      "pending --stack=",
      "pending --state state.json --search",
      "report ids --state state.json --template https://tag.example/{ID}",
      "report comment --preview preview.json --fail-on renames",
      "report comment --preview preview.json",
      "leftovers --state preview.json",
      "leftovers",
    ]),
  "validate: a mistake": () => runAsProcess("validate", "catalog.csv"),
  login: () => logIn({ cookieFile: "session.json" }),
  "login: a session that isn't kept": () => logIn({ cookieFile: "none" }),
  "login: a session that can't be kept": () => logIn({ cookieFile: "pulumi/session.json" }),
  "login: nothing to log in to": () => logIn({ authMode: "basic" }),
  "login: missing settings, and no stack": () =>
    printed({ isSelected: false, environment: { ADVERTISING_PASWORD: "x" } }, () =>
      logInAndReport({}),
    ),
  "leftovers: none": () => printedBy(leftovers, ["--stack", "dev"]),
  "leftovers: of a state and earlier ones": () =>
    printedBy(
      leftovers,
      ["--stack", "dev", "--before", "FOLDER/old.json", "--before", "FOLDER/older.json"],
      {
        resources: [
          storedAdvertiser("acme", 1),
          storedEvent("buy", 2, left),
          storedEvent("lead", 3, {}, { delete: true }),
        ],
        files: {
          "old.json": exportOf([storedEvent("sale", 5)]),
          "older.json": exportOf(
            [
              storedEvent(
                "page",
                6,
                { deletionPolicy: "delete" },
                { retainOnDelete: false },
              ),
            ],
            "?",
          ),
        },
      },
    ),
  "leftovers: a state of another stack": () => {
    const of = (stack: string) => {
      const urn = `urn:pulumi:${stack}::shop::advertising:index:ConversionEvent::b`;
      return storedEvent(
        "b",
        2,
        {},
        { urn, inputs: { __sender: senderOf("shop/dev::b") } },
      );
    };
    return printedBy(leftovers, ["--stack", "dev", "--before", "FOLDER/prod.json"], {
      resources: [of("dev")],
      files: { "prod.json": exportOf([of("prod")]) },
    });
  },
  "report ids: without an id": () =>
    printedBy(report, ["ids", "--stack", "dev"], {
      resources: [
        storedEvent("buy", "unresolved-m", { unresolved: record }),
        storedAdvertiser("acme", 1),
      ],
    }),
  "report page, without its markup": async () => {
    const html = await printedBy(report, ["page", "--stack", "dev"], {
      resources: [
        storedAdvertiser("acme", 1),
        storedEvent("buy", 2, { eventTypeId: 0, ...left }),
        storedEvent("lead", "unresolved-m", { unresolved: record }),
      ],
    });
    return html
      .replaceAll(/<(style|script)>.*?<\/\1>|<title>.*?<\/title>/gs, "")
      .replaceAll(/<\/t[hd]>/g, " | ")
      .replaceAll(/<\/(h\d|p)>/g, "\n")
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll(/ \|\s*\n|\n\s*\n+/g, "\n")
      .trim();
  },
  "report comment": () => comment({ steps: STEPS, diagnostics: DIAGNOSTICS }),
  "report comment: with a known search and delete": () =>
    comment({ steps: [UNRESOLVED, deleting(REMOVAL)] }, SEARCHED),
  "report comment: nothing printed": () =>
    printedBy(report, ["comment", "--preview", "FOLDER/p.json"], {
      files: { "p.json": "" },
    }),
  "report comment: nothing changes": () => comment({ steps: [] }),
  "report comment: nothing changes, but for what a message says": () =>
    comment({ steps: [], diagnostics: DIAGNOSTICS.slice(-1) }),
  "report comment: nothing changes, but the preview isn't whole": () =>
    comment({ diagnostics: DIAGNOSTICS.slice(-1) }),
  "report comment: only what an earlier run has replaced": () => {
    const messages = [
      "`buy` was replaced by an earlier run. `pulumi up` deletes event 6 …",
      "`lead` was replaced by an earlier run, and leaves the state. Its event 7 …",
    ];
    const diagnostics = messages.map((message) => ({ severity: "warning", message }));
    return comment({ steps: [], diagnostics });
  },
  "report comment: a resource asks for deletes from now on": () => {
    const asking = event("Kept", { deletionPolicy: "delete" });
    const asked = step("update", E("kept"), "10", event("Kept"), asking);
    if (asked.newState) asked.newState.retainOnDelete = false;
    return comment({ steps: [asked] });
  },
  "report comment: from a terminal": async () => {
    const terminal = { isTTY: true } as typeof process.stdin;
    const spy = vi.spyOn(process, "stdin", "get").mockReturnValue(terminal);
    return printedBy(report, ["comment"]).finally(() => spy.mockRestore());
  },
  "report comment: more than fits": () =>
    comment({
      diagnostics: Array.from({ length: 9 }, (_, i) => {
        return { severity: "error", message: "!".repeat(2000 - i) };
      }),
    }),
};
