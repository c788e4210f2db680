/** What `npm run bench` measures is there: its programs are JavaScript, which no compiler checks. */
import { expect, it } from "vitest";
import { ourClient } from "../../scripts/lib/bench-client.mjs";
import { useSandbox } from "../support/installation.js";

it("the client that is measured creates each event once", async () => {
  const sandbox = await useSandbox();
  const { create, close } = await ourClient(sandbox);
  for (let index = 0; index < 3; index++) await create(index);
  await close();
  expect(sandbox.events.map(({ event_name }) => event_name)).toEqual([
    "Event 0",
    "Event 1",
    "Event 2",
  ]);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 3 });
});
