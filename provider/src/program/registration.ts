/**
 * The way from a constructor to the engine. The hidden inputs carry what the provider's process learns in no other way: the identity, with what the
 * rest of the program says of the resource, and which arguments are secret.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import { type Kind, type SetKind, typeTokenOf } from "../kinds/index.js";
import { IDENTITY, PROVIDER, SECRET_ARGUMENTS } from "../state/index.js";
import { declare } from "./declaration.js";
import { idsOf, isNotPlain, readIdProblem } from "./ids.js";
import type { Brief } from "./judge.js";
import { heardLater, identityOf } from "./place.js";
import { currentProgram } from "./program.js";

/**
 * What a resource class hands to Pulumi's own constructor. The classes have no base class in between: Pulumi counts constructors to find the line of
 * the user's program, which the state then holds. Nothing is thrown in a deployment: the problems of all resources end the program together.
 * @param args ignored where an existing resource is read (`get`).
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
  const given = idsOf(kind, { ...args });
  const call = { kind, name, args: isRead ? undefined : given, options: merged };
  const briefing = program.add(declare(call, program.reading.settings));
  const hidden = isRead ? {} : hiddenInputs(briefing, given, identityOf(name, merged.parent));
  // Every output, so that it is there even if the argument is left to its default.
  const outputs = Object.fromEntries(kind.outputs.map((each) => [each, undefined]));
  // Stored instead of code, and evaluated in the program's folder: neither version nor place of the package changes a stack.
  const reference = `exports.handler=()=>require("pulumi-advertising/handlers").${kind.handler}`;
  const properties = { ...outputs, ...given, ...hidden, [PROVIDER]: reference };
  // The program ends with the error that names it; the engine would read it first, and fail without the name.
  const { id } = merged;
  const isWrong = typeof id === "string" && readIdProblem(merged).length > 0;
  const later = isWrong ? { id: heardLater(briefing.then(() => id)) } : {};
  return [typeTokenOf(kind.name), name, properties, { ...merged, ...later }];
}

/** These settle only once the whole program was found good: until then Pulumi registers nothing. */
function hiddenInputs(briefing: Promise<Brief>, given: Values, identity: string): pulumi.Inputs {
  const whole = heardLater(briefing.then((more) => ({ identity, ...more })));
  if (!isNotPlain(given)) return { [IDENTITY]: whole };
  return { [IDENTITY]: whole, [SECRET_ARGUMENTS]: heardLater(briefing.then(() => secretNames(given))) };
}

/** The arguments that are secret, or have a part that is: the provider gets their values in clear, and must not quote them. */
async function secretNames(given: Values): Promise<string[] | undefined> {
  // Most values are plain: to wait for each would cost a promise.
  const unknown = Object.entries(given).filter(([, value]) => isNotPlain(value));
  const found = unknown.map(async ([name, value]) => ((await pulumi.isSecret(pulumi.output(value))) ? [name] : []));
  const names = (await Promise.all(found)).flat();
  return names.length === 0 ? undefined : names;
}
