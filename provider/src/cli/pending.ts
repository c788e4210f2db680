/**
 * Creates of unknown outcome, as the engine's own record, the state and the journals of this machine know them, and how they
 * are settled. Pure: an exported stack in, an exported stack out.
 */
import { isDeepStrictEqual } from "node:util";
import { requestFields } from "../api/request.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { Live } from "../journal/inventory.js";
import type { Remembered } from "../journal/notes.js";
import type { Kind } from "../kinds/kind.js";
import { kindOfType } from "../kinds/registry.js";
import { readDeclared } from "../state/declared.js";
import { aboutWhom, journalKeyOf } from "../state/identity.js";
import { ACCOUNT, IDENTITY, PROVIDER, SECRET_ARGUMENTS, UNRESOLVED } from "../state/properties.js";
import { type Sought, soughtIn, type UnresolvedMark, unresolvedId, unresolvedMarkOf } from "../state/unresolved.js";
import { exactId } from "../validation/fields.js";
import { inOrder } from "./resource-order.js";
import {
  currentByUrn,
  type Deployment,
  type ExportedStack,
  nameIn,
  type PendingOperation,
  type Resource,
  SECRET_SIGNATURE,
} from "./stack-export.js";

/** One of our creates that nobody knows the outcome of. */
export interface OpenCreate {
  readonly urn: string;
  /** The name in the program. */
  readonly name: string;
  readonly sought: Sought;
  /** The object that the state holds under this URN, with other arguments than the create's, or with secret ones. */
  readonly heldAs: string | undefined;
  /** Whether the state or the engine's record holds what is needed to take it into the state. */
  readonly isInState: boolean;
}

/** One that the next `pulumi up` takes over, since a journal of this machine knows its id. */
export interface KnownCreate {
  readonly urn: string;
  readonly id: string;
}

export interface Pending {
  readonly open: readonly OpenCreate[];
  readonly known: readonly KnownCreate[];
}

/** What the user found out about one of them: the platform's id, or that there is none. */
export interface Verdict {
  readonly urn: string;
  readonly createdAs: string | undefined;
}

/**
 * @param notes what the journals of this machine remember of the stack.
 * @returns each create once, however many records know it.
 */
export function pendingIn({ deployment }: ExportedStack, notes: readonly Remembered[]): Pending {
  const current = currentByUrn(deployment.resources ?? []);
  const noted = new Map(notes.map((note) => [aboutWhom(note.key).urn, note]));
  const open = new Map<string, OpenCreate>();
  const known: KnownCreate[] = [];
  const add = (resource: Resource, mark: UnresolvedMark | undefined) => {
    const kind = kindOfType(resource.type);
    if (kind === undefined) return;
    const { urn } = resource;
    const note = noted.get(urn);
    if (mark === undefined && note?.id !== undefined && isOfThisBody(note, kind, resource)) {
      known.push({ urn, id: note.id });
      return;
    }
    open.set(urn, {
      urn,
      name: nameIn(urn),
      sought: soughtIn(kind, readable(resource.inputs), mark ?? { since: note?.at ?? "", what: "" }),
      heldAs: mark === undefined ? current.get(urn)?.id : undefined,
      isInState: true,
    });
  };
  for (const resource of pendingCreates(deployment).open) add(resource, undefined);
  for (const resource of deployment.resources ?? []) {
    const mark = unresolvedMarkOf(resource.outputs);
    if (mark !== undefined) add(resource, mark);
  }
  for (const [urn, note] of noted) {
    if (open.has(urn) || known.some((each) => each.urn === urn)) continue;
    const held = current.get(urn);
    const kind = held === undefined ? undefined : kindOfType(held.type);
    // The next run's diff finds this out too.
    if (held !== undefined && kind !== undefined && isHistory(note, kind, held)) continue;
    if (note.id !== undefined) known.push({ urn, id: note.id });
    else open.set(urn, fromNote(urn, note, held?.id));
  }
  return { open: [...open.values()], known };
}

function fromNote(
  urn: string,
  { key, name, at, facts = {}, replaces }: Remembered,
  heldAs: string | undefined,
): OpenCreate {
  const about = aboutWhom(key);
  return {
    urn,
    name: about.name,
    sought: { kind: about.kind, name, facts, sentAt: at, replaces },
    heldAs,
    isInState: false,
  };
}

function isHistory(note: Remembered, kind: Kind, held: Resource): boolean {
  return note.id === held.id || (note.id === undefined && isOfThisBody(note, kind, held));
}

function isOfThisBody({ fingerprint }: Remembered, kind: Kind, { inputs }: Resource): boolean {
  return fingerprint === fingerprintOf(requestFields(kind, inputs ?? {}));
}

/** Without secret values. */
function readable(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs ?? {}).filter(([, value]) => typeof value !== "object"));
}

/** What a settled create is known by afterwards: its key in the journal, and what an inventory holds. */
export function liveIn(
  { deployment }: ExportedStack,
  urn: string,
): { readonly key: string; readonly live: Live } | undefined {
  const resource = currentByUrn(deployment.resources ?? []).get(urn);
  const kind = resource === undefined ? undefined : kindOfType(resource.type);
  const declared = readDeclared(resource?.inputs?.[IDENTITY]);
  if (resource?.id === undefined || kind === undefined || declared === undefined) return undefined;
  const name = resource.inputs?.[kind.nameProperty];
  return {
    key: journalKeyOf(kind.name, declared.identity),
    live: {
      id: resource.id,
      fingerprint: fingerprintOf(requestFields(kind, resource.inputs ?? {})),
      ...(typeof name === "string" ? { name } : {}),
    },
  };
}

/** How many of the engine's pending creates are history: the engine keeps them until it is told to clear them. */
export function countHistory({ deployment }: ExportedStack): number {
  return pendingCreates(deployment).history.length;
}

/**
 * History is what a later run has settled: the state holds the resource with the create's arguments, or as unresolved.
 * (With other arguments the create may have been a replacement of it; with the same one only where `--replace` asked for it.)
 */
function pendingCreates(deployment: Deployment): { readonly open: Resource[]; readonly history: Resource[] } {
  const current = currentByUrn(deployment.resources ?? []);
  const isHistory = ({ urn, inputs }: Resource) => {
    const held = current.get(urn);
    if (held === undefined) return false;
    return unresolvedMarkOf(held.outputs) !== undefined || isDeepStrictEqual(compared(held.inputs), compared(inputs));
  };
  const open: Resource[] = [];
  const history: Resource[] = [];
  for (const operation of deployment.pending_operations ?? []) {
    if (isOurCreate(operation)) (isHistory(operation.resource) ? history : open).push(operation.resource);
  }
  return { open, history };
}

/** The arguments that make the object. Two secret ones never compare as equal: each encryption differs. */
function compared(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {})
      .filter(([name]) => !name.startsWith("__") && name !== "existingId")
      .map(([name, value]) => [name, JSON.stringify(value).includes(SECRET_SIGNATURE) ? Symbol(name) : value]),
  );
}

/**
 * The stack with these creates settled: in the state with their ids, or dropped as not created. Pulumi drops every
 * pending operation when a stack is imported, so those that nobody decided on are saved as unresolved: each later run
 * stops at them.
 * @param newMark makes a text that no other create has.
 */
export function settle(stack: ExportedStack, verdicts: readonly Verdict[], newMark: () => string): ExportedStack {
  const { deployment } = stack;
  const verdictOn = (urn: string) => verdicts.find((verdict) => verdict.urn === urn);
  const account = accountIn(deployment);
  const dropped = new Set<string>();
  const saved = (deployment.resources ?? []).flatMap((resource) => {
    const verdict = unresolvedMarkOf(resource.outputs) === undefined ? undefined : verdictOn(resource.urn);
    if (verdict === undefined) return [resource];
    if (resource.delete === true) return []; // `--replace` of an unresolved one leaves it there twice
    if (verdict.createdAs !== undefined) return [adopted(resource, verdict.createdAs, account)];
    dropped.add(resource.urn);
    return [];
  });
  const since = deployment.manifest?.time ?? "";
  const pending = pendingCreates(deployment).open.flatMap((resource) => {
    const verdict = verdictOn(resource.urn);
    if (verdict === undefined) return [asUnresolved(resource, since, newMark(), account)];
    return verdict.createdAs === undefined ? [] : [adopted(resource, verdict.createdAs, account)];
  });
  const others = (deployment.pending_operations ?? []).filter((operation) => !isOurCreate(operation));
  const resources = inOrder([...replaced(restored(saved, dropped), pending), ...pending]);
  return { ...stack, deployment: { ...deployment, resources, pending_operations: others } };
}

/** Where a replacement was dropped, what it should have replaced is the current one again: the latest, which is the first. */
function restored(resources: readonly Resource[], dropped: ReadonlySet<string>): Resource[] {
  const left = new Set(dropped);
  return resources.map((resource) => {
    if (!left.delete(resource.urn)) return resource;
    const { delete: _, ...current } = resource;
    return current;
  });
}

/** What the new ones take the place of is marked, as by the engine: the next run takes it out of the state. */
function replaced(resources: readonly Resource[], by: readonly Resource[]): Resource[] {
  const urns = new Set(by.map(({ urn }) => urn));
  return resources.map((resource) => (urns.has(resource.urn) ? { ...resource, delete: true } : resource));
}

function isOurCreate({ resource, type }: PendingOperation): boolean {
  return type === "creating" && kindOfType(resource.type) !== undefined;
}

/** The resource as the engine would have saved it after the create. */
function adopted({ initErrors: _, ...resource }: Resource, id: string, account: Record<string, unknown>): Resource {
  const kind = kindOfType(resource.type);
  const outputs = {
    ...visible(resource),
    ...account,
    ...(kind === undefined ? {} : { [kind.idProperty]: exactId(id) }),
  };
  return { ...resource, id, outputs };
}

/** The resource as the provider would have had it saved after an unknown outcome. */
function asUnresolved(resource: Resource, since: string, unique: string, account: Record<string, unknown>): Resource {
  const what = `${resource.urn.split("::").at(-1)} was in flight when a run was killed.`;
  const secret = resource.inputs?.[SECRET_ARGUMENTS];
  const mark: UnresolvedMark = {
    since,
    what,
    urn: resource.urn,
    ...(Array.isArray(secret) ? { secret: secret as string[] } : {}),
  };
  const outputs = { ...visible(resource), ...account, [UNRESOLVED]: mark };
  return { ...resource, id: unresolvedId(unique), outputs, initErrors: [what] };
}

/** Where the stack's resources were created, as the first one of them says. */
function accountIn({ resources }: Deployment): Record<string, unknown> {
  const recorded = (resources ?? []).map(({ outputs }) => outputs?.[ACCOUNT]).find((account) => account !== undefined);
  return recorded === undefined ? {} : { [ACCOUNT]: recorded };
}

/** Inputs that are outputs too. */
function visible({ inputs }: Resource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {}).filter(([name]) => !name.startsWith("__") || name === PROVIDER),
  );
}
