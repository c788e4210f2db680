/** What `pulumi stack export` prints, read and looked at for resources of ours. Pure. */
import { z } from "zod";
import { jsonIn, own } from "../base/index.js";
import { IDENTITY, readBriefing, stackOf } from "../state/index.js";

const properties = z.record(z.string(), z.unknown()).optional();
const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  /** Replaced: the next run takes it out of the state. */
  delete: z.boolean().optional(),
  /** Its object is deleted or left live (`deleteBeforeReplace`): the next run puts another resource in its place, or takes it out. */
  pendingReplacement: z.boolean().optional(),
  /** Whether the object stays live when the resource goes: this package's resources say so unless the program sets it otherwise. */
  retainOnDelete: z.boolean().optional(),
  /** Only read (`.get`): something else manages it. */
  external: z.boolean().optional(),
  inputs: properties,
  outputs: properties,
  parent: z.string().optional(),
  aliases: z.array(z.string()).nullish(),
});
export type Resource = z.infer<typeof resourceSchema>;
const exportSchema = z.looseObject({
  version: z.literal([3, 4]),
  deployment: z.looseObject({
    manifest: z.looseObject({ time: z.string() }).optional(),
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(z.looseObject({ resource: resourceSchema, type: z.string() })).nullish(),
  }),
});

export type ExportedStack = z.infer<typeof exportSchema>;

/**
 * @param text what `pulumi stack export` printed, or what a file backend keeps of each update (`.pulumi/history/…/*.checkpoint.json`).
 * @param what it is, for the error. @throws Error in words, where the text is no exported stack.
 */
export function readExport(text: string, what = "this"): ExportedStack {
  const data = jsonIn(text);
  const not = `${what} is not what \`pulumi stack export\` prints`;
  if (data === undefined) throw new Error(`${not}: it is not JSON`);
  const latest = own(own(data, "checkpoint"), "latest");
  const { data: stack, error } = exportSchema.safeParse(
    latest === undefined ? data : { version: 3, deployment: latest },
  );
  if (stack !== undefined) return stack;
  const path = error.issues[0]?.path.join(".") ?? "";
  throw new Error(path === "" ? not : `${not}: ${path} is missing, or is not of the kind that Pulumi writes`);
}

export interface State {
  readonly resources: readonly Resource[];
  /** When it was written, ISO 8601; empty where it does not say. */
  readonly time: string;
}

export function stateIn({ deployment }: ExportedStack): State {
  return { resources: deployment.resources ?? [], time: deployment.manifest?.time ?? "" };
}

/**
 * The names under which resources of ours were registered, `<organization>/<project>/<stack>`: after `pulumi stack rename` and until the next
 * run, its former one.
 */
export function stackNamesIn({ deployment }: ExportedStack): string[] {
  const all = [
    ...(deployment.resources ?? []),
    ...(deployment.pending_operations ?? []).map(({ resource }) => resource),
  ];
  const identities = all.flatMap(({ inputs }) => readBriefing(inputs?.[IDENTITY])?.identity ?? []);
  return [...new Set(identities.map(stackOf))];
}
