/**
 * What both resource classes share: type tokens, the reference that stands in the state, default options, and the
 * checks before anything is registered.
 */
import * as pulumi from "@pulumi/pulumi";
import { type Kind, typeTokenOf } from "../kinds/kind.js";
import { IDENTITY, PROVIDER, SECRET_ARGUMENTS } from "../state/properties.js";
import { idsOf } from "./ids.js";
import { isNotPlain } from "./plain.js";
import { examine } from "./preflight.js";

/**
 * The text that the engine stores instead of code: the provider process evaluates it in the program's folder. It never
 * varies, neither with the version nor with the place of the package, so that neither changes a stack.
 */
function referenceTo({ handler }: Kind): string {
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
  kind: Kind,
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
function outputsOf({ outputs }: Kind): Record<string, undefined> {
  return Object.fromEntries(outputs.map((name) => [name, undefined]));
}

function mayHoldSecrets(given: Readonly<Record<string, unknown>>): boolean {
  return Object.values(given).some((value) => isNotPlain(value));
}

/** Not asked before the whole program was found good; nobody need be told twice that it was not. */
function secretsOnce(admitted: Promise<unknown>, given: Readonly<Record<string, unknown>>) {
  const names = admitted.then(() => secretArguments(given));
  names.catch(() => undefined);
  return names;
}

/** The names of arguments whose values are secret: the provider gets the values in clear and must not quote them. */
async function secretArguments(given: Readonly<Record<string, unknown>>): Promise<string[] | undefined> {
  const names: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (isNotPlain(value) && (await pulumi.isSecret(pulumi.output(value)))) names.push(name);
  }
  return names.length === 0 ? undefined : names;
}
