/** The command `pending`. */
import { pendingCommand } from "../../../provider/src/cli/pending.js";
import type { JournalEntry } from "../../../provider/src/journal/index.js";
import { markOf } from "../../../provider/src/state/index.js";
import {
  EVENT,
  encrypted,
  senderOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
} from "../../support/stored.js";
import { type Examples, open, record } from "./examples.js";
import { printedBy, RUN, type Surroundings } from "./printed.js";

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
const line = (name: string, state: JournalEntry["state"], more: object = {}) => ({
  ...open(`ConversionEvent::${name}`, { name, mark: `mark of ${name}`, run: RUN, ...more }),
  state,
});
/** The state names the journal's run. */
const sale = storedEvent(
  "sale",
  3,
  {},
  { inputs: { __sender: senderOf("", { run: RUN }) } },
);

const interruptedView = {
  type: "creating",
  resource: {
    ...storedEvent("view", ""),
    inputs: {
      eventName: "View",
      advertiserId: 1,
      ...EVENT,
      __sender: senderOf("", { run: RUN }),
    },
  },
};

/** Another machine's run. */
const elsewhere = {
  ...interruptedView,
  resource: {
    ...interruptedView.resource,
    inputs: {
      ...interruptedView.resource.inputs,
      __sender: senderOf("", { run: "another-run" }),
    },
  },
};
/** Pulumi's record has its events as secret. */
const hidden = {
  type: "creating",
  resource: {
    ...storedSet("secrets", {}),
    inputs: { advertiserId: 1, events: encrypted, __sender: senderOf("", { run: RUN }) },
  },
};
const resolvedView = storedEvent("view", 7, {
  __resolved: { [markOf(RUN, "ConversionEvent::view")]: "ConversionEvent 7" },
});
const FOREIGN = {
  type: "creating",
  resource: {
    urn: "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs",
    type: "aws:s3/bucket:Bucket",
  },
};

const examples: Examples = {
  "pending: nothing": () => pending({ resources: [signup] }),
  "pending: what the state, this machine and another one have": () =>
    pending({
      resources: [purchase, funnel, sale],
      pendingOperations: [elsewhere],
      journal: [
        line("order", "sent"),
        line("made", "created", { id: "9" }),
        line("sale", "sent", { replaces: "3", field: "alternative_id" }),
      ],
    }),
  "pending: what perhaps another state's run has sent": () =>
    pending({
      resources: [signup],
      journal: [line("order", "sent"), line("made", "created", { id: "9" })],
    }),
  "pending: two runs may have sent it": () =>
    pending({ resources: [signup], pendingOperations: [interruptedView, elsewhere] }),
  "pending: all is accounted for": () =>
    pending({ resources: [resolvedView], pendingOperations: [interruptedView] }),
  "pending: answers about a set that was taken out of the state after its killed update":
    () =>
      pending(
        {
          resources: [sale],
          pendingOperations: [
            {
              type: "updating",
              resource: {
                ...funnel,
                inputs: { advertiserId: 1, events, __sender: senderOf("", { run: RUN }) },
              },
            },
          ],
          refreshed: [sale],
          pendingAfterwards: [],
        },
        ...["--created", "funnel/b=42"],
      ),
  "pending --clear": () =>
    pending(
      {
        resources: [resolvedView],
        pendingOperations: [interruptedView],
        refreshed: [resolvedView],
        pendingAfterwards: [],
      },
      "--clear",
    ),
  "pending --clear: nothing": () => pending({ resources: [signup] }, "--clear"),
  "pending --clear: what stands against it": () =>
    pending(
      {
        resources: [sale],
        pendingOperations: [elsewhere, FOREIGN],
        journal: [line("made", "created", { id: "9" })],
      },
      "--clear",
    ),
  "pending: answers": () =>
    pending(
      {
        resources: [purchase, lead, signup, sale],
        refreshed: [storedEvent("purchase", 42), signup, sale],
        journal: [
          line("order", "sent"),
          line("lost", "sent"),
          line("made", "created", { id: "9" }),
        ],
      },
      ...["--created", "purchase=42", "--created", "order=43", "--not-created", "lead"],
      ...["--forget", "lost", "--forget", "made", "--not-created", "other"],
    ),
  "pending: an answer whose object another resource manages": () => {
    const renamed = storedEvent("renamed", 42, { eventName: "Purchase", advertiserId: 7 });
    return pending(
      { resources: [purchase, renamed], refreshed: [storedEvent("purchase", 42), renamed] },
      ...["--created", "purchase=42"],
    );
  },
  "pending: wrong answers": () =>
    pending(
      {
        resources: [
          purchase,
          lead,
          storedAdvertiser("lead", "unresolved-a", "Lead", { outputs: unresolved("a") }),
          funnel,
          sale,
        ],
        journal: [
          line("order", "sent", { replaces: "5" }),
          line("made", "created", { id: "9" }),
        ],
      },
      ...["--created", "purchase=4x", "--created", "lead=7", "--created", "order=5"],
      ...["--created", "funnel/b=9", "--created", "purchase=6"],
      ...["--not-created", "purchase", "--created", "order=6"],
    ),
  "pending: secret events of a set": () =>
    pending({ resources: [signup], pendingOperations: [hidden] }),
  "pending: an id for secret events of a set": () =>
    pending(
      { resources: [signup], pendingOperations: [hidden] },
      ...["--created", "secrets=42"],
    ),
  "pending: an answer during a run": () =>
    pending({ resources: [purchase] }, "--created", "purchase=42"),
  "pending: an answer that a refresh doesn't save": () =>
    pending({ resources: [purchase], refreshed: [purchase] }, "--created", "purchase=42"),
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
  "pending: a search in another account": () =>
    pending(
      {
        resources: [
          storedEvent("there", "unresolved-t", unresolved("t"), {
            inputs: {
              __sender: senderOf("", { account: "ads.example first@example.com" }),
            },
          }),
        ],
        environment: {
          ADVERTISING_BASE_URL: "https://ads.example",
          ADVERTISING_EMAIL: "you@example.com",
          ADVERTISING_PASSWORD: "canary-password",
        },
      },
      "--search",
    ),
  "pending: no stack is selected": () =>
    printedBy(pendingCommand, [], { isSelected: false, resources: [] }),
};

export { examples as pending };
