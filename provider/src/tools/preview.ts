/**
 * What `pulumi preview --json` prints, as changes of advertisers and events: those of sets, key by key. (Measured with engine
 * 3.259.0: a replacement is one step; a secret is the text "[secret]", a value that is not known yet a fixed text.)
 */

import { z } from "zod";
import { asRecord, own, type Values } from "../base/index.js";
import { changesIn } from "../decision/index.js";
import { type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { NAMESPACE } from "../settings/index.js";
import { eventIn, nameInUrn, readDeclaredSet, readStoredSet, UNKNOWN } from "../state/index.js";
import { type Abilities, abilitiesIn } from "./known-operations.js";

/** As engine 3.259 writes a secret value. */
export const SECRET_TEXT = "[secret]";

const values = z.record(z.string(), z.unknown()).optional();
const state = z
  .looseObject({
    type: z.string(),
    id: z.string().optional(),
    inputs: values,
    outputs: values,
    retainOnDelete: z.boolean().optional(),
    propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).nullish(),
  })
  .nullish();
const stepSchema = z.looseObject({ op: z.string(), urn: z.string(), oldState: state, newState: state });
const previewSchema = z.looseObject({
  /** The stack's settings, by namespace and key; structured ones as JSON. */
  config: z.record(z.string(), z.string()).nullish().catch(undefined),
  steps: z.array(stepSchema).nullish(),
  diagnostics: z
    .array(z.looseObject({ message: z.string(), severity: z.string(), urn: z.string().optional() }))
    .nullish(),
});
type Step = z.infer<typeof stepSchema>;

export type Action =
  | "create"
  | "adopt"
  | "replace"
  /** Depends on an id that is not known yet. */
  | "perhaps replace"
  /** In place, where the installation has a known update. */
  | "update"
  /** Leaves the state, and is deleted: `retainOnDelete` is off, and there is a known way. */
  | "delete"
  /** Leaves the state, and stays live. */
  | "let go"
  | "keep";

export interface Change {
  readonly kind: Kind;
  readonly action: Action;
  /** The name in the program; of a set's member, `<set>/<key>`. */
  readonly key: string;
  /** Of the resource. */
  readonly urn: string;
  readonly isMember: boolean;
  /** Whether the object that the state holds is deleted where this change lets go of it. */
  readonly isDeletable: boolean;
  /** The platform's id that the state holds. */
  readonly id: string | undefined;
  /** Its arguments: as declared, or of what is let go, as stored. */
  readonly values: Values;
  /** The names of arguments that differ. */
  readonly changed: readonly string[];
  /** URNs of resources whose ids its advertiser comes from. */
  readonly advertiserFrom: readonly string[];
}

export interface Preview {
  readonly changes: readonly Change[];
  /** How many resources of other packages change. */
  readonly others: number;
  readonly diagnostics: readonly { readonly severity: string; readonly message: string; readonly about: string }[];
}

/**
 * @param operations `ADVERTISING_OPERATIONS`, for a stack that does not set `advertising:operations`.
 * @throws Error, in words, where the text is none.
 */
export function readPreview(text: string, operations?: string): Preview {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("this is not what `pulumi preview --json` prints: it is no JSON");
  }
  const parsed = previewSchema.safeParse(data);
  const isPreview = parsed.success && (parsed.data.steps ?? parsed.data.diagnostics) != null;
  if (!isPreview) throw new Error("this is not what `pulumi preview --json` prints: it has no steps");
  const { steps, diagnostics, config } = parsed.data;
  const abilities = abilitiesIn(config?.[`${NAMESPACE}:operations`] ?? operations);
  const found = (steps ?? []).map((step) => ({ step, changes: stepChanges(step, abilities) }));
  return {
    changes: found.flatMap(({ changes }) => changes ?? []),
    others: found.filter(({ step: { op, urn }, changes }) => changes === undefined && isOthers(op, urn)).length,
    diagnostics: (diagnostics ?? []).map(({ severity, message, urn }) => ({
      severity,
      message: message.replace(/<\{%\w+%\}>/g, "").trim(),
      about: urn === undefined ? "" : nameInUrn(urn),
    })),
  };
}

function isOthers(op: string, urn: string): boolean {
  return !["same", "read", "refresh"].includes(op) && !/::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn);
}

/** None where it is no resource of ours. */
function stepChanges(step: Step, abilities: Abilities): Change[] | undefined {
  const type = (step.newState ?? step.oldState)?.type ?? "";
  const kind = kindOfType(type);
  if (kind !== undefined) return changeOf(kind, step, abilities.canDelete(kind));
  const set = setOfType(type);
  return set === undefined ? undefined : memberChanges(set.member, step, abilities.canUpdate(set.member));
}

/** @param canDelete whether the installation is known to have a way to. */
function changeOf(kind: Kind, { op, urn, oldState, newState }: Step, canDelete: boolean): Change[] {
  const old = oldState == null ? {} : { ...oldState.inputs, ...oldState.outputs };
  const news = newState?.inputs ?? {};
  const id = digits(oldState?.id);
  const adopts = news.existingId !== undefined && String(news.existingId) !== id;
  const changed = changesIn(kind, old, news).names;
  // As the state has the option: it decides what becomes of the object that the state holds.
  const isDeletable = canDelete && id !== undefined && oldState?.retainOnDelete !== true;
  const action = actionOf(op, adopts, isDeletable);
  if (action === undefined) return [];
  const isGone = action === "let go" || action === "delete";
  return [
    {
      kind,
      action,
      key: nameInUrn(urn),
      urn,
      isMember: false,
      isDeletable,
      id,
      values: isGone || action === "keep" ? old : news,
      changed: action === "replace" || action === "update" ? changed : [],
      advertiserFrom: newState?.propertyDependencies?.advertiserId ?? [],
    },
  ];
}

function actionOf(op: string, adopts: boolean, isDeletable: boolean): Action | undefined {
  if (op === "delete") return isDeletable ? "delete" : "let go";
  if (op === "same") return "keep";
  if (op === "update") return "update";
  if (op !== "create" && op !== "replace") return undefined;
  return adopts ? "adopt" : op;
}

/** @param canUpdate whether the installation is known to have a way to. Members are never deleted. */
function memberChanges(kind: Kind, { op, urn, oldState, newState }: Step, canUpdate: boolean): Change[] {
  const stored = readStoredSet(oldState?.outputs ?? {});
  const isGone = op === "delete";
  const declared = readDeclaredSet(newState?.inputs ?? {});
  const entries = isGone ? new Map<string, unknown>() : (declared.events ?? stored.events);
  const advertiserFrom = newState?.propertyDependencies?.advertiserId ?? [];
  const common = { kind, urn, isMember: true, isDeletable: false, advertiserFrom } as const;
  const changes = [...entries].map(([key, given]): Change => {
    const entry = asRecord(given);
    const [news, old] = [eventIn(declared, entry), eventIn(stored, stored.events.get(key) ?? {})];
    const id = stored.eventIds.get(key);
    const changed = changesIn(kind, old, news).names;
    const isUnknown = changed.length > 0 && changed.every((name) => own(news, name) === UNKNOWN);
    const adopts = entry.existingId !== undefined && String(entry.existingId) !== id;
    const action = (): Action => {
      if (adopts) return "adopt";
      if (id === undefined) return stored.unresolved.has(key) ? "keep" : "create";
      if (changed.length === 0 || op === "same") return "keep";
      // Of what was created with other arguments of the set, nobody knows what to change; another advertiser is a replacement.
      const isUpdate = canUpdate && !stored.earlier.has(key) && !changed.includes("advertiserId");
      if (isUpdate) return "update";
      return isUnknown ? "perhaps replace" : "replace";
    };
    const name = memberName(urn, key);
    return { ...common, action: action(), key: name, id, values: news, changed: id === undefined ? [] : changed };
  });
  const gone = [...stored.eventIds].filter(([key]) => !entries.has(key));
  return [
    ...changes,
    ...gone.map(([key, id]): Change => {
      const old = eventIn(stored, stored.events.get(key) ?? {});
      return { ...common, action: "let go", key: memberName(urn, key), id, values: old, changed: [] };
    }),
  ];
}

function memberName(urn: string, key: string): string {
  return `${nameInUrn(urn)}/${key}`;
}

function digits(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}
