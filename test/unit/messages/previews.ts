/** What a `pulumi preview` prints, beside what Pulumi's own does. */

import { UNKNOWN } from "../../../provider/src/state/index.js";
import { wordsOf } from "../../support/set-engine.js";
import { senderOf } from "../../support/stored.js";
import { type Examples, rejectionOf } from "./examples.js";
import { IDENTITY, LOST, PURCHASE, startShop } from "./real-runs.js";

export const previews: Examples = {
  "an event that needs another advertiser, perhaps": async () => {
    const { event, known } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    return purchase.preview({ ...PURCHASE, value: UNKNOWN }, known);
  },
  "another machine's run has just created it": async () => {
    const { event, known, newRun } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    const run = newRun();
    const context = { identity: purchase.ref.identity, run: { isUp: false, resources: 1 } };
    await run.event.check({}, { ...PURCHASE, __sender: context });
    await run.close();
    return wordsOf(run);
  },
  "existingId names what a create can't have made": async () => {
    const { sandbox, event, known } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    sandbox.fail({ on: "event", with: LOST });
    await purchase.up({ ...PURCHASE, value: 26 }, known);
    return purchase.preview({ ...PURCHASE, eventName: "Buy", existingId: 2 }, known);
  },
  "an alias to a resource of another type": async () => {
    const { event, set, known, newRun } = await startShop();
    const purchase = event();
    await purchase.up(PURCHASE, known);
    const { id, outputs } = purchase.state ?? { id: "", outputs: {} };
    const news = { advertiserId: 1, events: {}, __sender: senderOf(set().ref.identity) };
    return rejectionOf(newRun().set.diff(id, outputs, news));
  },
  "an argument that is undefined": async () => {
    const { event } = (await startShop()).newRun();
    const run = { isUp: false, resources: 1 };
    const { failures = [] } = await event.check(
      {},
      {
        ...PURCHASE,
        advertiserId: undefined,
        __sender: { identity: IDENTITY, run },
      },
    );
    return failures.map(({ reason }) => reason).join("\n");
  },
};
