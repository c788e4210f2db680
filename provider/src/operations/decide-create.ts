/** The decision about a create, from what this run knows, for the create itself and for previews. Sends nothing. */
import { hasValue, isSameValue } from "../base/index.js";
import { fingerprintOfBody, type Kind, ownerIn } from "../kinds/index.js";
import {
  asUnresolved,
  contradictingArguments,
  holdsUnknown,
  type OpenCreate,
  type OpenCreates,
  planCreate,
} from "../plan/index.js";
import { accountIn, holdsSecret } from "../record/index.js";
import { knownOperations } from "../settings/index.js";
import {
  type CreateRecord,
  markIn,
  parseKey,
  resourceKeyIn,
  SENT_AS,
  senderIn,
} from "../state/index.js";
import { listersOf } from "./deployment.js";
import {
  assertSameAccount,
  type NamedObject,
  type ObjectTask,
  replacedBy,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";

/** An object that may have to be created. */
type NewObject = NamedObject & { kind: Kind };

/** The decision about a create, from what this run knows. */
export function planOfCreate(runtime: Runtime, object: NewObject, open: OpenCreates) {
  const { kind, unresolved } = object;
  const { deployment, record } = runtime;
  const all = ownCreates(runtime, object, open);
  const own = all.filter((each) => {
    return runtime.isSameAccount(each.account) && !record.hasSeen(each);
  });
  // Under `up --replace`, only the record has the state.
  const listed = own.find(({ isInState }) => isInState);
  const plan = planCreate({
    saved: savedMeanwhile(runtime, object),
    own,
    unresolved: unresolved ?? (listed && asUnresolved(listed)),
    replaces: replacedBy(object),
    can: knownOperations(kind, runtime.settings),
    namesake: namesakeOf(runtime, object, { own: all, open }),
    firstRefused: deployment.firstRefused,
  });
  if (plan.do === "refused") deployment.named.add(plan.namesake.mark);
  return plan;
}

/**
 * The open creates of an object's resource, also under its former keys. One that the state lists is this resource's only
 * if the engine gave this one that state.
 */
export function ownCreates(
  { deployment }: Runtime,
  { ref, keys }: NamedObject,
  open: OpenCreates,
) {
  const { stateName = "" } = deployment.checked(resourceKeyIn(ref.key));
  return open.of(keys).filter((create) => {
    return !create.isInState || listersOf(create).includes(stateName);
  });
}

/**
 * The object that Pulumi's record has of a resource without the engine knowing it: after `pulumi cancel`, another run may
 * have gone on, and have saved it since this one began.
 */
function savedMeanwhile(
  { deployment, record, isSameAccount }: Runtime,
  { kind, ref }: NewObject,
) {
  const { id, resource, values } = record.arrived?.byKey.get(ref.key) ?? {};
  if (!resource || id === undefined) return undefined;
  const { urn, inputs = {}, outputs = {}, pendingReplacement } = resource;
  if (urn !== ref.resourceUrn || pendingReplacement) return undefined;
  const holder = deployment.holderOf(kind, id) ?? ref.key;
  if (holder !== ref.key || deployment.deleted.has(kind, id)) return undefined;
  if (!isSameAccount(accountIn(resource))) return undefined;
  const isKnown = !holdsSecret(outputs) && outputs[SENT_AS] === undefined;
  const body = isKnown && values ? fingerprintOfBody(kind, values) : "";
  return {
    id,
    at: "",
    mark: markIn(inputs, senderIn(inputs).run, ref.key, ref.member),
    body,
  };
}

/**
 * The guard before every new POST: an open create of the same kind, platform name and advertiser may be this object
 * under another name. An open create whose own resource this run has checked does not count: that resource resolves it.
 */
function namesakeOf(
  runtime: Runtime,
  { kind, values }: NewObject,
  { own, open }: { own: readonly OpenCreate[]; open: OpenCreates },
) {
  const { deployment, record } = runtime;
  const name = values[kind.nameProperty];
  const owner = ownerIn(kind, values);
  // A preview can't compare a name that isn't known yet.
  if (typeof name !== "string" || holdsUnknown(name)) return undefined;
  const isOver = (create: OpenCreate) =>
    deployment.isDeclared(create.key) &&
    (!create.isInState || deployment.hasLister(create));
  return open.findNamed(kind.name, name, isOver, (create) => {
    const { id, account, isInState, args = {} } = create;
    // An owner that is secret, or not known yet, may be any.
    const then = ownerIn(kind, args);
    const isSame = !hasValue(then) || holdsUnknown(owner) || isSameValue(then, owner);
    if (!isSame || !runtime.isSameAccount(account) || own.includes(create)) return false;
    if (isInState) return true;
    if (id !== undefined && deployment.isClaimedOrAdopted(kind, id)) return false;
    return !record.hasSeen(create);
  });
}

/**
 * Whether the program's arguments have changed since the create was sent. If the fingerprint is unknown, only a known
 * name or argument that differs counts; "perhaps" if nothing secret is the reason, and the next run can set them all.
 */
export function differsFromSent(
  { settings }: Runtime,
  { kind, values, secret }: Pick<ObjectTask, "kind" | "values" | "secret">,
  made: CreateRecord,
) {
  if (made.body !== "")
    return made.body === fingerprintOfBody(kind, values) ? undefined : "certainly";
  const others = contradictingArguments(kind, values, made);
  if (Object.keys(others).length > 0) return "certainly";
  const canSetAll = secret.size === 0 && knownOperations(kind, settings).update;
  if (canSetAll) return "perhaps";
}

/**
 * @throws AccountMismatchError if the state has an object of another account, or an open create was sent to one: it must be
 * resolved there.
 */
export function assertAccountOfOpen(
  runtime: Runtime,
  open: OpenCreates,
  keys: readonly string[],
) {
  assertAccountOfState(runtime);
  for (const { account, key, isDoubtful, isInState } of open.of(keys))
    if (!isDoubtful && !isInState)
      assertSameAccount(
        runtime,
        account,
        `${parseKey(key).label} (in no state yet)`,
        "An interrupted run sent",
      );
}

/** @throws AccountMismatchError if the state has an object of another account. */
export function assertAccountOfState(runtime: Runtime) {
  const { foreign } = runtime.record;
  if (foreign) assertSameAccount(runtime, accountIn(foreign.resource), foreign.ref.label);
}
