/** `check`: it takes the journal in an `up`, says what is known about new objects, and returns all problems at once. */
import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  asRecord,
  own,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import { adoptedTwice, checkArguments, type Kind, type SetKind } from "../kinds/index.js";
import { abilitiesOf, adoptedBy, holdsUnknown, plannedObjects } from "../plan/index.js";
import { problemMessages } from "../rules/index.js";
import { describeSettingProblem } from "../settings/index.js";
import {
  DELETES,
  IDENTITY,
  kindOf,
  MARK,
  memberOf,
  memberRef,
  objectRef,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  RUN,
  readDeclared,
  readStored,
  refOf,
  SECRET_ARGUMENTS,
  secretArgumentsIn,
  UNKNOWN,
} from "../state/index.js";
import { markInput } from "./create.js";
import { adoptionNotice } from "./messages.js";
import { type Plan, type Preview, tellPreview } from "./plan-resource.js";
import type { CheckRequest, Runtime } from "./runtime.js";

/** A resource as the program declares it now. */
interface CheckedResource extends Preview, Pick<Plan, "declared" | "olds"> {
  readonly context: ProgramContext;
  /** Whether the engine gave no old inputs: a new resource, or the second `check` of a replacement. */
  readonly isNew: boolean;
}

/** Validates the arguments, notes what is declared, and returns everything that is wrong at once. */
export async function check(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  { context, olds, news }: CheckRequest,
): Promise<{ inputs: Values; failures: string[] }> {
  const { deployment, settings } = runtime;
  const { values, problems } = checkArguments(resource, news, settings, {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    // A plugin's program may be in any language.
    arrivedUndefined: deployment.isUp === undefined ? "" : "is the output's name right?",
  });
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = {
      ...resource.defaultsIn(settings),
      ...asRecord(values.defaults),
    };
  const kind = kindOf(resource);
  const can = abilitiesOf(kind, settings);
  const isNew = Object.keys(olds).length === 0;
  const declared = readDeclared(resource, values);
  const objects = plannedObjects(kind, readStored(resource, undefined, {}), declared);
  const preview = { resource, kind, ref, can, objects };
  const checked = { ...preview, declared, context, olds, isNew };
  noteDeclared(runtime, checked); // before anything is awaited, since other resources may need to know it
  const wrong = [...claimConflicts(runtime, preview), ...problemMessages(problems)];
  if (deployment.isUp) await runtime.journal(ref).openOnce();
  noteFormerKeys(runtime, checked);
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError.code)),
    ...runtime.reading.problems.map((problem) => {
      return withPage(describeSettingProblem(problem), SettingsError.code);
    }),
  ];
  // What is in the state has a `diff`, which says the same.
  if (isNew && wrong.length === 0) {
    // A set lists what it adopts in its plan.
    const adopts = resource === kind ? adoptedBy(values) : undefined;
    if (adopts !== undefined) runtime.informEach(adoptionNotice(ref, adopts, can));
    const error = deployment.isUp === false ? tellPreview(runtime, preview) : undefined;
    if (error !== undefined) failures.push(withPage(error.message, error.code));
  }
  if (deployment.isWhole) runtime.tellCollected();
  if (failures.length > 0) deployment.hasFailed = true;
  // A run without a changed argument sends nothing new.
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  const inputs = withoutUndefined({
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [MARK]: markInput(runtime, ref, olds),
    [RUN]: deployment.isUp !== false && isChanged ? runtime.runName : olds[RUN],
  });
  return { inputs, failures };
}

function noteDeclared({ deployment }: Runtime, checked: CheckedResource): void {
  const { resource, ref, context, olds, isNew, objects, declared } = checked;
  const deletes = context.deletes === true;
  const identity = own(olds, IDENTITY);
  const former = typeof identity === "string" ? refOf(resource.name, identity) : undefined;
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, {
    wasSecret: secretArgumentsIn(olds),
    deletesInStateAndProgram: own(olds, DELETES) === true && deletes,
    deletes,
    inState: context.formerKeys?.includes(former?.key ?? "") ? former : undefined,
  });
  if (declared.events === undefined) deployment.declared.add(ref.key);
  for (const { key } of objects) deployment.declared.add(objectRef(resource, ref, key).key);
  for (const key of declared.formerKeys.values())
    deployment.declared.add(memberRef(ref, key).key);
}

/** What an object adopts is its own from now on, unless something else has it. */
function claimConflicts(
  { deployment }: Runtime,
  { resource, kind, ref, objects }: Preview,
): string[] {
  return objects.flatMap(({ key, entry }) => {
    const id = adoptedBy(entry);
    if (id === undefined || id === UNKNOWN) return [];
    const other = deployment.claim(kind, id, objectRef(resource, ref, key).key);
    if (other === undefined) return [];
    const path = resource === kind ? "" : `${memberOf("events", key)}.`;
    return `${path}existingId ${adoptedTwice(id, parseKey(other).label)}`;
  });
}

/** The program says which keys its objects had: a resource's by its aliases, and those of a set's members. */
function noteFormerKeys(runtime: Runtime, checked: CheckedResource): void {
  const { resource, kind, ref, context, objects, declared } = checked;
  const journal = runtime.journal(ref);
  for (const former of context.formerKeys ?? [])
    for (const { key } of objects)
      journal.moveRecord(
        resource === kind ? former : memberOf(former, key),
        objectRef(resource, ref, key).key,
      );
  for (const [key, former] of declared.formerKeys)
    journal.moveRecord(memberRef(ref, former).key, memberRef(ref, key).key);
}
