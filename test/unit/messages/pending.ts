/** The command `pending`. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { pendingCommand } from "../../../provider/src/cli/pending.js";
import type { JournalEntry } from "../../../provider/src/journal/index.js";
import { EVENT, storedAdvertiser, storedEvent, storedSet } from "../../support/stored.js";
import { type Examples, OLD, open, record } from "./examples.js";
import { printed, printedBy, type Surroundings } from "./printed.js";

const pending = (surroundings: Surroundings, ...args: string[]) =>
  printedBy(pendingCommand, ["--stack", "dev", ...args], surroundings);

const unresolved = (mark: string, name = "Purchase") => ({
  unresolved: { ...record, mark, name },
});
const purchase = storedEvent("purchase", "unresolved-m", unresolved("m"));
const lead = storedEvent("lead", "unresolved-l", unresolved("l", "Lead"));
const signup = storedEvent("signup", 8, { eventName: "Signup" });
const events = { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } };
const funnel = storedSet("funnel", {
  events,
  eventIds: { a: 20 },
  unresolved: { b: unresolved("b", "B").unresolved },
});
const line = (name: string, state: JournalEntry["state"], more: object = {}) =>
  open(`ConversionEvent::${name}`, { name, mark: `mark of ${name}`, state, ...more });

const interruptedView = {
  type: "creating",
  resource: {
    ...storedEvent("view", ""),
    inputs: { eventName: "View", advertiserId: 1, ...EVENT },
  },
};
const OPEN_ELSEWHERE = { old: [open(OLD, { id: "4711", state: "created" })] };

/** The end of a `pulumi` whose state has another time once somebody has read it. */
const CHANGED_ONCE_READ = `
case "$*" in
  "stack export"*) sed s/T10:/T11:/ state.json > later.json; mv later.json state.json ;;
esac
`;

const examples: Examples = {
  "pending: nothing": () => pending({ resources: [signup] }),
  "pending: what the state, this machine, another one and another stack have": () =>
    pending({
      resources: [purchase, funnel, storedEvent("sale", 3)],
      pendingOperations: [interruptedView],
      journals: {
        dev: [
          line("order", "sent"),
          line("made", "created", { id: "9" }),
          line("sale", "sent", { replaces: "3" }),
        ],
        ...OPEN_ELSEWHERE,
      },
    }),
  "pending: answers": () =>
    pending(
      {
        resources: [purchase, lead, signup],
        refreshed: [storedEvent("purchase", 42), signup],
        journals: {
          dev: [
            line("order", "sent"),
            line("lost", "sent"),
            line("made", "created", { id: "9" }),
          ],
        },
      },
      ...["--created", "purchase=42", "--created", "order=8", "--not-created", "lead"],
      ...["--forget", "lost", "--forget", "made", "--not-created", "other"],
    ),
  "pending: wrong answers": () =>
    pending(
      {
        resources: [
          purchase,
          lead,
          storedAdvertiser("lead", "unresolved-a", "Lead", { outputs: unresolved("a") }),
          funnel,
        ],
        journals: {
          dev: [
            line("order", "sent", { replaces: "5" }),
            line("made", "created", { id: "9" }),
          ],
        },
      },
      ...["--created", "purchase=4x", "--created", "lead=7", "--created", "order=5"],
      ...["--created", "funnel/b=9", "--created", "purchase=6"],
      ...["--not-created", "purchase", "--created", "order=6"],
    ),
  "pending: an answer during a run": () =>
    pending({ resources: [purchase] }, "--created", "purchase=42"),
  "pending: an answer while a run changes the state": () =>
    printed({ resources: [purchase] }, (folder) => {
      appendFileSync(join(folder, "pulumi"), CHANGED_ONCE_READ);
      return pendingCommand.run(["--stack", "dev", "--created", "purchase=42"]);
    }),
  "pending: an answer that a refresh doesn't save": () =>
    pending({ resources: [purchase], refreshed: [purchase] }, "--created", "purchase=42"),
  "pending: the state has another object": () =>
    pending({
      resources: [storedEvent("purchase", 42)],
      journals: { dev: [line("purchase", "sent")] },
    }),
  "pending: a search that isn't possible": () =>
    pending(
      {
        resources: [purchase],
        environment: {
          ADVERTISING_BASE_URL: "https://ads.example",
          ADVERTISING_EMAIL: "you@example.com",
          ADVERTISING_PASSWORD: "canary-password",
        },
      },
      "--search",
    ),
  "pending: a take-over": () =>
    pending({ resources: [], journals: OPEN_ELSEWHERE }, "--take-over", "old"),
  "pending: a take-over of nothing": () => pending({ resources: [] }, "--take-over", "odl"),
  "pending: a take-over of a stack that exists": () =>
    pending(
      { resources: [], journals: { test: OPEN_ELSEWHERE.old } },
      "--take-over",
      "test",
    ),
  "pending: no stack is selected": () =>
    printedBy(pendingCommand, [], { isSelected: false, resources: [] }),
};

export { examples as pending };
