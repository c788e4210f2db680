/**
 * Situations in which features meet, and which random steps seldom produce: most lives end with one of them, each time with different
 * kills, answers and arguments. Their steps are like all others, and shrink as those do.
 */
import type { Step } from "./life.js";
import type { Break, Fault } from "./platform.js";

/** The random choices of a life. */
export interface Draws {
  readonly machine: number;
  readonly checkpoints: boolean;
  random(): number;
  below(limit: number): number;
  chance(of: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The create is carried out, but its answer does not say what was made. */
const LOST: Break[] = ["lost", "500", "html", "202"];
const LOOKS_GONE: Break[] = ["odd", "retired", "retired", "not allowed", "empty no", "no path"];
const LOOKS_DONE: Break[] = ["another", "another", "207 undone", "in use", "pixel", "retired", "lost", "500", "html"];
const LOOKS_LIKE_NONE: Break[] = ["odd", "odd", "empty no", "retired"];

type Scene = (draws: Draws) => Step[];

const on = (...names: string[]): Step[] => names.map((name) => ({ do: "operations", name, on: true }));
const off = (name: string): Step => ({ do: "operations", name, on: false });
const wait: Step = { do: "wait", seconds: 900 };

const edit = ({ random }: Draws, ...names: string[]): Step => ({
  do: "edit",
  edits: names.map((name) => [name, ...Array.from({ length: 6 }, random)]),
});

const up = ({ machine }: Draws, more: Partial<Step & { do: "up" }> = {}): Step => ({
  do: "up",
  machine,
  preview: false,
  concurrent: false,
  faults: [],
  ...more,
});

/** Unresolved creates are answered, and an up succeeds, unless the program is wrong. */
const calm = (draws: Draws): Step[] => [{ do: "answer", machine: draws.machine, how: "truly", pick: 0 }, up(draws)];

/** A search becomes known only after these steps, which leave an unknown outcome. */
const searchedLater = (draws: Draws, ...begun: Step[]): Step[] => [
  off("search"),
  ...on("mark"),
  ...calm(draws),
  ...begun,
  ...on("search"),
];

/** The disk is lost, a person answers on the other machine, and an up follows there. */
const goesOnElsewhere = (draws: Draws, how: "search" | "truly"): Step[] => {
  const machine = 1 - draws.machine;
  return [{ do: "lose", machine: draws.machine }, { do: "answer", machine, how, pick: 0 }, up({ ...draws, machine })];
};

const newOne = (draws: Draws) => edit(draws, draws.pick(["new event", "new set"]));

/** The first event of a run is created, with its answer lost. */
const lost = ({ pick }: Draws): { faults: Fault[] } => ({ faults: [{ on: "event", after: 0, with: pick(LOST) }] });

/** Reads that only look as if an object was gone, long after it was created. */
const doubtfulReads: Scene = (draws) => [
  ...on("read"),
  edit(draws, "new event", draws.pick(["new event", "new set"])),
  ...calm(draws),
  wait,
  {
    do: "refresh",
    machine: draws.machine,
    faults: [{ on: "read", after: 1 + draws.below(4), with: draws.pick(LOOKS_GONE) }],
  },
];

/** Updates and deletes that only look as if they were done, or were done and do not look so. */
const doubtfulChanges: Scene = (draws) => {
  const [operation, name] = draws.chance(0.75)
    ? (["delete", "drops members"] as const)
    : (["update", "changes what is new"] as const);
  return [
    ...(draws.chance(0.5) ? [off("read")] : []),
    ...on(operation),
    edit(draws, "new set"),
    ...calm(draws),
    wait,
    edit(draws, name),
    up(draws, { faults: [{ on: operation, after: draws.below(2), with: draws.pick(LOOKS_DONE) }] }),
  ];
};

/** Searches that only look as if nothing was created. */
const doubtfulSearches: Scene = (draws) => [
  ...searchedLater(draws, newOne(draws), up(draws, lost(draws))),
  wait,
  up(draws, { faults: [{ on: "search", after: 0, with: draws.pick(LOOKS_LIKE_NONE) }] }),
];

/** An object of the other kind with the id that an interrupted run noted is adopted. */
const equalIds: Scene = (draws) => [
  ...calm(draws),
  newOne(draws),
  up(draws, { kill: { at: "save", nth: 2 + draws.below(2) } }),
  edit(draws, "adopts an equal id"),
  up(draws),
];

/** Two equal creates lose their answers, and then a search finds an object that the other one has. */
const foundByAnother: Scene = (draws) => [
  ...searchedLater(
    draws,
    edit(draws, "new event", "new event"),
    up(draws, { concurrent: true, faults: [...lost(draws).faults, ...lost(draws).faults] }),
  ),
  { do: "answer", machine: draws.machine, how: "of another", pick: draws.random() },
  up(draws),
];

/** The answer about one create names the object of another one. */
const ofAnother: Scene = (draws) => [
  ...(draws.chance(0.6) ? on("search", "mark") : []),
  ...calm(draws),
  edit(draws, "new set", "new event", "new event"),
  up(draws, {
    concurrent: draws.chance(0.6),
    kill: { at: draws.pick(["before", "after", "after"]), nth: 2 + draws.below(4) },
  }),
  { do: "answer", machine: draws.machine, how: "of another", pick: draws.random() },
  up(draws),
];

/** A wrong answer is taken back, at once or after a run of one other resource. */
const takenBack: Scene = (draws) => [
  ...unresolved(draws, 0.5),
  { do: "answer", machine: draws.machine, how: "wrongly", pick: draws.random() },
  ...(draws.chance(0.3) ? [up(draws, { target: draws.random() })] : []),
  { do: "reopen", pick: 0.999 },
  up(draws),
];

/** An object leaves a set that deletes, and another resource adopts it in the same run. */
const handedOn: Scene = (draws) => [
  ...on("delete"),
  edit(draws, "new set"),
  ...calm(draws),
  edit(draws, "hands on"),
  up(draws),
];

/** A run on the other machine begins and ends during a search. */
const besideUp: Scene = (draws) => [
  ...searchedLater(draws, edit(draws, "new event"), up(draws, lost(draws))),
  edit(draws, "new event"),
  { do: "answer", machine: draws.machine, how: "beside up", pick: draws.random() },
  up(draws),
];

/** A second command starts between the last export of the first one and its import. */
const within: Scene = (draws) => [
  ...calm(draws),
  edit(draws, "new event", "new set"),
  up(draws, { concurrent: true, kill: { at: draws.pick(["before", "after"]), nth: 1 + draws.below(4) } }),
  { do: "answer", machine: draws.machine, how: "within", pick: draws.random() },
  up(draws),
];

/** The platform gets a new address after a kill. */
const newAddress: Scene = (draws) => [
  ...calm(draws),
  edit(draws, "new event", "new set"),
  up(draws, { kill: { at: "after", nth: 1 + draws.below(3) } }),
  { do: "relocate" },
  up(draws),
];

/** The platform gets a new address after a kill, and something is created there before `relocate`. */
const usedAddress: Scene = (draws) => {
  const last = { target: 0.999, ...(draws.chance(0.5) ? { kill: { at: "after", nth: 1 } as const } : {}) };
  return [
    ...calm(draws),
    edit(draws, "new event", "new set"),
    up(draws, { kill: { at: "after", nth: 1 + draws.below(3) } }),
    edit(draws, "new event"),
    { do: "relocate", runs: up(draws, last) as Step & { do: "up" } },
    up(draws),
  ];
};

/** A new create is unresolved, in the state or only in the journal. */
const unresolved = (draws: Draws, inState: number): Step[] => [
  off("search"),
  ...calm(draws),
  newOne(draws),
  up(draws, draws.chance(inState) ? lost(draws) : { kill: { at: "after", nth: 1 } }),
];

/** An unresolved resource is renamed, and another advertiser's event with the same name is adopted. */
const namesake: Scene = (draws) => [...unresolved(draws, 0.7), edit(draws, "adopts a namesake"), up(draws)];

/** An unresolved resource is declared with existingId as a different, live object. */
const another: Scene = (draws) => [...unresolved(draws, 0.7), edit(draws, "adopts another"), up(draws)];

/** An unresolved event of a set is adopted elsewhere, perhaps in a targeted run; then the former program may return, on any machine. */
const movedOut: Scene = (draws) => [
  off("search"),
  ...(draws.chance(0.5) ? on("read") : []),
  ...calm(draws),
  edit(draws, "new set"),
  up(draws, lost(draws)),
  edit(draws, "adopts elsewhere"),
  up(draws, draws.chance(0.5) ? {} : { target: draws.random() }),
  ...(draws.chance(0.7) ? [{ do: "check out", pick: 0.7 + 0.3 * draws.random() } as const] : []),
  ...(draws.chance(0.5) ? goesOnElsewhere(draws, "truly") : [up(draws)]),
];

/** A set's creates wait for the rate limit before they are sent, and the disk is lost. */
const lateCreates: Scene = (draws) => [
  ...on("search", "mark"),
  { do: "lag", seconds: 40 },
  ...calm(draws),
  edit(draws, "new set"),
  up(draws, {
    faults: [1, 2].map(() => ({ on: "event", after: 0, with: "limited long" })),
    kill: { at: "after", nth: 3 + draws.below(3) },
  }),
  ...goesOnElsewhere(draws, "search"),
];

/** Two runs of the same resource with different arguments are killed, and the disk is lost. */
const killedTwice: Scene = (draws) => [
  ...(draws.chance(0.7) ? on("search", "mark") : []),
  ...calm(draws),
  newOne(draws),
  up(draws, { kill: { at: "after", nth: 1 + draws.below(2) } }),
  edit(draws, "changes what is new"),
  up(draws, { kill: draws.pick([{ at: "after", nth: 1 + draws.below(2) } as const, { at: "save", nth: 2 }]) }),
  ...goesOnElsewhere(draws, draws.pick(["search", "search", "truly"])),
];

/** An advertiser is updated in place, and its events stay unchanged. */
const advertiserRenamed: Scene = (draws) => [
  ...on("update"),
  edit(draws, "new event"),
  ...calm(draws),
  edit(draws, "renames an advertiser"),
  up(draws, { preview: true }),
];

/** What an interrupted run created is destroyed on the other machine, and the first one creates it again. */
const destroyedElsewhere: Scene = (draws) => {
  const machine = 1 - draws.machine;
  return [
    ...on("read", "delete"),
    ...calm(draws),
    edit(draws, "new event", "deletes what is new"),
    up(draws, { kill: { at: draws.pick(["after", "save"]), nth: 1 + draws.below(4) } }),
    { do: "answer", machine, how: "truly", pick: 0 },
    { do: "destroy", machine, faults: [] },
    ...(draws.chance(0.8) ? [wait] : []),
    up(draws),
  ];
};

/** A resource that adopted an object is removed in a run of its own, and another resource adopts the object in the next run. */
const removedAlone: Scene = (draws) => [
  ...on("read", "delete"),
  edit(draws, "new event"),
  ...calm(draws),
  edit(draws, "adopts to delete"),
  up(draws),
  edit(draws, "adopts under another name"),
  ...(draws.chance(0.7) ? [{ do: "lose", machine: draws.machine } as const] : []),
  up(draws, { target: draws.random(), removes: true }),
  up(draws),
];

/** With checkpoints off, a stack stays on one machine, and only the disk knows about an interrupted run. */
const WITHOUT_CHECKPOINTS: readonly Scene[] = [
  doubtfulReads,
  doubtfulChanges,
  doubtfulSearches,
  equalIds,
  ofAnother,
  foundByAnother,
  takenBack,
  handedOn,
  within,
  newAddress,
  newAddress,
  usedAddress,
  namesake,
  another,
  movedOut,
  advertiserRenamed,
];

const SCENES: readonly Scene[] = [
  doubtfulReads,
  doubtfulChanges,
  doubtfulChanges,
  doubtfulSearches,
  equalIds,
  ofAnother,
  foundByAnother,
  takenBack,
  handedOn,
  besideUp,
  within,
  namesake,
  another,
  movedOut,
  lateCreates,
  killedTwice,
  killedTwice,
  advertiserRenamed,
];

/** An object whose create has an unknown outcome is deleted by hand before a search looks for it. */
const deletedWhileOpen: Scene = (draws) => [
  ...on("read"),
  ...searchedLater(draws, newOne(draws), up(draws, lost(draws))),
  { do: "meddle", pick: 0.999, deletes: true },
  ...(draws.chance(0.8) ? [wait] : []),
  up(draws),
];

/** A run is killed after a delete, or does not learn its outcome, and the former program returns. */
const deletedAndBack: Scene = (draws) => [
  ...(draws.chance(0.5) ? [off("read")] : on("read")),
  ...on("delete"),
  edit(draws, "new set", "new event", "deletes what is new"),
  ...calm(draws),
  wait,
  edit(draws, "drops members", "drops what is new"),
  draws.chance(0.5)
    ? up(draws, { kill: { at: "after", nth: 1 + draws.below(4) } })
    : up(draws, { faults: [{ on: "delete", after: 0, with: draws.pick(["lost", "500"]) }] }),
  { do: "check out", pick: 0.5 + 0.5 * draws.random() },
  up(draws, draws.chance(0.5) ? {} : { machine: 1 - draws.machine }),
];

/** A run is killed after an update, or does not learn its outcome, and the former program returns. */
const updatedAndBack: Scene = (draws) => [
  ...(draws.chance(0.5) ? [off("read")] : on("read")),
  ...on("update"),
  edit(draws, "new set", "new event"),
  ...calm(draws),
  wait,
  edit(draws, "changes what is new"),
  draws.chance(0.5)
    ? up(draws, { kill: { at: "after", nth: 1 + draws.below(4) } })
    : up(draws, { faults: [{ on: "update", after: 0, with: draws.pick(["lost", "500"]) }] }),
  { do: "check out", pick: 0.5 + 0.5 * draws.random() },
  up(draws),
];

/** A create that a search has not found is sent again, and that run is killed; the platform's searches lag. */
const sentAgain: Scene = (draws) => [
  ...searchedLater(draws, newOne(draws), up(draws, { faults: [{ on: "event", after: 0, with: "lost undone" }] })),
  { do: "lag", seconds: 40 },
  wait,
  up(draws, { kill: { at: draws.pick(["after", "before"]), nth: 1 + draws.below(6) } }),
  ...(draws.checkpoints && draws.chance(0.6)
    ? goesOnElsewhere(draws, "search")
    : [{ do: "answer", machine: draws.machine, how: "search", pick: 0 } as const, up(draws)]),
];

/** Two runs of a set in the state are killed, with an edit in between, and the disk is lost. */
const editedBetween: Scene = (draws) => [
  ...on("search", "mark"),
  edit(draws, "new set"),
  ...calm(draws),
  ...[1, 2].flatMap(() => [
    edit(draws, "adds members"),
    up(draws, { kill: { at: draws.pick(["after", "after", "before"]), nth: 1 + draws.below(3) } }),
  ]),
  ...goesOnElsewhere(draws, "search"),
];

const LAST_WITHOUT_CHECKPOINTS: readonly Scene[] = [removedAlone, deletedWhileOpen, deletedAndBack, updatedAndBack];
const LAST: readonly Scene[] = [destroyedElsewhere, ...LAST_WITHOUT_CHECKPOINTS];

/** For the end of a life, after any other scene. */
export function lastSceneOf(draws: Draws): Step[] {
  return draws.pick(draws.checkpoints ? LAST : LAST_WITHOUT_CHECKPOINTS)(draws);
}

/** For the end of a life: runs that send what earlier runs have sent. */
export function resentSceneOf(draws: Draws): Step[] {
  return draws.pick(draws.checkpoints ? [sentAgain, editedBetween, sentAgain] : [sentAgain])(draws);
}

export function sceneOf(draws: Draws): Step[] {
  return draws.pick(draws.checkpoints ? SCENES : WITHOUT_CHECKPOINTS)(draws);
}
