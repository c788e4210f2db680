/**
 * What the resource classes share: type tokens, the reference that stands in the state, default options, and the
 * checks before anything is registered.
 */
import * as pulumi from "@pulumi/pulumi";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import { IDENTITY, PROVIDER, SECRET_ARGUMENTS } from "../state/index.js";
import { idsOf } from "./ids.js";
import { examine } from "./preflight.js";
import { mayHoldSecrets, secretsOnce } from "./secret-arguments.js";

/**
 * The text that the engine stores instead of code: the provider process evaluates it in the program's folder. It never
 * varies, neither with the version nor with the place of the package, so that neither changes a stack.
 */
function referenceTo({ handler }: Kind | SetKind): string {
  return `exports.handler=()=>require("pulumi-advertising/handlers").${handler}`;
}

/**
 * What a resource class hands to Pulumi's own constructor. The classes have no base in between: Pulumi counts constructors
 * to find the line of the user's program, which the state then holds.
 *
 * Throws nothing: problems of all resources are collected and end the program together.
 *
 * @param args the arguments, or nothing where an existing resource is read (`get`).
 */
export function registrationOf(
  kind: Kind | SetKind,
  name: string,
  args: object | undefined,
  options: pulumi.CustomResourceOptions | undefined,
): [type: string, name: string, properties: pulumi.Inputs, options: pulumi.CustomResourceOptions] {
  // What the platform can't delete stays there: previews then show Pulumi's own [retain].
  const merged = pulumi.mergeOptions({ retainOnDelete: true }, options ?? {});
  const isRead = options?.id !== undefined;
  const given = idsOf(kind, { ...args });
  const told = examine({ kind, name, args: isRead ? undefined : given, asGiven: { ...args }, options: merged });
  const hidden = isRead
    ? {}
    : {
        // Settles only once the whole program was found good: until then nothing is registered.
        [IDENTITY]: told,
        ...(mayHoldSecrets(given) ? { [SECRET_ARGUMENTS]: secretsOnce(told, given) } : {}),
      };
  const properties = { ...outputsOf(kind), ...given, ...hidden, [PROVIDER]: referenceTo(kind) };
  return [typeTokenOf(kind.name), name, properties, merged];
}

/** Every output, so that it is there even where the argument is left to its default. */
function outputsOf({ outputs }: Kind | SetKind): Record<string, undefined> {
  return Object.fromEntries(outputs.map((name) => [name, undefined]));
}
