/** What a `pulumi refresh` prints, and a program that reads an object by its id. */
import { answeredOtherwiseMessage } from "../../../provider/src/operations/messages.js";
import { WITNESS, withWitness } from "../../support/operated.js";
import { wordsOf } from "../../support/set-engine.js";
import { type Examples, rejectionOf } from "./examples.js";
import { ADVERTISER, knowing, LOST, PURCHASE, startShop } from "./real-runs.js";

export const refreshes: Examples = {
  "without a known read": async () => {
    const { event, known } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    return wordsOf((await purchase.refresh(known)).run);
  },
  "an answer that isn't what was sent": () =>
    answeredOtherwiseMessage('ConversionEvent "purchase"', "77", ["eventName"]),
  "a record that doesn't show the account": async () => {
    const { event, newRun } = await startShop(knowing(["read"]));
    const purchase = event();
    await purchase.up(PURCHASE, knowing(["read"]));
    const { id, outputs } = purchase.state ?? { id: "", outputs: {} };
    const run = newRun();
    await run.event.read(id, { ...outputs, value: 7 });
    return wordsOf(run);
  },
  "a create of unknown outcome": async () => {
    const { sandbox, event, known } = await startShop();
    const purchase = event();
    sandbox.fail({ on: "event", with: LOST });
    await purchase.up(PURCHASE, known);
    return wordsOf((await purchase.refresh(known)).run);
  },
  "get: it is not there": async () => {
    const objects = { advertisers: [ADVERTISER], events: [WITNESS] };
    const { newRun } = await startShop(knowing(["read"]), { objects });
    return rejectionOf(newRun({ adapt: withWitness }).event.read("999", {}));
  },
  "get: no id": async () => {
    const { newRun } = await startShop();
    return rejectionOf(newRun().event.read("purchase", {}));
  },
};
