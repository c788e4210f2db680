/**
 * Declares that the platform and account which a stack's resources were created at are the same under another address: the
 * state then says so. Pure: an exported stack in, an exported stack out.
 */

import { enumerate } from "../base/index.js";
import { ACCOUNT } from "../state/index.js";
import { type ExportedStack, expectNothingPending, isOurs, type Resource } from "./stack-export.js";

/**
 * @param from @param to as messages name them: `<host>[:<port>][/<path>] <e-mail>`.
 * @returns the stack, and how many resources have moved.
 * @throws Error where there is nothing to move, or where the import of the state would lose something.
 */
export function relocate(
  stack: ExportedStack,
  from: string,
  to: string,
): { readonly stack: ExportedStack; readonly moved: number } {
  const { deployment } = stack;
  const all = deployment.resources ?? [];
  expectNothingPending(deployment);
  let moved = 0;
  const changed = (properties: Resource["inputs"]) =>
    properties?.[ACCOUNT] === from ? { ...properties, [ACCOUNT]: to } : properties;
  const resources = all.map((resource) => {
    const { inputs, outputs } = resource;
    if (!isOurs(resource) || (inputs?.[ACCOUNT] !== from && outputs?.[ACCOUNT] !== from)) return resource;
    moved++;
    return { ...resource, inputs: changed(inputs), outputs: changed(outputs) };
  });
  if (moved === 0) {
    const recorded = new Set(all.flatMap(({ inputs, outputs }) => [inputs?.[ACCOUNT], outputs?.[ACCOUNT]]));
    const names = [...recorded].flatMap((account) => (typeof account === "string" ? [`'${account}'`] : []));
    throw new Error(
      `no resource of this stack was created at '${from}'; ${names.length === 0 ? "none says where it was" : `there are ${enumerate(names)}`}`,
    );
  }
  return { stack: { ...stack, deployment: { ...deployment, resources } }, moved };
}
