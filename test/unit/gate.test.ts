import { expect, it } from "vitest";
import { Gate } from "../../provider/src/session/gate.js";

it("lets no more in than it has let through, and one at least", () => {
  const gate = new Gate(4);
  const [first, second] = [Symbol(), Symbol()];
  expect(gate.hasRoom).toBe(true);
  gate.enter(first);
  expect(gate.hasRoom).toBe(false);
  gate.letThrough();
  gate.settle(first);
  gate.enter(second);
  expect(gate.hasRoom).toBe(false);
  gate.letThrough();
  expect(gate.hasRoom).toBe(true);
  for (let i = 0; i < 4; i++) gate.letThrough();
  for (let i = 0; i < 10; i++) gate.enter(Symbol());
  expect(gate.hasRoom).toBe(true); // from here on the sender's limit keeps to it
});

it("is open while no connection can be made, which says nothing of the login", () => {
  const gate = new Gate(4);
  gate.enter(Symbol());
  gate.open();
  gate.enter(Symbol());
  expect(gate.hasRoom).toBe(true);
  expect(gate.hasLetThrough).toBe(false);
  gate.letThrough();
  expect(gate.hasRoom).toBe(false);
  expect(gate.hasLetThrough).toBe(true);
});

it.each<[string, (gate: Gate, ticket: symbol) => void]>([
  ["is decided", (gate, ticket) => gate.settle(ticket)],
  ["was let through", (gate) => gate.letThrough()],
  ["found no connection", (gate) => gate.open()],
])("whoever waits looks again when a request %s", async (_, happens) => {
  const gate = new Gate(4);
  const ticket = Symbol();
  gate.enter(ticket);
  const waiting = gate.decision();
  happens(gate, ticket);
  await waiting;
});
