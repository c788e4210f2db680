import { expect, it } from "vitest";
import { type Lease, Leases } from "../../provider/src/client/lease.js";

/** Leases on a login. */
function newLeases(): Leases<string> {
  const leases = new Leases<string>();
  leases.begin("first", 0);
  return leases;
}

/** Takes a lease, which must be available. */
function take(leases: Leases<string>, goesFirst = false): Lease<string> {
  const lease = leases.take(goesFirst);
  if (lease === undefined) expect.fail("there is no lease to be had");
  return lease;
}

function acceptMany(leases: Leases<string>, count: number): void {
  for (let i = 0; i < count; i++) take(leases).accept();
}

it("no lease is available before the first login", () => {
  const leases = new Leases<string>();
  expect(leases.hasLogin).toBe(false);
  expect(leases.take(false)).toBeUndefined();
  leases.begin("first", 7);
  expect(leases.hasLogin).toBe(true);
  expect(take(leases)).toMatchObject({ login: "first", openedAtMs: 7, hasAccepted: false, hasEnded: false });
});

it("a login has as many leases as it has accepted requests, and at least one", () => {
  const leases = newLeases();
  const first = take(leases);
  expect(leases.take(false)).toBeUndefined();
  first.accept();
  const second = take(leases);
  expect(second.hasAccepted).toBe(true);
  expect(leases.take(false)).toBeUndefined();
  second.accept();
  const [third, fourth] = [take(leases), take(leases)];
  expect(leases.take(false)).toBeUndefined();
  third.release(); // nothing learnt
  take(leases);
  expect(leases.take(false)).toBeUndefined();
  fourth.accept();
  take(leases);
  take(leases);
  expect(leases.take(false)).toBeUndefined();
});

it("a lease has no effect after it was released", () => {
  const leases = newLeases();
  const first = take(leases);
  first.release();
  first.accept();
  first.unreachable();
  first.release();
  const second = take(leases);
  expect(second.hasAccepted).toBe(false);
  expect(leases.take(false)).toBeUndefined();
});

it("a refusal ends its login for all leases, but not the next login", () => {
  const leases = newLeases();
  acceptMany(leases, 2);
  const [refused, late] = [take(leases), take(leases)];
  refused.refuse();
  expect([refused.hasEnded, late.hasEnded, leases.hasLogin]).toEqual([true, true, false]);
  expect(leases.take(true)).toBeUndefined();
  leases.begin("second", 0);
  late.refuse(); // of the first login
  expect(leases.hasLogin).toBe(true);
  expect(take(leases, true)).toMatchObject({ login: "second", hasEnded: false });
});

it("after a refusal, new requests wait until the refused ones and those in flight are answered", () => {
  const leases = newLeases();
  acceptMany(leases, 3);
  const [refused, alsoRefused, late] = [take(leases), take(leases), take(leases)];
  refused.refuse();
  leases.begin("second", 0);
  expect(leases.take(false)).toBeUndefined();
  const again = take(leases, true);
  expect(leases.take(true)).toBeUndefined(); // the second login has accepted none yet
  alsoRefused.refuse();
  again.accept();
  refused.release();
  expect(leases.take(false)).toBeUndefined();
  take(leases, true).accept();
  alsoRefused.release();
  expect(leases.take(false)).toBeUndefined();
  late.accept(); // of the ended login: raises nothing on the new one
  take(leases);
  take(leases);
  expect(leases.take(false)).toBeUndefined();
});

it("while no connection can be made requests don't wait for each other, until one is accepted", () => {
  const leases = newLeases();
  take(leases).unreachable();
  const [first] = [take(leases), take(leases), take(leases)];
  expect(first.hasAccepted).toBe(false);
  first.accept();
  expect(leases.take(false)).toBeUndefined();
});

it.each<[string, (lease: Lease<string>, leases: Leases<string>) => void]>([
  ["was accepted", (lease) => lease.accept()],
  ["was given up", (lease) => lease.release()],
  ["found no connection", (lease) => lease.unreachable()],
  ["ended the login", (lease) => lease.refuse()],
  ["has a new login", (_, leases) => leases.begin("second", 0)],
])("a waiting request is woken when another one %s", async (_, happens) => {
  const leases = newLeases();
  const lease = take(leases);
  let looked = 0;
  const waiting = [leases.change(), leases.change()].map((change) => change.then(() => looked++));
  await new Promise((resolve) => setImmediate(resolve));
  expect(looked).toBe(0);
  happens(lease, leases);
  await Promise.all(waiting);
  expect(looked).toBe(2);
});
