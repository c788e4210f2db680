/**
 * The fate of an object that leaves its resource: deleted, or live, and why. Plans and the end of a run ask here, and the
 * delete itself once more.
 */
import { own, type Values } from "../base/index.js";
import { asksToDelete, conversionEvent, type Kind, ownerIn } from "../kinds/index.js";
import { DISPLACED } from "../plan/index.js";
import {
  accountIn,
  type EngineRun,
  type ExportedObject,
  isInRun,
  isOfProgram,
  isPartial,
  isSecret,
  keepingOption,
  providerIn,
  type SavedState,
  SECRET_VALUE,
} from "../record/index.js";
import { knownOperations } from "../settings/index.js";
import {
  type LeftLive,
  MAY_BE_ADOPTED,
  nameInUrn,
  type ObjectRef,
  objectKey,
  otherFormUrn,
  resourceKeyIn,
  staysLive,
} from "../state/index.js";
import { ASKED, alsoBelongsTo, clearFirst, formerlyLeftNotice } from "./messages.js";
import type { Runtime } from "./runtime.js";

export interface LeavingObject {
  id: string;
  /** The resource or member that has the object in the state, if that is known. */
  ref?: ObjectRef | undefined;
}

/** The fates of a kind's objects in this deployment. */
export class ObjectFates {
  constructor(
    readonly kind: Kind,
    readonly runtime: Runtime,
  ) {}

  /** The fate of an object that leaves its resource, for plans and messages. */
  fateOf(target: LeavingObject, properties?: Values) {
    const { id } = target;
    if (this.#unaskedReason(target.ref, properties) === NOT_ASKED)
      return { id, isDeleted: false };
    const why = this.whyKept(target, properties);
    return { id, isDeleted: why === undefined, why };
  }

  /**
   * Why an object that leaves its resource stays live; undefined if nothing keeps it. Plans ask, and the delete itself,
   * with what Pulumi has `saved` by then: also the options with which this run saves the resource.
   */
  whyKept(
    { id, ref }: LeavingObject,
    properties: Values = {},
    saved = this.runtime.record.arrived,
  ) {
    const { kind, runtime } = this;
    const { deployment, record, command, provider, isSameAccount } = runtime;
    const isLeftOut = isPartial(command);
    const isProgram = isOfProgram(command);
    if (isLeftOut && deployment.isClaimedOrAdopted(kind, id)) return LEFT_OUT;
    if (!knownOperations(kind, runtime.settings).delete)
      return "advertising:operations has no delete";
    if (record.isUnreadable) return UNREADABLE;
    const states = saved ? record.statesOf(kind, id, ref, saved) : [];
    // An id may be another account's.
    const own = saved?.allWith(kind.name, id).filter(({ resource }) => {
      return providerIn(resource) === provider && accountIn(resource);
    });
    const isSingle = isProgram && ref?.resource === kind.name;
    const sameName = isSingle ? saved?.resourceAt(ref.resourceUrn) : undefined;
    if (sameName && providerIn(sameName) !== provider) return MOVES;
    const isEvent = kind === conversionEvent;
    const hiding = isEvent && saved?.hiding.find((each) => isSameAccount(accountIn(each)));
    if (own?.length === 0 && !hiding) return "the state doesn't name its account";
    const unasked = this.#unaskedReason(ref, properties);
    if (unasked !== undefined) return unasked;
    if (hiding)
      return `nothing shows what ${nameInUrn(hiding.urn)} has: its eventIds are secret`;
    // Pulumi passes it to the delete in plain, but no preview can read it.
    if (own?.some(({ resource: { outputs } }) => isSecret(outputs?.deletionPolicy)))
      return SECRET_POLICY;
    const elsewhere = this.#holderElsewhere({ id, ref });
    if (elsewhere) return alsoBelongsTo([elsewhere.ref.key]);
    const { object } = deployment.checked(ref?.key ?? "").planned ?? {};
    if (object?.action.do === "adopt" && object.id === id) return DISPLACED;
    if (deployment.onlyRead.has(kind, id)) return ONLY_READ;
    const answered = saved?.answeredBy.get(objectKey(kind.name, id)) ?? [];
    // Another resource's answer would outlive the object, and the next one of this name would take it over. Without its
    // own, a journal elsewhere would do that, or its create would be asked about.
    const leaves = isProgram && ref && !deployment.isInProgram(ref.key);
    if (answered.some(({ urn }) => leaves || urn !== ref?.resourceUrn)) return clearFirst();
    // Pulumi has the former object deleted by the front end that the program no longer uses for it.
    if (isSingle && saved?.resourceAt(otherFormUrn(ref))) return MOVES;
    const option = states.map(keepingOption).find(Boolean);
    if (option) return `the resource has the option ${option}`;
    if (isLeftOut) return LEFT_OUT;
    // The state at the start has the owner on the platform, if only the state gets another one.
    const before = isProgram ? record.arrived : saved;
    const holders = before?.allWith(kind.name, id).map(({ resource }) => resource.urn);
    const isReplaced = ref && deployment.isInProgram(ref.key);
    const owned = before?.ownedBy(kind.name, id).find((each) => {
      if (command && !isProgram) return this.#mayStay(each, command, before);
      // Only another provider's own process knows what it keeps.
      if (providerIn(each.resource) !== provider) return true;
      if (each.id === undefined) return deployment.isInProgram(each.ref.key);
      // It names the old object by its id, and its check may come after the plan of this one.
      const { dependencies = [] } = each.resource;
      if (isReplaced && !holders?.some((urn) => dependencies.includes(urn))) return true;
      return deployment.isClaimedOrAdopted(each.kind, each.id);
    });
    if (owned) return belongsTo(owned);
    const declared = deployment.owners.get(objectKey(kind.name, id));
    if (declared !== undefined) return `${declared} belongs to it`;
    // A set deletes before the run ends.
    const isOfSet = ref && ref.resource !== kind.name && deployment.isInProgram(ref.key);
    if (isOfSet && saved?.hasOtherProvider(provider, isSameAccount)) return OTHER_MAY_ADOPT;
    if (deployment.mayBeClaimed(kind, id)) return MAY_BE_ADOPTED;
  }

  /** Whether a destroy may leave an object of the state: only Pulumi knows what it keeps for excludes and protected resources. */
  #mayStay({ kind, id = "", resource }: ExportedObject, run: EngineRun, saved: SavedState) {
    if (this.runtime.deployment.deleted.has(kind, id)) return false;
    if (run.targets.length > 0) return resource.protect || !isInRun(resource.urn, run);
    return run.excludes.length > 0 || saved.resources.some((each) => each.protect);
  }

  /** Whether another resource has an object that leaves this one, or may have it. */
  isHeld(target: LeavingObject) {
    const isClaimed = this.runtime.deployment.isClaimedOrAdopted(this.kind, target.id);
    return isClaimed || this.#holderElsewhere(target) !== undefined;
  }

  /**
   * The other resources of the account that have an object. One of the other face may have the same key, and one that
   * moves to another provider the same URN.
   */
  othersIn(saved: SavedState, { id, ref }: LeavingObject) {
    const { provider, isSameAccount } = this.runtime;
    return saved.holdersOf(this.kind.name, id).filter(({ ref: { urn }, resource }) => {
      const isOther = urn !== ref?.urn || providerIn(resource) !== provider;
      return isOther && isSameAccount(accountIn(resource));
    });
  }

  /** The objects that a resource has, or had when the run began, say themselves what becomes of them. */
  tellFormerlyLeft(ref: ObjectRef, left: readonly LeftLive[]) {
    const { kind } = this;
    const { deployment, record, messages } = this.runtime;
    const others = left.filter(({ id }) => {
      const holders = record.arrived?.holdersOf(kind.name, id) ?? [];
      return holders.length === 0 && !deployment.isClaimedOrAdopted(kind, id);
    });
    if (others.length > 0) messages.tellEach(formerlyLeftNotice(ref, others));
  }

  /**
   * The resource of another provider that had the object when the run began: it may leave in this run, which only its own
   * process knows, and no preview.
   */
  #holderElsewhere(target: LeavingObject) {
    const { record, provider } = this.runtime;
    const others = record.arrived ? this.othersIn(record.arrived, target) : [];
    return others.find(({ ref: { urn }, resource }) => {
      return urn !== target.ref?.urn && providerIn(resource) !== provider;
    });
  }

  /** Both the state and, where it still declares the resource, the program must ask for the delete. */
  #unaskedReason(ref: ObjectRef | undefined, properties: Values | undefined) {
    if (isSecret(own(properties, "deletionPolicy"))) return SECRET_POLICY;
    const inState = asksToDelete(properties);
    const inProgram = ref && this.runtime.deployment.asksToDelete(resourceKeyIn(ref.key));
    if (inState && inProgram !== false) return undefined;
    if (inState) return `the program no longer asks for it (${ASKED})`;
    return inProgram ? `the state doesn't ask for it yet (${ASKED})` : NOT_ASKED;
  }
}

function belongsTo({ kind, ref: { label }, values }: ExportedObject) {
  if (ownerIn(kind, values) !== SECRET_VALUE) return `${label} belongs to it`;
  return `${label} may belong to it: its advertiserId is secret`;
}

/** A reason why an object stays live, and what follows. */
export function withFate(kind: Kind, id: string, why: string) {
  return `${why}. ${staysLive(kind, `Object ${id}`)}`;
}

export const UNREADABLE =
  "Pulumi's record doesn't show whether it also belongs to another resource";
const SECRET_POLICY = "its deletionPolicy is secret in the state";
const NOT_ASKED = 'its deletionPolicy isn\'t "delete"';
/** The comment knows it by its beginning. */
export const OTHER_MAY_ADOPT = `${MAY_BE_ADOPTED}, of another provider`;
export const ONLY_READ = "the program still reads it (`.get`)";
export const MOVES = "its resource is moving to another provider";
export const LEFT_OUT = "this run leaves out resources that may adopt it";
