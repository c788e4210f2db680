/** Changes that people make to a program. Each is given as a few numbers, whose meaning depends on the program at that time. */
import { labelOf, memberLabel, memberOf } from "../../../provider/src/state/index.js";
import { FIRST_ID } from "./platform.js";
import type { Catalog, Entry, Resource, Row } from "./program.js";
import { keyOf, urnOfResource } from "./program.js";
import { heldIn, type World } from "./world.js";

const EVENT_NAMES = ["Buy", "Sign up", "Land"];
const NAMES = ["e1", "e2", "e3", "e4", "e5"];
const SETS = ["s1", "s2", "s3"];
const KEYS = ["k1", `k.2"]3`, "constructor", "ф"];
const ADVERTISERS = ["a1", "a2"];

type Edit = (world: World, numbers: Numbers) => void;

class Numbers {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  get one(): number {
    return this.#numbers[this.#next++ % this.#numbers.length] ?? 0;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.one * from.length)];
  }
}

function put(world: World, ...resources: readonly (Resource | undefined)[]): void {
  const program = new Map(world.program);
  for (const each of resources) if (each !== undefined) program.set(keyOf(each), each);
  world.program = ordered(program);
}

function drop(world: World, ...resources: readonly Resource[]): void {
  const program = new Map(world.program);
  for (const each of resources) program.delete(keyOf(each));
  world.program = program;
}

function ordered(program: ReadonlyMap<string, Resource>) {
  return new Map([...program].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const ofType = (world: World, type: Resource["type"]) =>
  [...world.program.values()].filter((each) => each.type === type);

/** An advertiser of the program, which is declared now if there is none. */
function someAdvertiser(world: World, numbers: Numbers): string {
  const [known] = [numbers.pick(ofType(world, "Advertiser"))];
  if (known !== undefined) return known.name;
  put(world, { type: "Advertiser", name: "a1", platformName: "Acme" });
  return "a1";
}

/** Names that no resource has, or had by its aliases: the engine refuses a resource with another one's former name. */
const unused = (world: World, type: Resource["type"], names: readonly string[]) => {
  const former = new Set(ofType(world, type).flatMap(({ aliases = [] }) => aliases));
  return names.filter((name) => !world.program.has(`${type} ${name}`) && !former.has(name));
};

const entryOf = (numbers: Numbers): Entry => ({
  eventName: numbers.pick(EVENT_NAMES) ?? "Buy",
  value: Math.floor(numbers.one * 3),
});

/** The id of a resource, or of a set's member, in the state. */
function heldId(world: World, label: string): string | undefined {
  return heldIn(world.backend).find((each) => each.label === label && each.resource.delete !== true)?.id;
}

const addEvent: Edit = (world, numbers) => {
  const name = numbers.pick(unused(world, "ConversionEvent", NAMES));
  if (name === undefined) return;
  const { eventName, value } = entryOf(numbers);
  put(world, {
    type: "ConversionEvent",
    name,
    platformName: eventName,
    value,
    advertiser: someAdvertiser(world, numbers),
  });
};

const addMember: Edit = (world, numbers) => {
  const sets = ofType(world, "ConversionEventSet");
  const set = sets.length > 0 && numbers.one < 0.7 ? numbers.pick(sets) : undefined;
  const name = numbers.pick(unused(world, "ConversionEventSet", SETS));
  const advertiser = set === undefined && name !== undefined ? someAdvertiser(world, numbers) : undefined;
  const into = set ?? (name && { type: "ConversionEventSet" as const, name, advertiser, events: {} });
  if (!into) return;
  const key = numbers.pick(KEYS) ?? "k1";
  put(world, { ...into, events: { ...into.events, [key]: entryOf(numbers) } });
};

const changed: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()]);
  if (resource === undefined) return;
  const { eventName, value } = entryOf(numbers);
  if (resource.type === "Advertiser") return put(world, { ...resource, platformName: `Acme ${value}` });
  if (resource.type === "ConversionEvent") {
    return put(world, numbers.one < 0.6 ? { ...resource, value } : { ...resource, platformName: eventName });
  }
  const key = numbers.pick(Object.keys(resource.events ?? {}));
  const given = key === undefined ? undefined : resource.events?.[key];
  if (key === undefined || given === undefined) return;
  const { existingId: _, ...entry } = given;
  put(world, { ...resource, events: { ...resource.events, [key]: { ...entry, value } } });
};

const otherAdvertiser: Edit = (world, numbers) => {
  const name = numbers.pick(ADVERTISERS) ?? "a1";
  const resource = numbers.pick([...world.program.values()].filter(({ type }) => type !== "Advertiser"));
  if (!world.program.has(`Advertiser ${name}`)) put(world, { type: "Advertiser", name, platformName: "Acme" });
  if (resource !== undefined) put(world, { ...resource, advertiser: name });
};

const removed: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()]);
  if (resource === undefined) return;
  const isUsed = [...world.program.values()].some((each) => each.advertiser === resource.name);
  if (resource.type === "Advertiser" && isUsed) return;
  const key = numbers.pick(Object.keys(resource.events ?? {}));
  if (key === undefined || numbers.one < 0.3) return drop(world, resource);
  const { [key]: _, ...events } = resource.events ?? {};
  put(world, { ...resource, events });
};

const renamed =
  (hasAlias: boolean): Edit =>
  (world, numbers) => {
    const resource = numbers.pick([...world.program.values()].filter(({ type }) => type !== "Advertiser"));
    if (resource === undefined) return;
    const { type, name, aliases = [] } = resource;
    const free = unused(world, type, type === "ConversionEvent" ? NAMES : SETS);
    const now = numbers.pick(free.filter((each) => !aliases.includes(each) && !isInState(world, type, each)));
    if (now === undefined) return;
    drop(world, resource);
    if (hasAlias) world.rename(type, name, now, resource);
    put(world, { ...resource, name: now, aliases: hasAlias ? [...aliases, name] : undefined });
  };

/** The engine goes on with a resource of the state under the new name, with or without an alias. */
function isInState(world: World, type: Resource["type"], name: string): boolean {
  const urn = urnOfResource({ type, name });
  return world.backend.resources.some((each) => each.urn === urn);
}

/** A single event becomes a set's member, or the other way round, with or without `existingId`. */
const moved =
  (adopts: boolean): Edit =>
  (world, numbers) => {
    const sets = ofType(world, "ConversionEventSet");
    const single = numbers.pick(ofType(world, "ConversionEvent"));
    const set = numbers.pick(sets);
    if (set === undefined) return;
    if (single !== undefined && numbers.one < 0.5) {
      const key = numbers.pick(KEYS.filter((each) => !Object.hasOwn(set.events ?? {}, each)));
      if (key === undefined) return;
      const id = heldId(world, `ConversionEvent "${single.name}"`);
      const entry = {
        eventName: single.platformName ?? "",
        value: single.value ?? 0,
        ...(adopts && id !== undefined ? { existingId: id } : {}),
      };
      drop(world, single);
      return put(world, { ...set, advertiser: single.advertiser, events: { ...set.events, [key]: entry } });
    }
    const key = numbers.pick(Object.keys(set.events ?? {}));
    const name = numbers.pick(unused(world, "ConversionEvent", NAMES));
    if (key === undefined || name === undefined) return;
    const { [key]: entry, ...events } = set.events ?? {};
    const id = heldId(world, `events[${JSON.stringify(key)}] of ConversionEventSet "${set.name}"`);
    const { eventName = "", value } = entry ?? {};
    put(
      world,
      { ...set, events },
      {
        type: "ConversionEvent",
        name,
        platformName: eventName,
        value,
        advertiser: set.advertiser,
        ...(adopts && id !== undefined ? { existingId: id } : {}),
      },
    );
  };

/** Adopts another client's event, or an id that another resource has, or an id without an object. */
const adopted: Edit = (world, numbers) => {
  const [advertiser] = world.platform.objectsOf("advertiser").keys();
  const name = numbers.pick(unused(world, "ConversionEvent", NAMES));
  if (advertiser === undefined || name === undefined) return;
  const { eventName, value } = entryOf(numbers);
  // Without a known read, no message can say that an adopted object does not exist.
  const other = String(FIRST_ID + Math.floor(numbers.one * 8));
  const isForeign = numbers.one < 0.5 || !(world.operations.read || world.platform.isLive("event", other));
  const id = isForeign
    ? world.platform.makeForeign("event", { event_name: eventName, value, advertiser_id: advertiser })
    : other;
  put(world, {
    type: "ConversionEvent",
    name,
    platformName: eventName,
    value,
    advertiser: String(advertiser),
    existingId: id,
  });
};

/** Adopts another client's advertiser. */
const adoptedAdvertiser: Edit = (world, numbers) => {
  const [name] = unused(world, "Advertiser", ADVERTISERS);
  if (name === undefined) return;
  const platformName = numbers.pick(["Acme", "Other"]) ?? "Acme";
  const existingId = world.platform.makeForeign("advertiser", { advertiser_name: platformName });
  put(world, { type: "Advertiser", name, platformName, existingId });
};

/** Adopts the object that an unresolved create made, as the message says. */
const adoptedAfterALook: Edit = (world, numbers) => {
  const open = new Set(world.unresolvedInState().map(({ label }) => label));
  const those = [...world.program.values()].flatMap((resource) => {
    const [urn, label] = [urnOfResource(resource), labelOf(resource.type, resource.name)];
    const members = Object.keys(resource.events ?? {}).filter((key) => open.has(memberLabel(label, key)));
    return [
      ...(open.has(label) ? [{ resource, urn, key: "" }] : []),
      ...members.map((key) => ({ resource, urn: memberOf(urn, key), key })),
    ];
  });
  const { resource, urn = "", key = "" } = numbers.pick(those) ?? {};
  const existingId = resource === undefined ? undefined : world.truthAbout(urn);
  if (resource === undefined || existingId === undefined) return;
  world.settled.add(existingId);
  const entry = resource.events?.[key];
  const events = entry === undefined ? {} : { events: { ...resource.events, [key]: { ...entry, existingId } } };
  put(world, { ...resource, ...(entry === undefined ? { existingId } : events) });
};

const notAdopting: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()].filter(({ existingId }) => existingId !== undefined));
  if (resource !== undefined) put(world, { ...resource, existingId: undefined });
};

const deleting: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()].filter(({ type }) => type !== "Advertiser"));
  if (resource !== undefined)
    put(world, { ...resource, deletes: resource.deletes !== true && world.operations.delete === true });
};

const replacing: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()].filter(({ type }) => type !== "Advertiser"));
  if (resource === undefined) return;
  const property = resource.type === "ConversionEvent" ? "value" : "events";
  put(world, { ...resource, replaceOnChanges: resource.replaceOnChanges === undefined ? [property] : undefined });
};

const protecting: Edit = (world, numbers) => {
  const resource = numbers.pick([...world.program.values()]);
  if (resource !== undefined) put(world, { ...resource, protect: resource.protect !== true });
};

/** One with single events, and one with sets. */
const CATALOGS = ["c1", "c2"];
const KEYS_OF_ADVERTISERS = ["x", "y"];

const catalogNamed = (world: World, name: string): Catalog =>
  world.catalogs.get(name) ?? { name, sets: name === "c2", rows: [] };

function putCatalog(world: World, catalog: Catalog): void {
  const others = [...world.catalogs].filter(([name]) => name !== catalog.name);
  const all = catalog.rows.length === 0 ? others : [...others, [catalog.name, catalog] as const];
  world.catalogs = new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isAt = (row: Row, { advertiser, key }: Pick<Row, "advertiser" | "key">) =>
  row.advertiser === advertiser && row.key === key;

function putRow(world: World, name: string, row: Row): void {
  const catalog = catalogNamed(world, name);
  putCatalog(world, { ...catalog, rows: [...catalog.rows.filter((each) => !isAt(each, row)), row] });
}

const addRow: Edit = (world, numbers) => {
  const place = { advertiser: numbers.pick(KEYS_OF_ADVERTISERS) ?? "x", key: numbers.pick(KEYS) ?? "k1" };
  const name = numbers.pick(CATALOGS) ?? "c1";
  putRow(world, name, { ...place, ...entryOf(numbers) });
};

interface Placed {
  readonly catalog: Catalog;
  readonly row: Row;
}

const rowsOf = (world: World): Placed[] =>
  [...world.catalogs.values()].flatMap((catalog) => catalog.rows.map((row) => ({ catalog, row })));

function dropRow(world: World, { catalog, row }: Placed): void {
  putCatalog(world, { ...catalog, rows: catalog.rows.filter((each) => each !== row) });
}

const changedRow: Edit = (world, numbers) => {
  const found = numbers.pick(rowsOf(world));
  if (found === undefined) return;
  const { eventName, value } = entryOf(numbers);
  const { existingId: _, ...row } = found.row;
  putRow(world, found.catalog.name, numbers.one < 0.6 ? { ...row, value } : { ...row, eventName });
};

const removedRow: Edit = (world, numbers) => {
  const found = numbers.pick(rowsOf(world));
  if (found !== undefined) dropRow(world, found);
};

const labelOfRow = ({ catalog: { name, sets }, row: { advertiser, key } }: Placed) =>
  sets
    ? `events[${JSON.stringify(key)}] of ConversionEventSet "${name}/${advertiser}"`
    : `ConversionEvent "${name}/${advertiser}/${key}"`;

/** Moves an event into a catalog, out of one, or from one to the other, with or without `existingId`. */
const movedByRow =
  (adopts: boolean): Edit =>
  (world, numbers) => {
    const single = numbers.pick(ofType(world, "ConversionEvent"));
    const set = numbers.pick(ofType(world, "ConversionEventSet"));
    const found = numbers.pick(rowsOf(world));
    const adopting = (id: string | undefined) => (adopts && id !== undefined ? { existingId: id } : {});
    /** The advertiser of an event on the platform. */
    const advertiserOf = (id: string | undefined, otherwise: string) =>
      String(world.platform.objectsOf("event").get(Number(id))?.advertiser_id ?? otherwise);
    const how = numbers.one;
    if (found !== undefined && how < 0.5) {
      const { catalog, row } = found;
      const id = heldId(world, labelOfRow(found));
      dropRow(world, found);
      const { advertiser, key, eventName, value } = row;
      const other = CATALOGS.find((each) => each !== catalog.name) ?? "c1";
      const name = numbers.pick(unused(world, "ConversionEvent", NAMES));
      if (how < 0.25 || name === undefined)
        return putRow(world, other, { key, eventName, value, advertiser, ...adopting(id) });
      const by = advertiserOf(id, someAdvertiser(world, numbers));
      return put(world, {
        type: "ConversionEvent",
        name,
        platformName: eventName,
        value,
        advertiser: by,
        ...adopting(id),
      });
    }
    const into = numbers.pick(CATALOGS) ?? "c1";
    const key = numbers.pick(KEYS) ?? "k1";
    if (single !== undefined && how < 0.75) {
      const id = heldId(world, `ConversionEvent "${single.name}"`);
      const { platformName: eventName = "", value = 0 } = single;
      drop(world, single);
      return putRow(world, into, { key, eventName, value, advertiser: advertiserOf(id, "x"), ...adopting(id) });
    }
    const member = numbers.pick(Object.keys(set?.events ?? {}));
    const entry = member === undefined ? undefined : set?.events?.[member];
    if (set === undefined || member === undefined || entry === undefined) return;
    const id = heldId(world, `events[${JSON.stringify(member)}] of ConversionEventSet "${set.name}"`);
    const { [member]: _, ...events } = set.events ?? {};
    put(world, { ...set, events });
    const { eventName, value } = entry;
    putRow(world, into, { key, eventName, value, advertiser: advertiserOf(id, "x"), ...adopting(id) });
  };

const withoutAliases: Edit = (world) => {
  for (const resource of world.program.values())
    if (resource.aliases !== undefined) put(world, { ...resource, aliases: undefined });
};

const EDITS: readonly Edit[] = [
  addEvent,
  addEvent,
  addEvent,
  addMember,
  addMember,
  addMember,
  changed,
  changed,
  changed,
  changed,
  changed,
  otherAdvertiser,
  removed,
  removed,
  renamed(true),
  renamed(false),
  moved(true),
  moved(true),
  moved(false),
  adopted,
  adoptedAdvertiser,
  adoptedAfterALook,
  notAdopting,
  deleting,
  deleting,
  deleting,
  deleting,
  replacing,
  withoutAliases,
  protecting,
  addRow,
  addRow,
  addRow,
  changedRow,
  changedRow,
  removedRow,
  movedByRow(true),
  movedByRow(true),
  movedByRow(false),
];

/** More names, for resources that scenes add. */
const MORE_NAMES = [...NAMES, "e6", "e7", "e8", "e9"];
const MORE_SETS = [...SETS, "s4", "s5"];
const MORE_ADVERTISERS = [...ADVERTISERS, "a3", "a4"];

const fresh = (world: World, type: Resource["type"], names: readonly string[]) =>
  unused(world, type, names).filter((name) => !isInState(world, type, name));

const newEvent: Edit = (world, numbers) => {
  const [name] = fresh(world, "ConversionEvent", MORE_NAMES);
  if (name === undefined) return;
  const { eventName, value } = entryOf(numbers);
  const advertiser = someAdvertiser(world, numbers);
  put(world, { type: "ConversionEvent", name, platformName: eventName, value, advertiser });
};

const newSet: Edit = (world, numbers) => {
  const [name] = fresh(world, "ConversionEventSet", MORE_SETS);
  if (name === undefined) return;
  const keys = KEYS.slice(0, 2 + Math.floor(numbers.one * 2));
  const events = Object.fromEntries(keys.map((key, at) => [key, { ...entryOf(numbers), value: at }]));
  put(world, { type: "ConversionEventSet", name, advertiser: someAdvertiser(world, numbers), events });
};

/** Changes the resource that was added last, or its last event. */
const changesTheNew: Edit = (world, numbers) => {
  const of = numbers.one < 0.5 ? ofType(world, "ConversionEvent") : ofType(world, "ConversionEventSet");
  const resource = of.at(-1) ?? [...world.program.values()].findLast(({ type }) => type !== "Advertiser");
  if (resource === undefined) return;
  const { value, events } = resource;
  if (events === undefined) return put(world, { ...resource, value: (value ?? 0) + 1 });
  const changed = Object.entries(events).map(([key, entry]) => [key, { ...entry, value: entry.value + 1 }]);
  put(world, { ...resource, events: Object.fromEntries(changed) });
};

/** A set that has members in the state. */
const heldSet = (world: World) =>
  ofType(world, "ConversionEventSet").findLast(({ name, events = {} }) =>
    Object.keys(events).some((key) => heldId(world, memberLabel(labelOf("ConversionEventSet", name), key))),
  );

const addsMembers: Edit = (world, numbers) => {
  const set = heldSet(world);
  const [key] = KEYS.filter((each) => !Object.hasOwn(set?.events ?? {}, each));
  if (set !== undefined && key !== undefined)
    put(world, { ...set, events: { ...set.events, [key]: entryOf(numbers) } });
};

const dropsMembers: Edit = (world, numbers) => {
  const set = heldSet(world);
  if (set === undefined) return;
  const left = Object.entries(set.events ?? {}).slice(numbers.one < 0.5 ? 1 : 2);
  put(world, { ...set, deletes: world.operations.delete === true, events: Object.fromEntries(left) });
};

const handsOn: Edit = (world) => {
  const set = heldSet(world);
  const [name] = fresh(world, "ConversionEvent", MORE_NAMES);
  if (set === undefined || name === undefined) return;
  const label = labelOf("ConversionEventSet", set.name);
  const found = Object.entries(set.events ?? {}).find(([key]) => heldId(world, memberLabel(label, key)));
  if (found === undefined) return;
  const [key, { eventName, value }] = found;
  const { [key]: _, ...events } = set.events ?? {};
  const existingId = heldId(world, memberLabel(label, key));
  const { advertiser } = set;
  put(
    world,
    { ...set, deletes: world.operations.delete === true, events },
    { type: "ConversionEvent", name, platformName: eventName, value, advertiser, existingId },
  );
};

/** Adopts an object of the other kind with the id that an interrupted run noted. */
const adoptsEqualId: Edit = (world, numbers) => {
  const noted = numbers.pick(world.notedIds());
  if (noted === undefined) return;
  const id = Number(noted.id);
  const noun = noted.noun === "event" ? "advertiser" : "event";
  const [owner] = world.platform.objectsOf("advertiser").keys();
  const platformName = "Acme";
  const fields =
    noun === "advertiser" ? { advertiser_name: platformName } : { event_name: "Buy", value: 0, advertiser_id: owner };
  const type = noun === "advertiser" ? "Advertiser" : "ConversionEvent";
  const [name] = fresh(world, type, noun === "advertiser" ? MORE_ADVERTISERS : MORE_NAMES);
  if (name === undefined || (noun === "event" && owner === undefined)) return;
  if (world.platform.isLive(noun, noted.id)) return;
  for (let made = 0; made < id; ) {
    made = Number(world.platform.makeForeign(noun, fields));
    if (made > id) return;
  }
  put(world, {
    type,
    name,
    existingId: noted.id,
    ...(noun === "advertiser" ? { platformName } : { platformName: "Buy", value: 0, advertiser: String(owner) }),
  });
};

/**
 * Renames or removes an unresolved resource, and adopts another advertiser's event with the same platform name; in half of the cases the
 * program has that advertiser's id as an Output.
 */
const adoptsNamesake: Edit = (world, numbers) => {
  const open = world.openLabels();
  const [name, other] = fresh(world, "ConversionEvent", MORE_NAMES);
  const [ofOther] = numbers.one < 0.5 ? fresh(world, "Advertiser", MORE_ADVERTISERS) : [];
  const owner = (platformName: string) => {
    const existingId = world.platform.makeForeign("advertiser", { advertiser_name: platformName });
    if (ofOther !== undefined) put(world, { type: "Advertiser", name: ofOther, platformName, existingId });
    return existingId;
  };
  const adopt = (eventName: string, value: number) => {
    const made = owner("Other");
    const advertiser = ofOther ?? made;
    const existingId = world.platform.makeForeign("event", {
      event_name: eventName,
      value,
      advertiser_id: Number(made),
    });
    put(world, { type: "ConversionEvent", name: other ?? "", platformName: eventName, value, advertiser, existingId });
  };
  if (name === undefined || other === undefined) return;
  const single = ofType(world, "ConversionEvent").find((each) => open.has(labelOf(each.type, each.name)));
  if (single !== undefined) {
    drop(world, single);
    if (numbers.one < 0.5) put(world, { ...single, name });
    return adopt(single.platformName ?? "", single.value ?? 0);
  }
  for (const set of ofType(world, "ConversionEventSet")) {
    const found = Object.entries(set.events ?? {}).find(([key]) =>
      open.has(memberLabel(labelOf(set.type, set.name), key)),
    );
    if (found === undefined) continue;
    const [key, entry] = found;
    const { [key]: _, ...events } = set.events ?? {};
    const now = numbers.one < 0.5 ? { ...events, renamed: entry } : events;
    const { eventName, value } = entry;
    const moved = {
      type: "ConversionEvent" as const,
      name,
      platformName: eventName,
      value,
      advertiser: set.advertiser,
    };
    put(world, { ...set, events: now }, Object.hasOwn(now, "renamed") ? undefined : moved);
    return adopt(eventName, value);
  }
};

/** Declares an unresolved resource with existingId and the arguments of a different, live object. */
const adoptsAnother: Edit = (world, numbers) => {
  const open = world.openLabels();
  const declared = [...world.program.values()].flatMap((resource) => {
    const label = labelOf(resource.type, resource.name);
    const keys = Object.keys(resource.events ?? {}).filter((key) => open.has(memberLabel(label, key)));
    return [...(open.has(label) ? [""] : []), ...keys].map((key) => ({ resource, key }));
  });
  const { resource, key = "" } = numbers.pick(declared) ?? {};
  if (resource === undefined || resource.type === "Advertiser") return;
  const advertiser = world.platform.makeForeign("advertiser", { advertiser_name: "Another" });
  const [eventName, value] = ["Another", 77];
  const existingId = world.platform.makeForeign("event", {
    event_name: eventName,
    value,
    advertiser_id: Number(advertiser),
  });
  if (key === "") put(world, { ...resource, platformName: eventName, value, advertiser, existingId });
  else put(world, { ...resource, events: { ...resource.events, [key]: { eventName, value, existingId } } });
};

/** Moves an unresolved event of a set to another key, or out of the set, with the id that was found in the account. */
const adoptsElsewhere: Edit = (world, numbers) => {
  const open = world.openLabels();
  const [name] = fresh(world, "ConversionEvent", MORE_NAMES);
  for (const set of ofType(world, "ConversionEventSet")) {
    const label = labelOf(set.type, set.name);
    const found = Object.entries(set.events ?? {}).find(([key]) => open.has(memberLabel(label, key)));
    if (found === undefined || name === undefined) continue;
    const [key, entry] = found;
    const { [key]: _, ...events } = set.events ?? {};
    const made = world.truthAbout(memberOf(urnOfResource(set), key));
    // Without a known read, no message can say that an adopted object does not exist.
    const existingId = world.operations.read && numbers.one < 0.6 ? "9999" : made;
    if (existingId === undefined) return;
    const { eventName, value } = entry;
    const { advertiser } = set;
    const single = { type: "ConversionEvent" as const, name, platformName: eventName, value, advertiser, existingId };
    if (numbers.one < 0.3) return put(world, { ...set, events: { ...events, renamed: { ...entry, existingId } } });
    return put(world, { ...set, events }, single);
  }
};

const renamesAdvertiser: Edit = (world, numbers) => {
  const used = new Set([...world.program.values()].map(({ advertiser }) => advertiser));
  const owners = ofType(world, "Advertiser").filter(
    ({ name, existingId }) => used.has(name) && existingId === undefined,
  );
  const owner = numbers.pick(owners);
  if (owner !== undefined) put(world, { ...owner, platformName: `${owner.platformName} again` });
};

/** The event that was added last is deleted with its resource from now on. */
const deletesTheNew: Edit = (world) => {
  const resource = ofType(world, "ConversionEvent").at(-1);
  if (resource !== undefined) put(world, { ...resource, deletes: world.operations.delete === true });
};

const dropsTheNew: Edit = (world) => {
  const resource = ofType(world, "ConversionEvent").findLast(({ deletes }) => deletes === true);
  if (resource !== undefined) drop(world, resource);
};

const adoptsToDelete: Edit = (world, numbers) => {
  const [name] = fresh(world, "ConversionEvent", MORE_NAMES);
  const [owner] = world.platform.objectsOf("advertiser").keys();
  if (name === undefined || owner === undefined) return;
  const { eventName, value } = entryOf(numbers);
  const existingId = world.platform.makeForeign("event", { event_name: eventName, value, advertiser_id: owner });
  const advertiser = String(owner);
  const deletes = world.operations.delete === true;
  put(world, { type: "ConversionEvent", name, platformName: eventName, value, advertiser, existingId, deletes });
};

/** What was adopted to be deleted with its resource is adopted under another name. */
const adoptsUnderAnotherName: Edit = (world) => {
  const resource = ofType(world, "ConversionEvent").findLast(
    ({ existingId, deletes }) => existingId !== undefined && deletes === true,
  );
  const [name] = fresh(world, "ConversionEvent", MORE_NAMES);
  if (resource === undefined || name === undefined) return;
  drop(world, resource);
  put(world, { ...resource, name, aliases: undefined });
};

/** By name, for the scenes. */
const NAMED: Readonly<Record<string, Edit>> = {
  "new event": newEvent,
  "new set": newSet,
  "changes what is new": changesTheNew,
  "adds members": addsMembers,
  "drops members": dropsMembers,
  "hands on": handsOn,
  "adopts an equal id": adoptsEqualId,
  "adopts a namesake": adoptsNamesake,
  "adopts another": adoptsAnother,
  "adopts elsewhere": adoptsElsewhere,
  "renames an advertiser": renamesAdvertiser,
  "deletes what is new": deletesTheNew,
  "drops what is new": dropsTheNew,
  "adopts to delete": adoptsToDelete,
  "adopts under another name": adoptsUnderAnotherName,
};

/** An edit as data: its name and numbers, or only numbers, the first of which choose it. */
export type EditText = readonly (number | string)[];

export function runEdit(world: World, given: EditText): void {
  const numbers = new Numbers(given.filter((each) => typeof each === "number"));
  const named = given.find((each) => typeof each === "string");
  const edit = named === undefined ? numbers.pick(EDITS) : NAMED[named];
  edit?.(world, numbers);
  world.log.push(`  program: ${JSON.stringify([...world.program.values(), ...world.catalogs.values()])}`);
}
