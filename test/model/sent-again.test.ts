/**
 * Several runs that send the same creates, on two machines, and a disk that is lost: what `pending` and its search know of them.
 * Each case counts the live events: each declared one is there once.
 */
import "../support/world/mocks.js";
import * as pulumi from "@pulumi/pulumi";
import { expect, it, onTestFinished } from "vitest";
import type { Resource } from "../support/world/program.js";
import { beginTime, time } from "../support/world/time.js";
import { World } from "../support/world/world.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

const ACME: Resource = { type: "Advertiser", name: "a1", platformName: "Acme" };
const EVENT: Resource = { type: "ConversionEvent", name: "e1", advertiser: "a1", platformName: "Buy", value: 1 };
const setOf = (...names: string[]): Resource => {
  const events = Object.fromEntries(names.map((name) => [`key-${name}`, { eventName: name, value: 1 }]));
  return { type: "ConversionEventSet", name: "s1", advertiser: "a1", events };
};

function begin({ hasMark = true, searchLagSeconds = 0 } = {}) {
  beginTime(1);
  const world = new World({
    seed: 1,
    checkpoints: true,
    operations: { read: false, update: false, delete: false, search: true, mark: hasMark },
    dressing: { gone: "404", dress: "plain", searchLagSeconds, readLagSeconds: 0, isTight: true },
  });
  onTestFinished(() => world.end());
  const declare = (...all: Resource[]) => {
    world.program = new Map(all.map((each) => [`${each.type} ${each.name}`, each]));
  };
  const up = async (machine: number, more: Parameters<World["up"]>[1] = {}) => {
    const ran = await world.up(machine, more);
    time.clock.advance(5_000);
    return ran;
  };
  /** An `up` that is killed right before or after its first create was sent, whichever request that is. */
  const upKilled = async (machine: number, at: "before" | "after") => {
    const { posts } = world.platform;
    for (let nth = 1; world.platform.posts === posts && nth < 20; nth++) await up(machine, { kill: { at, nth } });
    expect(world.platform.posts).toBeGreaterThan(posts);
  };
  const search = async (machine: number) => {
    const { output } = await world.command(machine, "--search");
    time.clock.advance(5_000);
    return output;
  };
  const live = () => [...world.platform.objectsOf("event").values()].map(({ event_name }) => event_name).toSorted();
  return { world, declare, up, upKilled, search, live };
}

const ALONE: [string, Resource][] = [
  ["an event of a set", setOf("Buy")],
  ["a single event", EVENT],
];
it.each(ALONE.flatMap(([what, declared]) => [true, false].map((isLost) => ({ what, declared, isLost }))))(
  "R6: $what that a search did not find, sent again by a killed run, does not count by its first sending (disk lost: $isLost)",
  async ({ declared, isLost }) => {
    const { world, declare, up, upKilled, search, live } = begin({ searchLagSeconds: 300 });
    declare(ACME);
    await up(0);
    declare(ACME, declared);
    await up(0, { faults: [{ on: "event", after: 0, with: "lost undone" }] });
    time.clock.advance(900_000);
    await upKilled(0, "after");
    if (isLost) world.loseDisk(0);
    const machine = isLost ? 1 : 0;
    await search(machine);
    await up(machine);
    expect(live()).toEqual(["Buy"]);
  },
);

it("what a later run on another machine sent is pending here too, though this machine has notes of an earlier run with the same marks", async () => {
  const { world, declare, up, live } = begin();
  declare(ACME);
  await up(0);
  declare(ACME, setOf("A", "B"));
  await up(0, { kill: { at: "before", nth: 1 } });
  await world.answerTruly(1);
  await up(1, { kill: { at: "after", nth: 2 } });
  world.loseDisk(1);
  await world.answerTruly(0);
  await up(0);
  expect(live()).toEqual(["A", "B"]);
});

it.each([
  { what: "with an edit in between", hasMark: true, first: setOf("A", "B") },
  { what: "right after markField was switched on", hasMark: false, first: setOf("A", "B", "C") },
])(
  "R7: two runs of a set in the state were killed, $what, and the disk is lost: the search finds what both sent",
  async ({ hasMark, first }) => {
    const { world, declare, up, upKilled, search, live } = begin({ hasMark });
    declare(ACME, setOf("A"));
    await up(0);
    world.operations.mark = true;
    declare(ACME, first);
    await up(0, { kill: { at: "after", nth: 1 } });
    declare(ACME, setOf("A", "B", "C"));
    await upKilled(0, "before");
    world.loseDisk(0);
    time.clock.advance(600_000);
    await search(1);
    await up(1);
    expect(live()).toEqual(["A", "B", "C"]);
  },
);
