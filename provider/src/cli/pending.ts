/**
 * Creates that were in flight when a run was killed, as the engine's own record lists them, and how they are settled.
 * Pure: an exported stack in, an exported stack out.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { advertiserSchema } from "../schema/advertiser.js";
import { conversionEventSchema } from "../schema/conversion-event.js";
import { exactId } from "../schema/fields.js";
import { PROVIDER, SECRET_ARGUMENTS, UNRESOLVED } from "../schema/properties.js";
import { type ResourceSchema, typeTokenOf } from "../schema/resource.js";
import { type UnresolvedMark, unresolvedId, unresolvedMarkOf } from "../schema/unresolved.js";

const properties = z.record(z.string(), z.unknown()).optional();
const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  /** Replaced: the next run takes it out, after another resource of the same URN, which stands before it. */
  delete: z.boolean().optional(),
  inputs: properties,
  outputs: properties,
  parent: z.string().optional(),
  /** `<urn>::<id>` */
  provider: z.string().optional(),
  dependencies: z.array(z.string()).nullish(),
  propertyDependencies: z.record(z.string(), z.array(z.string()).nullable()).nullish(),
  deletedWith: z.string().optional(),
});
type Resource = z.infer<typeof resourceSchema>;
const operationSchema = z.looseObject({ resource: resourceSchema, type: z.string() });
/** What `pulumi stack export` prints, as far as it is looked at; the rest is kept as it is. */
const exportSchema = z.looseObject({
  version: z.literal([3, 4]),
  deployment: z.looseObject({
    manifest: z.looseObject({ time: z.string() }).optional(),
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(operationSchema).nullish(),
  }),
});

export type ExportedStack = z.infer<typeof exportSchema>;
type Deployment = ExportedStack["deployment"];

/** One of our creates that nobody knows the outcome of. */
export interface OpenCreate {
  readonly urn: string;
  readonly kind: string;
  /** The name in the program. */
  readonly name: string;
  /** What people search for in the account. */
  readonly platformName: string | undefined;
  /** The object that the state holds under this URN, with other arguments than the create's, or with secret ones. */
  readonly heldAs: string | undefined;
}

/** What the user found out about one of them: the platform's id, or that there is none. */
export interface Verdict {
  readonly urn: string;
  readonly createdAs: string | undefined;
}

const KINDS = new Map<string, ResourceSchema>(
  [advertiserSchema, conversionEventSchema].map((schema) => [typeTokenOf(schema.kind), schema]),
);

/** @throws Error, in words, where the text is no exported stack. */
export function readExport(text: string): ExportedStack {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("this is not what `pulumi stack export` prints: it is no JSON");
  }
  const parsed = exportSchema.safeParse(data);
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0];
  throw new Error(
    `this is not what \`pulumi stack export\` prints: ${fault?.path.join(".") ?? ""} ${fault?.message ?? ""}`,
  );
}

/** The engine's pending creates of our types that the state does not answer, and the resources that are saved as unresolved. */
export function openCreates({ deployment }: ExportedStack): OpenCreate[] {
  const pending = pendingCreates(deployment).open;
  const current = currentByUrn(deployment.resources ?? []);
  const saved = (deployment.resources ?? []).filter(({ outputs }) => unresolvedMarkOf(outputs) !== undefined);
  const describe = (resource: Resource, isSaved: boolean): OpenCreate[] => {
    const schema = KINDS.get(resource.type);
    if (schema === undefined) return [];
    const platformName = resource.inputs?.[schema.nameProperty];
    return [
      {
        urn: resource.urn,
        kind: schema.kind,
        name: resource.urn.split("::").slice(3).join("::"),
        platformName: typeof platformName === "string" ? platformName : undefined,
        heldAs: isSaved ? undefined : current.get(resource.urn)?.id,
      },
    ];
  };
  return [
    ...pending.flatMap((resource) => describe(resource, false)),
    ...saved.flatMap((resource) => describe(resource, true)),
  ];
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

/** Without what is replaced. */
function currentByUrn(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  return new Map(resources.filter((each) => each.delete !== true).map((each) => [each.urn, each]));
}

/** The arguments that make the object. Two secret ones never compare as equal: each encryption differs. */
function compared(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {})
      .filter(([name]) => !name.startsWith("__") && name !== "existingId")
      .map(([name, value]) => [name, JSON.stringify(value).includes(SECRET_SIGNATURE) ? Symbol(name) : value]),
  );
}

/** By which Pulumi marks secret values: a contract of its own. */
const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/**
 * The stack with these creates settled: in the state with their ids, or dropped as not created. Pulumi drops every
 * pending operation when a stack is imported, so those that nobody decided on are saved as unresolved: each later run
 * stops at them.
 * @param newMark makes a text that no other create has.
 */
export function settle(stack: ExportedStack, verdicts: readonly Verdict[], newMark: () => string): ExportedStack {
  const { deployment } = stack;
  const verdictOn = (urn: string) => verdicts.find((verdict) => verdict.urn === urn);
  const dropped = new Set<string>();
  const saved = (deployment.resources ?? []).flatMap((resource) => {
    const verdict = unresolvedMarkOf(resource.outputs) === undefined ? undefined : verdictOn(resource.urn);
    if (verdict === undefined) return [resource];
    if (verdict.createdAs !== undefined) return [adopted(resource, verdict.createdAs)];
    dropped.add(resource.urn);
    return [];
  });
  const since = deployment.manifest?.time ?? "";
  const pending = pendingCreates(deployment).open.flatMap((resource) => {
    const verdict = verdictOn(resource.urn);
    if (verdict === undefined) return [asUnresolved(resource, since, newMark())];
    return verdict.createdAs === undefined ? [] : [adopted(resource, verdict.createdAs)];
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

/**
 * The same resources in an order that Pulumi accepts: each after all that it refers to, and a replaced one after what
 * took its place. What stands right already stays.
 */
function inOrder(resources: readonly Resource[]): Resource[] {
  const current = currentByUrn(resources);
  const placed = new Set<Resource>();
  const visited = new Set<Resource>();
  const place = (resource: Resource | undefined) => {
    if (resource === undefined || visited.has(resource)) return;
    visited.add(resource);
    if (resource.delete === true) place(current.get(resource.urn));
    for (const urn of referredTo(resource)) place(current.get(urn));
    placed.add(resource);
  };
  for (const resource of resources) place(resource);
  return [...placed];
}

function referredTo({ parent, provider, dependencies, propertyDependencies, deletedWith }: Resource): string[] {
  return [
    parent,
    provider?.slice(0, provider.lastIndexOf("::")),
    ...(dependencies ?? []),
    ...Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
    deletedWith,
  ].filter((urn) => urn !== undefined);
}

function isOurCreate({ resource, type }: z.infer<typeof operationSchema>): boolean {
  return type === "creating" && KINDS.has(resource.type);
}

/** The resource as the engine would have saved it after the create. */
function adopted({ initErrors: _, ...resource }: Resource, id: string): Resource {
  const schema = KINDS.get(resource.type);
  const outputs = { ...visible(resource), ...(schema === undefined ? {} : { [schema.idProperty]: exactId(id) }) };
  return { ...resource, id, outputs };
}

/** The resource as the provider would have had it saved after an unknown outcome. */
function asUnresolved(resource: Resource, since: string, unique: string): Resource {
  const what = `${resource.urn.split("::").at(-1)} was in flight when a run was killed.`;
  const secret = resource.inputs?.[SECRET_ARGUMENTS];
  const nameProperty = KINDS.get(resource.type)?.nameProperty;
  const mark: UnresolvedMark = {
    since,
    what,
    urn: resource.urn,
    ...(Array.isArray(secret) && secret.includes(nameProperty) ? { nameIsSecret: true } : {}),
  };
  const outputs = { ...visible(resource), [UNRESOLVED]: mark };
  return { ...resource, id: unresolvedId(unique), outputs, initErrors: [what] };
}

/** Inputs that are outputs too. */
function visible({ inputs }: Resource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {}).filter(([name]) => !name.startsWith("__") || name === PROVIDER),
  );
}
