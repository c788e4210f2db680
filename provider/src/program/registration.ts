/**
 * The way from a constructor of a resource class to the engine: what the class says is declared, and what it hands to Pulumi's
 * own constructor is made here. The hidden inputs carry what the provider's process learns in no other way: the identity, with
 * what the rest of the program says of the resource, and which arguments are secret.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import { isContainer } from "../rules/index.js";
import { type Briefing, IDENTITY, memberOf, PROVIDER, SECRET_ARGUMENTS, writeBriefing } from "../state/index.js";
import { declare } from "./declaration.js";
import { isNotPlain, readIdProblem } from "./ids.js";
import { heardLater, identityOf } from "./place.js";
import { currentProgram } from "./program.js";

/**
 * What a resource class hands to Pulumi's own constructor. The classes have no base class in between: Pulumi counts constructors
 * to find the line of the user's program, which the state then holds.
 *
 * It throws nothing in a deployment: the problems of all resources are collected, and end the program together.
 *
 * @param args the arguments; ignored where an existing resource is read (`get`).
 */
export function registrationOf(
  kind: Kind | SetKind,
  name: string,
  args: object | undefined,
  options: pulumi.CustomResourceOptions | undefined,
): [type: string, name: string, properties: pulumi.Inputs, options: pulumi.CustomResourceOptions] {
  const program = currentProgram();
  // The platform keeps what it can't delete: previews then show Pulumi's own [retain].
  const merged = pulumi.mergeOptions({ retainOnDelete: true }, options ?? {});
  const isRead = options?.id !== undefined;
  const given = program.outputs.idsOf(kind, { ...args });
  const call = { kind, name, args: isRead ? undefined : given, options: merged };
  const briefing = program.add(declare(call, program.context));
  const hidden = isRead ? {} : hiddenInputs(briefing, given, name, merged.parent);
  // Every output, so that it is there even if the argument is left to its default.
  const outputs = Object.fromEntries(kind.outputs.map((each) => [each, undefined]));
  const properties = { ...outputs, ...given, ...hidden, [PROVIDER]: referenceTo(kind) };
  // The program ends with the error that names it; the engine would read it first, and fail without the name.
  const { id } = merged;
  const isWrong = typeof id === "string" && readIdProblem(merged).length > 0;
  const later = isWrong ? { id: heardLater(briefing.then(() => id)) } : {};
  return [typeTokenOf(kind.name), name, properties, { ...merged, ...later }];
}

/** These settle only once the whole program was found good: until then Pulumi registers nothing. */
function hiddenInputs(
  briefing: Promise<Omit<Briefing, "identity">>,
  given: Values,
  name: string,
  parent: pulumi.Resource | undefined,
): pulumi.Inputs {
  const identity = heardLater(
    briefing.then(async (more) => writeBriefing({ identity: await identityOf(name, parent), ...more })),
  );
  if (!isNotPlain(given)) return { [IDENTITY]: identity };
  return { [IDENTITY]: identity, [SECRET_ARGUMENTS]: heardLater(briefing.then(() => secretPaths(given))) };
}

/**
 * The text that the engine stores instead of code: the provider's process evaluates it in the program's folder. It never
 * varies, neither with the version nor with the place of the package, so that neither changes a stack.
 */
function referenceTo({ handler }: Kind | SetKind): string {
  return `exports.handler=()=>require("pulumi-advertising/handlers").${handler}`;
}

/** Inside these arguments each part is looked at by itself: a set's `defaults.value`, its `events["purchase"].value`. */
const PARTS: Readonly<Record<string, number>> = { defaults: 1, events: 2 };

/** The paths of the arguments that are secret: the provider gets their values in clear, and must not quote them. */
async function secretPaths(given: Values): Promise<string[] | undefined> {
  // Most values are plain: to wait for each would cost a promise.
  const unknown = Object.entries(given).filter(([, value]) => isNotPlain(value));
  const found = await Promise.all(unknown.map(([name, value]) => secretPathsAt(name, value, PARTS[name] ?? 0)));
  const paths = found.flat();
  return paths.length === 0 ? undefined : paths;
}

/** @param value is or holds what is not plain. @param levels how many levels below this value have paths of their own. */
async function secretPathsAt(path: string, value: unknown, levels: number): Promise<string[]> {
  if (levels === 0 || !isContainer(value)) {
    const output = pulumi.Output.isInstance(value) ? value : pulumi.output(value);
    return (await pulumi.isSecret(output)) ? [path] : [];
  }
  const unknown = Object.entries(value).filter(([, part]) => isNotPlain(part));
  const found = await Promise.all(
    unknown.map(([key, part]) =>
      secretPathsAt(levels === 2 ? memberOf(path, key) : `${path}.${key}`, part, levels - 1),
    ),
  );
  return found.flat();
}
