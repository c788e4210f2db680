/**
 * What Pulumi has saved of a stack, as `pulumi stack export` prints it: the resources, the operation that is under way,
 * and those of interrupted runs (measured with engine 3.259.0). A create's stays in each later state until somebody
 * clears it; an update's or a delete's goes with the next run's first save.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ExportedStack, readExport } from "../../provider/src/record/export.js";
import { encrypted } from "./stored.js";
import { whenTestEnds } from "./when-test-ends.js";

type Values = Record<string, unknown>;

export interface SavedResource {
  id: string;
  inputs: Values;
  outputs: Values;
  /** Pulumi's option, as a parent or a transformation sets it. */
  retainOnDelete?: boolean;
  /** Why the resource is incomplete. The engine then calls `update`, even if nothing differs. */
  initError?: string;
  /** The URNs of the resources that its arguments come from. */
  dependencies?: readonly string[];
  /** It's only read, as with `.get`. */
  isRead?: boolean;
}

interface Saved extends Partial<SavedResource> {
  urn: string;
  aliases?: readonly string[];
  provider?: string | undefined;
  /** The outputs that only Pulumi can read (`additionalSecretOutputs`). */
  hides?: readonly string[];
  /** It was replaced, and awaits its removal. */
  isOld?: boolean;
  /** An old one's URN: `urn` is only its place then. */
  resourceUrn?: string;
}

interface Operation {
  type: "creating" | "updating" | "deleting";
  resource: Saved;
}

const FIRST_SAVE_MS = Date.parse("2026-01-01T00:00:00Z");

export class SavedStack {
  /** Whether results are lost: the engine is killed before it saves them, or can't write. */
  isStuck = false;
  /** Why Pulumi can't be asked. */
  trouble: string | undefined;
  /** How often the record was read. */
  reads = 0;
  resources = new Map<string, Saved & SavedResource>();
  /** The latest last. */
  operations: Operation[] = [];
  #former: readonly Operation[] = [];
  #hasCheckpoints = true;
  #saves = 0;

  /** @param name `<project>/<stack>` */
  constructor(readonly name: string) {}

  /** A run begins: what is under way now was interrupted. */
  beginRun(hasCheckpoints: boolean): void {
    this.#former = this.operations.filter(({ type }) => type !== "creating");
    this.#hasCheckpoints = hasCheckpoints;
  }

  /** An operation begins. @returns ends it. */
  begin(type: Operation["type"], resource: Saved): () => void {
    if (!this.#hasCheckpoints) return () => undefined;
    const operation = { type, resource: structuredClone(resource) };
    this.save();
    this.operations.push(operation);
    return () => {
      if (this.isStuck) return;
      this.operations = this.operations.filter((each) => each !== operation);
      this.#saves++;
    };
  }

  /** @param resource undefined removes it. @param former URNs that it had before. */
  set(
    urn: string,
    resource: Omit<Saved & SavedResource, "urn"> | undefined,
    former: readonly string[] = [],
  ): void {
    if (this.isStuck) return;
    for (const each of former) this.resources.delete(each);
    if (resource) this.resources.set(urn, { ...resource, urn });
    else this.resources.delete(urn);
    this.save();
  }

  /** Saves, which drops the interrupted operations that are no creates. */
  save(): void {
    this.operations = this.operations.filter((each) => !this.#former.includes(each));
    this.#saves++;
  }

  /** A run begins, and saves for another package before it comes to this one. */
  saveFirst(): void {
    this.beginRun(true);
    this.save();
  }

  /** `pulumi refresh --clear-pending-creates` */
  clearCreates(): void {
    this.operations = [];
    this.#saves++;
  }

  async read(): Promise<ExportedStack> {
    this.reads++;
    // Pulumi takes a while to start: by then, this run's first operations have begun.
    await sleep(3);
    if (this.trouble !== undefined) throw new Error(this.trouble);
    return readExport(this.exported());
  }

  /** As `pulumi stack export` prints it. */
  exported(): string {
    const time = new Date(FIRST_SAVE_MS + this.#saves * 1000).toISOString();
    if (this.#saves === 0) return JSON.stringify({ version: 3, deployment: null });
    const [project, stack] = this.name.split("/");
    const type = "pulumi:pulumi:Stack";
    const root = { urn: `urn:pulumi:${stack}::${project}::${type}::${project}`, type };
    const deployment = {
      manifest: { time },
      resources: [root, ...[...this.resources.values()].map(exportOf)],
      pending_operations: this.operations
        .map((each) => ({ type: each.type, resource: exportOf(each.resource) }))
        .toReversed(),
    };
    return JSON.stringify({ version: 3, deployment });
  }

  /** A backend of its own that has the same state. */
  copy(): SavedStack {
    const copy = new SavedStack(this.name);
    copy.resources = structuredClone(this.resources);
    copy.operations = structuredClone(this.operations);
    copy.#saves = this.#saves;
    return copy;
  }
}

function exportOf({ isOld, isRead, hides = [], initError: _, ...saved }: Saved) {
  const { inputs, outputs, ...rest } = saved;
  const { resourceUrn: urn = rest.urn, ...others } = rest;
  const [, , types = ""] = urn.split("::", 3);
  const secret = (inputs?.__secret ?? []) as string[];
  const hidden = (values: Values | undefined, names: readonly string[] = []) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        [...secret, ...names].includes(name) ? encrypted : value,
      ]),
    );
  return {
    retainOnDelete: inputs?.deletionPolicy !== "delete",
    ...others,
    urn,
    type: types.split("$").at(-1),
    ...(isOld && { delete: true }),
    ...(isRead === true && { external: true }),
    inputs: hidden(inputs),
    outputs: hidden(outputs, hides),
  };
}

const ofTest = new Map<string, SavedStack>();

/** The stack of this name in the backend that a test has by default. */
export function stackNamed(name: string): SavedStack {
  const stack = ofTest.get(name) ?? new SavedStack(name);
  if (ofTest.size === 0) whenTestEnds(() => ofTest.clear());
  ofTest.set(name, stack);
  return stack;
}
